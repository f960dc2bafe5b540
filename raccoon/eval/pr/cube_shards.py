"""Asks players for their cube decisions on a benchmark in worker processes, a few whole games a shard."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.config.instantiate import build, shared
from raccoon.contracts import CubeModel, Cubes, Player, RaccoonError
from raccoon.eval.benchmark.decisions import Benchmark, CubeDecisions
from raccoon.eval.benchmark.loader import load, locate
from raccoon.eval.pr.checker_shards import digest, partition
from raccoon.eval.pr.cube_scoring import CubeAnswers, counted
from raccoon.executor import Executor, Work, run_shards
from raccoon.play.player import CubefulSearch, EnginePlayer

__all__ = ["CubeDecided", "answers", "decide", "takes_models"]


@dataclass(frozen=True)
class CubeDecided:
    """What a player did at ``N`` positions: its ``own`` answers; ``by_model``, with each of other cube models in place of its own;
    ``probs6 float64[N, 6]``, its engine's static chances of the side on roll. Without an engine that knows them, the last two are
    empty and None. ``seconds`` (of processor time) and ``evaluations`` of its own answers."""

    name: str
    own: CubeAnswers
    by_model: dict[str, CubeAnswers]
    probs6: NDArray[np.float64] | None
    seconds: float
    evaluations: int


def takes_models(player: Player) -> bool:
    """Can ``player`` decide by another cube model? A player of an engine that knows the outcome chances."""
    return type(player) is EnginePlayer and player.engine.has_probs and isinstance(player.search, CubefulSearch)


def decide(
    executor: Executor,
    node: Mapping[str, Any],
    benchmark: Benchmark,
    games: int | None,
    models: Mapping[str, Mapping[str, Any]],
    shard_games: int,
    folder: Path,
    label: str,
) -> CubeDecided:
    """The cube decisions of the player that ``node`` describes, in the first ``games`` games of ``benchmark`` (None: all).

    ``models``: nodes of cube models. ``folder`` keeps finished shards, so that an interrupted run continues; the rules and
    the content of the benchmark file are part of the job.
    """
    job = {
        "player": dict(node),
        "source": benchmark.source,
        "content": digest(locate(benchmark.source)),
        "rules": asdict(benchmark.rules),
        "games": games,
        "models": {name: dict(model) for name, model in models.items()},
        "shard_games": shard_games,
    }
    parts = partition(benchmark.cube.first_games(games), shard_games)
    work = Work(label, "decisions", [len(part) for part in parts])
    results = run_shards(executor, decide_shard, job | {"shards": len(parts)}, len(parts), folder, work)
    back = np.argsort(np.concatenate(parts), kind="stable")
    given = np.concatenate([result["answers"] for result in results], axis=2)[:, :, back]
    probs6 = np.concatenate([result["probs6"] for result in results])
    own, *others = (CubeAnswers(double, take) for double, take in given)
    return CubeDecided(
        str(results[0]["name"]),
        own,
        dict(zip(models, others, strict=True)) if others else {},
        probs6[back] if len(probs6) == len(back) else None,
        float(sum(result["seconds"] for result in results)),
        int(sum(result["evaluations"] for result in results)),
    )


def decide_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Shard ``index``: ``answers bool[1 + K, 2, n]`` of the job's player and of its ``K`` models, and ``probs6 [n or 0, 6]``."""
    benchmark = load(job["source"])
    cube = benchmark.cube.first_games(job["games"])
    cube = cube.take(partition(cube, job["shard_games"])[index])
    cubes = cube.cubes.under(benchmark.rules)
    # warmed up when it is new, so that loading and compiling are not on the clock
    first = np.arange(1)
    player: Player = shared(job["player"], "player", Player, lambda made: answers(made, cube.take(first), cubes.take(first)))
    engine = getattr(player, "engine", None)
    before, start = int(getattr(engine, "evaluations", 0)), time.process_time()
    given = [answers(player, cube, cubes)]
    seconds, used = time.process_time() - start, int(getattr(engine, "evaluations", 0)) - before
    probs6 = np.empty((0, 6))
    if isinstance(player, EnginePlayer) and takes_models(player):
        probs6 = np.asarray(player.engine.probs6(cube.boards), np.float64)
        for name, model in job["models"].items():
            other = EnginePlayer(player.engine, player.search, cube=build(model, f"evaluator.models.{name}", CubeModel))
            given.append(answers(other, cube, cubes))
    both = np.array([[each.double, each.take] for each in given])
    return {"name": player.name, "answers": both, "probs6": probs6, "seconds": seconds, "evaluations": used}


def answers(player: Player, cube: CubeDecisions, cubes: Cubes) -> CubeAnswers:
    """Ask ``player`` the questions of ``cube`` that count, the live ``cubes`` being those of the side on roll.

    The other answers are False. Raises RaccoonError naming the player when it has no cube or its answer is of the wrong shape.
    """
    given = []
    for question, rows in zip(("double", "take"), counted(cube), strict=True):
        if not callable(method := getattr(player, question, None)):
            raise RaccoonError(f"player {player.name}: has no {question}() and no cube decisions to score")
        answer = np.asarray(method(cube.boards[rows], cubes.take(rows)))
        if answer.shape != (int(rows.sum()),) or answer.dtype != bool:
            got = f"{answer.dtype}{list(answer.shape)}"
            raise RaccoonError(f"player {player.name}: {question}() gave {got}, wanted one bool for each of {int(rows.sum())} rows")
        out = np.zeros(len(cube), bool)
        out[rows] = answer
        given.append(out)
    return CubeAnswers(*given)

"""Builds a benchmark: self-play by any player, every real decision refereed by Open Sage (package ``bgsage``).

Positions come from the match runner, a game a shard, so a killed build continues where it stopped. Equities are for
money without Jacoby and beavers, with the cube as it stood in the game. A decision whose best two plays are close gets
a second, stronger look (truncated rollouts of the few best; the rest keep their value), and its tier says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.checks import quoted
from raccoon.config.instantiate import build
from raccoon.contracts import Player, RaccoonError
from raccoon.cube_rules import OWNER_NAMES
from raccoon.env.formats.board26 import to_board26
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.exchange import parse
from raccoon.executor import Executor, Work, run_shards
from raccoon.play.match import play_games
from raccoon.play.observers import Record, Recorder
from raccoon.rng import hash64
from raccoon.versions import installed

__all__ = ["BuildPlan", "build_benchmark", "is_of", "referee_game"]

_LEVELS = {"1P": "1ply", "2P": "2ply", "3P": "3ply", "4P": "4ply", "1T": "truncated1", "2T": "truncated2", "3T": "truncated3"}
_PLAN = "plan_"
_SELF_PLAY: dict[str, Any] = {
    "_target_": "raccoon.play.EnginePlayer",
    "engine": {"_target_": "raccoon.engine.SageEngine", "level": "1P"},
}


@dataclass(frozen=True)
class BuildPlan:
    """``games`` games from index ``first`` of stream ``seed``, both sides played by ``player`` (a node).

    ``level`` referees every decision, ``refine`` (null for none) those whose best two plays are within ``close``
    points. A checker play whose candidates are all within ``trivial`` points is left out, and so is a cube position
    where the worse act costs more than ``cube_window``.
    """

    games: int = 10
    seed: int = 1
    first: int = 0
    level: str = "3P"
    refine: str | None = "1T"
    close: float = 0.02
    trivial: float = 0.001
    cube_window: float = 0.25
    player: dict[str, Any] = field(default_factory=lambda: dict(_SELF_PLAY))

    def __post_init__(self) -> None:
        if self.games < 1 or self.first < 0:
            raise RaccoonError(f"games={self.games}, first={self.first}: give at least one game and first >= 0")
        for name in ("level", "refine"):
            value = getattr(self, name)
            if value not in _LEVELS and not (name == "refine" and value is None):
                raise RaccoonError(f"{name}={quoted(value)}: Sage has {', '.join(_LEVELS)}")
        for name in ("close", "trivial", "cube_window"):
            if getattr(self, name) < 0:
                raise RaccoonError(f"{name}={getattr(self, name)}: must not be negative")


def build_benchmark(executor: Executor, plan: BuildPlan, folder: Path) -> Benchmark:
    """Play and referee; finished games wait in ``folder`` until the build is done."""
    shards = run_shards(executor, referee_game, asdict(plan), plan.games, folder, Work("benchmark", "games", [1] * plan.games))
    decisions = [decision for shard in shards for decision in json.loads(shard["json"].tobytes())]
    kinds = Counter(decision["kind"] for decision in decisions)
    meta = {
        "jacoby": False,
        "beavers": False,
        "engine": f"bgsage {installed('bgsage')['bgsage']}",
        "n_positions": len(decisions),
        "n_checker": kinds["checker"],
        "n_cube_entries": kinds["cube"],
        "tier_counts": dict(Counter(decision["tier"] for decision in decisions)),
        **_named(plan),
    }
    return parse({"meta": meta, "decisions": decisions}, str(folder))


def is_of(benchmark: Benchmark, plan: BuildPlan) -> bool:
    """Whether ``benchmark`` says that it was built to ``plan``."""
    return {key: value for key, value in benchmark.meta.items() if key.startswith(_PLAN)} == _named(plan)


def _named(plan: BuildPlan) -> dict[str, Any]:
    return {f"{_PLAN}{name}": value for name, value in asdict(plan).items()}


def referee_game(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """One game: its decisions as JSON bytes."""
    plan = BuildPlan(**job)
    game = plan.first + index
    player = build(plan.player, "player", Player)
    recorder = Recorder()
    play_games((player, player), [game], plan.seed, observers=[recorder])
    referee = _Referee(plan)
    decisions = []
    for row in _positions(plan.seed, next(recorder.records())):
        decisions += [found for found in (referee.cube(row), referee.checker(row)) if found is not None]
    return {"json": np.frombuffer(json.dumps(decisions).encode(), np.uint8)}


@dataclass(frozen=True)
class _Position:
    seed: int
    game: int
    turn: int
    board: list[int]
    dice: tuple[int, int]
    cube: dict[str, Any]

    def record(self, kind: str, tier: str, plan: str) -> dict[str, Any]:
        key = f"{int(hash64(self.seed, f'benchmark.{kind}', self.game, self.turn)[0]):016x}"
        about = {"kind": kind, "key": key, "seed": self.game, "turn": self.turn, "tier": tier, "game_plan": plan}
        return {**about, "board": self.board, **self.cube}


def _positions(seed: int, record: Record) -> Iterator[_Position]:
    """The positions and rolls of a game; the plays do not matter, each is judged by the referee alone."""
    boards, dice, cubes = to_board26(record.boards).tolist(), record.dice.tolist(), record.cubes
    for turn, (first, second) in enumerate(dice):
        cube = {"cube_value": int(cubes.value[turn]), "cube_owner": OWNER_NAMES[int(cubes.owner[turn])]}
        yield _Position(seed, record.game, turn, boards[turn], (first, second), cube)


class _Referee:
    """Sage at one level and, for close decisions, at another."""

    def __init__(self, plan: BuildPlan) -> None:
        try:
            import bgsage
        except ImportError as error:
            raise RaccoonError("building a benchmark needs the package bgsage: pip install -e '.[bgsage]'") from error
        self.plan = plan
        self.game_plan = bgsage.classify_game_plan
        # One thread each: workers are processes, and rollouts then do not depend on the number of cores.
        self.first = bgsage.BgBotAnalyzer(eval_level=_LEVELS[plan.level], parallel_threads=1, seed=plan.seed)
        self.second = None
        if plan.refine is not None:
            self.second = bgsage.BgBotAnalyzer(eval_level=_LEVELS[plan.refine], parallel_threads=1, seed=plan.seed)

    def checker(self, row: _Position) -> dict[str, Any] | None:
        """The decision with every candidate, None when it is no real one."""
        moves = self.first.checker_play(row.board, *row.dice, **row.cube, jacoby=False, beaver=False).moves
        values = np.sort([move.cubeless_equity for move in moves])
        if len(moves) < 2 or values[-1] - values[0] < self.plan.trivial:
            return None
        tier = self.plan.level
        if self.second is not None and self.plan.refine is not None and values[-1] - values[-2] <= self.plan.close:
            moves = self.second.checker_play(row.board, *row.dice, **row.cube, jacoby=False, beaver=False).moves
            tier = self.plan.refine
        return {**row.record("checker", tier, self.game_plan(row.board)), "dice": row.dice, "moves": [_candidate(move) for move in moves]}

    def cube(self, row: _Position) -> dict[str, Any] | None:
        """The cube decision before the roll; None on the opening, without access to the cube or far from close."""
        if row.turn == 0 or row.cube["cube_owner"] == "opponent":
            return None
        answer = self.first.cube_action(row.board, **row.cube, jacoby=False, beaver=False)
        offered = min(answer.equity_dt, answer.equity_dp)
        if abs(offered - answer.equity_nd) > self.plan.cube_window:
            return None
        return {
            **row.record("cube", self.plan.level, self.game_plan(row.board)),
            "dice": None,
            "equity_nd": round(answer.equity_nd, 6),
            "equity_dt": round(answer.equity_dt, 6),
            "equity_dp": round(answer.equity_dp, 6),
            "probs": [round(p, 6) for p in answer.probs.to_list()],
            "has_double": True,
            "has_take": bool(offered > answer.equity_nd),
            "eval_level": answer.eval_level,
        }


def _candidate(move: Any) -> dict[str, Any]:
    return {
        "board": [int(n) for n in move.board],
        "equity": round(move.equity, 6),
        "cubeless_equity": round(move.cubeless_equity, 6),
        "probs": [round(p, 6) for p in move.probs.to_list()],
        "eval_level": move.eval_level,
        "std_error": None if move.std_error is None else round(move.std_error, 6),
    }

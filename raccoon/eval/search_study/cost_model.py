"""``evaluator=cost_model``: how wide backgammon is, and what searches should and do cost in evaluations.

With ``u`` distinct results a turn and 21 rolls, a search with k candidates and greedy replies should need ``(u + 1) + 21 k u``
evaluations at 1-ply and ``(u + 1) + 21 k (u + 21 u)`` at 2-ply; the full opponent multiplies the last term by its replies.
The formulas are rough: boards that several rolls lead to are evaluated once and short rows have fewer than k plays, while doubles,
the widest rolls, are 6 of the 21 in a tree and 6 of 36 among the decisions that ``u`` is the mean of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import whole
from raccoon.config.instantiate import build
from raccoon.contracts import Boards, Player, RaccoonError, Report
from raccoon.env.half_moves import legal_actions
from raccoon.env.movegen import ROLLS, afterstates, enumerate_turns
from raccoon.eval.benchmark.loader import EMBEDDED, load
from raccoon.executor import Executor
from raccoon.progress import track
from raccoon.rng import generator
from raccoon.search import Expectimax, Filter
from raccoon.search.half_by_half import half_turns

__all__ = ["CostModel", "predicted"]


def predicted(u: float, ply: int, k: int, replies: int = 1) -> float:
    """Evaluations a decision, by the formulas above; ``replies`` 1 is the greedy opponent."""
    if ply == 0:
        return u
    return (u + 1) + k * len(ROLLS) * (u if ply == 1 else u + replies * len(ROLLS) * u)


class CostModel:
    """Branching of ``playouts`` random games and of the benchmark; predicted and counted evaluations on ``decisions`` of the benchmark
    with the player's engine, for ``searches`` (each ``{ply, k, replies}``; replies 1 is the greedy opponent)."""

    name = "cost_model"
    reads = ("player",)

    def __init__(self, executor: Executor, searches: list[dict[str, int]], playouts: int = 30, decisions: int = 40) -> None:
        self.executor = executor
        self.playouts = whole("evaluator.playouts", playouts, 1)
        self.decisions = whole("evaluator.decisions", decisions, 1)
        self.searches = [_search(f"evaluator.searches[{i}]", one) for i, one in enumerate(searches)]
        if not self.searches:
            raise RaccoonError("evaluator.searches is empty: name at least one, such as {ply: 1, k: 8}")

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``; the opponent takes no part."""
        judge = build(player, "player", Player)
        if not hasattr(judge, "engine"):
            raise RaccoonError(f"player={judge.name}: cost_model needs a player with an engine")
        checker = load(EMBEDDED).checker
        result = Report(self.name, judge.name, None, seed)
        rows: list[Mapping[str, Any]] = []
        for name, boards, dice in (("random play", *_random_decisions(self.playouts, seed)), ("benchmark", checker.boards, checker.dice)):
            rows += _branching(name, boards, dice)
        result.tables["Branching"] = rows
        picked = np.sort(generator(seed, "cost model").choice(len(checker), min(self.decisions, len(checker)), replace=False))
        turns = enumerate_turns(checker.boards[picked], checker.dice[picked])
        u = float(np.diff(turns.offsets).mean())
        table: list[Mapping[str, Any]] = []
        for one in track(self.searches, len(self.searches), "cost model", "searches"):
            ply, k, replies = one["ply"], one["k"], one["replies"]
            rule = Filter("value", k) if ply else Filter("none")
            search = Expectimax(ply, rule, opponent="greedy" if replies == 1 else "full", replies=replies)
            used = search.values(turns, judge.engine).evaluations / len(turns)
            expected = predicted(u, ply, k, replies)
            table.append(
                {"search": search.name, "predicted": round(expected), "counted": round(used), "counted/predicted": used / expected}
            )
        result.tables["Evaluations per decision"] = table
        result.notes = [
            f"Evaluations on {len(turns)} benchmark decisions, u = {u:.1f}, engine {judge.engine.name}.",
            "Legal actions are OpenSpiel's half turns (a double takes two); results are distinct boards after the whole turn.",
        ]
        return result


def _search(at: str, given: Mapping[str, int]) -> dict[str, int]:
    """The settings of one search; RaccoonError naming the key at ``at`` for one that there is none of."""
    unknown = [key for key in given if key not in ("ply", "k", "replies")]
    if unknown:
        raise RaccoonError(f"{at}.{unknown[0]}: a search here takes ply, k and replies")
    one = {key: whole(f"{at}.{key}", given.get(key, 1), 0 if key == "ply" else 1) for key in ("ply", "k", "replies")}
    try:
        Expectimax(one["ply"])
    except RaccoonError as error:
        raise RaccoonError(f"{at}: {error}") from error
    return one


def _random_decisions(playouts: int, seed: int) -> tuple[Boards, NDArray[np.int8]]:
    """Boards and dice of the decisions (first halves of doubles) of uniformly random games."""
    from raccoon.env.game_wrapper import random_playout, view

    def decisions() -> Iterator[tuple[Any, Any]]:
        for game in track(range(playouts), playouts, "random play", "games"):
            for state in random_playout(generator(seed, "cost model playouts", game)):
                seen = None if state.is_terminal() else view(state)
                if seen is not None and seen.dice is not None and not seen.mid_doubles:
                    yield seen.board, seen.dice

    boards, dice = zip(*decisions(), strict=True)
    return np.stack(boards), np.array(dice, np.int8)


def _branching(name: str, boards: Boards, dice: NDArray[np.int8]) -> list[Mapping[str, Any]]:
    _, actions = legal_actions(boards, dice)
    _, results = afterstates(boards, dice)
    doubles = dice[:, 0] == dice[:, 1]
    counted = {
        "legal actions": np.diff(actions),
        "distinct results": np.diff(results),
        "ordered paths of a double": _double_paths(boards[doubles], dice[doubles]),
        "distinct results of a double": np.diff(results)[doubles],
    }
    return [
        {
            "decisions": name,
            "of": what,
            "n": len(counts),
            "mean": round(float(counts.mean()), 1),
            "median": float(np.median(counts)),
            "p90": float(np.percentile(counts, 90)),
            "max": int(counts.max()),
            "forced": round(float((counts == 1).mean()), 3),
        }
        for what, counts in counted.items()
    ]


def _double_paths(boards: Boards, dice: NDArray[np.int8]) -> NDArray[np.int64]:
    """``int64[N]``: pairs of legal half turns (or single ones that end the turn) of doubles."""
    first = half_turns(boards, dice, None)
    paths = np.bincount(first.row[~first.again], minlength=len(boards))
    row = first.row[first.again]
    second = half_turns(first.boards[first.again], dice[row], np.ones(len(row), bool))
    return paths + np.bincount(row[second.row], minlength=len(boards))

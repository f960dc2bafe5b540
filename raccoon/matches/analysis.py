"""What a judge says of a match: for each play and cube action the best alternative, the equity lost and the luck; sums a player."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import tee
from typing import Any

from raccoon.contracts import CubefulSearch, RaccoonError
from raccoon.cube.match_equity_table import LONGEST
from raccoon.matches.decisions import Decision, each_decision
from raccoon.matches.luck import luck_of_roll
from raccoon.matches.record import Match
from raccoon.search.analysis.answers import analyse

__all__ = ["CLOSE", "analyse_decisions", "costs_of", "decisions_of"]

CLOSE = 0.16
"""A decision not to double counts in PR where a double would cost less than that, as in GNU Backgammon."""
_SHOWN = 5


def decisions_of(match: Match) -> list[Decision]:
    """The decisions of a match. Raises RaccoonError for a match beyond the match equity table."""
    if match.length > LONGEST:
        raise RaccoonError(f"{match.source}: a match to {match.length} points; the match equity table ends at {LONGEST}")
    return list(each_decision(match))


def analyse_decisions(asked: Iterable[Decision], judge: Any) -> Iterator[dict[str, Any]]:
    """One record a decision, in order, by a player with ``engine``, ``search`` and ``cube``.

    All have ``game, number, player, kind, xgid, done, answer, line`` (see ``Decision``), ``best``, ``equity`` (of the best, to the side on
    roll; points per unit of the cube, normalised at a match score), ``cost`` and ``mwc_cost`` of what was done, ``counts`` (is it one of
    the decisions of PR?), ``luck`` and ``luck_stake`` (see ``raccoon.matches.luck``; None for the cube). A play has ``forced`` and
    ``candidates``, the best five and the one played: ``move, equity, difference``. A cube decision has ``no_double, double_take,
    double_pass``, and where the double was answered ``best_answer``, ``answer_cost`` and ``answer_mwc_cost``.
    """
    items, ahead = tee(asked)
    answers = analyse((one.question for one in ahead if _searched(one)), judge.engine, judge.search, judge.cube, None, chances=False)
    cube = isinstance(judge.search, CubefulSearch) and judge.engine.has_probs
    for one in items:
        found = next(answers) if _searched(one) else None
        told = _cube(one, found) if one.kind == "cube" else _play(one, found)
        luck = luck_of_roll(one.position, one.opening, judge.engine, judge.cube if cube else None) if one.kind == "play" else None
        yield one.named() | told | {"luck": luck and luck.equity, "luck_stake": luck and luck.stake}


def _searched(one: Decision) -> bool:
    return not one.forced


def _play(one: Decision, found: Mapping[str, Any] | None) -> dict[str, Any]:
    if found is None:
        return {"best": one.done, "equity": None, "cost": 0.0, "mwc_cost": None, "counts": False, "forced": True, "candidates": []}
    rows = [{key: row[key] for key in ("move", "equity", "difference")} for row in found["candidates"]]
    shown = [row for index, row in enumerate(rows) if index < _SHOWN or row["move"] == one.done]
    played = found["played"]
    return {
        "best": rows[0]["move"],
        "equity": rows[0]["equity"],
        "cost": None if played is None else max(played["cost"], 0.0),
        "mwc_cost": None if played is None or played["mwc_cost"] is None else max(played["mwc_cost"], 0.0),
        "counts": played is not None,
        "forced": False,
        "candidates": shown,
    }


def _cube(one: Decision, found: Mapping[str, Any] | None) -> dict[str, Any]:
    action = None if found is None else found["cube_action"]
    if action is None:
        none = dict.fromkeys(("best", "equity", "cost", "mwc_cost", "no_double", "double_take", "double_pass", "best_answer"))
        return none | {"counts": False, "answer_cost": None, "answer_mwc_cost": None}
    told = {key: action[key] for key in ("no_double", "double_take", "double_pass")}
    beavers = action["answer"] == "beaver" or one.answer == "beaver"
    cost, answered, counts = _costs(told, one, beavers)
    mwc_cost, mwc_answered = (None, None) if action["mwc"] is None else _costs(action["mwc"], one, False)[:2]
    return {
        "best": action["verdict"],
        "equity": max(told["no_double"], min(told["double_take"], told["double_pass"])),
        "cost": cost,
        "mwc_cost": mwc_cost,
        "counts": counts,
        **told,
        "best_answer": action["answer"],
        "answer_cost": answered,
        "answer_mwc_cost": mwc_answered,
    }


def _costs(told: Mapping[str, float], one: Decision, beavers: bool) -> tuple[float, float | None, bool]:
    """What the doubler and the one who answered lost, in the unit of ``told``; and whether the doubler's decision counts."""
    answers = {"take": told["double_take"], "pass": told["double_pass"]}
    if beavers:
        answers["beaver"] = 2.0 * told["double_take"]
    doubled, held = min(answers.values()), told["no_double"]
    best = max(held, doubled)
    cost = best - (doubled if one.done == "double" else held)
    answered = None if one.answer is None else answers[one.answer] - doubled
    return cost, answered, one.done == "double" or best - doubled < CLOSE


def costs_of(records: Sequence[Mapping[str, Any]], player: int) -> dict[str, list[float]]:
    """Equities lost by a player in decisions that count: ``play``, ``double`` (or not) and ``answer``."""
    return {
        "play": [row["cost"] for row in records if row["player"] == player and row["kind"] == "play" and row["counts"]],
        "double": [row["cost"] for row in records if row["player"] == player and row["kind"] == "cube" and row["counts"]],
        "answer": [row["answer_cost"] for row in records if row["player"] != player and row.get("answer_cost") is not None],
    }

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

__all__ = ["CLOSE", "analyse_decisions", "answers_of", "costs_of", "decisions_of"]

CLOSE = 0.16
"""A decision not to double counts in PR where a double would cost less than that, as in GNU Backgammon."""
_SHOWN = 5


def decisions_of(match: Match) -> list[Decision]:
    """The decisions of a match. Raises RaccoonError for a match beyond the match equity table."""
    if match.length > LONGEST:
        raise RaccoonError(f"{match.source}: a match to {match.length} points; the match equity table ends at {LONGEST}")
    return list(each_decision(match))


def analyse_decisions(decisions: Iterable[Decision], judge: Any) -> Iterator[dict[str, Any]]:
    """One record a decision, in order, by a player with ``engine``, ``search`` and ``cube``.

    All have ``game, number, player, kind, xgid, done, answer, line`` (see ``Decision``), ``best``, ``equity`` (of the best, to the side on
    roll; points per unit of the cube, normalised at a match score), ``cost`` and ``mwc_cost`` of what was done, ``counts`` (is it one of
    the decisions of PR?), ``luck`` and ``luck_stake`` (see ``raccoon.matches.luck``; None for the cube). A play has ``forced`` and
    ``candidates``, the best five and the one played: ``move, equity, difference``. A cube decision has ``no_double, double_take,
    double_pass``, and where the double was answered ``best_answer``, ``answer_cost`` and ``answer_mwc_cost``; after a beaver also
    ``replies``, what both did with it in turn, the doubler first, with ``best_replies`` and ``reply_costs``, in the unit of the others.
    """
    items, ahead = tee(decisions)
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
        replies = {"best_replies": [None] * len(one.replies), "reply_costs": [None] * len(one.replies)} if one.replies else {}
        return none | {"counts": False, "answer_cost": None, "answer_mwc_cost": None} | replies
    told = {key: action[key] for key in ("no_double", "double_take", "double_pass")}
    beaver = action["answer"] == "beaver"
    taken = told["double_take"] / 2.0 if beaver else told["double_take"]  # the cube at twice the value, not at four times
    answers = _Answers(taken, told["double_pass"], 1, beaver or one.answer == "beaver")
    cost, answered, counts = _costs(told["no_double"], answers, one)
    mwc = action["mwc"]
    mwc_cost, mwc_answered = (None, None)
    if mwc is not None:
        mwc_cost, mwc_answered, _ = _costs(mwc["no_double"], _Answers(mwc["double_take"], mwc["double_pass"]), one)
    return {
        "best": action["verdict"],
        "equity": max(told["no_double"], answers.value),
        "cost": cost,
        "mwc_cost": mwc_cost,
        "counts": counts,
        **told,
        "best_answer": answers.best,
        "answer_cost": answered,
        "answer_mwc_cost": mwc_answered,
        **_replies(taken, one.replies),
    }


def _costs(held: float, answers: _Answers, one: Decision) -> tuple[float, float | None, bool]:
    """What the doubler and the one who answered lost, in the unit of ``held``, not doubling; and whether the doubler's decision counts."""
    best = max(held, answers.value)
    cost = best - (answers.value if one.done == "double" else held)
    answered = None if one.answer is None else answers.cost(one.answer)
    return cost, answered, one.done == "double" or best - answers.value < CLOSE


def _replies(taken: float, replies: Sequence[str]) -> dict[str, list[Any]]:
    """What could be done with a beaver, and what it cost. Beavering again is no mistake to leave out, as files do not tell whether it is
    allowed; it is priced where it was done."""
    if not replies:
        return {}
    found = [_Answers(taken, 1.0, level, reply == "beaver") for level, reply in enumerate(replies, start=2)]
    return {
        "best_replies": [one.best for one in found],
        "reply_costs": [one.cost(reply) for one, reply in zip(found, replies, strict=True)],
    }


class _Answers:
    """The answers to turn ``level`` of the cube before one roll: 1 is the double, 2 a beaver, 3 a beaver of that. Odd turns are answered by
    the side that was doubled, which keeps the cube all the time, even ones by the doubler. Equities to the doubler in the unit of the cube
    before the double: ``taken``, ``passed`` of the double. A beaver is answered by the better of a take and a pass."""

    def __init__(self, taken: float, passed: float, level: int = 1, beaver: bool = False) -> None:
        self._sign = 1 if level % 2 else -1
        stake = 2.0 ** (level - 1)
        self._values = {"pass": self._sign * stake * passed, "take": stake * taken}
        if beaver:
            worse = max if self._sign > 0 else min
            self._values["beaver"] = worse(2.0 * stake * taken, -2.0 * self._sign * stake)
        self.best = min(self._values, key=lambda answer: self._sign * self._values[answer])

    @property
    def value(self) -> float:
        """Of the best answer, to the doubler."""
        return self._values[self.best]

    def cost(self, answer: str) -> float:
        """Equity that ``answer`` gives away."""
        return self._sign * (self._values[answer] - self.value)


def costs_of(records: Sequence[Mapping[str, Any]], player: int) -> dict[str, list[float]]:
    """Equities lost by a player in decisions that count: ``play``, ``double`` (or not) and ``answer`` (to a double or a beaver)."""
    return {
        "play": [row["cost"] for row in records if row["player"] == player and row["kind"] == "play" and row["counts"]],
        "double": [row["cost"] for row in records if row["player"] == player and row["kind"] == "cube" and row["counts"]],
        "answer": [cost for row in records for who, _, cost, _ in answers_of(row) if who == player and cost is not None],
    }


def answers_of(row: Mapping[str, Any]) -> list[tuple[int, str, float | None, str | None]]:
    """The answers to the double of a record and to its beavers, in their order: player, answer, cost and the best one."""
    if row["answer"] is None:
        return []
    found = [(1 - row["player"], row["answer"], row["answer_cost"], row["best_answer"])]
    replies = zip(row.get("replies", ()), row.get("reply_costs", ()), row.get("best_replies", ()), strict=True)
    for at, (reply, cost, best) in enumerate(replies):
        found.append((row["player"] if at % 2 == 0 else 1 - row["player"], reply, cost, best))
    return found

"""Beavers in an analysed match: the answer to a double, and the answers to a beaver, priced by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cube import Janowski
from raccoon.engine.base import EngineBase
from raccoon.matches import Match, analyse_decisions, decisions_of, parse_match, summarise
from raccoon.matches.html import report
from raccoon.matches.page import decision_lines
from raccoon.play.player import EnginePlayer

HEAD = (
    '; [Beaver "On"]\n\n 0 point match\n\n Game 1\n Hazel : 0                      Rowan : 0\n'
    "  1) 31: 8/5 6/5                 62: 24/18 13/11\n  2)  Doubles => 2                "
)
ROLLED = "43: 24/20 13/10             51: 13/8 6/5\n"
TAKEN, PASSED = f"Takes\n  3) {ROLLED}", "Drops\n      Wins 1 point\n"
BEAVERED = f"Beavers => 4\n  3) {ROLLED}"
BEAVER_PASSED = "Beavers => 4\n  3)  Drops                       Wins 2 points\n"
RACCOON = f"Beavers => 4\n  3)  Raccoons => 8               Takes\n  4) {ROLLED}"
RACCOON_PASSED = "Beavers => 4\n  3)  Beavers => 8               Drops\n      Wins 4 points\n"


class Constant(EngineBase):
    """The side on roll wins a share of all games, none of them a gammon."""

    def __init__(self, win: float) -> None:
        super().__init__("constant")
        self.win = win

    def _probs6(self, live: np.ndarray) -> np.ndarray:
        return np.tile([self.win, 0.0, 0.0, 1.0 - self.win, 0.0, 0.0], (len(live), 1))


def analysed(rows: str, win: float) -> tuple[Match, list[dict[str, Any]]]:
    """With a dead cube: the doubled one is worth ``2 (2 win - 1)`` to the doubler."""
    match = parse_match(HEAD + rows, "beavers.mat")
    judge = EnginePlayer(Constant(win), cube=Janowski(x_contact=0.0, x_race=0.0, bearoff=False))
    return match, list(analyse_decisions(decisions_of(match), judge))


@pytest.mark.parametrize(
    ("rows", "win", "double", "answer", "best", "replies"),
    [
        (TAKEN, 0.4, 0.6, 0.4, "beaver", []),  # no double -.2, a take -.4, a beaver -.8
        (PASSED, 0.4, 0.6, 1.8, "beaver", []),
        (BEAVERED, 0.4, 0.6, 0.0, "beaver", [("take", 0.0, "take")]),
        (BEAVER_PASSED, 0.4, 0.6, 0.0, "beaver", [("pass", 1.2, "take")]),  # two points lost for .8
        (RACCOON, 0.4, 0.6, 0.0, "beaver", [("beaver", 0.8, "take"), ("take", 0.0, "take")]),
        (RACCOON_PASSED, 0.4, 0.6, 0.0, "beaver", [("beaver", 0.8, "take"), ("pass", 5.6, "take")]),
        (TAKEN, 0.6, 0.0, 0.0, "take", []),  # no double .2, a take .4, a beaver .8
        (BEAVERED, 0.6, 0.0, 0.4, "take", [("take", 0.0, "take")]),
        (RACCOON, 0.6, 0.0, 0.4, "take", [("beaver", 0.0, "beaver"), ("take", 0.0, "take")]),
        (BEAVERED, 0.1, 1.2, 0.0, "beaver", [("take", 1.2, "pass")]),  # no double -.8, the beaver is passed at -2, taken -3.2
        (BEAVER_PASSED, 0.1, 1.2, 0.0, "beaver", [("pass", 0.0, "pass")]),
    ],
)
def test_beavers_by_hand(rows: str, win: float, double: float, answer: float, best: str, replies: list[tuple[str, float, str]]) -> None:
    record = next(row for row in analysed(rows, win)[1] if row["done"] == "double")
    assert record["cost"] == pytest.approx(double)
    assert (record["answer_cost"], record["best_answer"]) == (pytest.approx(answer), best)
    assert record.get("replies", []) == [reply for reply, _, _ in replies]
    assert record.get("reply_costs", []) == pytest.approx([cost for _, cost, _ in replies])
    assert record.get("best_replies", []) == [right for _, _, right in replies]


def test_answers_to_beavers_count_for_who_gave_them() -> None:
    match, records = analysed(RACCOON_PASSED, 0.4)
    doubler, other = summarise(match, records)
    assert (doubler["cubes"], other["cubes"]) == (2, 2)  # the double and the raccoon; the beaver and the pass
    assert doubler["cube_loss"] == pytest.approx(0.6 + 0.8)
    assert other["cube_loss"] == pytest.approx(5.6)
    text = [" ".join(line.split()) for line in decision_lines(match, records, ("White", "Black"))]
    at = text.index("3 White double 0.600 best: no double")
    assert text[at + 1 : at + 4] == ["Black beaver", "White beaver 0.800 best: take", "Black pass 5.600 best: take"]
    page = report(
        match, {"judge": "constant", "players": summarise(match, records), "decisions": records, "faults": []}, ("White", "Black")
    )
    assert "Black pass 5.600 best: take" in page


def test_without_chances_beavers_are_told_and_not_priced() -> None:
    match = parse_match((Path(__file__).parents[1] / "golden" / "matches" / "beavers.txt").read_text(), "beavers.txt")
    double = next(one for one in decisions_of(match) if one.done == "double")
    assert (double.answer, double.replies) == ("beaver", ("take",))
    assert double.named()["replies"] == ["take"]
    assert all("replies" not in one.named() for one in decisions_of(match) if one is not double and one.done != "double")

"""What an analysis says, as plain values by name: chances, equities at a match score, what to do with the cube."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, CubeEquities, Cubes, Turns
from raccoon.cube import match_equity
from raccoon.env.position_ids import position_id

__all__ = ["CHANCES", "Found", "Unit", "cube_action", "named_chances", "plays_record"]

CHANCES = ("win", "win_gammon", "win_backgammon", "lose", "lose_gammon", "lose_backgammon")
"""Names of the chances, cumulative as in GNUBG and XG: a gammon is also a win, a backgammon also a gammon."""
_TIE = 1e-6
"""Equities that differ by less are the same: sums of rounded numbers."""


def named_chances(six: Sequence[float] | None) -> dict[str, float] | None:
    """The cumulative chances of six exclusive ones (win, gammon, backgammon, and lost); None stays None."""
    if six is None:
        return None
    values = [sum(side[size:]) for side in (six[:3], six[3:]) for size in range(3)]
    return dict(zip(CHANCES, map(float, values), strict=True))


class Unit:
    """The unit of the equities of one question. ``cubes`` is its cube (one row), None where equities are cubeless.

    Match equities (2 MWC - 1, see ``raccoon.cube.match_equity``) are reported in two units. ``mwc`` is the match winning chance, from 0 to
    1; ``equity`` the normalised one (EMG), on which a single game lost at the present cube is -1 and one won 1. Money equities
    are points per unit of the cube already and have no ``mwc``.
    """

    def __init__(self, cubes: Cubes | None) -> None:
        self.match = cubes is not None and cubes.away is not None
        if cubes is not None and self.match:
            self._won, self._lost = (float(match_equity.after(sign * cubes.value, cubes)[0]) for sign in (1, -1))

    def equity(self, value: float) -> float:
        """Points per unit of the cube."""
        return (2.0 * value - self._won - self._lost) / (self._won - self._lost) if self.match else float(value)

    def mwc(self, value: float) -> float | None:
        """Match winning chance; None in money play."""
        return (value + 1.0) / 2.0 if self.match else None


def cube_action(equities: CubeEquities, cubes: Cubes) -> dict[str, Any]:
    """What both sides do with the cube of one row, in the words of the field.

    ``no_double``, ``double_take``, ``double_pass`` (points per unit of the cube), ``mwc`` (the three as match winning chances, None
    in money play), ``verdict`` (double, no double, too good to double, or no cube action), ``answer`` (take, pass, beaver) and
    ``action``, both in one line. With the cube turned already they say redouble.
    """
    nd, dt, dp = (float(column[0]) for column in equities)
    unit = Unit(cubes)
    again = "double" if cubes.owner[0] == CENTRED else "redouble"
    answer = "pass" if dt >= dp else "beaver" if dt < 0 and cubes.may_beaver()[0] else "take"
    if not cubes.may_double()[0]:
        verdict = "no cube action"
    elif nd > dp + _TIE:
        verdict = f"too good to {again}"
    elif min(dt, dp) > nd or (answer == "pass" and dp > nd - _TIE):  # what is certain to be won is cashed
        verdict = again
    else:
        verdict = f"no {again}"
    told = {"no_double": nd, "double_take": dt, "double_pass": dp}
    return {
        **{name: unit.equity(value) for name, value in told.items()},
        "mwc": {name: unit.mwc(value) for name, value in told.items()} if unit.match else None,
        "verdict": verdict,
        "answer": None if verdict == "no cube action" else answer,
        "action": verdict if verdict == "no cube action" else f"{verdict}, {answer}",
    }


@dataclass(frozen=True)
class Found:
    """What is known of the M children of some turns, to the mover; ``chances`` and ``errors`` are None where unknown."""

    points: NDArray[np.float64]
    full: NDArray[np.bool_]
    plies: list[int | None]
    chances: list[list[float] | None]
    errors: list[float | None]


def plays_record(turns: Turns, moves: list[str], found: Found, unit: Unit, move: str | None) -> dict[str, Any]:
    """``candidates`` and ``played`` of one decision, see ``answers.analyse``; ``moves``: the texts of its children."""
    full, plies, points = found.full, found.plies, found.points
    order = sorted(range(len(points)), key=lambda child: (not full[child], -(plies[child] or 0) * (not full[child]), -points[child], child))
    best = float(points[order[0]])
    candidates = [
        {
            "rank": rank,
            "move": moves[child],
            "position": position_id(turns.children[child]),
            "equity": unit.equity(float(points[child])),
            "mwc": unit.mwc(float(points[child])),
            "difference": unit.equity(float(points[child])) - unit.equity(best),
            "chances": named_chances(found.chances[child]),
            "ply": plies[child],
            "se": found.errors[child],
            "searched": bool(full[child]),
        }
        for rank, child in enumerate(order, start=1)
    ]
    return {"candidates": candidates, "played": None if move is None else _cost(candidates, move)}


def _cost(candidates: list[dict[str, Any]], move: str) -> dict[str, Any]:
    row = next(row for row in candidates if row["move"] == move)
    mwc_cost = None if row["mwc"] is None else candidates[0]["mwc"] - row["mwc"]
    return {"rank": row["rank"], "cost": 0.0 - row["difference"], "mwc_cost": mwc_cost}

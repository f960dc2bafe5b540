"""Exact cubeful equities of bear-offs, computed by dynamic programming.

Positions are numbered as in ``raccoon.engine.exact_bearoff.tables``. No gammon is possible in these tables, so the Jacoby rule
changes nothing; beavers do not either, because nobody doubles who would be beavered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.cube_rules import CENTRED, OPPONENT, OWNED, OWNER_NAMES
from raccoon.engine.exact_bearoff.tables import count, positions, results
from raccoon.env.kernels import kernel
from raccoon.env.movegen import ROLL_PROBS
from raccoon.progress import track

__all__ = ["COLUMNS", "WITHOUT_GAMMONS", "cubeful", "members"]

COLUMNS = ("cubeless", *(OWNER_NAMES[owner] for owner in (OWNED, CENTRED, OPPONENT)))
"""Last axis of the table: no cube in play; cube owned by the side on roll, centred, owned by the other side."""
WITHOUT_GAMMONS = 14
"""Most checkers of a side that cannot lose a gammon any more."""
_CUBELESS, _OWNED, _CENTRED, _THEIRS = range(len(COLUMNS))


@kernel
def _level(
    both: int,
    by_pips: NDArray[np.int64],
    starts: NDArray[np.int64],
    found: NDArray[np.int32],
    offsets: NDArray[np.int64],
    held: NDArray[np.float32],
    best: NDArray[np.float32],
) -> None:
    """All positions with ``both`` pips on the two sides together, those with fewer being known.

    ``held [P, P, 4]``: equity of not doubling now; ``best``: of doubling or not, whichever is better. Column c of the mover is
    the other side's column after the turn: owned and theirs change places.
    """
    most = len(starts) - 2
    least = np.empty(4, np.float32)
    for mine_pips in range(max(1, both - most), min(most, both - 1) + 1):
        for mine in by_pips[starts[mine_pips] : starts[mine_pips + 1]]:
            for other in by_pips[starts[both - mine_pips] : starts[both - mine_pips + 1]]:
                total = np.zeros(4)
                for roll in range(21):
                    least[:] = 2.0
                    for i in range(offsets[mine * 21 + roll], offsets[mine * 21 + roll + 1]):
                        for c in range(4):
                            least[c] = min(least[c], best[other, found[i], c])
                    for c in range(4):
                        total[c] -= ROLL_PROBS[roll] * least[c]
                held[mine, other, _CUBELESS] = total[_CUBELESS]
                held[mine, other, _CENTRED] = total[_CENTRED]
                held[mine, other, _OWNED] = total[_THEIRS]
                held[mine, other, _THEIRS] = total[_OWNED]
                doubled = min(2.0 * total[_OWNED], 1.0)
                best[mine, other, _CUBELESS] = total[_CUBELESS]
                best[mine, other, _CENTRED] = max(total[_CENTRED], doubled)
                best[mine, other, _OWNED] = max(total[_THEIRS], doubled)
                best[mine, other, _THEIRS] = total[_OWNED]


def members(checkers: int, pips: int = 0) -> NDArray[np.int64]:
    """``int64[P]``: numbers of the positions in the table: those with at most ``checkers`` checkers, and those with at most 14
    that have at most ``pips`` pips to go. A turn leads from these to these."""
    if pips == 0:
        return np.arange(count(checkers))
    sides = positions(WITHOUT_GAMMONS)
    return np.flatnonzero((np.arange(len(sides)) < count(checkers)) | (sides @ np.arange(1, 7) <= pips))


def cubeful(checkers: int, pips: int = 0) -> NDArray[np.float32]:
    """``float32[P, P, 4]``: points per unit of the present cube to the side on roll (first axis), not doubling on this roll.

    ``COLUMNS`` says where the cube is. From then on both sides play, double, take and pass perfectly, and may redouble without
    limit: the best equity of who may double is max(held, min(2 x theirs, 1)). Plays are chosen for each column on its own.
    Rows and columns are in the order of ``members``. Entries [p, 0] are -1: the other side has won. Exact by induction on the
    pips of both, in float32.
    """
    numbers = members(checkers, pips)
    sides = positions(WITHOUT_GAMMONS if pips else checkers)[numbers]
    to_go = sides @ np.arange(1, 7)
    most = int(to_go.max())
    by_pips = np.argsort(to_go, kind="stable")
    starts = np.searchsorted(to_go[by_pips], np.arange(most + 2))
    size = len(numbers)
    held = np.zeros((size, size, len(COLUMNS)), np.float32)
    held[:, 0] = -1.0
    held[0, 1:] = 1.0
    best = held.copy()
    found, offsets = results(sides)
    what = f"bear-off table with the cube, {checkers} checkers" + (f" or {pips} pips" if pips else "") + " a side"
    found = np.searchsorted(numbers, found).astype(np.int32)
    for both in track(range(2, 2 * most + 1), 2 * most - 1, what, "pip counts"):
        _level(both, by_pips, starts, found, offsets, held, best)
    return held

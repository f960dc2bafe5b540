"""Where the cube is, in two vocabularies, and the one bridge between them.

*Labels* are relative to the player on roll: ``CENTERED``, ``PLAYER`` (it owns the cube) and ``OPPONENT``; a formula reads
them. *Seats* are the players of a game, 0 and 1, or None for nobody; a game loop holds them. ``raccoon.contracts.Cubes``
holds labels as integers, for whole batches.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, OWNED, CubeRules, Cubes, RaccoonError
from raccoon.contracts import OPPONENT as _OPPONENT
from raccoon.cube_rules import OWNER_NAMES

__all__ = ["CAP", "CENTERED", "OPPONENT", "PLAYER", "CubeState", "flip_label", "owner_codes", "owner_label"]

CENTERED, PLAYER, OPPONENT = OWNER_NAMES[CENTRED], OWNER_NAMES[OWNED], OWNER_NAMES[_OPPONENT]
CAP = CubeRules().cap
"""The cube is not turned beyond this value."""
_CODES = {label: code for code, label in OWNER_NAMES.items()}


def owner_codes(owner: Any) -> NDArray[np.int8]:
    """``int8`` codes (0 centred, 1 the player on roll, -1 its opponent) of labels or codes, one or an array of them.

    Raises RaccoonError for anything else.
    """
    array = np.asarray(owner)
    if array.dtype.kind == "U" and np.isin(array, list(_CODES)).all():
        found = np.zeros(array.shape, np.int8)
        for label, code in _CODES.items():
            found[array == label] = code
        return found
    if array.dtype.kind in "iu" and np.isin(array, list(OWNER_NAMES)).all():
        return array.astype(np.int8)
    raise RaccoonError(f"cube owner {quoted(owner)}: give {CENTERED}, {PLAYER} or {OPPONENT} (or 0, 1, -1), seen from the player on roll")


def owner_label(code: int) -> str:
    """The label of one owner's code."""
    return OWNER_NAMES[int(code)]


def flip_label(owner: Any) -> Any:
    """The same cube seen from the other side: a label gives a label, a code or an array of codes the negated ones.

    Goes with every change of sign of an equity: negating alone would hand the cube over.
    """
    codes = -owner_codes(owner)
    if isinstance(owner, str):
        return owner_label(int(codes))
    return codes if isinstance(owner, np.ndarray) else int(codes)


@dataclass(frozen=True)
class CubeState:
    """A cube in a game: its ``value`` and the seat that owns it (0, 1 or None: centred).

    Raises RaccoonError for a value that is no power of two up to ``CAP``, or a centred cube that has been turned.
    """

    value: int = 1
    owner: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) or self.value not in {1 << power for power in range(CAP.bit_length())}:
            raise RaccoonError(f"cube value {quoted(self.value)}: give a power of two from 1 to {CAP}")
        if self.owner not in (None, 0, 1) or isinstance(self.owner, bool):
            raise RaccoonError(f"cube owner {quoted(self.owner)}: give seat 0, seat 1 or None")
        if (self.owner is None) != (self.value == 1):
            raise RaccoonError(f"cube at {self.value} owned by {quoted(self.owner)}: a centred cube is at 1 and a turned one has an owner")

    def label(self, seat: int) -> str:
        """The owner as the player in ``seat``, being on roll, sees it."""
        return CENTERED if self.owner is None else PLAYER if self.owner == seat else OPPONENT

    def may_double(self, seat: int) -> bool:
        """Whether ``seat``, on roll, may double."""
        seen = Cubes(np.array([self.value], np.int32), np.array([_CODES[self.label(seat)]], np.int8), CubeRules(cap=CAP))
        return bool(seen.may_double()[0])

    def doubled(self, seat: int) -> CubeState:
        """The cube after ``seat`` doubled and the other seat took. Raises RaccoonError when ``seat`` may not double."""
        if not self.may_double(seat):
            raise RaccoonError(f"seat {seat} may not double: the cube is at {self.value}, owner {self.owner}")
        return CubeState(2 * self.value, 1 - seat)

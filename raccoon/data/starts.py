"""Positions that self-play from the opening seldom meets, made up at random: what special games start from.

``backgame``: one side holds two points in the other's home and has a board to build behind them. ``containment``: one side has
most of its checkers off or home and one or two of them sent back into the other's board. ``prime``: four to six points in a
row with checkers trapped behind them. ``bearin``: one side brings its last checkers home past an anchor or the bar.
Each side is as likely to be on roll.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.env.board import swap
from raccoon.rng import generator

__all__ = ["KINDS", "check_kinds", "special_starts"]

_Sides = tuple[NDArray[np.int8], NDArray[np.int8]]
_HOME, _OUTER, _FAR = range(6), range(6, 12), range(12, 18)


def special_starts(count: int, kinds: Sequence[str], seed: int, *index: int) -> Boards:
    """``int8[count, 2, 25]``: legal, unfinished boards, the ``kinds`` in equal parts, a function of the seed and index alone.

    Raises RaccoonError naming ``data.kinds`` for an unknown kind.
    """
    check_kinds(kinds)
    rng = generator(seed, "special starts", *index)
    kind = np.arange(count) % len(kinds)
    boards = np.zeros((count, 2, 25), np.int8)
    for number, name in enumerate(kinds):
        rows = np.flatnonzero(kind == number)
        boards[rows] = np.stack(KINDS[name](rng, len(rows)), axis=1)
    turned = rng.random(count) < 0.5
    boards[turned] = swap(boards[turned])
    return boards


def check_kinds(kinds: Sequence[str]) -> None:
    """Raise RaccoonError naming ``data.kinds`` unless these are kinds, at least one."""
    if isinstance(kinds, str) or not kinds or not set(kinds) <= set(KINDS):
        raise RaccoonError(f"data.kinds={quoted(kinds)}: give a list of some of {', '.join(KINDS)}")


def _filled(
    rng: np.random.Generator,
    side: NDArray[np.int8],
    checkers: NDArray[np.int64] | int,
    places: Sequence[int],
    other: NDArray[np.int8] | None,
) -> NDArray[np.int8]:
    """``side int8[N, 25]`` brought to ``checkers [N]`` on ``places`` that the ``other`` side leaves free, those with checkers first."""
    weights = np.zeros(side.shape)
    weights[:, list(places)] = 1.0 + rng.random((len(side), len(places))) * 2.0
    weights += np.where((weights > 0) & (side > 0), 0.5, 0.0)
    if other is not None:
        weights[:, :24][other[:, 23::-1] > 0] = 0.0  # index 23 - i of the other side is the same point
    weights /= weights.sum(axis=1, keepdims=True)
    return (side + rng.multinomial(np.maximum(checkers - side.sum(axis=1), 0), weights)).astype(np.int8)


def _picked(rng: np.random.Generator, n: int, places: Sequence[int], count: int, checkers: int) -> NDArray[np.int8]:
    """``int8[n, 25]``: ``checkers`` on each of ``count`` different ones of ``places``."""
    chosen = np.argsort(rng.random((n, len(places))), axis=1)[:, :count]
    side = np.zeros((n, 25), np.int8)
    np.put_along_axis(side, np.asarray(places)[chosen], checkers, axis=1)
    return side


def _backgame(rng: np.random.Generator, n: int) -> _Sides:
    holder = _picked(rng, n, range(19, 24), 2, 2)
    holder = _filled(rng, holder, holder.sum(axis=1) + rng.integers(0, 3, n), range(19, 24), None)
    holder = _filled(rng, holder, 15, [*_HOME, *_OUTER, 12], None)
    other = _picked(rng, n, [*_HOME, *_OUTER], 3, 1)
    other[other > 0] = 2
    other[:, :24][holder[:, 23::-1] > 0] = 0
    return holder, _filled(rng, other, 15, [*_HOME, *_OUTER], holder)


def _containment(rng: np.random.Generator, n: int) -> _Sides:
    hitter = _picked(rng, n, range(2, 9), 4, 2)
    hitter = _filled(rng, hitter, 15, [*_HOME, *_OUTER, 15, 18], None)
    back = rng.integers(1, 3, n)
    runner = np.zeros((n, 25), np.int8)
    runner[:, 24] = np.where(rng.random(n) < 0.6, back, 0)
    runner = _filled(rng, runner, back, range(18, 25), hitter)
    left = back + rng.integers(1, 14, n)
    return hitter, _filled(rng, runner, np.minimum(left, 15), range(5), hitter)


def _prime(rng: np.random.Generator, n: int) -> _Sides:
    first, length = rng.integers(2, 6, n), rng.integers(4, 7, n)
    place = np.arange(25)[None]
    primer = np.where((place >= first[:, None]) & (place < (first + length)[:, None]), 2, 0).astype(np.int8)
    primer = _filled(rng, primer, 15, [*_HOME, *_OUTER, *_FAR], None)
    trapped = np.zeros((n, 25), np.int8)
    behind = 23 - rng.integers(0, first)  # below the prime, in the numbering of the trapped side
    behind = np.where((primer[np.arange(n), 23 - behind] > 0) | (rng.random(n) < 0.2), 24, behind)
    trapped[np.arange(n), behind] = rng.integers(1, 3, n)
    return primer, _filled(rng, trapped, 15, [*_HOME, *_OUTER], primer)


def _bearin(rng: np.random.Generator, n: int) -> _Sides:
    anchor = _picked(rng, n, [18, 19, 20, 21, 22, 23, 24], 1, 2)
    anchor = _filled(rng, anchor, 15, [*_HOME, 6, 7], None)
    comer = np.zeros((n, 25), np.int8)
    comer = _filled(rng, comer, rng.integers(1, 5, n), [*_OUTER, *_FAR], anchor)
    return _filled(rng, comer, 15, _HOME, anchor), anchor


KINDS: dict[str, Callable[[np.random.Generator, int], _Sides]] = {
    "backgame": _backgame,
    "containment": _containment,
    "prime": _prime,
    "bearin": _bearin,
}
"""Makers of the two sides of ``n`` boards, ``int8[n, 25]`` each."""

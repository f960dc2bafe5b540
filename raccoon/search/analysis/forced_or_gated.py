"""Plays that a search did not look below: an analysis shows them at its full depth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CubeModel, Engine, Turns
from raccoon.search.cubeful import CubefulTree
from raccoon.search.expectimax import Expectimax
from raccoon.search.filters import keep_best
from raccoon.search.lookahead import terminal_value

__all__ = ["search_forced_or_gated_plays"]


def search_forced_or_gated_plays(
    turns: Turns,
    values: NDArray[np.float64],
    full: NDArray[np.bool_],
    plies: NDArray[np.int8],
    search: Expectimax,
    engine: Engine,
    model: CubeModel | None,
    requested: list[int],
) -> None:
    """Search plays of one decision that the search left out, in place. A search does not look below a forced play or one that is far
    ahead (``gate``). Such a play is still shown at full depth, and so are the ``requested`` ones."""
    if not (plies == search.ply).any():
        best = keep_best(np.where(full, values, -np.inf), turns.offsets, 1)[0]
        full[:] = False
        full[best] = True
        requested = [*best, *requested]
    more = np.array(
        [child for child in requested if plies[child] < search.ply and not terminal_value(turns.children[[child]])[0]], np.int64
    )
    if len(more):
        if model is None:
            values[more] = -search.tree(engine).values(turns.children[more], search.ply)
        else:
            tree, cubes = CubefulTree(search.tree(engine), model), turns.cubes.take(np.zeros(len(more), np.int64)).flipped()
            values[more] = tree.candidates(turns.children[more], cubes, search.ply) / 3.0
        plies[more] = search.ply

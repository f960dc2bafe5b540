"""Static choice (GNUBG's 0-ply): the engine values the board after each legal play, and the best value wins.

Equal boards of a batch are evaluated once. Finished games get their exact value and are never evaluated. A double is one
play of up to four half-moves (``joint``). The ``greedy`` way is there for comparison: it fixes the first two half-moves by the
static value of the board in between and then picks the rest. No network is trained on such boards, so greedy play gives
away equity on doubles. On other rolls both ways are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, CubeEquities, CubeModel, CubeRules, Cubes, Engine, RaccoonError, SearchResult, Turns
from raccoon.cube.model import Janowski
from raccoon.env import ragged
from raccoon.env.board import terminal_points
from raccoon.env.encoder import Encoder
from raccoon.env.lookup import unique_boards
from raccoon.search.half_by_half import behind_best_half

__all__ = [
    "Doubles",
    "Leaves",
    "StaticSearch",
    "child_cubeful_values",
    "child_cubes",
    "child_values",
    "cubeful_equities",
    "encode_pre_roll",
    "enumerate_leaves",
    "leaf_values",
    "static_cubeful",
    "terminal_value",
]

Doubles = Literal["joint", "greedy"]


@dataclass(frozen=True)
class Leaves:
    """Distinct boards to evaluate for the children of a batch.

    ``boards int8[U, 2, 25]`` unfinished and distinct; ``index int64[M]``: the leaf of each child, -1 where the child
    is finished; ``exact float64[M]``: value to the mover of finished children, 0 elsewhere.
    """

    boards: Boards
    index: NDArray[np.int64]
    exact: NDArray[np.float64]

    def scatter(self, to_opponent: NDArray[np.floating]) -> NDArray[np.float64]:
        """``float64[M]``: the value of each child to the mover, from ``to_opponent [U]``, values of ``boards`` to the side on roll in
        them. Finished children are exact."""
        to_mover = np.append(-np.asarray(to_opponent, np.float64), 0.0)  # index -1: the place of finished ones
        return np.where(self.index < 0, self.exact, to_mover[self.index])


def terminal_value(children: Boards) -> NDArray[np.float64]:
    """``float64[M]``: exact value (points / 3) of finished afterstates to the side that just moved; 0 while the game is on."""
    return -terminal_points(children).astype(np.float64) / 3.0


def enumerate_leaves(children: Boards) -> Leaves:
    """Split afterstates ``int8[M, 2, 25]`` into exact ones and distinct boards that an engine must evaluate."""
    exact = terminal_value(children)
    live = exact == 0
    if live.all():
        first, inverse = unique_boards(children)
        return Leaves(children[first], inverse, exact)
    index = np.full(len(children), -1, np.int64)
    rest = children[live]
    if len(rest) == 0:
        return Leaves(rest, index, exact)
    first, inverse = unique_boards(rest)
    index[live] = inverse
    return Leaves(rest[first], index, exact)


def encode_pre_roll(boards: Boards, encoder: Encoder) -> NDArray[np.float32]:
    """``float32[N, C, 2, 12]``: what a value head sees of ``boards``, from the side on roll (slot 1), dice cleared.

    An afterstate is encoded from the opponent's side, which is on roll in it; its value is negated for the mover.
    """
    return encoder.encode(boards)


def leaf_values(leaves: Leaves, engine: Engine) -> NDArray[np.float64]:
    """``float64[M]``: static value of every child to the mover."""
    return leaves.scatter(engine.value(leaves.boards)) if len(leaves.boards) else leaves.exact.copy()


def child_values(turns: Turns, engine: Engine, doubles: Doubles = "joint") -> SearchResult:
    """Value of every child to the mover (value scale) and which children may be chosen.

    ``joint``: all. ``greedy``: on a double only those behind the best first half; see the module docstring.
    """
    leaves = enumerate_leaves(turns.children)
    values = leaf_values(leaves, engine)
    used = len(leaves.boards)
    full = np.ones(len(values), bool)
    if doubles == "greedy":
        full, more = behind_best_half(turns, engine)
        used += more
    return SearchResult(values, full, used)


def child_cubeful_values(turns: Turns, engine: Engine, jacoby: bool = False, x: float | None = None) -> NDArray[np.float64]:
    """``float64[M]``: money *points* at a cube of 1 of every child to the mover, the cube of ``turns.cubes`` staying where it is.

    The cubeful twin of ``child_values``: the same leaves, read as six chances and priced by Janowski's model from the side
    on roll in the child, to whom the cube's owner is the other one. Finished children are exact: under the ``jacoby`` rule
    and a centred cube a point each. ``x``: one cube-life index for all (0: a dead cube); None: by contact. The value of
    the cube multiplies all children of a row alike and is left out. Raises RaccoonError when the engine only knows scalars.
    """
    model = Janowski(bearoff=False) if x is None else Janowski(x, x, bearoff=False)
    return static_cubeful(_with_rules(turns, CubeRules(jacoby=jacoby)), engine, model, options=False)


def _with_rules(turns: Turns, rules: CubeRules) -> Turns:
    return Turns(turns.boards, turns.dice, turns.cubes.under(rules), turns.children, turns.offsets)


def child_cubes(turns: Turns) -> Cubes:
    """The cubes of all children of ``turns``, seen by the side that is on roll in them."""
    return turns.cubes.take(ragged.row_of(turns.offsets)).flipped()


def static_cubeful(turns: Turns, engine: Engine, model: CubeModel, options: bool) -> NDArray[np.float64]:
    """``float64[M]``: ``cubeful_equities`` of every child to the mover."""
    return cubeful_equities(turns.children, child_cubes(turns), engine, model, options)


def cubeful_equities(children: Boards, cubes: Cubes, engine: Engine, model: CubeModel, options: bool) -> NDArray[np.float64]:
    """``float64[M]``: equity of afterstates to the mover by the closed form; finished ones exact. ``cubes`` of the side on roll in them.

    ``options``: the side on roll in the child may double first (what a search compares); without, the cube stays where it
    is for its turn (the plain model, which at a cube-life index of 0 ranks like the cubeless equity).
    """
    leaves = enumerate_leaves(children)
    out = -model.finished(-3.0 * leaves.exact, cubes)
    live = leaves.index >= 0
    if live.any():
        picked, theirs = leaves.index[live], cubes.take(live)
        probs6 = np.asarray(engine.probs6(leaves.boards), np.float64)[picked]
        price = model.optimal if options else model.no_double
        out[live] = -price(probs6, leaves.boards[picked], theirs)
    return out


class StaticSearch:
    """No lookahead beyond the turn itself. ``doubles``: ``joint`` (right) or ``greedy`` (for comparison)."""

    def __init__(self, doubles: Doubles = "joint") -> None:
        if doubles not in ("joint", "greedy"):
            raise RaccoonError(f"search.doubles={quoted(doubles)}: choose joint or greedy")
        self.doubles: Doubles = doubles
        self.name = "static" if doubles == "joint" else "static-greedy"

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        """See ``child_values``."""
        return child_values(turns, engine, self.doubles)

    def cubeful(self, turns: Turns, engine: Engine, model: CubeModel) -> SearchResult:
        """The same with a live cube; see ``child_cubeful_values``. Greedy first halves are chosen by cubeless value all the same."""
        before = engine.evaluations
        values = static_cubeful(turns, engine, model, options=False) / 3.0
        full = np.ones(len(values), bool) if self.doubles == "joint" else behind_best_half(turns, engine)[0]
        return SearchResult(values, full, engine.evaluations - before)

    def cube_equities(self, boards: Boards, cubes: Cubes, engine: Engine, model: CubeModel) -> CubeEquities:
        """``(nd, dt, dp)`` of pre-roll ``boards`` to the side on roll; see ``CubeModel.equities``."""
        return model.equities(np.asarray(engine.probs6(boards), np.float64), boards, cubes)

"""Monte Carlo tree search: PUCT over OpenSpiel's half turns with explicit rolls, many games at a time.

Selection follows the predictor + UCT rule of AlphaZero (Silver et al. 2017). A double is two decisions of one side; a value
changes its sign where the side changes and only there. The trees are in ``nodes`` and ``walk``, their growth in ``forest``, what they
say of their roots in ``roots``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import number, whole
from raccoon.contracts import Boards, CubeEquities, CubeModel, Cubes, Engine, RaccoonError, SearchResult, Turns
from raccoon.cube.choice import with_beavers
from raccoon.engine.base import policy_engine
from raccoon.env.board import unfinished
from raccoon.env.half_moves import apply_actions
from raccoon.env.lookup import ChildLookup
from raccoon.env.movegen import check_dice
from raccoon.env.position_ids import position_words
from raccoon.rng import hash64
from raccoon.search.lookahead import child_values, static_cubeful
from raccoon.search.mcts.expand import Prior
from raccoon.search.mcts.forest import Forest, Starts
from raccoon.search.mcts.live_cube import known_exactly
from raccoon.search.mcts.roots import Roots, drawn, roots_of, visit_shares, whole_turns
from raccoon.search.mcts.settings import Chance, Settings

__all__ = ["MCTS", "Played"]


class Played(NamedTuple):
    """Whole turns chosen half turn by half turn. ``chosen int64[N]`` indexes the children of each row; ``first`` are the searches of
    all rows, ``second`` those of the rows ``rows int64[R]`` whose double went on (None when there are none)."""

    chosen: NDArray[np.int64]
    first: Roots
    second: Roots | None
    rows: NDArray[np.int64]


class MCTS(Settings):
    """``simulations`` for every decision, ``leaves`` of a tree at a time (more fill larger batches and search a little worse).

    ``c_puct``: weight of the prior. ``virtual_loss``: how much worse than its edge a simulation on its way is
    taken to be (value scale), so that the others of its tree go elsewhere.
    ``chance``: ``sampled`` rolls afresh on every visit; ``stratified`` deals the 36 rolls of a node from a shuffled deck, again and
    again; ``enumerated`` deals too, and a chance node is worth the mean over all 21 rolls by their odds, those not seen yet at the
    node's static value. ``prior``: ``policy`` (the network's head), ``value`` (a softmax of static values over
    ``prior_temperature``, value scale; these also stand in for plays not visited yet), ``uniform``; None: policy where there
    is one, else value. ``policy_temperature``: the head's chances count to the power of 1 / it, so that above 1 plays that it likes less
    get more of the visits. ``noise``: share of Dirichlet(``noise_alpha``) noise in the priors of the root. ``temperature``: 0 plays the
    most visited, above 0 draws by visits to the power of 1 / temperature. ``seed``: of rolls, noise and draws; with the
    position it decides everything, whatever else is searched at the same time. ``batch``: trees grown together.
    ``name``: null says simulations, chance and prior.
    Raises RaccoonError naming a key of ``search.`` that cannot be.
    """

    def __init__(
        self,
        simulations: int = 200,
        leaves: int = 1,
        c_puct: float = 1.5,
        virtual_loss: float = 0.1,
        chance: Chance = "sampled",
        prior: Prior | None = None,
        prior_temperature: float = 0.02,
        noise: float = 0.0,
        noise_alpha: float = 0.3,
        temperature: float = 0.0,
        seed: int = 1,
        batch: int = 256,
        name: str | None = None,
        policy_temperature: float = 1.0,
    ) -> None:
        settings = simulations, leaves, c_puct, virtual_loss, chance, prior, prior_temperature, noise, noise_alpha, policy_temperature
        super().__init__(*settings)
        self.temperature = number("search.temperature", temperature, "a number, 0 or more")
        self.seed, self.batch = whole("search.seed", seed, 0), whole("search.batch", batch, 1)
        self.name = name or "-".join(filter(None, (f"mcts{simulations}", chance if chance != "sampled" else "", prior or "")))

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        """See ``Search.values``: a child's value is the mean of its visits, or static where it has none.

        Only one child of a row is ``full``, the one to play. The visits of a double's whole turn are added up over its first
        halves. Rows with one child are not searched.
        """
        return self._chosen(turns, engine, None)

    def cubeful(self, turns: Turns, engine: Engine, model: CubeModel) -> SearchResult:
        """The same with a live cube, on the value scale (points per unit of the cube / 3): ``model`` prices the leaves, and above them
        the sides double and answer as the tree finds best. See ``raccoon.search.mcts.live_cube``."""
        return self._chosen(turns, engine, model)

    def cube_equities(self, boards: Boards, cubes: Cubes, engine: Engine, model: CubeModel) -> CubeEquities:
        """``(nd, dt, dp)`` of unfinished pre-roll ``boards`` to the side on roll: a tree each for not doubling now and for the cube after
        a take, on the same dice; what the model knows exactly needs none. See ``CubeModel.equities``."""
        found = model.equities(np.asarray(engine.probs6(boards), np.float64), boards, cubes)
        rows = np.flatnonzero(~known_exactly(model, boards, cubes))
        if len(rows):
            asked, held = boards[rows], cubes.take(rows)
            found.nd[rows] = 3.0 * self._before_roll(asked, engine, None, held, model)
            turned = 3.0 * self._before_roll(asked, engine, None, held.taken(), model)
            found.dt[rows] = with_beavers(2.0 * turned if cubes.away is None else turned, held)
        return found

    def _chosen(self, turns: Turns, engine: Engine, model: CubeModel | None) -> SearchResult:
        before = engine.evaluations
        static = child_values(turns, engine).values if model is None else static_cubeful(turns, engine, model, options=True) / 3.0
        visits, sums = np.zeros(len(static)), np.zeros(len(static))
        rows = np.flatnonzero(np.diff(turns.offsets) > 1)
        if len(rows):
            lookup = ChildLookup(turns)
            boards, dice = turns.boards[rows], turns.dice[rows]
            starts = Starts(boards, dice, np.zeros(len(rows), bool), self.keys(boards, dice, None), turns.cubes.take(rows))
            for part, some in starts.parts(self.batch):
                tree, after, n, w = whole_turns(self._grown(some, engine, model))
                child = lookup.find(rows[part][tree], after)
                visits += np.bincount(child, n, len(visits))
                sums += np.bincount(child, w, len(sums))
        values = np.where(visits > 0, sums / np.maximum(visits, 1.0), static)
        draws = hash64(self.seed, "mcts play", self.keys(turns.boards, turns.dice, None))
        chosen = drawn(visit_shares(visits, values, turns.offsets, self.temperature), turns.offsets, draws)
        full = np.zeros(len(values), bool)
        full[chosen] = True
        return SearchResult(values, full, engine.evaluations - before)

    def search(
        self,
        boards: ArrayLike,
        dice: ArrayLike,
        engine: Engine,
        mid_doubles: NDArray[np.bool_] | None = None,
        keys: NDArray[np.uint64] | None = None,
    ) -> Roots:
        """Search N decisions: ``boards [N, 2, 25]``, ``dice [N, 2]``, ``mid_doubles bool[N]`` (the first half has been played).

        ``keys uint64[N]``: randomness of each tree, such as ``hash64(seed, "self-play", game, roll)``; None: from the position.
        Raises RaccoonError for illegal or finished boards.
        """
        array = unfinished(boards)
        rolls = check_dice(dice, len(array))
        mid = np.zeros(len(array), bool) if mid_doubles is None else np.asarray(mid_doubles, bool)
        keys = self.keys(array, rolls, mid) if keys is None else keys
        starts = Starts(array, rolls, mid, keys)
        return roots_of((self._grown(some, engine) for _, some in starts.parts(self.batch)), starts)

    def pre_roll(self, boards: ArrayLike, engine: Engine, keys: NDArray[np.uint64] | None = None) -> NDArray[np.float64]:
        """``float64[N]``: value (value scale) of unfinished boards before the roll to the side on roll, by a tree for each."""
        return self._before_roll(unfinished(boards), engine, keys)

    def _before_roll(
        self, boards: Boards, engine: Engine, keys: NDArray[np.uint64] | None, cubes: Cubes | None = None, model: CubeModel | None = None
    ) -> NDArray[np.float64]:
        keys = self.keys(boards, np.zeros((len(boards), 2), np.int8), None) if keys is None else keys
        out = np.empty(len(boards))
        for part, some in Starts(boards, None, np.zeros(len(boards), bool), keys, cubes).parts(self.batch):
            forest = self._grown(some, engine, model)
            out[part] = forest.nodes.c_value_sum[: forest.count] / forest.nodes.c_visits[: forest.count]
        return out

    def play(self, turns: Turns, engine: Engine, keys: NDArray[np.uint64], temperature: ArrayLike = 0.0) -> Played:
        """Choose half turns as self-play does: a search, a draw at ``temperature`` (a number or ``float[N]``), and for a double that
        goes on another search from the board in between. ``keys uint64[N]``: randomness of each row."""
        temperatures = np.broadcast_to(np.asarray(temperature, np.float64), len(turns))
        first = self.search(turns.boards, turns.dice, engine, None, hash64(self.seed, "mcts half", keys, 0))
        picked = first.pick(hash64(self.seed, "mcts pick", keys, 0), temperatures)
        after, again = apply_actions(turns.boards, turns.dice, first.ids[picked])
        rows, second = np.flatnonzero(again), None
        if len(rows):
            halves, dice, mid = after[rows], turns.dice[rows], np.ones(len(rows), bool)
            second = self.search(halves, dice, engine, mid, hash64(self.seed, "mcts half", keys[rows], 1))
            more = second.pick(hash64(self.seed, "mcts pick", keys[rows], 1), temperatures[rows])
            after[rows] = apply_actions(halves, dice, second.ids[more], mid)[0]
        chosen = ChildLookup(turns).find(np.arange(len(turns)), after) - turns.offsets[:-1]
        return Played(chosen, first, second, rows)

    def keys(self, boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_] | None) -> NDArray[np.uint64]:
        """``uint64[N]``: the randomness that belongs to each position, by ``seed``."""
        words = position_words(boards)
        low, high = dice.min(axis=1), dice.max(axis=1)
        second = np.zeros(len(boards), np.int64) if mid is None else mid.astype(np.int64)
        return hash64(self.seed, "mcts", words[:, 0], words[:, 1], low, high, second)

    def _grown(self, starts: Starts, engine: Engine, model: CubeModel | None = None) -> Forest:
        has_policy = policy_engine(engine) is not None
        if self.prior == "policy" and not has_policy:
            raise RaccoonError(f"search.prior=policy: engine {engine.name} has no policy head; choose value, uniform or null")
        prior: Prior = self.prior or ("policy" if has_policy else "value")
        forest = Forest(starts, engine, self, prior, model)
        forest.simulate()
        return forest

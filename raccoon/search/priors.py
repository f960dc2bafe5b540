"""What a policy head over OpenSpiel's half turns says of whole turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Engine, PolicyEngine, RaccoonError, Turns
from raccoon.engine.base import policy_engine
from raccoon.env.lookup import ChildLookup
from raccoon.env.position_ids import row_keys
from raccoon.search.half_by_half import HalfTurns, half_turns

__all__ = ["priors"]


def priors(turns: Turns, engine: Engine) -> NDArray[np.float64]:
    """``float64[M]``: probability that the policy plays each child; it sums to 1 over a row.

    Several actions may lead to one board: their probabilities add up. A double is two actions in a row, the second asked
    for on the board after the first. Raises RaccoonError when the engine has no policy.
    """
    policy = policy_engine(engine)
    if policy is None:
        raise RaccoonError(f"search.filter.source: engine {engine.name} has no policy head; choose value, prune or none")
    halves, weights = _played(policy, turns.boards, turns.dice, None, np.ones(len(turns)))
    ends, owner, mass = [halves.boards[~halves.again]], [halves.row[~halves.again]], [weights[~halves.again]]
    if halves.again.any():
        keys = row_keys(halves.row[halves.again], halves.boards[halves.again])
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        boards, row = halves.boards[halves.again][first], halves.row[halves.again][first]
        reached = np.bincount(inverse.reshape(-1), weights[halves.again]).astype(np.float64)
        second, more = _played(policy, boards, turns.dice[row], np.ones(len(boards), bool), reached)
        ends, owner, mass = [*ends, second.boards], [*owner, row[second.row]], [*mass, more]
    child = ChildLookup(turns).find(np.concatenate(owner), np.concatenate(ends))
    return np.bincount(child, np.concatenate(mass), len(turns.children)).astype(np.float64)


def _played(
    engine: PolicyEngine, boards: NDArray[np.int8], dice: NDArray[np.int8], mid: NDArray[np.bool_] | None, weight: NDArray[np.float64]
) -> tuple[HalfTurns, NDArray[np.float64]]:
    """The half turns of every board and ``weight [N]`` shared out among them by the policy."""
    halves = half_turns(boards, dice, mid)
    return halves, weight[halves.row] * np.asarray(engine.policy(boards, dice, mid), np.float64)[halves.row, halves.ids]

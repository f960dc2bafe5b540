"""The doubling cube: Janowski's model in money and match play, the state of the cube, cubeful search, exact bear-offs."""

from raccoon.cube.janowski import (
    X_CONTACT,
    X_RACE,
    cl2cf_money,
    compute_wl,
    cube_action,
    cube_equities,
    cube_index,
    jacoby_active,
    money_live,
    probs6_to_cumulative5,
)
from raccoon.cube.state import CubeState, flip_label

__all__ = [
    "X_CONTACT",
    "X_RACE",
    "CubeState",
    "cl2cf_money",
    "compute_wl",
    "cube_action",
    "cube_equities",
    "cube_index",
    "flip_label",
    "jacoby_active",
    "money_live",
    "probs6_to_cumulative5",
]

"""What data gives and trainers need, in one word each, and what either has to offer for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from raccoon.contracts import Engine
    from raccoon.data.selfplay.episodes import Episodes
    from raccoon.model import RaccoonNet

__all__ = ["DATA_FOR", "KINDS", "TRAINER_FOR", "Kind", "Labeller", "PlaysGames", "TrainingData", "declared_data"]

Kind = Literal["positions", "decisions", "games", "searched_games"]
"""``positions``: batches ``(boards int8[B, 2, 25], probs6 float32[B, 6])``; ``decisions``: ``JointBatch``es. ``games``, ``searched_games``:
batches of the same two forms from games that the data plays with the network under training (``PlaysGames``) and the trainer labels
(``Labeller``)."""

KINDS: tuple[Kind, ...] = get_args(Kind)
DATA_FOR: dict[Kind, str] = {
    "positions": "data=demo or another set of labelled positions",
    "decisions": "data=policy or data=policy_stored",
    "games": "data=selfplay",
    "searched_games": "data=selfplay_mcts",
}
"""Options of ``data`` that give a kind."""
TRAINER_FOR: dict[Kind, str] = {
    "positions": "trainer=distill",
    "decisions": "trainer=policy",
    "games": "trainer=td",
    "searched_games": "trainer=alphazero",
}
"""Options of ``trainer`` that need a kind."""


@runtime_checkable
class TrainingData(Protocol):
    """What ``raccoon.train.run`` asks of a LightningDataModule. ``gives``: the kind of its batches; ``holdout``: share of the games that
    is kept for validation, above 0."""

    @property
    def gives(self) -> Kind:
        """The kind of its batches."""
        ...

    holdout: float


@runtime_checkable
class PlaysGames(Protocol):
    """Data that plays: ``figures`` are what the log says of the games of the epoch."""

    figures: dict[str, float]

    def play(self, epoch: int) -> None:
        """Play and label the games of ``epoch`` with the trainer that it is attached to."""
        ...


@runtime_checkable
class Labeller(Protocol):
    """A trainer that learns from games: it plays with ``best_net`` and gives every state its target."""

    @property
    def best_net(self) -> RaccoonNet:
        """What plays: the averaged network where there is one."""
        ...

    def label(self, episodes: Episodes, engine: Engine) -> NDArray[np.float64]:
        """``float64[N, 6]``: targets of all rows, those of the last row of a game unused; ``engine`` is ``best_net``."""
        ...


def declared_data(data: Any) -> tuple[Kind | None, float | None]:
    """``(gives, holdout)`` of a data module. Of one that declares neither (written for an earlier version): what its members say, None
    where they say nothing."""
    holdout = getattr(data, "holdout", None)
    if hasattr(data, "gives"):
        return data.gives, holdout
    decisions = getattr(data, "decisions", None)
    if isinstance(data, PlaysGames) or hasattr(data, "play"):
        return "searched_games" if decisions else "games", holdout
    return {None: None, True: "decisions", False: "positions"}[decisions], holdout

"""An engine with answers known beforehand: many small questions share a few large calls."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine
from raccoon.engine.base import EngineBase
from raccoon.env.board import terminal_points
from raccoon.env.lookup import unique_boards

__all__ = ["RememberedEngine"]


class RememberedEngine(EngineBase):
    """``engine``, asked at once about all of ``boards int8[N, 2, 25]`` (finished ones and repeats left out) when the first is wanted.

    Says what ``engine`` says and passes on what it was not told of. ``evaluations`` counts the boards that it is asked about, as if
    ``engine`` had been asked each time; those of ``engine`` count the large calls.
    """

    def __init__(self, engine: Engine, boards: Boards) -> None:
        super().__init__(engine.name)
        self.engine, self.has_probs = engine, engine.has_probs
        live = boards[terminal_points(boards) == 0]
        self._boards = live[unique_boards(live)[0]]
        self._places = {board.tobytes(): place for place, board in enumerate(self._boards)}

    @cached_property
    def _known_values(self) -> NDArray[np.float32]:
        return self.engine.value(self._boards)

    @cached_property
    def _known_probs6(self) -> NDArray[np.float32]:
        return self.engine.probs6(self._boards)

    def _value(self, live: Boards) -> NDArray[np.float32]:
        places = self._find(live)
        return self.engine.value(live) if places is None else self._known_values[places]

    def _probs6(self, live: Boards) -> NDArray[np.float32]:
        places = self._find(live)
        return self.engine.probs6(live) if places is None else self._known_probs6[places]

    def _find(self, boards: Boards) -> list[int] | None:
        """Where the answers for ``boards`` are; None where some are not known."""
        places = [self._places.get(board.tobytes(), -1) for board in boards]
        return None if -1 in places else places

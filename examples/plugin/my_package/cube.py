"""A cube whose life depends on the board."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.cube.model import Janowski
from raccoon.env.board import pips


class ByLength(Janowski):
    """Janowski's model; the index falls from ``x_contact`` to ``x_race`` as the side on roll gets home."""

    def index(self, boards: Boards) -> NDArray[np.float64]:
        share = np.clip(pips(boards)[:, 1] / 167.0, 0.0, 1.0)
        return self.x_race + (self.x_contact - self.x_race) * share

"""Raccoon: train, search and measure backgammon players.

What a notebook needs is here, imported when it is first used::

    import raccoon

    position = raccoon.read_position("4HPwATDgc/ABMA", dice=31)
    print(raccoon.analyse(position, "default", search="expectimax").best.move)
    report = raccoon.play_arena("default", "gnubg0", games=400)
    print(report.figures["ppg_vr"])

The packages below (``raccoon.env``, ``raccoon.engine``, ``raccoon.search`` and so on) have the parts.
"""

from __future__ import annotations

import sys

from raccoon.aliases import OldModules
from raccoon.lazy import facade

__version__ = "0.3.0"
__getattr__, __dir__, __all__ = facade(__name__, __file__)

if not any(isinstance(finder, OldModules) for finder in sys.meta_path):
    sys.meta_path.append(OldModules())

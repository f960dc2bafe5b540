"""Training: pure targets, losses, schedules and averages; thin Lightning shells over them; ``run.train`` puts a run together.

``losses``, ``targets``, ``schedules`` and ``ema`` import no Lightning. Names are imported on first use, so that importing this
package costs nothing.
"""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

"""Value heads: chosen when the network is built; nothing downstream asks which one it is."""

from raccoon.model.heads.base import ValueHead
from raccoon.model.heads.outcomes6 import Outcomes6
from raccoon.model.heads.scalar import Scalar

__all__ = ["Outcomes6", "Scalar", "ValueHead"]

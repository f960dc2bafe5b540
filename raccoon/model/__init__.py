"""Networks: trunks, value heads and the policy head behind one class. Importing this imports torch."""

from raccoon.model.backbones import MLP, Backbone, ResNet
from raccoon.model.factory import build_net
from raccoon.model.heads import Outcomes6, Scalar, ValueHead
from raccoon.model.network import Outputs, RaccoonNet
from raccoon.model.policy import mask_logits

__all__ = ["MLP", "Backbone", "Outcomes6", "Outputs", "RaccoonNet", "ResNet", "Scalar", "ValueHead", "build_net", "mask_logits"]

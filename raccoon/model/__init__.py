"""Networks: trunks, value heads and the policy head behind one class. Importing this imports torch."""

from raccoon.model.backbones import MLP, Backbone, ResNet
from raccoon.model.factory import build_net, outline
from raccoon.model.heads import Outcomes6, Scalar, ValueHead
from raccoon.model.network import Outputs, RaccoonNet
from raccoon.model.policy import mask_logits
from raccoon.model.weights import check_weights, weights_digest

__all__ = [
    "MLP",
    "Backbone",
    "Outcomes6",
    "Outputs",
    "RaccoonNet",
    "ResNet",
    "Scalar",
    "ValueHead",
    "build_net",
    "check_weights",
    "mask_logits",
    "outline",
    "weights_digest",
]

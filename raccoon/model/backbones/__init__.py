"""Trunks: each takes the encoder and declares the input form it reads and the shape it gives."""

from raccoon.model.backbones.base import Backbone
from raccoon.model.backbones.mlp import MLP
from raccoon.model.backbones.resnet import ResNet

__all__ = ["MLP", "Backbone", "ResNet"]

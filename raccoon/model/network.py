"""The network: encoder layout, trunk, value head, policy head. The only thing downstream code talks to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from raccoon.aliases import first, public
from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model import encode_torch
from raccoon.model.backbones.base import Backbone
from raccoon.model.heads.base import ValueHead
from raccoon.model.policy import Neck, make_policy, mask_logits

__all__ = ["Outputs", "RaccoonNet"]

_VALUE_WIDTH = 256
_NO_POLICY = "this network has no policy head: train one with model.policy=true"


class Outputs(NamedTuple):
    """Everything of one pass: ``value [N]`` (equity / 3), ``log_probs6 [N, 6]`` and ``policy [N, 1352]`` logits, each
    None where the network has no such head. All from the side on roll."""

    value: Tensor
    log_probs6: Tensor | None
    policy: Tensor | None


class RaccoonNet(nn.Module):
    """Policy-value network.

    ``backbone``: callable taking the encoder (a class or ``functools.partial`` of one) that gives a ``Backbone``;
    ``head``: callable taking a width that gives a ``ValueHead``; ``policy``: with or without the policy head, or
    ``{"hidden": widths}`` for one with layers of its own. Weights start from ``seed`` alone. Every ``x`` below is what ``prepare`` gives.
    """

    def __init__(
        self,
        encoder: Encoder,
        backbone: Callable[[Encoder], Backbone],
        head: Callable[[int], ValueHead],
        policy: bool | Mapping[str, Any] = True,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config: dict[str, Any] = {
            "_target_": "raccoon.model.RaccoonNet",
            "backbone": _node(backbone),
            "head": _node(head),
            "policy": _plain(policy),
        }
        self.encoder = encoder
        self.backbone = backbone(encoder)
        self.neck = Neck(self.backbone.shape, planes=1)
        # Flat features come from a fully connected trunk already; planes still need a hidden layer.
        self.hidden = None if self.neck.flat else nn.Linear(self.neck.width, _VALUE_WIDTH)
        self.head = head(self.neck.width if self.hidden is None else _VALUE_WIDTH)
        self.policy = make_policy(policy, self.backbone.shape, self.input_shape)
        self.initialise(seed)

    @property
    def has_probs(self) -> bool:
        """Whether ``value_probs6`` is known."""
        return self.head.has_probs

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    @torch.no_grad()
    def initialise(self, seed: int) -> None:
        """Fresh weights from ``seed`` alone: He-uniform below a ReLU, Glorot-uniform for the outputs, zero biases."""
        generator = torch.Generator().manual_seed(seed)
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear | nn.Conv2d):
                if name.endswith("output"):
                    nn.init.xavier_uniform_(module.weight, generator=generator)
                else:
                    nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def folded(self) -> RaccoonNet:
        """A copy for evaluation only: batch normalisation merged into the weights, channels-last convolutions.

        Equal up to rounding and 1.2 to 1.7 times as fast on a CPU. It cannot be trained or saved.
        """
        net = copy.deepcopy(self).eval().requires_grad_(False)
        for part in (net.backbone, net.neck, net.policy):
            if part is not None:
                part.fold_batch_norm()
        return net

    def prepare(
        self,
        boards: NDArray[Any] | Tensor,
        dice: NDArray[Any] | Tensor | None = None,
        mid_doubles: NDArray[Any] | Tensor | None = None,
    ) -> Tensor:
        """The backbone's input, on the network's device, of ``boards [N, 2, 25]`` (integers, side on roll in slot 1).

        Arrays are encoded by the CPU kernels, or on the device when the network is not on the CPU; tensors on the
        network's device. ``dice`` and ``mid_doubles`` are for the policy; values are pre-roll.
        """
        flat = self.backbone.form == "flat"
        device = self.device
        if isinstance(boards, np.ndarray) and device.type == "cpu":
            run = self.encoder.encode_flat if flat else self.encoder.encode
            return torch.from_numpy(run(boards, _array(dice), _array(mid_doubles)))
        twin = encode_torch.encode_flat if flat else encode_torch.encode
        return twin(self.encoder, _tensor(boards, device), _optional(dice, device), _optional(mid_doubles, device))

    def forward(self, x: Tensor) -> Outputs:
        """All heads from one pass of the trunk."""
        trunk = self._trunk(x)
        raw = self._raw(trunk)
        return Outputs(
            self.head.equity(raw),
            self.head.log_probs6(raw) if self.has_probs else None,
            None if self.policy is None else self.policy(x if self.policy.reads_input else trunk),
        )

    def value_raw(self, x: Tensor) -> Tensor:
        """Raw numbers of the value head, for ``head.equity`` and ``head.log_probs6``."""
        return self._raw(self._trunk(x))

    def value_and_policy(self, x: Tensor, decisions: Tensor) -> tuple[Tensor, Tensor]:
        """``value_raw(x)`` and ``policy_logits(decisions)``, for training. A head over the trunk has one pass of it over both: batch
        normalisation then sees the mixture whose statistics it keeps. Raises RaccoonError when the network has no policy head."""
        if self.policy is None:
            raise RaccoonError(_NO_POLICY)
        if self.policy.reads_input:
            return self.value_raw(x), self.policy(decisions)
        trunk = self._trunk(torch.cat([x, decisions]))
        return self._raw(trunk[: len(x)]), self.policy(trunk[len(x) :])

    def _trunk(self, x: Tensor) -> Tensor:
        return self.backbone(self._checked(x))

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of a row of ``x``."""
        return (self.encoder.flat_size,) if self.backbone.form == "flat" else (self.encoder.n_channels, 2, 12)

    def _checked(self, x: Tensor) -> Tensor:
        if x.shape[1:] != self.input_shape:
            raise RaccoonError(
                f"network input of shape {tuple(x.shape)}: this network reads [N, {', '.join(map(str, self.input_shape))}], "
                f"{self.encoder.describe()}; encode with its own prepare()"
            )
        return x

    def _raw(self, trunk: Tensor) -> Tensor:
        features = self.neck(trunk)
        if self.hidden is not None:
            features = F.relu(self.hidden(features))
        return self.head(features)

    def value_equity(self, x: Tensor) -> Tensor:
        """``[N]`` money equity / 3 to the side on roll, whatever the head."""
        return self.head.equity(self.value_raw(x))

    def value_log_probs6(self, x: Tensor) -> Tensor:
        """``[N, 6]`` log of ``value_probs6``."""
        return self.head.log_probs6(self.value_raw(x))

    def value_probs6(self, x: Tensor) -> Tensor:
        """``[N, 6]`` win, win_g, win_bg, lose, lose_g, lose_bg. Raises RaccoonError for a head without them."""
        return self.value_log_probs6(x).exp()

    def policy_logits(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``[N, 1352]`` logits over OpenSpiel's actions; -inf where ``mask bool[N, 1352]`` is False.

        Raises RaccoonError when the network has no policy head.
        """
        if self.policy is None:
            raise RaccoonError(_NO_POLICY)
        logits = self.policy(self._checked(x) if self.policy.reads_input else self._trunk(x))
        return logits if mask is None else mask_logits(logits, mask)


def _node(factory: Callable[..., Any]) -> dict[str, Any]:
    """Plain config node of a class or a partial of one, enough to build it again."""
    keywords: dict[str, Any] = {}
    while isinstance(factory, partial):
        if factory.args:
            raise RaccoonError(f"model: give {factory.func} its arguments by name, so that a checkpoint can repeat them")
        keywords = {**factory.keywords, **keywords}
        factory = factory.func
    module, name = getattr(factory, "__module__", ""), getattr(factory, "__qualname__", "<lambda>")
    if "<" in name:
        raise RaccoonError(f"model: {quoted(factory)} cannot be named in a checkpoint; use a class or a functools.partial of one")
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in keywords.items()}
    return {"_target_": public(first(f"{module}.{name}")), "_partial_": True, **plain}


def _plain(policy: Any) -> Any:
    """With lists for tuples; ``make_policy`` refuses what is no setting."""
    if not isinstance(policy, Mapping):
        return policy
    return {key: list(value) if isinstance(value, tuple) else value for key, value in policy.items()}


def _array(x: NDArray[Any] | Tensor | None) -> NDArray[Any] | None:
    return x.cpu().numpy() if isinstance(x, Tensor) else x


def _tensor(x: NDArray[Any] | Tensor, device: torch.device) -> Tensor:
    return (torch.from_numpy(np.ascontiguousarray(x)) if isinstance(x, np.ndarray) else x).to(device)


def _optional(x: NDArray[Any] | Tensor | None, device: torch.device) -> Tensor | None:
    return None if x is None else _tensor(x, device)

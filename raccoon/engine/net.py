"""A trained network as an engine; see ``raccoon.engine.network.batched`` for what it shares with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from raccoon import assets
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.network.batched import MOST, STEP, BatchedEngine, chunks
from raccoon.env.encoder import Encoder
from raccoon.model import RaccoonNet, checkpoint_file

__all__ = ["NetEngine", "chunks"]

_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}
_STEP_ACCELERATOR = 256


class NetEngine(BatchedEngine):
    """Evaluates with ``net``, a copy of which is kept (batch normalisation folded into the weights).

    ``precision``: ``fp32`` or ``bf16`` (faster where the hardware has it, values off by about .001). ``batch_size``: most
    rows of a forward pass, a multiple of 32 and at most 4096 on the CPU, a multiple of 256 on an accelerator (where equal
    bits for every batch are certain only with a single shape, ``batch_size=256``). ``cache``: positions to remember
    between calls, 0 for none. ``rows`` counts what the network evaluated, without repeats and remembered positions;
    ``header`` is the checkpoint's. Raises RaccoonError for an unknown precision or device.
    """

    def __init__(
        self,
        net: RaccoonNet,
        precision: str = "fp32",
        batch_size: int = 4096,
        cache: int = 0,
        device: str = "cpu",
        name: str | None = None,
        header: dict[str, Any] | None = None,
    ) -> None:
        if precision not in _PRECISIONS:
            raise RaccoonError(f"engine.precision={precision}: give one of {', '.join(_PRECISIONS)}")
        # Degraded weights are full of denormals, which are many times slower than zeros.
        torch.set_flush_denormal(True)
        self.header = header or {}
        self._dtype = _PRECISIONS[precision]
        self.net = net.folded().to(_device(device), self._dtype)
        step, most = (STEP, MOST) if self.net.device.type == "cpu" else (_STEP_ACCELERATOR, None)
        super().__init__(name or "net", net.encoder, net.has_probs, net.policy is not None, batch_size, cache, step, most)

    @classmethod
    def load(
        cls,
        path: str | Path,
        precision: str = "fp32",
        batch_size: int = 4096,
        cache: int = 0,
        device: str = "cpu",
        name: str | None = None,
        encoder: Encoder | None = None,
    ) -> NetEngine:
        """The network in a checkpoint (``.pt`` or ``.ckpt``); ``default`` and ``prune`` are those that ship with Raccoon.

        ``encoder``: refuse a network of any other layout. Raises RaccoonError naming the file; see ``artifact.load``.
        """
        if str(path) in assets.NETS:
            path, name = assets.path(assets.NETS[str(path)]), name or str(path)
        net, header = checkpoint_file.load(path, encoder)
        return cls(net, precision, batch_size, cache, device, name or Path(path).stem, header)

    def _forward(self, boards: Boards) -> NDArray[np.float32]:
        out = np.empty((len(boards), self._width), np.float32)
        with torch.inference_mode():
            raw = self.net.value_raw(self.net.prepare(boards).to(self._dtype))
            out[:, 0] = self.net.head.equity(raw).float().cpu().numpy()
            if self.has_probs:
                out[:, 1:] = self.net.head.log_probs6(raw).float().exp().cpu().numpy()
        return out

    def _policy(
        self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        with torch.inference_mode():
            x = self.net.prepare(boards, dice, mid_doubles).to(self._dtype)
            return self.net.policy_logits(x, torch.as_tensor(mask)).float().softmax(dim=1).cpu().numpy()


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise RaccoonError(f"engine.device={name}: not available here ({str(error).splitlines()[0]})") from error
    return device

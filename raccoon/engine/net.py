"""A trained network as an engine.

Results do not depend on how rows are batched. Linear-algebra kernels choose their code by the number of rows: below 16
rows other matrix kernels run, and vector code treats the last rows of an odd number by other instructions, so that the
last bits of a value change. Every forward pass therefore has a multiple of 32 rows (the last ones padded). On the CPU
the bits of a row are then the same in every batch; the tests check it for each kind of network.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from raccoon import assets
from raccoon.checks import whole
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase
from raccoon.engine.cache import BoardCache
from raccoon.env.codec import unique_boards
from raccoon.env.encoder import Encoder
from raccoon.env.half_moves import legal_mask, low_first
from raccoon.model import RaccoonNet, checkpoint_file

__all__ = ["NetEngine", "chunks"]

_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}
_STEP, _COARSE = 32, 512
_MOST = 4096  # more rows are no faster on a CPU, and threads would split vector code at odd places
_STEP_ACCELERATOR = 256


def chunks(rows: int, batch: int, step: int = _STEP) -> Iterator[tuple[int, int, int]]:
    """``(start, stop, padded)`` of the forward passes over ``rows``: at most ``batch`` rows, padded to a multiple of ``step``.

    Few distinct shapes (the libraries prepare their kernels once a shape): full batches, then a multiple of 512, then
    the rest.
    """
    start = 0
    while start < rows:
        left = rows - start
        size = batch if left >= batch else left // _COARSE * _COARSE or left
        yield start, start + size, -(-size // step) * step
        start += size


class NetEngine(EngineBase):
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
        super().__init__(name or "net")
        if precision not in _PRECISIONS:
            raise RaccoonError(f"engine.precision={precision}: give one of {', '.join(_PRECISIONS)}")
        whole("engine.batch_size", batch_size, 1)
        # Degraded weights are full of denormals, which are many times slower than zeros.
        torch.set_flush_denormal(True)
        self.encoder = net.encoder
        self.has_probs = net.has_probs
        self.has_policy = net.policy is not None
        self.header = header or {}
        self.rows = 0
        self._dtype = _PRECISIONS[precision]
        self.net = net.folded().to(_device(device), self._dtype)
        on_cpu = self.net.device.type == "cpu"
        self._step = _STEP if on_cpu else _STEP_ACCELERATOR
        self._batch = -(-(min(batch_size, _MOST) if on_cpu else batch_size) // self._step) * self._step
        self._width = 7 if self.has_probs else 1
        self._cache = BoardCache(cache, self._width) if cache else None

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

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """``float32[N, 1352]``: probability of each legal half turn of the side on roll; illegal ones are exactly 0.

        ``boards`` as they stand, ``dice int8[N, 2]`` in either order (the network is shown the lower first); ``mid_doubles bool[N]``:
        the first half of a double has been played. Raises RaccoonError when the network has no policy head.
        """
        mask = legal_mask(boards, dice, mid_doubles)
        dice = low_first(dice)
        mid = np.zeros(len(boards), bool) if mid_doubles is None else mid_doubles
        self.evaluations += len(boards)
        out = np.zeros(mask.shape, np.float32)
        with torch.inference_mode():
            for start, stop, padded in chunks(len(boards), self._batch, self._step):
                picked = np.minimum(np.arange(start, start + padded), stop - 1)
                x = self.net.prepare(boards[picked], dice[picked], mid[picked]).to(self._dtype)
                logits = self.net.policy_logits(x, torch.as_tensor(mask[picked]))
                out[start:stop] = logits.float().softmax(dim=1).cpu().numpy()[: stop - start]
        return out

    def _value(self, live: Boards) -> NDArray[np.float32]:
        return self._numbers(live)[:, 0]

    def _probs6(self, live: Boards) -> NDArray[np.float32]:
        return self._numbers(live)[:, 1:]

    def _numbers(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N, width]``: the value and, where known, the six probabilities; each distinct board evaluated once."""
        first, inverse = unique_boards(boards)
        if len(first) < len(boards):
            return self._distinct(boards[first])[inverse]
        return self._distinct(boards)

    def _distinct(self, boards: Boards) -> NDArray[np.float32]:
        if self._cache is None:
            return self._run(boards)
        numbers, known = self._cache.get(boards)
        missing = np.flatnonzero(~known)
        if len(missing):
            fresh = self._run(boards[missing])
            self._cache.put(boards[missing], fresh)
            numbers[missing] = fresh
        return numbers

    def _run(self, boards: Boards) -> NDArray[np.float32]:
        self.rows += len(boards)
        out = np.empty((len(boards), self._width), np.float32)
        with torch.inference_mode():
            for start, stop, padded in chunks(len(boards), self._batch, self._step):
                part = boards[start:stop]
                if padded > len(part):
                    part = np.concatenate([part, np.broadcast_to(part[:1], (padded - len(part), 2, 25))])
                raw = self.net.value_raw(self.net.prepare(part).to(self._dtype))
                out[start:stop, 0] = self.net.head.equity(raw).float().cpu().numpy()[: stop - start]
                if self.has_probs:
                    out[start:stop, 1:] = self.net.head.log_probs6(raw).float().exp().cpu().numpy()[: stop - start]
        return out


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise RaccoonError(f"engine.device={name}: not available here ({str(error).splitlines()[0]})") from error
    return device

"""The chances of the next roll on a torch device: the twin of ``raccoon.env.tactics``, with the same masks and the same bits."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["tactics"]


def tactics(boards: Tensor) -> tuple[Tensor, Tensor]:
    """Planes ``float32[N, 4, 24]`` and constants ``float32[N, 4]`` of ``boards int[N, 2, 25]``; see ``raccoon.env.tactics``."""
    mine, theirs = _one_side(boards, 1), _one_side(boards, 0)
    planes = [counts for pair in zip(mine[:2], theirs[:2], strict=True) for counts in pair]
    planes = [_cells(counts, flipped=k % 2 == 1) for k, counts in enumerate(planes)]
    constants = torch.stack([mine[2], theirs[2], mine[3], theirs[3]], dim=1)
    return torch.stack(planes, dim=1).float() / 36, constants.float() / 36


def _cells(counts: Tensor, flipped: bool) -> Tensor:
    """Counts by point of the side that moves, on the cells of the planes; ``flipped``: that side is the other one."""
    if flipped:
        counts = counts.flip(1)
    return torch.cat([counts[:, 12:], counts[:, :12].flip(1)], dim=1)


def _mask(flags: Tensor) -> Tensor:
    """Bit ``i`` of the mask is ``flags[:, i]``."""
    return (flags.long() << torch.arange(24, device=flags.device)).sum(1)


def _bits(mask: Tensor) -> Tensor:
    return (mask[:, None] >> torch.arange(24, device=mask.device)) & 1


def _one_side(boards: Tensor, side: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Counts of 36 rolls: shots and mobility by point ``[N, 24]``, any shot and entry ``[N]``."""
    me, other = boards[:, side], boards[:, 1 - side, :24].flip(1)
    mine, free, blots = _mask(me[:, :24] > 0), _mask(other < 2), _mask(other == 1)
    bar = me[:, 24]
    shots, mobility = torch.zeros_like(me[:, :24]), torch.zeros_like(me[:, :24])
    any_shot, entry = torch.zeros_like(bar), torch.zeros_like(bar)
    for a in range(1, 7):
        for b in range(a, 7):
            weight = 1 if a == b else 2
            entering = ((1 << (24 - a)) | (1 << (24 - b))) & free
            entry += weight * (entering != 0)
            hit = _hit(mine, bar, free, a, b) & blots
            any_shot += weight * (hit != 0)
            shots += (weight * _bits(hit)).to(shots)
            both = (free << (a + b)) | ((1 << (a + b)) - 1)
            able = mine & ((free << a) | (free << b)) & both
            mobility += (weight * _bits(able)).to(mobility)
    return shots, mobility, any_shot, torch.where(bar > 0, entry, 36)


def _hit(mine: Tensor, bar: Tensor, free: Tensor, a: int, b: int) -> Tensor:
    enter_a, enter_b = (1 << (24 - a)) & free, (1 << (24 - b)) & free
    nothing = torch.zeros_like(mine)
    if a == b:
        inside, entered = _steps(mine, free, a, 4), torch.where(enter_a != 0, _steps(mine | enter_a, free, a, 3) | enter_a, nothing)
    else:
        by_a, by_b = (mine >> a) & free, (mine >> b) & free
        inside = by_a | by_b | (by_a >> b) | (by_b >> a)
        after_a = torch.where(enter_a != 0, (mine | enter_a) >> b, nothing)
        after_b = torch.where(enter_b != 0, (mine | enter_b) >> a, nothing)
        entered = enter_a | enter_b | after_a | after_b
    return torch.where(bar == 0, inside, torch.where(bar == 1, entered, enter_a | enter_b))


def _steps(at: Tensor, free: Tensor, die: int, steps: int) -> Tensor:
    """Points reached by 1 to ``steps`` steps of one die."""
    reached = torch.zeros_like(at)
    for _ in range(steps):
        at = (at >> die) & free
        reached |= at
    return reached

"""The encoder on a torch device: the same planes as ``raccoon.env.encoder``, bit for bit, from boards that live there.

Counts and sums are integers; every number is one float32 division of two exact integers, as in the numba kernels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from raccoon.contracts import RaccoonError
from raccoon.env.encoder import FEATURE_GROUPS, FEATURE_SCALES, SPATIAL, Encoder, is_spatial
from raccoon.model.tactics_torch import tactics

__all__ = ["encode", "encode_flat"]


def _cells(boards: Tensor) -> tuple[Tensor, Tensor]:
    """Checkers on the 24 cells (row 0 then row 1) of ``boards int32[N, 2, 25]``: mine and theirs, ``int32[N, 24]``."""
    mine, theirs = boards[:, 1, :24], boards[:, 0, :24]
    return (
        torch.cat([mine[:, 12:], mine[:, :12].flip(1)], dim=1),
        torch.cat([theirs[:, :12].flip(1), theirs[:, 12:]], dim=1),
    )


def _spatial(boards: Tensor) -> Tensor:
    """Channels 0..7: ``float32[N, 8, 24]``."""
    planes = []
    for cells in _cells(boards):
        planes += [(cells >= k).float() for k in (1, 2, 3)]
        planes.append((cells - 3).clamp_min(0).float() / 2)
    return torch.stack(planes, dim=1)


def _rearmost(side: Tensor, index: Tensor) -> Tensor:
    """Highest occupied point index (-1 when none) of ``side int32[N, 25]``."""
    return torch.where(side[:, :24] > 0, index, torch.full_like(index, -1)).amax(dim=1)


def _contact(mine: Tensor, theirs: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Pips of each side still to pass the other's rearmost checker; 0, 0 when a side has nothing left."""
    my_bar, their_bar = mine[:, 24], theirs[:, 24]
    low = torch.where(their_bar > 0, 0, 23 - _rearmost(theirs, index))
    high = torch.where(my_bar > 0, 23, _rearmost(mine, index))
    ahead = (index - low[:, None] + 1).clamp_min(0)
    behind = (high[:, None] - index + 1).clamp_min(0)
    my_contact = (mine[:, :24] * ahead).sum(1) + my_bar * (25 - low)
    their_contact = (theirs[:, :24].flip(1) * behind).sum(1) + their_bar * (high + 2)
    both = (mine.sum(1) > 0) & (theirs.sum(1) > 0)
    return my_contact * both, their_contact * both


def _constants(boards: Tensor, dice: Tensor, mid: Tensor, normalize: bool) -> Tensor:
    """Channels 8..25: ``float32[N, 18]``."""
    index = torch.arange(24, device=boards.device, dtype=torch.int32)
    mine, theirs = boards[:, 1], boards[:, 0]
    pips = [(side[:, :24] * (index + 1)).sum(1) + 25 * side[:, 24] for side in (mine, theirs)]
    blots = [(side[:, :24] == 1).sum(1) for side in (mine, theirs)]
    anchors = [(side[:, 18:24] >= 2).sum(1) for side in (mine, theirs)]
    total = pips[0] + pips[1]
    ratio = torch.where(total > 0, pips[0].float() / total.clamp_min(1).float(), 0.5)
    base = [
        torch.ones_like(mine[:, 0]).float(),
        mine[:, 24].float() / 15,
        theirs[:, 24].float() / 15,
        (15 - mine.sum(1)).float() / 15,
        (15 - theirs.sum(1)).float() / 15,
        dice[:, 0].float() / 6,
        dice[:, 1].float() / 6,
        ((dice[:, 0] == dice[:, 1]) & (dice[:, 0] > 0)).float(),
        mid.float(),
    ]
    features = [*pips, ratio, *blots, *anchors, *_contact(mine, theirs, index)]
    scales = [FEATURE_SCALES[channel] if normalize else 1.0 for channel in sorted(FEATURE_SCALES)]
    scaled = [value.float() / scale for value, scale in zip(features, scales, strict=True)]
    return torch.stack(base + scaled, dim=1)


def _parts(encoder: Encoder, boards: Tensor, dice: Tensor | None, mid_doubles: Tensor | None) -> tuple[Tensor, Tensor]:
    """Chosen spatial planes ``float32[N, S, 24]`` and chosen constants ``float32[N, K]``."""
    if boards.ndim != 3 or boards.shape[1:] != (2, 25):
        raise RaccoonError(f"boards of shape {tuple(boards.shape)}: the encoder takes [N, 2, 25]")
    boards = boards.to(torch.int32)
    n = len(boards)
    dice = boards.new_zeros((n, 2)) if dice is None else dice.to(boards)
    mid = boards.new_zeros(n) if mid_doubles is None else mid_doubles.to(boards)
    first = FEATURE_GROUPS["tactics"][0]  # four planes, then four constants
    spatial = [c if c < SPATIAL else c - first + SPATIAL for c in encoder.channels if is_spatial(c)]
    constant = [c - SPATIAL if c < first else c - SPATIAL - 4 for c in encoder.channels if not is_spatial(c)]
    planes, constants = _spatial(boards), _constants(boards, dice, mid, encoder.normalize)
    if "tactics" in encoder.groups:
        chances = tactics(boards)
        planes, constants = torch.cat([planes, chances[0]], dim=1), torch.cat([constants, chances[1]], dim=1)
    return planes[:, spatial], constants[:, constant]


def _in_order(encoder: Encoder, width: int) -> list[int]:
    """Where the numbers of the channels, one after the other, are among planes of ``width`` and then constants."""
    spatial, order = sum(is_spatial(c) for c in encoder.channels), []
    plane, constant = 0, spatial * width
    for channel in encoder.channels:
        if is_spatial(channel):
            order += range(plane, plane + width)
            plane += width
        else:
            order.append(constant)
            constant += 1
    return order


def encode(encoder: Encoder, boards: Tensor, dice: Tensor | None = None, mid_doubles: Tensor | None = None) -> Tensor:
    """``float32[N, C, 2, 12]`` on the device of ``boards int[N, 2, 25]``; see ``Encoder.encode``."""
    spatial, constant = _parts(encoder, boards, dice, mid_doubles)
    planes = torch.cat([spatial, constant[:, :, None].expand(-1, -1, 24)], dim=1)
    return planes[:, _in_order(encoder, 1)].unflatten(2, (2, 12))


def encode_flat(encoder: Encoder, boards: Tensor, dice: Tensor | None = None, mid_doubles: Tensor | None = None) -> Tensor:
    """``float32[N, F]`` on the device of ``boards``; see ``Encoder.encode_flat``."""
    spatial, constant = _parts(encoder, boards, dice, mid_doubles)
    return torch.cat([spatial.flatten(1), constant], dim=1)[:, _in_order(encoder, 24)]

"""Boards as network input: up to 34 planes of 2 x 12 points, or the same numbers flat without the repeated constants.

Point of view: always the side on roll (slot 1, "my"). Row 0 holds my points 13..24 from left to right, row 1 my points
12..1: the board as it lies on the table. Opponent checkers stand on the same cells (its point q is my point 25 - q).
Planes 0-7 and 26-29 differ from cell to cell, the others are constant. The channel names carry their divisors. The hand-made
features 17-25 are about a hundred times larger than the base planes unless they are divided, hence ``normalize``; the chances
of the next roll (26-33, ``raccoon.env.tactics``) are shares of the 36 rolls.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import flag, quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.env import encoder_kernels as kernels
from raccoon.env.board import as_array, as_boards, check

__all__ = [
    "CHANNEL_NAMES",
    "FEATURE_GROUPS",
    "FEATURE_SCALES",
    "SPATIAL",
    "Encoder",
    "decode",
    "dump_tensor",
    "encode",
    "is_spatial",
]

CHANNEL_NAMES: tuple[str, ...] = (
    *(f"{side} {what}" for side in ("my", "their") for what in ("checkers >= 1", "checkers >= 2", "checkers >= 3", "(checkers - 3) / 2")),
    "side to move",
    "my bar / 15",
    "their bar / 15",
    "my off / 15",
    "their off / 15",
    "die 1 / 6",
    "die 2 / 6",
    "doubles",
    "mid-doubles",
    "my pips / 167",
    "their pips / 167",
    "my pips / (my + their pips)",
    "my blots / 15",
    "their blots / 15",
    "my anchors / 6",
    "their anchors / 6",
    "my contact / 167",
    "their contact / 167",
    "my shots",
    "their shots",
    "my mobility",
    "their mobility",
    "my chance of a shot",
    "their chance of a shot",
    "my chance to enter",
    "their chance to enter",
)
FEATURE_GROUPS: dict[str, tuple[int, ...]] = {
    "base": tuple(range(17)),
    "pip": (17, 18, 19),
    "blots": (20, 21),
    "anchors": (22, 23),
    "contact": (24, 25),
    "tactics": tuple(range(26, 34)),
}
FEATURE_SCALES: dict[int, float] = {17: 167.0, 18: 167.0, 19: 1.0, 20: 15.0, 21: 15.0, 22: 6.0, 23: 6.0, 24: 167.0, 25: 167.0}
"""Divisor of each hand-made channel; ``normalize=False`` leaves it out (the base planes are always divided)."""

SPATIAL = 8
"""Channels below this one differ from cell to cell; of the others ``is_spatial`` says which do."""
_TACTICS = FEATURE_GROUPS["tactics"][0]

_SHAPE = (2, 12)


def is_spatial(channel: int) -> bool:
    """Does this channel differ from cell to cell? The others are constant planes."""
    return channel < SPATIAL or _TACTICS <= channel < _TACTICS + 4


def _inputs(
    boards: Boards, dice: NDArray[Any] | None, mid_doubles: NDArray[Any] | None
) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]:
    boards = as_boards(boards)
    check(boards)
    n = len(boards)
    dice = np.zeros((n, 2), np.int8) if dice is None else as_array(dice, "dice")
    mid = np.zeros(n, np.bool_) if mid_doubles is None else as_array(mid_doubles, "mid_doubles")
    if dice.shape != (n, 2):
        raise RaccoonError(f"dice of shape {dice.shape}: expected ({n}, 2), one roll a board")
    if mid.shape != (n,):
        raise RaccoonError(f"mid_doubles of shape {mid.shape}: expected ({n},), one flag a board")
    if n and (dice.dtype.kind not in "iu" or mid.dtype != np.bool_):
        raise RaccoonError(f"dice of type {dice.dtype}, mid_doubles of type {mid.dtype}: expected integers and booleans")
    bad = ((dice < 1) | (dice > 6)).any(axis=1) & (dice != 0).any(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise RaccoonError(f"dice {dice[row].tolist()} of row {row}: both must be 1..6, or (0, 0) before the roll")
    return boards, np.ascontiguousarray(dice, np.int8), np.ascontiguousarray(mid, np.bool_)


def _channels(channels: Sequence[int] | None) -> NDArray[np.int64]:
    chosen = np.arange(_TACTICS) if channels is None else as_array(channels, "channels").reshape(-1)
    if len(chosen) == 0 or chosen.dtype.kind not in "iu" or (chosen < 0).any() or (chosen >= len(CHANNEL_NAMES)).any():
        raise RaccoonError(f"channels={chosen.tolist()}: give one or more of 0..{len(CHANNEL_NAMES) - 1}")
    return chosen.astype(np.int64)


def _divisors(normalize: bool) -> NDArray[np.float32]:
    return np.array([FEATURE_SCALES[c] if normalize else 1.0 for c in sorted(FEATURE_SCALES)], np.float32)


def encode(
    boards: Boards,
    dice: NDArray[Any] | None = None,
    mid_doubles: NDArray[Any] | None = None,
    channels: Sequence[int] | None = None,
    normalize: bool = True,
    flat: bool = False,
) -> NDArray[np.float32]:
    """Planes ``float32[N, C, 2, 12]`` of ``boards`` for the side on roll.

    ``dice int[N, 2]`` in stored order, (0, 0) or None before the roll; ``mid_doubles bool[N]``: one half of a double is
    played; ``channels``: indices into ``CHANNEL_NAMES``, in the wanted order (the first 26 by default). ``flat``: the same numbers as
    ``float32[N, F]``, 24 for each plane that differs from cell to cell, one for each constant plane.
    Raises RaccoonError for bad boards, shapes, dice or channels.
    """
    boards, dice8, mid = _inputs(boards, dice, mid_doubles)
    chosen = _channels(channels)
    out = np.empty((len(boards), _flat_size(chosen.tolist()) if flat else 24 * len(chosen)), np.float32)
    kernels.fill(boards, dice8, mid, chosen, _divisors(normalize), flat, out)
    return out if flat else out.reshape(len(boards), len(chosen), *_SHAPE)


def _flat_size(channels: Sequence[int]) -> int:
    return sum(24 if is_spatial(channel) else 1 for channel in channels)


def decode(planes: NDArray[np.floating[Any]]) -> NDArray[np.int8]:
    """Boards ``int8[N, 2, 25]`` back from planes ``[N, C, 2, 12]`` whose first 13 channels are the base ones."""
    planes = np.asarray(planes)
    if planes.ndim != 4 or planes.shape[1] < 13 or planes.shape[2:] != _SHAPE:
        raise RaccoonError(f"planes of shape {planes.shape}: decode takes [N, C >= 13, 2, 12] with the base channels first")
    counts = np.empty((len(planes), 2, 24), np.float64)
    for slot, first in ((1, 0), (0, 4)):
        part = planes[:, first : first + 4].astype(np.float64)
        counts[:, slot] = (part[:, :3].sum(axis=1) + 2.0 * part[:, 3]).reshape(-1, 24)
    boards = np.zeros((len(planes), 2, 25), np.int8)
    mine = np.concatenate([counts[:, 1, 23:11:-1], counts[:, 1, :12]], axis=1)
    theirs = np.concatenate([counts[:, 0, 23:11:-1], counts[:, 0, :12]], axis=1)[:, ::-1]
    boards[:, 1, :24] = np.rint(mine)
    boards[:, 0, :24] = np.rint(theirs)
    boards[:, 1, 24] = np.rint(planes[:, 9, 0, 0].astype(np.float64) * 15)
    boards[:, 0, 24] = np.rint(planes[:, 10, 0, 0].astype(np.float64) * 15)
    return boards


def dump_tensor(planes: NDArray[np.floating[Any]], channels: Sequence[int] | None = None) -> str:
    """One encoded board ``[C, 2, 12]`` as text: each plane under its name, constant planes as one number."""
    chosen = _channels(channels)
    if planes.shape != (len(chosen), *_SHAPE):
        raise RaccoonError(f"planes of shape {planes.shape}: expected ({len(chosen)}, 2, 12) for these channels")
    lines: list[str] = []
    for plane, channel in zip(planes, chosen.tolist(), strict=True):
        title = f"{channel:2d} {CHANNEL_NAMES[channel]}"
        if not is_spatial(channel):
            lines.append(f"{title}: {plane[0, 0]:.4g}")
            continue
        lines.append(title)
        lines += ["   " + " ".join(f"{x:4.3g}" if x else "   ." for x in row) for row in plane]
    return "\n".join(lines)


@dataclass(frozen=True)
class Encoder:
    """A fixed choice of feature groups; a checkpoint carries it and never sees another.

    ``features``: groups beside the base planes, as a list of names or a mapping name -> bool; None: all but ``tactics``.
    Raises RaccoonError for an unknown group.
    """

    features: Mapping[str, bool] | Sequence[str] | None = None
    normalize: bool = True

    def __post_init__(self) -> None:
        known = [group for group in FEATURE_GROUPS if group != "base"]
        given = self.features
        if given is None:
            wanted = {*known} - {"tactics"}
        elif isinstance(given, Mapping):
            for name, on in given.items():
                flag(f"encoder.features.{name}", on)
            wanted = {name for name, on in given.items() if on}
            given = list(given)
        elif isinstance(given, str | list | tuple):
            given = [given] if isinstance(given, str) else list(given)
            wanted = set(map(str, given))
        else:
            raise RaccoonError(f"encoder.features={quoted(given)}: give names of feature groups")
        flag("encoder.normalize", self.normalize)
        for name in given or ():
            if not isinstance(name, str) or name not in FEATURE_GROUPS:
                raise RaccoonError(f"encoder.features: unknown group {quoted(name)}; choose from {', '.join(known)}")
        object.__setattr__(self, "features", tuple(group for group in known if group in wanted))

    @property
    def groups(self) -> tuple[str, ...]:
        """The feature groups beside the base planes, in channel order."""
        return tuple(self.features or ())

    @property
    def channels(self) -> tuple[int, ...]:
        """Indices into ``CHANNEL_NAMES``."""
        return tuple(c for group in ("base", *self.groups) for c in FEATURE_GROUPS[group])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, divisors included where they are applied."""
        names: list[str] = []
        for channel in self.channels:
            name = CHANNEL_NAMES[channel]
            raw = not self.normalize and FEATURE_SCALES.get(channel, 1.0) != 1.0
            names.append(name.rsplit(" / ", 1)[0] if raw else name)
        return tuple(names)

    @property
    def n_channels(self) -> int:
        """Number of planes C."""
        return len(self.channels)

    @property
    def flat_size(self) -> int:
        """Length F of the flat form: 201 for the base planes, 210 with the features of ``encoder=all``, 310 with the tactics as well."""
        return _flat_size(self.channels)

    @property
    def layout_hash(self) -> str:
        """16 hex digits over the channel names (divisors included) and the shape: equal exactly for equal layouts."""
        text = json.dumps([self.names, self.normalize, _SHAPE, SPATIAL])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def describe(self) -> str:
        """The layout in words, for messages."""
        scale = "normalised" if self.normalize else "raw"
        return f"{self.n_channels} planes ({'+'.join(('base', *self.groups))}, {scale}, layout {self.layout_hash})"

    def encode(self, boards: Boards, dice: NDArray[Any] | None = None, mid_doubles: NDArray[Any] | None = None) -> NDArray[np.float32]:
        """Planes ``float32[N, C, 2, 12]``; see ``encode``."""
        return encode(boards, dice, mid_doubles, self.channels, self.normalize)

    def encode_flat(self, boards: Boards, dice: NDArray[Any] | None = None, mid_doubles: NDArray[Any] | None = None) -> NDArray[np.float32]:
        """Flat form ``float32[N, F]``; see ``encode``."""
        return encode(boards, dice, mid_doubles, self.channels, self.normalize, flat=True)

    def to_config(self) -> dict[str, Any]:
        """Plain dict that ``from_config`` turns back into an equal encoder."""
        return {"features": list(self.groups), "normalize": self.normalize}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Encoder:
        """Encoder of a plain dict; ``_target_`` is ignored. Raises RaccoonError for unknown keys."""
        unknown = set(config) - {"features", "normalize", "_target_"}
        if unknown:
            raise RaccoonError(f"encoder config: unknown keys {quoted(sorted(map(str, unknown)))}; known are features, normalize")
        return cls(config.get("features"), config.get("normalize", True))

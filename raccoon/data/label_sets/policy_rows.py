"""One decision with its policy target in 113 bytes: how it is written and read.

The target is sparse: the 24 most likely half turns by OpenSpiel's action and their shares as 16-bit fixed point. Of the actions
with one and the same result the lowest stands for all (as in ``raccoon.search.mcts.expand.Edges``), the others have no share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.data.label_sets.rows import check_boards, check_labels
from raccoon.engine.outcomes import six_from_five
from raccoon.env import position_ids, ragged
from raccoon.env.half_moves import N_ACTIONS, legal_mask, low_first

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "DECISION_ROW",
    "KEPT",
    "POLICY_ROW",
    "JointBatch",
    "PolicyBatch",
    "check_decisions",
    "pack_policies",
    "unlabelled",
    "unpack_decisions",
    "unpack_policies",
]

KEPT = 24
"""Actions that a row keeps."""

_FIELDS: list[Any] = [
    ("key", "u1", (10,)),
    ("dice", "u1", (2,)),
    ("mid", "u1"),
    ("game", "<u4"),
    ("ids", "<u2", (KEPT,)),
    ("shares", "<u2", (KEPT,)),
]
POLICY_ROW = np.dtype(_FIELDS)
"""113 bytes. ``mid``: the first half of a double has been played; ``shares`` in 65535ths, 0 where unused."""

DECISION_ROW = np.dtype([*_FIELDS, ("probs", "<u2", (5,))])
"""123 bytes: a ``POLICY_ROW`` and, where ``mid`` is 0, the label of its board before the roll as in ``raccoon.data.label_sets.rows``."""

_SCALE = 65535.0


class PolicyBatch(NamedTuple):
    """Decisions of the side on roll: ``boards int8[N, 2, 25]``, ``dice int8[N, 2]``, ``mid bool[N]`` (the first half of a double has
    been played), ``ids int64[N, KEPT]`` in the mover's numbering, ``shares float32[N, KEPT]`` (a row sums to 1, unused entries are
    0), ``legal bool[N, 1352]``."""

    boards: Tensor
    dice: Tensor
    mid: Tensor
    ids: Tensor
    shares: Tensor
    legal: Tensor


class JointBatch(NamedTuple):
    """What a network with both heads learns from in one step: pre-roll ``boards int8[V, 2, 25]`` with ``probs6 float32[V, 6]`` of the
    side on roll, and decisions."""

    boards: Tensor
    probs6: Tensor
    policy: PolicyBatch


def pack_policies(
    boards: Boards,
    dice: NDArray[Any],
    mid: NDArray[np.bool_] | None,
    game: NDArray[Any],
    offsets: NDArray[np.int64],
    ids: NDArray[Any],
    shares: NDArray[Any],
) -> NDArray[np.void]:
    """``POLICY_ROW[N]``: row ``i`` of ``boards [N, 2, 25]`` and ``dice [N, 2]`` has the actions ``ids[offsets[i]:offsets[i + 1]]``
    with ``shares`` in any scale; the ``KEPT`` largest of a row are kept, of equals the first ones. ``mid`` None: no row is the second half.

    Raises RaccoonError naming a row whose shares are not numbers of 0 or more with one above 0, or an id that is none.
    """
    shares, ids, count = np.asarray(shares, np.float64), np.asarray(ids, np.int64), len(offsets) - 1
    row = ragged.row_of(offsets)
    bad = ~(np.isfinite(shares) & (shares >= 0) & (ids >= 0) & (ids < N_ACTIONS))
    total = np.bincount(row, np.where(bad, np.nan, shares), count)
    wrong = np.flatnonzero(~(total > 0))
    if len(wrong):
        raise RaccoonError(f"policy target of row {wrong[0]}: needs actions below {N_ACTIONS} and shares of 0 or more, one above 0")
    order, place = ragged.best_first(shares, offsets), ragged.places(offsets)
    order, place = order[place < KEPT], place[place < KEPT]
    rows = np.zeros(len(boards), POLICY_ROW)
    rows["key"] = position_ids.position_keys(np.ascontiguousarray(boards, np.int8))
    rows["dice"], rows["game"] = dice, game
    rows["mid"] = 0 if mid is None else mid
    kept = np.bincount(row[order], shares[order], count)
    parts = np.rint(shares[order] / kept[row[order]] * _SCALE).astype(np.uint16)
    rows["shares"][row[order], place] = parts
    rows["ids"][row[order], place] = np.where(parts > 0, ids[order], 0)
    return rows


def unlabelled(policies: NDArray[np.void]) -> NDArray[np.void]:
    """``DECISION_ROW[N]`` of ``POLICY_ROW[N]``, without labels yet."""
    rows = np.zeros(len(policies), DECISION_ROW)
    for name in POLICY_ROW.names or ():
        rows[name] = policies[name]
    return rows


def unpack_policies(rows: NDArray[np.void]) -> PolicyBatch:
    """The decisions of ``rows`` (of ``POLICY_ROW``, or of any dtype with its fields), lower die first. Raises RaccoonError on a broken
    row."""
    import torch

    try:
        boards = position_ids.from_position_keys(rows["key"])
        dice, mid = low_first(rows["dice"]), rows["mid"].astype(bool)
        legal = legal_mask(boards, dice, mid)
    except RaccoonError as error:
        raise RaccoonError(f"decisions: {error}; the data was changed after it was written, generate it again") from error
    ids, shares = rows["ids"].astype(np.int64), rows["shares"].astype(np.float32)
    illegal = (shares > 0) & ~np.take_along_axis(legal, np.minimum(ids, N_ACTIONS - 1), axis=1)
    total = shares.sum(axis=1, keepdims=True)
    broken = illegal.any(axis=1) | (total[:, 0] == 0)
    if broken.any():
        raise RaccoonError(f"decisions: row {int(np.argmax(broken))} has no share, or one on an illegal action; generate them again")
    shares /= total
    parts = (boards, dice, mid, ids, shares, legal)
    return PolicyBatch(*(torch.from_numpy(part) for part in parts))


def check_decisions(rows: NDArray[np.void]) -> None:
    """Raise RaccoonError naming the first of ``rows`` that cannot have been written: what can be told without a digest."""
    check_boards(rows)
    dice, ids, shares = rows["dice"], rows["ids"], rows["shares"].astype(np.int64)
    wrong = (dice < 1).any(axis=1) | (dice > 6).any(axis=1) | (rows["mid"] > 1) | (ids >= N_ACTIONS).any(axis=1)
    wrong |= np.abs(shares.sum(axis=1) - int(_SCALE)) > KEPT  # each share is rounded by less than 1
    if wrong.any():
        raise RaccoonError(f"row {int(np.argmax(wrong))} is no decision (dice, half turn, actions or shares)")
    check_labels(rows[rows["mid"] == 0])


def unpack_decisions(rows: NDArray[np.void]) -> JointBatch:
    """The labels and the decisions of ``DECISION_ROW``s; second halves have no label. Raises RaccoonError on a broken row."""
    import torch

    policy = unpack_policies(rows)
    labelled = rows["mid"] == 0
    probs6 = six_from_five(rows["probs"][labelled] / _SCALE).astype(np.float32)
    return JointBatch(policy.boards[torch.from_numpy(labelled)], torch.from_numpy(probs6), policy)

"""The packed set of labelled positions: a folder of memory-mapped ``.npy`` shards and one ``meta.json``.

``meta.json`` says what the rows are (teacher, ply, seeds, versions) and lists every shard with its row count and a
checksum of its ends, so that a shard that is missing, cut short or from elsewhere is found when the set is opened.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import whole
from raccoon.contracts import Boards, RaccoonError
from raccoon.data.policy_rows import DECISION_ROW
from raccoon.data.rows import ROW, unpack5
from raccoon.files import read_json
from raccoon.locks import holder

__all__ = ["DECISIONS", "FORMATS", "META", "POSITIONS", "VERSION", "PositionStore", "check_shard", "checksum", "read_meta", "shard_path"]

VERSION, META = 1, "meta.json"
POSITIONS, DECISIONS = "raccoon-positions", "raccoon-decisions"
FORMATS = {POSITIONS: ROW, DECISIONS: DECISION_ROW}
"""What a set may hold: labelled positions, or positions with a decision each as well."""
_ENDS = 128


class PositionStore:
    """A set of labelled positions, read only. Rows are numbered through all shards in order.

    ``folder``, ``meta`` (the parsed ``meta.json``), ``dtype`` of its rows, ``counts int64[S]`` rows a shard, ``len(store)`` rows.
    """

    def __init__(self, folder: Path, meta: Mapping[str, Any], indices: list[int]) -> None:
        self.folder = folder
        self.meta = meta
        self.dtype = FORMATS[meta["format"]]
        self.indices = indices
        self.counts = np.array([meta["shards"][str(index)]["rows"] for index in indices], np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.counts)])

    @classmethod
    def open(cls, folder: Path | str, shards: int | None = None, partial: bool = False) -> PositionStore:
        """Open and check ``folder``; only the first ``shards`` of it if given.

        ``partial`` accepts a set that is not complete, even while it is being written. Raises RaccoonError naming the
        file when the set is missing, empty, incomplete, cut short, foreign or being written by another process.
        """
        folder = Path(folder)
        if shards is not None:
            whole("shards", shards, 1)
        if not partial and (writer := holder(folder)):
            raise RaccoonError(f"{folder}: being written by {writer}; wait for it or name another folder")
        meta = read_meta(folder)
        indices = sorted(int(key) for key in meta["shards"])
        if not partial and not meta["complete"] and (shards is None or indices[:shards] != list(range(shards))):
            raise RaccoonError(f"{folder}: incomplete ({len(indices)} shards so far); run the same command again to finish it")
        if shards is not None:
            indices = indices[:shards]
        elif not partial:
            _check_strangers(folder, indices)
        if not indices:
            raise RaccoonError(f"{folder}: no rows yet; generate the set first")
        for index in indices:
            check_shard(shard_path(folder, index), meta["shards"][str(index)], FORMATS[meta["format"]])
        return cls(folder, meta, indices)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def fingerprint(self) -> str:
        """Names the rows: what they are, not where they lie."""
        return str(self.meta["fingerprint"])

    def shard(self, i: int) -> NDArray[np.void]:
        """Rows ``dtype[n]`` of the ``i``-th shard, memory-mapped; the map is closed when the array is dropped."""
        return _load(shard_path(self.folder, self.indices[i]), self.dtype)

    def rows(self, pick: ArrayLike) -> NDArray[np.void]:
        """Rows ``dtype[N]`` of the given row numbers, in that order."""
        pick = np.asarray(pick)
        if pick.ndim != 1 or (len(pick) and pick.dtype.kind not in "iu"):
            raise RaccoonError(f"{self.folder}: rows are picked by a list of whole numbers, not {pick.dtype}{list(pick.shape)}")
        pick = pick.astype(np.int64)
        if len(pick) and (pick.min() < 0 or pick.max() >= len(self)):
            raise RaccoonError(f"{self.folder}: row {pick.min()}..{pick.max()} asked, the set has {len(self)}")
        out = np.empty(len(pick), self.dtype)
        owner = np.searchsorted(self.starts, pick, side="right") - 1
        for i in np.unique(owner):
            at = np.flatnonzero(owner == i)
            out[at] = self.shard(int(i))[pick[at] - self.starts[i]]
        return out

    def gather(self, pick: ArrayLike) -> tuple[Boards, NDArray[np.float32]]:
        """Pre-roll boards ``int8[N, 2, 25]`` and cumulative ``probs5 float32[N, 5]``, side on roll, of row numbers ``pick``."""
        return unpack5(self.rows(pick))


def shard_path(folder: Path, index: int) -> Path:
    """File of shard ``index``."""
    return folder / f"shard-{index:06d}.npy"


def checksum(rows: NDArray[np.void]) -> int:
    """CRC-32 of the first and last 128 rows: cheap, and enough to tell one shard from another."""
    ends = np.concatenate([rows[:_ENDS], rows[-_ENDS:]])
    return zlib.crc32(ends.tobytes())


def read_meta(folder: Path) -> dict[str, Any]:
    """The parsed ``meta.json``; RaccoonError when there is none or it is not ours."""
    path = folder / META
    if not path.exists():
        raise RaccoonError(f"{folder}: no {META}, so not a set of labelled positions")
    meta = read_json(path)
    if not isinstance(meta, dict) or meta.get("format") not in FORMATS:
        raise RaccoonError(f"{path}: not the {META} of a set of labelled positions")
    if meta.get("version") != VERSION:
        raise RaccoonError(f"{path}: format version {meta.get('version')}; this Raccoon reads {VERSION}")
    if not {"fingerprint", "complete", "shards"} <= meta.keys():
        raise RaccoonError(f"{path}: incomplete; the set must be generated again")
    if not (isinstance(meta["fingerprint"], str) and isinstance(meta["complete"], bool) and _is_listing(meta["shards"])):
        raise RaccoonError(f"{path}: damaged; restore it or generate the set again")
    return meta


def _is_listing(shards: Any) -> bool:
    """Does ``shards`` map numbers (as texts) to the row count and checksum of each shard?"""
    if not isinstance(shards, Mapping) or not all(key.isascii() and key.isdigit() for key in shards):
        return False
    return all(isinstance(entry, Mapping) and all(type(entry.get(key)) is int for key in ("rows", "sum")) for entry in shards.values())


def check_shard(path: Path, entry: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
    """Raise RaccoonError naming ``path`` unless it is the whole shard, of ``dtype``, that ``entry`` of ``meta.json`` describes."""
    rows = _load(path, dtype)
    if len(rows) != entry["rows"] or checksum(rows) != entry["sum"]:
        raise RaccoonError(f"{path}: not the shard that {META} lists ({len(rows)} rows, {entry['rows']} listed); restore or delete it")


def _load(path: Path, dtype: np.dtype[Any]) -> NDArray[np.void]:
    try:
        rows = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise RaccoonError(f"{path}: missing; run the command that made the set again") from None
    except (OSError, ValueError, EOFError) as error:
        raise RaccoonError(f"{path}: empty, cut short or not a shard ({error}); delete it and make the set again") from error
    if rows.dtype != dtype or rows.ndim != 1:
        raise RaccoonError(f"{path}: not a shard of this set (dtype {rows.dtype}, shape {rows.shape})")
    return rows


def _check_strangers(folder: Path, indices: list[int]) -> None:
    known = {shard_path(folder, index).name for index in indices}
    strangers = sorted(path.name for path in folder.glob("shard-*.npy") if path.name not in known)
    if strangers:
        raise RaccoonError(f"{folder / strangers[0]}: {META} does not list this shard; it belongs elsewhere, move it away")

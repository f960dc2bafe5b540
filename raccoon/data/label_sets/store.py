"""The packed set of labelled positions: a folder of memory-mapped ``.npy`` shards and one ``meta.json``.

``meta.json`` says what the rows are (teacher, ply, seeds, versions) and lists every shard with its row count, a checksum of
its ends and the SHA-256 of its file; it ends with a digest of its own. Both are checked when the set is opened, so that a file
that is missing, cut short, changed or from elsewhere is found. Sets that were written before there were digests still open:
each of their rows must then be one that can have been written.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import quoted, whole
from raccoon.contracts import Boards, RaccoonError
from raccoon.data.label_sets.policy_rows import DECISION_ROW, check_decisions
from raccoon.data.label_sets.rows import ROW, check_rows, unpack5
from raccoon.env import ragged
from raccoon.files import file_digest, json_text, open_regular, read_json
from raccoon.files.locks import check_free
from raccoon.files.npz import npy_header

__all__ = [
    "DECISIONS",
    "FORMATS",
    "META",
    "POSITIONS",
    "VERSION",
    "PositionStore",
    "check_shard",
    "checksum",
    "missing_file",
    "read_meta",
    "shard_path",
    "signed",
]

VERSION, META = 1, "meta.json"
POSITIONS, DECISIONS = "raccoon-positions", "raccoon-decisions"
FORMATS = {POSITIONS: ROW, DECISIONS: DECISION_ROW}
"""What a set may hold: labelled positions, or positions with a decision each as well."""
_ENDS, _CHUNK = 128, 1 << 18
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


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
        self.starts = ragged.offsets_of(self.counts)

    @classmethod
    def open(cls, folder: Path | str, shards: int | None = None, partial: bool = False) -> PositionStore:
        """Open and check ``folder``; only the first ``shards`` of it if given.

        ``partial`` accepts a set that is not complete, even while it is being written. Raises RaccoonError naming the
        file when the set is missing, empty, incomplete, cut short, foreign or being written by another process.
        """
        folder = Path(folder)
        if shards is not None:
            whole("shards", shards, 1)
        if not partial:
            check_free(folder)
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
    if not isinstance(meta, dict) or not isinstance(meta.get("format"), str) or meta["format"] not in FORMATS:
        raise RaccoonError(f"{path}: not the {META} of a set of labelled positions")
    if type(meta.get("version")) is not int or meta["version"] != VERSION:
        raise RaccoonError(f"{path}: format version {quoted(meta.get('version'))}; this Raccoon reads {VERSION}")
    if not {"fingerprint", "complete", "shards"} <= meta.keys():
        raise RaccoonError(f"{path}: incomplete; the set must be generated again")
    named = isinstance(meta["fingerprint"], str) and isinstance(meta["complete"], bool)
    if not (named and _is_listing(meta["shards"]) and _is_signed(meta)):
        raise RaccoonError(f"{path}: damaged, or changed by hand; restore it or generate the set again")
    return meta


def _is_listing(shards: Any) -> bool:
    """Does ``shards`` map numbers (as texts, each in one way) to the row count and the checksums of each shard?"""
    if not isinstance(shards, Mapping) or not all(_INDEX.fullmatch(key) for key in shards):
        return False
    return all(isinstance(entry, Mapping) and _is_entry(entry) for entry in shards.values())


def _is_entry(entry: Mapping[str, Any]) -> bool:
    counts = type(entry.get("rows")) is int and 0 < entry["rows"] < 1 << 40
    digest = entry.get("sha256", "0" * 64)
    return counts and type(entry.get("sum")) is int and 0 <= entry["sum"] < 1 << 32 and isinstance(digest, str) and len(digest) == 64


def _is_signed(meta: Mapping[str, Any]) -> bool:
    """Is the digest right, or are neither it nor digests of shards there (a set of an older Raccoon)?"""
    if "digest" in meta:
        return meta["digest"] == signed(meta)["digest"]
    return not any("sha256" in entry for entry in meta["shards"].values())


def signed(meta: Mapping[str, Any]) -> dict[str, Any]:
    """``meta`` as it is read back from JSON, with its digest: the SHA-256 of all the rest, ordered by name."""
    plain = json.loads(json_text({key: value for key, value in meta.items() if key != "digest"}))
    return plain | {"digest": hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()}


def missing_file(folder: Path) -> Path | None:
    """The file of the set in ``folder`` that is not there: ``meta.json`` or a shard that it lists. None where all are there, whatever is
    in them. Raises RaccoonError for a damaged ``meta.json``."""
    if not (folder / META).exists():
        return folder / META
    paths = (shard_path(folder, int(index)) for index in read_meta(folder)["shards"])
    return next((path for path in paths if not path.exists()), None)


def check_shard(path: Path, entry: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
    """Raise RaccoonError naming ``path`` unless it is the whole shard, of ``dtype``, that ``entry`` of ``meta.json`` describes."""
    rows = _load(path, dtype)
    whole = len(rows) == entry["rows"] and checksum(rows) == entry["sum"]
    if not whole or ("sha256" in entry and file_digest(path) != entry["sha256"]):
        raise RaccoonError(f"{path}: not the shard that {META} lists ({len(rows)} rows, {entry['rows']} listed); restore or delete it")
    if "sha256" not in entry:
        _check_rows(path, rows)


def _check_rows(path: Path, rows: NDArray[np.void]) -> None:
    check = check_rows if rows.dtype == ROW else check_decisions
    for start in range(0, len(rows), _CHUNK):
        try:
            check(rows[start : start + _CHUNK])
        except RaccoonError as error:
            raise RaccoonError(f"{path}: rows from {start} on: {error}; restore or delete it") from error


def _load(path: Path, dtype: np.dtype[Any]) -> NDArray[np.void]:
    try:
        with open_regular(path) as handle:
            shape, _, found = npy_header(handle)
            start, size = handle.tell(), handle.seek(0, 2)
        if found != dtype or len(shape) != 1:
            raise RaccoonError(f"{path}: not a shard of this set (dtype {found}, shape {shape})")
        if start + shape[0] * dtype.itemsize != size:
            raise ValueError(f"{size:,} bytes for {shape[0]} rows")
        return np.memmap(path, dtype, "r", start, shape)
    except FileNotFoundError:
        raise RaccoonError(f"{path}: missing; run the command that made the set again") from None
    except RaccoonError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise RaccoonError(f"{path}: empty, cut short or not a shard ({error}); delete it and make the set again") from error


def _check_strangers(folder: Path, indices: list[int]) -> None:
    known = {shard_path(folder, index).name for index in indices}
    strangers = sorted(path.name for path in folder.glob("shard-*.npy") if path.name not in known)
    if strangers:
        raise RaccoonError(f"{folder / strangers[0]}: {META} does not list this shard; it belongs elsewhere, move it away")

"""Arrays in ``.npz`` and ``.npy`` files: written atomically, read within the bounds of the file, damaged ones refused."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from raccoon.contracts import RaccoonError
from raccoon.files import atomic, read_regular

__all__ = ["npy_header", "parse_arrays", "read_arrays", "write_arrays"]


def write_arrays(path: Path | str, arrays: Mapping[str, Any]) -> None:
    """Write a dict of arrays as ``.npz`` atomically."""
    with atomic(path) as handle:
        np.savez(handle, allow_pickle=False, **{key: np.asarray(value) for key, value in arrays.items()})


def read_arrays(path: Path | str, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Those arrays of an ``.npz`` (None: all); RaccoonError naming the file when it is missing, damaged or has not got one of them."""
    try:
        arrays = parse_arrays(read_regular(path))
        return arrays if names is None else {name: arrays[name] for name in names}
    except (OSError, ValueError, KeyError) as error:
        raise RaccoonError(f"{path}: is missing or damaged ({type(error).__name__}: {error})") from error


def parse_arrays(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` that is not compressed. Raises ValueError when it is damaged; takes no more memory than it has bytes."""
    found: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
            if sum(part.file_size for part in parts) > len(data) or any(part.compress_type for part in parts):
                raise ValueError("parts that are compressed or larger than the file")
            for part in parts:
                found[part.filename.removesuffix(".npy")] = _array(archive.read(part))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, struct.error, OverflowError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if len(found) < len(parts):
        raise ValueError("an array is given twice")
    return found


def npy_header(handle: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, Fortran order and type that an ``.npy`` begins with; the data follow. Raises ValueError when it is damaged."""
    version = np.lib.format.read_magic(handle)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        return header(handle)
    except (MemoryError, RecursionError, TypeError, SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"header: {type(error).__name__}") from error


def _array(data: bytes) -> np.ndarray:
    """The array in the bytes of an ``.npy``, when they are as many as its header says."""
    handle = io.BytesIO(data)
    shape, fortran, dtype = npy_header(handle)
    rest = len(data) - handle.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"an array of {dtype}{list(shape)[:8]} in {rest:,} bytes")
    array = np.frombuffer(data, dtype, math.prod(shape), handle.tell()) if rest else np.zeros(0, dtype)
    return array.reshape(shape, order="F" if fortran else "C").copy()

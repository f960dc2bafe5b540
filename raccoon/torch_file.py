"""Reads files of ``torch.save`` that may be damaged or hostile: plain values and tensors only, nothing larger than the file."""

from __future__ import annotations

import pickletools
import re
import zipfile
from pathlib import Path
from typing import Any

import torch

from raccoon.contracts import RaccoonError

__all__ = ["read"]

_ZIP = b"PK\x03\x04"
_SIZED = re.compile(r"(builtins|__builtin__) bytearray|torch(\.\w+)* \w*Tensor|torch\.storage \w+|torch\._utils _rebuild_(wrapper|meta)\w+")
"""What a weights-only load would make as large as the file asks for, without its bytes being there."""


def read(path: Path | str, mmap: bool = False) -> Any:
    """What ``torch.save`` wrote to ``path``, on the CPU; loading runs no code. ``mmap``: tensors stay in the file until they are used.

    Raises RaccoonError naming ``path`` when it is missing, no such file, truncated, or when one of its checksums is wrong.
    """
    try:
        with open(path, "rb") as handle:
            zipped = handle.read(4) == _ZIP
        if zipped:
            _check(path)
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mmap)
    except FileNotFoundError as error:
        raise RaccoonError(f"{path}: no such checkpoint") from error
    except OSError as error:
        raise RaccoonError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # damaged bytes can fail anywhere inside the readers
        raise RaccoonError(f"{path}: cannot be read as a checkpoint; it is truncated, damaged or of another program") from error
    raise RaccoonError(f"{path}: not a checkpoint (no torch file, or an empty one)")


def _check(path: Path | str) -> None:
    """Refuse an archive with wrong checksums (torch compares none), compressed parts, or a pickle that asks for memory by size."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        stored = all(part.compress_type == zipfile.ZIP_STORED for part in parts)
        if not stored or sum(part.file_size for part in parts) > Path(path).stat().st_size:
            raise zipfile.BadZipFile("torch compresses nothing")
        if (wrong := archive.testzip()) is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {wrong}")
        for part in parts:
            if part.filename.endswith("/data.pkl"):
                _check_pickle(archive.read(part))


def _check_pickle(content: bytes) -> None:
    for opcode, value, _ in pickletools.genops(content):
        if opcode.name in ("STACK_GLOBAL", "INST", "OBJ") or (opcode.name == "GLOBAL" and _SIZED.fullmatch(str(value))):
            raise ValueError(f"{opcode.name} {value}")

"""Files of ``torch.save`` with a digest of all their bytes, and reading such files when they may be damaged or hostile.

The archive's comment holds the digest, so that torch and every zip program read the file as before. Nothing but plain values and
tensors is read, and nothing larger than the file.
"""

from __future__ import annotations

import hashlib
import io
import pickletools
import re
import struct
import zipfile
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import torch

from raccoon.contracts import RaccoonError
from raccoon.files import open_regular

__all__ = ["dumps", "read"]

_ZIP = b"PK\x03\x04"
_MARK = b"sha256:"
_COMMENT = len(_MARK) + 64
_LAST, _END = 22, b"PK\x05\x06"
"""Length of an archive's last record without its comment, and how it begins; its last two bytes are the comment's length."""
_MOST_PARTS, _MOST_OPCODES = 20_000, 500_000
"""More than any network or training state has, and what is gone through in about a second."""
_SIZED = re.compile(r"(builtins|__builtin__) bytearray|torch(\.\w+)* \w*Tensor|torch\.storage \w+|torch\._utils _rebuild_(wrapper|meta)\w+")
"""What a weights-only load would make as large as the file asks for, without its bytes being there."""


def dumps(content: Any) -> bytes:
    """What ``torch.save`` writes of ``content``, with the digest."""
    buffer = io.BytesIO()
    torch.save(content, buffer)
    body = buffer.getbuffer()[:-2]
    return b"".join([body, struct.pack("<H", _COMMENT), _digest(body)])


def read(path: Path | str, lazy: bool = False) -> Any:
    """What ``torch.save`` wrote to ``path``, on the CPU; loading runs no code. ``lazy``: tensors stay in the file until they are used.

    Raises RaccoonError naming ``path`` when it is missing, no such file, or when any byte of it was changed: its digest is
    wrong or, in a file without one, a checksum of the archive.
    """
    try:
        with open_regular(path) as handle:
            zipped = handle.read(4) == _ZIP
        if zipped:
            _check(path)
            return torch.load(path, map_location="cpu", weights_only=True, mmap=lazy)
    except FileNotFoundError as error:
        raise RaccoonError(f"{path}: no such checkpoint") from error
    except OSError as error:
        raise RaccoonError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # damaged bytes can fail anywhere inside the readers
        raise RaccoonError(f"{path}: cannot be read as a checkpoint; it is truncated, damaged or of another program") from error
    raise RaccoonError(f"{path}: not a checkpoint (no torch file, or an empty one)")


def _check(path: Path | str) -> None:
    """Refuse an archive with a wrong digest or wrong checksums (torch compares none), with compressed parts, or with a pickle that
    asks for memory by size."""
    with open(path, "rb") as handle, zipfile.ZipFile(handle) as archive, mmap(handle.fileno(), 0, access=ACCESS_READ) as content:
        end = len(content) - len(archive.comment)
        if content[end - _LAST :][: len(_END)] != _END:
            raise zipfile.BadZipFile("bytes behind the archive")
        if archive.comment and archive.comment != _digest(content[: end - 2]):
            raise zipfile.BadZipFile("wrong digest")
        parts = archive.infolist()
        stored = all(part.compress_type == zipfile.ZIP_STORED for part in parts)
        if not stored or sum(part.file_size for part in parts) > len(content):
            raise zipfile.BadZipFile("torch compresses nothing")
        if len(parts) > _MOST_PARTS or any(part.filename.endswith("/constants.pkl") for part in parts):
            raise zipfile.BadZipFile("too many parts, or a program (TorchScript)")
        if (wrong := archive.testzip()) is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {wrong}")
        for part in parts:
            if part.filename.endswith("/data.pkl"):
                _check_pickle(archive.read(part))


def _digest(body: bytes | memoryview) -> bytes:
    return _MARK + hashlib.sha256(body).hexdigest().encode()


def _check_pickle(content: bytes) -> None:
    for number, (opcode, value, _) in enumerate(pickletools.genops(content)):
        strange = opcode.name in ("STACK_GLOBAL", "INST", "OBJ") or (opcode.name == "PROTO" and value != 2)
        if strange or number > _MOST_OPCODES or (opcode.name == "GLOBAL" and _SIZED.fullmatch(str(value))):
            raise ValueError(f"{opcode.name} {value}")

"""Position IDs and keys (gnubg's formats), and batches of keys.

A key is 80 bits, filled from the low bit of byte 0: for slot 0 and then slot 1 (the side on roll), points 1 to 24 and
the bar, as many ones as checkers and a zero each; unused bits are zero. The Position ID is its base64 text without
padding, 14 characters. XGIDs are in ``raccoon.env.formats.xgid`` and offered here too.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.env.board import as_array, as_board, as_boards, check
from raccoon.env.formats.xgid import Position, from_xgid, to_xgid
from raccoon.env.kernels import kernel

__all__ = [
    "Position",
    "from_position_id",
    "from_position_key",
    "from_position_keys",
    "from_xgid",
    "key_words",
    "position_id",
    "position_key",
    "position_keys",
    "position_words",
    "row_keys",
    "side_bits",
    "to_xgid",
]

_FAULTS = (
    "",
    "more than 15 checkers on one side",
    "both sides on one point",
    "bits set after the last point",
)


@kernel
def side_bits(side: NDArray[np.int8]) -> tuple[np.uint64, np.uint64]:
    """The key bits of one side's 25 numbers, from the low bit on, and how many there are (25 + its checkers)."""
    bits, used = np.uint64(0), np.uint64(0)
    for i in range(25):
        n = np.uint64(side[i])
        bits |= ((np.uint64(1) << n) - np.uint64(1)) << used
        used += n + np.uint64(1)
    return bits, used


@kernel
def key_words(board: NDArray[np.int8]) -> tuple[np.uint64, np.uint64]:
    """Bits 0..63 and 64..79 of the key of one valid ``int8[2, 25]`` board."""
    first, length = side_bits(board[0])
    second, _ = side_bits(board[1])
    return first | (second << length), second >> (np.uint64(64) - length)


@kernel
def _write_keys(boards: NDArray[np.int8], out: NDArray[np.uint8]) -> None:
    for row in range(boards.shape[0]):
        low, high = key_words(boards[row])
        for byte in range(8):
            out[row, byte] = np.uint8((low >> np.uint64(8 * byte)) & np.uint64(255))
        out[row, 8] = np.uint8(high & np.uint64(255))
        out[row, 9] = np.uint8((high >> np.uint64(8)) & np.uint64(255))


@kernel
def _write_words(boards: NDArray[np.int8], out: NDArray[np.uint64]) -> None:
    for row in range(boards.shape[0]):
        out[row, 0], out[row, 1] = key_words(boards[row])


@kernel
def _read_side(bits: np.uint64, side: NDArray[np.int8]) -> tuple[np.uint64, int]:
    """Decode one side from the low bit on: the bits after it, and its checkers."""
    total = 0
    for i in range(25):
        n = 0
        while bits & np.uint64(1):
            n += 1
            bits >>= np.uint64(1)
        bits >>= np.uint64(1)
        side[i] = n
        total += n
    return bits, total


@kernel
def _read_key(key: NDArray[np.uint8], board: NDArray[np.int8]) -> int:
    """Decode one key; its fault (index into ``_FAULTS``)."""
    low = np.uint64(0)
    for byte in range(8):
        low |= np.uint64(key[byte]) << np.uint64(8 * byte)
    high = np.uint64(key[8]) | (np.uint64(key[9]) << np.uint64(8))
    low, total = _read_side(low, board[0])  # at most 40 of its bits
    if total > 15:
        return 1
    rest, total = _read_side(low | (high << np.uint64(39 - total)), board[1])
    if total > 15:
        return 1
    if rest:
        return 3
    for i in range(24):
        if board[0, i] > 0 and board[1, 23 - i] > 0:
            return 2
    return 0


@kernel
def _read_keys(keys: NDArray[np.uint8], out: NDArray[np.int8]) -> tuple[int, int]:
    """Decode; row and fault of the first bad key, (-1, 0) when all are fine."""
    for row in range(keys.shape[0]):
        fault = _read_key(keys[row], out[row])
        if fault:
            return row, fault
    return -1, 0


def position_keys(boards: ArrayLike) -> NDArray[np.uint8]:
    """``uint8[N, 10]`` keys of ``[N, 2, 25]`` boards. Raises RaccoonError naming the first bad row."""
    array = as_boards(boards)
    check(array)
    out = np.empty((len(array), 10), np.uint8)
    _write_keys(array, out)
    return out


def position_words(boards: ArrayLike) -> NDArray[np.uint64]:
    """``uint64[N, 2]``: bits 0..63 and 64..79 of the keys of valid ``[N, 2, 25]`` boards, for hashing and comparing."""
    array = as_boards(boards)
    out = np.empty((len(array), 2), np.uint64)
    _write_words(array, out)
    return out


def row_keys(row: ArrayLike, boards: ArrayLike) -> NDArray[np.bytes_]:
    """``S14[N]``: one byte string for each pair of a row number (below 2**32) and a board.

    Equal exactly for equal pairs; they sort by row, then by ascending position key.
    """
    head = np.asarray(row).astype(">u4").view(np.uint8).reshape(-1, 4)
    return np.concatenate([head, position_keys(boards)], axis=1).view("S14").reshape(-1)


def from_position_keys(keys: ArrayLike) -> Boards:
    """``int8[N, 2, 25]`` boards of ``uint8[N, 10]`` keys. Raises RaccoonError naming the first key that is no board."""
    array = np.ascontiguousarray(as_array(keys, "position keys"))
    if array.ndim != 2 or array.shape[1] != 10 or array.dtype != np.uint8:
        raise RaccoonError(f"position keys: {array.dtype}{list(array.shape)} instead of uint8[N, 10]")
    out = np.empty((len(array), 2, 25), np.int8)
    row, fault = _read_keys(array, out)
    if row >= 0:
        raise RaccoonError(f"position keys: row {row} ({array[row].tobytes().hex()}) is no board: {_FAULTS[fault]}")
    return out


def position_key(board: ArrayLike) -> bytes:
    """The 10 bytes of one ``[2, 25]`` board. Raises RaccoonError on a bad board."""
    return position_keys(as_board(board)[None])[0].tobytes()


def from_position_key(key: bytes) -> Boards:
    """``int8[2, 25]`` of a 10-byte key. Raises RaccoonError naming the key and its fault."""
    if not isinstance(key, bytes | bytearray):
        raise RaccoonError(f"position key {quoted(key)}: {type(key).__name__} instead of bytes")
    if len(key) != 10:
        raise RaccoonError(f"position key {quoted(key)}: {len(key)} bytes instead of 10")
    return from_position_keys(np.frombuffer(key, np.uint8)[None])[0]


def position_id(board: ArrayLike) -> str:
    """The 14-character Position ID of one ``[2, 25]`` board. Raises RaccoonError on a bad board."""
    return base64.b64encode(position_key(board)).decode().rstrip("=")


def from_position_id(text: str) -> Boards:
    """``int8[2, 25]`` of a Position ID. Raises RaccoonError naming the text and its fault."""
    if not isinstance(text, str):
        raise RaccoonError(f"Position ID {quoted(text)}: {type(text).__name__} instead of a text")
    if len(text) != 14:
        raise RaccoonError(f"Position ID {quoted(text)}: {len(text)} characters instead of 14")
    try:
        key = base64.b64decode(text + "==", validate=True)
    except (binascii.Error, ValueError) as error:
        raise RaccoonError(f"Position ID {quoted(text)}: characters outside the base64 alphabet") from error
    if base64.b64encode(key).decode().rstrip("=") != text:
        raise RaccoonError(f"Position ID {quoted(text)}: its last character holds more than 80 bits")
    out = np.empty((1, 2, 25), np.int8)
    row, fault = _read_keys(np.frombuffer(key, np.uint8)[None], out)
    if row >= 0:
        raise RaccoonError(f"Position ID {quoted(text)} is no board: {_FAULTS[fault]}")
    return out[0]

"""Damaged match files: refused with a message or read in part, never a crash, never a line that is lost without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.matches import Match, mat_text, parse_match
from raccoon.matches.formats.text import decode
from raccoon.rng import generator

FILES = sorted((Path(__file__).parents[1] / "golden" / "matches").iterdir())
SMALL = [path for path in FILES if path.stat().st_size < 2500]


def damaged(data: bytes, draw: np.random.Generator) -> bytes:
    """A few bytes changed, taken out or doubled."""
    out = bytearray(data)
    for _ in range(int(draw.integers(1, 4))):
        at = int(draw.integers(len(out)))
        kind = int(draw.integers(4))
        if kind == 0:
            out[at] = int(draw.integers(256))
        elif kind == 1:
            del out[at : at + int(draw.integers(1, 30))]
        elif kind == 2:
            out[at:at] = out[max(at - 20, 0) : at]
        else:
            out[at:at] = draw.choice([b"9" * 6000, b"????", b" Doubles => 2", b"(", b"]", b"\n", b" 31: 8/5", b"Wins 3 points"])
        if not out:
            return bytes(out)
    return bytes(out)


def check(data: bytes) -> int:
    """1 where the text is refused in strict reading; then tolerant reading says why, or refuses it as no match at all."""
    text = decode(data)
    try:
        match: Match = parse_match(text, "f")
    except RaccoonError as error:
        try:
            assert parse_match(text, "f", strict=False).faults
        except RaccoonError as other:
            assert str(other) == str(error)  # noqa: PT017
        return 1
    assert parse_match(mat_text(match, names=False), "f").games == match.games
    return 0


@pytest.mark.parametrize("rounds", [40, pytest.param(3000, marks=pytest.mark.slow)])
def test_damaged_files_are_refused_or_read(rounds: int) -> None:
    draw = generator(7, "damaged matches", rounds)
    refused = sum(check(damaged(SMALL[number % len(SMALL)].read_bytes(), draw)) for number in range(rounds))
    assert 0 < refused < rounds

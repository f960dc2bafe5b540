"""GNU Backgammon itself reads what we write: the ``gnubg`` package in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from raccoon.matches import Match, mat_text, read_match

MATCHES = Path(__file__).parents[1] / "golden" / "matches"
CODE = """
import sys
import gnubg
for command in ("set threads 1", "set display off", "set confirm new off", "set confirm save off", "set automatic game off"):
    gnubg.command(command)
gnubg.command(f"import mat {sys.argv[1]}")
gnubg.command(f"save match {sys.argv[2]}")
"""
NAMES = [
    "doubles_and_takes.mat",
    "gnubg_match_3.mat",
    "gnubg_match_5.mat",
    "gnubg_money_session.mat",
    "xg_export.txt",
    "jellyfish.txt",
    "beavers.txt",
]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("gnubg") is None, reason="the package gnubg is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_gnubg_reads_our_match_text_as_the_same_match(tmp_path: Path, name: str) -> None:
    match = read_match(MATCHES / name)
    ours, theirs = tmp_path / "ours.mat", tmp_path / "theirs.sgf"
    ours.write_text(mat_text(match))
    subprocess.run([sys.executable, "-c", CODE, str(ours), str(theirs)], check=True, capture_output=True, timeout=120)
    assert stripped(read_match(theirs)) == stripped(match)


def stripped(match: Match) -> Match:
    """Without names and rules, which SGF has and match text has not."""
    return replace(match, names=("", ""), jacoby=False)

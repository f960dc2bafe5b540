"""search.py match=FILE: the table, the files, what it refuses, and that it goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli.program.composing import compose
from raccoon.cli.search import _job
from raccoon.config.instantiate import plain
from raccoon.contracts import RaccoonError

SHORT = (
    " 5 point match\n\n Game 1\n Hazel : 0                      Rowan : 0\n  1) 42: 8/4 6/4                 63: 24/15\n"
    "  2)  Doubles => 2                Takes\n  3) 53: 8/3 6/3                 41: 15/10\n      Wins 4 points\n"
)


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    return plain(compose("search", ["player=gnubg0"]))


def ask(config: dict[str, Any], **values: Any) -> None:
    _job(config | {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}, None)


@pytest.fixture
def match(tmp_path: Path) -> Path:
    path = tmp_path / "short.mat"
    path.write_text(SHORT)
    return path


def test_a_match_is_analysed_and_goes_on_where_it_stopped(
    config: dict[str, Any], match: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    ask(config, match=match, out=out)
    told = capsys.readouterr().out
    assert "game 1, 0-0 of 5" in told
    assert "White" in told
    assert "Hazel" not in told
    whole = (out / "short.mat.json").read_bytes()
    document = json.loads(whole)
    assert [row["done"] for row in document["decisions"] if row["kind"] == "cube"] == ["no double", "double", "no double"]
    assert [row["player"] for row in document["players"]] == ["White", "Black"]
    assert "Hazel" not in (out / "short.mat.html").read_text()

    lines = (out / "short.mat.jsonl").read_bytes().splitlines(keepends=True)
    (out / "short.mat.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])  # killed while it wrote
    ask(config, match=match, out=out)
    assert (out / "short.mat.json").read_bytes() == whole

    other = config | {"player": config["player"] | {"name": "another judge"}}
    with pytest.raises(RaccoonError, match="made by another player"):
        ask(other, match=match, out=out)


def test_a_folder_gives_a_table_a_player(config: dict[str, Any], match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (match.parent / "second.mat").write_text(
        SHORT.replace("Hazel : 0         ", "Rowan : 0         ").replace("Rowan : 0\n", "Elder : 0\n")
    )
    ask(config, match=match.parent, names=True)
    last = capsys.readouterr().out.strip().splitlines()[-4:]
    assert last[0].split()[:3] == ["player", "matches", "decisions"]
    assert [line.split()[:2] for line in last[1:]] == [["Rowan", "2"], ["Elder", "1"], ["Hazel", "1"]]


def test_json_is_one_document(config: dict[str, Any], match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(config, match=match, json=True, names=True)
    document = json.loads(capsys.readouterr().out)
    assert [row["player"] for row in document["players"]] == ["Hazel", "Rowan"]


def test_bad_files_and_keys_are_refused(config: dict[str, Any], match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match.write_text(SHORT.replace("8/3 6/3", "8/2 6/3"))
    with pytest.raises(RaccoonError, match=r"short\.mat, line 7: .*not a legal play"):
        ask(config, match=match)
    with pytest.raises(RaccoonError, match="1 line left out"):
        ask(config, match=match, strict=False)
    told = capsys.readouterr()
    assert "line 7: turn '8/2 6/3' with 5-3: not a legal play" in told.err
    assert "double" in told.out
    for values, reason in (
        ({"dice": "31"}, "dice: match=FILE analyses a whole match"),
        ({"strict": "no"}, "strict='no': give true or false"),
        ({"out": match}, "is a file"),
        ({"out": "/dev/full"}, "out=/dev/full: is a file"),
        ({"out": match / "below", "strict": False}, "below: cannot be made a folder"),
    ):
        with pytest.raises(RaccoonError, match=reason):
            ask(config, match=match, **values)


def test_a_file_of_a_folder_that_is_no_match_is_named_once(config: dict[str, Any], match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (match.parent / "other.mat").write_bytes(b"\x00\xff" * 100)
    with pytest.raises(RaccoonError, match="1 line left out"):
        ask(config, match=match.parent, strict=False)
    assert f"{match.parent / 'other.mat'}, line 1: neither match text" in capsys.readouterr().err


def test_json_has_the_faults_of_files_without_games(config: dict[str, Any], match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    go = match.parent / "go.sgf"
    go.write_text("(;FF[4]GM[1]SZ[19];B[aa])")
    for asked in (go, match.parent):
        with pytest.raises(RaccoonError, match="1 line left out"):
            ask(config, match=asked, strict=False, json=True)
        told = json.loads(capsys.readouterr().out)
        documents = told if isinstance(told, list) else [told]
        assert [one["match"] for one in documents] == ["go.sgf", "short.mat"][: len(documents)]
        assert documents[0]["faults"][0]["reason"] == "no backgammon: GM is not 6"
        assert documents[0]["decisions"] == []

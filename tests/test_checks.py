"""Checks of settings name the key and say what to give."""

from __future__ import annotations

import ast
import errno
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import raccoon
from raccoon import checks
from raccoon.checks import number, quoted, whole
from raccoon.cli.program.app import plain_main
from raccoon.config.arguments import check_arguments
from raccoon.contracts import RaccoonError
from raccoon.cube.state import owner_codes
from raccoon.env.board import START
from raccoon.env.notation import parse_turn
from raccoon.env.position_ids import from_position_id, from_position_key, from_xgid
from raccoon.eval.benchmark import exchange as benchmark_json
from raccoon.search.analysis.questions import read_question


@pytest.mark.parametrize("wrong", [True, None, "1", math.nan, math.inf, -0.1, 1.1, [0.5]])
def test_what_is_no_number_in_the_range_is_refused(wrong):
    with pytest.raises(RaccoonError, match=r"search\.gate=.*: give points from 0 to 1"):
        number("search.gate", wrong, "points from 0 to 1", most=1.0)


def test_the_ends_of_the_range():
    assert [number("key", value, "one", most=1.0) for value in (0, 0.5, 1)] == [0.0, 0.5, 1.0]
    with pytest.raises(RaccoonError, match="key=0: give more"):
        number("key", 0, "more", above=True)


@pytest.mark.parametrize("wrong", [True, None, "1", 1.0, 0, math.nan])
def test_what_is_no_whole_number_is_refused(wrong):
    with pytest.raises(RaccoonError, match=r"key=.*: give a whole number, 1 or more"):
        whole("key", wrong, 1)


def test_what_is_quoted_is_short():
    endless: list[Any] = []
    endless.append(endless)
    for _ in range(5000):
        endless = [endless]
    assert quoted("a") == "'a'"
    assert quoted("\ud800") == "'\\ud800'"
    for value in ("x" * 10**7, b"\xff" * 10**7, 10**5000, list(range(10**5)), {"k" * 10**6: 1}, endless):
        assert len(quoted(value)) <= 80


LONG = "7" * 10**7


@pytest.mark.parametrize(
    "use",
    [
        from_xgid, from_position_id, read_question, owner_codes, lambda text: from_position_key(text.encode()),
        lambda text: from_xgid(f"XGID=-b----E-C---eE---c-e----B-:0:0:1:{text}:0:0:0:0:10"),
        lambda text: from_xgid(f"XGID=-b----E-C---eE---c-e----B-:{text}:0:1:00:0:0:0:0:10"),
        lambda text: parse_turn(START, (3, 1), text), lambda text: whole("key", text, 1), lambda text: number("key", text, "less"),
        lambda text: check_arguments(whole, {"least": text}),
        lambda text: benchmark_json.parse({"decisions": [{"kind": text, "key": text}]}, "file"),
    ],
)  # fmt: skip
def test_messages_do_not_echo_ten_megabytes(use: Callable[[str], Any]) -> None:
    with pytest.raises(RaccoonError) as caught:
        use(LONG)
    assert len(str(caught.value)) < 400


def test_no_message_is_endless() -> None:
    message = str(RaccoonError(f"start {LONG} end"))
    assert (message[:7], message[-4:], len(message) < 4000) == ("start 7", " end", True)


def test_every_error_message_quotes_by_the_one_helper() -> None:
    root = Path(raccoon.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "!r}" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "RaccoonError":
                found = [part for part in ast.walk(node) if isinstance(part, ast.FormattedValue) and part.conversion == ord("r")]
                named = [part for part in found if not (isinstance(part.value, ast.Name) and part.value.id.isupper())]
                where = f"{path.relative_to(root)}, line {node.lineno}"
                assert all(isinstance(part.value, ast.Subscript) for part in named), f"{where}: quote input by raccoon.checks.quoted"


@pytest.mark.parametrize("wrong", [None, 3, "", "a\0b", "x" * 5000, "a/" + "ä" * 200, "a/" * 2500])
def test_what_is_no_path_is_refused_in_one_short_line(wrong: Any) -> None:
    with pytest.raises(RaccoonError, match=r"paths\.run_dir=.*: give a (shorter )?path") as caught:
        checks.path("paths.run_dir", wrong)
    assert len(str(caught.value)) < 250
    checks.path("paths.run_dir", "/tmp/" + "x" * 255)


def test_programs_show_long_words_without_their_middle(capsys: pytest.CaptureFixture[str]) -> None:
    def run(_: list[str]) -> str:
        raise RaccoonError(f"{'x' * 5000}/end: no such file")

    with pytest.raises(SystemExit):
        plain_main(run)
    told = capsys.readouterr().err
    assert len(told) < 250
    assert "xxx..." in told
    assert told.endswith("x/end: no such file\n")


def test_programs_without_a_config_tell_of_a_disk_that_a_library_could_not_use(capsys: pytest.CaptureFixture[str]) -> None:
    def run(_: list[str]) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", "cache/table.npy")

    with pytest.raises(SystemExit) as end:
        plain_main(run)
    assert end.value.code == 2
    told = "error: cache/table.npy: cannot be written (Permission denied); free some space or name another folder\n"
    assert capsys.readouterr().err == told

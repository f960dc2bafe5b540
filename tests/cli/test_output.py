"""What programs do where standard output is closed, full, unread or lacks characters."""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raccoon.cli.program import output
from raccoon.cli.program.app import main


@contextlib.contextmanager
def unread() -> Iterator[None]:
    """Standard output is a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
        yield


def test_a_program_ends_quietly_when_its_reader_has_gone(capfd: pytest.CaptureFixture[str]) -> None:
    reached = []
    with unread(), pytest.raises(SystemExit) as end, output.guarded(keeps=False):
        reached += [print("a line"), print("another one", flush=True), "the end"]
    assert end.value.code == 141
    assert not reached
    assert capfd.readouterr().err == ""


def test_a_run_goes_on_when_its_reader_has_gone(capfd: pytest.CaptureFixture[str]) -> None:
    reached = []
    with unread(), output.guarded(keeps=True):
        logging.StreamHandler(sys.stdout).emit(logging.makeLogRecord({"msg": "a log line"}))
        reached += [print("a line"), print("another one", flush=True), "the end"]
    assert reached[-1] == "the end"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["show", "--help"], ["one", "two", "-h"]])
@pytest.mark.parametrize("name", ["bearoff", "benchmark", "collect", "export"])
def test_help_of_a_program_without_a_config_is_no_error(name: str, words: list[str]) -> None:
    program = importlib.import_module(f"raccoon.cli.{name}")
    assert program.run(words).replace("`", "").startswith(f"usage: python -m raccoon.cli.{name}")


def test_help_without_a_reader() -> None:
    with unread():
        main("evaluate", lambda config, run: None, ["--help"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("keeps", [False, True])
def test_a_full_standard_output_is_told(keeps: bool, capfd: pytest.CaptureFixture[str]) -> None:
    full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115
    with full, contextlib.redirect_stdout(full), pytest.raises(SystemExit) as end, output.guarded(keeps):
        print("a line")  # in the buffer still
    assert end.value.code == 2
    assert capfd.readouterr().err.startswith("error: standard output: cannot be written (No space left on device)")


def test_characters_that_the_terminal_lacks() -> None:
    kept = io.BytesIO()
    terminal = io.TextIOWrapper(kept, encoding="ascii", errors="strict")
    with contextlib.redirect_stdout(terminal), output.guarded(keeps=False):
        print("0.1 ±0.02 │")
    assert kept.getvalue() == b"0.1 ?0.02 ?\n"


def test_the_error_of_a_program_comes_before_that_of_its_output() -> None:
    with unread(), pytest.raises(SystemExit) as end, output.guarded(keeps=False):
        sys.exit(print("in the buffer") or 2)
    assert end.value.code == 2

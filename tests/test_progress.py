"""Progress: units done, their rate and the time left, from within shards, whatever runs them."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import pytest

from raccoon import progress
from raccoon.executor import ProcessExecutor, Work, shard_size
from raccoon.progress import Meter, advance, expect, reporting, track


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_units_are_counted_within_shards_and_give_a_rate_and_the_time_left(clock: list[float]) -> None:
    board = [0, 0] * 3
    meter = Meter(Work("arena", "games", [100, 100, 100, 50]), [1, 2, 3], board, enabled=False)
    assert meter.text() == "100 of 350 games"  # an earlier run did the first shard
    clock[0] += 4
    board[1] = 20
    meter.text()
    clock[0] += 10
    board[1], board[3] = 60, 40
    assert meter.text() == "200 of 350 games, 8.0 games/s, 19 s left"
    meter.finish(0)
    meter.finish(2)
    assert meter.amounts() == (100 + 100 + 40 + 50, 350)


def test_what_nobody_knows_beforehand_is_estimated_from_the_shards_that_do(clock: list[float]) -> None:
    board = [0, 0] * 4
    meter = Meter(Work("labels", "rows"), range(4), board, enabled=False)
    assert meter.amounts() == (0, None)
    assert meter.text() == "0 rows"
    clock[0] += 2
    with reporting(board, 2):
        expect(1000)
        advance(250)
        advance(250)
    assert meter.amounts() == (500, 4000)
    assert meter.text() == "500 of 4,000 rows, 250 rows/s, 14 s left"
    meter.finish(2)
    assert meter.amounts() == (1000, 4000)
    with reporting(board, 2):  # its worker died: it runs again
        advance(1)
    assert board[4:6] == [0, 1]


def test_slow_units_say_how_long_each_takes(clock: list[float]) -> None:
    board = [0, 0]
    meter = Meter(Work("rollouts", "positions", [10]), [0], board, enabled=False)
    meter.text()
    clock[0] += 300
    board[1] = 2
    assert meter.text() == "2 of 10 positions, 150 s each, 20 min left"


def plays(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    for _ in range(5):
        advance(2)
    return {"index": index}


def slow_plays(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    advance(3)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not job["stop"].exists():
        time.sleep(0.01)
    return {}


def test_shards_that_nobody_listens_to_may_report() -> None:
    assert plays({}, 3) == {"index": 3}


def test_log_lines_off_a_terminal_speak_of_units(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Any) -> None:
    monkeypatch.setattr(progress, "_FIRST_S", 0.01)
    caplog.set_level(logging.INFO)
    stop = tmp_path / "stop"

    class Stopper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "7 of 12 games" in record.getMessage():
                stop.touch()

    logging.getLogger("raccoon.progress").addHandler(handler := Stopper())
    try:
        list(ProcessExecutor(0).map(slow_plays, {"stop": stop}, [1], Work("arena", "games", [4, 8])))
    finally:
        logging.getLogger("raccoon.progress").removeHandler(handler)
    assert stop.exists(), "no line told of the games within the shard"
    assert "arena: 7 of 12 games, " in caplog.text


def test_nothing_is_logged_of_what_is_over_at_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert list(track(range(3), 3, "cost model", "searches")) == [0, 1, 2]
    assert dict(ProcessExecutor(0).map(plays, {}, [1, 0], Work("arena"))) == {0: {"index": 0}, 1: {"index": 1}}
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("units", "most", "least", "size"),
    [(200, 250, 16, 16), (6000, 250, 16, 94), (60_000, 250, 16, 250), (6, 3, 16, 3), (60, 4, 1, 1), (500, 4, 1, 4), (0, 4, 1, 1)],
)
def test_small_jobs_have_shards_for_many_cores(units: int, most: int, least: int, size: int) -> None:
    assert shard_size(units, most, least) == size

"""Early stopping: which epochs it counts, that a continued run counts on, and what it refuses before any work."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.datamodule import PositionData
from raccoon.runs.folder import Run
from raccoon.train.callbacks.benchmark_pr import BenchmarkPR
from raccoon.train.callbacks.seldom import SeldomMeasured
from raccoon.train.run import train

Trained = Callable[..., list[float]]
PR = {"_target_": "raccoon.train.BenchmarkPR", "every": 2}


def stopping(**settings: Any) -> dict[str, Any]:
    return {"_target_": "raccoon.train.EarlyStopping", "monitor": "val/pr", "mode": "min", "patience": 2, **settings}


@pytest.fixture
def trained(make_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trained:
    """The PR of every epoch of a run, whose scores are given (by number of the score, across interruptions)."""
    scores: Iterator[float] = iter([])
    monkeypatch.setattr("raccoon.train.callbacks.benchmark_pr.static_pr", lambda engine, decisions: next(scores))

    def run(given: list[float] | None, epochs: int, resumed: bool = False, **callbacks: Any) -> list[float]:
        nonlocal scores
        scores = scores if given is None else iter(given)
        config = make_config(max_epochs=epochs, schedule="constant")
        config["callbacks"] = callbacks
        report = train(config, Run(tmp_path, "train", resumed, config))
        rows = json.loads(report.read_text())["tables"]["epochs"]
        report.unlink()  # as if the run had died before its summary
        return [row["val/pr"] for row in rows]

    return run


def test_epochs_that_carry_the_old_score_do_not_count(trained: Trained) -> None:
    """Epochs 1, 2, 4, 6 and 8 are scored. Counting every epoch ends after the fourth."""
    assert trained([9.0, 8.0, 8.5, 7.0, 7.5, 7.25, 6.0], 20, pr=PR, stop=stopping()) == [9, 8, 8, 8.5, 8.5, 7, 7, 7.5, 7.5, 7.25]


def test_a_continued_run_counts_on_and_a_stopped_one_only_ends(trained: Trained) -> None:
    scores = [9.0, 8.0, 8.5, 8.25, 1.0]
    assert trained(scores, 4, pr=PR, stop=stopping()) == [9, 8, 8, 8.5]
    whole = [9, 8, 8, 8.5, 8.5, 8.25]
    assert trained(None, 20, True, pr=PR, stop=stopping()) == whole
    assert trained(None, 20, True, pr=PR, stop=stopping()) == whole


def test_figures_of_every_epoch_count_in_every_epoch(make_config: Any, tmp_path: Path) -> None:
    config = make_config(max_epochs=6)
    config["callbacks"] = {"stop": stopping(monitor="val/r2", mode="min", patience=1)}  # it gets better, so that min is the wrong way
    train(config, Run(tmp_path, "train", False, config))
    assert len(list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))) < 6


PREVIOUS = {"_target_": "raccoon.train.PreviousNet", "every": 10}


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        ({"stop": stopping()}, r"callbacks\.stop\.monitor=val/pr: is logged by callbacks\.pr, which is not there"),
        ({"stop": stopping(monitor="val/vr_ppg")}, r"callbacks\.stop\.monitor=val/vr_ppg: is logged by callbacks\.vr"),
        ({"pr": PR, "stop": stopping(patience=-1)}, r"callbacks\.stop\.patience=-1: give a whole number, 0 or more"),
        ({"pr": PR, "stop": stopping(mode="low")}, r"callbacks\.stop: `mode` can be min, max, got low"),
        ({"pr": PR, "stop": stopping(monitor="val/prr")}, r"callbacks\.stop\.monitor=val/prr: is not measured .* val/mse, val/pr, val/r2$"),
        (
            {"previous": PREVIOUS, "stop": stopping(monitor="val/v_previous")},
            r"callbacks\.stop\.monitor=val/v_previous: is measured every 10 epochs, and trainer\.max_epochs=4 .*callbacks\.previous\.every",
        ),
    ],
)
def test_what_cannot_stop_a_run_is_refused_before_labels_are_made(
    make_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, callbacks: dict[str, Any], message: str
) -> None:
    config = make_config(max_epochs=4) | {"callbacks": callbacks}
    monkeypatch.setattr(PositionData, "prepare_data", lambda _: pytest.fail("labels were asked for"))
    with pytest.raises(RaccoonError, match=message):
        train(config, Run(tmp_path, "train", False, config))


def test_a_figure_of_an_epoch_that_nobody_logs_is_named(make_config: Any, tmp_path: Path) -> None:
    config = make_config(max_epochs=2) | {"callbacks": {"stop": stopping(monitor="train/losss")}}
    with pytest.raises(RaccoonError, match=r"monitor=train/losss.*train/loss"):
        train(config, Run(tmp_path, "train", False, config))


@pytest.mark.parametrize("state", [{"last": 3.5}, {"last": [3.5], "measured_in": 4}])
def test_states_of_now_and_of_before_are_read(state: dict[str, Any]) -> None:
    callback: SeldomMeasured = BenchmarkPR(every=2)
    callback.load_state_dict(state)
    assert callback.state_dict() == {"last": [3.5], "measured_in": state.get("measured_in", -1)}

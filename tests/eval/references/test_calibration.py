"""Calibration of the six chances: against references that are the engine's own, and against gnubg_nn and numpy by hand."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError, Report
from raccoon.engine import GnubgEngine
from raccoon.engine.outcomes import five_from_six, flip
from raccoon.env.board import terminal_points
from raccoon.eval.benchmark import compact
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import load
from raccoon.eval.references.calibration import CHANCES, Calibration
from raccoon.executor import ProcessExecutor

gnubg_nn: Any = importlib.import_module("gnubg_nn")
HERE = ProcessExecutor(0, progress=False)
GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}


@pytest.fixture(scope="module")
def two_games() -> Benchmark:
    benchmark = load()
    return replace(benchmark, checker=benchmark.checker.first_games(2))


def measured(source: Any, folder: Path, **settings: Any) -> Report:
    return Calibration(HERE, benchmark=str(source), bootstrap=200, **settings).run(GNUBG, None, folder, 1)


def test_an_engine_is_calibrated_to_itself(two_games: Benchmark, tmp_path: Path) -> None:
    own = five_from_six(flip(GnubgEngine(ply=0).probs6(two_games.checker.children)))
    compact.write(replace(two_games, checker=replace(two_games.checker, probs5=own)), tmp_path / "own.npz.xz")
    report = measured(tmp_path / "own.npz.xz", tmp_path / "run")
    for row in report.tables["The six chances"]:
        assert abs(row["bias"].value) < 2e-5
        assert row["RMS error"] < 1e-4
        assert row["slope"] == pytest.approx(1, abs=2e-3)


def test_figures_are_those_of_gnubg_nn_and_numpy(two_games: Benchmark, tmp_path: Path) -> None:
    report = measured("embedded", tmp_path, games=2, bins=4)
    checker = two_games.checker
    going_on = np.flatnonzero(terminal_points(checker.children) == 0)
    assert len(going_on) == len(checker.children)
    five = np.array([gnubg_nn.probabilities(board.tolist(), 0) for board in checker.children])  # the opponent's, who is on roll
    lost_gammons, lost_backgammons = five[:, 1] - five[:, 2], five[:, 2]
    wanted = {
        "gammon loss": (lost_gammons, checker.probs5[:, 3] - checker.probs5[:, 4]),
        "backgammon loss": (lost_backgammons, checker.probs5[:, 4]),
        "single win": (1 - five[:, 0] - five[:, 3], checker.probs5[:, 0] - checker.probs5[:, 1]),
    }
    rows = {row["chance"]: row for row in report.tables["The six chances"] if row["candidates"] == "all"}
    assert tuple(rows) == CHANCES
    for chance, (given, reference) in wanted.items():
        assert rows[chance]["given"] == pytest.approx(given.mean(), abs=2e-5)
        assert rows[chance]["bias"].value == pytest.approx((given - reference).mean(), abs=3e-5)
        assert rows[chance]["RMS error"] == pytest.approx(np.sqrt(np.mean((given - reference) ** 2)), abs=1e-4)
        assert rows[chance]["slope"] == pytest.approx(np.polyfit(given, reference, 1)[0], abs=5e-3)
    best = {row["chance"]: row for row in report.tables["The six chances"] if row["candidates"] == "best"}
    assert all(row["bias"].n == len(checker) for row in best.values())


def test_groups_hold_every_candidate_once(two_games: Benchmark, tmp_path: Path) -> None:
    report = measured("embedded", tmp_path, games=2, bins=4)
    for chance in CHANCES:
        rows = [row for row in report.tables["By the chance that is given"] if row["chance"] == chance]
        assert sum(row["candidates"] for row in rows) == len(two_games.checker.children)
        assert all(row["from"] <= row["given"] <= row["to"] for row in rows)


def test_an_engine_without_chances_is_refused(tmp_path: Path) -> None:
    player = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.NetEngine.load", "path": "prune"}}
    with pytest.raises(RaccoonError, match="six chances"):
        Calibration(HERE, games=1).run(player, None, tmp_path, 1)
    for bins in (0, 101):
        with pytest.raises(RaccoonError, match=r"evaluator\.bins"):
            Calibration(HERE, bins=bins)


def test_the_report_names_the_engine_and_not_the_search_that_plays_no_part(tmp_path: Path) -> None:
    search = {"_target_": "raccoon.search.Expectimax", "ply": 1}
    settings: dict[str, Any] = {"games": 1, "bootstrap": 20}
    assert Calibration(HERE, **settings).run(GNUBG | {"search": search}, None, tmp_path / "searched", 1).player == "gnubg0"
    assert Calibration(HERE, **settings).run(GNUBG | {"name": "mine"}, None, tmp_path / "named", 1).player == "mine"

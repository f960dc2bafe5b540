"""The variance-reduced arena: the same result for any workers, games at a time and luck setting; resumable; honest intervals."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats

from raccoon import stats as intervals
from raccoon.contracts import Evaluator, RaccoonError
from raccoon.eval.arena.figures import Sample, luck_figures, result_figures, sample
from raccoon.eval.arena.games import MatchPlan, Played, luck_switch, match_shard
from raccoon.eval.arena.vr_arena import VRArena
from raccoon.executor import ProcessExecutor
from raccoon.report import report_files as reports
from raccoon.rng import generator

GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
RANDOM = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}
HERE = ProcessExecutor(workers=0, progress=False)


def shard(opponent=None, index=0, **plan):
    job = {"player": GNUBG, "opponent": opponent or GNUBG, "seed": 2, "plan": vars(MatchPlan(**{"games": 5, **plan}))}
    result = match_shard(job, index)
    return {key: value for key, value in result.items() if key != "seconds"}


def test_results_do_not_depend_on_concurrency_or_luck():
    reference = shard(RANDOM)
    for concurrent in (1, 7):
        again = shard(RANDOM, concurrent=concurrent)
        for key in ("games", "points", "rolls", "capped", "luck"):
            assert (again[key] == reference[key]).all(), key
    off = shard(RANDOM, luck=False)
    assert (off["points"] == reference["points"]).all()
    assert (off["rolls"] == reference["rolls"]).all()
    assert not off["luck"].any()
    assert reference["luck"].all()


def test_shards_join_to_the_whole():
    whole = shard(games=5)
    parts = [shard(games=5, shard_games=2, index=index) for index in range(3)]
    for key in ("games", "points", "rolls", "luck"):
        assert (np.concatenate([part[key] for part in parts]) == whole[key]).all()


def test_blocks_of_stratified_openings_are_the_units_of_luck_and_the_sd_ratio():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=1200) + np.repeat(rng.normal(size=20), 60)
    games = Sample(luck + rng.normal(size=1200) * np.repeat(rng.uniform(0.1, 1.0, 20), 60), luck, np.repeat(np.arange(20), 60))
    apart = intervals.sd_ratio_bootstrap(games.points, games.reduced, generator(1, "sd ratio bootstrap"))
    figures = luck_figures(games, 1)
    luck_ci, ratio = figures["mean_luck"], figures["sd_ratio"]
    assert luck_ci.hi is not None
    assert figures["mean_luck_t"].value == pytest.approx(luck_ci.value / (luck_ci.hi - luck_ci.value) * stats.t.ppf(0.975, 19))
    assert ratio.value == pytest.approx(apart.value)
    assert None not in (ratio.lo, ratio.hi, apart.lo, apart.hi)
    assert ratio.hi - ratio.lo > 1.5 * (apart.hi - apart.lo)  # type: ignore[operator]


def test_report_and_files(tmp_path):
    arena = VRArena(HERE, games=20, shard_games=5)
    assert isinstance(arena, Evaluator)
    report = arena.run(GNUBG, GNUBG, tmp_path, seed=1)
    figures = report.figures
    rows = list(csv.DictReader((tmp_path / "games.csv").read_text().splitlines()))
    points, luck = (np.array([float(row[key]) for row in rows]) for key in ("points", "luck"))
    assert [int(row["game"]) for row in rows] == list(range(20))
    assert [int(row["seat"]) for row in rows] == [0, 1] * 10
    assert figures["ppg_raw"].value == pytest.approx(points.mean())
    assert figures["ppg_vr"].value == pytest.approx((points - luck).mean())
    half = 2.0930241 * (points - luck).std(ddof=1) / np.sqrt(20)
    assert figures["ppg_vr"].hi == pytest.approx(figures["ppg_vr"].value + half, abs=1e-6)
    assert figures["sd_ratio"].value == pytest.approx(points.std(ddof=1) / (points - luck).std(ddof=1))
    assert figures["sd_ratio"].value > 4
    assert figures["correlation"].value > 0.97
    assert figures["games_equivalent"].value == pytest.approx(figures["sd_ratio"].value ** 2)
    assert figures["mean_luck_t"].value == pytest.approx(luck.mean() / (luck.std(ddof=1) / np.sqrt(20)))
    assert {name for name in figures if "second" in name or "faster" in name} == {"seconds_per_game", "games_per_second"}
    assert figures["capped_games"].value == 0
    assert figures["evaluations_player"].value > 10_000
    assert sum(row["games"] for row in report.tables["outcomes"]) == 20
    reports.write(report, tmp_path)
    assert {"convergence.png", "luck.png", "outcomes.csv", "games.csv"} <= set(report.files)
    assert all((tmp_path / name).stat().st_size > 100 for name in report.files)
    with pytest.raises(RaccoonError, match="already holds"):
        reports.write(report, tmp_path)


def test_interrupted_run_continues(tmp_path):
    first = VRArena(HERE, games=12, shard_games=4, luck="off").run(GNUBG, RANDOM, tmp_path / "a", 3)
    shards = tmp_path / "a" / "shards"
    stamps = {path.name: path.stat().st_mtime_ns for path in shards.glob("shard-*.npz")}
    assert len(stamps) == 3
    (shards / "shard-000001.npz").unlink()
    (shards / "shard-000002.npz").write_bytes(b"half a sha")
    again = VRArena(HERE, games=12, shard_games=4, luck="off").run(GNUBG, RANDOM, tmp_path / "a", 3)
    assert again.figures["ppg_raw"] == first.figures["ppg_raw"]
    assert "games_per_second" in first.figures
    assert "games_per_second" not in again.figures  # most of the work was done before
    assert (shards / "shard-000000.npz").stat().st_mtime_ns == stamps["shard-000000.npz"]
    with pytest.raises(RaccoonError, match="another job"):
        VRArena(HERE, games=12, shard_games=4, luck="off").run(GNUBG, RANDOM, tmp_path / "a", 4)


def test_capped_games_are_left_out(tmp_path):
    report = VRArena(HERE, games=8, turn_cap=40).run(GNUBG, GNUBG, tmp_path, 1)
    capped = int(report.figures["capped_games"].value)
    assert 0 < capped < 8
    assert report.figures["ppg_raw"].n == 8 - capped
    with pytest.raises(RaccoonError, match="turn_cap"):
        VRArena(HERE, games=2, turn_cap=1).run(GNUBG, GNUBG, tmp_path / "b", 1)


def test_stratified_openings(tmp_path):
    random = VRArena(HERE, games=8, openings="random", luck="off").run(GNUBG, RANDOM, tmp_path / "a", 1)
    even = VRArena(HERE, games=8, openings="stratified", luck="off").run(GNUBG, RANDOM, tmp_path / "b", 1)
    assert (tmp_path / "a/games.csv").read_text() != (tmp_path / "b/games.csv").read_text()
    assert random.figures["ppg_raw"].n == even.figures["ppg_raw"].n == 8


def no_cube(n):
    return np.ones(n, np.int32), np.zeros((n, 2, 3), np.int64), (0, 0)


def test_whole_strata_are_the_units_of_the_intervals():
    """Results that are equal within each block of 60 games: the interval must be that of the block means."""
    n = 60 * 24
    means = np.random.default_rng(3).integers(-3, 4, 24)
    games = np.arange(n)
    none = np.zeros(n, bool)
    played = Played(("a", "b"), games, np.repeat(means, 60), games, none, None, 1.0, None, (0, 0), *no_cube(len(games)))
    even, plain = sample(played, "stratified"), sample(played, "random")
    assert even.clusters is not None
    assert plain.clusters is None
    figure, naive = (result_figures(each)["ppg_raw"] for each in (even, plain))
    half = stats.t.ppf(0.975, 23) * means.std(ddof=1) / np.sqrt(24)
    assert figure.hi == pytest.approx(means.mean() + half)
    assert naive.hi is not None
    assert naive.hi - naive.value < half / 5
    few = Played(("a", "b"), games[:600], np.repeat(means, 60)[:600], games[:600], none[:600], None, 1.0, None, (0, 0), *no_cube(600))
    assert sample(few, "stratified").clusters is None


def test_blocks_compare_two_independent_arms(tmp_path):
    report = VRArena(HERE, blocks={"count": 4, "games": 4}).run(GNUBG, GNUBG, tmp_path, 1)
    raw, reduced = report.tables["arms"]
    assert raw["matches"] == 4
    assert raw["games each"] == 4
    ratio = report.figures["sd_ratio"]
    assert ratio.value == pytest.approx(raw["sd across matches"] / reduced["sd across matches"])
    assert ratio.value > 1.5
    assert ratio.lo is not None
    assert ratio.hi is not None
    assert ratio.lo < ratio.value < ratio.hi
    arms = [match_shard_games(tmp_path / name) for name in ("shards-raw", "shards-vr")]
    assert arms[0] == list(range(16))
    assert arms[1] == list(range(16, 32))


def match_shard_games(folder):
    games = []
    for path in sorted(folder.glob("shard-*.npz")):
        with np.load(path) as arrays:
            games += arrays["games"].tolist()
    return games


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"games": 0}, "evaluator.games=0"),
        ({"games": 2.5}, "evaluator.games=2.5"),
        ({"concurrent": 0}, "evaluator.concurrent=0"),
        ({"shard_games": -1}, "evaluator.shard_games=-1"),
        ({"turn_cap": True}, "evaluator.turn_cap=True"),
        ({"luck": "some"}, "evaluator.luck='some'"),
        ({"openings": "x"}, "evaluator.openings='x'"),
        ({"blocks": {"count": 1, "games": 5}}, "evaluator.blocks.count=1"),
        ({"blocks": {"count": 5}}, "evaluator.blocks="),
        ({"blocks": {"count": 5, "games": 5}, "luck": "off"}, "evaluator.luck=off"),
        ({"blocks": {"count": 5, "games": 5}, "report": "verdict"}, "evaluator.report=verdict"),
        ({"report": "short"}, "evaluator.report='short'"),
        ({"level": "wizard"}, "grandmaster"),
    ],
)
def test_bad_options_are_named(options, key):
    with pytest.raises(RaccoonError, match=key):
        VRArena(HERE, **options)


def test_luck_switch_and_missing_opponent(tmp_path):
    assert [luck_switch(value) for value in ("gnubg0", "on", True, "off", False)] == [True, True, True, False, False]
    with pytest.raises(RaccoonError, match="opponent"):
        VRArena(HERE, games=1).run(GNUBG, None, tmp_path, 1)


@pytest.mark.slow
def test_a_killed_run_ends_like_one_that_was_not(tmp_path):
    texts = []
    for kill in (True, False):
        folder = tmp_path / str(kill)
        sizes = ["evaluator.games=24", "evaluator.shard_games=2", "evaluator.luck=off", "executor.workers=1", f"paths.run_dir={folder}"]
        command = [sys.executable, "-m", "raccoon.cli.evaluate", "player=gnubg0", "opponent=random", *sizes]
        if kill:
            running = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while running.poll() is None and len(list(folder.glob("shards/shard-*.npz"))) < 3:
                time.sleep(0.01)
            os.killpg(running.pid, signal.SIGKILL)
            assert running.wait() == -signal.SIGKILL
            assert not (folder / "report.json").exists()
        subprocess.run(command, check=True, capture_output=True)
        texts.append((folder / "games.csv").read_text())
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_workers_change_nothing(tmp_path):
    texts = []
    for workers, concurrent in ((1, 7), (2, 256)):
        folder = tmp_path / f"{workers}"
        VRArena(ProcessExecutor(workers, progress=False), games=8, shard_games=3, concurrent=concurrent).run(GNUBG, RANDOM, folder, 5)
        texts.append((folder / "games.csv").read_text())
    assert texts[0] == texts[1]

"""The cube arena: the same games however many at a time and for any control, figures that agree with them, matches, resuming, refusals."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import Evaluator, RaccoonError, Report
from raccoon.eval.arena.cube_arena import CubeArena
from raccoon.eval.sweep.by_pr import collect
from raccoon.executor import ProcessExecutor
from raccoon.report.report_files import write

ENGINE = {"_target_": "raccoon.engine.GnubgEngine"}
GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": ENGINE}
LIVE = {**GNUBG, "name": "live", "cube": {"_target_": "raccoon.cube.Janowski", "x_contact": 1.0, "x_race": 1.0}}
HERE = ProcessExecutor(workers=0, progress=False)


def run(folder, opponent=LIVE, **settings: Any):
    given: dict[str, Any] = {"games": 12, "shard_games": 5, **settings}
    return CubeArena(HERE, **given).run(GNUBG, opponent, folder, 4)


def games(folder) -> list[dict[str, str]]:
    with (folder / "games.csv").open() as handle:
        return list(csv.DictReader(handle))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """The default run, and its folder to read or to copy."""
    folder = tmp_path_factory.mktemp("arena")
    report = run(folder)
    write(report, folder)
    return folder, report


def test_figures_come_from_the_games(played) -> None:
    assert isinstance(CubeArena(HERE), Evaluator)
    folder, report = played
    rows = games(folder)
    points = np.array([float(row["points"]) for row in rows])
    figures = report.figures
    assert figures["ppg_raw"].value == pytest.approx(points.mean())
    for name in ("cubeful", "cubeless"):
        luck = np.array([float(row[f"luck_{name}"]) for row in rows])
        assert figures[f"ppg_vr_{name}"].value == pytest.approx((points - luck).mean())
        assert figures[f"sd_vr_{name}"].value == pytest.approx((points - luck).std(ddof=1))
        assert figures[f"sd_ratio_{name}"].value == pytest.approx(points.std(ddof=1) / (points - luck).std(ddof=1))
    assert figures["ppg_vr"].value == figures["ppg_vr_cubeful"].value
    assert sum(row["games"] for row in report.tables["cube"]) == 12
    offered = sum(figures[f"doubles_per_game_{side}"].value for side in ("player", "opponent"))
    assert offered >= figures["drops_per_game"].value > 0
    assert (report.player, report.opponent) == ("gnubg0", "live")
    assert any("cap" not in note and "cube live to 1024, Jacoby off, beavers off" in note for note in report.notes)


def test_games_do_not_depend_on_concurrency_shards_or_control(played, tmp_path) -> None:
    settings = [{"concurrent": 3, "luck": True}, {"shard_games": 12}, {"luck": "cubeless"}, {"luck": "off"}, {"luck": False}]
    reports = [played[1], *(run(tmp_path / str(number), **setting) for number, setting in enumerate(settings, start=1))]
    first = [(row["points"], row["rolls"], row["cube"]) for row in games(played[0])]
    for number in (1, 2, 3):
        assert [(row["points"], row["rolls"], row["cube"]) for row in games(tmp_path / str(number))] == first
    for number in (4, 5):
        assert [(row["points"], row["rolls"]) for row in games(tmp_path / str(number))] == [row[:2] for row in first]
        assert "ppg_vr" not in reports[number].figures
    assert reports[3].figures["ppg_vr"].value == reports[0].figures["ppg_vr_cubeless"].value


def test_a_player_against_itself(tmp_path) -> None:
    report = run(tmp_path, opponent=GNUBG)
    assert report.figures["evaluations_opponent"].value == 0
    low, high = report.figures["ppg_vr"].lo, report.figures["ppg_vr"].hi
    assert low is not None
    assert high is not None
    assert low < 0 < high


def test_matches(tmp_path) -> None:
    report = run(tmp_path, match_length=3, games=6)
    assert 0 <= report.figures["match_wins"].value <= 1
    assert report.figures["match_wins"].n == 6
    assert "ppg_raw" not in report.figures
    assert {row["points"] for row in games(tmp_path)} <= {"1", "-1"}
    assert {"rolls_per_match", "drops_per_match", "matches_per_second", "capped_matches", "seconds_per_match"} <= set(report.figures)
    assert not any("game" in name for name in report.figures)
    assert report.tables == {}  # the cube of a match's last game says nothing about the others


def test_an_interrupted_run_goes_on(played, tmp_path) -> None:
    whole = played[1]
    shutil.copytree(played[0], tmp_path / "part")
    shards = sorted((tmp_path / "part" / "shards").glob("shard-*.npz"))
    assert len(shards) == 3
    shards[1].unlink()
    again = run(tmp_path / "part")
    assert again.figures["ppg_vr"] == whole.figures["ppg_vr"]
    assert "games_per_second" not in again.figures


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"jacoby": "yes"}, "evaluator.jacoby"),
        ({"beavers": 1}, "evaluator.beavers"),
        ({"cap": 3}, "evaluator.cap"),
        ({"cap": 0}, "evaluator.cap"),
        ({"luck": "gnubg0"}, "evaluator.luck"),
        ({"luck": 1}, "evaluator.luck"),
        ({"match_length": 0}, "evaluator.match_length"),
        ({"match_length": 1000}, "evaluator.match_length"),
        ({"match_length": 3, "jacoby": True}, "evaluator.match_length"),
        ({"games": 0}, "evaluator.games"),
    ],
)
def test_bad_settings_are_refused(settings, key) -> None:
    with pytest.raises(RaccoonError, match=key):
        CubeArena(HERE, **settings)


def test_a_net_that_only_knows_equities_is_refused(tmp_path) -> None:
    node = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine"}}
    with pytest.raises(RaccoonError, match="six outcome chances"):
        CubeArena(HERE, games=2).run(node, GNUBG, tmp_path, 1)


def test_a_sweep_is_collected_game_by_game(played, tmp_path) -> None:
    shutil.copytree(played[0], tmp_path / "sweep" / "0")
    write(run(tmp_path / "sweep" / "1", GNUBG, luck="cubeless"), tmp_path / "sweep" / "1")
    rows = [games(tmp_path / "sweep" / str(job)) for job in range(2)]
    values = [np.array([float(row["vr"]) for row in part]) for part in rows]
    expected = [
        np.array([float(r["points"]) - float(r[f"luck_{name}"]) for r in part])
        for part, name in zip(rows, ("cubeful", "cubeless"), strict=True)
    ]
    np.testing.assert_allclose(values, expected, atol=1e-9)
    first, second = collect(tmp_path / "sweep").tables["Sweep"]
    assert first["minus the first"] is None
    assert second["minus the first"].value == pytest.approx((values[1] - values[0]).mean())
    assert first["points per game"].value == pytest.approx(values[0].mean())
    write(run(tmp_path / "sweep" / "2", games=11), tmp_path / "sweep" / "2")
    with pytest.raises(RaccoonError, match="played other games"):
        collect(tmp_path / "sweep")
    for content in ("", "game,points\n1,2\n", "game,vr,points,capped\nx,1,1,0\n"):
        (tmp_path / "sweep" / "1" / "games.csv").write_text(content)
        with pytest.raises(RaccoonError, match=r"1/games\.csv: is damaged|played other games"):
            collect(tmp_path / "sweep")


def test_a_sweep_of_matches_is_collected(tmp_path) -> None:
    for job, length in enumerate((1, 3)):
        write(run(tmp_path / "sweep" / str(job), match_length=length, games=6), tmp_path / "sweep" / str(job))
    won = [np.array([row["points"] == "1" for row in games(tmp_path / "sweep" / str(job))]) for job in range(2)]
    first, second = collect(tmp_path / "sweep").tables["Sweep"]
    assert first["matches won"].value == pytest.approx(won[0].mean())
    assert second["minus the first"].value == pytest.approx(won[1].mean() - won[0].mean())
    write(run(tmp_path / "sweep" / "2", games=6, luck="off"), tmp_path / "sweep" / "2")
    with pytest.raises(RaccoonError, match="2: played money games"):
        collect(tmp_path / "sweep")

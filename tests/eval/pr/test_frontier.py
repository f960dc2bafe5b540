"""The frontier, the sample of decisions and the collection of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli.collect import run
from raccoon.contracts import RaccoonError
from raccoon.eval.benchmark.loader import load
from raccoon.eval.pr.checker import BGSagePR
from raccoon.eval.pr.frontier import Frontier, pareto
from raccoon.eval.sweep.by_pr import collect
from raccoon.executor import ProcessExecutor
from raccoon.files import write_json
from raccoon.report import report_files

HERE = ProcessExecutor(0, progress=False)
GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}
RANDOM = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine"}}
ONE_PLY = GNUBG | {"search": {"_target_": "raccoon.search.Expectimax", "ply": 1}}


def test_pareto() -> None:
    points = {"a": (1.0, 5.0), "b": (2.0, 6.0), "c": (3.0, 2.0), "d": (3.0, 1.0), "e": (9.0, 1.0)}
    assert pareto(points) == ["a", "d"]


def test_the_frontier(tmp_path: Path) -> None:
    players = {"gnubg0": GNUBG, "random": RANDOM, "gnubg0-1ply": ONE_PLY, "none": None}
    result = Frontier(HERE, players=players, reference="gnubg0-1ply", games=2, bootstrap=200).run(None, None, tmp_path, 1)
    assert result.figures["random.pr"].value > 5 * result.figures["gnubg0.pr"].value > 0
    assert "gnubg0-1ply.pr_difference" not in result.figures
    difference = result.figures["random.pr"].value - result.figures["gnubg0-1ply.pr"].value
    assert result.figures["random.pr_difference"].value == pytest.approx(difference)
    holds = [row["player"] for row in result.tables["Not worse than gnubg0-1ply, fastest first"]]
    assert "random" not in holds
    over = {row["player"]: row["times gnubg0-1ply"] for row in result.tables["Not worse than gnubg0-1ply, fastest first"]}
    fastest = result.figures.get("seconds_over_reference")
    assert (fastest is None and not over) or (fastest is not None and fastest.value == min(over.values()))
    for row in result.tables["Best trades"]:
        assert row["s/decision"] == result.figures[f"{row['player']}.seconds_per_decision"].value
    report_files.write(result, tmp_path)
    assert (tmp_path / "frontier.png").stat().st_size > 10_000


def test_the_reference_must_be_there() -> None:
    with pytest.raises(RaccoonError, match=r"evaluator\.reference='x': no such player; there are gnubg0"):
        Frontier(HERE, players={"gnubg0": GNUBG, "other": None}, reference="x")


def test_a_sample_is_the_same_for_everybody(tmp_path: Path) -> None:
    checker = load("embedded").checker
    sample = checker.sampled(50, 21)
    assert len(sample) == 50
    assert sample.keys.tolist() == checker.sampled(50, 21).keys.tolist()
    assert sample.keys.tolist() != checker.sampled(50, 22).keys.tolist()
    assert len(checker.sampled(10**6, 1)) == len(checker.sampled(None, 1)) == len(checker)
    one = BGSagePR(HERE, sample=50, compare=None, bootstrap=50).run(GNUBG, None, tmp_path / "one", 1)
    other = BGSagePR(HERE, sample=50, compare=None, bootstrap=50, shard_games=9).run(GNUBG, None, tmp_path / "other", 1)
    assert one.figures["pr"].n == 50
    assert one.figures["pr"].value == other.figures["pr"].value
    with np.load(tmp_path / "one" / "decisions.npz") as arrays:
        assert arrays["keys"].tolist() == sample.keys.tolist()


@pytest.mark.parametrize("settings", [{"sample": 0}, {"sample": True}, {"sample_seed": -1}])
def test_bad_samples_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(RaccoonError, match=f"evaluator.{next(iter(settings))}"):
        BGSagePR(HERE, **settings)


@pytest.mark.parametrize("arguments", [[], ["--fast"], ["one", "two", "three"]])
def test_collect_says_how_it_is_used(arguments: list[str]) -> None:
    with pytest.raises(RaccoonError, match=r"usage: .*SWEEP \[OUT\]"):
        run(arguments)


def test_damaged_jobs_of_a_sweep_are_named(tmp_path: Path) -> None:
    for number in range(2):
        folder = tmp_path / str(number)
        report_files.write(BGSagePR(HERE, sample=5, compare=None, bootstrap=10).run(GNUBG, None, folder, 1), folder)
    decisions, summary = tmp_path / "1" / "decisions.npz", tmp_path / "1" / "report.json"
    good = decisions.read_bytes()
    for content in (b"", good[:100], b"text"):
        decisions.write_bytes(content)
        with pytest.raises(RaccoonError, match=r"1/decisions\.npz: is missing or damaged"):
            collect(tmp_path)
    decisions.write_bytes(good)
    summary.write_text(summary.read_text().replace('"pr":', '"pr_of_old":'))
    with pytest.raises(RaccoonError, match=r"1: its report \(bgsage_pr\) has no figure pr; take that folder out"):
        collect(tmp_path)


def test_a_sweep_is_collected(tmp_path: Path) -> None:
    for number, player in enumerate((RANDOM, GNUBG, ONE_PLY)):
        folder = tmp_path / "sweep" / str(number)
        report_files.write(BGSagePR(HERE, sample=30, compare=None, bootstrap=100).run(player, None, folder, 1), folder)
    result = collect(tmp_path / "sweep", replicates=200)
    rows = {row["job"]: row for row in result.tables["Sweep"]}
    lowest = min(rows.values(), key=lambda row: row["PR"].value)
    assert lowest["minus lowest"] is None
    assert rows["0"]["minus lowest"].lo > 0
    assert [row["chosen"] for row in rows.values()].count("yes") == 1
    assert rows["0"]["chosen"] == ""
    printed = run([str(tmp_path / "sweep")])
    assert printed.endswith(str(tmp_path / "sweep" / "summary" / "report.md"))
    run([str(tmp_path / "sweep"), str(tmp_path / "out")])  # the summary itself is no job
    for name in ("report.md", "sweep.csv", "sweep.png"):
        assert (tmp_path / "out" / name).exists()
    assert report_files.read(tmp_path / "out").tables["Sweep"] == report_files.read(tmp_path / "sweep" / "summary").tables["Sweep"]
    stale, own = tmp_path / "out" / "old.csv", tmp_path / "out" / "notes.txt"
    stale.touch()
    own.touch()
    earlier = report_files.read(tmp_path / "out")
    earlier.files.append(stale.name)
    write_json(tmp_path / "out" / "report.json", report_files.to_dict(earlier))
    run([str(tmp_path / "sweep"), str(tmp_path / "out")])  # replaces what it wrote, and nothing else
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"notes.txt", "report.json", "report.md", "sweep.csv", "sweep.png"}
    with pytest.raises(RaccoonError, match=r"0/report\.json: already holds the result of a run"):
        run([str(tmp_path / "sweep"), str(tmp_path / "sweep" / "0")])
    with pytest.raises(RaccoonError, match="holds 0 finished"):
        collect(tmp_path / "out")
    other = tmp_path / "sweep" / "3"
    report_files.write(BGSagePR(HERE, sample=31, compare=None, bootstrap=100).run(GNUBG, None, other, 1), other)
    with pytest.raises(RaccoonError, match="other decisions"):
        collect(tmp_path / "sweep")

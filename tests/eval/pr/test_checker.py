"""PR against published reference figures of an independent scorer, and against players whose PR is known exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import Boards, Cubes, Figure, RaccoonError, Report, Turns
from raccoon.eval.benchmark.decisions import CheckerDecisions
from raccoon.eval.benchmark.loader import load
from raccoon.eval.pr.checker import BGSagePR, predicted_ppg
from raccoon.eval.pr.checker_scoring import accuracy, choose, group_masks, pr, score
from raccoon.eval.pr.table import PRTable
from raccoon.executor import ProcessExecutor, Shard, Work
from raccoon.play.player import EnginePlayer
from raccoon.report import report_files

HERE = ProcessExecutor(workers=0, progress=False)
PLAYER = "raccoon.play.EnginePlayer"
GNUBG: dict[str, Any] = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}
RANDOM: dict[str, Any] = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}


class Fixed:
    """An engine that answers from a table, one entry a candidate; all zero without one."""

    name, has_probs, evaluations = "fixed", False, 0

    def __init__(self, values: np.ndarray | None = None) -> None:
        self.values = values

    def value(self, boards: Boards) -> np.ndarray:
        return np.zeros(len(boards), np.float32) if self.values is None else self.values

    def probs6(self, boards: Boards) -> np.ndarray:
        raise RaccoonError("none")


class Picks:
    """A player that makes given choices; it has no engine."""

    name = "picks"

    def __init__(self, chosen: np.ndarray) -> None:
        self.chosen = chosen

    def choose(self, turns: Turns) -> np.ndarray:
        return self.chosen

    def double(self, boards: Boards, cubes: Cubes) -> np.ndarray:
        return np.zeros(len(boards), bool)

    def take(self, boards: Boards, cubes: Cubes) -> np.ndarray:
        return np.ones(len(boards), bool)


class Stops(ProcessExecutor):
    """Runs a few shards, then fails as a killed run would."""

    def __init__(self, after: int) -> None:
        super().__init__(workers=0, progress=False)
        self.after = after

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Any, work: Work) -> Iterator[tuple[int, dict[str, Any]]]:
        for done, result in enumerate(super().map(shard, job, indices, work)):
            if done == self.after:
                raise KeyboardInterrupt
            yield result


class Counts(ProcessExecutor):
    """Remembers which shards it was asked for."""

    def __init__(self) -> None:
        super().__init__(workers=0, progress=False)
        self.asked: list[list[int]] = []

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Any, work: Work) -> Iterator[tuple[int, dict[str, Any]]]:
        self.asked.append(list(indices))
        yield from super().map(shard, job, indices, work)


@pytest.fixture(scope="module")
def gnubg(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("gnubg")
    result = BGSagePR(HERE).run(GNUBG, RANDOM, folder, 1)
    report_files.write(result, folder)
    return result, folder


def extreme(best: bool) -> tuple[CheckerDecisions, Picks]:
    checker = load().checker
    loss = checker.loss(checker.cubeless)
    pick = np.argmin if best else np.argmax
    rows = zip(checker.offsets[:-1], checker.offsets[1:], strict=True)
    return checker, Picks(np.array([int(pick(loss[start:stop])) for start, stop in rows]))


def test_gnubg_0_ply_has_the_pr_of_an_independent_scorer(gnubg: tuple[Report, Path]) -> None:
    figure = gnubg[0].figures["pr"]
    assert (figure.value, figure.n) == (pytest.approx(2.170, abs=0.0015), 1972)
    assert figure.lo == pytest.approx(1.82, abs=0.02)
    assert figure.hi == pytest.approx(2.54, abs=0.02)
    assert gnubg[0].figures["evaluations_per_decision"].value == pytest.approx(21.88, abs=0.01)


@pytest.mark.slow
def test_gnubg_1_ply_pruned_has_the_pr_of_an_independent_scorer(tmp_path: Path) -> None:
    node = {**GNUBG, "engine": {**GNUBG["engine"], "ply": 1, "package": "pruned"}}
    result = BGSagePR(ProcessExecutor(progress=False)).run(node, GNUBG, tmp_path, 1)
    difference = result.figures["pr_difference"]
    assert result.figures["pr"].value == pytest.approx(1.389, abs=0.005)
    assert difference.value == pytest.approx(-0.78, abs=0.01)
    assert (difference.lo, difference.hi) == (pytest.approx(-1.19, abs=0.03), pytest.approx(-0.39, abs=0.03))


def test_breakdowns_add_up(gnubg: tuple[Report, Path]) -> None:
    result = gnubg[0]
    for title in ("tier", "game plan", "contact", "roll"):
        rows = result.tables[f"PR by {title}"]
        assert sum(row["decisions"] for row in rows) == 1972
        assert sum(row["decisions"] * row["PR"].value for row in rows) / 1972 == pytest.approx(result.figures["pr"].value)
        assert sum(row["blunders"] for row in rows) == round(result.figures["blunders"].value * 1972) > 0
    for title in ("tier", "reference level"):
        rows = result.tables[f"Value accuracy by {title}"]
        total = sum(row["candidates"] * row["MSE"].value for row in rows)
        assert total / 43145 == pytest.approx(result.figures["value_mse"].value)
    assert result.figures["value_r2"].value == pytest.approx(0.9954, abs=0.0002)


def test_report_files_and_comparison(gnubg: tuple[Report, Path]) -> None:
    result, folder = gnubg
    assert {"report.json", "report.md", "decisions.npz", "pr_by_plan.png", "error_histogram.png", "value_scatter.png"} <= {
        path.name for path in folder.iterdir()
    }
    with np.load(folder / "decisions.npz") as kept:
        assert 500 * kept["player.loss"].mean() == pytest.approx(result.figures["pr"].value)
        difference = 500 * (kept["player.loss"] - kept["opponent.loss"]).mean()
    assert result.figures["pr_difference"].value == pytest.approx(difference)
    assert difference < -50
    assert result.figures["predicted_ppg"].value == pytest.approx(-difference / 500 * 28)


def test_perfect_and_worst_players() -> None:
    checker, player = extreme(best=True)
    scores = score("best", checker, choose(player, checker))
    assert pr(scores, 1, 100) == Figure(0.0, 0.0, 0.0, 1972)
    assert not scores.has_values
    worst = score("worst", *(lambda pair: (pair[0], choose(pair[1], pair[0])))(extreme(best=False)))
    loss = checker.loss(checker.cubeless)
    assert pr(worst, 1, 100).value == pytest.approx(500 * np.maximum.reduceat(loss, checker.offsets[:-1]).mean())


def test_metric_chooses_the_reference() -> None:
    checker, player = extreme(best=True)
    decided = choose(player, checker)
    cubeful = score("best", checker, decided, "cubeful").loss
    best = np.maximum.reduceat(checker.equity, checker.offsets[:-1])
    np.testing.assert_allclose(cubeful, best - checker.equity[checker.offsets[:-1] + decided.chosen])
    assert cubeful.sum() > 0


def test_equal_values_are_not_flattered() -> None:
    checker = load().checker
    scores = score("flat", checker, choose(EnginePlayer(Fixed()), checker))
    assert scores.decided.chosen.max() == 0
    # The source lists the best play first: taking it would score 0. Key order costs about as much as chance.
    chance = 500 * np.mean([row.mean() for row in np.split(checker.loss(checker.cubeless), checker.offsets[1:-1])])
    assert pr(scores, 1, 100).value == pytest.approx(chance, rel=0.35)


def test_value_accuracy_is_on_the_points_scale_to_the_mover() -> None:
    checker = load().checker.take(np.arange(40))
    values = (-checker.cubeless / 3).astype(np.float64)
    player = EnginePlayer(Fixed(), search=Values(values))
    scores = score("exact", checker, choose(player, checker))
    figures = accuracy(scores, 1, 100)
    assert figures["mse"].value == pytest.approx(0.0, abs=1e-12)
    assert figures["r2"].value == pytest.approx(1.0)
    assert scores.loss.sum() == pytest.approx(0.0)
    shifted = score("shifted", checker, choose(EnginePlayer(Fixed(), search=Values(values - 0.1)), checker))
    assert accuracy(shifted, 1, 100)["mse"].value == pytest.approx(0.09)


class Values:
    """A search whose children have the negated values of a table, which it also gives to the engine."""

    name = "table"

    def __init__(self, values: np.ndarray) -> None:
        self.table = values

    def values(self, turns: Turns, engine: Any) -> Any:
        from raccoon.contracts import SearchResult

        engine.values = self.table
        return SearchResult(-self.table, np.ones(len(self.table), bool), len(self.table))


def test_interrupted_run_continues_and_gives_the_same(tmp_path: Path, gnubg: tuple[Report, Path]) -> None:
    with pytest.raises(KeyboardInterrupt):
        BGSagePR(Stops(after=6), shard_games=5, compare=None).run(GNUBG, None, tmp_path, 1)
    executor = Counts()
    result = BGSagePR(executor, shard_games=5, compare=None).run(GNUBG, None, tmp_path, 1)
    assert executor.asked == [list(range(6, 60))]  # a game of the 60 each
    assert result.figures["pr"] == gnubg[0].figures["pr"]
    assert result.figures["value_mse"] == gnubg[0].figures["value_mse"]
    with pytest.raises(RaccoonError, match="another job"):
        BGSagePR(HERE, shard_games=6, compare=None).run(GNUBG, None, tmp_path, 1)


def test_some_games_only(tmp_path: Path, gnubg: tuple[Report, Path]) -> None:
    result = BGSagePR(HERE, games=3, bootstrap=50, compare=None).run(GNUBG, None, tmp_path, 1)
    with np.load(gnubg[1] / "decisions.npz") as kept:
        first = np.isin(kept["games"], np.unique(kept["games"])[:3])
        assert result.figures["pr"].value == pytest.approx(500 * kept["player.loss"][first].mean())
        assert result.figures["pr"].n == first.sum() > 50


def test_measured_points_stand_beside_the_predicted(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    report_files.write(Report("vr_arena", "a", "b", 1, 1.0, figures={"ppg_vr": Figure(0.5, 0.4, 0.6, 100)}), arena)
    result = BGSagePR(HERE, measured=str(arena), bootstrap=50).run(GNUBG, RANDOM, tmp_path / "run", 1)
    rows = result.tables["Points per game against the opponent"]
    assert [row["ppg"].value for row in rows] == [result.figures["predicted_ppg"].value, 0.5]
    report_files.write(Report("other", "a", None, 1, 1.0), tmp_path / "empty")
    with pytest.raises(RaccoonError, match="no points per game"):
        BGSagePR(HERE, measured=str(tmp_path / "empty")).run(GNUBG, RANDOM, tmp_path / "run2", 1)


def test_predicted_points_turn_the_interval_round() -> None:
    figure = predicted_ppg(Figure(-1.195, -1.5, -1.0, 9), 28)
    assert [figure.value, figure.lo, figure.hi] == pytest.approx([0.06692, 0.056, 0.084])
    assert predicted_ppg(Figure(2.5), 28).lo is None


def test_groups_cover_every_decision_once() -> None:
    checker = load().checker
    for groups in group_masks(checker).values():
        assert np.array_equal(np.sum(list(groups.values()), axis=0), np.ones(len(checker)))
    races = group_masks(checker)["contact"]["race"]
    assert np.array_equal(races, checker.plans == "purerace")


def test_a_player_that_answers_nonsense_is_named() -> None:
    checker = load().checker.take(np.arange(5))
    for chosen in (np.full(5, 999), np.zeros(4, int), np.full(5, -1)):
        with pytest.raises(RaccoonError, match="player picks"):
            choose(Picks(chosen), checker)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "cubed"}, "metric='cubed'"),
        ({"bootstrap": 0}, "bootstrap=0"),
        ({"games": 0}, "games=0"),
        ({"shard_games": "x"}, "shard_games='x'"),
        ({"blunder": -1}, "blunder=-1"),
        ({"compare": "nobody"}, "compare='nobody'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RaccoonError, match=f"evaluator.{message}"):
        BGSagePR(HERE, **settings)


def test_missing_and_empty_benchmarks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=r"nowhere\.json"):
        BGSagePR(HERE, benchmark="nowhere.json").run(GNUBG, None, tmp_path, 1)
    empty = tmp_path / "empty.json"
    empty.write_text('{"meta": {}, "decisions": []}')
    with pytest.raises(RaccoonError, match="no checker decisions"):
        BGSagePR(HERE, benchmark=str(empty)).run(GNUBG, None, tmp_path, 1)


def test_table_of_players(tmp_path: Path, gnubg: tuple[Report, Path]) -> None:
    players = {"gnubg0": GNUBG, "chance": RANDOM}
    result = PRTable(HERE, players, bootstrap=200).run(GNUBG, None, tmp_path, 1)
    report_files.write(result, tmp_path)
    first, second = result.tables["PR"]
    assert (first["player"], second["player"]) == ("gnubg0", "chance")
    assert first["PR"].value == gnubg[0].figures["pr"].value
    assert first["minus gnubg0"] is None
    assert second["minus gnubg0"].value == pytest.approx(second["PR"].value - first["PR"].value)
    assert (tmp_path / "pr.png").exists()
    joined = PRTable(HERE, {"chance": RANDOM}, bootstrap=50).run({**GNUBG, "name": "mine"}, None, tmp_path / "joined", 1)
    assert [row["player"] for row in joined.tables["PR"]] == ["chance", "player (mine)"]
    for broken in ({}, {"x": "gnubg0"}):
        with pytest.raises(RaccoonError, match=r"evaluator\.players"):
            PRTable(HERE, broken)  # type: ignore[arg-type]

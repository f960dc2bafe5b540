"""``evaluator=cube_fit``: indices that are put in come out, like is compared with like, and only measurements count as such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon import stats
from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes, RaccoonError
from raccoon.cube.exact_bearoff import CubefulBearoff
from raccoon.cube.janowski import cl2cf_money
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.rolls import best_of_rolls
from raccoon.env.movegen import ROLL_PROBS
from raccoon.env.position_ids import from_position_id
from raccoon.eval.benchmark import compact as benchmark_file
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import load
from raccoon.eval.cube_fit.evaluator import CubeFit
from raccoon.eval.cube_fit.index import GRID, JanowskiOnReferences, best, fitted
from raccoon.eval.cube_fit.moves import moves_table
from raccoon.eval.cube_fit.references import (
    COMPLETED,
    SEARCHED,
    TRUNCATED,
    as_after_a_play,
    classes,
    exact_evidence,
    references_of_benchmark,
    references_of_cube,
)
from raccoon.eval.cube_fit.tables import by_halves, halves, residuals
from raccoon.eval.cube_fit.variants import Decider, Setting, decisions_table, disorder
from raccoon.eval.cube_fit.volatility import ReferenceSelection, volatility, volatility_shard
from raccoon.executor import ProcessExecutor
from raccoon.report import report_files

GNUBG0 = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
BEAROFF = {"_target_": "raccoon.engine.BearoffEngine"}


def make(**changes: Any) -> CubeFit:
    return CubeFit(ProcessExecutor(0), **{"engine": GNUBG0, "volatility": 0, "bootstrap": 50, **changes})


def in_the_movers_view(probs5: np.ndarray, owner: np.ndarray, x: float, jacoby: bool, beavers: bool) -> np.ndarray:
    """What a position after a play is worth to who played: the other side keeps the cube or doubles, whichever costs me more.

    Written from the mover's side alone; ``JanowskiOnReferences`` works from the side on roll and negates.
    """
    held = cl2cf_money(probs5, owner, x, jacoby)
    doubled = 2 * cl2cf_money(probs5, np.full(len(owner), OWNED), x)  # I own it after a take
    doubled = np.where(beavers & (doubled > 0), 2 * doubled, doubled)
    return np.where(owner == OWNED, held, np.minimum(held, np.maximum(doubled, -1.0)))


def synthetic(x: float, rules: CubeRules, games: int = 12, level: str = "Rollout", tier: str = "rollout") -> Benchmark:
    """The first games of the embedded benchmark with references that are Janowski's model at ``x``."""
    source = load()
    checker, cube = source.checker.first_games(games), source.cube.first_games(games)
    owner = checker.cubes.owner[checker.rows_of_candidates()]
    checker = replace(
        checker,
        equity=in_the_movers_view(checker.probs5, owner, x, rules.jacoby, rules.beavers).round(6),
        levels=np.full(len(owner), level),
        tiers=np.full(len(checker), tier),
    )
    cube = replace(
        cube,
        no_double=cl2cf_money(cube.probs5, cube.cubes.owner, x, rules.jacoby).round(6),
        double_take=(2 * cl2cf_money(cube.probs5, np.full(len(cube), OPPONENT), x)).round(6),
        levels=np.full(len(cube), level),
        tiers=np.full(len(cube), tier),
    )
    meta = {**source.meta, "jacoby": rules.jacoby, "beavers": rules.beavers}
    return Benchmark("synthetic", meta, checker, cube)


@pytest.mark.parametrize("rules", [CubeRules(), CubeRules(jacoby=True, beavers=True)], ids=["plain", "jacoby and beavers"])
def test_the_index_that_made_the_references_is_found(rules: CubeRules, tmp_path: Path) -> None:
    path = tmp_path / "half.npz.xz"
    benchmark_file.write(synthetic(0.5, rules), path)
    result = make(benchmark=str(path), references="measured").run({}, None, tmp_path / "run", seed=1)
    for place in ("owned", "centred", "theirs"):
        assert result.figures[f"best_x_{place}"].value == pytest.approx(0.5, abs=1e-3)
        assert result.figures[f"rmse_{place}"].value > 5e-3  # at .68
    assert result.figures["best_x_take"].value == pytest.approx(0.5, abs=1e-3)
    rows = {row["model"]: row for row in result.tables["Cube decisions by the model"]}
    assert rows["one index, refitted"]["PR"].value < 0.1 * rows["published, .68"]["PR"].value
    assert rows["one index, refitted"]["better than published"].lo > 0
    moves = {row["model"]: row for row in result.tables["Choice of the play by the model"]}
    assert moves["one index, refitted"]["best play"] == pytest.approx(1.0, abs=2e-3)  # six decimals leave a few ties
    assert moves["dead cube, 0"]["lost"].value > moves["one index, refitted"]["lost"].value
    for row in result.tables["Fitted on half the games, judged on the other"]:
        assert row["best x"] == pytest.approx(0.5, abs=2e-3)
        assert row["RMSE at best x"] < 1e-3 < row["RMSE at .68"]
    written = report_files.write(result, tmp_path / "run")
    assert {"residual_by_equity.png", "rmse_by_index.png"} <= set(report_files.read(written).files)


def test_leaving_out_the_option_would_charge_the_model_for_it() -> None:
    references = references_of_benchmark(synthetic(0.68, CubeRules(), games=3))
    like, unlike = (
        JanowskiOnReferences(references).residual(0.68),
        JanowskiOnReferences(replace(references, includes_double=False)).residual(0.68),
    )
    assert np.abs(like).max() < 1e-6
    assert np.abs(unlike[references.at("owned")]).max() < 1e-6  # the side on roll may not double
    assert unlike[references.at("centred")].mean() > 0.01


def test_what_counts_as_a_measurement_takes_both_fields(tmp_path: Path) -> None:
    tiers, levels = np.array(["rollout", "rollout", "3T", "3P"]), np.array(["Rollout", "3-ply", "Rollout", "3-ply"])
    assert classes(tiers, levels).tolist() == [COMPLETED, SEARCHED, TRUNCATED, SEARCHED]
    found = {kind: make(references=kind, games=4).run({}, None, tmp_path / kind, 1) for kind in ("best", "all")}
    references = references_of_benchmark(load(), load().checker.first_games(4))
    assert found["all"].figures["rmse_centred"].n == int(references.at("centred").sum())
    assert found["best"].figures["rmse_centred"].n == int((references.at("centred") & (references.method == TRUNCATED)).sum())
    assert any("no measurements" in note for note in found["best"].notes)
    assert "By kind of reference" in found["best"].tables
    with pytest.raises(RaccoonError, match="no rollouts to completion"):
        make(references="measured").run({}, None, tmp_path / "none", 1)


def test_a_mixed_file_is_judged_by_its_rollouts_alone(tmp_path: Path) -> None:
    """Rollouts say .5 and searches say .68: the searches must not pull the answer."""
    measured, searched = synthetic(0.5, CubeRules(), games=4), synthetic(0.68, CubeRules(), games=4, level="3-ply", tier="3P")
    rows = np.arange(len(measured.checker)) % 2 == 0
    candidates = rows[measured.checker.rows_of_candidates()]
    checker = replace(
        measured.checker,
        equity=np.where(candidates, measured.checker.equity, searched.checker.equity),
        levels=np.where(candidates, measured.checker.levels, searched.checker.levels),
        tiers=np.where(rows, measured.checker.tiers, searched.checker.tiers),
    )
    path = tmp_path / "mixed.npz.xz"
    benchmark_file.write(replace(measured, checker=checker), path)
    result = make(benchmark=str(path)).run({}, None, tmp_path / "run", 1)
    assert [result.figures[f"best_x_{place}"].value for place in ("owned", "centred", "theirs")] == pytest.approx([0.5] * 3, abs=2e-3)
    assert not any("no measurements" in note for note in result.notes)


def test_best_index_of_parabolas_with_noise_and_ends() -> None:
    true = np.array([0.123, 0.5, 0.987, -0.4, 1.7])
    sums = np.column_stack([(GRID[None] - true[:, None]) ** 2 + 0.01, np.ones(5)])
    assert best(sums) == pytest.approx([0.123, 0.5, 0.987, 0.0, 1.0], abs=1e-9)
    assert np.isnan(best(np.ones((1, len(GRID) + 1)))).all()
    bend = np.column_stack([-((GRID[None] - 0.4) ** 2), np.ones(1)])  # no lowest point inside: the lower of the ends
    assert best(bend) == pytest.approx([1.0])


def test_interval_of_the_index_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for trial in range(60):
        slope = rng.normal(size=80)
        noise = slope * 0.6 + rng.normal(scale=0.5, size=80)
        sums = np.column_stack([(slope[:, None] * GRID - noise[:, None]) ** 2, np.ones(80)])
        figure = fitted(sums, np.random.default_rng(trial), 300)
        assert figure.lo is not None
        assert figure.hi is not None
        inside += figure.lo <= 0.6 <= figure.hi
    assert 50 <= inside <= 60


def test_halves_never_share_a_game_and_do_not_leak() -> None:
    games = np.repeat(np.arange(11), 7)
    first = halves(games, 1)
    assert len(np.unique(games[first])) == 5
    assert not set(games[first]) & set(games[~first])
    references = references_of_benchmark(synthetic(0.3, CubeRules(), games=4))
    rows = by_halves(references, 1)
    changed = replace(references, equity=np.where(halves(references.game, 1), references.equity, 0.0))
    same = [row["best x"] for row in by_halves(changed, 1) if row["fitted on"] == "first"]
    assert same == [row["best x"] for row in rows if row["fitted on"] == "first"]


def test_residuals_are_clustered_on_the_decision() -> None:
    """Copies of a candidate within its decision add no information: the interval stays as it was."""
    references = references_of_benchmark(load(), load().checker.first_games(3))
    twice = references.take(np.repeat(np.arange(len(references)), 2))
    for place, figures in residuals(references).items():
        for figure, doubled in zip(figures.values(), residuals(twice)[place].values(), strict=True):
            assert (doubled.value, doubled.lo, doubled.hi) == pytest.approx((figure.value, figure.lo, figure.hi))
            assert doubled.n == 2 * (figure.n or 0)


def test_order_of_the_three_formulas() -> None:
    probs5 = np.zeros((200, 5))
    probs5[:, 0] = np.linspace(0.05, 0.95, len(probs5))
    assert disorder(probs5, Setting(0.68, 0.68, 0.68))[0] == 0
    assert disorder(probs5, Setting(0.0, 0.0, 0.0)) == (0.0, 1.0)  # a dead cube is worth the same wherever it is
    broken, _ = disorder(probs5, Setting(0.9, 0.1, 0.9))  # a centred cube far livelier than one's own
    naive = [not cl2cf_money(p, OWNED, 0.1) >= cl2cf_money(p, CENTRED, 0.9) - 1e-9 >= cl2cf_money(p, OPPONENT, 0.9) - 2e-9 for p in probs5]
    assert broken == pytest.approx(np.mean(naive))
    assert broken > 0.3


def test_variants_by_hand() -> None:
    cube = load().cube.first_games(20)
    rows = {row["model"]: row for row in decisions_table(cube, CubeRules(), 1, 100)}
    loss: list[float] = []
    for at in range(len(cube)):
        nd, dt = (cl2cf_money(cube.probs5[at], owner, 0.68) for owner in (cube.cubes.owner[at], OPPONENT))
        worth, taken = min(cube.double_take[at], 1.0), 2 * float(dt)
        if cube.has_double[at]:
            loss.append(max(cube.no_double[at], worth) - (worth if min(taken, 1.0) > nd else cube.no_double[at]))
        if cube.has_take[at]:
            loss.append((cube.double_take[at] if taken < 1 else 1.0) - worth)
    assert rows["published, .68"]["PR"].value == pytest.approx(500 * np.mean(loss))
    assert rows["published, .68"]["n"] == len(loss)
    assert rows["published, .68"]["better than published"] is None
    paired = rows["live cube, 1"]["better than published"]
    assert paired.value == pytest.approx(rows["published, .68"]["PR"].value - rows["live cube, 1"]["PR"].value)
    assert rows["live cube, 1"]["resolves"] == pytest.approx((paired.hi - paired.lo) / 2)
    one = Decider(cube, CubeRules()).answers(Setting(0.68, 0.68, 0.68))
    rowwise = np.full(len(cube), 0.68)
    each = Decider(cube, CubeRules()).answers(Setting(rowwise, rowwise, rowwise))
    assert np.array_equal(one.double, each.double)


def test_move_choice_ignores_what_all_candidates_share() -> None:
    references = references_of_benchmark(load(), load().checker.first_games(4))
    shift = np.random.default_rng(2).normal(size=int(references.decision.max()) + 1)[references.decision]
    shifted = replace(references, equity=references.equity + shift)
    for row, other in zip(moves_table(references, 1, 50), moves_table(shifted, 1, 50), strict=True):
        if "refitted" not in row["model"]:
            assert other["lost"].value == pytest.approx(row["lost"].value)
    alone = references.take(np.unique(references.decision, return_index=True)[1])
    assert moves_table(alone, 1, 50) == []


def test_exact_evidence_is_the_table() -> None:
    evidence, table = exact_evidence(3, None, 1, 0.25), CubefulBearoff(3)
    references = evidence.references
    assert len(references) == 3 * 83**2
    held = table.no_double(references.boards)
    for column, owner in enumerate((CENTRED, OWNED, OPPONENT)):
        rows = references.owner == owner
        assert np.array_equal(references.equity[rows], held[rows, column])
    cube = evidence.cube
    nd, dt, _ = table.equities(cube.boards, cube.cubes)
    assert np.array_equal((cube.no_double, cube.double_take), (nd, dt))
    assert (np.abs(np.minimum(dt, 1) - nd) <= 0.25).all()
    assert np.array_equal(cube.has_take, np.minimum(dt, 1) > nd)
    after = as_after_a_play(references, table)
    assert np.array_equal(
        after.reported, -table.optimal(references.boards, Cubes(np.ones(len(references), np.int32), references.owner, CubeRules()))
    )
    assert after.at("owned").sum() == (references.owner == OPPONENT).sum()


def test_exact_reference_runs_and_does_not_depend_on_the_batch(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"reference": "exact", "checkers": 3, "positions": 200, "engine": BEAROFF, "volatility": 40}
    runs = [make(**settings, shard_boards=size).run({}, None, tmp_path / str(size), 5) for size in (60, 11)]
    assert runs[0].figures == runs[1].figures
    assert runs[0].tables["Best index by volatility"] == runs[1].tables["Best index by volatility"]
    assert runs[0].figures["best_x_owned"].value < 0.68  # so short a race leaves less to an owned cube than the published index
    for row in runs[0].tables["Cube decisions by the model"]:
        assert row["n"] == runs[0].figures["pr_published"].n
    assert report_files.write(runs[0], tmp_path / "60").exists()


def test_volatility_of_a_last_roll_is_that_of_a_coin(tmp_path: Path) -> None:
    plan = ReferenceSelection("exact", "embedded", "best", None, 2, None, 0.25, 1)
    references, spread = volatility(ProcessExecutor(0), plan, BEAROFF, 10_000, 100, tmp_path)
    assert len(references) == len(plan.evidence().references)
    board = from_position_id("AQAAiAAAAAAAAA")  # 5 and 2 left against an ace: bears off or loses
    row = np.flatnonzero((references.boards == board).all(axis=(1, 2)))
    win = 19 / 36
    assert spread[row] == pytest.approx([2 * (win * (1 - win)) ** 0.5] * 3)
    some = np.arange(0, len(references), 97)
    values = best_of_rolls(references.boards[some], BearoffEngine(2))
    naive = [np.sqrt(sum(p * (v - ROLL_PROBS @ row) ** 2 for p, v in zip(ROLL_PROBS, row, strict=True))) for row in values]
    assert spread[some] == pytest.approx(naive)


def test_volatility_takes_gnubgs_own_rolls() -> None:
    plan = ReferenceSelection("benchmark", "embedded", "best", 2, 6, None, 0.25, 1)
    job: Mapping[str, Any] = {**plan.job(), "engine": GNUBG0, "limit": 20, "shard": 20}
    spread = volatility_shard(job, 0)["spread"]
    assert spread.shape == (20,)
    assert (spread > 0).all()
    assert (spread < 1.5).all()


def test_cube_lines_need_no_change_of_sides() -> None:
    cube = load().cube.first_games(10)
    nd, dt = (references_of_cube(cube, CubeRules(), which) for which in ("nd", "dt"))
    assert np.array_equal(nd.reported, cube.no_double)
    assert np.array_equal(2 * dt.reported, cube.double_take)
    assert JanowskiOnReferences(nd).equity(0.68) == pytest.approx(cl2cf_money(cube.probs5, cube.cubes.owner, 0.68))
    assert dt.at("theirs").all()


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"reference": "guess"}, "evaluator.reference="),
        ({"references": "some"}, "evaluator.references="),
        ({"checkers": 9}, "evaluator.checkers=9"),
        ({"checkers": 7, "positions": None}, "evaluator.positions=null"),
        ({"cube_window": 0}, "evaluator.cube_window=0"),
        ({"positions": 0}, "evaluator.positions=0"),
        ({"games": True}, "evaluator.games=True"),
        ({"volatility": -1}, "evaluator.volatility=-1"),
        ({"bootstrap": 0}, "evaluator.bootstrap=0"),
    ],
)
def test_bad_settings_are_told(changes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(RaccoonError, match=wanted):
        make(**changes)


def test_bad_files_and_too_many_positions_are_told(tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=r"evaluator\.benchmark"):
        make(benchmark="nowhere.json").run({}, None, tmp_path / "a", 1)
    with pytest.raises(RaccoonError, match=r"evaluator\.positions=50"):
        make(reference="exact", checkers=1, positions=50).run({}, None, tmp_path / "b", 1)
    with pytest.raises(RaccoonError, match=r"engine\.ply=7"):
        make(engine={"_target_": "raccoon.engine.GnubgEngine", "ply": 7}, volatility=5).run({}, None, tmp_path / "c", 1)


def test_rmse_and_bias_of_the_report_are_those_of_the_residuals(tmp_path: Path) -> None:
    result = make(references="all", games=5).run({}, None, tmp_path / "run", 1)
    checker = load().checker.first_games(5)
    owner = checker.cubes.owner[checker.rows_of_candidates()]
    live = checker.children[:, 0].any(axis=1)
    residual = in_the_movers_view(checker.probs5, owner, 0.68, False, False) - checker.equity
    for place, code in (("owned", OWNED), ("centred", CENTRED), ("theirs", OPPONENT)):
        rows = (owner == code) & live
        assert result.figures[f"bias_{place}"].value == pytest.approx(residual[rows].mean(), abs=1e-12)
        assert result.figures[f"rmse_{place}"].value == pytest.approx(np.sqrt((residual[rows] ** 2).mean()))
        games = checker.games[checker.rows_of_candidates()][rows]
        assert result.figures[f"bias_{place}"].lo == pytest.approx(stats.mean_ci(residual[rows], games).lo)

"""Measured references: what is rolled out is marked and has standard errors, everything else stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli import benchmark as command
from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, Cubes, RaccoonError
from raccoon.cube.model import Janowski
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.env import ragged
from raccoon.env.board import pips
from raccoon.env.movegen import afterstates
from raccoon.eval.benchmark import compact
from raccoon.eval.benchmark.decisions import Benchmark, CheckerDecisions
from raccoon.eval.benchmark.exchange import key_order, parse
from raccoon.eval.benchmark.loader import load
from raccoon.eval.benchmark.roll import RollPlan, close_candidates, roll_benchmark
from raccoon.eval.pr.checker import BGSagePR
from raccoon.eval.pr.cube import CubePR
from raccoon.executor import ProcessExecutor, Shard, Work

PLAYER = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}
SETTINGS = {"trials": 4, "checker": 1, "close": 0.05, "most": 2}
SERIAL = ProcessExecutor(0, progress=False)


class Broken(ProcessExecutor):
    """Ends after one shard, as by Ctrl-C."""

    def map(self, shard: Shard, job: Any, indices: Sequence[int], work: Work) -> Iterator[tuple[int, Any]]:
        yield from super().map(shard, job, indices[:1], work)
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Late positions, which are soon played out: two cube decisions, three plays."""
    whole = load()
    checker = whole.checker
    near = ragged.row_sum(close_candidates(checker, 0.05, 2), checker.offsets) > 0
    late = np.flatnonzero(near)[np.argsort(pips(checker.boards[near]).sum(axis=1), kind="stable")[:2]]
    far = np.flatnonzero(~near)[:1]
    cubes = np.argsort(pips(whole.cube.boards).sum(axis=1), kind="stable")[:2]
    path = tmp_path_factory.mktemp("roll") / "in.npz.xz"
    compact.write(replace(whole, checker=checker.take(np.r_[far, late]), cube=whole.cube.take(cubes)), path)
    return path


@pytest.fixture(scope="module")
def rolled(source: Path) -> Path:
    target = source.with_name("out.npz.xz")
    text = command.run(["roll", str(source), str(target), *(f"{key}={value}" for key, value in SETTINGS.items()), "workers=0"])
    assert "3 checker and 2 cube decisions" in text
    assert not target.with_name("out.npz.xz.parts").exists()
    return target


def test_what_is_rolled_out_is_marked_and_has_standard_errors(source: Path, rolled: Path) -> None:
    before, after = load(source), load(rolled)
    assert after.cube.measured.all()
    assert not before.cube.measured.any()
    for name in ("no_double_se", "double_take_se", "difference_se"):
        assert (getattr(after.cube, name) >= 0).all()
        assert np.isnan(getattr(before.cube, name)).all()
    assert (after.cube.no_double != before.cube.no_double).all()
    checker, measured = after.checker, after.checker.measured
    assert measured.sum() == 2
    assert (checker.tiers == "rollout").sum() == 1
    assert (checker.std_error[measured] >= 0).all()
    best = np.flatnonzero(measured)[np.argmax(checker.cubeless[measured])]
    assert checker.difference_se[best] == 0
    assert np.isnan(checker.difference_se[~measured]).all()
    (about,) = after.meta["rolled"]
    assert (about["plan"]["trials"], about["decisions"]) == (4, {"cube": 2, "checker": 1})
    assert after.meta["tier_counts"]["rollout"] == 3


def test_the_rest_stays_as_it_is(source: Path, rolled: Path) -> None:
    before, after = load(source).checker, load(rolled).checker
    rows = after.tiers != "rollout"
    for field in fields(CheckerDecisions):
        if field.name != "cubes":
            np.testing.assert_array_equal(getattr(after.take(rows), field.name), getattr(before.take(rows), field.name), field.name)
    one, old, measured = after.take(~rows), before.take(~rows), after.take(~rows).measured
    best = np.argmax(old.cubeless)
    for name in ("equity", "cubeless"):  # others keep their distance to the old best
        new, was = getattr(one, name), getattr(old, name)
        np.testing.assert_allclose((new - new[best])[~measured], (was - was[best])[~measured], atol=2e-6)
    np.testing.assert_array_equal(one.levels[~measured], old.levels[~measured])


def test_what_was_rolled_out_can_be_kept_alone(rolled: Path, tmp_path: Path) -> None:
    text = command.run(["convert", str(rolled), str(tmp_path / "alone.npz.xz"), "tier=rollout"])
    assert "1 checker and 2 cube decisions" in text
    alone, whole = load(tmp_path / "alone.npz.xz"), load(rolled)
    assert alone.meta["tier_counts"] == {"rollout": 3}
    one = whole.checker.take(whole.checker.tiers == "rollout")
    for field in fields(CheckerDecisions):
        if field.name != "cubes":
            np.testing.assert_array_equal(getattr(alone.checker, field.name), getattr(one, field.name), field.name)
    np.testing.assert_array_equal(alone.cube.no_double, whole.cube.no_double)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("tier=5X", "no decision of tier '5X'; there are .*rollout"),
        ("level=rollout", "unknown key 'level'"),
        ("tier", "not of the form"),
        ("tier=", "'tier=' is not of the form"),
    ],
)
def test_converting_refuses_what_would_leave_nothing(rolled: Path, tmp_path: Path, setting: str, said: str) -> None:
    with pytest.raises(RaccoonError, match=said):
        command.run(["convert", str(rolled), str(tmp_path / "none.npz.xz"), setting])
    assert not list(tmp_path.glob("none*"))


def test_converting_writes_over_nothing(rolled: Path) -> None:
    """Not over its own input above all: the other decisions would be lost."""
    before = rolled.read_bytes()
    with pytest.raises(RaccoonError, match="exists already; name another file"):
        command.run(["convert", str(rolled), str(rolled), "tier=rollout"])
    assert rolled.read_bytes() == before


def test_what_a_file_says_of_its_rollouts_is_checked_before_work(rolled: Path) -> None:
    benchmark = load(rolled)
    with pytest.raises(RaccoonError, match=r"meta\.rolled=5: a list is expected"):
        replace(benchmark, meta={**benchmark.meta, "rolled": 5})


def test_evaluators_take_the_file(rolled: Path, tmp_path: Path) -> None:
    result = CubePR(SERIAL, str(rolled), compare=None, bootstrap=20).run(PLAYER, None, tmp_path / "cube", 1)
    assert result.figures["pr_measured"].value == result.figures["pr"].value
    result = BGSagePR(SERIAL, benchmark=str(rolled), compare=None, bootstrap=20).run(PLAYER, None, tmp_path / "checker", 1)
    assert result.figures["pr"].n == 3


def test_an_interrupted_roll_continues(source: Path, rolled: Path, tmp_path: Path) -> None:
    plan, folder = RollPlan(**SETTINGS), tmp_path / "parts"
    with pytest.raises(KeyboardInterrupt):
        roll_benchmark(Broken(0, progress=False), str(source), plan, folder)
    assert len(list(folder.glob("shard-*"))) == 1
    whole, cut = load(rolled), roll_benchmark(SERIAL, str(source), plan, folder)
    np.testing.assert_array_equal(cut.cube.no_double, whole.cube.no_double)
    np.testing.assert_array_equal(cut.checker.cubeless, whole.checker.cubeless)


def test_the_closest_plays_come_first_and_wrong_keys_before_the_work(source: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out.npz.xz")
    for arguments, message in (
        (["roll", str(source)], "usage"),
        (["roll", "nowhere", out], "IN=nowhere"),
        (["roll", str(source), str(source)], "exists already"),
        (["roll", str(source), out, "trials"], "roll: 'trials' is not of the form key=value"),
        (["roll", str(source), out, "trials=1"], "roll.trials=1"),
        (["roll", str(source), out, "trials=many"], "roll.trials='many': give a whole number"),
        (["roll", str(source), out, "games=0"], "roll.games=0"),
        (["roll", str(source), out, "checker=-1"], "roll.checker=-1"),
        (["roll", str(source), out, "most=1"], "roll.most=1"),
        (["roll", str(source), out, "close=-1"], "roll.close=-1"),
        (["roll", str(source), out, "colour=red"], "colour"),
        (["roll", str(source), out, "engine={_target_: raccoon.engine.Nothing}"], "roll.engine"),
        (["roll", str(source), out, "cube=false", "checker=0"], "no decision to roll out"),
    ):
        with pytest.raises(RaccoonError, match=message):
            command.run(arguments)
    assert not list(tmp_path.iterdir())


def test_standard_errors_survive_both_forms(rolled: Path, tmp_path: Path) -> None:
    whole = load(rolled)
    compact.write(whole, tmp_path / "again.npz.xz")
    again = load(tmp_path / "again.npz.xz")
    for part in ("checker", "cube"):
        for name in ("difference_se", "no_double_se", "std_error"):
            if hasattr(getattr(whole, part), name):
                np.testing.assert_array_equal(getattr(getattr(again, part), name), getattr(getattr(whole, part), name))
    sample = json.loads((Path(__file__).parents[2] / "golden" / "benchmark_sample.json").read_text())
    cube = next(one for one in sample["decisions"] if one["kind"] == "cube")
    read: Benchmark = parse({"decisions": [cube | {"equity_nd_se": 0.01, "equity_dt_se": 0.02, "difference_se": 0.015}]}, "x")
    assert (read.cube.no_double_se[0], read.cube.double_take_se[0], read.cube.difference_se[0]) == (0.01, 0.02, 0.015)
    with pytest.raises(RaccoonError, match=r"equity_dt_se=-0\.02: a number from 0 to 10"):
        parse({"decisions": [cube | {"equity_dt_se": -0.02}]}, "x")


def bearoff(mine: dict[int, int], theirs: dict[int, int]) -> Boards:
    board = np.zeros((1, 2, 25), np.int8)
    for side, points in ((1, mine), (0, theirs)):
        for point, count in points.items():
            board[0, side, point - 1] = count
    return board


@pytest.mark.parametrize("beavers", [False, True])
def test_exact_evaluations_come_out_exactly(tmp_path: Path, beavers: bool) -> None:
    """Bear-offs by the exact table: waiting, doubling (a beaver answers where doubling loses) and plays, as the table says."""
    whole, model, engine = load(), Janowski(), BearoffEngine()
    boards = np.concatenate([bearoff({6: 2}, {5: 1, 4: 1}), bearoff({5: 2, 6: 1}, {1: 4})])
    cube = replace(
        whole.cube.take(np.arange(2)), boards=boards, cubes=Cubes(np.array([1, 4], np.int32), np.array([CENTRED, OWNED], np.int8))
    )
    children, offsets = afterstates(boards[:1], np.array([[2, 1]], np.int8))
    one = whole.checker.take(np.flatnonzero(np.diff(whole.checker.offsets) == len(children))[:1])
    cubes = Cubes(np.array([2], np.int32), np.array([OPPONENT], np.int8))
    dice, cubeless = np.array([[2, 1]], np.int8), 0.001 * np.arange(len(children))
    order = key_order(children, offsets)
    checker = replace(one, boards=boards[:1], dice=dice, children=children[order], cubes=cubes, cubeless=cubeless)
    path = tmp_path / "exact.npz.xz"
    compact.write(replace(whole, checker=checker, cube=cube, meta={"jacoby": False, "beavers": beavers}), path)
    plan = RollPlan(trials=2, engine={"_target_": "raccoon.engine.BearoffEngine"}, prune=None, most=9)
    found = roll_benchmark(SERIAL, str(path), plan, tmp_path / "parts")
    nd, dt, _ = model.equities(engine.probs6(boards), boards, found.cube.cubes.under(found.rules))
    np.testing.assert_allclose(found.cube.no_double, nd, atol=2e-6)
    np.testing.assert_allclose(found.cube.double_take, dt, atol=2e-6)
    assert dt[1] < 0
    np.testing.assert_allclose(found.cube.difference_se, 0, atol=2e-6)
    children, theirs = found.checker.children, cubes.under(found.rules).take(np.zeros(len(children), np.int64)).flipped()
    assert len(children) > 1
    np.testing.assert_allclose(found.checker.equity, -model.optimal(engine.probs6(children), children, theirs), atol=2e-6)
    np.testing.assert_allclose(found.checker.cubeless, -engine.points(children), atol=2e-6)
    np.testing.assert_allclose(found.checker.probs5[:, 0], engine.probs6(children)[:, 3], atol=2e-6)

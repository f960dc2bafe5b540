"""Cube PR against hand cases, players whose PR is known, and formulas written out again one position at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes, RaccoonError, Turns
from raccoon.cube.model import Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.outcomes import five_from_six, six_from_five
from raccoon.env.board import is_race
from raccoon.eval.benchmark.loader import load
from raccoon.eval.pr.cube import CubePR
from raccoon.eval.pr.cube_scoring import CubeAnswers, model_answers, pr, score
from raccoon.eval.pr.cube_shards import answers
from raccoon.executor import ProcessExecutor, Shard, Work
from raccoon.report import report_files

HERE = ProcessExecutor(workers=0, progress=False)
PLAYER = "raccoon.play.EnginePlayer"
MODEL = "raccoon.cube.Janowski"
GNUBG: dict[str, Any] = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}
PASSIVE: dict[str, Any] = {**GNUBG, "cube": {"_target_": MODEL, "doubles": False}}
MODELS: dict[str, Any] = {"published": {"_target_": MODEL}, "dead": {"_target_": MODEL, "x_contact": 0.0, "x_race": 0.0}}


class Answers:
    """A player that gives every double and take the same answers; it remembers the cubes it was asked with."""

    name = "answers"

    def __init__(self, double: bool, take: bool) -> None:
        self.answer, self.cubes = {"double": double, "take": take}, list[Cubes]()

    def choose(self, turns: Turns) -> np.ndarray:
        return np.zeros(len(turns), np.int64)

    def double(self, boards: Boards, cubes: Cubes) -> np.ndarray:
        self.cubes.append(cubes)
        return np.full(len(boards), self.answer["double"])

    def take(self, boards: Boards, cubes: Cubes) -> np.ndarray:
        self.cubes.append(cubes)
        return np.full(len(boards), self.answer["take"])


def test_a_perfect_player_loses_nothing_and_constant_ones_what_they_must() -> None:
    cube = load().cube
    best = score("best", cube, CubeAnswers(cube.should_double, cube.should_take))
    assert (pr(best, 1, 50).value, pr(best, 1, 50).n) == (0.0, 357)
    nd, dt, dp = cube.no_double, cube.double_take, cube.double_pass
    for double in (True, False):
        for take in (True, False):
            player = Answers(double, take)
            given = answers(player, cube, cube.cubes.under(CubeRules(jacoby=True)))
            assert all(cubes.rules == CubeRules(jacoby=True) for cubes in player.cubes)
            total = 0.0
            for i in range(len(cube)):
                value = min(dt[i], dp[i]) if double else nd[i]
                total += max(nd[i], min(dt[i], dp[i])) - value
                if cube.has_take[i]:
                    total += max(0.0, (dt[i] if take else dp[i]) - min(dt[i], dp[i]))
            assert pr(score("x", cube, given), 1, 50).value == pytest.approx(500 * total / 357)


def naive_double(five: np.ndarray, owner: int, x: float) -> tuple[bool, bool]:
    """Double? Take? Janowski's model without the Jacoby rule, from its three pinned points."""
    p, gammons, backgammons, lost_gammons, lost_backgammons = five.tolist()
    w = max(1.0, 1 + (gammons + backgammons) / p) if p > 1e-7 else 1.0
    lo = max(1.0, 1 + (lost_gammons + lost_backgammons) / (1 - p)) if 1 - p > 1e-7 else 1.0
    take, cash = (lo - 0.5) / (w + lo + 0.5), (lo + 1) / (w + lo + 0.5)

    def equity(owner: int) -> float:
        knots = {CENTRED: [(0, -lo), (take, -1), (cash, 1), (1, w)], OWNED: [(0, -lo), (cash, 1), (1, w)]}
        knots[OPPONENT] = [(0, -lo), (take, -1), (1, w)]
        places, values = zip(*knots[owner], strict=True)
        live = float(np.interp(p, places, values))
        return (1 - x) * (p * w - (1 - p) * lo) + x * live

    doubled = 2 * equity(OPPONENT)
    return min(doubled, 1.0) > equity(owner), doubled < 1.0


def test_a_run_agrees_with_the_formulas_one_position_at_a_time(tmp_path: Path) -> None:
    cube = load().cube
    five = five_from_six(GnubgEngine(0).probs6(cube.boards))
    x = np.where(is_race(cube.boards), 0.6, 0.68)
    wanted = np.array([naive_double(*row) for row in zip(five, cube.cubes.owner.tolist(), x.tolist(), strict=True)])
    scores = score("naive", cube, CubeAnswers(wanted[:, 0], wanted[:, 1]))
    result = CubePR(HERE, compare=PASSIVE, models=MODELS, bootstrap=100).run(GNUBG, None, tmp_path, 1)
    report_files.write(result, tmp_path)
    assert result.figures["pr"].value == pytest.approx(500 * scores.loss.mean()) == pytest.approx(2.6975, abs=1e-3)
    passive = score("passive", cube, CubeAnswers(np.zeros(285, bool), np.ones(285, bool)))
    assert result.opponent == "gnubg0+nodoubles"
    assert result.figures["opponent_pr"].value == pytest.approx(500 * passive.loss.mean())
    assert result.figures["pr_difference"].value == pytest.approx(500 * (scores.loss - passive.loss).mean())
    assert {"decisions.npz", "cube_models.png", "cube_pr_by_plan.png", "report.json"} <= {path.name for path in tmp_path.iterdir()}
    assert "pr_measured" not in result.figures
    assert any("No position has a measured reference" in note for note in result.notes)
    for title in ("side", "cube", "tier", "game plan", "contact"):
        rows = result.tables[f"Cube PR by {title}"]
        assert sum(row["n"] for row in rows) == 357
        assert sum(row["n"] * row["PR"].value for row in rows) == pytest.approx(357 * result.figures["pr"].value)
    assert sum(row["PR"] for row in result.tables["Errors of gnubg0"]) == pytest.approx(result.figures["pr"].value)


def test_models_on_the_players_chances_and_alone(tmp_path: Path) -> None:
    cube = load().cube
    result = CubePR(HERE, compare=None, models={**MODELS, "out": None}, bootstrap=50).run(GNUBG, None, tmp_path, 1)
    rows = {(row["chances"], row["model"]): row for row in result.tables["Cube models"]}
    assert list(rows) == [(chances, model) for chances in ("gnubg0", "reference") for model in ("own", "published", "dead")]
    for chances, probs6 in (("gnubg0", GnubgEngine(0).probs6(cube.boards)), ("reference", six_from_five(cube.probs5))):
        for name, model in (("own", Janowski()), ("published", Janowski()), ("dead", Janowski(0, 0))):
            scores = score(name, cube, model_answers(model, probs6, cube, CubeRules()))
            assert rows[chances, name]["PR"].value == pytest.approx(500 * scores.loss.mean())
        own, dead = rows[chances, "own"], rows[chances, "dead"]
        assert dead["minus first"].value == pytest.approx(dead["PR"].value - own["PR"].value)
        assert dead["minus first"].value > 10
        assert rows[chances, "published"]["minus first"].value == 0
        assert own["minus first"] is None
        assert own["coherent"] == 1.0
    assert rows["reference", "own"]["PR"].value < rows["gnubg0", "own"]["PR"].value


class Stops(ProcessExecutor):
    """Fails after two shards, as a killed run would."""

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Any, work: Work) -> Iterator[tuple[int, dict[str, Any]]]:
        for done, result in enumerate(super().map(shard, job, indices, work)):
            if done == 2:
                raise KeyboardInterrupt
            yield result


def test_shards_do_not_matter_and_a_killed_run_continues(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"compare": None, "models": MODELS, "bootstrap": 50, "games": 20}
    whole = CubePR(HERE, shard_games=100, **settings).run(GNUBG, None, tmp_path / "whole", 1)
    with pytest.raises(KeyboardInterrupt):
        CubePR(Stops(workers=0, progress=False), shard_games=3, **settings).run(GNUBG, None, tmp_path / "parts", 1)
    parts = CubePR(HERE, shard_games=3, **settings).run(GNUBG, None, tmp_path / "parts", 1)
    assert parts.tables == whole.tables
    assert parts.figures["pr"] == whole.figures["pr"]
    with pytest.raises(RaccoonError, match="another job"):
        CubePR(HERE, shard_games=3, **{**settings, "models": {}}).run(GNUBG, None, tmp_path / "parts", 1)


def measured_file(path: Path) -> Path:
    """Four decisions: two measured, one with the tier only, one with the level only; Jacoby and beavers by default."""
    board = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
    cells = [
        ("rollout", "Rollout", 0.5, 0.9),
        ("rollout", "Rollout", 0.2, -0.3),
        ("rollout", "3-ply", 0.4, 0.5),
        ("3P", "Rollout", 0.4, 0.6),
    ]
    decisions = [
        {
            "kind": "cube",
            "key": f"k{i}",
            "seed": i // 2,
            "turn": 5,
            "tier": tier,
            "game_plan": "racing",
            "board": board,
            "cube_owner": "player" if i == 1 else "centered",
            "cube_value": 2 if i == 1 else 1,
            "dice": None,
            "equity_nd": nd,
            "equity_dt": dt,
            "equity_dp": 1.0,
            "probs": [0.5, 0.1, 0.0, 0.1, 0.0],
            "has_double": True,
            "has_take": i == 0,
            "eval_level": level,
        }
        for i, (tier, level, nd, dt) in enumerate(cells)
    ]
    path.write_text(json.dumps({"meta": {}, "decisions": decisions}))
    return path


def test_measured_references_stand_beside_all(tmp_path: Path) -> None:
    source = measured_file(tmp_path / "b.json")
    assert load(source).rules == CubeRules(jacoby=True, beavers=True)
    assert load(source).cube.measured.tolist() == [True, True, False, False]
    result = CubePR(HERE, str(source), compare=None, models=MODELS, bootstrap=50).run(PASSIVE, None, tmp_path / "run", 1)
    first, second = result.tables["Cube PR"]
    assert (first["questions"], first["n"], second["questions"], second["n"]) == ("all", 5, "measured references", 3)
    # never doubling misses .4, 0, .1 and .2; the one take is right
    assert first["PR"].value == pytest.approx(500 * 0.7 / 5) == result.figures["pr"].value
    assert second["PR"].value == pytest.approx(500 * 0.4 / 3) == result.figures["pr_measured"].value
    assert result.tables["Cube models"][0]["PR measured"].value == second["PR"].value
    assert any("2 positions have measured references" in note for note in result.notes)
    assert any("Jacoby on, beavers on" in note for note in result.notes)


def test_two_references_of_the_same_decisions_are_compared_by_question(tmp_path: Path) -> None:
    source = measured_file(tmp_path / "b.json")
    content = json.loads(source.read_text())
    content["decisions"].reverse()  # matched by what they are, not by their place
    for decision in content["decisions"][2:]:  # k1 and k0, which the other file has measured
        decision |= {"eval_level": "3-ply", "equity_dt": decision["equity_dt"] + 0.2}
    old = tmp_path / "old.json"
    old.write_text(json.dumps(content))
    settings: dict[str, Any] = {"compare": "opponent", "models": {}, "bootstrap": 50}
    result = CubePR(HERE, str(source), before=str(old), **settings).run(PASSIVE, GNUBG, tmp_path / "run", 1)
    rows = {(row["PR of"], row["questions"]): row for row in result.tables["Two references"]}
    names = ("gnubg0+nodoubles", "gnubg0", "gnubg0+nodoubles minus gnubg0")
    assert list(rows) == [(name, questions) for questions in ("all", "measured references") for name in names]
    passive = rows[names[0], "measured references"]
    # never doubling missed .5 by the old file (doubled it is worth 1, the pass) and misses .4; the take was wrong by .1 and is right
    assert passive["n"] == 3
    assert passive["PR before"].value == pytest.approx(500 * (0.5 + 0.1) / 3)
    assert passive["PR"].value == pytest.approx(500 * 0.4 / 3)
    assert passive["minus before"].value == pytest.approx(-500 * 0.2 / 3)
    assert rows[names[0], "all"]["PR"] == result.figures["pr"]
    assert rows[names[0], "all"]["minus before"].value == pytest.approx(-500 * 0.2 / 5) == result.figures["pr_minus_before"].value
    for key in ("PR before", "PR", "minus before"):
        first, second, both = (rows[name, "all"][key].value for name in names)
        assert both == pytest.approx(first - second)
    apart = {row["equity"]: row for row in result.tables["Two references: how far apart"]}
    assert [row["n"] for row in apart.values()] == [2, 2, 1]
    assert apart["no double"]["RMS change"] == 0.0
    assert apart["double and take minus no double"]["RMS change"] == pytest.approx(0.2)
    assert apart["double and take"]["right answers changed"] == 1
    assert apart["double and take"]["RMS standard error"] is None


def test_two_references_must_be_of_the_same_decisions(tmp_path: Path) -> None:
    source = measured_file(tmp_path / "b.json")
    content = json.loads(source.read_text())
    for name, change in (("rules", {"meta": {"jacoby": False}}), ("fewer", {"decisions": content["decisions"][1:]})):
        (tmp_path / f"{name}.json").write_text(json.dumps(content | change))
    for name, told in (("rules", "other rules"), ("fewer", "lacks the cube decision k0"), ("none", "evaluator.before")):
        with pytest.raises(RaccoonError, match=told):
            CubePR(HERE, str(source), before=str(tmp_path / f"{name}.json")).run(PASSIVE, None, tmp_path / "run", 1)
    assert not (tmp_path / "run").exists()


def test_a_player_with_its_own_cube_needs_no_chances(tmp_path: Path) -> None:
    sage = {"_target_": "raccoon.play.SagePlayer", "level": "1P"}
    result = CubePR(HERE, compare="opponent", models=MODELS, bootstrap=50, games=10).run(sage, GNUBG, tmp_path, 1)
    assert (result.player, result.opponent) == ("sage1_cube", "gnubg0")
    rows = [(row["chances"], row["model"]) for row in result.tables["Cube models"]]
    assert rows == [("sage1_cube", "own"), ("reference", "published"), ("reference", "dead")]
    assert any("decides in its own way" in note for note in result.notes)


def test_what_cannot_be_measured_is_refused_before_it_starts(tmp_path: Path) -> None:
    scalar = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}
    with pytest.raises(RaccoonError, match=r"player: .*knows equities only.*model/head=outcomes6"):
        CubePR(HERE).run(scalar, None, tmp_path, 1)
    with pytest.raises(RaccoonError, match=r"opponent: .*model/head=scalar"):
        CubePR(HERE).run(GNUBG, scalar, tmp_path, 1)
    with pytest.raises(RaccoonError, match=r"evaluator\.compare: raccoon\.search\.StaticSearch is no player"):
        CubePR(HERE, compare={"_target_": "raccoon.search.StaticSearch"}).run(GNUBG, None, tmp_path, 1)
    assert not list(tmp_path.iterdir())
    empty = tmp_path / "empty.json"
    empty.write_text('{"meta": {}, "decisions": []}')
    with pytest.raises(RaccoonError, match="no cube decisions"):
        CubePR(HERE, str(empty)).run(GNUBG, None, tmp_path, 1)
    for settings, key in (
        ({"compare": "cubeless"}, "compare"),
        ({"games": 0}, "games"),
        ({"bootstrap": 1.5}, "bootstrap"),
        ({"models": {"x": scalar}}, r"models\.x"),
        ({"models": {"x": {"_target_": MODEL, "x_race": 2}}}, r"models\.x|x_race"),
    ):
        with pytest.raises(RaccoonError, match=key):
            CubePR(HERE, **settings)  # type: ignore[arg-type]


def test_answers_of_the_wrong_shape_name_the_player() -> None:
    cube = load().cube.take(np.arange(5))

    class Short(Answers):
        def double(self, boards: Boards, cubes: Cubes) -> np.ndarray:
            return np.ones(2, bool)

    with pytest.raises(RaccoonError, match=r"player answers: double\(\) gave bool\[2\]"):
        answers(Short(True, True), cube, cube.cubes.under(CubeRules()))
    with pytest.raises(RaccoonError, match=r"player x: take\(\)"):
        score("x", cube, CubeAnswers(np.ones(5, bool), np.ones(5)))  # type: ignore[arg-type]

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
from raccoon.env.board import START, is_race
from raccoon.eval import cube_scoring, report
from raccoon.eval.benchmark import CubeDecisions, load
from raccoon.eval.cube_pr import CubePR
from raccoon.eval.cube_scoring import CubeAnswers, coherent, counted, errors, model_answers, pr, score
from raccoon.eval.cube_shards import answers
from raccoon.executor import ProcessExecutor, Shard

HERE = ProcessExecutor(workers=0, progress=False)
PLAYER = "raccoon.play.player.EnginePlayer"
MODEL = "raccoon.cube.model.Janowski"
GNUBG: dict[str, Any] = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.gnubg.GnubgEngine", "ply": 0}}
PASSIVE: dict[str, Any] = {**GNUBG, "cube": {"_target_": MODEL, "turns": False}}
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


def positions(rows: list[tuple[float, float]], owner: int = CENTRED, flags: tuple[bool, bool] = (True, True)) -> CubeDecisions:
    """Cube decisions at the start with the given ``(nd, dt)`` each, a game each."""
    n = len(rows)
    text = np.array(["x"] * n)
    nd, dt = np.array(rows, float).reshape(-1, 2).T
    cubes = Cubes(np.full(n, 1 if owner == CENTRED else 2, np.int32), np.full(n, owner, np.int8))
    boards, doubles, takes = np.repeat(START[None], n, axis=0), np.full(n, flags[0]), np.full(n, flags[1])
    numbers = np.arange(n)
    return CubeDecisions(
        np.array([f"k{i}" for i in range(n)]),
        numbers,
        numbers.astype(np.int32),
        text,
        text,
        boards,
        cubes,
        nd,
        dt,
        np.ones(n),
        np.tile([0.5, 0.1, 0.0, 0.1, 0.0], (n, 1)),
        doubles,
        takes,
        text,
    )


@pytest.mark.parametrize(
    ("nd", "dt", "doubled", "taken", "doubler", "receiver"),
    [
        (0.4, 0.6, True, True, 0.0, 0.0),
        (0.4, 0.6, False, True, 0.2, 0.0),
        (0.4, 0.6, True, False, 0.0, 0.4),  # the pass gives the doubler 1 for .6
        (0.8, 0.5, True, True, 0.3, 0.0),
        (0.8, 0.5, False, False, 0.0, 0.5),
        (0.9, 1.3, True, True, 0.0, 0.3),  # a take of a pass
        (0.9, 1.3, False, False, 0.1, 0.0),
        (1.2, 1.5, True, False, 0.2, 0.0),  # too good: the double gets 1 for 1.2
        (1.2, 1.5, False, True, 0.0, 0.5),
        (-0.2, -0.6, True, True, 0.4, 0.0),
    ],
)
def test_losses_by_hand(nd: float, dt: float, doubled: bool, taken: bool, doubler: float, receiver: float) -> None:
    scores = score("x", positions([(nd, dt)]), CubeAnswers(np.array([doubled]), np.array([taken])))
    np.testing.assert_allclose(scores.loss, [doubler, receiver], atol=1e-12)
    assert scores.receiver.tolist() == [False, True]
    kinds = {"wrong doubles": doubled and doubler, "missed doubles": not doubled and doubler}
    kinds |= {"wrong takes": taken and receiver, "wrong passes": not taken and receiver}
    rows = {row["error"]: row for row in errors(scores)}
    for kind, lost in kinds.items():
        assert (rows[kind]["errors"], rows[kind]["points"]) == (int(lost > 0), pytest.approx(float(lost)))
        assert rows[kind]["PR"] == pytest.approx(250 * lost)


def test_which_questions_count() -> None:
    for flags in ((True, False), (False, True), (False, False)):
        doubles, takes = counted(positions([(0.4, 0.6)] * 3, OWNED, flags))
        assert (doubles.all(), takes.all()) == flags
    assert not any(mask.any() for mask in counted(positions([(0.4, 0.6)], OPPONENT)))
    three = positions([(0.4, 0.6)] * 3, flags=(True, False))
    assert len(score("x", three, CubeAnswers(np.ones(3, bool), np.zeros(3, bool))).loss) == 3


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
    report.write(result, tmp_path)
    assert result.figures["pr"].value == pytest.approx(500 * scores.loss.mean()) == pytest.approx(2.6975, abs=1e-3)
    passive = score("passive", cube, CubeAnswers(np.zeros(285, bool), np.ones(285, bool)))
    assert result.opponent == "gnubg0+noturns"
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


def test_coherence_sees_a_wrong_order() -> None:
    class Mirrored(Janowski):
        def by_owner(self, probs6: Any, boards: Boards, jacoby: bool = False) -> Any:
            return super().by_owner(probs6, boards, jacoby)[:, [0, 2, 1]]

    cube = load().cube
    probs6 = six_from_five(cube.probs5)
    assert coherent(Janowski(), probs6, cube, CubeRules()).all()
    assert coherent(Mirrored(), probs6, cube, CubeRules()).mean() < 0.02  # a game that is all but won has no order
    # a dead cube is worth the same to both sides, but for the gammons that the rule takes from a centred one
    assert coherent(Janowski(0, 0), probs6, cube, CubeRules()).all()
    assert not coherent(Janowski(0, 0), probs6, cube, CubeRules(jacoby=True)).all()


class Stops(ProcessExecutor):
    """Fails after two shards, as a killed run would."""

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Any, label: str) -> Iterator[tuple[int, dict[str, Any]]]:
        for done, result in enumerate(super().map(shard, job, indices, label)):
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
    assert cube_scoring.measured(load(source).cube).tolist() == [True, True, False, False]
    result = CubePR(HERE, str(source), compare=None, models=MODELS, bootstrap=50).run(PASSIVE, None, tmp_path / "run", 1)
    first, second = result.tables["Cube PR"]
    assert (first["questions"], first["n"], second["questions"], second["n"]) == ("all", 5, "measured references", 3)
    # never doubling misses .4, 0, .1 and .2; the one take is right
    assert first["PR"].value == pytest.approx(500 * 0.7 / 5) == result.figures["pr"].value
    assert second["PR"].value == pytest.approx(500 * 0.4 / 3) == result.figures["pr_measured"].value
    assert result.tables["Cube models"][0]["PR measured"].value == second["PR"].value
    assert any("2 positions have measured references" in note for note in result.notes)
    assert any("Jacoby on, beavers on" in note for note in result.notes)


def test_a_player_with_its_own_cube_needs_no_chances(tmp_path: Path) -> None:
    sage = {"_target_": "raccoon.play.sage_player.SagePlayer", "level": "1P"}
    result = CubePR(HERE, compare="opponent", models=MODELS, bootstrap=50, games=10).run(sage, GNUBG, tmp_path, 1)
    assert (result.player, result.opponent) == ("sage1_cube", "gnubg0")
    rows = [(row["chances"], row["model"]) for row in result.tables["Cube models"]]
    assert rows == [("sage1_cube", "own"), ("reference", "published"), ("reference", "dead")]
    assert any("decides in its own way" in note for note in result.notes)


def test_what_cannot_be_measured_is_refused_before_it_starts(tmp_path: Path) -> None:
    scalar = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.random.RandomEngine", "seed": 1}}
    with pytest.raises(RaccoonError, match=r"player: .*knows equities only.*model/head=outcomes6"):
        CubePR(HERE).run(scalar, None, tmp_path, 1)
    with pytest.raises(RaccoonError, match=r"opponent: .*model/head=scalar"):
        CubePR(HERE).run(GNUBG, scalar, tmp_path, 1)
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

"""PR with a live cube: who ranks how, under which rules; without one nothing changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CubeRules, RaccoonError, Turns
from raccoon.cube.model import Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.eval.benchmark.loader import load
from raccoon.eval.pr.checker import BGSagePR
from raccoon.eval.pr.checker_scoring import choose, score
from raccoon.eval.pr.cube_ready import cubeless_twin
from raccoon.eval.pr.table import PRTable
from raccoon.executor import ProcessExecutor
from raccoon.play.player import EnginePlayer
from raccoon.search.lookahead import child_cubeful_values

HERE = ProcessExecutor(workers=0, progress=False)
PLAYER = "raccoon.play.EnginePlayer"
GNUBG: dict[str, Any] = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}
SCALAR: dict[str, Any] = {"_target_": PLAYER, "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}
JACOBY = CubeRules(jacoby=True, beavers=True)


def first_of_rows(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.array([row.argmax() for row in np.split(values, offsets[1:-1])])


def test_plays_are_made_with_the_cube_and_the_rules_that_are_given() -> None:
    checker = load().checker.first_games(12)
    player = EnginePlayer(GnubgEngine(0))
    cubeless = choose(player, checker)
    for rules in (CubeRules(), JACOBY):
        decided = choose(player, checker, rules)
        wanted = child_cubeful_values(checker.turns(rules), GnubgEngine(0), jacoby=rules.jacoby)
        np.testing.assert_array_equal(decided.chosen, first_of_rows(wanted, checker.offsets))
        np.testing.assert_allclose(decided.points, cubeless.points, atol=1e-6)
        assert (decided.chosen != cubeless.chosen).any()
    assert (choose(player, checker, CubeRules()).chosen != choose(player, checker, JACOBY).chosen).any()
    np.testing.assert_array_equal(cubeless.chosen, first_of_rows(cubeless.points, checker.offsets))
    without = choose(EnginePlayer(GnubgEngine(0), cube=Janowski(moves="cubeless")), checker, JACOBY)
    np.testing.assert_array_equal(without.chosen, cubeless.chosen)


def test_players_of_other_kinds_see_the_rules() -> None:
    seen = []

    class Sees:
        name = "sees"

        def choose(self, turns: Turns) -> np.ndarray:
            seen.append(turns.cubes.rules)
            return np.zeros(len(turns), np.int64)

    checker = load().checker.take(np.arange(3))
    choose(Sees(), checker)  # type: ignore[arg-type]
    choose(Sees(), checker, JACOBY)  # type: ignore[arg-type]
    assert seen == [None, JACOBY]


def test_the_same_player_without_the_cube_is_one_word_away(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"metric": "cubeful", "games": 12, "bootstrap": 100}
    result = BGSagePR(HERE, compare="cubeless", **settings).run(GNUBG, None, tmp_path, 1)
    assert (result.player, result.opponent) == ("gnubg0", "gnubg0+cubeless")
    checker = load().checker.first_games(12)
    losses = [
        score("x", checker, choose(EnginePlayer(GnubgEngine(0), cube=Janowski(moves=moves)), checker, CubeRules()), "cubeful").loss
        for moves in ("cubeful", "cubeless")
    ]
    assert result.figures["pr"].value == pytest.approx(500 * losses[0].mean())
    assert result.figures["pr_difference"].value == pytest.approx(500 * (losses[0] - losses[1]).mean())
    assert result.figures["pr_difference"].value != 0
    owned = checker.cubes.owner != 0
    assert result.figures["pr_owned_cube"].value == pytest.approx(500 * losses[0][owned].mean())
    rows = {row["cube"]: row for row in result.tables["PR by cube"]}
    assert {name: row["decisions"] for name, row in rows.items()} == {
        name: int((checker.cubes.owner == owner).sum()) for name, owner in (("centered", 0), ("player", 1), ("opponent", -1))
    }
    best = first_of_rows(checker.cubeless, checker.offsets)
    lost = checker.loss(checker.equity)[checker.offsets[:-1] + best].mean()
    assert any(f"best without a cube have a PR of {500 * lost:.3g} " in note for note in result.notes)


def test_the_twin_keeps_the_rest_of_the_player() -> None:
    node = {**GNUBG, "name": "mine", "cube": {"_target_": "raccoon.cube.Janowski", "x_race": 0.5, "moves": "cubeful"}}
    twin = cubeless_twin(node)
    assert twin == {**node, "name": "mine+cubeless", "cube": {**node["cube"], "moves": "cubeless"}}
    with pytest.raises(RaccoonError, match=r"evaluator\.compare=cubeless"):
        cubeless_twin({"_target_": "raccoon.play.SagePlayer"})
    with pytest.raises(RaccoonError, match=r"evaluator\.metric=cubeful"):
        BGSagePR(HERE, compare="cubeless")


def test_shards_of_one_metric_do_not_serve_the_other(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": 4, "bootstrap": 20, "compare": None}
    BGSagePR(HERE, metric="cubeful", **settings).run(GNUBG, None, tmp_path, 1)
    with pytest.raises(RaccoonError, match="another job"):
        BGSagePR(HERE, metric="cubeless", **settings).run(GNUBG, None, tmp_path, 1)


def test_a_scalar_head_is_refused_before_anything_is_scored(tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=r"opponent: .*model/head=scalar.*opponent\.cube\.moves=cubeless"):
        BGSagePR(HERE, metric="cubeful").run(GNUBG, SCALAR, tmp_path, 1)
    with pytest.raises(RaccoonError, match=r"evaluator\.players\.b: .*model/head=outcomes6"):
        PRTable(HERE, {"a": GNUBG, "b": SCALAR}, metric="cubeful").run(None, None, tmp_path, 1)
    assert not list(tmp_path.iterdir())
    allowed = cubeless_twin(SCALAR)
    result = BGSagePR(HERE, metric="cubeful", games=2, bootstrap=20, compare=None).run(allowed, None, tmp_path, 1)
    assert result.figures["pr"].value > 20

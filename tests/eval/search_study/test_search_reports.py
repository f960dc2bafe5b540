"""The cost model and the recall of filters, against walks by hand and cases with known answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.game_wrapper import chance_action, load_game, view
from raccoon.eval.search_study.cost_model import CostModel, _double_paths, predicted
from raccoon.eval.search_study.filter_recall import FilterRecall
from raccoon.executor import ProcessExecutor

HERE = ProcessExecutor(0, progress=False)
ENGINE = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": ENGINE}
RANDOM = {"_target_": "raccoon.engine.RandomEngine"}


def test_published_predictions() -> None:
    assert [round(predicted(13, *one)) for one in ((1, 4), (1, 8))] == [1106, 2198]
    assert round(predicted(13, 2, 4)) == 24038
    assert round(predicted(13, 2, 8)) == 48062
    assert round(predicted(13, 2, 8, 4)) == 185654


def test_paths_of_a_double_equal_openspiels() -> None:
    state = load_game().new_initial_state()
    state.apply_action(chance_action((2, 1), 0))
    while not state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    state.apply_action(chance_action((3, 3)))
    seen = view(state)
    paths = 0
    for action in state.legal_actions():
        after = state.child(action)
        goes_on = not after.is_chance_node() and not after.is_terminal() and after.current_player() == state.current_player()
        paths += len(after.legal_actions()) if goes_on else 1
    assert _double_paths(seen.board[None], np.array([[3, 3]], np.int8)).tolist() == [paths]
    assert paths > 100


def test_counted_evaluations(tmp_path: Path) -> None:
    searches = [{"ply": 0, "k": 1}, {"ply": 1, "k": 4}, {"ply": 2, "k": 1}]
    result = CostModel(HERE, searches, playouts=1, decisions=3).run(GNUBG, None, tmp_path, 1)
    table = result.tables["Evaluations per decision"]
    assert table[0]["counted"] == table[0]["predicted"]
    assert all(0 < row["counted/predicted"] <= 1.2 for row in table)
    kinds = {row["of"]: row for row in result.tables["Branching"] if row["decisions"] == "benchmark"}
    assert kinds["legal actions"]["mean"] > kinds["distinct results"]["mean"] > 10
    assert kinds["ordered paths of a double"]["mean"] > 5 * kinds["distinct results of a double"]["mean"]


def test_recall(tmp_path: Path) -> None:
    result = FilterRecall(HERE, prune=ENGINE, games=1, ks=(4, 1, 400, 4)).run(GNUBG, None, tmp_path / "same", 1)
    assert result.figures["value.top1_static"].value == result.figures["prune.top1_static"].value == 1
    assert result.figures["value.top1_1-ply"].value < result.figures["value.top4_1-ply"].value <= 1
    assert "policy.top1_static" not in result.figures
    candidates = [row["candidates"] for row in result.tables["Recall"] if row["source"] == "value" and row["best play by"] == "static"]
    assert candidates[0] == 1 < candidates[1] < 4 < candidates[2]
    other = FilterRecall(HERE, prune=RANDOM, games=1, ks=(1, 4, 400)).run(GNUBG, None, tmp_path / "other", 1)
    assert other.figures["prune.top1_static"].value < 0.5
    assert other.figures["prune.top400_static"].value == 1


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: FilterRecall(HERE, prune=ENGINE, ply=0), "evaluator.ply"),
        (lambda: FilterRecall(HERE, prune=ENGINE, ks=[]), "evaluator.ks"),
        (lambda: FilterRecall(HERE, prune=ENGINE, ks=[0]), "evaluator.ks"),
        (lambda: CostModel(HERE, []), "evaluator.searches"),
        (lambda: CostModel(HERE, [{"ply": 1, "k": 0}]), r"evaluator.searches\[0\].k"),
        (lambda: CostModel(HERE, [{"ply": 1}, {"plyy": 1}]), r"evaluator.searches\[1\].plyy: a search here takes ply, k and replies"),
        (lambda: CostModel(HERE, [{"ply": 9}]), r"evaluator.searches\[0\]: search.ply=9"),
        (lambda: CostModel(HERE, [{"ply": 1}], playouts=0), "evaluator.playouts"),
    ],
)
def test_bad_settings_are_named(make, key: str) -> None:
    with pytest.raises(RaccoonError, match=key):
        make()

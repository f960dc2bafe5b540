"""The short arena: raw and reduced points, a verdict that follows the interval."""

import pytest

from raccoon.contracts import Evaluator, Figure, RaccoonError
from raccoon.eval.arena.figures import verdict
from raccoon.eval.arena.vr_arena import Arena
from raccoon.executor import ProcessExecutor

GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
RANDOM = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}
HERE = ProcessExecutor(workers=0, progress=False)


def test_the_stronger_player_is_found(tmp_path):
    arena = Arena(HERE, games=10, shard_games=5)
    assert isinstance(arena, Evaluator)
    report = arena.run(GNUBG, RANDOM, tmp_path, 1)
    figure = report.figures["ppg_vr"]
    assert figure.lo is not None
    assert figure.lo > 0.5
    assert report.figures["wins"].value > 0.8
    assert report.notes[0] == "gnubg0 is the stronger: the interval lies above 0"
    assert report.figures["games_to_resolve"].value < 10


def test_without_luck_there_is_no_reduced_figure(tmp_path):
    report = Arena(HERE, games=4, luck="off").run(RANDOM, GNUBG, tmp_path, 1)
    assert "ppg_vr" not in report.figures
    assert report.figures["ppg_raw"].value < 0


def test_verdicts():
    assert verdict(Figure(-0.1, -0.2, -0.05), ("a", "b")).startswith("b is the stronger")
    assert verdict(Figure(0.1, -0.2, 0.4), ("a", "b")).startswith("no difference")
    assert verdict(Figure(0.1), ("a", "b")).startswith("no difference")


def test_bad_options_are_named():
    with pytest.raises(RaccoonError, match=r"evaluator\.games=0"):
        Arena(HERE, games=0)
    with pytest.raises(RaccoonError, match=r"evaluator\.games=1000000000000: 125,000,000 is the most"):
        Arena(HERE, games=10**12)

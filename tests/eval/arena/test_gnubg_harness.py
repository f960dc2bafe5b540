"""GNUBG by level name."""

import pytest

from raccoon.config.instantiate import build
from raccoon.contracts import RaccoonError
from raccoon.engine.gnubg import LEVELS
from raccoon.eval.arena.vr_arena import GnubgHarness, VRArena, level_node
from raccoon.executor import ProcessExecutor

GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
HERE = ProcessExecutor(workers=0, progress=False)


@pytest.mark.parametrize("level", sorted(LEVELS))
def test_every_level_builds_its_player(level):
    player = build(level_node(level))
    assert player.engine.ply == LEVELS[level]
    assert level in player.name


def test_the_level_replaces_the_opponent(tmp_path):
    report = GnubgHarness(HERE, level="expert", games=2).run(GNUBG, None, tmp_path, 1)
    assert report.evaluator == "gnubg_harness"
    assert report.opponent == "gnubg expert"
    assert any("1-ply" in note for note in report.notes)


def test_unknown_level_lists_the_names():
    with pytest.raises(RaccoonError, match=r"evaluator\.level='?wizard'?: is no level of GNUBG; choose one of beginner.*grandmaster"):
        GnubgHarness(HERE, level="wizard")


def test_a_verdict_against_a_level(tmp_path):
    arena = VRArena(HERE, games=2, level="beginner", report="verdict", name="mine")
    assert arena.reads == ("player",)
    report = arena.run(GNUBG, None, tmp_path, 1)
    assert report.evaluator == "mine"
    assert "stronger" in report.notes[0] or "no difference" in report.notes[0]
    assert "evaluator.level=beginner" in report.notes[-1]
    assert report.files == []

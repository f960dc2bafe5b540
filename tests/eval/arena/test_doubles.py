"""Greedy against joint doubles: exact agreement on other rolls, and a real price on doubles."""

import numpy as np
import pytest

from raccoon.contracts import Evaluator, RaccoonError
from raccoon.eval.arena.doubles import DoublesConcession, concession_shard
from raccoon.eval.arena.games import MatchPlan
from raccoon.executor import ProcessExecutor
from raccoon.report import report_files as reports

GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
HERE = ProcessExecutor(workers=0, progress=False)


def test_report(tmp_path):
    measurement = DoublesConcession(HERE, games=20, shard_games=10)
    assert isinstance(measurement, Evaluator)
    report = measurement.run(GNUBG, GNUBG, tmp_path, 1)
    control = report.tables["control"][0]
    assert control["turns without a double"] > 300
    assert control["arms differ"] == 0
    assert control["largest concession"] == 0.0
    figures = report.figures
    assert 2.5 < figures["two_step_turns_per_game"].value < 5
    # GNUBG 0-ply judges itself: the joint choice is never worse
    assert figures["concession_where_different_gnubg0"].value > 0
    assert figures["concession_per_game_gnubg0"].value > 0
    total = figures["concession_per_two_step_turn_gnubg0"].value * figures["two_step_turns"].value
    assert figures["concession_per_game_gnubg0"].value == pytest.approx(total / 20)
    assert report.player == "gnubg0 (greedy doubles)"
    reports.write(report, tmp_path)


def test_the_table_does_not_depend_on_how_many_games_are_played_at_a_time():
    tables = []
    for concurrent in (256, 3):
        plan = vars(MatchPlan(6, concurrent=concurrent, luck=False))
        tables.append(concession_shard({"player": GNUBG, "opponent": GNUBG, "seed": 4, "plan": plan, "second_price": False}, 0))
    for key in ("game", "double", "two_step", "differ", "gnubg0"):
        assert (tables[0][key] == tables[1][key]).all()
    assert (tables[0]["gnubg0"] >= 0).all()
    assert not tables[0]["gnubg0"][~tables[0]["differ"]].any()
    assert not tables[0]["differ"][~tables[0]["two_step"]].any()
    assert np.isnan(tables[0]["gnubg2"]).all()


def test_a_second_price(tmp_path):
    report = DoublesConcession(HERE, games=8, second_price=True).run(GNUBG, GNUBG, tmp_path, 4)
    assert {"concession_per_game_gnubg0", "concession_per_game_gnubg2"} <= set(report.figures)
    assert report.figures["concession_per_game_gnubg2"].value != report.figures["concession_per_game_gnubg0"].value


def test_bad_input_is_named(tmp_path):
    with pytest.raises(RaccoonError, match=r"evaluator\.games=0"):
        DoublesConcession(HERE, games=0)
    with pytest.raises(RaccoonError, match="opponent"):
        DoublesConcession(HERE, games=1).run(GNUBG, None, tmp_path, 1)

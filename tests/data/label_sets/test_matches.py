"""Decisions from match files: the positions and rolls of the plays, targets by a teacher or by what was played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data import MatchDecisions
from raccoon.data.label_sets.matches import matches_shard
from raccoon.data.label_sets.policy_rows import check_decisions
from raccoon.data.label_sets.rows import unpack5
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.position_ids import position_id
from raccoon.matches import decisions_of, read_match

FILE = Path(__file__).parents[2] / "golden" / "matches" / "result_from_the_next_score.mat"
TEACHER = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}}


def rows_of(**options: Any) -> Any:
    plan = MatchDecisions(str(FILE), TEACHER, **options).plan()
    assert plan.count == 1
    return plan.shard(plan.job, 0)["rows"]


@pytest.mark.parametrize("target", ["teacher", "played"])
def test_rows_are_the_plays_of_the_match(target: str) -> None:
    plays = [one for one in decisions_of(read_match(FILE)) if one.kind == "play"]
    rows = rows_of(target=target)
    assert len(rows) == len(plays) == 4  # no doubles were rolled, none is forced
    boards, probs5 = unpack5(rows)
    assert [position_id(board) for board in boards] == [position_id(one.position.board) for one in plays]
    np.testing.assert_allclose(probs5, GnubgEngine(0).probs5(boards), atol=2e-5)
    assert rows["game"].tolist() == [1, 1, 1, 2]
    assert [sorted(dice) for dice in rows["dice"].tolist()] == [sorted(one.position.dice or ()) for one in plays]
    check_decisions(rows)


def test_what_was_played_is_one_play() -> None:
    played, judged = rows_of(target="played"), rows_of(target="teacher")
    assert ((played["shares"] > 0).sum(axis=1) < (judged["shares"] > 0).sum(axis=1)).all()
    assert matches_shard(MatchDecisions(str(FILE), TEACHER, target="played").plan().job, 0)["rows"].tobytes() == played.tobytes()


def test_bad_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=r"data\.source\.target='both': choose teacher or played"):
        MatchDecisions(str(FILE), TEACHER, target="both")
    with pytest.raises(RaccoonError, match="neither a file nor a folder"):
        MatchDecisions("missing.mat", TEACHER).plan()
    with pytest.raises(RaccoonError, match="name match files"):
        MatchDecisions(str(tmp_path), TEACHER).plan()
    (tmp_path / "bad.mat").write_text(FILE.read_text().replace("31: 8/5 6/5", "31: 8/4 6/5"))
    plan = MatchDecisions(str(tmp_path), TEACHER).plan()
    with pytest.raises(RaccoonError, match=r"bad\.mat, line 5"):
        plan.shard(plan.job, 0)

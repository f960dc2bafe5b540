"""Games of the match runner as match text: every action, every result, readable again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import CubeRules, RaccoonError
from raccoon.engine.gnubg import GnubgEngine
from raccoon.eval.arena.games import MatchPlan, match_shard, play_match
from raccoon.executor import ProcessExecutor
from raccoon.matches import MatchRecorder, parse_match, read_matches
from raccoon.play.match import play_games
from raccoon.play.player import EnginePlayer


@pytest.mark.parametrize(("rules", "length"), [(None, None), (CubeRules(jacoby=True, beavers=True), None), (CubeRules(), 3)])
def test_games_are_kept_as_they_were_played(rules: CubeRules | None, length: int | None) -> None:
    player = EnginePlayer(GnubgEngine(0), name="gnubg0")
    recorder = MatchRecorder(rules, length, ("gnubg0", "other"))
    games = np.arange(2)
    result = play_games((player, player), games, 3, observers=[recorder], cube=rules, match_length=length)
    texts = recorder.texts()
    read = [parse_match(text, name) for name, text in texts.items()]
    assert [match for _, match in recorder.matches()] == read
    assert sum(sum(action.kind == "move" for action in game.actions) for match in read for game in match.games) == result.rolls.sum()
    if length is None:
        (session,) = read
        won = [game.points * (1 - 2 * (game.winner or 0)) for game in session.games]
        assert won == result.points.tolist()
        assert session.cube is (rules is not None)
    else:
        assert [1 if match.score[0] >= length else -1 for match in read] == result.points.tolist()
        assert list(texts) == [f"{game:07d}.mat" for game in games]


def test_an_arena_writes_its_games(tmp_path: Path) -> None:
    node = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine"}}
    plan = MatchPlan(games=4, shard_games=2, luck=False, record=True, turn_cap=40)
    played = play_match(ProcessExecutor(workers=0, progress=False), node, node, plan, 1, tmp_path / "shards", "arena")
    found = read_matches(tmp_path / "matches")
    assert sum(len(match.games) for match in found) == 4
    unfinished = [game.winner is None for match in found for game in match.games]
    assert unfinished == played.capped.tolist()
    with pytest.raises(RaccoonError, match=r"evaluator.record='yes': give true or false"):
        MatchPlan(games=4, record="yes")  # pyright: ignore[reportArgumentType]


def test_shards_of_arenas_without_a_record_are_those_of_before() -> None:
    node = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine"}}
    plan = {"games": 1, "shard_games": 1, "luck": False, "turn_cap": 2}
    shard = match_shard({"player": node, "opponent": node, "seed": 1, "plan": plan}, 0)
    assert bytes(shard["texts"]) == b"{}"

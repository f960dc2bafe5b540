"""Games from given positions: whose worth is luck, in groups, on both sides of every position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.board import START
from raccoon.env.position_ids import from_position_id, position_id
from raccoon.eval.arena.starts import read_starts
from raccoon.eval.arena.vr_arena import VRArena
from raccoon.executor import ProcessExecutor

GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
RANDOM = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}
HERE = ProcessExecutor(workers=0, progress=False)


def board(mine: dict[int, int], theirs: dict[int, int]) -> np.ndarray:
    found = np.zeros((2, 25), np.int8)
    for side, points in ((1, mine), (0, theirs)):
        for point, checkers in points.items():
            found[side, point - 1] = checkers
    return found


LAST = board({1: 1}, {1: 1})  # who is on roll bears off and wins one point
GAMMON = board({1: 1}, {13: 15})  # and two here
RACE = board({3: 5, 6: 8}, {4: 6, 5: 7})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"last": [LAST], "lost": [GAMMON, LAST], "race": [RACE]}
    for name, boards in texts.items():
        lines = [f"{position_id(each)}  # a comment" for each in boards]
        (tmp_path / f"{name}.txt").write_text("\n".join(["# positions", *lines, ""]))
    return {name: str(tmp_path / f"{name}.txt") for name in texts}


def test_positions_of_groups_take_turns_and_keep_their_names(files: dict[str, str]) -> None:
    assert read_starts(files["lost"]) == [("lost", position_id(GAMMON)), ("lost", position_id(LAST))]
    both = read_starts({"one": files["last"], "other": files["lost"]})
    assert both == [("one", position_id(LAST)), ("other", position_id(GAMMON)), ("other", position_id(LAST))]


def test_what_a_position_is_worth_is_luck_of_the_side_that_has_it(files: dict[str, str], tmp_path: Path) -> None:
    """Every game ends with its first roll: nobody can do better or worse."""
    arena = VRArena(HERE, games=60, shard_games=20, starts={"one": files["last"], "two": files["lost"]})
    report = arena.run(GNUBG, RANDOM, tmp_path / "run", seed=3)
    assert report.figures["ppg_vr"].value == pytest.approx(0, abs=1e-6)
    assert report.figures["sd_vr"].value == pytest.approx(0, abs=1e-6)
    assert report.figures["sd_raw"].value > 1
    rows = report.tables["by start"]
    assert [(row["starts"], row["positions"], row["games"]) for row in rows] == [("one", 1, 20), ("two", 2, 40)]


def test_the_better_player_is_better_from_there_and_the_result_does_not_depend_on_shards(files: dict[str, str], tmp_path: Path) -> None:
    means = []
    for shard_games in (8, 100):
        arena = VRArena(HERE, games=200, shard_games=shard_games, starts=files["race"], report="verdict")
        report = arena.run(GNUBG, RANDOM, tmp_path / str(shard_games), seed=1)
        means.append(report.figures["ppg_vr"].value)
        assert report.tables["by start"][0]["points per game"].value == means[-1]
    assert means[0] == means[1]
    assert (report.figures["ppg_vr"].lo or 0.0) > 0.02


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no position"),
        ("nonsense", "bad.txt, line 1: Position ID 'nonsense': 8 characters instead of 14$"),
        (position_id(START), "bad.txt, line 1: is the starting position"),
        (position_id(board({}, {1: 3})), "bad.txt, line 1: .* the game is over"),
    ],
)
def test_files_without_a_game_to_play_are_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.txt").write_text(text + "\n")
    with pytest.raises(RaccoonError, match=rf"^evaluator\.starts: .*{told}"):
        VRArena(HERE, starts=str(tmp_path / "bad.txt"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"openings": "stratified"}, r"evaluator\.openings=stratified"),
        ({"record": True}, r"evaluator\.record=true"),
        ({"blocks": {"count": 2, "games": 1}}, r"evaluator\.starts: evaluator\.blocks"),
    ],
)
def test_options_that_have_no_use_for_positions_are_refused(files: dict[str, str], options: dict[str, Any], told: str) -> None:
    with pytest.raises(RaccoonError, match=told):
        VRArena(HERE, starts=files["last"], **options)
    with pytest.raises(RaccoonError, match=r"evaluator\.starts: .*none\.txt"):
        VRArena(HERE, starts="none.txt")
    with pytest.raises(RaccoonError, match=r"evaluator\.starts=\{\}"):
        VRArena(HERE, starts={})
    assert np.array_equal(from_position_id(read_starts(files["last"])[0][1]), LAST)

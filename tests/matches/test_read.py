"""Match files of many programs: 40 files in ``tests/golden/matches`` with invented names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raccoon.contracts import RaccoonError
from raccoon.matches import Match, mat_text, parse_match, read_match, read_matches, read_positions
from raccoon.matches.state import GameState

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "matches.json").read_text(encoding="utf-8"))
HEAD = " 5 point match\n\n Game 1\n Hazel : 0                      Rowan : 0\n"
OPENING = HEAD + "  1) 31: 8/5 6/5                 62: 24/18 13/11\n"


@pytest.fixture(scope="module")
def matches() -> dict[str, Match]:
    return {Path(match.source).name: match for match in read_matches(GOLDEN / "matches")}


def test_every_file_is_read(matches: dict[str, Match]) -> None:
    assert len(matches) == len(EXPECTED) == 40
    for name, match in matches.items():
        found = {
            "length": match.length,
            "score": list(match.score),
            "actions": [len(game.actions) for game in match.games],
            "names": list(match.names),
        }
        assert found == EXPECTED[name], name
        assert not match.faults


def test_files_of_gnubg_in_two_formats_are_the_same_match(matches: dict[str, Match]) -> None:
    text, sgf = matches["gnubg_match_3.mat"], matches["gnubg_match_3.sgf"]
    assert text == sgf
    assert [game.crawford for game in text.games] == [False, True, False, False]
    assert matches["gnubg_text_export.txt"].games == text.games[2:3]
    assert matches["cannot_move.mat"].games == matches["bare_rolls.mat"].games


def test_our_own_export_is_read_back(matches: dict[str, Match]) -> None:
    for name, match in matches.items():
        again = parse_match(mat_text(match, names=True), name)
        assert again == match, name


def test_names_stay_where_they_are(matches: dict[str, Match]) -> None:
    match = matches["names_with_commas.mat"]
    assert "Ida" not in mat_text(match) + repr(match)
    assert "Ash, Ida J. : 0" in mat_text(match, names=True)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (HEAD + "  1) 31: 8/4 6/5                 62: 24/18 13/11\n", 5, "not a legal play"),
        (OPENING + "  2) 44: 24/20 24/20 13/9 13/9 21: 13/11 6/5\n", 6, "'13/11 6/5' with 2-1: not a legal play"),
        (HEAD + "  1) 31: Cannot Move             62: 24/18 13/11\n", 5, "no dance"),
        (HEAD + "  1) 33: 8/5 6/3                 62: 24/18 13/11\n", 5, "equal dice open no game"),
        (HEAD + "  1)  Doubles => 2               Takes\n", 5, "not the time for a double: the game waits for its opening roll"),
        (OPENING + "  2)  Takes\n", 6, "not the time for an answer to a double"),
        (OPENING + "  2)  Doubles => 2               62: 24/18\n", 6, "player 2 is to answer a double"),
        (OPENING + "  2)                             31: 8/5\n", 6, "the turn of the left player"),
        (OPENING + "  2)  Doubles => 2               Beavers => 4\n", 6, "these rules or this cube allow none"),
        (OPENING + "  2) 64: ????                    31: 13/10\n", 6, "the play before it is missing"),
        (OPENING + "  2) 64: 24/14*  what is this?\n", 6, "is no checker move"),
        (OPENING + f"  2) 64: {'9' * 5000}/14\n", 6, "is no checker move"),
        (OPENING + "  2) rolls six and four\n", 6, "cannot be read: 'rolls six and four'"),
        (OPENING + "      Wins 1 point\n\n Game 2\n A : 0          B : 2\n", 8, "the score is 0-2; after the game before it is 1-0"),
        (OPENING + "  2)  Doubles => 2                Drops\n                                  Wins 1 point\n", 7, "the plays have"),
        ("(;GM[6]MI[length:3]\n;B[31qtst]\n;W[31fbhd])", 3, "not a legal play"),
        ("(;GM[6]MI[length:3]\n;B[31qtst]\n;W[treble])", 3, "neither a roll and a play"),
        ("(;GM[1]MI[length:3]\n;B[pd])", 1, "GM is not 6"),
        ("(;GM[6]\nAB[a][b])", 2, "positions that are set up"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(RaccoonError, match=reason) as error:
        parse_match(text, "some.mat")
    assert f"some.mat, line {line}: " in str(error.value)


def test_tolerant_reading_names_every_line_that_it_leaves_out() -> None:
    text = (
        OPENING + "  2) 64: 24/13                   31: 13/10 8/7\n  3) 21: 13/11\n  oh dear\n      Wins 2 points\n\n"
        " Game 2\n Hazel : 2                      Rowan : 0\n  1)                             52: 13/8 24/22\n"
    )
    match = parse_match(text, "some.mat", strict=False)
    assert [fault.line for fault in match.faults] == [6, 7, 8]
    assert "left out, as what follows line 6" in match.faults[1].reason
    first, second = match.games
    assert (len(first.actions), first.winner, first.points) == (2, 0, 2)
    assert len(second.actions) == 1
    assert second.winner is None
    assert match.score == (2, 0)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match="neither match text"):
        parse_match("hello", "hello.txt")
    with pytest.raises(RaccoonError, match="holds no games"):
        parse_match(" 5 point match\n", "empty.mat")
    with pytest.raises(RaccoonError, match=r"missing\.mat: cannot be read"):
        read_match(tmp_path / "missing.mat")
    with pytest.raises(RaccoonError, match="no folder with files"):
        read_matches(tmp_path)
    (tmp_path / "odd.txt").write_text("hello")
    (found,) = read_matches(tmp_path, strict=False)
    assert not found.games
    assert "neither match text" in found.faults[0].reason


def test_a_game_ends_as_the_rules_say(matches: dict[str, Match]) -> None:
    for match in matches.values():
        for index, game in enumerate(match.games):
            state = GameState.of(match, index)
            for action in game.actions:
                assert state.apply(action) == action
            assert (state.winner, state.points if state.over else 0) == (game.winner, game.points)


def test_lists_of_positions(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(
        "# a list\n4HPwATDgc/ABMA 31\n4HPwATDgc/ABMA:cAkAAAAAAAAA\nnonsense\nXGID=-a----E-C---eE---c-e----B-:0:0:1:42:0:0:0:3:10\n"
    )
    with pytest.raises(RaccoonError, match=r"ids.txt, line 4: Position ID 'nonsense'"):
        read_positions(path)
    found = read_positions(path, strict=False)
    assert [each.line for each in found.positions] == [2, 3, 5]
    assert [each.position.dice for each in found.positions] == [(3, 1), None, (4, 2)]
    assert [fault.line for fault in found.faults] == [4]
    path.write_text(
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:42:0:0:0:3:10\n\nX:Hazel   O:Rowan\nScore is X:0 O:0 3 pt.(s) match.\n"
        " +13-14-15-16-17-18------19-20-21-22-23-24-+\nX to play 42\n\n    1. XG Roller+  8/4 6/4     eq:+0.110\n"
    )
    assert [each.position.dice for each in read_positions(path).positions] == [(4, 2)]

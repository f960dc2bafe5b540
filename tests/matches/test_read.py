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


BEAVERED = (
    '; [Jacoby "On"]\n; [Beaver "On"]\n\n 0 point match\n\n Game 1\n Hazel : 0                      Rowan : 0\n'
    "  1) 31: 8/5 6/5                 62: 24/18 13/11\n  2)  Doubles => 2               {answer}\n"
)
ROLLED = "43: 24/20 13/10             51: 13/8 6/5\n"


@pytest.mark.parametrize(
    ("rows", "kinds", "cube", "owner"),
    [
        (f"Beavers => 4\n  3) {ROLLED}", ["beaver"], 4, 1),
        (f"Beavers\n  3)  Takes\n  4) {ROLLED}", ["beaver"], 4, 1),
        (f"Beavers => 4\n  3)  Accepts\n  4) {ROLLED}", ["beaver"], 4, 1),
        (f"Redoubles => 4\n  3) {ROLLED}", ["beaver"], 4, 1),
        (f"Beavers => 4\n  3)  Beavers => 8\n  4) {ROLLED}", ["beaver", "beaver"], 8, 1),  # a raccoon, as GNU Backgammon writes it
        (f"Beavers => 4\n  3)  Raccoons => 8               Takes\n  4) {ROLLED}", ["beaver", "beaver"], 8, 1),
        ("Beavers => 4\n  3)  Drops                       Wins 2 points\n", ["beaver", "drop"], None, None),
        ("Beavers => 4\n  3)  Beavers => 8               Drops\n      Wins 4 points\n", ["beaver", "beaver", "drop"], None, None),
    ],
)
def test_beavers_are_read_as_other_programs_write_them(rows: str, kinds: list[str], cube: int | None, owner: int | None) -> None:
    match = parse_match(BEAVERED.format(answer=rows), "some.mat")
    (game,) = match.games
    assert [action.kind for action in game.actions[3:] if action.kind != "move"] == kinds
    state = GameState.of(match, 0)
    for action in game.actions:
        state.apply(action)
    if cube is None:
        assert (game.winner, game.points) == ((1, 2) if len(kinds) == 2 else (0, 4))
    else:
        assert (state.cube, state.owner, len(game.actions)) == (cube, owner, 5 + len(kinds))
    assert parse_match(mat_text(match, names=True), "some.mat") == match


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("Beavers => 4\n  3) " + ROLLED + "  4)                              Drops\n", "not the time for an answer"),
        ("Beavers => 4\n  3)                              Drops\n", "not the time for an answer"),
        ("Takes\n  3)  Beavers => 4\n", "not the time for an answer"),
    ],
)
def test_beavers_at_the_wrong_time_are_refused(rows: str, reason: str) -> None:
    with pytest.raises(RaccoonError, match=reason):
        parse_match(BEAVERED.format(answer=rows))


def test_a_double_that_answers_one_is_a_beaver_in_sgf() -> None:
    """As GNU Backgammon saves a beaver and a raccoon, and the same two in its match text."""
    head = "(;FF[4]GM[6]AP[GNU Backgammon:1.1.0a16]MI[length:0]\n;B[63aglo]\n;W[double]\n;B[double]\n"
    text = "\n 0 point match\n\n Game 1\n gnubg : 0                      root : 0\n  1)                             63: 24/18 13/10 \n"
    text += "  2)  Doubles => 2                Beavers => 4\n"
    for sgf, rows in (
        (";W[53hcfc])", "  3) 53: 8/3 6/3 \n"),
        (";W[double]\n;B[take]\n;W[53hcfc])", "  3)  Beavers => 8                 \n  4) 53: 8/3 6/3 \n"),
        (";W[drop])", "  3)  Drops                       Wins 2 points \n"),
    ):
        assert parse_match(head + sgf).games == parse_match(text + rows).games
    with pytest.raises(RaccoonError, match="allow none"):
        parse_match(head.replace("length:0", "length:5") + ";W[take])")

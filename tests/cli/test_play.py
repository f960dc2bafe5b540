"""Playing at a terminal: whole matches by lines of text, what is refused, undo, the file that keeps the match."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli.play.commands import COMMANDS, answer
from raccoon.cli.play.page import HELP
from raccoon.cli.play.played import PlayedMatch
from raccoon.cli.play.program import _job
from raccoon.cli.play.session import Session
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import plain
from raccoon.contracts import CubeRules, RaccoonError, Turns
from raccoon.engine.gnubg import GnubgEngine
from raccoon.matches.formats.mat_writer import mat_text
from raccoon.matches.read import parse_match, read_match
from raccoon.play import EnginePlayer, MatchResult, play_games
from raccoon.play.game import OVER, PLAY, Game
from raccoon.play.resignation import accepts
from raccoon.search.analysis.questions import read_question

PLAYER = EnginePlayer(GnubgEngine(), name="gnubg0")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


def begun(folder: Path, length: int = 0, seed: int | None = 4, seat: int = 1, **rules: bool) -> Session:
    session = Session(PlayedMatch.new(length, **rules), PLAYER, folder / "match.mat", seat, seed)
    told(session)
    return session


def told(session: Session, *lines: str) -> list[str]:
    """What is said: up to where the person has to act, and after each of the lines."""
    said = list(session.proceed())
    for line in lines:
        said += [text for text in [answer(session, line)] if text is not None]
        said += session.proceed()
    return said


def best(session: Session) -> str:
    """The line that plays what the player would play."""
    game = session.played.game
    return "next" if game.stage == OVER else game.decide(PLAYER).removeprefix("play ")


@pytest.fixture(scope="module")
def result() -> MatchResult:
    """Of match 0 with the dice of seed 8."""
    return play_games((PLAYER, PLAYER), [0], 8, cube=CubeRules(), match_length=3)


@pytest.mark.parametrize("seat", [1, 2])
def test_a_scripted_match_is_the_match_runners(tmp_path: Path, seat: int, result: MatchResult) -> None:
    session = begun(tmp_path, 3, 8, seat)
    said: list[str] = []
    for stop in range(400):
        if session.played.game.match_over:
            break
        if stop % 20 == 3:
            resumed = PlayedMatch.resume(read_match(session.path))
            assert resumed.record == session.played.record
            assert session.played.game.stage == PLAY or resumed.game == session.played.game
        said += told(session, best(session))
    one, two = session.played.score
    assert (1 if one > two else -1) == result.points[0]
    assert sum(action.kind == "move" for game in session.played.record.games for action in game.actions) == result.rolls[0]
    winner = "you win" if (one > two) == (seat == 1) else "gnubg0 wins"
    assert said[-1].splitlines()[-1] == f"the match is over: {winner} it {max(one, two)}-{min(one, two)}"
    assert read_match(session.path) == session.played.record
    assert session.waits == "match over"
    with pytest.raises(RaccoonError, match="next: the match is over"):
        answer(session, "next")


def test_money_games_with_beavers_and_all_kinds_of_cube_actions(tmp_path: Path) -> None:
    session = begun(tmp_path, seed=1, jacoby=True, beavers=True)
    kinds: list[str] = []
    for answered in ("take", "beaver", "pass", "take"):  # each double is answered as the turn has it
        while session.played.game.stage != OVER:
            words = session.played.game.legal()
            word = next((word for word in (answered, "double") if word in words), best(session))
            told(session, word if len(session.played.actions) < 12 or word != best(session) else "resign backgammon")
        kinds += [action.kind for action in session.played.actions]
        assert PlayedMatch.resume(read_match(session.path)).record == session.played.record
        told(session, "next")
    assert {"move", "double", "drop", "resign"} <= set(kinds)
    won = [game.points if game.winner == 0 else -game.points for game in session.played.record.games]
    assert session.played.score == (sum(max(each, 0) for each in won), sum(max(-each, 0) for each in won))
    assert max(map(abs, won)) > 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("8/5 6/5", "turn '8/5 6/5' with 3-2: not a legal play"),
        ("13/8*", "turn '13/8*' with 3-2: no legal play hits on [8]"),
        ("31: 8/5 6/5", "turn '31: 8/5 6/5' with 3-2: the text names another roll"),
        ("castle", "turn 'castle': 'castle' is no checker move"),
        ("6", "turn '6': '6' is no checker move"),
        ("24/26", "turn '24/26': '24/26' does not go from a point"),
        ("\0\ud800 ٣/٢", "turn '\\x00\\ud800 ٣/٢'"),
        ("8/5 " * 2000, "turn '8/5 8/5"),
        ("roll", "roll: not now; play 3-2"),
        ("double", "double: not now; play 3-2"),
        ("take", "take: not now; play 3-2"),
        ("PASS", "pass: not now; play 3-2"),
        ("beaver", "beaver: not now"),
        ("next", "next: not now"),
        ("take it", "take 'it': write take alone"),
        ("undo", "undo: there is nothing to take back"),
        ("hint 0", "hint '0': write how many plays"),
        ("hint many", "hint 'many': write how many plays"),
        ("resign 4", "resign '4': write resign single"),
        ("save", "save='': give the name of a file"),
        ("save match.sgf", "match.sgf: what is written there is match text; name it match.mat"),
        ("save .", "save='.': give the name of a file"),
        ("load none.mat", "none.mat: cannot be read"),
        ("load spoilt.mat", "spoilt.mat, line 6: "),
    ],
)
def test_an_illegal_line_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    session = begun(tmp_path)
    text = " 3 point match\n\n Game 1\n White : 0      Black : 0\n  1) 31: 8/5 6/5     52: 13/8 13/11\n  2) 31: 8/1\n"
    (tmp_path / "spoilt.mat").write_text(text)
    before, files = vars(session).copy(), sorted(tmp_path.iterdir())
    with pytest.raises(RaccoonError) as caught:
        answer(session, line)
    assert str(caught.value).startswith(message), caught.value
    assert vars(session) == before
    assert sorted(tmp_path.iterdir()) == files
    assert told(session) == []


def test_plays_are_read_in_every_notation(tmp_path: Path) -> None:
    for text in ("24/21 13/11", "32: 13/11, 24/21", "13/11 24/21", "  24/21   13/11 "):
        session = begun(tmp_path)
        told(session, text)
        assert session.played.actions[0].move == "24/21 13/11"


def test_undo_takes_back_one_action_with_its_dice(tmp_path: Path) -> None:
    session = begun(tmp_path, 5)
    stops = []
    for _ in range(12):
        stops.append(session.played)
        told(session, best(session))
    assert len({stop.game.stage for stop in stops}) > 1
    played = session.played
    for stop in reversed(stops):
        assert answer(session, "undo") == "taken back"
        assert session.played is stop
        assert read_match(session.path) == stop.record
        told(session)
    for _ in stops:
        told(session, best(session))
    assert session.played == played


def test_a_match_is_saved_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = begun(tmp_path, 5)
    for _ in range(6):
        told(session, best(session))
    assert answer(session, "save copy.mat") == "saved: copy.mat"
    with pytest.raises(RaccoonError, match="there is such a file"):
        answer(session, "save copy.mat")
    left = session.played.record
    other = begun(tmp_path / "other", 3, 9)
    assert told(other, "load copy.mat")[0] == "loaded: copy.mat, where the match is kept from now on"
    assert other.played.record.games[0].actions[: len(left.games[0].actions)] == left.games[0].actions
    assert "score 0-0 of 5" in "\n".join(told(other, "board"))
    told(other, best(other))
    assert read_match(tmp_path / "copy.mat") == other.played.record
    answer(other, "undo")
    with pytest.raises(RaccoonError, match="nothing to take back"):
        answer(other, "undo")


def test_names_and_first_score_of_a_file_stay(tmp_path: Path) -> None:
    text = " 0 point match\n\n Game 1\n Ann B : 3      C. Dee : 1\n  1) 31: 8/5 6/5     52: 13/8 13/11\n"
    played = PlayedMatch.resume(parse_match(text))
    assert (played.score, played.names) == ((3, 1), ("Ann B", "C. Dee"))
    assert mat_text(played.resign(2).record, names=True).splitlines()[3].split() == ["Ann", "B", ":", "3", "C.", "Dee", ":", "1"]
    assert played.resign(2).next().score == (3, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" 3 point match\n\n Game 1\n A : 0   B : 0\n  1) 31: ????\n", "the last game cannot go on: a play is not known"),
        (" 30 point match\n\n Game 1\n A : 0   B : 0\n  1) 31: 8/5 6/5\n", "match=30: the Kazaross-XG2"),
        (
            " 3 point match\n\n Game 1\n A : 0   B : 0\n  1) 31: 8/5 6/5\n\n Game 2\n A : 0   B : 0\n  1) 31: 8/5 6/5\n",
            "game 1 has no end",
        ),
    ],
)
def test_a_match_that_cannot_go_on_is_refused(text: str, message: str) -> None:
    with pytest.raises(RaccoonError, match=re.escape(message)):
        PlayedMatch.resume(parse_match(text))


def test_the_crawford_game_is_played_once() -> None:
    played = PlayedMatch.new(3).roll(3, 1).play("8/5 6/5").resign(2).next().roll(3, 1)
    crawford = PlayedMatch.resume(parse_match(mat_text(played.play("8/5 6/5").record)))
    assert crawford.game.position.crawford
    over = PlayedMatch.resume(parse_match(mat_text(played.resign(1).record)))
    assert (over.game.stage, over.score) == (OVER, (2, 1))
    later = PlayedMatch.resume(parse_match(mat_text(over.next().roll(3, 1).play("8/5 6/5").record)))
    for match in (over.next(), later, later.resign(1)):
        assert not match.game.position.crawford
        assert match.game.crawford_played
    assert "double" in later.game.legal()


def test_dice_by_hand(tmp_path: Path) -> None:
    session = begun(tmp_path, 3, seed=None, seat=2)
    assert session.waits == "opening dice, yours first"
    for line in ("33", "7 1", "3", "roll", "8/5 6/5"):
        with pytest.raises(RaccoonError):
            answer(session, line)
    told(session, "6-2")
    assert (session.played.game.on_roll, session.waits) == (2, "play 2-6")
    told(session, "24/18 13/11")
    assert session.waits == "dice of gnubg0"
    with pytest.raises(RaccoonError, match="double: not now; dice of gnubg0"):
        answer(session, "double")
    assert told(session, "5 2")[0].startswith("gnubg0 plays ")
    assert session.waits == "dice or double"
    told(session, "44", "undo")
    assert session.waits == "dice or double"


def test_a_line_of_nothing_rolls_and_begins_the_next_game(tmp_path: Path) -> None:
    session = begun(tmp_path, 3)
    assert told(session, "") == []
    told(session, best(session))
    assert session.waits == "roll or double"
    assert told(session, " ")[0].startswith("you roll ")
    told(session, "resign", "")
    assert (session.played.number, session.played.score) == (1, (0, 1))


def test_hints_and_analysis_are_the_players(tmp_path: Path) -> None:
    session = begun(tmp_path, 3)
    (page,) = told(session, "hint 2")
    assert re.search(r"^  1 24/21 13/11 +0 +\+0\.", page, re.MULTILINE)
    assert "\n  3 " not in page
    told(session, "13/8")
    (page,) = told(session, "hint")
    assert "no double, take" in page
    assert "MWC" in page
    (page,) = told(session, "analyse")
    assert re.search(r"you +32 13/8 .*best: 24/21 13/11$", page, re.MULTILINE)
    assert re.search(r"^you +1 ", page, re.MULTILINE)


class Blind:
    """A player without an engine."""

    name = "blind"

    def choose(self, turns: Turns) -> np.ndarray:
        """The first play."""
        return np.zeros(len(turns), np.int64)

    def double(self, boards: Any, cubes: Any) -> np.ndarray:
        """Never."""
        return np.zeros(len(boards), bool)

    def take(self, boards: Any, cubes: Any) -> np.ndarray:
        """Always."""
        return np.ones(len(boards), bool)


def test_a_player_without_an_engine_plays_and_gives_no_hints(tmp_path: Path) -> None:
    session = Session(PlayedMatch.new(3), Blind(), tmp_path / "match.mat", 1, 4)
    told(session)
    for word in ("hint", "analyse"):
        with pytest.raises(RaccoonError, match=f"{word}: blind has no engine and search to ask"):
            answer(session, word)
    assert told(session, "resign gammon") == ["blind plays on: it expects more than that"]
    assert told(session, "resign backgammon")[0] == "blind agrees"
    assert session.played.score == (0, 3)


def at(xgid: str) -> Game:
    return Game.at(read_question(xgid).position)


def test_what_is_resigned_is_agreed_to_where_it_is_as_much_as_is_expected() -> None:
    """Lower is to roll: in ``lost`` it has borne off two and needs many rolls, in ``gammon`` it is far from home."""
    lost = "XGID=-BCC-----------------eec--:0:0:-1:00:0:0:0:0:10"
    gammon = "XGID=-CCC---o------------------:0:0:-1:00:0:0:0:0:10"
    assert accepts(at(lost), 1, PLAYER)
    assert not accepts(at(gammon), 1, PLAYER)
    assert accepts(at(gammon), 2, PLAYER)
    jacoby = gammon.replace(":0:0:0:0:10", ":0:0:1:0:10")
    assert accepts(at(jacoby), 1, PLAYER)
    one_away = "XGID=-CCC---o------------------:0:0:-1:00:2:2:0:3:10"
    assert accepts(at(one_away), 1, PLAYER)
    two_away = "XGID=-CCC---o------------------:0:0:-1:00:0:0:0:3:10"
    assert not accepts(at(two_away), 1, PLAYER)
    assert accepts(at(two_away), 2, PLAYER)


def talk(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: str, *overrides: str) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    _job(plain(compose("play", ["player=gnubg0", *overrides])), None)


def test_the_end_of_the_input_keeps_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    talk(tmp_path, monkeypatch, "24/21 13/11\nnonsense\n", "seed=4", "match_length=3")
    out = capsys.readouterr().out
    (path,) = tmp_path.glob("runs/play/*.mat")
    assert out.startswith("you against gnubg0, seed=4; help lists what there is\nopening roll 3-2: you begin\n")
    assert "\nplay 3-2> 24/21 13/11\n" in out
    assert "\nroll or double> nonsense\nerror: 'nonsense': not understood; roll or double (help lists what there is)\n" in out
    name = path.relative_to(tmp_path)
    assert out.endswith(f"roll or double> \nkept: {name}; file={name} goes on with it\n")
    left = read_match(path)
    talk(tmp_path, monkeypatch, "board\n", "seed=4", f"file={name}")
    assert "score 0-0 of 3" in capsys.readouterr().out
    assert read_match(path) == left


def test_an_interrupt_keeps_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def thinking(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EnginePlayer, "choose", thinking)
    with pytest.raises(KeyboardInterrupt):
        talk(tmp_path, monkeypatch, "24/21 13/11\n", "seed=4", "match_length=3", "file=kept.mat")
    assert capsys.readouterr().out.endswith("\nkept: kept.mat; file=kept.mat goes on with it\n")
    assert read_match(tmp_path / "kept.mat").games[0].actions[0].move == "24/21 13/11"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["match_length=26"], "match=26: the Kazaross-XG2"),
        (["match_length=-1"], "match_length=-1: give a whole number, 0 or more"),
        (["match_length=3", "jacoby=true"], "jacoby, beavers: rules of money games"),
        (["dice=31"], "dice=31: give random or manual"),
        (["dice=manual", "seed=1"], "seed: dice=manual rolls no dice"),
        (["seat=true"], "seat=True: give 1 or 2"),
        (["seed=x"], "seed='x': give a whole number"),
        (["beavers=7"], "beavers=7: give true, false, or null"),
        (["file=5"], "file=5: give the name of a file"),
        (["file=a.txt"], "a.txt: what is written there is match text; name it a.mat"),
        (["file=old.mat", "match_length=5"], "match_length=5: old.mat has match_length=3"),
        (["file=spoilt.mat"], "spoilt.mat: neither match text"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_settings_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overrides: list[str], message: str) -> None:
    (tmp_path / "old.mat").write_text(mat_text(PlayedMatch.new(3).record))
    (tmp_path / "spoilt.mat").write_text("nothing\n")
    with pytest.raises(RaccoonError) as caught:
        talk(tmp_path, monkeypatch, "", *overrides)
    assert str(caught.value).startswith(message), caught.value


def test_a_full_disk_undoes_the_action(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begun(tmp_path)
    before = session.played

    def full(*_: Any, **__: Any) -> None:
        raise RaccoonError("match.mat: cannot be written")

    monkeypatch.setattr("raccoon.cli.play.session.write_mat", full)
    with pytest.raises(RaccoonError, match="cannot be written"):
        answer(session, "24/21 13/11")
    assert session.played is before


def test_help_names_every_command() -> None:
    words = set(re.findall(r"\w+", HELP))
    assert {word for word in COMMANDS if word not in words} == {"help", "drop"}

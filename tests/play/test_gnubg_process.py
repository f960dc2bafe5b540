"""Driving a program that dies, hangs, answers nonsense or is none; the programs are scripts, so GNU Backgammon is not needed."""

from __future__ import annotations

import logging
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import CubeRules, Cubes, RaccoonError, Turns
from raccoon.env.board import START
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import parse_turn
from raccoon.play.gnubg_cli import GnubgCliPlayer
from raccoon.play.gnubg_process import find_program

# What the program prints for the opening position, 3-1 and before the roll.
POINTS = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
ANSWERS = f"""
while read -r line; do case "$line" in
  "set xgid "*:31:*) echo "board:a:b:0:0:0:{POINTS}:1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";;
  "set xgid "*) echo "board:a:b:0:0:0:{POINTS}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";;
  "hint 1") echo "    1. Cubeful 0-ply    8/5 6/5                      Eq.: +0.218";;
  hint) echo "Proper cube action: $ACTION (23.6%)";;
  raccoon*) echo "Unknown keyword '$line'.";;
esac; done
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    def write(body: str) -> str:
        path = tmp_path / "program"
        path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "GNU Backgammon 9.87 20300101"; exit; fi\n{body}\n')
        path.chmod(0o755)
        return str(path)

    return write


def opening(rows: int = 1) -> Turns:
    return enumerate_turns(np.repeat(START[None], rows, 0), np.repeat([[3, 1]], rows, 0), Cubes.centred(rows, CubeRules()))


def test_answers_are_read(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(path=program("ACTION='No double, take'" + ANSWERS), programs=1)
    assert player.version == "9.87"
    turns = opening()
    child = turns.children[turns.offsets[0] + player.choose(turns)[0]]
    assert np.array_equal(child, parse_turn(START, (3, 1), "8/5 6/5"))
    assert player.restarts_used == 0
    assert len(player.pids) == 1
    player.close()
    assert player.pids == []


@pytest.mark.parametrize("word", ["double", "redouble"])
@pytest.mark.parametrize(
    ("action", "double", "take", "beaver"),
    [
        ("{}, take", True, True, False),
        ("{}, pass", True, False, False),
        ("{}, beaver", True, True, True),
        ("No {}, take", False, True, False),
        ("No {}, beaver", False, True, True),
        ("Too good to {}, pass", False, False, False),
        ("Too good to {}, take", False, True, False),
        ("Never {}, take (dead cube)", False, True, False),
        ("Optional {}, pass", False, False, False),
        ("Optional {}, take", False, True, False),
    ],
)
def test_every_cube_action(program: Callable[[str], str], word: str, action: str, double: bool, take: bool, beaver: bool) -> None:
    said = action.format(word)
    player = GnubgCliPlayer(path=program(f"ACTION='{said[0].upper()}{said[1:]}'" + ANSWERS), programs=1, restarts=0)
    asked = START[None], Cubes.centred(1, CubeRules(beavers=True))
    assert [player.double(*asked).tolist(), player.take(*asked).tolist(), player.beaver(*asked).tolist()] == [[double], [take], [beaver]]


def test_without_a_cube_nothing_is_asked(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(path=program("exit 1"), restarts=0)
    boards = np.repeat(START[None], 3, 0)
    assert not player.double(boards, Cubes.centred(3)).any()
    assert player.take(boards, Cubes.centred(3)).all()
    assert not player.beaver(boards, Cubes.centred(3)).any()
    dance = np.zeros((2, 25), np.int8)
    dance[0, :6], dance[1, 24], dance[1, 0] = 2, 1, 14
    assert player.choose(enumerate_turns(dance[None], np.array([[1, 6]]), Cubes.centred(1, CubeRules()))).tolist() == [0]


def test_a_program_that_dies_once_is_started_again(program: Callable[[str], str], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    once = f"if [ ! -e {tmp_path}/mark ]; then touch {tmp_path}/mark; echo last words; exit 3; fi\nACTION='Double, pass'\n"
    player = GnubgCliPlayer(path=program(once + ANSWERS), programs=1)
    with caplog.at_level(logging.WARNING):
        assert player.double(START[None], Cubes.centred(1, CubeRules())).tolist() == [True]
    assert player.restarts_used == 1
    assert "last words" in caplog.text or "died" in caplog.text
    assert "started again" in caplog.text


def test_a_killed_program_is_started_again(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(path=program("ACTION='Double, take'" + ANSWERS), programs=1)
    first = player.choose(opening())
    (victim,) = player.pids
    os.kill(victim, 9)
    assert np.array_equal(player.choose(opening()), first)
    assert player.restarts_used == 1
    assert player.pids != [victim]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("exit 3", "died"),
        ("exec sleep 60", r"did not answer in 0\.3 s \(player\.timeout_s\)"),
        ('while read -r line; do echo "what is $line"; done', "cannot be read"),
        ("exec yes", "without answering"),
        ("ACTION='Perhaps, perhaps not'" + ANSWERS, "cannot be read"),
        # an answer about another position: the program keeps its old one when it refuses a new one
        ("ACTION='Double, take'" + ANSWERS.replace(":5:0:3:", ":5:1:2:"), "cannot be read"),
    ],
)
def test_a_program_that_never_answers_stops_the_run(program: Callable[[str], str], body: str, reason: str) -> None:
    player = GnubgCliPlayer(path=program(body), timeout_s=0.3, restarts=2, programs=1)
    started = time.monotonic()
    with pytest.raises(RaccoonError, match=rf"(?s){reason}.*after player\.restarts=2; asked: set "):
        player.double(START[None], Cubes.centred(1, CubeRules()))
    assert player.restarts_used == 2
    assert player.pids == []
    assert time.monotonic() - started < 10


def test_an_illegal_play_is_no_answer(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(path=program(ANSWERS.replace("8/5 6/5", "8/4 6/5")), restarts=1, programs=1)
    with pytest.raises(RaccoonError, match=r"8/4 6/5.*cannot be read after player\.restarts=1"):
        player.choose(opening())


def test_programs_end_with_their_player(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(path=program("ACTION='Double, take'" + ANSWERS), programs=2)
    player.choose(opening(rows=5))
    pids = player.pids
    assert len(pids) == 2
    del player
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_copy_starts_its_own_program(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(ply=1, timeout_s=9, path=program("ACTION='Double, take'" + ANSWERS), name="mine")
    player.choose(opening())
    copy = pickle.loads(pickle.dumps(player))
    assert (copy.name, copy.pids) == ("mine", [])
    assert np.array_equal(copy.choose(opening()), player.choose(opening()))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_worker_leaves_its_parents_program_alone(program: Callable[[str], str]) -> None:
    player = GnubgCliPlayer(path=program("ACTION='Double, take'" + ANSWERS), programs=1)
    player.choose(opening())
    before = player.pids
    child = os.fork()
    if child == 0:
        code = 1
        try:
            player.choose(opening())
            code = 0 if player.pids != before else 2
            player.close()
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    player.choose(opening())
    assert (player.pids, player.restarts_used) == (before, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ply": -1}, r"player\.ply=-1"),
        ({"ply": 5}, r"player\.ply=5: .* 0 to 4"),
        ({"ply": True}, r"player\.ply=True"),
        ({"timeout_s": 0}, r"player\.timeout_s=0"),
        ({"timeout_s": float("nan")}, r"player\.timeout_s=nan"),
        ({"restarts": -1}, r"player\.restarts=-1"),
        ({"programs": 0}, r"player\.programs=0"),
        ({"path": "/nowhere/gnubg"}, r"player\.path='/nowhere/gnubg' is not a program.*apt install gnubg"),
        ({"path": "/bin/echo"}, r"/bin/echo is another program"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        GnubgCliPlayer(**settings)  # type: ignore[arg-type]


def test_a_missing_program_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("raccoon.play.gnubg_process._PLACES", ())
    with pytest.raises(RaccoonError, match=r"gnubg is not installed; install it .*apt install gnubg"):
        GnubgCliPlayer()


def test_a_program_without_a_version_in_time(tmp_path: Path) -> None:
    path = tmp_path / "slow"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    with pytest.raises(RaccoonError, match="--version does not answer"):
        GnubgCliPlayer(path=str(path), timeout_s=0.2)


def test_matches_that_are_too_long(program: Callable[[str], str]) -> None:
    cubes = Cubes(np.ones(1, np.int32), np.zeros(1, np.int8), CubeRules(), np.array([[65, 3]], np.int16), np.zeros(1, bool))
    with pytest.raises(RaccoonError, match="65 points to go; it plays matches to 64"):
        GnubgCliPlayer(path=program("exit 1")).double(START[None], cubes)


def test_the_program_is_also_found_where_debian_puts_games(program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    place = program("exit 1")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("raccoon.play.gnubg_process._PLACES", (place,))
    assert find_program() == (place, "9.87")
    with pytest.raises(RaccoonError, match="is not a program"):
        find_program("gnubg")  # named, and not there: no other is taken

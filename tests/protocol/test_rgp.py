"""RGP: a scripted match, what every message answers, and lines that nobody would send."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli import rgp as program_module
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.play import EnginePlayer
from raccoon.protocol import Session, serve
from raccoon.protocol.rgp import LONGEST_LINE, MESSAGES

PAGE = (Path(__file__).parents[2] / "docs" / "rgp.md").read_text(encoding="utf-8")
LAST = re.compile(r"(ok|readyok|rgpok 1|bye|best .+|error .+)")
BEFORE_LAST = re.compile(r"(id|info|legal|state|over) .+")


@pytest.fixture(scope="module")
def gnubg() -> EnginePlayer:
    return EnginePlayer(GnubgEngine(), name="gnubg0")


def told(session: Session, *lines: str) -> list[str]:
    return [text for line in lines for text in session.answer(line)]


def test_a_match_is_played_by_its_messages(gnubg: EnginePlayer) -> None:
    session, generator = Session(gnubg), np.random.default_rng(5)
    assert told(session, "new match 5") == ["ok"]
    ends, acted = [], set()
    for _ in range(2000):
        stage = told(session, "state")[0].split()[1]
        if stage in ("roll", "play", "answer"):
            (best,) = told(session, "go")
            action = best.removeprefix("best ")
            assert f"legal {action}" in told(session, "legal")
        else:
            action = "roll" if stage == "opening" else "next"
        acted.add(action.split()[0])
        if action == "roll":
            action = "roll {} {}".format(*generator.choice(6, 2, replace=stage != "opening") + 1)
        answers = told(session, action)
        assert answers[-1] == "ok"
        ends += answers[:-1]
        if answers[0].endswith("match"):
            break
    assert acted == {"roll", "play", "next", "double", "take", "pass"}
    assert [end.split()[-1] for end in ends] == ["game"] * (len(ends) - 1) + ["match"]
    assert max(map(int, ends[-1].split()[6:8])) >= 5
    assert told(session, "go") == ["error the match is over"]


def test_the_page_shows_what_is_said(gnubg: EnginePlayer) -> None:
    lines = re.findall(r"^([<>]) (.+)$", PAGE, re.MULTILINE)
    assert len(lines) > 20
    session, answers = Session(gnubg), iter(())
    for mark, text in lines:
        if mark == ">":
            assert list(answers) == [], f"before {text}"
            answers = iter(session.answer(text))
        else:
            assert next(answers, None) == text
    assert list(answers) == []
    assert session.ended


def test_the_page_has_every_message() -> None:
    table = PAGE.split("## Messages")[1].split("## Answers")[0]
    assert list(dict.fromkeys(re.findall(r"^\| `([a-z]+)[^|]*` \|", table, re.MULTILINE))) == list(MESSAGES)


def test_analyse_ranks_what_go_plays(gnubg: EnginePlayer) -> None:
    session = Session(gnubg)
    told(session, "new match 5", "roll 3 1")
    *infos, last = told(session, "analyse 3")
    assert (len(infos), last) == (3, "ok")
    assert infos[0].startswith("info rank 1 ply 0 equity 0.")
    assert " mwc 0.5" in infos[0]
    assert infos[0].endswith(f" play {told(session, 'go')[0].removeprefix('best play ')}")
    told(session, "play 8/5 6/5")
    position, cube, last = told(session, "analyse")
    assert position.startswith("info ply 0 equity -0.")
    assert re.fullmatch(r"info cube no_double \S+ double_take \S+ double_pass 1\.0+ mwc_no_double .* action no double, take", cube)


def test_engines_without_chances_are_told_of_and_play_cubeless() -> None:
    session = Session(EnginePlayer(RandomEngine()))
    told(session, "new money", "roll 3 1")
    assert told(session, "go")[0].startswith("error player random0: the engine random0 knows equities only")
    told(session, "new money nocube", "roll 3 1")
    assert told(session, "go")[0].startswith("best play ")
    assert told(session, "analyse 1")[0].startswith("info rank 1 ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hello", "unknown message 'hello'; there are rgp, isready, new, "),
        ("new", "new '': write new match LENGTH, or new money"),
        ("new match 26", "match=26: the Kazaross-XG2 match equity table ends at 25 points"),
        ("new match -1", "new match '-1': write a whole number, 1 or more"),
        ("new money jacoby jacoby", "new 'money jacoby jacoby': write"),
        ("position", "Position ID '': 0 characters instead of 14"),
        ("roll 3", "roll '3': write two numbers, as in roll 3 1"),
        ("roll 3 ٣", "roll '٣': write a whole number, 1 to 6"),
        ("roll 0 7", "roll '0': write a whole number, 1 to 6"),
        ("resign 4", "resign '4': write a whole number, 1 to 3"),
        ("analyse 0", "analyse '0': write a whole number, 1 or more"),
        ("analyse", "analyse: nobody has to act"),
        ("go on", "go 'on': write go alone"),
        ("play", "not the time for a play: the game waits for its opening roll"),
        ("go", "the game waits for its opening roll"),
    ],
)
def test_an_error_changes_nothing(gnubg: EnginePlayer, line: str, message: str) -> None:
    session = Session(gnubg)
    before = session.game
    (answer,) = session.answer(line)
    assert answer.startswith(f"error {message}"), answer
    assert session.game is before


def test_a_fault_of_the_player_is_a_message() -> None:
    class Faulty(RandomEngine):
        def _value(self, live: Any) -> Any:
            raise ZeroDivisionError("a\nfault")

    session = Session(EnginePlayer(Faulty()))
    told(session, "new money nocube", "roll 3 1")
    assert told(session, "go") == ["error fault of this program: ZeroDivisionError: a fault"]
    assert told(session, "state")[-1] == "ok"


def test_a_long_line_is_left_out_and_the_next_one_is_read(gnubg: EnginePlayer) -> None:
    out = io.StringIO()
    just = b"rgp " + b" " * (LONGEST_LINE - 5) + b"\n"
    assert len(just) == LONGEST_LINE
    serve(gnubg, io.BytesIO(b"x" * 50_000 + b"\n" + b"isready\n\n" + just + b"quit\nisready\n"), out)
    first, second, *_, version, last = out.getvalue().splitlines()
    assert first == f"error a message of more than {LONGEST_LINE} bytes; it was left out"
    assert (second, version, last) == ("readyok", "rgpok 1", "bye")


def random_lines(count: int, seed: int) -> Iterator[bytes]:
    """Messages that fit now and then, changed ones, and any bytes."""
    generator = np.random.default_rng(seed)
    words = [
        *MESSAGES, "match", "money", "jacoby", "beavers", "nocube", "1", "2", "3", "5", "6", "0", "-1", "999999999999", "8/5", "6/5",
        "24/18",         "13/11*", "bar/off(4)", "Cannot Move", "4HPwATDgc/ABMA", "4HPwATDgc/ABMA:cAkAAAAAAAAA",
        "XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:-1:63:0:0:0:3:8",
        "XGID=-A---------------------o--:0:0:1:65:0:0:1:0:10", "\u00e9", "\x00", "\ud7ff", "%s", "{}", "\t",
    ]  # fmt: skip
    sensible = [
        "new money beavers",
        "new match 3",
        "go",
        "legal",
        "state",
        "double",
        "take",
        "pass",
        "beaver",
        "next",
        "analyse 2",
        "resign 1",
    ]
    for _ in range(count):
        kind = generator.integers(10)
        if kind < 3:
            yield "roll {} {}".format(*generator.integers(1, 7, 2)).encode()
        elif kind < 6:
            yield sensible[generator.integers(len(sensible))].encode()
        elif kind < 9:
            yield " ".join(words[place] for place in generator.integers(len(words), size=generator.integers(1, 5))).encode()
        else:
            yield generator.bytes(int(generator.integers(0, 300))).replace(b"\n", b"")


def played_on(session: Session, line: str) -> list[str]:
    """Its answer; where a play is waited for the player's own is made after it, so that games get on."""
    answers = session.answer(line)
    if session.game.stage == "play":
        session.answer(session.answer("go")[0].removeprefix("best "))
    return answers


def check_answers(answers: list[str], line: bytes) -> None:
    assert LAST.fullmatch(answers[-1]), (line, answers)
    assert all(BEFORE_LAST.fullmatch(text) for text in answers[:-1]), (line, answers)
    assert all(text.isprintable() for text in answers)


def test_random_lines_each_get_one_answer(gnubg: EnginePlayer) -> None:
    session, last = Session(gnubg), set()
    for line in random_lines(400, seed=1):
        answers = played_on(session, line.decode(errors="replace"))
        if answers:
            check_answers(answers, line)
            last.add(answers[-1].split()[0])
    assert last | {"rgpok"} == {"ok", "readyok", "rgpok", "bye", "best", "error"}


@pytest.mark.slow
def test_ten_thousand_random_lines_neither_end_nor_hang_the_program(tmp_path: Path) -> None:
    lines = [line for line in random_lines(10_000, seed=2) if not re.match(rb"\s*quit\s*$", line)]
    command = [sys.executable, "-m", "raccoon.cli.rgp", "player=gnubg0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "ascii"}
    sent = b"".join(line + b"\nisready\n" for line in lines) + b"quit\n"
    done = subprocess.run(command, input=sent, cwd=tmp_path, capture_output=True, check=False, env=environment, timeout=900)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    answers = done.stdout.decode().splitlines()
    assert answers.count("readyok") >= len(lines)
    assert answers[-1] == "bye"
    assert "Traceback" not in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_the_program(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"rgp\nroll 3 1\ngo\n")))
    done = program(program_module.main, "player=gnubg0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2:] == ["rgpok 1", "ok", "best play 8/5 6/5"]


def test_a_wrong_player_is_refused_before_the_first_message(program: Any) -> None:
    done = program(program_module.main, "player=none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: player=none: no such option; there are ")


def test_a_closed_input_ends_it(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    done = program(program_module.main, "player=gnubg0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

"""search.py: what it prints, what it writes, what it refuses before it searches."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from raccoon.cli.program.app import main
from raccoon.cli.program.composing import compose
from raccoon.cli.program.records import append
from raccoon.cli.search import _job, _print_json, _questions, _records
from raccoon.config.instantiate import plain
from raccoon.contracts import RaccoonError
from raccoon.engine.random import RandomEngine
from raccoon.play.player import EnginePlayer
from raccoon.search.analysis.questions import read_question

ROOT = Path(__file__).parents[2]
START = "position=4HPwATDgc/ABMA"
XGID = "XGID=-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8"


def program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "search.py"), "player=gnubg0", *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def ask(*overrides: str, player: str = "gnubg0") -> None:
    """The program in this process."""
    config: dict[str, Any] = plain(compose("search", [f"player={player}", *overrides]))
    _job(config, None)


def test_json_is_all_that_the_program_prints_and_no_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text(f"# two positions\n4HPwATDgc/ABMA 3 1\n\n{XGID}  # with its own dice\n")
    done = program(tmp_path, "file=ids.txt", "json=true", "top=2")
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert [record["position"] for record in records] == ["4HPwATDgc/ABMA", "4HPkASjg2+ABMA"]
    assert [len(record["candidates"]) for record in records] == [2, 2]
    assert records[0]["candidates"][0]["move"] == "8/5 6/5"
    assert [path.name for path in tmp_path.iterdir()] == ["ids.txt"]


def test_progress_stays_out_of_the_json(tmp_path: Path) -> None:
    code = "from raccoon import progress; progress._FIRST_S = 0.001; from raccoon.cli.search import main; main()"
    words = ["position=[4HPwATDgc/ABMA,4HPwATDgc/ABMA]", "player=gnubg0", "json=true"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert len(json.loads(done.stdout)) == 2
    assert " of 2 positions" in done.stderr


def test_an_xgid_without_quotes_is_told_how(tmp_path: Path) -> None:
    done = program(tmp_path, f"position={XGID}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"\"position='{XGID}'\"" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    ask(f"position='{XGID}'", "top=3")
    page = capsys.readouterr().out
    assert page.startswith(f"4HPkASjg2+ABMA, to play 6-1 (engine gnubg0, search 0-ply above it)\n{XGID}\n\nO: ")
    *table, legend, cost, cube = page.splitlines()[-7:]
    assert [row.split()[0] for row in table] == ["ply", "1", "2", "3"]
    assert legend == "chances are cumulative: wins count gammons and backgammons, gammons count backgammons"
    assert cost.endswith(" s; equity in points per unit of the cube")
    assert cube == "cube at 1, centred, Jacoby, beavers"
    win, win_gammon, win_backgammon, lose, *_ = (float(number) for number in table[1].split()[-6:])
    assert win + lose == pytest.approx(1.0, abs=2e-4)
    assert win > win_gammon > win_backgammon


def test_the_heading_names_ply_and_net(capsys: pytest.CaptureFixture[str]) -> None:
    for player, search, told in [
        ("gnubg0", "search=expectimax search.ply=2", "(engine gnubg0, search 2-ply: 2ply-value8w0.16 above it)"),
        ("random", "search=static", "(engine random0, search 0-ply above it)"),
        ("random", "search=mcts search.simulations=3 search.chance=sampled", "(engine random0, search mcts3-value above it)"),
        ("random", "search=mcts search.simulations=3", "(engine random0, search mcts3-enumerated-value above it)"),
    ]:
        ask("position=AQAAiAAAAAAAAA", "dice=11", "diagram=false", *search.split(), player=player)
        assert capsys.readouterr().out.splitlines()[0].endswith(told)


def test_a_page_at_a_score(capsys: pytest.CaptureFixture[str]) -> None:
    ask("position=4HPwATDgc/ABMA:cAngACAAIAAE", "diagram=false")
    lines = capsys.readouterr().out.splitlines()
    head, row = lines[2].split(), lines[3].split()
    assert head[:5] == ["ply", "equity", "diff", "MWC", "%"]
    assert 0 < float(row[4]) < 100
    assert lines[-6] == "cube at 1, centred, 3 away against 5 away: no double, take"
    for line, name in zip(lines[-5:-2], ("no double", "double, take", "double, pass"), strict=True):
        assert re.fullmatch(rf"  {name} +[+-]\d\.\d{{4}} +\d\d\.\d\d%", line)
    assert "+1.0000" in lines[-3]
    assert re.fullmatch(
        r"  by winning chance: double from 6\d\.\d\d%, cash from 7\d.\d\d% \(take point 2\d.\d\d%\), too good from .*%", lines[-2]
    )
    assert re.fullmatch(r"  gammon value 0\.\d{3}, lost 0\.\d{3}; backgammon 0\.\d{3}, lost 0\.\d{3}", lines[-1])


def test_a_page_says_what_is_ignored_and_why_chances_lack(capsys: pytest.CaptureFixture[str]) -> None:
    ask(f"position='{XGID}'", "diagram=false", "search=mcts", "search.simulations=3", "cubeful=false")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4] == "the cube and the score are ignored (cubeful=false): equities are cubeless money points"
    assert lines[-3] == "no chances: a tree of MCTS averages equities, not outcomes"
    assert lines[-2].startswith("rank 1 is the play that the tree chose by its visits")
    assert {row.split()[-1] for row in lines[3:-4]} == {"-"}


def test_a_page_says_what_a_play_costs(capsys: pytest.CaptureFixture[str]) -> None:
    ask(START, "dice=21", "move='24/23 6/4'", "top=2", "diagram=false")
    lines = capsys.readouterr().out.splitlines()
    rank, *move = lines[5].split()[:3]
    assert " ".join(move) == "24/23 6/4"
    assert int(rank) > 3
    cost = -float(lines[5].split()[5])
    assert lines[6] == f"24/23 6/4 costs {cost:.4f}; rank {rank}"
    ask(START, "dice=31", "move='8/5 6/5'", "top=2", "diagram=false")
    assert "8/5 6/5 costs 0.0000; rank 1" in capsys.readouterr().out.splitlines()


def test_a_dash_where_no_chances_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    ask(START, "dice=31", "top=1", "diagram=false", player="random")
    row = capsys.readouterr().out.splitlines()[3]
    assert row.split()[-6:] == ["-"] * 6


def test_rolled_out_plays_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    ask(START, "dice=62", "top=4", "diagram=false", "search=roller", "search.truncate=1")
    *rows, _, legend, _ = capsys.readouterr().out.splitlines()[3:]
    assert [" roll " in row for row in rows] == [True, True, True, False]
    assert ["±" in row for row in rows] == [True, True, True, False]
    assert legend.startswith("±")


def test_cubeful_pages(capsys: pytest.CaptureFixture[str]) -> None:
    ask("position=AQAAiAAAAAAAAA", "cubeful=true", "diagram=false", "search=expectimax")
    lines = capsys.readouterr().out.splitlines()
    assert "cube at 1, centred: double, take" in lines
    assert [line.split()[-1] for line in lines[-4:-1]] == ["+0.0556", "+0.1111", "+1.0000"]
    ask(START, "dice=31", "cubeful=true", "diagram=false", "top=1")
    assert capsys.readouterr().out.splitlines()[-1] == "cube at 1, centred"


def test_the_board_is_drawn(tmp_path: Path) -> None:
    ask(START, "dice=31", "move='8/5 6/5'", f"svg={tmp_path / 'board.svg'}")
    drawn = ElementTree.parse(tmp_path / "board.svg").getroot()
    assert drawn.tag.endswith("svg")
    names = [each.get("class") for each in drawn.iter()]
    assert names.count("checker white") == names.count("checker black") == 15
    assert names.count("arrow") == 4
    assert ".checker" in drawn.findtext("{http://www.w3.org/2000/svg}style", "")


def test_a_file_of_records_is_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids, out = tmp_path / "ids.txt", tmp_path / "out.jsonl"
    ids.write_text("4HPwATDgc/ABMA 31\n4HPwATDgc/ABMA 21\n4HPwATDgc/ABMA\n")
    command = (f"file={ids}", f"out={out}", "top=1")
    ask(*command)
    whole = out.read_text().splitlines()
    assert [json.loads(line)["dice"] for line in whole] == [[3, 1], [2, 1], None]
    out.write_text("\n".join([*whole[:2], whole[2][:40]]))  # a line that a crash cut short
    ask(*command)
    again = out.read_text().splitlines()
    assert again[:2] == whole[:2]
    drop = {"seconds", "evaluations"}
    assert [{k: v for k, v in json.loads(line).items() if k not in drop} for line in again] == [
        {k: v for k, v in json.loads(line).items() if k not in drop} for line in whole
    ]
    assert capsys.readouterr().out == f"{out}: 3 positions, 3 of them new\n{out}: 3 positions, 1 of them new\n"


def test_records_do_not_stay_in_memory(tmp_path: Path) -> None:
    """Not with a file and not as JSON; one has some 2,000 bytes."""
    question, player = read_question("AQAAiAAAAAAAAA", 21), EnginePlayer(RandomEngine(1))
    config = {"cubeful": False, "top": None}
    for write in (lambda found: list(append(tmp_path / "out.jsonl", "", found)), _print_json):
        peaks = []
        for lines in (1, 127, 255):  # whole batches; the first for what is made once
            with (tmp_path / "printed").open("w") as printed, contextlib.redirect_stdout(printed):
                if lines > 1:
                    tracemalloc.start()
                write(_records(config, [question] * lines, player))
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
        assert (peaks[2] - peaks[1]) / 128 < 1000


def test_questions_of_a_file_do_not_stay_in_memory(tmp_path: Path) -> None:
    """Only their text does; a question has some 1,500 bytes."""
    ids, player = tmp_path / "ids.txt", EnginePlayer(RandomEngine(1))
    held, peaks = [], []
    for lines in (1, 70, 270):  # the first for what is made once
        ids.write_text("AQAAiAAAAAAAAA\n" * lines)
        config = {"file": str(ids), "position": None, "dice": None, "move": None, "cubeful": False, "top": None}
        tracemalloc.start()
        entries = _questions(config)
        held.append(tracemalloc.get_traced_memory()[0])
        for _ in _records(config, entries, player):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (held[2] - held[1]) / 200 < 150
    assert (peaks[2] - peaks[1]) / 200 < 300


def test_a_file_of_other_records_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ask(START, f"out={out}")
    before = out.read_bytes()
    for arguments, message in [
        ((START, "dice=31"), "line 1: not the position"),
        ((START, "search=expectimax"), "line 1: made by another"),
        ((START, "resume=false"), "exists already"),
        ((START, "json=true"), "json=true"),
    ]:
        with pytest.raises(RaccoonError, match=message):
            ask(*arguments, f"out={out}")
    out.write_text("hello\n")
    with pytest.raises(RaccoonError, match="line 1: not JSON"):
        ask(START, f"out={out}")
    assert out.read_text() == "hello\n"
    for text in ("notes of mine, without an end of line", "hello\nthere", before.decode() + '{"job": "other'):
        out.write_text(text)
        with pytest.raises(RaccoonError, match=r"not a record of this job|not JSON"):
            ask(START, f"out={out}")
        assert out.read_text() == text
    assert before.count(b"\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "position: give one"),
        (("position=[]",), "holds no position"),
        ((START, "file=ids.txt"), "position: give one"),
        (("position=4HPwATDgc/ABM",), "4HPwATDgc/ABM"),
        (("position=AAAAAAAAAAAAAA",), "'AAAAAAAAAAAAAA': the game is over"),
        ((START, "dice=[7,1]"), "dice=[7, 1]: give two numbers from 1 to 6"),
        ((START, "dice=[3.5,1]"), "dice=[3.5, 1]: give two numbers from 1 to 6"),
        ((START, "dice=31", "move=8/5"), "move='8/5': turn '8/5' with 3-1: not a legal play from 4HPwATDgc/ABMA"),
        ((START, "out=true"), "out=True: give the name of a file"),
        ((START, "out=[a]"), "out=['a']: give the name of a file"),
        ((START, "out=''"), "out='': give the name of a file"),
        (("file=5",), "file=5: give the name of a file"),
        (("file=/dev/zero",), "file=/dev/zero: cannot be read"),
        ((START, "out=/dev/zero"), "out=/dev/zero: cannot be read"),
        ((START, "top=0"), "top=0"),
        ((START, "json=yes"), "json='yes'"),
        ((START, "diagram=3"), "diagram=3"),
        ((START, "resume=no"), "resume='no'"),
        ((START, "cubeful=3"), "cubeful=3"),
        ((START, "out=records.json"), "name it records.jsonl"),
        ((START, "svg=board.png"), "name it board.svg"),
        ((START, "svg=5"), "svg=5: give the name of a file"),
        (("position=[4HPwATDgc/ABMA,4HPwATDgc/ABMA]", "svg=board.svg"), "svg=board.svg: holds one board"),
        ((START, "move='24/21 6/5'"), "needs the dice"),
        ((START, "move=24/20", "dice=21"), "turn '24/20' with 2-1: not a legal play from 4HPwATDgc/ABMA"),
        *(((START, f"~{key}"), f"{key}: not in the config, but needed; leave out ~{key}") for key in ("top", "json", "diagram", "resume")),
        (("file=nowhere.txt",), "file=nowhere.txt: cannot be read"),
        ((START, "search=expectimax", "search.ply=9"), "search.ply=9"),
    ],
)
def test_bad_questions_are_refused(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RaccoonError) as caught:
        ask(*arguments)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert capsys.readouterr().out == ""


def read(*overrides: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[dict[str, Any]], list[str], str]:
    """Records, lines of stderr and the error at the end."""
    with pytest.raises(RaccoonError) as caught:
        ask(*overrides)
    out, err = capsys.readouterr()
    return (json.loads(out) if out else []), err.splitlines(), str(caught.value)


def test_a_bad_line_loses_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ids.txt"
    good = ["4HPwATDgc/ABMA 31: 24/21 6/5", XGID, "4HPkASjg2+ABMA:QYkqASAAIAAA"]
    bad = ["nonsense", "4HPwATDgc/ABMA 71", "AAAAAAAAAAAAAA 31", "4HPwATDgc/ABMA 31: 8/7", "4HPwATDgc/ABMA:QYkqASAAIAAAAA"]
    lines = [good[0], *bad[:3], good[1], *bad[3:], "# nothing", good[2]]
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n\xff\xfe 31\r\n")
    records, err, error = read(f"file={file}", "json=true", capsys=capsys)
    assert error == f"file={file}: 6 of 9 lines left out; correct them and run the command again"
    assert [each["line"] for each in records] == [1, 2, 3, 4, 5, 6, 7, 9, 10]
    assert [each["line"] for each in records if "error" not in each] == [1, 5, 9]
    assert records[0]["played"]["cost"] > 0.05
    assert (records[7]["cube"]["away"], records[7]["cube"]["owner"], records[7]["dice"]) == ([5, 7], "opponent", [5, 2])
    for line, reason in {
        2: "'nonsense'",
        3: "dice",
        4: "the game is over",
        6: "not a legal play",
        7: "QYkqASAAIAAAAA",
        10: "utf-8",
    }.items():
        assert any(said.startswith(f"{file}, line {line}: ") and reason in said for said in err)
    assert len(err) == 6


def test_bad_lines_are_kept_in_the_records_and_told_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "ids.txt", tmp_path / "out.jsonl"
    file.write_text("4HPwATDgc/ABMA 31\nnonsense\n4HPwATDgc/ABMA 21\n")
    for _ in range(2):
        with pytest.raises(RaccoonError, match="1 of 3 lines left out"):
            ask(f"file={file}", f"out={out}", "top=1")
        assert capsys.readouterr().err.startswith(f"{file}, line 2: ")
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record.get("error") is not None for record in records] == [False, True, False]
    assert [record["line"] for record in records] == [1, 2, 3]


def test_many_bad_lines_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("nonsense\n" * 1000)
    _, err, error = read(f"file={file}", capsys=capsys)
    assert error == f"file={file}: holds no position"
    assert len(err) == 21
    assert err[-1] == f"{file}: 980 more lines like these"


def test_a_file_with_a_bad_line_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("4HPwATDgc/ABMA 31\nnonsense\n")
    with pytest.raises(SystemExit) as stop:
        main("search", _job, ["player=gnubg0", f"file={file}", "diagram=false"], run_folder=False)
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert out.startswith("4HPwATDgc/ABMA, to play 3-1")
    assert [line.split(":")[0] for line in err.splitlines()[-2:]] == [f"{file}, line 2", "error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", f"position=[{START.partition('=')[2]}]"), "error: -m: search makes no runs that a sweep could keep; leave it out"),
        (("hydra.mode=MULTIRUN", START), "error: -m: search makes no runs"),
        (("player=checkpoint", "player.checkpoint=", START), "error: player.checkpoint='': no such file; name a checkpoint"),
    ],
)
def test_what_the_whole_program_refuses(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main("search", _job, list(arguments), run_folder=False)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())

"""search.py: what it prints, what it writes, what it refuses before it searches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from raccoon.build import plain
from raccoon.cli.app import compose
from raccoon.cli.search import _job
from raccoon.contracts import RaccoonError

ROOT = Path(__file__).parents[1]
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
    code = "from raccoon import progress; progress._LOG_EVERY_S = -1.0; from raccoon.cli.search import main; main()"
    words = ["position=[4HPwATDgc/ABMA,4HPwATDgc/ABMA]", "player=gnubg0", "json=true"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert len(json.loads(done.stdout)) == 2
    assert "positions: 1 of 2" in done.stderr


def test_an_xgid_without_quotes_is_told_how(tmp_path: Path) -> None:
    done = program(tmp_path, f"position={XGID}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"\"position='{XGID}'\"" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    ask(f"position='{XGID}'", "top=3")
    page = capsys.readouterr().out
    assert page.startswith("4HPkASjg2+ABMA, to play 6-1 (gnubg0)\n\nO: ")
    table = page.splitlines()[-5:-1]
    assert [row.split()[0] for row in table] == ["ply", "1", "2", "3"]
    assert " evaluations, " in page.splitlines()[-1]


def test_a_dash_where_no_chances_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    ask(START, "dice=31", "top=1", "diagram=false", player="random")
    row = capsys.readouterr().out.splitlines()[2]
    assert row.split()[-6:] == ["-"] * 6


def test_rolled_out_plays_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    ask(START, "dice=62", "top=4", "diagram=false", "search=roller", "search.truncate=1")
    *rows, legend, _ = capsys.readouterr().out.splitlines()[2:]
    assert [" roll " in row for row in rows] == [True, True, True, False]
    assert ["±" in row for row in rows] == [True, True, True, False]
    assert legend.startswith("±")


def test_cubeful_pages(capsys: pytest.CaptureFixture[str]) -> None:
    ask("position=AQAAiAAAAAAAAA", "cubeful=true", "diagram=false", "search=expectimax")
    lines = capsys.readouterr().out.splitlines()
    assert "cube at 1, centred: double, take" in lines
    assert [line.split()[-1] for line in lines[-3:]] == ["+0.0556", "+0.1111", "+1.0000"]
    ask(START, "dice=31", "cubeful=true", "diagram=false", "top=1")
    assert capsys.readouterr().out.splitlines()[-1] == "cube at 1, centred"


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
    assert before.count(b"\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "position: give one"),
        (("position=[]",), "holds no position"),
        ((START, "file=ids.txt"), "position: give one"),
        (("position=4HPwATDgc/ABM",), "4HPwATDgc/ABM"),
        (("position=AAAAAAAAAAAAAA",), "'AAAAAAAAAAAAAA': the game is over"),
        ((START, "dice=[7,1]"), "dice"),
        ((START, "top=0"), "top=0"),
        ((START, "json=yes"), "json='yes'"),
        ((START, "diagram=3"), "diagram=3"),
        ((START, "resume=no"), "resume='no'"),
        *(((START, f"~{key}"), f"{key}: not in the config, but needed; leave out ~{key}") for key in ("top", "json", "cubeful", "resume")),
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


@pytest.mark.parametrize("line", ["nonsense", "4HPwATDgc/ABMA 71", "AAAAAAAAAAAAAA 31"])
def test_the_line_of_a_bad_question_is_named(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ids.txt"
    file.write_text(f"4HPwATDgc/ABMA 31\n{line}\n")
    with pytest.raises(RaccoonError) as caught:
        ask(f"file={file}")
    assert str(caught.value).startswith(f"{file}, line 2: ")
    assert capsys.readouterr().out == ""

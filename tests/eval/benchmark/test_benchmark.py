"""Benchmark files: what the embedded one holds, what is refused, that the compact form loses nothing."""

from __future__ import annotations

import copy
import gzip
import io
import json
import lzma
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon import assets
from raccoon.cli import benchmark as command
from raccoon.contracts import OPPONENT, OWNED, Cubes, RaccoonError
from raccoon.env.board import swap
from raccoon.env.position_ids import position_keys
from raccoon.eval.benchmark import compact as benchmark_file
from raccoon.eval.benchmark import exchange as benchmark_json
from raccoon.eval.benchmark import make as benchmark_build
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import load
from raccoon.eval.benchmark.make import BuildPlan

SAMPLE = Path(__file__).parents[2] / "golden" / "benchmark_sample.json"


@pytest.fixture
def sample() -> dict[str, Any]:
    return json.loads(SAMPLE.read_text())


def assert_equal(first: Any, second: Any) -> None:
    for field in fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        if isinstance(a, Cubes):
            assert_equal(a, b)
        else:
            np.testing.assert_array_equal(a, b, err_msg=field.name)


def same(first: Benchmark, second: Benchmark) -> None:
    assert_equal(first.checker, second.checker)
    assert_equal(first.cube, second.cube)
    assert first.meta == second.meta


def test_the_embedded_file_is_whole_and_small() -> None:
    benchmark = load()
    assert (len(benchmark.checker), len(benchmark.cube), len(benchmark.checker.children)) == (1972, 285, 43145)
    assert (benchmark.jacoby, benchmark.beavers, len(np.unique(benchmark.checker.games))) == (False, False, 60)
    assert assets.path("money_benchmark.npz.xz").stat().st_size < 1_200_000
    assert load() is benchmark


def test_the_embedded_file_holds_the_source_exactly(sample: dict[str, Any]) -> None:
    benchmark = load()
    for part, source in (("checker", benchmark.checker), ("cube", benchmark.cube)):
        decisions = [decision for decision in sample["decisions"] if decision["kind"] == part]
        rows = [int(np.flatnonzero(source.keys == decision["key"])[0]) for decision in decisions]
        parsed = getattr(benchmark_json.parse({"meta": {}, "decisions": decisions}, "sample"), part)
        if part == "checker":
            assert_equal(benchmark.checker.take(np.array(rows)), parsed)
            continue
        for row, decision in zip(rows, decisions, strict=True):
            cube = benchmark.cube
            assert [cube.no_double[row], cube.double_take[row]] == [decision["equity_nd"], decision["equity_dt"]]
            assert cube.probs5[row].tolist() == decision["probs"]
            assert (cube.should_double[row], cube.should_take[row]) == (decision["should_double_ref"], decision["should_take_ref"])


def test_candidates_come_in_key_order_whatever_the_file_says(sample: dict[str, Any]) -> None:
    parsed = benchmark_json.parse(sample, "sample")
    for decision in sample["decisions"]:
        decision.get("moves", []).reverse()
    same(benchmark_json.parse(sample, "sample"), parsed)
    checker = load().checker
    keys = [bytes(key) for key in position_keys(checker.children)]
    for start, stop in zip(checker.offsets[:-1], checker.offsets[1:], strict=True):
        assert keys[start:stop] == sorted(set(keys[start:stop]))


def test_numbers_agree_with_each_other() -> None:
    checker, cube = load().checker, load().cube
    win, wg, wbg, lg, lbg = checker.probs5.T
    # Rollouts correct their means apart from their probabilities; looking ahead does not.
    difference = np.abs(2 * win - 1 + wg + wbg - lg - lbg - checker.cubeless)
    assert difference[np.isin(checker.levels, ["2-ply", "3-ply"])].max() < 5e-6
    assert difference.max() < 0.01
    assert (checker.loss(checker.equity) >= 0).all()
    assert (np.minimum.reduceat(checker.loss(checker.cubeless), checker.offsets[:-1]) == 0).all()
    np.testing.assert_array_equal(cube.double_pass, 1.0)
    assert set(np.unique(checker.cubes.owner)) == {OPPONENT, 0, OWNED}
    rolled = checker.levels == "Rollout"
    assert np.isfinite(checker.std_error[rolled]).all()
    assert np.isnan(checker.std_error[~rolled]).all()


def test_take_keeps_rows_and_candidates_together() -> None:
    checker = load().checker
    rows = np.array([700, 3, 3, 1971])
    part = checker.take(rows)
    for i, row in enumerate(rows):
        mine, theirs = slice(*part.offsets[i : i + 2]), slice(*checker.offsets[row : row + 2])
        np.testing.assert_array_equal(part.children[mine], checker.children[theirs])
        np.testing.assert_array_equal(part.cubeless[mine], checker.cubeless[theirs])
    assert part.games.tolist() == checker.games[rows].tolist()
    assert len(checker.take(checker.games == -1)) == 0


@pytest.mark.parametrize("packed", [False, True])
def test_compact_form_is_lossless(tmp_path: Path, packed: bool) -> None:
    source = tmp_path / "sample.json"
    source.write_bytes(gzip.compress(SAMPLE.read_bytes()) if packed else SAMPLE.read_bytes())
    said = command.run(["convert", str(source), str(tmp_path / "out.npz.xz")])
    assert "5 checker and 2 cube" in said
    same(load(tmp_path / "out.npz.xz"), load(source))


def test_flags_default_to_on(sample: dict[str, Any]) -> None:
    del sample["meta"]
    benchmark = benchmark_json.parse(sample, "sample")
    assert (benchmark.jacoby, benchmark.beavers) == (True, True)


@pytest.mark.parametrize("value", ["no", 0, None])
def test_flags_that_would_be_misread_are_refused(sample: dict[str, Any], value: object) -> None:
    sample["meta"]["jacoby"] = value
    with pytest.raises(RaccoonError, match=r"sample: meta.jacoby=.*true or false"):
        benchmark_json.parse(sample, "sample")


def _set(path: str, value: Any):
    def change(decision: dict[str, Any]) -> None:
        node: Any = decision
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for parent in parents:
            node = node[parent]
        node[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("dice", [0, 7]), "dice"),
        (_set("dice", None), "dice"),
        (_set("board", [0] * 25), "board"),
        (_set("board.6", 16), "board"),
        (_set("board", [0, 15, 1] + [0] * 21 + [-15, 0]), "more than 15 checkers"),
        (_set("board.0", -1), "negative"),
        (_set("cube_value", 3), "power of two"),
        (_set("cube_owner", "me"), "cube_owner"),
        (_set("game_plan", ""), "game_plan"),
        (_set("tier", None), "tier"),
        (_set("seed", 1.5), "seed"),
        (_set("seed", 2**63), "seed"),
        (_set("turn", 2**31), "turn"),
        (_set("cube_value", 2**40), "cube_value"),
        (_set("moves", []), "moves"),
        (_set("moves.1", 3), "an object"),
        (_set("moves.1.equity", float("nan")), "moves.1.*equity"),
        (_set("moves.1.cubeless_equity", 4), "cubeless_equity"),
        (_set("moves.1.probs", [0.5, 0.1]), "probs"),
        (_set("moves.1.probs", [1.5, 0, 0, 0, 0]), "probs"),
        (_set("moves.1.probs", [0.2, 0.9, 0, 0, 0]), "probs"),
        (_set("moves.1.probs", [0.9, 0, 0, 0.5, 0]), "probs"),
        (_set("moves.1.std_error", "big"), "std_error"),
        (_set("moves.1.board", [0, 2] + [0] * 22 + [-2, 0]), "no legal result"),
        (lambda d: d["moves"].append(d["moves"][0]), "listed twice"),
        (_set("kind", "chequer"), "kind"),
        (_set("tier", "\ud800"), "tier|no plain text|printable"),
        (_set("game_plan", "x" * 300), "at most 200"),
        (_set("moves.1.board.3", 16), "more than 15 checkers"),
        (_set("moves.1.std_error", -1), "std_error"),
    ],
)
def test_a_faulty_decision_is_named(sample: dict[str, Any], change, message: str) -> None:
    decision = next(d for d in sample["decisions"] if d["kind"] == "checker")
    change(decision)
    with pytest.raises(RaccoonError, match=rf"(?s)bad\.json: decision {decision['key']}.*{message}"):
        benchmark_json.parse(sample, "bad.json")


def test_faults_of_cube_decisions_and_repeated_keys(sample: dict[str, Any]) -> None:
    cube = next(d for d in sample["decisions"] if d["kind"] == "cube")
    twice = {"meta": {}, "decisions": [cube, copy.deepcopy(cube)]}
    with pytest.raises(RaccoonError, match=f"decision {cube['key']}: key appears 2 times"):
        benchmark_json.parse(twice, "bad.json")
    with pytest.raises(RaccoonError, match=f"decision {cube['key']}: equity_dp=2.0: 1"):
        benchmark_json.parse({"decisions": [cube | {"equity_dp": 2.0}]}, "bad.json")
    cube["has_take"] = "yes"
    with pytest.raises(RaccoonError, match=f"decision {cube['key']}: has_take"):
        benchmark_json.parse(sample, "bad.json")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"decisions": 3}', b"\x1f\x8b\x08\x00broken", b"\xff\xfe", b"\xfd7zXZ\x00broken", b"9" * 5000, b"[" * 100_000],
)
def test_what_is_no_benchmark_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(RaccoonError, match=r"file\.json.*benchmark"):
        load(path)


def test_damaged_foreign_and_newer_compact_files_are_refused(tmp_path: Path) -> None:
    whole = assets.path("money_benchmark.npz.xz").read_bytes()
    path = tmp_path / "cut.npz.xz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RaccoonError, match=r"cut\.npz\.xz"):
        load(path)
    foreign = tmp_path / "foreign.npz.xz"
    foreign.write_bytes(lzma.compress(b"hello"))
    with pytest.raises(RaccoonError, match=r"foreign\.npz\.xz"):
        load(foreign)
    newer = tmp_path / "newer.npz.xz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmark_file, "_FORMAT", 2)
        benchmark_file.write(benchmark_json.read(SAMPLE), newer)
    with pytest.raises(RaccoonError, match="format 2"):
        load(newer)
    with pytest.raises(RaccoonError, match="nowhere"):
        load(tmp_path / "nowhere")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = command.run(["show", "embedded"])
    assert "1,972 checker decisions (43,145 candidates), 285 cube" in text
    assert any(line.split()[:5] == ["checker", "play", "2T", "743", "717"] for line in text.splitlines())
    assert "charged PR: what a player who makes no error is charged" in text
    assert "\nrolled out: source=embedded, decisions.cube=285, plan.trials=72, " in command.run(["show", "measured"])
    for arguments, message in (
        ([], "usage"),
        (["show"], "usage"),
        (["build"], "usage"),
        (["build", str(tmp_path / "x"), "games"], "not of the form"),
        (["build", str(tmp_path / "x"), "colour=red"], "colour"),
        (["build", str(tmp_path / "x"), "level=9P"], "level='9P'"),
        (["build", str(tmp_path / "x"), "games=0"], "games=0"),
        (["build", str(tmp_path / "x"), "games=many"], "build.games='many': give a whole number"),
        (["build", str(tmp_path / "x"), "seed=1.5"], "build.seed=1.5: give a whole number"),
        (["build", str(tmp_path / "x"), "close=null"], "build.close=None: give a number"),
        (["build", str(tmp_path / "x"), "workers=many"], "build.workers='many': give a whole number or null"),
        (["build", str(SAMPLE)], "exists already"),
    ):
        with pytest.raises(RaccoonError, match=message):
            command.run(arguments)
    monkeypatch.setattr("sys.argv", ["benchmark", "convert", "nowhere", "out"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "nowhere" in capsys.readouterr().err


def test_finished_games_and_texts_that_are_no_unicode_are_refused(sample: dict[str, Any], tmp_path: Path) -> None:
    cube = next(d for d in sample["decisions"] if d["kind"] == "cube")
    over = cube | {"board": [0, 2, *[0] * 24]}
    with pytest.raises(RaccoonError, match=f"decision {cube['key']}: board=.*: a game that goes on"):
        benchmark_json.parse({"decisions": [over]}, "bad.json")
    for place in ("key", "tier", "eval_level"):
        path = tmp_path / f"{place}.json"
        path.write_text(json.dumps({"decisions": [cube | {place: "\ud800"}]}))
        with pytest.raises(RaccoonError, match="surrogates not allowed"):
            load(path)
        with pytest.raises(RaccoonError, match="printable"):
            benchmark_json.parse({"decisions": [cube | {place: "\ud800"}]}, "bad.json")


def test_what_unpacks_without_end_or_is_a_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark_file, "_MOST", 1 << 20)
    monkeypatch.setattr(benchmark_json, "_MOST", 1 << 20)
    for name, content in (("a.xz", lzma.compress(bytes(2 << 20), preset=0)), ("a.gz", gzip.compress(b"[" + b" " * (2 << 20) + b"]"))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RaccoonError, match="more than 1,048,576 bytes"):
            load(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RaccoonError, match="pipe: is no file"):
        load(tmp_path / "pipe")


def test_a_build_that_was_killed_when_its_file_was_written_ends_without_building_again(tmp_path: Path) -> None:
    whole, target = load(), tmp_path / "mine.npz.xz"
    small = replace(whole, checker=whole.checker.first_games(1), cube=whole.cube.first_games(1))
    benchmark_file.write(replace(small, meta={**small.meta, **benchmark_build._named(BuildPlan(games=3))}), target)
    parts = tmp_path / "mine.npz.xz.parts"
    parts.mkdir()
    (parts / "job.json").write_text("{}")
    (parts / "shard-000000.npz").write_bytes(b"")
    with pytest.raises(RaccoonError, match=r"mine\.npz\.xz: exists already, and is no result of this build"):
        command.run(["build", str(target), "games=4"])
    assert f"{target.stat().st_size:,} bytes" in command.run(["build", str(target), "games=3"])
    assert not parts.exists()
    with pytest.raises(RaccoonError, match="exists already; name another"):
        command.run(["build", str(target), "games=3"])


def test_a_folder_that_no_build_made_is_left_alone(tmp_path: Path) -> None:
    whole, target = load(), tmp_path / "mine.npz.xz"
    small = replace(whole, checker=whole.checker.first_games(1), cube=whole.cube.first_games(1))
    own = tmp_path / "mine.npz.xz.parts" / "shard-000000.npz"
    own.parent.mkdir()
    own.write_bytes(b"mine")
    for built in (False, True):
        if built:
            benchmark_file.write(replace(small, meta={**small.meta, **benchmark_build._named(BuildPlan(games=3))}), target)
        with pytest.raises(RaccoonError, match=r"mine\.npz\.xz\.parts: is no folder of shards \(holds shard-000000\.npz\); move it away"):
            command.run(["build", str(target), "games=3"])
        assert own.read_bytes() == b"mine"


@pytest.mark.slow
def test_build_plays_referees_and_repeats(tmp_path: Path) -> None:
    arguments = ["games=1", "level=1P", "refine=1T", "close=0.0005", "workers=0"]
    first, second = tmp_path / "a.npz.xz", tmp_path / "b.npz.xz"
    assert "checker" in command.run(["build", str(first), *arguments])
    command.run(["build", str(second), *arguments])
    benchmark = load(first)
    same(benchmark, load(second))
    assert benchmark.meta["plan_games"] == 1
    assert set(np.unique(benchmark.checker.tiers)) == {"1P", "1T"}
    assert not benchmark.jacoby
    assert len(benchmark.cube) > 0
    assert not (tmp_path / "a.npz.xz.parts").exists()
    live = swap(benchmark.checker.children)
    assert (live[:, 1].sum(axis=1) <= 15).all()


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("checker.dice", lambda a: np.where(a == a[0, 0], 7, a)),
        ("checker.dice", lambda a: np.where(a == a[0, 0], 7, a).astype(np.int8)),
        ("checker.counts", lambda a: np.full_like(a, 2**31 - 1)),
        ("checker.counts", lambda a: np.zeros_like(a)),
        ("checker.equity", lambda a: np.full_like(a, 127)),
        ("checker.equity", lambda a: a.astype(np.float64)),
        ("checker.probs0", lambda a: np.full_like(a, 255)),
        ("checker.cube_value", lambda a: np.full_like(a, 2**31 - 1)),
        ("checker.cube_owner", lambda a: np.full_like(a, 127)),
        ("checker.games", lambda a: a.astype(np.float64)),
        ("checker.games", lambda a: -a),
        ("checker.levels", lambda a: np.full_like(a, 200)),
        ("checker.keys", lambda a: np.full_like(a, a[0])),
        ("checker.keys", lambda a: a.astype("S100000")),
        ("checker.boards", lambda a: np.zeros_like(a)),
        ("cube.boards", lambda a: np.zeros_like(a)),
        ("cube.probs5", lambda a: a[:, :0]),
        ("cube.no_double", lambda a: np.full_like(a, 10**17)),
        ("cube.no_double", lambda a: np.full(a.shape, np.nan)),
        ("cube.double_pass", lambda a: a * 2),
        ("cube.has_take", lambda a: a.astype(np.int8)),
        ("header", lambda a: np.frombuffer(b'{"format": 1, "meta": {"a": "\\ud800"}}', np.uint8)),
        ("header", lambda a: np.frombuffer(b'{"format": 1, "meta": [[1, 2]]}', np.uint8)),
        ("header", lambda a: np.frombuffer(b"[" * 10**5, np.uint8)),
        ("checker.dice", lambda a: a[:-1]),
        ("checker.keys", lambda a: a.astype("U")),
        ("checker.games", lambda a: a.astype("U")),
        ("cube.levels", lambda a: a[:-1]),
        ("cube.no_double", lambda a: a[:-1]),
        ("cube.probs5", lambda a: a[:-1]),
        ("cube.has_take", lambda a: a[:-1]),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path: Path, column: str, change: Any) -> None:
    path = tmp_path / "made.npz.xz"
    benchmark_file.write(benchmark_json.read(SAMPLE), path)
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as arrays:
        columns = dict(arrays)
    assert len(load(path).checker)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **columns | {column: change(columns[column])})
    path.write_bytes(lzma.compress(buffer.getvalue()))
    with pytest.raises(RaccoonError, match=r"made\.npz\.xz: (damaged benchmark|decision|not a compact)"):
        load(path)


def test_the_benchmark_to_choose_by_is_of_other_games_than_the_one_to_report_on() -> None:
    choosing, embedded = load("choosing"), load()
    assert (len(choosing.checker), len(choosing.cube), len(choosing.checker.children)) == (4026, 1873, 81349)
    assert len(np.unique(choosing.checker.games)) == 100
    assert choosing.meta["plan_seed"] == 100
    assert assets.path("choosing_benchmark.npz.xz").stat().st_size < 1_300_000
    of = [
        {(board.tobytes(), dice.tobytes()) for board, dice in zip(b.checker.boards, b.checker.dice, strict=True)}
        for b in (choosing, embedded)
    ]
    assert len(of[0] & of[1]) < 0.02 * len(of[0])  # openings and their replies
    assert load("choosing") is choosing


def test_the_measured_benchmark_is_of_decisions_of_the_embedded_one_rolled_out() -> None:
    measured, embedded = load("measured"), load()
    assert (len(measured.checker), len(measured.cube)) == (300, 285)
    assert measured.rules == embedded.rules
    assert measured.cube.measured.all()
    assert set(measured.checker.tiers) == {"rollout"}
    assert (np.add.reduceat(measured.checker.measured.astype(int), measured.checker.offsets[:-1]) >= 2).all()
    for part, whole in ((measured.checker, embedded.checker), (measured.cube, embedded.cube)):
        known = {
            (key, game, turn, board.tobytes())
            for key, game, turn, board in zip(whole.keys, whole.games, whole.turn, whole.boards, strict=True)
        }
        assert all(row in known for row in zip(part.keys, part.games, part.turn, (board.tobytes() for board in part.boards), strict=True))
    assert (measured.cube.no_double_se > 0).sum() > 270
    change = measured.cube.no_double - embedded.cube.no_double
    assert 0.05 < np.sqrt(np.mean(change**2)) < 0.08  # .045 of it standard error; a wrong sign or owner gives .3 and more

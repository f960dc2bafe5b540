"""Exact cubeful bear-off equities against published cases, gnubg's own table, plain recursion and the model's last rolls."""

from __future__ import annotations

import importlib
import json
import pickle
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli import bearoff as command
from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes, RaccoonError
from raccoon.cube import exact_bearoff
from raccoon.cube.exact_bearoff import CubefulBearoff
from raccoon.cube.exact_bearoff_tables import COLUMNS, cubeful
from raccoon.cube.janowski import cube_equities
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.exact_bearoff.tables import positions
from raccoon.env.board import START
from raccoon.env.movegen import ROLL_PROBS, afterstates_all_rolls
from raccoon.env.position_ids import from_position_id, from_position_key, position_key

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = json.loads((GOLDEN / "cube_exact.json").read_text())
SIX = positions(6)


def cubes_of(n: int, owner: int, rules: CubeRules | None = None) -> Cubes:
    return Cubes(np.full(n, 1 if owner == CENTRED else 2, np.int32), np.full(n, owner, np.int8), rules or CubeRules())


def boards_of(mine: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Boards of sides ``[N, 6]``."""
    boards = np.zeros((len(mine), 2, 25), np.int8)
    boards[:, 1, :6], boards[:, 0, :6] = mine, other
    return boards


def some_boards(n: int, most: int, seed: int) -> np.ndarray:
    sides = positions(most)[1:]
    rng = np.random.default_rng(seed)
    return boards_of(*sides[rng.integers(0, len(sides), (2, n))])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_cases(case: dict[str, Any]) -> None:
    board = from_position_id(case["id"])[None]
    exact = CubefulBearoff(8 if board.sum(axis=2).max() > 6 else 6)
    centred, owned = (exact.equities(board, cubes_of(1, owner)) for owner in (CENTRED, OWNED))
    assert centred.nd[0] == pytest.approx(case["nd_centred"], abs=6e-5)
    assert owned.nd[0] == pytest.approx(case["nd_owned"], abs=6e-5)
    assert centred.dt[0] == owned.dt[0] == pytest.approx(case["dt"], abs=6e-5)
    assert exact.cubeless(board)[0] == pytest.approx(2 * case["p"] - 1, abs=2e-5)
    best = [exact.optimal(board, cubes_of(1, owner))[0] for owner in (CENTRED, OWNED)]
    assert ("double" in case["correct"]) == (best[0] > centred.nd[0])
    assert ("redouble" in case["correct"]) <= (best[1] > owned.nd[0])
    answer = "take = pass" if abs(centred.dt[0] - 1) < 1e-6 else "take" if centred.dt[0] < 1 else "pass"
    assert case["correct"].endswith(answer)


def gnubg_number(side: np.ndarray) -> int:
    """GNUBG's number of a bear-off position: its checkers and the gaps between points as a combination in order."""
    place, bits = 5 + int(side.sum()), 0
    for checkers in (*side[:5].tolist(), None):
        bits |= 1 << place
        place -= 0 if checkers is None else checkers + 1
    taken = [i for i in range(12) if bits >> i & 1]
    return sum(comb(place, rank) for rank, place in enumerate(taken, start=1))


def test_every_pair_equals_the_table_that_gnubg_ships() -> None:
    nn: Any = importlib.import_module("gnubg_nn")
    raw = (Path(nn.__file__).parent / "data" / "gnubg_ts0.bd").read_bytes()
    assert raw.startswith(b"gnubg-TS-06-06-1")  # two-sided, 6 points, 6 checkers, with cubeful equities
    theirs = np.frombuffer(raw, "<u2", offset=40).reshape(len(SIX), len(SIX), 4) / 32767.5 - 1  # cubeless, owned, centred, theirs
    number = np.array([gnubg_number(side) for side in SIX])
    assert np.array_equal(np.sort(number), np.arange(len(SIX)))
    mine = exact_bearoff._table(6)
    assert COLUMNS == ("cubeless", "player", "centered", "opponent")
    difference = np.abs(mine - theirs[number][:, number])[1:, 1:]
    assert difference.size == 4 * 923 * 923
    # One unit of GNUBG's table is 3e-5; it rounds every equity that others are made of, which adds up to a few units.
    assert difference.max() < 1.4e-4
    assert difference.mean() < 4e-5


@cache
def _best(key: bytes, owner: int) -> float:
    """Points per unit of the cube to the side on roll by recursion over the rules of the game, no table involved."""
    held = _held(key, owner)
    return held if owner == OPPONENT else max(held, min(2 * _held(key, OPPONENT), 1.0))


@cache
def _held(key: bytes, owner: int) -> float:
    children, offsets = afterstates_all_rolls(from_position_key(key)[None])
    total = 0.0
    for roll in range(21):
        plays = children[offsets[roll] : offsets[roll + 1]]
        total += ROLL_PROBS[roll] * max(1.0 if not child[0].any() else -_best(position_key(child), -owner) for child in plays)
    return total


@pytest.mark.parametrize("owner", [CENTRED, OWNED, OPPONENT])
def test_table_equals_recursion_over_the_rules(owner: int) -> None:
    boards = some_boards(25, 2, seed=4)
    exact, cubes = CubefulBearoff(6), cubes_of(len(boards), owner)
    assert exact.equities(boards, cubes).nd == pytest.approx([_held(position_key(board), owner) for board in boards], abs=1e-6)
    assert exact.optimal(boards, cubes) == pytest.approx([_best(position_key(board), owner) for board in boards], abs=1e-6)


def test_cubeless_column_is_the_bearoff_engine() -> None:
    boards = some_boards(500, 6, seed=5)
    assert CubefulBearoff(6).cubeless(boards) == pytest.approx(2 * BearoffEngine(6).probs6(boards)[:, 0] - 1, abs=1e-6)


def test_smaller_tables_are_corners_of_larger_ones() -> None:
    three = cubeful(3)
    assert np.array_equal(three, exact_bearoff._table(6)[: len(three), : len(three)])


def test_order_and_bounds_of_the_whole_table() -> None:
    table = np.asarray(exact_bearoff._table(6))[1:, 1:]
    _, owned, centred, theirs = (table[..., column] for column in range(4))
    assert (owned >= centred - 1e-6).all()
    assert (centred >= theirs - 1e-6).all()
    assert (np.abs(table) <= 1 + 1e-6).all()


def test_the_model_is_exact_on_the_last_roll() -> None:
    """Where the other side is sure to bear off next, the cube is dead (index 0) once this roll is thrown."""
    exact, engine = CubefulBearoff(6), BearoffEngine(6)
    quick = positions(2)[1:]
    against_an_ace = boards_of(quick, np.tile(SIX[6], (len(quick), 1)))
    sure = quick[engine.probs6(against_an_ace)[:, 0] > 1 - 1e-7]  # who does not bear off at once loses
    boards = boards_of(np.repeat(SIX[1:], len(sure), axis=0), np.tile(sure, (len(SIX) - 1, 1)))
    assert len(boards) > 1000
    probs5 = np.pad(engine.probs6(boards)[:, :1], ((0, 0), (0, 4)))
    for owner in (CENTRED, OWNED, OPPONENT):
        truth = exact.equities(boards, cubes_of(len(boards), owner))
        model = cube_equities(probs5, owner, 0.0)
        assert model.nd == pytest.approx(truth.nd, abs=1e-6)
        assert model.dt == pytest.approx(truth.dt, abs=1e-6)


def test_only_who_may_double_does() -> None:
    boards = from_position_id(CASES[0]["id"])[None].repeat(4, axis=0)
    exact = CubefulBearoff(6)
    cubes = Cubes(np.array([1, 2, 2, 4], np.int32), np.array([0, 1, -1, 1], np.int8), CubeRules(cap=4))
    nd, dt, _ = exact.equities(boards, cubes)
    assert exact.optimal(boards, cubes).tolist() == [dt[0], dt[1], nd[2], nd[3]]  # the other side's cube, a cube at its cap
    assert np.array_equal(exact.optimal(boards, cubes.under(None)), nd)


def test_bad_input_is_told() -> None:
    exact = CubefulBearoff(2)
    start, inside = START[None], some_boards(1, 2, seed=1)
    assert exact.knows(np.concatenate([start, inside])).tolist() == [False, True]
    with pytest.raises(RaccoonError, match="at most 2 checkers a side"):
        exact.equities(start, cubes_of(1, CENTRED))
    match = Cubes(np.ones(1, np.int32), np.zeros(1, np.int8), CubeRules(), np.array([[3, 3]], np.int16))
    with pytest.raises(RaccoonError, match="money play"):
        exact.equities(inside, match)
    for wrong in (0, 9, True, 2.5):
        with pytest.raises(RaccoonError, match="takes 1 to 8"):
            CubefulBearoff(wrong)  # pyright: ignore[reportArgumentType]
    assert np.array_equal(pickle.loads(pickle.dumps(exact)).cubeless(inside), exact.cubeless(inside))


def test_command_builds_the_table_once_and_replaces_a_broken_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACCOON_CACHE", str(tmp_path))
    answers = []
    for number in range(3):
        exact_bearoff._table.cache_clear()
        if number == 2:
            next(tmp_path.iterdir()).write_bytes(b"cut short")
        answers.append(command.run(["checkers=2"]))
    exact_bearoff._table.cache_clear()
    assert [("built in" in answer, "there already" in answer) for answer in answers] == [(True, False), (False, True), (True, False)]
    assert "cubeful-1-6.npy" in command.run(["checkers=1", "pips=6"])
    assert "checkers=6" in command.run(["--help"])
    for wrong in (
        ["checkers=9"],
        ["checkers=x"],
        ["checkers=2", "checkers=3"],
        ["checkers=" + "9" * 5000],
        ["size=6"],
        ["checkers=2", "more"],
    ):
        with pytest.raises(RaccoonError, match="checkers="):
            command.run(wrong)


@pytest.mark.parametrize("name", ["file", "x" * 300])
def test_command_says_when_nothing_was_kept(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("where the folder should be")
    monkeypatch.setenv("RACCOON_CACHE", str(tmp_path / name))
    exact_bearoff._table.cache_clear()
    with pytest.raises(RaccoonError, match="could not be written"):
        command.run(["checkers=2"])
    exact_bearoff._table.cache_clear()


def test_the_most_pips_are_allowed_and_one_more_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_bearoff, "_table", lambda *_: None)
    monkeypatch.setattr(exact_bearoff, "_rows", lambda *_: None)
    assert CubefulBearoff(8, 24).pips == 24
    with pytest.raises(RaccoonError, match=r"pips=25: .* takes 0 to 24"):
        CubefulBearoff(8, 25)

"""wildbg CSV import: good files, and every kind of bad one by file and line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.rows import IMPORTED
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.label_sets.wildbg import WildbgImport, read_csv
from raccoon.data.label_sets.writer import fill
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import swap
from raccoon.env.position_ids import position_id
from raccoon.executor import ProcessExecutor

HEADER = "position_id,win,win_g,win_bg,lose_g,lose_bg"
START_LINE = "4HPwATDgc/ABMA,0.5252,0.1494,0.0078,0.1247,0.0053"


def write(path: Path, boards: np.ndarray, probs5: np.ndarray) -> Path:
    rows = [f"{position_id(board)},{','.join(f'{p:.6f}' for p in probs)}" for board, probs in zip(boards, probs5, strict=True)]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def sample(small: PositionStore) -> tuple[np.ndarray, np.ndarray]:
    boards, _ = small.gather(np.arange(0, len(small), 3))
    return boards, GnubgEngine(0).probs5(boards)


def test_positions_and_probabilities_come_back(sample: tuple, inline: ProcessExecutor, tmp_path: Path) -> None:
    boards, probs5 = sample
    half = len(boards) // 2
    write(tmp_path / "a.csv", boards[:half], probs5[:half])
    write(tmp_path / "b.csv", boards[half:], probs5[half:])
    store = fill(WildbgImport(str(tmp_path / "*.csv")).plan(), tmp_path / "set", inline)
    back, back5 = store.gather(np.arange(len(store)))
    assert (back == boards).all()
    assert np.abs(back5 - probs5).max() < 1e-5
    rows = store.rows(np.arange(len(store)))
    assert (rows["provenance"] == IMPORTED).all()
    assert len(np.unique(rows["game"])) == len(rows)
    assert store.meta["teacher"] == "wildbg"


def test_the_other_point_of_view_and_exclusive_outcomes_are_refused(sample: tuple, inline: ProcessExecutor, tmp_path: Path) -> None:
    boards, probs5 = sample
    w, wg, wbg, lg, lbg = probs5.T
    exclusive = np.stack([w - wg, wg - wbg, wbg, lg - lbg, lbg], axis=1)
    nested = (exclusive[:, 0] >= exclusive[:, 1]) & (exclusive[:, 1] >= exclusive[:, 2])
    write(tmp_path / "swapped.csv", swap(boards), probs5)
    write(tmp_path / "exclusive.csv", boards[nested], exclusive[nested])
    for name in ("swapped.csv", "exclusive.csv"):
        with pytest.raises(RaccoonError, match=f"{name}: .*differ from GNUBG"):
            fill(WildbgImport(str(tmp_path / name)).plan(), tmp_path / f"set-{name}", inline)
    unchecked = fill(WildbgImport(str(tmp_path / "swapped.csv"), check=False).plan(), tmp_path / "unchecked", inline)
    assert len(unchecked) == len(boards)


@pytest.mark.parametrize("folder", ["0009", "0010", "0012", "0015"])
def test_folders_that_are_wrong_at_the_source_are_refused(folder: str, tmp_path: Path) -> None:
    path = tmp_path / folder / "contact.csv"
    path.parent.mkdir()
    path.write_text(f"{HEADER}\n{START_LINE}\n")
    with pytest.raises(RaccoonError, match=f"folder {folder} is labelled wrongly at the source"):
        WildbgImport([str(path)]).plan()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected position_id"),
        ("id,win\n", "line 1: expected position_id"),
        (HEADER, "no positions"),
        (f"{HEADER}\n{START_LINE}\n4HPwATDgc/ABMA,0.5\n", "line 3: 2 columns"),
        (f"{HEADER}\n\n{START_LINE}\n4HPwATDgc!ABMA,0.5,0.1,0,0.1,0\n", "line 4: .*4HPwATDgc!ABMA"),
        (f"{HEADER}\n4HPwATDgc/ABMA,0.5,x,0,0.1,0\n", "line 2: '0.5,x,0,0.1,0' are not five numbers"),
        (f"{HEADER}\n4HPwATDgc/ABMA,0.5,0.6,0,0.1,0\n", "line 2: .*not nested"),
        (f"{HEADER}\n4HPwATDgc/ABMA,0.5,0.1,0,0.6,0\n", "line 2: .*not nested"),
        (f"{HEADER}\n4HPwATDgc/ABMA,nan,0.1,0,0.1,0\n", "line 2: .*not nested"),
        (f"{HEADER}\nAAAAAAAAAAAAAA,0.5,0.1,0,0.1,0\n", "line 2: "),
    ],
)
def test_bad_lines_are_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(RaccoonError, match=message) as caught:
        read_csv(path)
    assert str(path) in str(caught.value)


def test_missing_files_are_named(tmp_path: Path) -> None:
    for files in ([], [str(tmp_path / "no.csv")], [str(tmp_path / "*.csv")]):
        with pytest.raises(RaccoonError, match=r"data\.source\.files"):
            WildbgImport(files).plan()


def test_a_byte_order_mark_and_blank_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"\ufeff{HEADER}\n{START_LINE}\n\n")
    boards, probs5 = read_csv(path)
    assert position_id(boards[0]) == "4HPwATDgc/ABMA"
    assert probs5[0] == pytest.approx([0.5252, 0.1494, 0.0078, 0.1247, 0.0053])

"""Import of wildbg's training data: CSV lines ``position_id,win,win_g,win_bg,lose_g,lose_bg``.

The probabilities are nested (``win`` counts every win, ``win_g`` gammons and backgammons) and belong to the side on roll,
before its roll: GNUBG's cumulative five. A few rows of every file are held against GNUBG 0-ply, so that a file from the other
point of view, or with exclusive outcomes, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.data.label_sets.rows import IMPORTED, pack
from raccoon.data.label_sets.writer import Plan
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.outcomes import nested, points_from_five
from raccoon.env import position_ids
from raccoon.env.board import terminal_points
from raccoon.files import file_digest

__all__ = ["WildbgImport", "read_csv"]

_HEADER = ("position_id", "win", "win_g", "win_bg", "lose_g", "lose_bg")
_WRONG_AT_SOURCE = {"0009", "0010", "0012", "0015"}
_ROW_BITS = 24
_SLACK = 5e-3
_SAMPLE = 200
_MAX_WIN_GAP, _MAX_POINTS_GAP = 0.05, 0.15


class WildbgImport:
    """CSV ``files`` (paths or glob patterns), one shard each, in the order given. ``check`` holds a sample against GNUBG.

    There are no games in these files: every position counts as a game of its own for the holdout.
    """

    def __init__(self, files: Sequence[str] | str, check: bool = True, name: str = "wildbg") -> None:
        self.files = [files] if isinstance(files, str) else list(files)
        self.check = check
        self.name = name

    def plan(self) -> Plan:
        """Find the files. Raises RaccoonError when there are none, or one is known to be wrong."""
        paths = [path for pattern in self.files for path in _expand(pattern)]
        if not paths:
            raise RaccoonError("data.source.files: empty; name the CSV files to import")
        if len(paths) > 1 << (32 - _ROW_BITS):
            raise RaccoonError(f"data.source.files: {len(paths)} files; import at most {1 << (32 - _ROW_BITS)} at a time")
        for path in paths:
            wrong = _WRONG_AT_SOURCE & set(path.parts)
            if wrong:
                raise RaccoonError(f"{path}: wildbg's folder {wrong.pop()} is labelled wrongly at the source; leave it out")
        sums = [file_digest(path)[:16] for path in paths]
        about = {"teacher": "wildbg", "files": [path.name for path in paths]}
        job = {"files": [str(path) for path in paths], "check": self.check}
        return Plan({"kind": "wildbg", "files": sums}, wildbg_shard, job, len(paths), f"import {self.name}", about)


def wildbg_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": ROW[n]}``: the positions of file ``index``."""
    path = Path(job["files"][index])
    boards, probs5 = read_csv(path)
    if len(boards) >= 1 << _ROW_BITS:
        raise RaccoonError(f"{path}: {len(boards)} rows; split it into files of fewer than {1 << _ROW_BITS}")
    if job["check"]:
        _compare(path, boards, probs5)
    number = np.arange(len(boards))
    return {"rows": pack(boards, probs5, (index << _ROW_BITS) + number, np.zeros(len(boards), np.int64), IMPORTED)}


def read_csv(path: Path | str) -> tuple[Boards, NDArray[np.float64]]:
    """Boards ``int8[N, 2, 25]`` and cumulative ``float64[N, 5]``, side on roll.

    Raises RaccoonError naming file and line for anything that is no unfinished position or no nested distribution.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RaccoonError(f"{path}: not readable as text ({error})") from error
    if not lines or tuple(part.strip() for part in lines[0].split(",")) != _HEADER:
        raise RaccoonError(f"{path}, line 1: expected {','.join(_HEADER)}, got {quoted(lines[0]) if lines else 'an empty file'}")
    numbers = [n for n, line in enumerate(lines[1:], start=2) if line.strip()]
    if not numbers:
        raise RaccoonError(f"{path}: no positions after line 1")
    cells = [lines[n - 1].split(",") for n in numbers]
    for n, parts in zip(numbers, cells, strict=True):
        if len(parts) != len(_HEADER):
            raise RaccoonError(f"{path}, line {n}: {len(parts)} columns, expected {len(_HEADER)}")
    boards = _boards(path, numbers, [parts[0].strip() for parts in cells])
    return boards, _probs(path, numbers, [parts[1:] for parts in cells])


def _boards(path: Path | str, numbers: Sequence[int], ids: Sequence[str]) -> Boards:
    boards = np.empty((len(ids), 2, 25), np.int8)
    for i, text in enumerate(ids):
        try:
            boards[i] = position_ids.from_position_id(text)
        except RaccoonError as error:
            raise RaccoonError(f"{path}, line {numbers[i]}: {error}") from error
    over = np.flatnonzero(terminal_points(boards) != 0)
    if len(over):
        raise RaccoonError(f"{path}, line {numbers[over[0]]}: the game {ids[over[0]]} is over; pre-roll positions are expected")
    return boards


def _probs(path: Path | str, numbers: Sequence[int], cells: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    try:
        probs = np.array(cells, np.float64)
    except ValueError:
        for n, parts in zip(numbers, cells, strict=True):
            try:
                np.array(parts, np.float64)
            except ValueError as error:
                raise RaccoonError(f"{path}, line {n}: {quoted(','.join(parts))} are not five numbers") from error
        raise
    wrong = np.flatnonzero(~nested(probs, _SLACK))
    if len(wrong):
        raise RaccoonError(f"{path}, line {numbers[int(wrong[0])]}: {quoted(','.join(cells[int(wrong[0])]))} are not nested probabilities")
    return np.clip(probs, 0.0, 1.0)


def _compare(path: Path, boards: Boards, probs5: NDArray[np.float64]) -> None:
    rows = np.unique(np.linspace(0, len(boards) - 1, _SAMPLE).astype(np.int64))
    ours = GnubgEngine(ply=0).probs5(boards[rows])
    win_gap = float(np.abs(ours[:, 0] - probs5[rows, 0]).mean())
    points_gap = float(np.abs(points_from_five(ours) - points_from_five(probs5[rows])).mean())
    if win_gap > _MAX_WIN_GAP or points_gap > _MAX_POINTS_GAP:
        raise RaccoonError(
            f"{path}: {len(rows)} of its rows differ from GNUBG 0-ply by {win_gap:.3f} in P(win) and {points_gap:.3f} points on average; "
            "nested probabilities of the side on roll are expected (data.source.check=false imports the file all the same)"
        )


def _expand(pattern: str) -> list[Path]:
    path = Path(pattern).resolve()
    if not any(sign in path.name for sign in "*?["):
        if not path.is_file():
            raise RaccoonError(f"data.source.files: {pattern} is not a file")
        return [path]
    found = sorted(path.parent.glob(path.name))
    if not found:
        raise RaccoonError(f"data.source.files: nothing matches {pattern}")
    return found

"""What became of the run in a folder, and who may work there: a new run, one that continues it, nobody where it is finished or at work."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from raccoon.contracts import RaccoonError
from raccoon.files import locks, read_json
from raccoon.runs.stages import RECORD

__all__ = ["ROOT", "claim", "claim_old", "discard", "discarding", "read_status", "remove_unused", "run_state"]

ROOT = Path("runs")


def claim(folder: Path, mark: str, resume: bool, again: bool = False) -> tuple[locks.Held, bool]:
    """Lock ``folder``; returns the lock and whether a run is continued there: an unfinished one with this ``mark``, with ``again`` any
    run of stages."""
    lock = _lock(folder)
    if lock is None:
        raise RaccoonError(f"{folder}: in use by {locks.holder(folder) or 'another process'}; name another folder (paths.run_dir=...)")
    try:
        state = read_status(folder)
        opened = again and resume and (folder / RECORD).is_file()
        if not opened and (problem := _problem(folder, state, mark, resume)):
            raise RaccoonError(f"{folder}: {problem}; name another folder (paths.run_dir=...)")
    except BaseException:
        lock.lock.release()
        raise
    return lock, bool(state)


def _problem(folder: Path, state: dict[str, Any], mark: str, resume: bool) -> str | None:
    if state.get("state") == "done" or (not state and (folder / "report.json").exists()):
        return "holds a finished run"
    if not state:
        return "holds files that no run wrote" if any(entry.name != locks.NAME for entry in folder.iterdir()) else None
    if not resume:
        return "holds an unfinished run; resume=true continues it"
    return None if state.get("fingerprint") == mark else "holds an unfinished run of another config"


def claim_old(kind: str, mark: str) -> tuple[Path, locks.Held | None, bool]:
    """The newest unfinished, unlocked run with this fingerprint, locked; no lock when there is none."""
    remove_unused(ROOT / kind, "status.json")
    for file in sorted(ROOT.glob(f"{kind}/*/*/status.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        folder = file.parent
        if not _unfinished(folder, mark):
            continue
        lock = _lock(folder)
        if lock is not None and _unfinished(folder, mark):
            return folder, lock, True
        if lock is not None:
            lock.lock.release()
    return ROOT, None, False


def remove_unused(root: Path, first: str) -> None:
    """Remove the folders ``root/DATE/TIME`` of commands that were killed before they wrote ``first``: nobody would use them again."""
    for folder in root.glob("*/*"):
        if (folder / first).exists() or not folder.is_dir() or any(not name.startswith(".") for name in os.listdir(folder)):
            continue
        with contextlib.suppress(RaccoonError):  # somebody else's folder must not stop this command
            lock = locks.take(folder)
            if lock is not None:
                with lock:
                    discard(folder, ())


def _unfinished(folder: Path, mark: str) -> bool:
    try:
        state = read_status(folder)
    except RaccoonError:  # somebody else's broken folder must not stop this run
        return False
    return state.get("fingerprint") == mark and state.get("state") != "done"


def read_status(folder: Path) -> dict[str, Any]:
    """What ``status.json`` of a run folder says; empty where there is none. Raises RaccoonError naming a broken file."""
    file = folder / "status.json"
    state = read_json(file) if file.exists() else {}
    if not isinstance(state, dict):
        raise RaccoonError(f"{file}: is no status of a run; name another folder (paths.run_dir=...)")
    return state


def run_state(folder: Path) -> tuple[str, str]:
    """What became of the run in ``folder``, and why: ``done``, ``running``, ``interrupted``, ``stopped`` (killed), ``failed`` or, never
    begun, ``missing``. Raises RaccoonError for a status that cannot be read."""
    if (folder / "report.json").is_file():
        return "done", ""
    if not (folder / "status.json").is_file():
        return "missing", ""
    status = read_status(folder)
    state = str(status.get("state", "stopped"))
    if state == "running":
        return ("running" if locks.holder(folder) else "stopped"), ""
    known = state in ("done", "failed", "interrupted")
    return (state if known else "stopped"), str(status.get("error", "")) if state == "failed" else ""


def _lock(folder: Path) -> locks.Held | None:
    """The lock of ``folder`` (created when missing), or None when another process holds it."""
    try:
        return locks.take(folder)
    except RaccoonError as error:
        raise RaccoonError(f"{error} (paths.run_dir=...)") from error


@contextlib.contextmanager
def discarding(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Within: a RaccoonError ends a command that made ``folder``; see ``discard``."""
    try:
        yield
    except RaccoonError:
        discard(folder, names)
        raise


def discard(folder: Path, names: Sequence[str]) -> None:
    """Remove the folder of a refused command if it holds at most the files ``names``, and the folders above that this leaves empty."""
    inside = set(os.listdir(folder)) if folder.is_dir() else set()
    if not inside <= {*names, locks.NAME}:
        return
    with contextlib.suppress(OSError):
        for name in inside:
            (folder / name).unlink()
        for empty in (folder, *folder.parents):
            empty.rmdir()
            if empty == ROOT:
                break

"""Which folders hold runs, and what each run is called on the page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from raccoon.contracts import RaccoonError

__all__ = ["find_runs"]

_MARKS = ("status.json", "report.json", "metrics.csv", "config.yaml")


def find_runs(paths: Iterable[Path | str]) -> dict[str, Path]:
    """Run folders by name, each once: those given, and those at any depth below folders that are none (sweeps). Links are not followed.

    A name is the path from the folder that holds the given one, longer where two runs would be called the same. Raises RaccoonError
    naming a path that holds no run.
    """
    found: dict[Path, int] = {}
    for path in map(Path, paths):
        if not path.is_dir():
            raise RaccoonError(f"{path}: no such folder; give run folders, or folders that hold some")
        given = path.resolve() if path.name in ("", "..") else path.absolute()
        here = _below(given)
        if not here:
            raise RaccoonError(f"{path}: holds no run (a folder with {', '.join(_MARKS[:-1])} or {_MARKS[-1]}); give other folders")
        for folder in here:
            found.setdefault(folder, len(folder.relative_to(given).parts) + 1)
    return _named([*found], [*found.values()])


def _below(folder: Path) -> list[Path]:
    if any((folder / mark).is_file() for mark in _MARKS):
        return [folder]
    try:
        inner = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise RaccoonError(f"{folder}: cannot be read ({error.strerror or error})") from error
    # jobs of a sweep are numbered: 2 comes before 10
    inner.sort(key=lambda path: (len(path.name), path.name) if path.name.isdigit() else (0, path.name))
    return [run for path in inner if not path.name.startswith(".") for run in _below(path)]


def _named(folders: Sequence[Path], parts: Sequence[int]) -> dict[str, Path]:
    """The folders by their last ``parts`` parts, one more as long as two have the same name."""
    names = [Path(*folder.parts[-count:]).as_posix() for folder, count in zip(folders, parts, strict=True)]
    often = Counter(names)
    if len(often) == len(names):
        return dict(zip(names, folders, strict=True))
    return _named(folders, [count + (often[name] > 1) for name, count in zip(names, parts, strict=True)])

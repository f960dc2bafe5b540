"""Stages held against what they were made from before: the record of that, and why one is not what it would be now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raccoon.checks import quoted
from raccoon.cli.stages.checked import Checked, missing_result
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.store import META, read_meta
from raccoon.files import file_digest, locks, read_json
from raccoon.runs.stages import RESULTS, SET, Stage

__all__ = ["digests", "made_anew", "problem", "read_record"]

_LEFT = {"train": ("net", "last"), "labels": (SET,), "export": ("net",), "evaluate": ()}
"""What a stage that is done has surely left."""


def digests(stage: Stage) -> dict[str, str]:
    """What the results of other stages that it takes in are; those that are not there are left out."""
    found = {}
    for name, path in stage.inputs.items():
        if path.is_file():
            found[name] = file_digest(path)
        elif (path / META).exists():
            meta = read_meta(path)
            found[name] = f"{meta['fingerprint']}, {meta.get('rows')} rows"
    return found


def problem(one: Checked, record: Any) -> str:
    """Why the run in the folder of a stage is not what it would be now; empty where it is, or where there is none.

    ``record``: ``{settings, inputs}`` of when it was begun, None where these stages did not begin it.
    """
    folder = one.stage.folder
    if not (folder / "status.json").exists():
        foreign = folder.exists() and not (folder.is_dir() and all(entry.name == locks.NAME for entry in folder.iterdir()))
        return "it holds files that no run wrote" if foreign else ""
    if record is None:
        return "it was not made as a stage"
    then, now = record["settings"], one.settings
    for key in {**then, **now}:
        if then.get(key) != now.get(key):
            return f"{key} was {quoted(then.get(key))} and is {quoted(now.get(key))} now"
    for name, digest in digests(one.stage).items():
        if record["inputs"].get(name, digest) != digest:
            return f"{name} is not what it was made from"
    gone = [path for what in _LEFT[one.stage.kind] if (path := missing_result(folder / RESULTS[what]))]
    return f"{gone[0].relative_to(folder)} is gone" if gone and one.done and one.stage.redo else ""


def made_anew(checked: Sequence[Checked]) -> None:
    """Raise RaccoonError for a stage that stays as it is although one that it was made from is still to be made."""
    waiting: set[str] = set()
    for one in checked:
        stage = one.stage
        sources = [name.split(".")[0] for name in stage.inputs]
        if stage.active and not stage.redo and (stage.folder / "status.json").exists() and (found := waiting.intersection(sources)):
            name = min(found)
            told = f"was made from the results of {name}, which are not there any more; stages.from={name} makes all from there anew"
            raise RaccoonError(f"stages.{stage.name}: {told}, or name another folder (paths.run_dir=...)")
        if stage.active and not one.done:
            waiting.add(stage.name)


def read_record(path: Path) -> dict[str, dict[str, Any]]:
    """What ``path`` says that each stage was made from; empty where it is missing. Raises RaccoonError for anything else."""
    record = read_json(path) if path.exists() else {}
    kinds = isinstance(record, dict) and all(
        isinstance(one, dict) and all(isinstance(one.get(key), dict) for key in ("settings", "inputs")) for one in record.values()
    )
    if not kinds:
        raise RaccoonError(f"{path}: is no record of stages; name another folder (paths.run_dir=...)")
    return record

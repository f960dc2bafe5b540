"""What a job left in its folder, but for times and names of runs: two trees that are equal hold the same results and files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from raccoon.files.npz import parse_arrays

__all__ = ["Tree", "differences", "tree"]

Tree = dict[str, dict[str, str]]
"""What each file holds, value by value."""
_RUN = re.compile(r"\d{4}-\d\d-\d\d/\d\d-\d\d-\d\d-[0-9a-f]{4}|\d\d-\d\d-\d\d-[0-9a-f]{4}")
_TIME = re.compile(r"second|elapsed|started|finished|pid$|host$|time$|_s$|per_s|^s/", re.IGNORECASE)
_NAMED = re.compile(r"dirpath|model_path|best_k_models|^rng$|fingerprint|names|run_dir|last_model")
"""Values that hold the path or the name of the run folder, or are made from it."""
_SEEN = (".md", ".log", ".png", ".html", ".lock", ".svg", "output", "provenance.json", "multirun.yaml")
"""Files of times and texts: that they are there is all that is compared."""
_PIECES = re.compile(r"(^|/)csv/version_\d+")
"""Lightning's CSV logger begins another file whenever a training goes on; ``metrics.csv`` holds the whole curve and is compared."""


def tree(folder: Path) -> Tree:
    """Every file below ``folder`` by its path, without the dates of run folders, and what it holds; folders without files as well."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = _RUN.sub("RUN", str(path.relative_to(folder)))
        if (path.is_dir() and any(path.iterdir())) or _PIECES.search(name):
            continue
        while name in found:
            name += " again"
        found[name] = {} if path.is_dir() or path.name.endswith(_SEEN) else _content(path)
    return found


def differences(whole: Tree, cut: Tree) -> list[str]:
    """What ``cut`` has more, less or otherwise than ``whole``."""
    found = [f"{name} is extra" for name in cut.keys() - whole.keys()] + [f"{name} is missing" for name in whole.keys() - cut.keys()]
    for name in whole.keys() & cut.keys():
        keys = [key for key in whole[name].keys() | cut[name].keys() if whole[name].get(key) != cut[name].get(key)]
        found += [f"{name}: {key}: {whole[name].get(key)} became {cut[name].get(key)}" for key in sorted(keys)[:3]]
    return sorted(found)


def _content(path: Path) -> dict[str, str]:
    try:
        return {key: text for key, text in _values(path) if not any(_TIME.search(part) or _NAMED.search(part) for part in key.split("."))}
    except Exception as error:  # a file that cannot be read is a finding, not the end of the search for others
        return {"": f"unreadable: {type(error).__name__}: {error}"}


def _values(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix in (".pt", ".ckpt"):
        yield from _flat("", torch.load(path, map_location="cpu", weights_only=True))
    elif path.suffix == ".npz":
        yield from _flat("", parse_arrays(path.read_bytes()))
    elif path.suffix == ".json":
        yield from _flat("", json.loads(_RUN.sub("RUN", path.read_text())))
    elif path.suffix == ".jsonl":
        for number, line in enumerate(path.read_text().splitlines()):
            yield from _flat(str(number), json.loads(line))
    elif path.suffix == ".csv":
        for number, row in enumerate(csv.DictReader(io.StringIO(_RUN.sub("RUN", path.read_text())))):
            yield from _flat(str(number), row)
    elif path.suffix == ".yaml":
        yield "", _hash(_RUN.sub("RUN", path.read_text()).encode())
    else:
        yield "", _hash(path.read_bytes())


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(f"{key}.{name}", part)
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _flat(f"{key}.{number}", part)
    elif isinstance(value, torch.Tensor):
        yield key, f"{value.dtype} {tuple(value.shape)} {_hash(value.contiguous().view(-1).view(torch.uint8).numpy().tobytes())}"
    elif isinstance(value, np.ndarray):
        yield key, f"{value.dtype} {value.shape} {_hash(value.tobytes())}"
    else:
        yield key, _RUN.sub("RUN", str(value))[:200]


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]

"""Times hot paths in one checkout: ``python compare_worker.py FOLDER``, started by ``benchmarks.compare``.

Reads lines of JSON, ``{"path": NAME, "calls": N}``, and answers each with a line: the processor seconds of a call, or ``{"error": TEXT}``.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

__all__: list[str] = []

_HERE = Path(__file__).resolve().parent


def _load(name: str, path: Path) -> Any:
    """The module in the file ``path`` of this checkout, whatever ``raccoon`` is imported."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Checkout:
    """Finds ``raccoon`` and ``raccoon.conf`` in one folder, before any installed one."""

    def __init__(self, folder: Path) -> None:
        self.places = {"raccoon": (str(folder), "raccoon"), "raccoon.conf": (str(folder), "conf")}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname not in self.places:
            return None
        folder, name = self.places[fullname]
        if name == "raccoon":
            return PathFinder.find_spec(name, [folder])
        inside = Path(folder) / name
        return importlib.util.spec_from_file_location(fullname, inside / "__init__.py", submodule_search_locations=[str(inside)])


def main(folder: Path) -> None:
    """Answer until the input ends."""
    first = _load("aliases_of_today", _HERE.parent / "raccoon" / "aliases.py").first
    hot_paths = _load("hot_paths_of_today", _HERE / "hot_paths.py").HOT_PATHS
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a path prints is no answer
    sys.meta_path.insert(0, _Checkout(folder))  # pyright: ignore[reportArgumentType]
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    calls: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["path"]
        try:
            if name not in calls:
                calls[name] = hot_paths[name](lambda wanted: _locate(first(wanted)))
                calls[name]()  # compiles the kernels, fills caches
            began = time.process_time()
            for _ in range(request["calls"]):
                calls[name]()
            answer: Any = (time.process_time() - began) / request["calls"]
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def _locate(name: str) -> Any:
    """The object of a dotted name: the longest part that is a module, then attributes."""
    parts = name.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[depth:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

"""Stages: several jobs of one command, each in a folder of its own below the command's, later ones from the results of earlier ones.

A config lists them under ``stages``: ``{NAME: {kind, overrides, minutes, label_minutes, nets}}`` in the order in which they run, beside
the options ``all`` (overrides of every stage), ``from``, ``only`` and ``skip``. ``${stage:NAME.net}`` in an override is the path of a
result of an earlier stage. This module reads that node; ``raccoon.cli.stages`` runs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from raccoon import checks
from raccoon.checks import number, quoted
from raccoon.contracts import RaccoonError

__all__ = ["RECORD", "RESULTS", "SET", "Stage", "quoted_path", "read_stages", "register_resolver", "shared_overrides"]

RECORD = "stages.json"
"""The file in the folder of the whole that says what each stage was made from."""
SET = "set"
RESULTS = {"net": "net.pt", "last": "last.ckpt", "best": "best.ckpt", SET: SET}
"""What may be taken from a stage, and what it is called in the folder of that."""
_GIVES = {"train": ("net", "last", "best", SET), "labels": (SET,), "export": ("net",), "evaluate": ()}
_OPTIONS = ("all", "from", "only", "skip")
_KEYS = ("kind", "overrides", "minutes", "label_minutes", "nets")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
"""Paths that the command line's grammar takes without quotes."""


@dataclass(frozen=True)
class Stage:
    """One stage: ``kind`` (``train``, ``labels``, ``export`` or ``evaluate``), its ``overrides`` or (``export``) the ``nets`` whose weights
    are averaged, its ``folder``, and what it takes in: ``{"mixture.net": path}``. ``shared``: overrides of every stage, for the keys that
    its kind has. ``active``: it is to be run unless its result is there; ``redo``: and anew where that was made from other settings."""

    name: str
    kind: str
    folder: Path
    overrides: Sequence[str] = ()
    shared: Sequence[str] = ()
    nets: Sequence[str] = ()
    inputs: Mapping[str, Path] = field(default_factory=dict)
    active: bool = True
    redo: bool = False


def register_resolver() -> None:
    """``${stage:NAME.RESULT}``: the path of a result below the ``paths.run_dir`` of the config."""
    OmegaConf.register_new_resolver("stage", _result, replace=True)


def _result(text: str, *, _root_: Any) -> str:
    name, _, what = text.partition(".")
    if what not in RESULTS:
        raise ValueError(f"${{stage:{text}}}: give NAME.RESULT, RESULT being one of {', '.join(RESULTS)}")
    return str(Path(str(_root_.paths.run_dir)) / name / RESULTS[what])


def read_stages(node: Any, run_dir: Path) -> list[Stage]:
    """The stages of the plain ``node`` in the order of their running, in folders below ``run_dir``. Raises RaccoonError naming the key."""
    shared = shared_overrides(node)
    given = {name: spec for name, spec in node.items() if name not in _OPTIONS and spec is not None}
    if not given:
        raise RaccoonError("stages: there are none; give stages.NAME.overrides=[...], or stages=null")
    active, redo = _chosen(node, list(given))
    stages: list[Stage] = []
    for name, spec in given.items():
        stages.append(_stage(str(name), spec, shared, run_dir, stages, (name in active, redo and name in active)))
    return stages


def shared_overrides(node: Any) -> list[str]:
    """``stages.all`` of the plain ``node``. Raises RaccoonError for a node that is none of stages."""
    if not isinstance(node, Mapping):
        raise RaccoonError(f"stages={quoted(node)}: give a mapping of names to stages, or null")
    return _texts("stages.all", node.get("all"))


def _chosen(node: Mapping[str, Any], names: list[str]) -> tuple[list[str], bool]:
    """The stages to run by ``from``, ``only`` and ``skip``, and whether one of the first two says so."""
    first = node.get("from")
    only, skip = (None if node.get(key) is None else _texts(f"stages.{key}", node[key]) for key in ("only", "skip"))
    for key, wanted in (("from", [] if first is None else [first]), ("only", only or []), ("skip", skip or [])):
        for name in wanted:
            if name not in names:
                raise RaccoonError(f"stages.{key}={quoted(name)}: no such stage; there are {', '.join(names)}")
    active = names if first is None else names[names.index(first) :]
    active = [name for name in active if (only is None or name in only) and name not in (skip or [])]
    return active, first is not None or only is not None


def _stage(name: str, spec: Any, shared: Sequence[str], run_dir: Path, before: Sequence[Stage], chosen: tuple[bool, bool]) -> Stage:
    at = f"stages.{name}"
    if not _NAME.fullmatch(name):
        raise RaccoonError(f"{at}: a name is letters, digits and _, a letter first, 64 at most; it is the name of a folder")
    if not isinstance(spec, Mapping):
        raise RaccoonError(f"{at}={quoted(spec)}: give a mapping with {', '.join(_KEYS)}")
    kind = spec.get("kind", "train")
    if not isinstance(kind, str) or kind not in _GIVES:
        raise RaccoonError(f"{at}.kind={quoted(kind)}: choose {', '.join(_GIVES)}")
    takes = {"train": _KEYS[:4], "labels": ("kind", "overrides", "label_minutes"), "export": ("kind", "nets"), "evaluate": _KEYS[:2]}[kind]
    for key in spec:
        if key not in takes and spec[key] is not None:
            raise RaccoonError(f"{at}.{key}: a stage of kind {kind} does not read it; it reads {', '.join(takes)}")
    overrides = [*_texts(f"{at}.overrides", spec.get("overrides")), *_budgets(at, spec)]
    nets = _texts(f"{at}.nets", spec.get("nets"))
    if kind == "export" and not nets:
        raise RaccoonError(f"{at}.nets: missing; give the network to export, or several to average")
    if kind != "export" and spec.get("overrides") is None:
        raise RaccoonError(f"{at}.overrides: missing; give a list of them, or [] (is {name} the name that was meant?)")
    shared = () if kind == "export" else shared
    checks.path(at, str(run_dir / name / SET))
    inputs = _inputs(at, [*overrides, *shared, *nets], run_dir, before)
    overrides, shared = ([_quoted_paths(text, run_dir) for text in texts] for texts in (overrides, shared))
    return Stage(name, kind, run_dir / name, overrides, shared, nets, inputs, *chosen)


def _budgets(at: str, spec: Mapping[str, Any]) -> list[str]:
    """Overrides for the time budgets of a stage."""
    found = []
    for key, target in (("minutes", "trainer.max_minutes"), ("label_minutes", "data.minutes")):
        if spec.get(key) is not None:
            found.append(f"{target}={number(f'{at}.{key}', spec[key], 'a number above 0, or null', above=True)}")
    return found


def _inputs(at: str, texts: Sequence[str], run_dir: Path, before: Sequence[Stage]) -> dict[str, Path]:
    """The results of other stages that ``texts`` name. Raises RaccoonError for one that none ``before`` gives."""
    what = {file: name for name, file in RESULTS.items()}
    found = {}
    for name, file in [match for text in texts for match in _results(run_dir).findall(text)]:
        earlier = next((stage for stage in before if stage.name == name), None)
        if earlier is None:
            told = f"there are {', '.join(stage.name for stage in before)}" if before else "it is the first"
            raise RaccoonError(f"{at}: refers to the stage {name}, but no stage before it is called that; {told}")
        if what[file] not in _GIVES[earlier.kind]:
            raise RaccoonError(f"{at}: refers to {name}.{what[file]}, but a stage of kind {earlier.kind} leaves none")
        found[f"{name}.{what[file]}"] = run_dir / name / file
    return found


def _results(run_dir: Path) -> re.Pattern[str]:
    """What finds the paths of results in a text: groups of the stage's name and of the file."""
    files = "|".join(re.escape(file) for file in RESULTS.values())
    return re.compile(rf"(?<![\w./-]){re.escape(str(run_dir))}/(\w+)/({files})(?![\w.])")


def quoted_path(path: Path | str) -> str:
    """``path`` as the value of an override, in quotes where it holds what the grammar of overrides would not take."""
    text = str(path)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "\\'") + "'"


def _quoted_paths(text: str, run_dir: Path) -> str:
    return _results(run_dir).sub(lambda found: found[0] if text[: found.start()].endswith(("'", '"')) else quoted_path(found[0]), text)


def _texts(key: str, value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise RaccoonError(f"{key}={quoted(value)}: give a list of texts, in quotes where they hold = or :")
    return list(value)

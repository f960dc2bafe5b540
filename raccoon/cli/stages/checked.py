"""Every stage composed and checked before the first one starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from raccoon import assets
from raccoon.cli.program import advice, before
from raccoon.cli.program.composing import compose, settled
from raccoon.cli.program.keys import READ, check_keys, key_of
from raccoon.config.instantiate import build, plain
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.store import missing_file
from raccoon.data.label_sets.writer import Source
from raccoon.flatten import leaves
from raccoon.runs import folder as runs
from raccoon.runs.claims import read_status
from raccoon.runs.stages import RESULTS, SET, Stage, quoted_path, shared_overrides

if TYPE_CHECKING:
    from raccoon.model import RaccoonNet

__all__ = ["Checked", "check_stages", "everywhere", "missing_result"]

Planned = dict[str, Any]
"""Paths that a stage is to write, with the network that will be there; None for a set."""
_ROOT = {"train": "train", "labels": "train", "evaluate": "evaluate"}
_OF_THE_WHOLE = ("stages", "resume", "paths.run_dir", "hydra")
_LABELS = ("source", "minutes")


@dataclass(frozen=True)
class Checked:
    """A stage with its composed config, the overrides that give it, and what its result follows from, by dotted key."""

    stage: Stage
    cfg: DictConfig
    words: Sequence[str]
    settings: Mapping[str, Any]

    @property
    def done(self) -> bool:
        """Whether its result is there."""
        return read_status(self.stage.folder).get("state") == "done"


def everywhere(cfg: DictConfig, overrides: Iterable[str]) -> DictConfig:
    """``cfg`` of a command with stages whose ``stages.all`` has the ``overrides`` of the command line that are for its stages."""
    words = [word for word in overrides if not _is_of(word, (*_OF_THE_WHOLE, "experiment"))]
    for word in words:
        if key_of(word) == "init":
            raise RaccoonError(f"{word}: every stage has its own start; give it in stages.NAME.overrides")
    shared = shared_overrides(plain(cfg.stages))
    cfg = cfg.copy()
    OmegaConf.set_struct(cfg, False)
    cfg.stages["all"] = [*shared, *words]
    return cfg


def _is_of(override: str, keys: Iterable[str]) -> bool:
    key = key_of(override)
    return any(key == one or key.startswith(f"{one}.") for one in keys)


def check_stages(stages: Sequence[Stage], run_dir: Path) -> list[Checked]:
    """All of them, composed; those that are to be run are checked as far as nothing they need is still to come.

    Raises RaccoonError naming the stage and the key. Nothing is labelled, trained or written.
    """
    planned: Planned = {}
    checked = []
    for stage in stages:
        try:
            one = _composed(stage, run_dir)
            checked.append(one)
            made = _is_made(one, planned)
            if stage.active and not made:
                _check(one, planned)
        except RaccoonError as error:
            raise RaccoonError(f"stages.{stage.name}: {error}") from error
    return checked


def _is_made(one: Checked, planned: Planned) -> bool:
    """Whether a stage is done and nothing that it takes in is made anew."""
    return one.done and not one.stage.redo and not any(str(path) in planned for path in one.stage.inputs.values())


def _composed(stage: Stage, run_dir: Path) -> Checked:
    if stage.kind == "export":
        root: dict[str, Any] = {"seed": 1, "resume": True, "paths": {"run_dir": str(stage.folder)}, "nets": list(stage.nets)}
        cfg, words = OmegaConf.create(root), []
    else:
        kind = _ROOT[stage.kind]
        for word in (*stage.overrides, *stage.shared):
            if _is_of(word, _OF_THE_WHOLE):
                raise RaccoonError(f"{word}: is of the whole command, not of a stage; give it on the command line")
        words = [*stage.overrides, *(word for word in stage.shared if _is_for(kind, word)), f"paths.run_dir={quoted_path(stage.folder)}"]
        cfg = _compose(kind, words)
        if cfg.get("stages") is not None:
            raise RaccoonError("its overrides give it stages of its own; a stage is one job: choose another experiment")
        check_keys(kind, cfg, stage.overrides)
        advice.check_groups(words)
        advice.check_missing(cfg)
    if stage.kind == "labels":
        cfg = _labels_alone(plain(cfg))
    settings = runs.settings(cfg)
    settings.pop("paths")
    if isinstance(settings.get("data"), dict):
        settings["data"] = {key: value for key, value in settings["data"].items() if key not in ("data_dir", "executor")}
    found = {key: _moved(value, run_dir) for key, value in leaves(settings)}
    return Checked(stage, cfg, words, found)


def _is_for(kind: str, override: str) -> bool:
    """Whether a stage of that ``kind`` takes an override of all stages: one for keys that another kind alone has is none of its own."""
    key = key_of(override).split(".")[0]
    return key in READ[kind] or not any(key in READ[other] for other in _ROOT.values())


def _labels_alone(config: Mapping[str, Any]) -> DictConfig:
    """Of a training's config what the making of its labels reads."""
    data = config.get("data") or {}
    if not data.get("source"):
        raise RaccoonError("data.source: nothing to label; choose data=demo, gnubg0, candidates, policy or relabel")
    kept = {"seed": 1, **{key: config[key] for key in ("resume", "paths", "executor")}}  # labels have seeds of their own
    labels = {key: data.get(key) for key in _LABELS} | {"data_dir": data.get("data_dir", config["paths"]["data_dir"])}
    return OmegaConf.create({**kept, "data": labels, "folder": None})


def _compose(kind: str, words: list[str]) -> DictConfig:
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        if GlobalHydra.instance().is_initialized():  # with the folders of configs that the command line names
            return settled(hydra.compose(kind, words))
        return compose(kind, words)
    except (HydraException, OmegaConfBaseException) as error:
        told = advice.advice(kind, words) or " ".join(str(error).split())
        raise RaccoonError(told) from error


def _moved(value: Any, run_dir: Path) -> Any:
    """``value`` whatever folder the whole lies in."""
    if isinstance(value, list):
        return [_moved(one, run_dir) for one in value]
    return value.replace(f"{run_dir}/", "") if isinstance(value, str) else value


def _check(one: Checked, planned: Planned) -> None:
    stage, config = one.stage, plain(one.cfg)
    there = {str(path) for path in stage.inputs.values() if str(path) not in planned}
    for path in there:
        gone = missing_result(Path(path))
        if gone is not None:
            made_by = Path(path).parent
            if read_status(made_by).get("state") == "done":
                raise RaccoonError(f"{gone}: is gone; stages.from={made_by.name} makes it and what follows from it anew")
            raise RaccoonError(f"{gone}: is not there, and its stage is not to be run; take it into stages.only, or out of stages.skip")
    if stage.kind == "export":
        planned[str(stage.folder / RESULTS["net"])] = _averaged(stage.nets, planned)
        return
    if stage.kind != "labels":
        before.check(stage.kind, config, one.words, planned)
    _check_source(config, planned)
    net = None
    if stage.kind == "train":
        from raccoon.train.run import build_parts

        net = build_parts(config, planned).trains.net
        planned |= {str(stage.folder / RESULTS[what]): net for what in ("net", "last", "best")}
    planned[str(stage.folder / SET)] = None


def missing_result(path: Path) -> Path | None:
    """The file that is not there of a result of a stage: of a set any that belongs to it; None where all are there."""
    return missing_file(path) if path.is_dir() else None if path.exists() else path


def _check_source(config: Mapping[str, Any], planned: Planned) -> None:
    """Plan the labels of a stage, unless they are made from a set that is still to come."""
    source = (config.get("data") or {}).get("source")
    if not source:
        return
    made: Source = build(source, "data.source", Source)
    sets = {path for path, net in planned.items() if net is None}
    if not sets & {value for _, value in leaves(source) if isinstance(value, str)}:
        made.plan()


def _averaged(nets: Sequence[str], planned: Planned) -> RaccoonNet:
    """A network like the average of ``nets`` will be. Raises RaccoonError where they cannot have one."""
    from raccoon.model import checkpoint_file
    from raccoon.model.average import check_alike

    found = []
    for name in nets:
        path = str(assets.path(assets.NETS[name])) if name in assets.NETS else name
        found.append((name, planned.get(path) or checkpoint_file.load(path)[0]))
    for name, net in found[1:]:
        check_alike(net, name, found[0][1], found[0][0])
    return found[0][1]

"""What can be told before there is a run folder and before anything large is imported: files that are missing, a GPU that is not there."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from raccoon import assets
from raccoon.aliases import public
from raccoon.checks import number, quoted
from raccoon.cli.program.keys import check_players
from raccoon.config.instantiate import build, check_declared, check_flags
from raccoon.contracts import Evaluator, RaccoonError
from raccoon.data.label_sets.store import missing_file
from raccoon.executor import Executor
from raccoon.train.trainers.options import check_options

__all__ = ["check"]

_NETS = ("raccoon.engine.NetEngine.", "raccoon.engine.OnnxEngine")
_TRAINER = "lightning.pytorch.Trainer"
_GPUS = ("gpu", "cuda", "mps")


def check(kind: str, config: Mapping[str, Any], overrides: Iterable[str] = (), planned: Container[str] = ()) -> None:
    """Raise RaccoonError naming the key for a plain, resolved ``config`` of the program ``kind`` that cannot work, and for one of the
    ``overrides`` that sets a player which the evaluator does not ask. ``planned``: paths that need not be there yet."""
    check_declared({key: node for key, node in config.items() if key != "runtime"})
    for at, path in _networks(config):
        if path not in assets.NETS and path not in planned and not Path(path).is_file():
            raise RaccoonError(f"{at}={quoted(path)}: no such file; name a checkpoint (.pt or .ckpt), or one of {', '.join(assets.NETS)}")
    if kind == "train":
        _check_training(config, planned)
    nodes = {"evaluator": config.get("evaluator")} | {f"final.{name}": node for name, node in (config.get("final") or {}).items()}
    nodes = {at: node for at, node in nodes.items() if node}
    if nodes and config.get("executor"):
        executor = build(config["executor"], "executor", Executor)
        for at, node in nodes.items():
            evaluator = build(node, at, Evaluator, executor=executor)
            if kind == "evaluate":
                check_players(evaluator, config, overrides)
    source = (config.get("data") or {}).get("source")
    if kind == "generate" and source:
        from raccoon.data.label_sets.writer import Source

        build(source, "data.source", Source).plan()


def _networks(node: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Keys that name a network's file, with their values; of a player's own key and that of its engine the first."""
    if isinstance(node, Mapping):
        target = public(str(node.get("_target_", "")))
        for key in ("checkpoint",) if target.startswith("raccoon.play.") else ("path",) if target.startswith(_NETS) else ():
            if isinstance(node.get(key), str):
                yield f"{at}.{key}", node[key]
        for key, inner in node.items():
            yield from _networks(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(node, list | tuple):
        for index, inner in enumerate(node):
            yield from _networks(inner, f"{at}[{index}]")


def _check_training(config: Mapping[str, Any], planned: Container[str]) -> None:
    trainer = config.get("trainer")
    if isinstance(trainer, Mapping) and str(trainer.get("_target_")).startswith("raccoon.train."):
        check_options(trainer)
    init, folders = config.get("init"), (config.get("data") or {}).get("folders")
    if isinstance(init, str) and init not in planned and not Path(init).is_file():
        raise RaccoonError(f"init={quoted(init)}: no such file; name the checkpoint to start from")
    for folder in folders if isinstance(folders, list) else []:
        if isinstance(folder, str) and folder not in planned and not Path(folder).is_dir():
            raise RaccoonError(f"data.folders: {quoted(folder)}: no such folder; name sets of labelled positions")
        if isinstance(folder, str) and folder not in planned and (gone := missing_file(Path(folder))):
            raise RaccoonError(f"data.folders: {gone}: is not there; make the set again, or leave it out")
    flags = dict(config.get("runtime") or {})
    if flags.pop("tflops", None) is not None:
        number("runtime.tflops", config["runtime"]["tflops"], "TFLOP/s of one device, a number above 0, or null", above=True)
    check_flags(flags, "runtime", _TRAINER)
    accelerator = flags.get("accelerator")
    if accelerator in _GPUS and not _has_gpu(str(accelerator)):
        raise RaccoonError(f"runtime.accelerator={accelerator}: this machine has no such device that torch can use; choose runtime=cpu")


def _has_gpu(accelerator: str) -> bool:
    if importlib.metadata.version("torch").endswith("+cpu"):  # torch itself takes seconds to say so
        return False
    import torch

    return (accelerator != "mps" and torch.cuda.is_available()) or (accelerator != "cuda" and torch.backends.mps.is_available())

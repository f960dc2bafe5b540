"""The end of a training run: the best weights as ``net.pt``, the measurements of ``final``, one report over all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from raccoon.config.instantiate import build
from raccoon.contracts import Evaluator, Figure, Player, RaccoonError, Report, Search
from raccoon.eval.benchmark.loader import CHOOSING, EMBEDDED, SHIPPED, load
from raccoon.executor import Executor
from raccoon.files import make_folder
from raccoon.model import checkpoint_file
from raccoon.report import report_files as reports
from raccoon.report.measurement import measure
from raccoon.runs.folder import Run
from raccoon.train.callbacks.checkpoints import BEST, LAST

__all__ = ["PLOTS", "build_evaluators", "engine_node", "export", "export_and_measure", "player_node"]

log = logging.getLogger(__name__)
_CURVES = (("train/loss", "training loss"), ("val/ce", "cross-entropy above entropy (nats)"), ("val/mse", "MSE (points squared)"))
_CURVES += (("val/r2", "R2 of equity"), ("val/pr", "PR on the benchmark"), ("val/vr_ppg", "points per game, luck taken out"))
_CURVES += (("val/policy_ce", "policy: nats above entropy"), ("val/policy_top1", "policy: first choice is the target's"))


def build_evaluators(cfg: Mapping[str, Any]) -> dict[str, Evaluator]:
    """The evaluators of ``cfg["final"]`` by name, built before training so that a bad setting costs nothing.

    So are the search and the opponent that they will play with, in vain; benchmarks of one's own are read.
    """
    nodes = {name: node for name, node in (cfg.get("final") or {}).items() if node}
    if not nodes:
        return {}
    if not cfg.get("executor"):
        raise RaccoonError("executor: final measurements need one, e.g. executor=processes")
    executor = build(cfg["executor"], "executor", Executor)
    evaluators = {name: build(node, f"final.{name}", Evaluator, executor=executor) for name, node in nodes.items()}
    for key, kind in (("search", Search), ("opponent", Player)):
        if cfg.get(key):
            build(cfg[key], key, kind)
    for name, node in nodes.items():
        if node.get("benchmark", EMBEDDED) not in SHIPPED:
            load(node["benchmark"], f"final.{name}.benchmark")
    return evaluators


def export(run_dir: Path) -> Path:
    """``net.pt``: the (averaged) weights of the best checkpoint, of the last where no epoch could be judged."""
    source = next((path for path in (run_dir / BEST, run_dir / LAST) if path.exists()), None)
    if source is None:
        raise RaccoonError(f"{run_dir}: no checkpoint to export, the run ended within its first epoch; raise trainer.max_minutes")
    net, header = checkpoint_file.load(source)
    path = run_dir / "net.pt"
    checkpoint_file.save(path, net, header["meta"])
    return path


def engine_node(path: Path, device: torch.device, executor: Any) -> dict[str, Any]:
    """Config node of the engine that evaluates with ``path``: on the device that trained it where ``executor`` says that its workers are
    ``local``, on the CPU of other machines."""
    where = str(device) if getattr(executor, "local", False) else "cpu"
    return {"_target_": "raccoon.engine.NetEngine.load", "path": str(path), "device": where}


def player_node(cfg: Mapping[str, Any], name: str, engine: Mapping[str, Any]) -> dict[str, Any]:
    """Config node of the player that plays with ``engine`` and the run's search."""
    node: dict[str, Any] = {"_target_": "raccoon.play.EnginePlayer", "name": name, "engine": dict(engine)}
    return node | ({"search": cfg["search"]} if cfg.get("search") else {})


def export_and_measure(
    cfg: Mapping[str, Any],
    run: Run,
    module: Any,
    rows: Sequence[Mapping[str, float]],
    evaluators: Mapping[str, Evaluator],
    device: torch.device,
    work: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Export, measure on ``device``, write ``report.json`` and its companions into the run folder; returns its path. Only rank 0 works.

    ``work``: what the training was expected to take and took, see ``raccoon.train.callbacks.expected``."""
    if module.trainer is not None and not module.trainer.is_global_zero:
        return run.dir / "report.json"
    path = export(run.dir)
    summary = Report("train", _describe(cfg), None, int(cfg["seed"]), sum(row["seconds"] for row in rows))
    summary.figures |= _exported(rows, (run.dir / BEST).exists(), module.monitor)
    summary.tables["epochs"] = [dict(row) for row in rows]
    if work:
        summary.tables["expected and actual"] = work
        summary.notes.append("expected and actual: validation and measurements between epochs are in the minutes, and not in the FLOP")
    summary.files.append(path.name)
    for name, evaluator in evaluators.items():
        player = player_node(cfg, run.dir.name, engine_node(path, device, getattr(evaluator, "executor", None)))
        part = _measure(evaluator, player, cfg.get("opponent"), run.dir / "final" / name, int(cfg["seed"]))
        summary.opponent = part.opponent or summary.opponent
        summary.seconds += part.seconds
        summary.figures |= {f"{name}/{key}": figure for key, figure in part.figures.items()}
        summary.files.append(f"final/{name}/report.md")
    summary.plots |= {stem: partial(draw, rows) for stem, draw in PLOTS.items()}
    summary.notes += [f"final/{name}/report.md tells all about {name}" for name in evaluators]
    summary.notes.append("seconds are those of the epochs and of the measurements, without making labels")
    if _chosen_where_reported(cfg):
        summary.notes.append("the best of several epochs by PR flatters a little: the minimum of noisy figures")
    written = reports.write(summary, run.dir)
    _show(summary, written)
    return written


def _measure(evaluator: Evaluator, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, folder: Path, seed: int) -> Report:
    """Run one evaluator in its own folder; a finished one is read back (a continued run)."""
    if (folder / "report.json").exists():
        return reports.read(folder)
    make_folder(folder)
    report = measure(evaluator, player, opponent, folder, seed)
    reports.write(report, folder)
    return report


def _chosen_where_reported(cfg: Mapping[str, Any]) -> bool:
    """Whether a measurement of ``final`` is on the benchmark that the exported epoch was chosen by."""
    callback = (cfg.get("callbacks") or {}).get("pr")
    nodes = [node for node in (cfg.get("final") or {}).values() if node]
    return callback is not None and callback.get("benchmark", CHOOSING) in [node.get("benchmark") for node in nodes]


def _describe(cfg: Mapping[str, Any]) -> str:
    backbone = dict(cfg["model"]["backbone"])
    shape = " ".join(f"{key}={value}" for key, value in backbone.items() if not key.startswith("_"))
    head = str(cfg["model"]["head"].get("_target_", "")).rsplit(".", 1)[-1]
    return f"{str(backbone.get('_target_', '')).rsplit('.', 1)[-1]} {shape}, {head}".replace("  ", " ")


def _exported(rows: Sequence[Mapping[str, float]], judged: bool, monitor: str | None) -> dict[str, Figure]:
    """Figures of the exported epoch: the best by ``monitor`` (None: PR; MSE where that was not measured), the last unless epochs were
    ``judged``."""
    if not rows:
        return {}
    key = monitor or ("val/pr" if any("val/pr" in row for row in rows) else "val/mse")
    row = min(rows, key=lambda row: row.get(key, float("inf"))) if judged else rows[-1]
    return {"epoch exported": Figure(row["epoch"])} | {name: Figure(row[name]) for name, _ in _CURVES if name in row}


def _curves(rows: Sequence[Mapping[str, float]], figure: Any) -> None:
    """One panel a figure that was logged, by epoch."""
    known = [(name, label) for name, label in _CURVES if any(name in row for row in rows)]
    for index, (name, label) in enumerate(known):
        axes = figure.add_subplot(2, (len(known) + 1) // 2, index + 1)
        points = [(row["epoch"], row[name]) for row in rows if name in row]
        axes.plot(*zip(*points, strict=True), marker=".")
        axes.set_title(label, fontsize=9)
        axes.set_xlabel("epoch")
        axes.grid(alpha=0.3)


PLOTS: dict[str, Callable[[Sequence[Mapping[str, float]], Any], None]] = {"training": _curves}
"""Plots of the summary by file stem: each draws the rows of the epochs on a matplotlib figure."""


def _show(summary: Report, path: Path) -> None:
    short = Report(summary.evaluator, summary.player, summary.opponent, summary.seed, summary.seconds, summary.figures)
    reports.show(short)
    print(f"report: {path.with_suffix('.md')}")

"""Old names and what they are called now, so that old checkpoints, run folders, label sets and plugins keep working.

Configs, checkpoint headers and the identities of label sets and runs hold dotted names. ``public`` gives the name of today, which is
what is imported; ``first`` the oldest name of the same thing, which is what is hashed: an identity never changes because code moved.
When something moves again, add its line and mend those that point to it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["ARGUMENTS", "MODULES", "TARGETS", "OldModules", "first", "first_arguments", "first_names", "public"]

MODULES = {
    "arguments": "config.arguments",
    "artifact": "model.checkpoint_file",
    "build": "config.instantiate",
    "claims": "runs.claims",
    "cli.advice": "cli.program.advice",
    "cli.app": "cli.program.app",
    "cli.before": "cli.program.before",
    "cli.first_use": "cli.program.first_use",
    "cli.help": "cli.program.help",
    "cli.keys": "cli.program.keys",
    "cli.output": "cli.program.output",
    "cli.records": "cli.program.records",
    "cli.search_page": "search.analysis.page",
    "cli.program.search_page": "search.analysis.page",
    "cli.sweep": "cli.program.sweep",
    "cube.bearoff": "cube.exact_bearoff",
    "cube.bearoff_tables": "cube.exact_bearoff_tables",
    "cube.cubeful": "search.cubeful",
    "cube.met": "cube.match_equity_table",
    "cubes": "cube_rules",
    "data.actors": "data.selfplay.actors",
    "data.decisions": "data.label_sets.decisions",
    "data.episodes": "data.selfplay.episodes",
    "data.explore": "data.selfplay.explore",
    "data.generate": "data.label_sets.generate",
    "data.policy_rows": "data.label_sets.policy_rows",
    "data.recorder": "data.selfplay.recorder",
    "data.relabel": "data.label_sets.relabel",
    "data.replay": "data.selfplay.replay",
    "data.rows": "data.label_sets.rows",
    "data.selfplay": "data.selfplay.module",
    "data.store": "data.label_sets.store",
    "data.stored": "data.label_sets.stored",
    "data.tree_player": "data.selfplay.tree_player",
    "data.tree_selfplay": "data.selfplay.tree_module",
    "data.wildbg": "data.label_sets.wildbg",
    "data.writer": "data.label_sets.writer",
    "engine.bearoff": "engine.exact_bearoff.engine",
    "engine.bearoff_files": "engine.exact_bearoff.table_files",
    "engine.bearoff_tables": "engine.exact_bearoff.tables",
    "engine.cache": "engine.network.cache",
    "env.board26": "env.formats.board26",
    "env.codec": "env.position_ids",
    "env.diagram": "env.formats.diagram",
    "env.gnubg_id": "env.formats.gnubg_id",
    "env.xgid": "env.formats.xgid",
    "eval.vr_arena": "eval.arena.vr_arena",
    "eval.arena.gnubg_harness": "eval.arena.vr_arena",
    "eval.arena.head_to_head": "eval.arena.vr_arena",
    "eval.arena_figures": "eval.arena.figures",
    "eval.benchmark": "eval.benchmark.decisions",
    "eval.benchmark_build": "eval.benchmark.make",
    "eval.benchmark_check": "eval.benchmark.check",
    "eval.benchmark_file": "eval.benchmark.compact",
    "eval.benchmark_json": "eval.benchmark.exchange",
    "eval.bgsage_pr": "eval.pr.checker",
    "eval.blocks": "eval.arena.short_matches",
    "eval.collect": "eval.sweep.by_pr",
    "eval.collect_arenas": "eval.sweep.by_arena",
    "eval.cost_model": "eval.search_study.cost_model",
    "eval.cube_arena": "eval.arena.cube_arena",
    "eval.cube_evidence": "eval.cube_fit.references",
    "eval.cube_fit": "eval.cube_fit.evaluator",
    "eval.cube_fit_tables": "eval.cube_fit.tables",
    "eval.cube_index": "eval.cube_fit.index",
    "eval.cube_luck": "eval.arena.cube_luck",
    "eval.cube_models": "eval.pr.cube_models",
    "eval.cube_pr": "eval.pr.cube",
    "eval.cube_ready": "eval.pr.cube_ready",
    "eval.cube_scoring": "eval.pr.cube_scoring",
    "eval.cube_shards": "eval.pr.cube_shards",
    "eval.cube_variants": "eval.cube_fit.variants",
    "eval.cube_volatility": "eval.cube_fit.volatility",
    "eval.doubles": "eval.arena.doubles",
    "eval.filter_recall": "eval.search_study.filter_recall",
    "eval.frontier": "eval.pr.frontier",
    "eval.gnubg_harness": "eval.arena.vr_arena",
    "eval.matches": "eval.arena.games",
    "eval.plots": "report.plots",
    "eval.pr_scoring": "eval.pr.checker_scoring",
    "eval.pr_shards": "eval.pr.checker_shards",
    "eval.pr_table": "eval.pr.table",
    "eval.report": "report.report_files",
    "eval.stats": "stats",
    "eval.trained": "eval.sweep.jobs",
    "eval.wandb_report": "report.wandb_tables",
    "files": "files.read_write",
    "interrupts": "runs.interrupts",
    "kernels": "env.kernels",
    "locate": "config.targets",
    "locks": "files.locks",
    "npz": "files.npz",
    "provenance": "runs.provenance",
    "runs": "runs.folder",
    "search.analysis": "search.analysis.answers",
    "search.greedy": "search.half_by_half",
    "search.mcts": "search.mcts.search",
    "search.mcts_expand": "search.mcts.expand",
    "search.mcts_forest": "search.mcts.forest",
    "search.mcts_nodes": "search.mcts.nodes",
    "search.mcts_walk": "search.mcts.walk",
    "search.questions": "search.analysis.questions",
    "search.records": "search.analysis.records",
    "search.rollout": "search.rollout.search",
    "search.rollout_dice": "search.rollout.quasi_random",
    "sweeps": "runs.sweeps",
    "torch_file": "files.torch_file",
    "train.alphazero": "train.trainers.alphazero",
    "train.alphazero_targets": "train.objectives.alphazero_targets",
    "train.arena_callback": "train.callbacks.arena_points",
    "train.callbacks": "train.callbacks.benchmark_pr",
    "train.checkpoints": "train.callbacks.checkpoints",
    "train.distill": "train.trainers.distill",
    "train.history": "train.callbacks.history",
    "train.keep": "train.callbacks.save_on_interrupt",
    "train.losses": "train.objectives.losses",
    "train.policy_losses": "train.objectives.policy_losses",
    "train.policy_value": "train.trainers.policy_value",
    "train.previous": "train.callbacks.previous_net",
    "train.progress": "train.callbacks.progress",
    "train.selftaught": "train.trainers.selftaught",
    "train.targets": "train.objectives.targets",
    "train.td": "train.trainers.td",
    "train.td_targets": "train.objectives.td_targets",
    "train.tracking": "train.callbacks.tracking",
}
"""Modules that moved, below ``raccoon``: the old place and the new one. Of several that became one, the first listed names it in hashes."""

TARGETS = {
    "cli.sweep.SweepCallback": "cli.SweepCallback",
    "cube.model.Janowski": "cube.Janowski",
    "data.datamodule.PositionData": "data.PositionData",
    "data.decisions.Decisions": "data.Decisions",
    "data.generate.SelfPlayLabels": "data.SelfPlayLabels",
    "data.relabel.Relabelled": "data.Relabelled",
    "data.selfplay.SelfPlay": "data.SelfPlay",
    "data.stored.Stored": "data.Stored",
    "data.tree_selfplay.TreeSelfPlay": "data.TreeSelfPlay",
    "data.wildbg.WildbgImport": "data.WildbgImport",
    "engine.bearoff.BearoffEngine": "engine.BearoffEngine",
    "engine.composite.CompositeEngine": "engine.CompositeEngine",
    "engine.gnubg.GnubgEngine": "engine.GnubgEngine",
    "engine.mixture.MixtureEngine": "engine.MixtureEngine",
    "engine.net.NetEngine": "engine.NetEngine",
    "engine.random.RandomEngine": "engine.RandomEngine",
    "engine.sage.SageEngine": "engine.SageEngine",
    "env.encoder.Encoder": "env.Encoder",
    "eval.arena.Arena": "eval.Arena",
    "eval.bgsage_pr.BGSagePR": "eval.BGSagePR",
    "eval.cost_model.CostModel": "eval.CostModel",
    "eval.cube_arena.CubeArena": "eval.CubeArena",
    "eval.cube_fit.CubeFit": "eval.CubeFit",
    "eval.cube_pr.CubePR": "eval.CubePR",
    "eval.doubles.DoublesConcession": "eval.DoublesConcession",
    "eval.filter_recall.FilterRecall": "eval.FilterRecall",
    "eval.frontier.Frontier": "eval.Frontier",
    "eval.gnubg_harness.GnubgHarness": "eval.GnubgHarness",
    "eval.pr_table.PRTable": "eval.PRTable",
    "eval.vr_arena.VRArena": "eval.VRArena",
    "model.backbones.mlp.MLP": "model.MLP",
    "model.backbones.resnet.ResNet": "model.ResNet",
    "model.heads.outcomes6.Outcomes6": "model.Outcomes6",
    "model.heads.scalar.Scalar": "model.Scalar",
    "model.network.RaccoonNet": "model.RaccoonNet",
    "play.gnubg_cli.GnubgCliPlayer": "play.GnubgCliPlayer",
    "play.player.EnginePlayer": "play.EnginePlayer",
    "play.sage_player.SagePlayer": "play.SagePlayer",
    "search.expectimax.Expectimax": "search.Expectimax",
    "search.filters.Filter": "search.Filter",
    "search.lookahead.StaticSearch": "search.StaticSearch",
    "search.lookahead_engine.LookaheadEngine": "search.LookaheadEngine",
    "search.mcts.MCTS": "search.MCTS",
    "search.rollout.Rollout": "search.Rollout",
    "train.alphazero.AlphaZero": "train.AlphaZero",
    "train.arena_callback.ArenaPoints": "train.ArenaPoints",
    "train.callbacks.BenchmarkPR": "train.BenchmarkPR",
    "train.distill.Distillation": "train.Distillation",
    "train.loggers.csv_logger": "train.csv_logger",
    "train.loggers.tensorboard_logger": "train.tensorboard_logger",
    "train.loggers.wandb_logger": "train.wandb_logger",
    "train.optimizers.MuonAdam": "train.MuonAdam",
    "train.policy_value.PolicyValue": "train.PolicyValue",
    "train.previous.PreviousNet": "train.PreviousNet",
    "train.td.TemporalDifference": "train.TemporalDifference",
}
"""What configs name in ``_target_``, below ``raccoon``: the module's name, as it was written at first, and the public name."""

_GAMES = ("data.SelfPlayLabels", "eval.Arena", "eval.CubeArena", "eval.DoublesConcession", "eval.GnubgHarness", "eval.VRArena")
_CUBES = ("cube.GnubgJanowski", "cube.Janowski")
ARGUMENTS = {target: {"concurrent": "batch"} for target in _GAMES} | {target: {"doubles": "turns"} for target in _CUBES}
"""Arguments of public targets, below ``raccoon``, with the name that they had first, which is hashed. That the old name is still
understood is said by ``renamed`` of the class, see ``raccoon.config.instantiate``."""

_FIRST = {new: old for old, new in reversed([*MODULES.items(), *TARGETS.items()])}


def public(name: str) -> str:
    """The name of today of what was once called ``name``, a dotted name; others are returned as they are."""
    return _renamed(name, TARGETS | MODULES)


def first(name: str) -> str:
    """The oldest name of what is called ``name``, by any name that it has had."""
    return _renamed(public(name), _FIRST)


def first_names(node: Any) -> Any:
    """A config ``node`` with the oldest name of every ``_target_`` and argument, for hashing."""
    return _first_targets(first_arguments(node))


def first_arguments(node: Any) -> Any:
    """A config ``node`` with the oldest name of every argument; where both are given, the old one counts, as in ``build``."""
    if isinstance(node, list | tuple):
        return [first_arguments(value) for value in node]
    if not isinstance(node, Mapping):
        return node
    target = node.get("_target_")
    names = ARGUMENTS.get(public(target).removeprefix("raccoon."), {}) if isinstance(target, str) else {}
    return {names.get(key, key): first_arguments(value) for key, value in node.items() if names.get(key) not in node}


def _first_targets(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: first(value) if key == "_target_" and isinstance(value, str) else _first_targets(value) for key, value in node.items()}
    return [_first_targets(value) for value in node] if isinstance(node, list | tuple) else node


def _renamed(name: str, table: Mapping[str, str]) -> str:
    """``name`` with its longest leading part that is in ``table`` renamed; the rest may be attributes, but no module of today."""
    root, _, path = name.partition(".")
    parts = path.split(".")
    if root != "raccoon":
        return name
    for depth in range(len(parts), 0, -1):
        part = ".".join(parts[:depth])
        if part in table and not _is_module(parts[: depth + 1]):
            return ".".join([root, table[part], *parts[depth:]])
        if part in _NOW:
            return name
    return name


def _is_module(parts: Sequence[str]) -> bool:
    """Is there a module of today by that name, below ``raccoon``? Some old modules have become packages."""
    return Path(__file__).parent.joinpath(*parts[:-1], f"{parts[-1]}.py").exists()


_NOW = frozenset(MODULES.values())


class OldModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets ``import raccoon.OLD`` give the module of today. It comes last: a module that is there is never looked for here."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Of an old name; None for all others."""
        old = fullname.removeprefix("raccoon.")
        return ModuleSpec(fullname, self) if old != fullname and old in MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the empty ``module``."""
        sys.modules[module.__name__] = importlib.import_module(public(module.__name__))

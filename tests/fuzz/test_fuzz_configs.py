"""Mutated config nodes: each is refused with one message or builds what its place takes; nothing is written, started or run by them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import pytest
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import Logger

from raccoon.config.instantiate import build
from raccoon.config.targets import is_kind
from raccoon.contracts import CubeModel, Engine, Evaluator, Player, Search
from raccoon.data.label_sets.writer import Source
from raccoon.env.encoder import Encoder
from raccoon.executor import Executor, ProcessExecutor
from raccoon.model import RaccoonNet, build_net
from tests.fuzzing import HOSTILE, LIMIT_S, Tally, hostile_node, odd_value

Node = dict[Any, Any]
RANDOM = {"_target_": "raccoon.engine.RandomEngine", "seed": 1, "name": None}
STATIC = {"_target_": "raccoon.search.StaticSearch", "doubles": "joint"}
FILTER = {"_target_": "raccoon.search.Filter", "source": "value", "k": 4, "threshold": None}
PLAYER = {"_target_": "raccoon.play.EnginePlayer", "engine": RANDOM, "search": STATIC, "name": None}
EXECUTOR = {"_target_": "raccoon.executor.ProcessExecutor", "workers": 0, "progress": False}
BACKBONE = {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [8, 4]}
SOURCE = {"_target_": "raccoon.data.SelfPlayLabels", "_recursive_": False, "player": PLAYER, "teacher": RANDOM, "games": 4}
PLACES: list[tuple[str, type, Node]] = [
    ("encoder", Encoder, {"_target_": "raccoon.env.Encoder", "features": {"pip": True, "blots": False}, "normalize": True}),
    (
        "model",
        RaccoonNet,
        {
            "_target_": "raccoon.model.RaccoonNet",
            "backbone": BACKBONE,
            "head": {"_target_": "raccoon.model.Outcomes6", "_partial_": True},
            "policy": False,
        },
    ),
    ("executor", Executor, EXECUTOR),
    (
        "engine",
        Engine,
        {"_target_": "raccoon.engine.NetEngine.load", "path": "prune", "precision": "fp32", "batch_size": 32, "cache": 0},
    ),
    ("player", Player, PLAYER),
    (
        "search",
        Search,
        {"_target_": "raccoon.search.Expectimax", "ply": 1, "filter": FILTER, "opponent": "greedy", "gate": None},
    ),
    ("search", Search, {"_target_": "raccoon.search.MCTS", "simulations": 8, "chance": "sampled", "prior": None}),
    ("search", Search, {"_target_": "raccoon.search.Rollout", "trials": 36, "truncate": 7, "search": STATIC, "filter": FILTER}),
    ("cube", CubeModel, {"_target_": "raccoon.cube.Janowski", "moves": "cubeful"}),
    ("data.source", Source, SOURCE),
    (
        "data",
        pl.LightningDataModule,
        {
            "_target_": "raccoon.data.PositionData",
            "_recursive_": False,
            "source": SOURCE,
            "data_dir": "data",
            "executor": EXECUTOR,
            "batch_size": 8,
            "holdout": 0.1,
        },
    ),
    (
        "data",
        pl.LightningDataModule,
        {"_target_": "raccoon.data.SelfPlay", "games": 64, "window": 200, "holdout": 0.1, "kinds": ["prime"]},
    ),
    ("trainer", pl.LightningModule, {"_target_": "raccoon.train.Distillation", "max_epochs": 1, "lr": 1e-3, "betas": [0.9, 0.99]}),
    ("evaluator", Evaluator, {"_target_": "raccoon.eval.VRArena", "games": 10, "luck": True}),
    ("evaluator", Evaluator, {"_target_": "raccoon.eval.CubePR", "_recursive_": False, "compare": PLAYER, "models": {"a": None}}),
    (
        "callbacks.vr",
        Callback,
        {"_target_": "raccoon.train.ArenaPoints", "_recursive_": False, "opponent": PLAYER, "every": 1, "games": 10},
    ),
    ("callbacks.stop", Callback, {"_target_": "lightning.pytorch.callbacks.EarlyStopping", "monitor": "val/mse", "patience": 3}),
    ("logger.csv", Logger, {"_target_": "raccoon.train.csv_logger", "save_dir": "logs", "name": "csv"}),
]
"""Where a node stands, what its place takes, and a node that is right there."""
KEYS: list[Any] = ["more", "name", "_partial_", "_args_", "_recursive_", "_convert_", "self", "cls", 5, ("a", 1), None, ""]
TARGETS = sorted({str(node["_target_"]) for _, _, node in PLACES})


def _containers(value: Any) -> Iterator[Any]:
    """Every dict and list in ``value``, the outermost first."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)


def _mutated(node: Node, rng: random.Random) -> Node:
    node = copy.deepcopy(node)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        holder = rng.choice(list(_containers(node)))
        if isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), odd_value(rng))
            continue
        key = rng.choice(list(holder) or ["x"])
        how = rng.randrange(12)
        if how == 0 and key != "_target_":
            holder.pop(key, None)
        elif how == 1:
            holder[rng.choice(KEYS)] = odd_value(rng)
        elif how == 2 and "_target_" in holder:
            holder["_target_"] = rng.choice(HOSTILE)
        elif how == 3 and "_target_" in holder:
            holder["_target_"] = rng.choice(TARGETS)
        elif how == 4:
            holder[key] = hostile_node(rng, rng.choice([HOSTILE, TARGETS]))
        elif how == 5:
            holder[key] = rng.choice([[holder[key]], {"a": holder[key]}]) if key in holder and key != "_target_" else []
        elif how == 6:
            holder[key] = odd_value(rng)
        else:
            _shift(node, rng)
    return node


def _shift(node: Node, rng: random.Random) -> None:
    """Put another value of its own type in place of some number, text or truth value: what a constructor has to refuse itself."""
    leaves = [(holder, key) for holder in _containers(node) for key in (holder if isinstance(holder, dict) else range(len(holder)))]
    leaves = [(holder, key) for holder, key in leaves if key != "_target_" and isinstance(holder[key], bool | int | float | str)]
    for holder, key in rng.sample(leaves, min(len(leaves), rng.choice([1, 1, 2]))):
        values = {
            bool: [True, False],
            int: [0, 1, -1, 2, 3, 31, 10**5, 2**31, 10**12, 2**63 - 1, -(2**62)],
            float: [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, 3.0],
            str: ["", "x", "none", "policy", "../x", "x" * 300, "\ud800", "a\nb", "\x00", "default", "/", "."],
        }
        holder[key] = rng.choice(values[type(holder[key])])


def fuzz(count: int, seed: int) -> Tally:
    """Build ``count`` mutated nodes in their places."""
    rng, tally = random.Random(seed), Tally()
    encoder = Encoder()
    net = build({**PLACES[1][2], "policy": True}, "model", RaccoonNet, encoder=encoder)
    for at, kind, node in PLACES:  # right as they stand; their modules are imported outside the guard
        assert is_kind(_built(at, kind, node, encoder, net), kind)
    for number in range(count):
        at, kind, node = rng.choice(PLACES)
        changed = _mutated(node, rng)
        tally.run(f"{at}: case {number} {changed!r:.300}", partial(_built, at, kind, changed, encoder, net), partial(_fits, kind=kind))
    return tally


def _built(at: str, kind: type, node: Node, encoder: Encoder, net: RaccoonNet) -> Any:
    if at == "model":
        return build_net(node, encoder)
    return build(node, at, kind, **{"trainer": {"net": net}, "evaluator": {"executor": ProcessExecutor(0)}}.get(at, {}))


def _fits(made: Any, kind: type) -> bool:
    return is_kind(made, kind)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_configs_are_refused_or_build_what_their_place_takes(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tally = fuzz(count, seed=count)
    print(dict(sorted(tally.outcomes.items())), f"slowest {tally.slowest:.2f} s")
    assert not tally.faults
    assert tally.slowest < LIMIT_S
    assert sum(tally.outcomes.values()) == count
    assert not list(tmp_path.iterdir())

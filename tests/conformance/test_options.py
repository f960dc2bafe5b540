"""Every option of every group keeps its contract: it goes through ``raccoon.testing.check_<group>`` at the smallest sizes.

The list is read from conf/, so that a new option is tested as soon as it is there. Options that take long are only built in the
fast tests (``DEAR``) and checked in the slow ones.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from lightning.pytorch import LightningDataModule, Trainer
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig

from raccoon import testing
from raccoon.cli.program.composing import compose
from raccoon.config.arguments import _parameters
from raccoon.config.instantiate import build, check_declared, check_flags, plain
from raccoon.config.targets import locate
from raccoon.contracts import Evaluator, Player, RaccoonError, Search
from raccoon.data.label_sets.generate import SelfPlayLabels, generate
from raccoon.engine.net import NetEngine
from raccoon.env.position_ids import position_id
from raccoon.executor import ProcessExecutor
from raccoon.model import build_net
from raccoon.plugins import catalogue, defaults

ROOTS = ("generate", "evaluate", "train")  # the cheapest to compose first
OPTIONS = [
    (group, option)
    for group, options in catalogue().items()
    for option, provider in options.items()
    if provider == "raccoon" and not group.startswith("debug/")
]
MLP = {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [8]}
MATCHES = Path(__file__).parents[1] / "golden" / "matches"
GNUBG = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}

DEAR = {
    *((side, option) for side in ("player", "opponent") for option in ("gnubg1", "gnubg2", "gnubg_cli", "sage2", "sage3", "sage1_cube")),
    *(("engine", option) for option in ("gnubg2", "gnubg2_pruned", "sage2", "sage3")),
    *(("data", option) for option in ("candidates", "gnubg1", "gnubg2")),
    *(("evaluator", option) for option in ("frontier", "filter_recall", "pr_table", "cost_model")),
    ("executor", "ray"),
    ("logger", "wandb"),
    ("search", "roller_plusplus"),
}

SMALL = {
    "data/selfplay": ["data.games=8", "data.holdout=.3", "data.batches=2", "data.batch_size=16", "data.turn_cap=20"],
    "data/selfplay_mcts": [
        *("data.games=8", "data.holdout=.3", "data.batches=2", "data.batch_size=16", "data.turn_cap=8"),
        "data.search.simulations=2",
    ],
    "data/policy": ["data.source.positions.games=8", "data.source.positions.shard_games=8", "data.batch_size=16", "data.holdout=.3"],
    "data/relabel": ["engine@data.source.teacher=gnubg0", "data.batch_size=16", "data.holdout=.3"],
    "data/folders": ["data.batch_size=16", "data.holdout=.3"],
    "data/policy_stored": ["data.batch_size=16", "data.holdout=.3"],
    "data/matches": ["data.batch_size=16", "data.holdout=.3"],
    "data/wildbg": ["data.batch_size=16", "data.holdout=.3"],
    "data": ["data.source.games=8", "data.source.shard_games=8", "data.source.sibling_share=0", "data.batch_size=16", "data.holdout=.3"],
    "evaluator/arena": ["games=2", "shard_games=1"],
    "evaluator/vr_arena": ["games=2", "shard_games=1"],
    "evaluator/gnubg_harness": ["games=2", "shard_games=1", "level=beginner"],
    "evaluator/doubles": ["games=2", "shard_games=1"],
    "evaluator/cube_arena": ["games=2", "shard_games=1"],
    "evaluator/bgsage_pr": ["games=2", "shard_games=1", "bootstrap=50"],
    "evaluator/calibration": ["games=2", "shard_games=1", "bootstrap=50"],
    "evaluator/cube_pr": ["games=2", "shard_games=1", "bootstrap=50"],
    "evaluator/cube_fit": ["games=2", "checkers=2", "positions=100", "volatility=20", "shard_boards=10", "bootstrap=50"],
    "evaluator/cost_model": ["playouts=2", "decisions=2", "searches=[{ply:0,k:1,replies:1},{ply:1,k:2,replies:1}]"],
    "evaluator/filter_recall": ["games=1", "sample=4", "ks=[1,4]"],
    "evaluator/pr_table": ["games=1", "sample=4", "bootstrap=50", "players.gnubg2=null", "players.sage2=null"],
    "evaluator/frontier": [
        *("games=1", "sample=4", "bootstrap=50", "reference=gnubg0", "players.gnubg2=null", "players.sage2=null"),
        *("players.sage3=null", "players.net-2ply=null", "players.net-2ply-pruned=null", "players.net-2ply-fast=null"),
    ],
    "search/mcts": ["simulations=4"],
    "search/roller": ["truncate=1", "filter.k=2"],
    "search/roller_plus": ["trials=36", "truncate=1", "filter.k=2"],
    "search/roller_plusplus": ["trials=36", "truncate=1", "filter.k=2"],
    "search/expectimax": ["filter.k=2"],
    "search/pruned": ["filter.k=2"],
}


def root_of(group: str, option: str) -> str:
    """The root config that uses ``group`` (and, for an experiment or a sweep, names the right one in its comment)."""
    if group in ("experiment", "sweep"):
        text = (Path(__file__).parents[2] / "conf" / group / f"{option}.yaml").read_text(encoding="utf-8")
        return "evaluate" if "# evaluate.py:" in text else "train"
    if group == "engine":
        return "evaluate"
    for root in ROOTS:
        if group.split("/")[0] in defaults(root):
            return root
    raise AssertionError(f"no command line uses the group {group}")


@pytest.fixture(scope="module")
def label_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight games, some of them held out; and the first positions as wildbg's file beside the set."""
    folder = tmp_path_factory.mktemp("labels")
    knobs = {"player": {"_target_": "raccoon.play.EnginePlayer", "engine": GNUBG}, "teacher": GNUBG, "name": "few", "concurrent": 8}
    source = SelfPlayLabels(games=8, shard_games=8, **knobs)
    store = generate(source, folder / "set", ProcessExecutor(0, progress=False))
    boards, probs5 = store.gather(np.arange(400))
    lines = [f"{position_id(board)},{','.join(f'{p:.6f}' for p in probs)}" for board, probs in zip(boards, probs5, strict=True)]
    (folder / "a.csv").write_text("\n".join(["position_id,win,win_g,win_bg,lose_g,lose_bg", *lines]) + "\n")
    return folder


@pytest.fixture
def overrides(tiny_checkpoint: Path, tiny_onnx: Path, tmp_path: Path, label_set: Path) -> Callable[[str, str], list[str]]:
    """What must be said on the command line: sizes, and what has no default."""
    program = tmp_path / "gnubg"  # GNU Backgammon need not be installed
    program.write_text("#!/bin/sh\necho GNU Backgammon 1.07\n")
    program.chmod(0o755)
    extra = {
        ("data", "candidates"): [f"data.source.rank.path={tiny_checkpoint}"],
        ("data", "folders"): [f"data.folders=[{label_set / 'set'}]"],
        ("data", "policy_stored"): [f"data.source.positions.folder={label_set / 'set'}"],
        ("data", "relabel"): [f"data.source.folder={label_set / 'set'}"],
        ("data", "matches"): [f"data.source.files=[{MATCHES / 'gnubg_match_5.mat'},{MATCHES / 'gnubg_money_session.mat'}]"],
        ("data", "wildbg"): [f"data.source.files=[{label_set / 'a.csv'}]"],
        ("trainer", "pretrain"): [f"data.source.files=[{label_set / 'a.csv'}]"],
        ("engine", "onnx"): [f"player.engine.path={tiny_onnx}"],
    }
    inner = {"net": "", "composite": "rest.", "lookahead": "engine.", "mixture": "engines.first."}
    extra |= {("engine", option): [f"player.engine.{part}path={tiny_checkpoint}"] for option, part in inner.items()}
    for side in ("player", "opponent"):
        extra[side, "gnubg_cli"] = [f"{side}.path={shutil.which('gnubg', path='/usr/games:/usr/bin') or program}"]
        for option in ("checkpoint", "static"):
            extra[side, option] = [f"{side}.checkpoint={tiny_checkpoint}"]
    base = {
        "engine": ["player=gnubg0"],
        "evaluator": ["player=gnubg0", "opponent=gnubg0"],
        "model": ["debug=fast"],
        "model/head": ["model=mlp_small"],
        "search/filter": ["search=expectimax"],
    }

    def of(group: str, option: str) -> list[str]:
        choice = f"engine@player.engine={option}" if group == "engine" else f"{group}={option}"
        small = SMALL.get(f"{group}/{option}", SMALL.get(group, []))
        prefix = f"{group}." if group in ("evaluator", "search") else ""
        sizes = [f"{prefix}{size}" for size in small]
        folders = [f"paths.run_dir={tmp_path}", f"paths.data_dir={tmp_path}"]
        return [*base.get(group, []), choice, *sizes, *extra.get((group, option), []), *folders]

    return of


def network(cfg: DictConfig, small: bool = True) -> Any:
    if small:
        cfg.model.backbone = MLP
    return build_net(plain(cfg.model), build(cfg.encoder, "encoder"))


def check_callbacks(cfg: DictConfig) -> None:
    for node in cfg.callbacks.values():
        testing.check_callback(node)


def check_data(cfg: DictConfig) -> None:
    testing.check_data(cfg.data)


def check_engine(cfg: DictConfig) -> None:
    engine = build(cfg.player, "player").engine
    testing.check_engine(engine, None if hasattr(engine, "knows") else testing.sample_boards(16))


def check_evaluator(cfg: DictConfig, workers: int = 0) -> None:
    testing.check_evaluator(plain(cfg.evaluator), Path(cfg.paths.run_dir) / "e", plain(cfg.player), plain(cfg.opponent), workers)


def check_executor(cfg: DictConfig) -> None:
    if cfg.executor._target_.endswith("RayExecutor") and not importlib.util.find_spec("ray"):
        with pytest.raises(RaccoonError, match="ray is not installed"):
            build(cfg.executor, "executor")
        return
    testing.check_executor(build({**plain(cfg.executor), "workers": 1, "progress": False}, "executor"), Path(cfg.paths.run_dir) / "x")


def check_logger(cfg: DictConfig) -> None:
    assert len(cfg.logger) == 1
    for node in cfg.logger.values():
        testing.check_logger(node)


def check_model(cfg: DictConfig) -> None:
    testing.check_model(cfg.model, cfg.encoder)


def check_player(key: str) -> Callable[[DictConfig], None]:
    def check(cfg: DictConfig) -> None:
        node = plain(cfg[key])
        if node.get("path") and not shutil.which("gnubg", path="/usr/games:/usr/bin"):
            pytest.skip("GNU Backgammon is not installed")
        _player_passes(json.dumps(node, sort_keys=True))

    return check


@cache
def _player_passes(node: str) -> None:
    """Once for a player and the opponent of the same name, which compose alike."""
    testing.check_player(json.loads(node), 4)


def check_runtime(cfg: DictConfig) -> None:
    flags = {key: value for key, value in plain(cfg.runtime).items() if key != "tflops"}  # the one that is Raccoon's own
    assert set(flags) <= set(inspect.signature(Trainer).parameters)
    check_flags(flags, "runtime", "lightning.pytorch.Trainer")
    if cfg.runtime.accelerator == "cpu":
        Trainer(**flags, logger=False, enable_checkpointing=False, enable_progress_bar=False)


def check_search(cfg: DictConfig) -> None:
    """With a network that has both heads."""
    head = {"_target_": "raccoon.model.Outcomes6", "_partial_": True}
    node = {"_target_": "raccoon.model.RaccoonNet", "backbone": MLP, "head": head, "policy": True}
    engine = NetEngine(build_net(node, build({"_target_": "raccoon.env.Encoder"})))
    testing.check_search(cfg.search, engine, 3)


def check_composed(cfg: DictConfig) -> None:
    assert plain(cfg)


def check_optimizer(cfg: DictConfig) -> None:
    """It reaches the trainer, makes steps under the trainer's learning rate, and its state goes on."""
    trainer = build(cfg.trainer, "trainer", net=network(cfg))
    module: Any = trainer
    optimizer = module.optimizer()
    assert {group["lr"] for group in optimizer.param_groups} == {cfg.trainer.lr}
    wanted = cfg.optimizer._target_.rsplit(".", 1)[-1]
    assert type(optimizer).__name__ == wanted
    before = [weights.detach().clone() for weights in module.net.parameters()]
    for weights in module.net.parameters():
        weights.grad = torch.ones_like(weights)
    optimizer.step()
    assert all(bool((old != new).any()) for old, new in zip(before, module.net.parameters(), strict=True) if new.requires_grad)
    module.optimizer().load_state_dict(optimizer.state_dict())


CHECKS: dict[str, Callable[[DictConfig], None]] = {
    "callbacks": check_callbacks,
    "cube": lambda cfg: testing.check_cube(cfg.cube),
    "data": check_data,
    "debug": check_composed,
    "encoder": lambda cfg: testing.check_encoder(cfg.encoder),
    "engine": check_engine,
    "evaluator": check_evaluator,
    "executor": check_executor,
    "experiment": check_composed,
    "logger": check_logger,
    "model": check_model,
    "opponent": check_player("opponent"),
    "optimizer": check_optimizer,
    "player": check_player("player"),
    "runtime": check_runtime,
    "search": check_search,
    "sweep": check_composed,
    "trainer": lambda cfg: testing.check_trainer(cfg.trainer, network(cfg)),
}
BUILT: dict[str, Callable[[DictConfig], bool]] = {
    "data": lambda cfg: isinstance(build(cfg.data, "data"), LightningDataModule),
    "engine": lambda cfg: isinstance(build(cfg.player, "player"), Player),
    "evaluator": lambda cfg: isinstance(build(cfg.evaluator, "evaluator", executor=ProcessExecutor(0)), Evaluator),
    "executor": lambda cfg: "ray" in cfg.executor._target_.lower(),
    "logger": lambda cfg: all(isinstance(build(node, "logger"), Logger) for node in cfg.logger.values()),
    "opponent": lambda cfg: isinstance(build(cfg.opponent, "opponent"), Player),
    "player": lambda cfg: isinstance(build(cfg.player, "player"), Player),
    "search": lambda cfg: isinstance(build(cfg.search, "search"), Search),
}


def named(options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {"argnames": ("group", "option"), "argvalues": options, "ids": [f"{group}={option}" for group, option in options]}


@pytest.mark.parametrize(**named(OPTIONS))
def test_option_passes_the_check_of_its_group(group: str, option: str, overrides: Callable[[str, str], list[str]]) -> None:
    cfg = compose(root_of(group, option), overrides(group, option))
    check_declared({key: node for key, node in plain(cfg).items() if key != "runtime"})
    if (group, option) in DEAR:
        assert BUILT[group](cfg)
    else:
        CHECKS[group.split("/")[0]](cfg)


@pytest.mark.slow
@pytest.mark.parametrize(**named(sorted(DEAR)))
def test_dear_option_passes_the_check_of_its_group(group: str, option: str, overrides: Callable[[str, str], list[str]]) -> None:
    cfg = compose(root_of(group, option), overrides(group, option))
    CHECKS[group](cfg)


@pytest.mark.slow
@pytest.mark.parametrize("option", list(catalogue()["evaluator"]))
def test_evaluator_gives_the_same_in_two_workers(option: str, overrides: Callable[[str, str], list[str]]) -> None:
    check_evaluator(compose("evaluate", overrides("evaluator", option)), workers=2)


def _refusal(node: Any, group: str, otherwise: str, **extra: Any) -> str:
    """Why ``node`` is refused; ``otherwise`` where it is not."""
    try:
        build(node, group, **extra)
    except RaccoonError as error:
        return str(error)
    return otherwise


@pytest.mark.parametrize(("group", "option"), [one for one in OPTIONS if one[0] in ("evaluator", "search", "cube")])
def test_a_word_that_an_option_does_not_know_is_refused_by_its_key(
    group: str, option: str, overrides: Callable[[str, str], list[str]]
) -> None:
    node = plain(compose("evaluate", overrides(group, option))[group])
    extra = {"executor": ProcessExecutor(0)} if group == "evaluator" else {}
    for name, hint in _parameters(locate(node["_target_"]))[0].items():
        if str in (hint, *get_args(hint)):
            assert f"{group}.{name}" in _refusal({**node, name: "no such word"}, group, f"{group}.{name}", **extra)


def test_every_group_has_a_check_and_every_dear_option_exists() -> None:
    assert {group.split("/")[0] for group, _ in OPTIONS} == set(CHECKS)
    assert set(OPTIONS) >= DEAR
    assert {group for group, _ in DEAR} == set(BUILT)
    keys = {key for group, option in OPTIONS for key in (group, f"{group}/{option}")}
    assert set(SMALL) <= keys

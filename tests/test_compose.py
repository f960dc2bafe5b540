"""Every option of every group composes and instantiates; the list is read from conf/, so none is forgotten."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from raccoon.build import build, check_declared, check_flags, plain
from raccoon.cli.app import compose
from raccoon.contracts import CubeModel, Engine, Evaluator, Player, RaccoonError, Search
from raccoon.executor import KeepsWorkers, ProcessExecutor
from raccoon.plugins import catalogue, defaults

ROOTS = ("generate", "evaluate", "train")  # the cheapest to compose first
OPTIONS = [
    (group, option)
    for group, options in catalogue().items()
    for option, provider in options.items()
    if provider == "raccoon" and not group.startswith("debug/")
]


def root_of(group: str, option: str) -> str:
    """The root config that uses ``group`` (and, for an experiment or a sweep, names the right one in its comment)."""
    if group in ("experiment", "sweep"):
        text = (Path(__file__).parents[1] / "conf" / group / f"{option}.yaml").read_text(encoding="utf-8")
        return "evaluate" if "# evaluate.py:" in text else "train"
    if group == "engine":
        return "evaluate"
    for root in ROOTS:
        if group.split("/")[0] in defaults(root):
            return root
    raise AssertionError(f"no command line uses the group {group}")


@pytest.fixture
def overrides(tiny_checkpoint: Path, tmp_path: Path) -> Callable[[str, str], list[str]]:
    """What must be said on the command line for options that have no default of their own."""
    extra = {
        ("data", "folders"): [f"data.folders=[{tmp_path}]"],
        ("data", "policy_stored"): [f"data.source.positions.folder={tmp_path}"],
        ("data", "relabel"): [f"data.source.folder={tmp_path}"],
        ("data", "wildbg"): [f"data.source.files=[{tmp_path / 'a.csv'}]"],
        ("trainer", "pretrain"): [f"data.source.files=[{tmp_path / 'a.csv'}]"],
        ("engine", "net"): [f"player.engine.path={tiny_checkpoint}"],
        ("engine", "composite"): [f"player.engine.rest.path={tiny_checkpoint}"],
        ("engine", "lookahead"): [f"player.engine.engine.path={tiny_checkpoint}"],
        ("engine", "mixture"): [f"player.engine.engines.first.path={tiny_checkpoint}"],
    }
    program = tmp_path / "gnubg"  # GNU Backgammon need not be installed
    program.write_text("#!/bin/sh\necho GNU Backgammon 1.07\n")
    program.chmod(0o755)
    for side in ("player", "opponent"):
        extra[side, "gnubg_cli"] = [f"{side}.path={program}"]
        for option in ("checkpoint", "static"):
            extra[side, option] = [f"{side}.checkpoint={tiny_checkpoint}"]

    def of(group: str, option: str) -> list[str]:
        choice = f"engine@player.engine={option}" if group == "engine" else f"{group}={option}"
        base = {"engine": ["player=gnubg0"], "search/filter": ["search=expectimax"]}.get(group, [])
        return [*base, choice, *extra.get((group, option), []), f"paths.run_dir={tmp_path}", f"paths.data_dir={tmp_path}"]

    return of


def model(cfg: DictConfig) -> Any:
    from raccoon.model import build_net

    return build_net(plain(cfg.model), build(cfg.encoder, "encoder"))


def check_model(cfg: DictConfig) -> None:
    from raccoon.model import RaccoonNet

    assert isinstance(model(cfg), RaccoonNet)


def check_encoder(cfg: DictConfig) -> None:
    from raccoon.env.encoder import Encoder

    assert isinstance(build(cfg.encoder, "encoder"), Encoder)


def check_trainer(cfg: DictConfig) -> None:
    from lightning.pytorch import LightningModule

    cfg.model.backbone = {"_target_": "raccoon.model.backbones.mlp.MLP", "_partial_": True, "hidden": [8]}
    assert isinstance(build(cfg.trainer, "trainer", net=model(cfg)), LightningModule)


def check_data(cfg: DictConfig) -> None:
    from lightning.pytorch import LightningDataModule

    assert not cfg.data or isinstance(build(cfg.data, "data"), LightningDataModule)


def check_callbacks(cfg: DictConfig) -> None:
    from lightning.pytorch import Callback

    for name, node in cfg.callbacks.items():
        assert isinstance(build(node, f"callbacks.{name}"), Callback)


def check_logger(cfg: DictConfig) -> None:
    from lightning.pytorch.loggers import Logger

    assert len(cfg.logger) == 1
    for name, node in cfg.logger.items():
        assert isinstance(build(node, f"logger.{name}"), Logger)


def check_runtime(cfg: DictConfig) -> None:
    from lightning.pytorch import Trainer

    assert set(cfg.runtime) <= set(inspect.signature(Trainer).parameters)
    check_flags(plain(cfg.runtime), "runtime", "lightning.pytorch.Trainer")
    if cfg.runtime.accelerator == "cpu":
        Trainer(**plain(cfg.runtime), logger=False, enable_checkpointing=False, enable_progress_bar=False)


def check_node(key: str, protocol: type) -> Callable[[DictConfig], None]:
    def check(cfg: DictConfig) -> None:
        assert isinstance(build(cfg[key], key), protocol)

    return check


def check_engine(cfg: DictConfig) -> None:
    assert isinstance(build(cfg.player, "player").engine, Engine)


def check_evaluator(cfg: DictConfig) -> None:
    assert isinstance(build(cfg.evaluator, "evaluator", executor=ProcessExecutor(0)), Evaluator)


def check_executor(cfg: DictConfig) -> None:
    if cfg.executor._target_.endswith("RayExecutor") and not importlib.util.find_spec("ray"):
        with pytest.raises(RaccoonError, match="ray is not installed"):
            build(cfg.executor, "executor")
    else:
        assert isinstance(build(cfg.executor, "executor"), KeepsWorkers)


def check_composed(cfg: DictConfig) -> None:
    assert plain(cfg)


CHECKS: dict[str, Callable[[DictConfig], None]] = {
    "callbacks": check_callbacks,
    "cube": check_node("cube", CubeModel),
    "data": check_data,
    "debug": check_composed,
    "encoder": check_encoder,
    "engine": check_engine,
    "evaluator": check_evaluator,
    "executor": check_executor,
    "experiment": check_composed,
    "logger": check_logger,
    "model": check_model,
    "opponent": check_node("opponent", Player),
    "player": check_node("player", Player),
    "runtime": check_runtime,
    "search": check_node("search", Search),
    "sweep": check_composed,
    "trainer": check_trainer,
}


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=[f"{group}={option}" for group, option in OPTIONS])
def test_option_composes_and_instantiates(group: str, option: str, overrides: Callable[[str, str], list[str]]) -> None:
    cfg = compose(root_of(group, option), overrides(group, option))
    check_declared({key: node for key, node in plain(cfg).items() if key != "runtime"})
    CHECKS[group.split("/")[0]](cfg)


@pytest.mark.parametrize("root", ROOTS)
def test_roots_compose_and_resolve(root: str, tmp_path: Path) -> None:
    for more in ([], ["debug=fast"]):
        cfg = plain(compose(root, [f"paths.run_dir={tmp_path}", *more]))
        assert cfg["seed"] == 1
        assert cfg["paths"]["run_dir"] == str(tmp_path)
        assert cfg["executor"]["workers"] == (0 if more else None)


def test_default_run_folders_are_unique_and_named_after_the_kind() -> None:
    cfg = compose("train")
    assert cfg.paths.run_dir.startswith("runs/train/")
    assert cfg.paths.run_dir == compose("train").paths.run_dir  # one process, one folder
    assert compose("evaluate").paths.run_dir.startswith("runs/evaluate/")


@pytest.mark.parametrize("choice", ["wandb", "[csv,wandb]", "[csv,tensorboard,wandb]"])
def test_loggers_can_be_chosen_singly_and_together(choice: str) -> None:
    assert set(compose("train", [f"logger={choice}"]).logger) == set(choice.strip("[]").split(","))


def test_debug_sizes_follow_the_chosen_option() -> None:
    conf = Path(__file__).parents[1] / "conf"
    for option in catalogue()["evaluator"]:
        small = conf / "debug" / "evaluator" / f"fast_{option}.yaml"
        assert small.exists(), f"{small} is missing: debug=fast would run {option} at full size"
        full = conf / "evaluator" / f"{option}.yaml"
        keys = [set(plain(OmegaConf.load(path))) for path in (small, full)]
        assert keys[0] <= keys[1], f"{small} names a key that {option} lacks"
    assert compose("evaluate", ["evaluator=bgsage_pr", "debug=fast"]).evaluator.games == 4
    assert compose("generate", ["data=gnubg1", "debug=fast"]).data.source.games == 8


@pytest.mark.parametrize("model", catalogue()["model"])
def test_debug_fast_takes_seconds_for_every_network(model: str) -> None:
    """The final games evaluate some 10,000 positions: one of a network of this many weights takes a millisecond at most."""
    from raccoon.model import build_net

    cfg = compose("train", [f"model={model}", "debug=fast"])
    net = build_net(plain(cfg.model), build(cfg.encoder, "encoder"))
    assert sum(weights.numel() for weights in net.parameters()) < 1_000_000


def test_player_options_have_an_opponent_of_the_same_name() -> None:
    assert set(catalogue()["player"]) == set(catalogue()["opponent"])


@pytest.mark.parametrize("player", ["default", "checkpoint", "static"])
@pytest.mark.parametrize(
    ("engine", "place"), [("net", ""), ("composite", "rest."), ("mixture", "engines.first."), ("lookahead", "engine.")]
)
def test_a_players_checkpoint_is_that_of_the_networks_in_its_engine(player: str, engine: str, place: str) -> None:
    given = [f"player={player}", f"engine@player.engine={engine}"] + (["player.checkpoint=prune"] if player != "default" else [])
    cfg = compose("evaluate", [*given, "engine@opponent.engine=composite", "opponent=gnubg0"])
    assert OmegaConf.select(cfg, f"player.engine.{place}path") == ("default" if player == "default" else "prune")
    assert cfg.opponent.engine.rest.path == "default"
    build(plain(cfg.player), "player", Player)

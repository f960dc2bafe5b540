"""The root configs compose; that every option does, and keeps its contract, is shown in ``conformance/``."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.contracts import Player
from raccoon.plugins import catalogue

ROOTS = ("generate", "evaluate", "train")  # the cheapest to compose first


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
    conf = Path(__file__).parents[2] / "conf"
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


@pytest.mark.parametrize("option", sorted(catalogue()["opponent"]))
def test_an_opponent_is_the_player_of_that_name_with_a_search_and_cube_of_its_own(option: str) -> None:
    given = [f"{side}.checkpoint=prune" for side in ("player", "opponent") if option in ("checkpoint", "static")]
    usual = compose("evaluate", [f"player={option}", f"opponent={option}", *given])
    other = compose("evaluate", [f"opponent={option}", *given[1:], "search=pruned", "cube=dead"])
    assert plain(other.opponent) == plain(usual.opponent) == plain(usual.player)
    path = Path(__file__).parents[2] / "conf" / "opponent" / f"{option}.yaml"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 3, f"{path} repeats its player"


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

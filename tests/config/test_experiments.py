"""Every experiment says what it asks, and every job of its sweep composes and builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.contracts import CubeModel, Evaluator, Player, Search
from raccoon.executor import ProcessExecutor

FILES = sorted((Path(__file__).parents[2] / "conf" / "experiment").glob("*.yaml"))
HEAD = ("hypothesis:", "primary metric:", "cost:", "published")


def head(path: Path) -> str:
    """The comment above the first key."""
    return path.read_text(encoding="utf-8").split("\ndefaults:")[0]


def jobs(path: Path) -> list[list[str]]:
    """Overrides of as many jobs of the sweep as show each choice once; one job without any where it is no sweep."""
    params: dict[str, str] = plain(OmegaConf.load(path)).get("hydra", {}).get("sweeper", {}).get("params", {})
    choices = {key: choices_of(values) for key, values in params.items()}
    count = max((len(values) for values in choices.values()), default=1)
    return [[f"{key}={values[at % len(values)]}" for key, values in choices.items()] for at in range(count)]


def choices_of(values: str) -> list[str]:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    override = OverridesParser.create().parse_override(f"key={values}")
    return [str(each).replace(" ", "").replace("'", "") for each in override.sweep_string_iterator()]


def test_choices_are_read_as_the_sweeper_reads_them() -> None:
    assert choices_of("[],[pip],[pip,blots]") == ["[]", "[pip]", "[pip,blots]"]
    assert choices_of("null,80") == ["null", "80"]


@pytest.mark.parametrize("path", [path for path in FILES if path.stem.startswith("exp")], ids=lambda path: path.stem)
def test_its_head_says_what_it_asks(path: Path) -> None:
    text = head(path).lower()
    assert [word for word in HEAD if word not in text] == []
    assert len(text.splitlines()) < 25


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_job_builds(path: Path, tmp_path: Path) -> None:
    root = "evaluate" if "# evaluate.py:" in head(path) else "train"
    for overrides in jobs(path):
        folders = [f"paths.run_dir={tmp_path}", f"paths.data_dir={tmp_path}"]
        cfg = plain(compose(root, [f"experiment={path.stem}", *overrides, *folders]))
        if root == "train":
            check_training(cfg)
        else:
            check_measurement(cfg)


def check_training(cfg: dict[str, Any]) -> None:
    from lightning.pytorch import LightningDataModule, LightningModule

    from raccoon.env.encoder import Encoder
    from raccoon.model import build_net

    encoder = build(cfg["encoder"], "encoder")
    assert isinstance(encoder, Encoder)
    backbone = cfg["model"]["backbone"]
    backbone |= {"blocks": 1, "channels": 8} if "blocks" in backbone else {"hidden": [8]}  # full size only takes time and memory
    module = build(cfg["trainer"], "trainer", net=build_net(cfg["model"], encoder))
    assert isinstance(module, LightningModule)
    assert isinstance(build(cfg["data"], "data"), LightningDataModule)
    for name, node in cfg["final"].items():
        assert isinstance(build(node, f"final.{name}", executor=ProcessExecutor(0)), Evaluator)


def check_measurement(cfg: dict[str, Any]) -> None:
    assert isinstance(build(cfg["evaluator"], "evaluator", executor=ProcessExecutor(0)), Evaluator)
    for key, kind in (("player", Player), ("opponent", Player), ("search", Search), ("cube", CubeModel)):
        assert cfg.get(key) is None or isinstance(build(cfg[key], key), kind)

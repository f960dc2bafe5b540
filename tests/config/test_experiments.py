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
RENAMED = {
    "exp010": "alphazero_pilot",
    "exp011b": "exp013",
    "exp013": "features",
    "exp014": "policy_distill",
    "exp016": "objective_schedule",
}
ASKING = [path for path in FILES if path.stem.startswith("exp") or path.stem in RENAMED.values()]


def head(path: Path) -> str:
    """The comment above the first key."""
    return path.read_text(encoding="utf-8").split("\ndefaults:")[0]


def jobs(path: Path) -> list[list[str]]:
    """Overrides of as many jobs of the sweep as show each choice once; one job without any where it is no sweep."""
    params: dict[str, str] = plain(OmegaConf.select(OmegaConf.load(path), "hydra.sweeper.params") or OmegaConf.create({}))
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


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_its_head_says_what_it_asks(path: Path) -> None:
    text = head(path).lower()
    assert [word for word in HEAD if word not in text] == []
    assert len(text.splitlines()) < 25


@pytest.mark.parametrize(("number", "now"), RENAMED.items())
def test_what_had_a_number_before_says_so_and_the_number_says_where_it_went(number: str, now: str) -> None:
    texts = {path.stem: head(path) for path in FILES}
    assert f"({number} before.)" in texts[now]
    assert f"which had this number before, is experiment={now}." in texts[number]


def test_the_numbers_have_their_true_contents(tmp_path: Path) -> None:
    def cfg(name: str) -> dict[str, Any]:
        return plain(compose("train", [f"experiment={name}", f"paths.run_dir={tmp_path}", f"paths.data_dir={tmp_path}"]))

    assert cfg("exp010")["trainer"]["_target_"] == cfg("exp013")["trainer"]["_target_"] == "raccoon.train.TemporalDifference"
    swept = {name: OmegaConf.load(FILES[0].with_name(f"{name}.yaml")).hydra.sweeper.params for name in ("exp011b", "exp014", "exp016")}
    assert swept["exp011b"] == {"model/head": "scalar,outcomes6"}
    assert swept["exp014"] == {"data": "gnubg0,gnubg1,gnubg2"}
    assert swept["exp016"] == {"model/head": "scalar,outcomes6", "encoder": "base,all"}
    labels = cfg("exp011b")["data"]["source"]
    assert 7.9e6 < 98 * labels["games"] < 8.2e6  # rows a game, as conf/data/demo.yaml has it
    assert labels == cfg("exp014")["data"]["source"] == cfg("exp016")["data"]["source"]


def test_teachers_of_exp014_label_the_same_positions(tmp_path: Path) -> None:
    def source(teacher: str) -> dict[str, Any]:
        cfg = plain(compose("train", ["experiment=exp014", f"data={teacher}", f"paths.run_dir={tmp_path}", f"paths.data_dir={tmp_path}"]))
        return {key: value for key, value in cfg["data"]["source"].items() if key not in ("name", "teacher")}

    assert source("gnubg0") == source("gnubg1") == source("gnubg2")


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

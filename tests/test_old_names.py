"""What was made before the modules moved: a checkpoint, a finished run, a label set and a plugin still load, under their identities."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from raccoon import aliases, plugins
from raccoon.aliases import first, public
from raccoon.cli import compose
from raccoon.config import build, plain
from raccoon.config.instantiate import check_declared
from raccoon.config.targets import locate
from raccoon.contracts import RaccoonError
from raccoon.data import SelfPlayLabels, prepare
from raccoon.env.board import START
from raccoon.eval.arena.games import MatchPlan
from raccoon.executor import ProcessExecutor, shards
from raccoon.runs.folder import settings

OLD = Path(__file__).parent / "golden" / "before_move"
VERSIONS = {"gnubg-nn": "1.1.0a11", "gnubg": "1.1.0a16", "bgsage": "2.0.20260907", "raccoon": "0.1.0"}


class Refuses(ProcessExecutor):
    """Runs no shard: everything has to be there."""

    def map(self, *_: object, **__: object) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        raise AssertionError("the old shards were not found")


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages that were installed when the files were made: identities name them."""
    monkeypatch.setattr(shards, "computing", lambda: VERSIONS)


def test_an_old_checkpoint_loads_as_it_was() -> None:
    engine = build({"_target_": "raccoon.engine.net.NetEngine.load", "path": str(OLD / "tiny.pt")})
    assert engine.probs6(START[None]).sum() == pytest.approx(1)


@pytest.mark.usefixtures("versions")
def test_an_old_label_set_is_found_by_its_identity(tmp_path: Path) -> None:
    shutil.copytree(OLD / "label_sets", tmp_path / "data")
    meta = json.loads(next((tmp_path / "data").glob("*/meta.json")).read_text())
    new = {
        "_target_": "raccoon.play.EnginePlayer",
        "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1},
        "search": {"_target_": "raccoon.search.StaticSearch"},
    }
    teacher = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
    for player, labels in ((meta["player"], meta["teacher"]), (new, teacher)):
        source = SelfPlayLabels(player=player, teacher=labels, games=1, shard_games=1, concurrent=1, name="tiny")
        assert source.plan().fingerprint == meta["fingerprint"]
        assert len(prepare(source, tmp_path / "data", Refuses(workers=0, progress=False))) == meta["rows"]
    assert len(list((tmp_path / "data").iterdir())) == 1


def test_the_config_of_an_old_run_builds_and_its_report_is_read() -> None:
    from raccoon.dashboard.records import read_run
    from raccoon.eval import VRArena
    from raccoon.play import EnginePlayer

    run = read_run("run", OLD / "run")
    assert not run.faults
    assert run.what == "VRArena"
    assert run.report is not None
    import yaml

    config = yaml.safe_load((OLD / "run" / "config.yaml").read_text())
    assert isinstance(build(config["player"], "player"), EnginePlayer)
    assert isinstance(build(config["evaluator"], "evaluator", executor=build(config["executor"])), VRArena)


@pytest.fixture
def old_plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(OLD / "plugin"))
    for cache in (plugins.plugins, plugins.option_targets):
        cache.cache_clear()
    yield
    for cache in (plugins.plugins, plugins.option_targets):
        cache.cache_clear()
    for name in [name for name in sys.modules if name.startswith("raccoon_old")]:
        del sys.modules[name]


@pytest.mark.usefixtures("old_plugin")
def test_an_old_plugin_composes_and_builds() -> None:
    from raccoon.model import build_net

    assert "old" in {plugin.name for plugin in plugins.plugins()}
    player = {"_target_": "raccoon.play.player.EnginePlayer", "engine": {"_target_": "raccoon_old.parts.OldPips"}, "name": None}
    assert build(player).engine.name == "old_pips"
    inline = ProcessExecutor(workers=0, progress=False)
    assert build({"_target_": "raccoon_old.parts.OldArena", "games": 4, "luck": "off"}, "evaluator", executor=inline)
    with pytest.raises(RaccoonError, match=r"raccoon_old\.parts\.build"):
        locate("raccoon_old.parts.build")
    text = (OLD / "plugin" / "raccoon_old" / "conf" / "model" / "old_mlp.yaml").read_text()
    import yaml

    encoder = build(plain(compose("train", []).encoder))
    assert build_net(yaml.safe_load(text), encoder).config["backbone"]["_target_"] == "raccoon.model.MLP"


@pytest.mark.parametrize("old", sorted(aliases.TARGETS))
def test_every_old_target_is_the_public_one(old: str) -> None:
    name = f"raccoon.{aliases.TARGETS[old]}"
    assert public(f"raccoon.{old}") == public(name) == name
    assert first(name) == first(f"raccoon.{old}") == f"raccoon.{old}"
    package, leaf = name.rsplit(".", 1)
    assert leaf in importlib.import_module(package).__all__


@pytest.mark.parametrize("target", sorted(aliases.ARGUMENTS))
def test_an_argument_is_understood_and_hashed_under_its_first_name(target: str) -> None:
    renamed: dict[str, str] = getattr(locate(f"raccoon.{target}"), "renamed", {})
    assert {new: old for old, new in renamed.items()} == aliases.ARGUMENTS[target]
    for new, old in aliases.ARGUMENTS[target].items():
        was = {"_target_": f"raccoon.{target}", old: 5, "inner": [{"_target_": first(f"raccoon.{target}"), old: 6}]}
        now = {"_target_": f"raccoon.{target}", new: 5, "inner": [{"_target_": f"raccoon.{target}", new: 6}]}
        assert aliases.first_arguments(now) == {**was, "inner": [{"_target_": f"raccoon.{target}", old: 6}]}
        assert shards.fingerprint(was) == shards.fingerprint(now) == shards.fingerprint({**now, new: 7, old: 5})
        assert old in json.dumps(aliases.first_names(now))
        assert shards.fingerprint(was) != shards.fingerprint({**now, new: 7})


def test_games_at_a_time_are_still_given_as_batch() -> None:
    for option in ("arena", "vr_arena", "gnubg_harness", "doubles", "cube_arena"):
        old, new = (compose("evaluate", [f"evaluator={option}", f"evaluator.{key}=5"]) for key in ("batch", "concurrent"))
        check_declared(plain(old))
        assert build(old.evaluator, "evaluator", executor=ProcessExecutor(0)).plan.concurrent == 5
        assert settings(old)["evaluator"] == settings(new)["evaluator"]
        assert settings(old)["evaluator"]["batch"] == 5
    for data, key in (("demo", "data.source"), ("policy", "data.source.positions")):
        cfg = compose("train", [f"data={data}", f"{key}.batch=7"])
        assert build(OmegaConf.select(cfg, key), key).concurrent == 7


def test_whether_a_cube_model_doubles_is_still_given_as_turns() -> None:
    for side, key, cube in (("player", "cube", "janowski"), ("opponent", "opponent.cube", "janowski"), ("player", "cube", "gnubg")):
        cfg = compose("evaluate", ["player=gnubg0", "opponent=gnubg0", f"cube={cube}", f"{key}.turns=false"])
        check_declared(plain(cfg[side]))
        assert build(cfg[side], side).cube.doubles is False
        assert settings(cfg)[side]["cube"]["turns"] is False


def test_a_job_names_the_arguments_of_its_games_as_at_first() -> None:
    plan = MatchPlan(6, concurrent=3, luck=False)
    job = plan.for_job()
    assert job["batch"] == 3
    assert "concurrent" not in job
    assert MatchPlan.of_job(job) == MatchPlan.of_job(vars(plan)) == plan


def test_every_old_module_is_imported_under_its_old_name() -> None:
    for old, new in aliases.MODULES.items():
        found, today = importlib.import_module(f"raccoon.{old}"), importlib.import_module(f"raccoon.{new}")
        assert found is today or set(found.__all__) >= set(today.__all__), old


def test_names_of_today_and_of_others_stay() -> None:
    for name in (
        "torch.load",
        "raccoon",
        "raccoon.eval.arena.games.MatchPlan",
        "raccoon.eval.benchmark.loader.load",
        "raccoon_fixture.engine.A",
    ):
        assert public(name) == name
    assert public("raccoon.eval.matches.MatchPlan") == "raccoon.eval.arena.games.MatchPlan"
    assert first("raccoon.eval.arena.games.match_shard") == "raccoon.eval.matches.match_shard"

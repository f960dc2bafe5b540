"""Export to ONNX: the file computes what the network does, says what it is, and is refused when it is not what it says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from raccoon.api.loading import load_player
from raccoon.cli import export
from raccoon.contracts import RaccoonError
from raccoon.engine.net import NetEngine
from raccoon.engine.network.onnx import OnnxEngine
from raccoon.env.encoder import Encoder
from raccoon.env.movegen import ROLLS
from raccoon.env.position_ids import from_position_id
from raccoon.export import export_onnx
from raccoon.files import read_json
from raccoon.model import build_net, checkpoint_file
from raccoon.testing import check_engine, sample_boards

BACKBONES = {
    "mlp": {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [64, 48, 32]},
    "resnet": {"_target_": "raccoon.model.ResNet", "_partial_": True, "blocks": 2, "channels": 8},
}
HEADS = {
    "outcomes6": {"_target_": "raccoon.model.Outcomes6", "_partial_": True},
    "scalar": {"_target_": "raccoon.model.Scalar", "_partial_": True},
}
TACTICS = ["pip", "blots", "anchors", "contact", "tactics"]
KINDS = [
    ("mlp", "outcomes6", [], True),
    ("mlp", "scalar", TACTICS, False),
    ("resnet", "outcomes6", TACTICS, True),
    ("resnet", "scalar", ["pip"], False),
]
BOARDS = sample_boards(70)


def network(folder: Path, backbone: str, head: str, features: list[str], policy: bool) -> Path:
    node = {"_target_": "raccoon.model.RaccoonNet", "backbone": BACKBONES[backbone], "head": HEADS[head], "policy": policy}
    path = folder / f"{backbone}.pt"
    checkpoint_file.save(path, build_net(node, Encoder(features), seed=3), {"seed": 3})
    return path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    """A small network with both heads, its export and what was said of it."""
    folder = tmp_path_factory.mktemp("onnx")
    source = network(folder, "mlp", "outcomes6", TACTICS, policy=True)
    return source, folder / "mlp.onnx", export_onnx(source, folder / "mlp.onnx", policy=True, games=4)


@pytest.fixture
def copied(exported: Any, tmp_path: Path) -> Path:
    """The export, to be damaged."""
    for path in exported[1].parent.glob("mlp.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "mlp.onnx"


@pytest.mark.parametrize(("backbone", "head", "features", "policy"), KINDS, ids=["-".join(kind[:2]) for kind in KINDS])
def test_every_kind_of_network_computes_the_same(backbone: str, head: str, features: list[str], policy: bool, tmp_path: Path) -> None:
    source = network(tmp_path, backbone, head, features, policy)
    meta = export_onnx(source, tmp_path / "net.onnx", policy=policy, games=0)
    ours, theirs = NetEngine.load(source), OnnxEngine(tmp_path / "net.onnx")
    assert theirs.encoder == ours.encoder
    assert meta["verified"]["positions"] == 2000
    assert max(meta["verified"]["largest_difference"].values()) < 1e-5
    assert (theirs.has_probs, theirs.has_policy, meta["head"], meta["pr"]) == (ours.has_probs, policy, head, None)
    np.testing.assert_allclose(theirs.value(BOARDS), ours.value(BOARDS), atol=1e-5)
    check_engine(theirs, BOARDS[:16])
    whole = theirs.value(BOARDS)
    assert [theirs.value(BOARDS[:count]).tobytes() for count in (1, 33)] == [whole[:count].tobytes() for count in (1, 33)]


def test_the_policy_is_the_networks(exported: Any) -> None:
    source, target, _ = exported
    dice = ROLLS[np.arange(len(BOARDS)) % 21]
    ours, theirs = NetEngine.load(source).policy(BOARDS, dice), OnnxEngine(target).policy(BOARDS, dice)
    np.testing.assert_array_equal(ours == 0, theirs == 0)
    np.testing.assert_allclose(theirs, ours, atol=1e-5)


def test_without_policy_the_file_has_no_such_output(exported: Any, tmp_path: Path) -> None:
    meta = export_onnx(exported[0], tmp_path / "value.onnx", games=0)
    assert list(meta["outputs"]) == ["equity", "probs6"]
    assert meta["bytes"] < exported[2]["bytes"] / 2
    with pytest.raises(RaccoonError, match="engine value: this network has no policy head"):
        OnnxEngine(tmp_path / "value.onnx").policy(BOARDS, ROLLS[np.zeros(len(BOARDS), int)])


def test_the_description_says_what_a_port_needs(exported: Any) -> None:
    source, target, meta = exported
    encoder = Encoder(TACTICS)
    assert read_json(target.with_suffix(".meta.json")) == meta
    assert (meta["file"], meta["opset"], meta["precision"]) == ("mlp.onnx", 17, "fp32")
    assert (meta["channels"], meta["layout"]) == (list(encoder.names), encoder.layout_hash)
    assert meta["input"] == {"name": "x", "form": "flat", "shape": ["n", 310]}
    assert meta["outcomes"] == ["win", "win_g", "win_bg", "lose", "lose_g", "lose_bg"]
    assert {"my pips / 167": 167.0, "die 1 / 6": 6.0, "equity": 3.0}.items() <= meta["scales"].items()
    assert "my pips / (my + their pips)" not in meta["scales"]
    assert meta["source"] == {"name": source.name, "digest": checkpoint_file.load(source)[1]["digest"], "meta": {"seed": 3}}
    pr = meta["pr"]
    assert pr["decisions"] > 20
    assert pr["before"] > 1
    assert round(pr["before"], 2) == round(pr["after"], 2)


def test_the_fixtures_are_what_another_program_computes(exported: Any) -> None:
    _, target, meta = exported
    golden = read_json(target.with_suffix(".golden.json"))
    assert golden["sha256"] == meta["sha256"]
    assert len(golden["positions"]) == 20
    rows = golden["positions"]
    x = np.array([row["x"] for row in rows], np.float32)
    encoder = Encoder(TACTICS)
    boards = np.stack([from_position_id(row["position"]) for row in rows])
    np.testing.assert_array_equal(encoder.encode_flat(boards), x)
    session: Any = onnxruntime.InferenceSession(str(target))
    equity, probs6 = session.run(["equity", "probs6"], {"x": x})
    np.testing.assert_allclose(equity, [row["equity"] for row in rows], atol=1e-6)
    np.testing.assert_allclose(probs6, [row["probs6"] for row in rows], atol=1e-6)
    odds = OnnxEngine(target).policy(boards, np.array([row["dice"] for row in rows], np.int8))
    for row, given in zip(rows, odds, strict=True):
        assert set(row["policy"]) == set(map(str, np.flatnonzero(given)))
        np.testing.assert_allclose(list(row["policy"].values()), given[given > 0], atol=1e-6)


def test_smaller_weights(exported: Any, tmp_path: Path) -> None:
    source, target, meta = exported
    exact = OnnxEngine(target).value(BOARDS)
    for precision, smaller, off in (("fp16", 0.6, 2e-3), ("int8", 0.6, 0.1)):
        path = tmp_path / f"{precision}.onnx"
        small = export_onnx(source, path, precision, policy=True, games=0)
        assert small["bytes"] < smaller * meta["bytes"]
        engine = OnnxEngine(path)
        values = engine.value(BOARDS)
        assert 0 < np.abs(values - exact).max() < off
        assert engine.value(BOARDS[:3]).tobytes() == values[:3].tobytes()  # 8-bit ranges are those of the calibration, not of the batch


def edited(copied: Path, **changes: Any) -> Path:
    path = copied.with_suffix(".meta.json")
    path.write_text(json.dumps(read_json(path) | changes))
    return copied


def test_another_layout_is_refused(copied: Path) -> None:
    with pytest.raises(RaccoonError, match="made for an input layout that this version does not produce: 34 planes, layout '0123'"):
        OnnxEngine(edited(copied, layout="0123"))
    other = Encoder([])
    lies = {"layout": other.layout_hash, "channels": list(other.names), "encoder": other.to_config()}
    with pytest.raises(
        RaccoonError, match=rf"the graph was made for layout '{Encoder(TACTICS).layout_hash}', mlp\.meta\.json says {other.layout_hash}"
    ):
        OnnxEngine(edited(copied, **lies))


def test_another_encoder_is_refused(copied: Path) -> None:
    with pytest.raises(RaccoonError, match=r"made for 34 planes .*, but 26 planes .* is asked for: choose the same encoder"):
        OnnxEngine(copied, encoder=Encoder())


def test_what_is_not_what_it_says_is_refused(copied: Path) -> None:
    for changes, message in (
        ({"version": 2}, "version 2, known is 1: update Raccoon"),
        ({"format": "x"}, "does not describe an exported network"),
        ({"channels": None}, "damaged"),
        ({"sha256": "0"}, "changed since it was written"),
    ):
        kept = copied.with_suffix(".meta.json").read_text()
        with pytest.raises(RaccoonError, match=message):
            OnnxEngine(edited(copied, **changes))
        copied.with_suffix(".meta.json").write_text(kept)
    content = bytearray(copied.read_bytes())
    content[len(content) // 2] ^= 1
    copied.write_bytes(content)
    with pytest.raises(RaccoonError, match=r"mlp\.onnx: changed since it was written"):
        OnnxEngine(copied)
    copied.with_suffix(".meta.json").unlink()
    with pytest.raises(RaccoonError, match=r"its description mlp\.meta\.json is not beside it"):
        OnnxEngine(copied)


def test_a_player_plays_it(exported: Any) -> None:
    player = load_player("static", overrides=[f"player.checkpoint={exported[1]}", "engine@player.engine=onnx"])
    assert isinstance(player.engine, OnnxEngine)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(RaccoonError, match=r"engine\.path=default: give a network exported to ONNX"):
        load_player("default", overrides=["engine@player.engine=onnx"])


def test_the_program_says_what_it_measured(exported: Any, tmp_path: Path) -> None:
    said = export.run([str(exported[0]), str(tmp_path / "a.onnx"), "policy=true", "games=2"]).splitlines()
    assert said[0].startswith(f"{tmp_path / 'a.onnx'}: ")
    assert said[1].startswith("largest differences from the network on 2,000 positions: equity ")
    assert said[2].startswith("PR on ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.golden.json", "a.meta.json", "a.onnx"]
    assert (tmp_path / "a.onnx").read_bytes() == exported[1].read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prune", "{}/a.onnx", "policy=true"], "policy=true: prune has no policy head"),
        (["prune", "{}/a.onnx", "policy=yes"], "policy='yes': give true or false"),
        (["prune", "{}/a.onnx", "precision=bf16"], "precision='bf16': choose fp32, fp16 or int8"),
        (["prune", "{}/a.onnx", "games=-1"], "games='-1': give all, or a whole number"),
        (["prune", "{}/a.onnx", "opset=17"], "usage: "),
        (["prune", "{}/a.pt", "precision=fp16"], "precision=fp16: is for ONNX; name the target .*a.onnx"),
    ],
)
def test_wrong_words_are_refused(words: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=message):
        export.run([word.format(tmp_path) for word in words])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_the_default_network_scores_the_same_on_the_whole_benchmark(precision: str, tmp_path: Path) -> None:
    meta = export_onnx("default", tmp_path / "default.onnx", precision)
    assert meta["pr"]["decisions"] == 1972
    assert round(meta["pr"]["before"], 2) == round(meta["pr"]["after"], 2)
    assert max(meta["verified"]["largest_difference"].values()) < (1e-6 if precision == "fp32" else 1e-4)

"""Checkpoints: what is written is read back, everything else is refused by name."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from raccoon import artifact
from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model import MLP, Outcomes6, RaccoonNet, ResNet, Scalar
from raccoon.testing import sample_boards


@pytest.fixture
def net() -> RaccoonNet:
    return RaccoonNet(Encoder(["pip"]), partial(ResNet, blocks=1, channels=8), Outcomes6, seed=5).eval()


def same(one: RaccoonNet, other: RaccoonNet) -> bool:
    boards = sample_boards(32)
    return torch.equal(one.value_equity(one.prepare(boards)), other.value_equity(other.prepare(boards)))


def resave(path: Path, **changes: Any) -> None:
    torch.save({**torch.load(path, weights_only=True), **changes}, path)


def test_round_trip(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net, {"epochs": 3, "labels": ["gnubg 1-ply"]})
    loaded, header = artifact.load(path, Encoder(["pip"]))
    assert same(loaded, net)
    assert not loaded.training
    assert loaded.encoder == net.encoder
    assert loaded.config == net.config
    assert header["meta"] == {"epochs": 3, "labels": ["gnubg 1-ply"]}
    assert header["channels"] == list(net.encoder.names)
    assert header["layout"] == net.encoder.layout_hash
    assert set(header["versions"]) == {"raccoon", "torch"}
    assert "state_dict" not in header


def test_half_precision_file(tmp_path: Path) -> None:
    net = RaccoonNet(Encoder(), partial(MLP, hidden=[64, 64]), Scalar)
    artifact.save(tmp_path / "full.pt", net)
    artifact.save(tmp_path / "half.pt", net, half=True)
    loaded, _ = artifact.load(tmp_path / "half.pt")
    assert (tmp_path / "half.pt").stat().st_size < 0.6 * (tmp_path / "full.pt").stat().st_size
    assert all(p.dtype == torch.float32 for p in loaded.parameters())
    boards = sample_boards(32)
    torch.testing.assert_close(loaded.value_equity(loaded.prepare(boards)), net.value_equity(net.prepare(boards)), atol=2e-3, rtol=0)


def lightning_file(path: Path, net: RaccoonNet, **more: Any) -> None:
    weights = {f"net.{key}": value for key, value in net.state_dict().items()}
    torch.save({"epoch": 1, "raccoon": artifact.header(net), "state_dict": {**weights, "loss.weight": torch.ones(1)}, **more}, path)


def test_lightning_checkpoint(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    lightning_file(path, net)
    loaded, header = artifact.load(path)
    assert same(loaded, net)
    assert header["layout"] == net.encoder.layout_hash


@pytest.mark.parametrize("wrapped", [False, True])
def test_averaged_weights_are_preferred(net: RaccoonNet, tmp_path: Path, wrapped: bool) -> None:
    averaged = RaccoonNet(Encoder(["pip"]), partial(ResNet, blocks=1, channels=8), Outcomes6, seed=6).eval()
    weights = averaged.state_dict()
    lightning_file(tmp_path / "best.ckpt", net, ema={"net": weights, "updates": 7} if wrapped else weights)
    loaded, _ = artifact.load(tmp_path / "best.ckpt")
    assert same(loaded, averaged)
    assert not same(loaded, net)


def test_another_layout_is_refused_naming_both(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    with pytest.raises(RaccoonError) as caught:
        artifact.load(path, Encoder())
    assert all(word in str(caught.value) for word in (str(path), net.encoder.layout_hash, Encoder().layout_hash, "base+pip"))
    resave(path, layout="0123456789abcdef")
    with pytest.raises(RaccoonError, match=f"0123456789abcdef.*{net.encoder.layout_hash}"):
        artifact.load(path)


def test_missing_truncated_and_foreign_files_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    with pytest.raises(RaccoonError, match=r"net\.pt: no such checkpoint"):
        artifact.load(path)
    artifact.save(path, net)
    whole = path.read_bytes()
    for size in (len(whole) // 2, len(whole) - 100, 30):
        path.write_bytes(whole[:size])
        with pytest.raises(RaccoonError, match=r"net\.pt.*truncated"):
            artifact.load(path)
    for content in (b"", b"hello", b"x" * 5000):
        path.write_bytes(content)
        with pytest.raises(RaccoonError, match=r"net\.pt.*not a checkpoint"):
            artifact.load(path)
    with pytest.raises(RaccoonError, match="cannot be read"):
        artifact.load(tmp_path)


@pytest.mark.parametrize("content", [[1, 2], {"a": 1}, {"raccoon": 3, "state_dict": {}}, {"raccoon": {"format": "raccoon-net"}}])
def test_other_torch_files_are_refused(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    torch.save(content, path)
    with pytest.raises(RaccoonError, match=r"other\.pt.*not a checkpoint of this program"):
        artifact.load(path)


class Trap:
    """Code that an unpickler would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path(__file__).with_name("sprung"),))


def test_loading_runs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "trap.pt"
    torch.save({"format": "raccoon-net", "x": Trap()}, path)
    with pytest.raises(RaccoonError, match=r"trap\.pt"):
        artifact.load(path)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(RaccoonError, match=r"trap\.pt"):
        artifact.load(path)
    assert not Path(__file__).with_name("sprung").exists()


def test_newer_and_incomplete_headers_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    resave(path, version=artifact.VERSION + 1)
    with pytest.raises(RaccoonError, match=r"net\.pt.*version 2 is newer"):
        artifact.load(path)
    with pytest.raises(RaccoonError, match="lacks model, encoder"):
        artifact.restore({"format": artifact.FORMAT, "version": 1}, {})


def test_weights_of_another_network_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    other = RaccoonNet(Encoder(["pip"]), partial(ResNet, blocks=1, channels=16), Outcomes6)
    resave(path, state_dict=other.state_dict())
    with pytest.raises(RaccoonError, match=r"net\.pt: the weights do not fit"):
        artifact.load(path)
    resave(path, state_dict={"conv": 1})
    with pytest.raises(RaccoonError, match=r"net\.pt: the weights do not fit"):
        artifact.load(path)


def test_target_outside_the_program_is_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    resave(path, model={**net.config, "backbone": {"_target_": "os.system", "_partial_": True, "command": "true"}})
    with pytest.raises(RaccoonError, match=r"net\.pt.*os\.system"):
        artifact.load(path)


def test_meta_must_be_plain_and_a_failed_save_keeps_the_old_file(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    before = path.read_bytes()
    with pytest.raises(RaccoonError, match="plain"):
        artifact.save(path, net, {"net": net})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["net.pt"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": True}, "damaged"), ({"version": -1}, "damaged"), ({"version": None}, "damaged"), ({"encoder": None}, "encoder"),
        ({"encoder": {"features": 5}}, "features"), ({"channels": None}, "channels"), ({"model": "resnet"}, "model"),
        ({"model": {}}, "expected a node"),
    ],
)  # fmt: skip
def test_a_damaged_header_is_named(net: RaccoonNet, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    resave(path, **changes)
    with pytest.raises(RaccoonError, match=rf"net\.pt: .*{message}"):
        artifact.load(path)


def test_a_network_too_large_to_build_is_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    artifact.save(path, net)
    model = torch.load(path, weights_only=True)["model"]
    resave(path, model=model | {"backbone": model["backbone"] | {"channels": 10**9}})
    with pytest.raises(RaccoonError, match="cannot be built"):
        artifact.load(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(net: RaccoonNet, tmp_path: Path, value: float) -> None:
    path = tmp_path / "net.pt"
    with torch.no_grad():
        next(net.parameters()).view(-1)[0] = value
    artifact.save(path, net)
    with pytest.raises(RaccoonError, match="weights that are no numbers"):
        artifact.load(path)

"""Checkpoints: what is written is read back, everything else is refused by name."""

from __future__ import annotations

import os
import pickle
import resource
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model import MLP, Backbone, Outcomes6, RaccoonNet, ResNet, Scalar, checkpoint_file
from raccoon.testing import sample_boards
from raccoon.train.callbacks.checkpoints import AtomicCheckpointIO


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
    checkpoint_file.save(path, net, {"epochs": 3, "labels": ["gnubg 1-ply"]})
    loaded, header = checkpoint_file.load(path, Encoder(["pip"]))
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
    checkpoint_file.save(tmp_path / "full.pt", net)
    checkpoint_file.save(tmp_path / "half.pt", net, half=True)
    loaded, _ = checkpoint_file.load(tmp_path / "half.pt")
    assert (tmp_path / "half.pt").stat().st_size < 0.6 * (tmp_path / "full.pt").stat().st_size
    assert all(p.dtype == torch.float32 for p in loaded.parameters())
    boards = sample_boards(32)
    torch.testing.assert_close(loaded.value_equity(loaded.prepare(boards)), net.value_equity(net.prepare(boards)), atol=2e-3, rtol=0)


def lightning_file(path: Path, net: RaccoonNet, **more: Any) -> None:
    weights = {f"net.{key}": value for key, value in net.state_dict().items()}
    torch.save({"epoch": 1, "raccoon": checkpoint_file.header(net), "state_dict": {**weights, "loss.weight": torch.ones(1)}, **more}, path)


def test_lightning_checkpoint(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    lightning_file(path, net)
    loaded, header = checkpoint_file.load(path)
    assert same(loaded, net)
    assert header["layout"] == net.encoder.layout_hash


@pytest.mark.parametrize("wrapped", [False, True])
def test_averaged_weights_are_preferred(net: RaccoonNet, tmp_path: Path, wrapped: bool) -> None:
    averaged = RaccoonNet(Encoder(["pip"]), partial(ResNet, blocks=1, channels=8), Outcomes6, seed=6).eval()
    weights = averaged.state_dict()
    lightning_file(tmp_path / "best.ckpt", net, ema={"net": weights, "updates": 7} if wrapped else weights)
    loaded, _ = checkpoint_file.load(tmp_path / "best.ckpt")
    assert same(loaded, averaged)
    assert not same(loaded, net)


def test_another_layout_is_refused_naming_both(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    with pytest.raises(RaccoonError) as caught:
        checkpoint_file.load(path, Encoder())
    assert all(word in str(caught.value) for word in (str(path), net.encoder.layout_hash, Encoder().layout_hash, "base+pip"))
    resave(path, layout="0123456789abcdef")
    with pytest.raises(RaccoonError, match=f"0123456789abcdef.*{net.encoder.layout_hash}"):
        checkpoint_file.load(path)


def test_missing_truncated_and_foreign_files_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    with pytest.raises(RaccoonError, match=r"net\.pt: no such checkpoint"):
        checkpoint_file.load(path)
    checkpoint_file.save(path, net)
    whole = path.read_bytes()
    for size in (len(whole) // 2, len(whole) - 100, 30):
        path.write_bytes(whole[:size])
        with pytest.raises(RaccoonError, match=r"net\.pt.*truncated"):
            checkpoint_file.load(path)
    for content in (b"", b"hello", b"x" * 5000):
        path.write_bytes(content)
        with pytest.raises(RaccoonError, match=r"net\.pt.*not a checkpoint"):
            checkpoint_file.load(path)
    with pytest.raises(RaccoonError, match="cannot be read"):
        checkpoint_file.load(tmp_path)


@pytest.mark.parametrize("content", [[1, 2], {"a": 1}, {"raccoon": 3, "state_dict": {}}, {"raccoon": {"format": "raccoon-net"}}])
def test_other_torch_files_are_refused(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    torch.save(content, path)
    with pytest.raises(RaccoonError, match=r"other\.pt.*not a checkpoint of this program"):
        checkpoint_file.load(path)


class Trap:
    """Code that an unpickler would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path(__file__).with_name("sprung"),))


def test_loading_runs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "trap.pt"
    torch.save({"format": "raccoon-net", "x": Trap()}, path)
    with pytest.raises(RaccoonError, match=r"trap\.pt"):
        checkpoint_file.load(path)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(RaccoonError, match=r"trap\.pt"):
        checkpoint_file.load(path)
    assert not Path(__file__).with_name("sprung").exists()


def test_newer_and_incomplete_headers_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    resave(path, version=checkpoint_file.VERSION + 1)
    with pytest.raises(RaccoonError, match=r"net\.pt.*version 2 is newer"):
        checkpoint_file.load(path)
    with pytest.raises(RaccoonError, match="lacks model, encoder"):
        checkpoint_file.restore({"format": checkpoint_file.FORMAT, "version": 1}, {})


def test_weights_of_another_network_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    other = RaccoonNet(Encoder(["pip"]), partial(ResNet, blocks=1, channels=16), Outcomes6)
    resave(path, state_dict=other.state_dict())
    with pytest.raises(RaccoonError, match=r"net\.pt: the weights do not fit"):
        checkpoint_file.load(path)
    resave(path, state_dict={"conv": 1})
    with pytest.raises(RaccoonError, match=r"net\.pt: the weights do not fit"):
        checkpoint_file.load(path)


def test_target_outside_the_program_is_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    resave(path, model={**net.config, "backbone": {"_target_": "os.system", "_partial_": True, "command": "true"}})
    with pytest.raises(RaccoonError, match=r"net\.pt.*os\.system"):
        checkpoint_file.load(path)


@pytest.mark.parametrize(
    ("part", "node"),
    [
        ("head", {"_target_": "raccoon.files.write_text", "_partial_": True, "path": "written", "text": "x"}),
        ("head", {"_target_": "raccoon.files.write_text", "path": "written", "text": "x"}),
        ("head", {"_target_": "raccoon.files.os._exit", "_args_": [3]}),
        ("backbone", {"_target_": "raccoon.runs.folder.socket.create_connection", "_partial_": True}),
        ("backbone", {"_target_": "raccoon.model.checkpoint_file.torch.load", "_partial_": True}),
        ("backbone", {"_target_": "raccoon.executor.ProcessExecutor", "_partial_": True}),
        ("backbone", {"_target_": "raccoon.model.Scalar", "_partial_": True}),
        ("backbone", {"_target_": "raccoon.engine.NetEngine.load", "_partial_": True, "path": "default"}),
        ("head", {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [8]}),
        ("head", "${oc.create:{_target_: raccoon.files.write_text, path: written, text: x}}"),
        ("seed", {"_target_": "raccoon.executor.ProcessExecutor"}),
        ("_target_", "raccoon.executor.ProcessExecutor"),
        ("_target_", "raccoon.testing.subjects.subject"),
    ],
    ids=str,
)
def test_a_checkpoint_names_networks_backbones_and_heads_only(
    net: RaccoonNet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, node: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint_file.save("net.pt", net)
    resave(Path("net.pt"), model={**net.config, part: node})
    with pytest.raises(RaccoonError, match=rf"^net\.pt: model.*{'' if part == '_target_' else part}"):
        checkpoint_file.load("net.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["net.pt"]


class Narrow(Backbone):
    """A trunk from another package."""

    form = "flat"

    def __init__(self, encoder: Encoder, inner: Any = None) -> None:
        super().__init__()
        self.shape = (4,)
        self.linear = torch.nn.Linear(encoder.flat_size, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def test_a_plugins_backbone_loads_and_names_no_other_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, RaccoonNet(Encoder(), Narrow, Scalar))
    with pytest.raises(RaccoonError, match=r"Narrow.*may not be built"):
        checkpoint_file.load(path)
    monkeypatch.setattr("raccoon.plugins.plugin_packages", lambda: (__name__.split(".")[0],))
    loaded, _ = checkpoint_file.load(path)
    assert isinstance(loaded.backbone, Narrow)
    for inside in ({"_recursive_": False}, {}):
        inner = {"_target_": "raccoon.executor.ProcessExecutor"}
        resave(path, model={**loaded.config, "backbone": {**loaded.config["backbone"], **inside, "inner": [inner]}})
        with pytest.raises(RaccoonError, match=r"model\.backbone\.inner\[0\]\._target_=.*no network, backbone or value head"):
            checkpoint_file.load(path)


def test_files_changed_after_they_were_written_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path, flipped = tmp_path / "net.pt", tmp_path / "flipped.pt"
    checkpoint_file.save(path, net, {"epochs": 3})
    whole, generator = path.read_bytes(), np.random.default_rng(7)
    for _ in range(40):
        bytes_ = bytearray(whole)
        for bit in generator.integers(0, 8 * len(whole), 3).tolist():
            bytes_[bit // 8] ^= 1 << bit % 8
        flipped.write_bytes(bytes_)
        with pytest.raises(RaccoonError, match=r"flipped\.pt"):
            checkpoint_file.load(flipped)
    content = torch.load(path, weights_only=True)
    weights = {key: value.clone() for key, value in content["state_dict"].items()}
    next(iter(weights.values())).view(-1)[0] += 1e-6
    for change in ({"meta": {"epochs": 4}}, {"state_dict": weights}, {"more": 1}, {"digest": "0" * 64}, {"digest": None}):
        torch.save({**content, **change}, path)
        with pytest.raises(RaccoonError, match=r"net\.pt: changed since it was written"):
            checkpoint_file.load(path)


def test_files_from_before_the_digest_load_when_they_are_whole(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    content = torch.load(path, weights_only=True)
    del content["digest"]
    torch.save(content, path)
    assert same(checkpoint_file.load(path)[0], net)
    first = next(iter(net.state_dict().values()))
    whole, wanted = bytearray(path.read_bytes()), first.numpy().tobytes()
    whole[whole.index(wanted) + 5] ^= 1
    path.write_bytes(whole)
    with pytest.raises(RaccoonError, match=r"net\.pt: .*damaged"):
        checkpoint_file.load(path)


def test_lightning_checkpoints_are_sealed(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    weights = {f"net.{key}": value for key, value in net.to(memory_format=torch.channels_last).state_dict().items()}  # pyright: ignore[reportCallIssue]
    AtomicCheckpointIO().save_checkpoint({"raccoon": checkpoint_file.header(net), "state_dict": weights}, path)
    loaded, header = checkpoint_file.load(path)
    assert all(torch.equal(value, net.state_dict()[key]) for key, value in loaded.state_dict().items())
    resave(path, raccoon=header | {"meta": {"epochs": 9}})
    with pytest.raises(RaccoonError, match="changed since it was written"):
        checkpoint_file.load(path)


def test_weights_of_another_type_are_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    content = torch.load(path, weights_only=True)
    weights = content["state_dict"]
    name, counter = "backbone.conv.weight", "backbone.bn.num_batches_tracked"
    tiny = torch.ones(1).expand(weights[name].shape)
    wrong = [(name, weights[name].to(dtype)) for dtype in (torch.complex64, torch.int32, torch.int64, torch.bool, torch.float64)]
    for key, value in [
        *wrong,
        (counter, torch.tensor(1.0)),
        (name, tiny),
        (name, weights[name].to_sparse()),
        (name, weights[name].to("meta")),
    ]:
        torch.save({**content, "state_dict": {**weights, key: value}}, path)
        with pytest.raises(RaccoonError, match=r"net\.pt: .*(the weights do not fit|cannot be read)"):
            checkpoint_file.load(path)


def test_absurd_sizes_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, RaccoonNet(Encoder(), partial(MLP, hidden=[8, 8]), Outcomes6))
    content = torch.load(path, weights_only=True)
    backbone = content["model"]["backbone"]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    for hidden, message in (([20000, 20000], "do not fit"), ([40000, 40000], "cannot be built"), ([10**15] * 2, "cannot be built")):
        resave(path, model=content["model"] | {"backbone": backbone | {"hidden": hidden}})
        with pytest.raises(RaccoonError, match=message):
            checkpoint_file.load(path)
    resave(path, model=content["model"] | {"backbone": backbone | {"hidden": [8] * 2000}})
    with pytest.raises(RaccoonError, match="give one to 1000 positive widths"):
        checkpoint_file.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB; 20000 x 20000 weights take 1.6 GB
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    "parts", [b"cbuiltins\nbytearray\nJ\x00\x00\x00\x7f\x85R", b"ctorch\nFloatTensor\nJ\x00\x00\x00\x7f\x85R"], ids=["bytes", "tensor"]
)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_cannot_ask_for_more_memory_than_it_has(tmp_path: Path, parts: bytes, compressed: bool) -> None:
    path = tmp_path / "net.pt"
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + parts + b".")
        archive.writestr("archive/version", "3\n")
    start = time.perf_counter()
    with pytest.raises(RaccoonError, match="cannot be read"):
        checkpoint_file.load(path)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("more", "pickled"),
    [({"constants.pkl": b""}, None), ({f"data/{n}": b"" for n in range(100, 20_200)}, None), ({}, b"\x80\x02" + b"]" * 500_001 + b".")],
    ids=["a program", "parts without end", "a pickle without end"],
)
def test_archives_that_no_network_needs_are_refused_at_once(
    net: RaccoonNet, tmp_path: Path, recwarn: pytest.WarningsRecorder, more: dict[str, bytes], pickled: bytes | None
) -> None:
    checkpoint_file.save(tmp_path / "net.pt", net)
    with zipfile.ZipFile(tmp_path / "net.pt") as old, zipfile.ZipFile(tmp_path / "changed.pt", "w") as new:
        for part in old.infolist():
            new.writestr(part.filename, pickled if pickled and part.filename.endswith("/data.pkl") else old.read(part))
        for name, content in more.items():
            new.writestr(f"{old.namelist()[0].partition('/')[0]}/{name}", content)
    with pytest.raises(RaccoonError, match="cannot be read as a checkpoint"):
        checkpoint_file.load(tmp_path / "changed.pt")
    assert not recwarn.list


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pt")
    with pytest.raises(RaccoonError, match="no regular file"):
        checkpoint_file.load(tmp_path / "pipe.pt")


def test_meta_must_be_plain_and_a_failed_save_keeps_the_old_file(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    before = path.read_bytes()
    with pytest.raises(RaccoonError, match="plain"):
        checkpoint_file.save(path, net, {"net": net})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["net.pt"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": True}, "damaged"), ({"version": -1}, "damaged"), ({"version": None}, "damaged"), ({"encoder": None}, "encoder"),
        ({"encoder": {"features": 5}}, "features"), ({"channels": None}, "channels"), ({"model": "resnet"}, "model"),
        ({"channels": list(Encoder(["pip"]).names)[::-1]}, "channels"), ({"channels": [1, 2]}, "channels"),
        ({"encoder": {1: 2, "a": 3}}, "unknown keys"),
        ({"model": {}}, "expected a node"),
    ],
)  # fmt: skip
def test_a_damaged_header_is_named(net: RaccoonNet, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    resave(path, **changes)
    with pytest.raises(RaccoonError, match=rf"net\.pt: .*{message}"):
        checkpoint_file.load(path)


def test_a_network_too_large_to_build_is_refused(net: RaccoonNet, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    checkpoint_file.save(path, net)
    model = torch.load(path, weights_only=True)["model"]
    resave(path, model=model | {"backbone": model["backbone"] | {"channels": 10**9}})
    with pytest.raises(RaccoonError, match="cannot be built"):
        checkpoint_file.load(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(net: RaccoonNet, tmp_path: Path, value: float) -> None:
    path = tmp_path / "net.pt"
    with torch.no_grad():
        next(net.parameters()).view(-1)[0] = value
    checkpoint_file.save(path, net)
    with pytest.raises(RaccoonError, match="weights that are no numbers"):
        checkpoint_file.load(path)

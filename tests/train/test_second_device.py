"""Nothing is left on the CPU that meets a network on another device, shown without a GPU.

Torch's ``meta`` device stands for one: it has shapes and no numbers, and a copy of it to the CPU gives made-up ones here. Whatever mixes
tensors of the two, as a GPU would refuse it, fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning.pytorch.accelerators import Accelerator
from lightning.pytorch.strategies import SingleDeviceStrategy
from torch import Tensor
from torch.utils import _pytree as tree
from torch.utils._python_dispatch import TorchDispatchMode

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.engine.net import NetEngine
from raccoon.env.board import START
from raccoon.env.half_moves import legal_mask
from raccoon.files import torch_file
from raccoon.model import RaccoonNet, build_net
from raccoon.runs.folder import Run
from raccoon.train.ema import Ema
from raccoon.train.objectives.losses import sibling_mse, value_losses
from raccoon.train.objectives.policy_losses import policy_cross_entropy
from raccoon.train.objectives.targets import equity_value
from raccoon.train.run import train

DEVICE = torch.device("meta")
_aten = torch.ops.aten


class SecondDevice(TorchDispatchMode):
    """Within: an operation on tensors of both devices fails, as on a GPU (numbers, tensors without dimensions, may be on the CPU).
    What is copied to the CPU, or read as a number, is made up."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        tensors = [one for one in tree.tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
        there = [one for one in tensors if one.is_meta]
        if not there:
            return func(*args, **kwargs)
        if func.overloadpacket in (_aten._local_scalar_dense, _aten.item, _aten.is_nonzero):
            return there[0].dtype == torch.bool or (1.0 if there[0].is_floating_point() else 1)
        if func.overloadpacket in (_aten._to_copy, _aten.to) and _of(torch.device, args, kwargs) == torch.device("cpu"):
            return _made_up(there[0], _of(torch.dtype, args, kwargs) or there[0].dtype)
        if func is _aten.copy_.default:  # from one to the other is what it is for
            return args[0].copy_(_made_up(args[1], args[0].dtype)) if not args[0].is_meta else args[0]
        mixed = [tuple(one.shape) for one in tensors if not one.is_meta and one.ndim]
        assert not mixed, f"{func}: {mixed} on the CPU beside {[tuple(one.shape) for one in there]} on the device"
        return func(*args, **kwargs)


def _of(kind: type[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return next((one for one in (*args, *kwargs.values()) if isinstance(one, kind)), None)


def _made_up(like: Tensor, dtype: torch.dtype) -> Tensor:
    """On the CPU: rows that are distributions, numbers that are no 0."""
    return torch.full(like.shape, 1.0 / like.shape[-1] if like.ndim > 1 else 0.5).to(dtype)


class MetaAccelerator(Accelerator):
    """Lightning's way to a device that is nothing but its name."""

    def setup_device(self, device: torch.device) -> None:
        assert device == DEVICE

    def teardown(self) -> None:
        pass

    @staticmethod
    def parse_devices(devices: Any) -> Any:
        return devices

    @staticmethod
    def get_parallel_devices(devices: Any) -> Any:
        return [DEVICE] * devices

    @staticmethod
    def auto_device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def name() -> str:
        return "meta"


@pytest.fixture
def second_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Within: see ``SecondDevice``; files keep made-up weights, as they keep those of a GPU."""
    write = torch_file.dumps

    def dumps(content: Any) -> bytes:
        return write(tree.tree_map(lambda one: _made_up(one, one.dtype) if isinstance(one, Tensor) and one.is_meta else one, content))

    monkeypatch.setattr(torch_file, "dumps", dumps)
    with SecondDevice():
        yield


NETS = [
    (model, head, encoder)
    for model in ("mlp_small", "resnet2x32")
    for head in ("outcomes6", "scalar")
    for encoder in ("base", "all", "tactics")
]
QUICK = [("mlp_small", "outcomes6", "all"), ("resnet2x32", "scalar", "base")]


def net_of(model: str, head: str, encoder: str, policy: str = "true") -> RaccoonNet:
    cfg = plain(compose("train", [f"model={model}", f"model/head={head}", f"encoder={encoder}", f"model.policy={policy}"]))
    return build_net(cfg["model"], build(cfg["encoder"])).to(DEVICE)


@pytest.mark.usefixtures("second_device")
@pytest.mark.parametrize(
    ("model", "head", "encoder"), [net if net in QUICK else pytest.param(*net, marks=pytest.mark.slow) for net in NETS]
)
def test_networks_losses_and_engines_stay_on_the_device(model: str, head: str, encoder: str) -> None:
    boards = np.repeat(START[None], 40, axis=0)
    dice, mid = np.full((40, 2), 3, np.int8), np.zeros(40, bool)
    on_device = [torch.from_numpy(part).to(DEVICE) for part in (boards, dice, mid)]
    for policy in ("true", "{hidden: [16]}"):
        net = net_of(model, head, encoder, policy)
        x, decisions = net.prepare(on_device[0]), net.prepare(*on_device)
        assert (x.device, net.prepare(boards, dice, mid).device) == (DEVICE, DEVICE)
        target = torch.full((40, 6), 1 / 6, device=DEVICE)
        losses = value_losses(net, x, target, "both" if net.has_probs else "equity", 30.0)
        siblings = sibling_mse(losses.value, equity_value(target), torch.zeros(40, dtype=torch.int64, device=DEVICE))
        legal, ids = torch.from_numpy(legal_mask(boards, dice, mid)).to(DEVICE), torch.zeros((40, 24), dtype=torch.int64, device=DEVICE)
        chosen = policy_cross_entropy(net.value_and_policy(x, decisions)[1], legal, ids, torch.zeros((40, 24), device=DEVICE))
        (losses.total + siblings + chosen).backward()
        assert all(weights.grad is not None and weights.grad.device == DEVICE for weights in net.parameters())
        assert net(x).value.device == DEVICE
        for precision in ("fp32", "bf16"):
            engine = NetEngine(net, precision, device="meta", cache=100)
            assert engine.net.device == DEVICE
            assert engine.value(boards).shape == (40,)
            assert engine.policy(boards, dice, mid).shape == (40, 1352)
            if engine.has_probs:
                assert engine.probs6(boards).shape == (40, 6)


def test_an_array_on_the_cpu_is_noticed() -> None:
    with SecondDevice():
        there, here = torch.zeros(3, 2, device=DEVICE), torch.zeros(2)
        assert (there + here.to(DEVICE)).device == DEVICE
        assert there.cpu().tolist() == [[0.5, 0.5]] * 3
        for mixes in (lambda: there + here, lambda: there @ here, lambda: there[:, torch.tensor([0, 1])]):
            with pytest.raises((AssertionError, RuntimeError), match=r"on the CPU beside|same device|expected device"):
                mixes()


def test_the_average_asks_the_device_for_nothing_at_a_step() -> None:
    """A step that reads a number waits for the device; ``meta`` has none to give."""
    net = net_of("mlp_small", "outcomes6", "base")
    ema = Ema(net, 0.9)
    ema.to(DEVICE)
    for _ in range(3):
        ema.update(net)
    assert ema.state_dict()["updates"] == 3
    ema.load_state_dict({"net": ema.net.state_dict(), "updates": 7})
    ema.update(net)
    assert ema.state_dict()["updates"] == 8


SETS = ["data.source.games=4", "data.source.shard_games=4", "data.batch_size=64", "data.holdout=0.3"]
DECISIONS = ["data.source.positions.games=4", "data.source.positions.shard_games=4", "data.batch_size=96", "data.holdout=0.3"]
PLAYS = ["data.games=8", "data.batches=3", "data.batch_size=32", "data.holdout=0.2", "data.turn_cap=8"]
SEARCHED = [*PLAYS, "data.search.simulations=3", "data.search.leaves=3"]
NO_END = ["final.vr_arena=null", "final.bgsage_pr=null"]
RUNS: dict[str, list[str]] = {
    "distill": [*SETS, *NO_END, "callbacks=none"],
    "resnet": [*SETS, *NO_END, "callbacks=none", "model=resnet2x32", "encoder=tactics", "model.backbone.channels=4"],
    "siblings, muon, pr": [*SETS, *NO_END, "data.siblings=true", "trainer.sibling_weight=10", "optimizer=muon"],
    "scalar, games between epochs": [*SETS, *NO_END, "model/head=scalar", "callbacks=vr", "callbacks.vr.games=4"],
    "measured at the end": [*SETS, "callbacks=none", "final.vr_arena.games=4", "final.bgsage_pr.games=1"],
    "policy": ["trainer=policy", *DECISIONS, *NO_END, "callbacks=none"],
    "policy alone": ["trainer=policy", *DECISIONS, *NO_END, "trainer.train=policy", "trainer.value_weight=0", "model.policy={hidden: [8]}"],
    "td": ["trainer=td", *PLAYS, *NO_END, "callbacks=none", "trainer.target=exact", "engine@trainer.prune=prune"],
    "alphazero": ["trainer=alphazero", *SEARCHED, *NO_END, "callbacks.previous.every=1", "callbacks.previous.games=4"],
}
FAST = ("distill",)


@pytest.mark.filterwarnings("ignore:CUDA is not available:UserWarning")  # autocast takes the device for one
@pytest.mark.usefixtures("second_device")
@pytest.mark.parametrize("name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in RUNS])
def test_trainings_run_on_another_device(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, stop_at: Callable[[int | None], None]
) -> None:
    """From labels to the report, and on from a checkpoint."""
    sets = tmp_path_factory.getbasetemp() / "sets-of-the-second-device"
    small = ["model=mlp_small", "model.backbone.hidden=[8]"] if "model=resnet2x32" not in RUNS[name] else []
    quick = ["logger=[]", "trainer.max_epochs=2", "executor.workers=0", f"paths.data_dir={sets}", f"paths.run_dir={tmp_path}"]
    cfg = plain(compose("train", [*RUNS[name], *small, *quick]))
    strategy = SingleDeviceStrategy(device=DEVICE, accelerator=MetaAccelerator())
    cfg["runtime"] = {"strategy": strategy, "devices": 1, "precision": "bf16-mixed"}
    stop_at(4)
    with pytest.raises(OSError, match="power cut"):
        train(cfg, Run(tmp_path, "train", False, cfg))
    stop_at(None)
    assert (tmp_path / "last.ckpt").exists()
    cfg["runtime"]["strategy"] = SingleDeviceStrategy(device=DEVICE, accelerator=MetaAccelerator())
    assert train(cfg, Run(tmp_path, "train", True, cfg)).exists()

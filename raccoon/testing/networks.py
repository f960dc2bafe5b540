"""Checks of encoders, networks and the data they learn from."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from raccoon.config.instantiate import build, plain
from raccoon.env.encoder import Encoder
from raccoon.testing.subjects import expect, sample_boards, subject

__all__ = ["check_data", "check_encoder", "check_model"]


def check_encoder(encoder: Any) -> None:
    """Check an ``Encoder`` (object or config node): shapes, names, finite numbers, rows independent, rebuilt from its config."""
    encoder = subject(encoder)
    expect(isinstance(encoder, Encoder), f"{type(encoder).__name__} is not a raccoon.env.Encoder")
    boards = sample_boards(64)
    before = boards.copy()
    planes, flat = encoder.encode(boards), encoder.encode_flat(boards)
    expect(planes.shape == (64, encoder.n_channels, 2, 12) and planes.dtype == np.float32, "encode must give float32[N, n_channels, 2, 12]")
    expect(flat.shape == (64, encoder.flat_size) and flat.dtype == np.float32, "encode_flat must give float32[N, flat_size]")
    expect(np.isfinite(planes).all() and np.isfinite(flat).all(), "an encoding must be finite")
    expect(np.array_equal(boards, before), "encode changed its boards")
    expect(len(encoder.names) == encoder.n_channels and len(set(encoder.names)) == encoder.n_channels, "one distinct name a channel")
    expect(np.array_equal(encoder.encode(boards[5:6])[0], planes[5]), "encode depends on the batch")
    expect(len(np.unique(flat, axis=0)) == len(np.unique(boards, axis=0)), "two different boards have the same flat encoding")
    twin = Encoder.from_config(encoder.to_config())
    expect(twin.layout_hash == encoder.layout_hash, "from_config(to_config()) must keep the layout")
    expect(np.array_equal(twin.encode(boards), planes), "from_config(to_config()) must encode the same")


def check_model(model: Any, encoder: Any = None) -> None:
    """Check a network (object, or config node built for ``encoder``, all channels by default): shapes, scales, gradients,
    that a saved and loaded copy gives the same values, and that all of it moves to another device."""
    import torch

    from raccoon.model import RaccoonNet, build_net, checkpoint_file

    encoder = Encoder() if encoder is None else subject(encoder)
    net = model if isinstance(model, RaccoonNet) else build_net(plain(model), encoder)
    net.eval()
    boards = sample_boards(16)
    with torch.inference_mode():
        x = net.prepare(boards)
        value = net.value_equity(x)
        expect(value.shape == (16,) and bool((value.abs() <= 1 + 1e-6).all()), "value_equity must give [N] on the value scale, in [-1, 1]")
        if net.has_probs:
            probs = net.value_probs6(x)
            expect(probs.shape == (16, 6) and bool((probs >= 0).all()), "value_probs6 must give [N, 6], none negative")
            expect(torch.allclose(probs.sum(1), torch.ones(16), atol=1e-5), "value_probs6 must sum to 1")
            points = torch.tensor([1.0, 2, 3, -1, -2, -3])
            expect(torch.allclose(probs @ points / 3, value, atol=1e-5), "value_equity must be the equity of value_probs6, over 3")
        one = net.value_equity(net.prepare(boards[3:4]))
        expect(torch.allclose(one[0], value[3], atol=1e-5), "value_equity depends on the batch")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.pt"
        checkpoint_file.save(path, net, {})
        loaded, _ = checkpoint_file.load(path)
    loaded.eval()
    with torch.inference_mode():
        expect(torch.allclose(loaded.value_equity(loaded.prepare(boards)), value, atol=1e-6), "a saved and loaded copy gives other values")
    _check_gradients(net, boards)
    _check_device(net, x)


def _check_device(net: Any, x: Any) -> None:
    """A copy on torch's meta device stands for one on a GPU."""
    try:
        copy.deepcopy(net).to("meta")(x.to("meta"))
    except RuntimeError as error:
        left = [words for words in ("same device", "not on the expected device") if words in str(error)]
        expect(not left, f"a tensor stays on the CPU when the network moves; register it as a buffer, or make it on x.device ({error})")


def _check_gradients(net: Any, boards: Any) -> None:
    net.train()
    net.zero_grad()
    net.value_equity(net.prepare(boards)).square().sum().backward()
    grads = [p.grad for name, p in net.named_parameters() if not name.startswith("policy") and p.requires_grad]
    expect(grads and any(g is not None and bool(g.abs().sum() > 0) for g in grads), "the value must pass gradients to the parameters")
    net.zero_grad()
    net.eval()


def check_data(data: Any, batches: int = 2, learner: Any = None) -> None:
    """Check a ``LightningDataModule`` (object or config node): it says what it ``gives`` and how much it holds out
    (``raccoon.data.contract.TrainingData``), gives batches of that kind, the same ones when built again, and has a validation part.

    ``learner``: the trainer whose games it plays, where it does; by default one of ``SelfPlay``'s with a tiny network.
    """
    from lightning.pytorch import LightningDataModule

    from raccoon.data.contract import KINDS, PlaysGames

    built = isinstance(data, LightningDataModule)
    seen = []
    for _ in range(1 if built else 2):
        module: Any = data if built else build(data, "data")
        found: object = module
        expect(isinstance(found, LightningDataModule), f"{type(module).__name__} is not a LightningDataModule")
        expect(hasattr(module, "gives") and module.gives in KINDS, f"data needs the attribute gives: one of {', '.join(KINDS)}")
        expect(0 < getattr(module, "holdout", 0) <= 1, "data needs the attribute holdout: a share of the games, above 0")
        plays = module.gives in ("games", "searched_games")
        expect(not plays or isinstance(found, PlaysGames), f"data that gives {module.gives} needs play(epoch) and figures")
        learner = _give_learner(module, learner)
        module.prepare_data()
        module.setup("fit")
        for loader in (module.train_dataloader(), module.val_dataloader()):
            got = [batch for batch, _ in zip(loader, range(batches), strict=False)]
            expect(got, "a loader gives no batch")
            for batch in got:
                _check_batch(batch, module.gives in ("decisions", "searched_games"))
            seen.append(got)
        module.teardown("fit")
    if len(seen) == 4:
        same = all(_same(a[:2], b[:2]) for i in (0, 1) for a, b in zip(seen[i], seen[i + 2], strict=True))
        expect(same, "the same node must give the same batches again")


def _give_learner(module: Any, learner: Any) -> Any:
    """Data that plays games asks its trainer for the network that plays and for the targets."""
    from raccoon.data.selfplay.module import SelfPlay
    from raccoon.model import build_net

    if learner is None and not isinstance(module, SelfPlay):
        return None
    if learner is None:
        from raccoon.train.trainers.alphazero import AlphaZero
        from raccoon.train.trainers.td import TemporalDifference

        mlp = {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [8]}
        head = {"_target_": "raccoon.model.Outcomes6", "_partial_": True}
        node = {"_target_": "raccoon.model.RaccoonNet", "backbone": mlp, "head": head, "policy": True}
        learner = (AlphaZero if module.gives == "searched_games" else TemporalDifference)(build_net(node, Encoder()))
    stand_in: Any = SimpleNamespace(lightning_module=learner, global_rank=0, world_size=1, max_epochs=1)
    module.trainer = stand_in
    return learner


def _check_batch(batch: Any, decisions: bool) -> None:
    import torch

    from raccoon.data.label_sets.policy_rows import JointBatch
    from raccoon.env.board import validate

    boards, probs = batch[:2]
    expect(boards.dtype == torch.int8 and boards.shape[1:] == (2, 25), "boards must be int8[B, 2, 25]")
    validate(boards.numpy())
    expect(probs.dtype == torch.float32 and probs.shape == (len(boards), 6), "targets must be probs6 float32[B, 6]")
    expect(torch.allclose(probs.sum(1), torch.ones(len(boards)), atol=1e-3), "targets must sum to 1")
    expect(isinstance(batch, JointBatch) == decisions, "batches must be JointBatch where decisions are given, and pairs elsewhere")
    if isinstance(batch, JointBatch):
        rows = batch.policy
        validate(rows.boards.numpy())
        expect(torch.allclose(rows.shares.sum(1), torch.ones(len(rows.boards)), atol=1e-3), "the shares of a decision must sum to 1")
        expect(bool(rows.legal.gather(1, rows.ids)[rows.shares > 0].all()), "a decision has a share for an action that is not legal")


def _same(a: Any, b: Any) -> bool:
    import torch

    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))

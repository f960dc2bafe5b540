"""Mutated checkpoints: each is refused with one message or holds what was written; nothing is written, started or run by them."""

from __future__ import annotations

import copy
import importlib
import io
import random
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from raccoon.env.encoder import Encoder
from raccoon.model import MLP, Outcomes6, RaccoonNet, ResNet, Scalar, checkpoint_file
from raccoon.train.callbacks.checkpoints import AtomicCheckpointIO
from tests.fuzzing import LIMIT_S, Tally, cut, flipped, holder_of, hostile_node, odd_value, overwritten, places

Content = dict[str, Any]
_TYPES = [torch.complex64, torch.float64, torch.int8, torch.int64, torch.bool, torch.float8_e4m3fn, torch.bfloat16, torch.float16]


def _bytes(content: Content) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def _originals(folder: Path) -> list[bytes]:
    """A flat net, a residual net in half precision and the checkpoint of a training, all small."""
    flat = RaccoonNet(Encoder(), partial(MLP, hidden=[8]), Outcomes6, policy=False, seed=1)
    planes = RaccoonNet(Encoder(["pip"]), partial(ResNet, blocks=1, channels=2), Scalar, policy=False, seed=2)
    weights = {f"net.{key}": value for key, value in flat.state_dict().items()}
    AtomicCheckpointIO().save_checkpoint(
        {"epoch": 1, "raccoon": checkpoint_file.header(flat, {"a": [1, 2]}), "state_dict": weights}, folder / "x"
    )
    return [checkpoint_file.dumps(flat, {"epochs": 3}), checkpoint_file.dumps(planes, half=True), (folder / "x").read_bytes()]


def _header(content: Content) -> Content:
    return content.get("raccoon", content)


def _pickle_changed(data: bytes, rng: random.Random) -> bytes:
    """The pickle inside flipped or cut, in an archive whose checksums are right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for part in old.infolist():
            change = rng.choice([flipped, flipped, overwritten, cut])
            new.writestr(part.filename, change(old.read(part), rng) if "data.pkl" in part.filename else old.read(part))
    return out.getvalue()


def _edited(content: Content, rng: random.Random) -> Content:
    header = _header(content)
    path = rng.choice(places(header))
    holder = holder_of(header, path)
    how = rng.randrange(4)
    if how == 0 and isinstance(holder, dict) and path[-1] != "digest":
        del holder[path[-1]]
    elif how == 1 and isinstance(holder, dict):
        holder[rng.choice(["more", "_partial_", "_args_", "_recursive_", 5, "seed"])] = odd_value(rng)
    else:
        holder[path[-1]] = odd_value(rng)
    return content


def _hostile(content: Content, rng: random.Random) -> Content:
    model = _header(content)["model"]
    node = hostile_node(rng)
    place = rng.choice(["", "head", "backbone", "policy", "encoder", "hidden"])
    if place == "hidden":
        model["backbone"]["hidden"] = rng.choice([node, [node], {"a": node}])
    elif place:
        model[place] = node
    else:
        model.update(node)
    return content


def _weights_changed(content: Content, rng: random.Random) -> Content:
    weights = content["state_dict"]
    name = rng.choice(list(weights))
    value = weights[name]
    changes: list[Callable[[], Any]] = [
        lambda: value.to(rng.choice([kind for kind in _TYPES if kind != value.dtype])),
        lambda: value.reshape(-1)[: rng.randrange(value.numel() + 1)].clone(),
        lambda: value.unsqueeze(0),
        lambda: torch.zeros(1, dtype=value.dtype).expand(40_000, 40_000),
        lambda: torch.empty(40_000, 40_000, device="meta"),
        lambda: torch.zeros(1, dtype=value.dtype).expand(value.shape or (2,)),
        lambda: value + 1,
        lambda: torch.full_like(value, float("nan")) if value.is_floating_point() else value + 1,
        lambda: value.reshape(-1).to_sparse() if value.is_floating_point() else None,
        lambda: odd_value(rng),
    ]
    if rng.random() < 0.2:
        weights[rng.choice([5, "more", name + "x"])] = weights.pop(name)
    else:
        weights[name] = rng.choice(changes)()
    return content


BYTES = {"bits flipped": flipped, "cut or longer": cut, "overwritten": overwritten, "pickle changed": _pickle_changed}
PARTS = {"header edited": _edited, "hostile target": _hostile, "weights changed": _weights_changed}


def fuzz(count: int, folder: Path, seed: int) -> Tally:
    """Load ``count`` mutated checkpoints."""
    importlib.import_module("raccoon.engine.net")  # its kernels look for their cache when they are first imported
    rng, tally, path = random.Random(seed), Tally(), folder / "net.pt"
    originals = _originals(folder)
    contents = [torch.load(io.BytesIO(data), weights_only=True) for data in originals]
    known = []
    for data in originals:
        path.write_bytes(data)
        known.append(checkpoint_file.load(path))
    present = {entry.name for entry in folder.iterdir()}
    for number in range(count):
        index, what = rng.randrange(len(originals)), rng.choice([*BYTES, *PARTS])
        changed = BYTES[what](originals[index], rng) if what in BYTES else _bytes(PARTS[what](copy.deepcopy(contents[index]), rng))
        path.write_bytes(changed)
        # made anew, an archive may hold the same content in other bytes
        anew = what in PARTS or what == "pickle changed" or changed == originals[index]
        tally.run(f"{what}: case {number}", partial(checkpoint_file.load, path), partial(_same, known[index]) if anew else _never)
    assert {entry.name for entry in folder.iterdir()} == present
    return tally


def _same(known: tuple[RaccoonNet, Content], given: tuple[RaccoonNet, Content]) -> bool:
    (net, header), (other, found) = known, given
    ours, theirs = net.state_dict(), other.state_dict()
    return (
        {**found, "digest": 0} == {**header, "digest": 0}
        and ours.keys() == theirs.keys()
        and all(torch.equal(value, theirs[key]) for key, value in ours.items())
    )


def _never(_: object) -> bool:
    return False


@pytest.mark.parametrize("count", [150, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_checkpoints_are_refused_or_hold_what_was_written(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tally = fuzz(count, tmp_path, seed=count)
    print(dict(sorted(tally.outcomes.items())), f"slowest {tally.slowest:.2f} s")
    assert not tally.faults
    assert tally.slowest < LIMIT_S
    assert sum(tally.outcomes.values()) == count

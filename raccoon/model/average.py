"""The average of several networks' weights (a "model soup"): often better than each, where one was trained on from another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from raccoon.aliases import first_names
from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.flatten import leaves
from raccoon.model import RaccoonNet, checkpoint_file, weights_digest

__all__ = ["average", "check_alike"]


def average(paths: Sequence[Path | str]) -> tuple[RaccoonNet, dict[str, Any]]:
    """The network (on the CPU, in evaluation mode) whose weights are the means of those in ``paths``, two or more, and its ``meta``: that
    of the first file, and ``average``, which lists the file name and the digest of each.

    Counters, which are no weights, are those of the first. Raises RaccoonError naming the file that cannot be read, or whose
    architecture, heads or input layout are not those of the first.
    """
    if len(paths) < 2:
        raise RaccoonError(f"{', '.join(map(str, paths))}: an average is of two networks or more")
    loaded = [(path, *checkpoint_file.load(path)) for path in paths]
    first, net, head = loaded[0]
    for path, other, _ in loaded[1:]:
        check_alike(other, path, net, first)
    states = [other.state_dict() for _, other, _ in loaded]
    weights = {name: _mean([state[name] for state in states]) for name in states[0]}
    parents = [{"file": Path(path).name, "digest": _digest(other, header)} for path, other, header in loaded]
    net.load_state_dict(weights)
    return net, {**head.get("meta", {}), "average": parents}


def check_alike(net: RaccoonNet, name: Path | str, other: RaccoonNet, other_name: Path | str) -> None:
    """Raise RaccoonError unless weights of ``net`` can stand in for those of ``other``: the same input layout, architecture and heads."""
    if net.encoder.layout_hash != other.encoder.layout_hash:
        raise RaccoonError(f"{name}: made for {net.encoder.describe()}, but {other_name} for {other.encoder.describe()}")
    mine, theirs = (dict(leaves(first_names(one.config))) for one in (net, other))
    apart = [key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]
    if apart:
        key = apart[0]
        told = f"model.{key} is {quoted(mine.get(key))} and {quoted(theirs.get(key))} in {other_name}"
        raise RaccoonError(f"{name}: holds another architecture: {told}; only networks of one kind have an average")


def _mean(values: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.stack([value.double() for value in values]).mean(0).to(values[0].dtype) if values[0].is_floating_point() else values[0]


def _digest(net: RaccoonNet, header: Mapping[str, Any]) -> str:
    return str(header["digest"]) if "digest" in header else weights_digest(header, net.state_dict())

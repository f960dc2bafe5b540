"""Checkpoint files: weights beside a plain header that says how to rebuild the network and what it was fed.

A file is a ``torch.save`` of plain values and tensors: loading runs no code, and the header may name networks, backbones and
value heads of Raccoon and its plugins alone. The header carries a digest of itself and the weights (not in older files). Two
kinds are read alike: our own (``save``) and Lightning checkpoints that carry the same header under ``"raccoon"``, the network's
weights as ``state_dict["net.*"]`` and perhaps averaged weights under ``"ema"`` (preferred).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from raccoon.checks import bounded, quoted
from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.files import atomic, torch_file
from raccoon.model import RaccoonNet, build_net, check_weights, outline, weights_digest
from raccoon.versions import installed

__all__ = ["FORMAT", "VERSION", "check_layout", "dumps", "header", "load", "loads", "restore", "save", "seal"]

FORMAT = "raccoon-net"
VERSION = 1
_KEYS = ("format", "version", "model", "encoder", "layout", "channels")
_OLD_KEYS = frozenset({*_KEYS, "versions", "meta"})
"""All keys of a header from before there was a digest."""


def header(net: RaccoonNet, meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Plain header of ``net``: format, model and encoder configs, layout, channel names, versions and ``meta``.

    ``meta`` must be JSON-like (it is stored as JSON would). Raises RaccoonError when it is not.
    """
    try:
        plain = json.loads(json.dumps(dict(meta or {})))
    except (TypeError, ValueError) as error:
        raise RaccoonError(f"checkpoint meta: only plain numbers, strings, lists and dicts can be stored ({error})") from error
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": net.config,
        "encoder": net.encoder.to_config(),
        "layout": net.encoder.layout_hash,
        "channels": list(net.encoder.names),
        "versions": installed("torch"),
        "meta": plain,
    }


def save(path: Path | str, net: RaccoonNet, meta: Mapping[str, Any] | None = None, half: bool = False) -> None:
    """Write ``net`` to ``path`` atomically. ``half`` stores weight matrices in fp16 (half the size; fp32 again on load)."""
    content = dumps(net, meta, half)
    with atomic(path) as handle:
        handle.write(content)


def dumps(net: RaccoonNet, meta: Mapping[str, Any] | None = None, half: bool = False) -> bytes:
    """What ``save`` writes, for processes that hand a network on."""
    state = {key: value.detach().cpu().contiguous() for key, value in net.state_dict().items()}
    if half:
        # Vectors (biases, batch-norm statistics) stay in fp32: they are small, and variances can leave fp16's range.
        state = {key: value.half() if value.is_floating_point() and value.ndim > 1 else value for key, value in state.items()}
    head = header(net, meta)
    return torch_file.dumps({**head, "digest": weights_digest(head, state), "state_dict": state})


def seal(checkpoint: dict[str, Any]) -> None:
    """Put the digest into the header of a Lightning checkpoint that is about to be written; one without a header stays as it is."""
    head, state = checkpoint.get("raccoon"), _lightning_weights(checkpoint)
    if isinstance(head, dict) and state:
        checkpoint["raccoon"] = {**head, "digest": weights_digest(head, state)}


def loads(content: bytes) -> RaccoonNet:
    """The network of ``dumps`` (on the CPU, in evaluation mode)."""
    held = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return restore({key: value for key, value in held.items() if key != "state_dict"}, held["state_dict"])


def load(path: Path | str, encoder: Encoder | None = None) -> tuple[RaccoonNet, dict[str, Any]]:
    """The network in ``path`` (on the CPU, in evaluation mode) and its header.

    ``encoder``: refuse any other layout. Raises RaccoonError naming ``path`` when it is missing, truncated, not a
    checkpoint, changed since it was written, of a newer format, or of another layout (both are named). Files from before
    there was a digest are refused when the archive's own checksums are wrong.
    """
    content = torch_file.read(path)
    if not isinstance(content, dict):
        raise RaccoonError(f"{path}: not a checkpoint of this program (it holds a {type(content).__name__})")
    try:
        if "raccoon" in content:
            head, state = content["raccoon"], _lightning_weights(content)
        else:
            head, state = {key: value for key, value in content.items() if key != "state_dict"}, content.get("state_dict")
        if not isinstance(head, dict) or not isinstance(state, dict):
            raise RaccoonError("not a checkpoint of this program: it has no header or no weights")
        net = restore(head, state)
    except RaccoonError as error:
        raise RaccoonError(f"{path}: {error}") from error
    if encoder is not None:
        check_layout(net, encoder, path)
    return net, head


def check_layout(net: RaccoonNet, encoder: Encoder, path: Path | str) -> None:
    """Raise RaccoonError naming ``path``, where ``net`` is from, unless it takes what ``encoder`` gives."""
    if encoder.layout_hash != net.encoder.layout_hash:
        raise RaccoonError(f"{path}: made for {net.encoder.describe()}, but {encoder.describe()} is asked for: choose the same encoder")


def restore(header: Mapping[str, Any], state_dict: Mapping[str, Tensor]) -> RaccoonNet:
    """The network (fp32, evaluation mode) of a header and its weights. Raises RaccoonError when they do not fit, before memory
    is reserved for the network."""
    bounded(header, "the header is damaged")
    encoder = _encoder(header)
    check_weights(outline(header["model"], encoder), state_dict)
    changed = header["digest"] != weights_digest(header, state_dict) if "digest" in header else bool(header.keys() - _OLD_KEYS)
    if changed:
        raise RaccoonError("changed since it was written: the digest in the header is not that of header and weights; get the file again")
    net = build_net(header["model"], encoder)
    net.load_state_dict(state_dict)
    wrong = [name for name, value in net.state_dict().items() if value.is_floating_point() and not value.isfinite().all()]
    if wrong:
        raise RaccoonError(f"weights that are no numbers (in {wrong[0]}): the training that wrote them went astray")
    return net.eval()


def _encoder(header: Mapping[str, Any]) -> Encoder:
    """The encoder of a header that has all its parts, of a version and an input layout that are known. Raises RaccoonError."""
    if header.get("format") != FORMAT:
        raise RaccoonError(f"not a checkpoint of this program (format {quoted(header.get('format'))}, expected {FORMAT!r})")
    version = header.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise RaccoonError(f"the header is damaged: format version {quoted(version)}")
    if version > VERSION:
        raise RaccoonError(f"format version {version} is newer than {VERSION}, the newest this program knows: update Raccoon")
    missing = [key for key in _KEYS if key not in header]
    if missing:
        raise RaccoonError(f"the header lacks {', '.join(missing)}")
    for key, kind in (("model", Mapping), ("encoder", Mapping), ("channels", list | tuple)):
        if not isinstance(header[key], kind):
            raise RaccoonError(f"the header is damaged: {key} is a {type(header[key]).__name__}")
    encoder = Encoder.from_config(header["encoder"])
    if encoder.layout_hash != header["layout"]:
        saved = f"{len(header['channels'])} planes, layout {header['layout']}"
        raise RaccoonError(f"made for an input layout that this version does not produce: {saved}; here it is {encoder.describe()}")
    if list(header["channels"]) != list(encoder.names):
        raise RaccoonError("the header is damaged: its channels are not those of its encoder")
    return encoder


def _lightning_weights(content: Mapping[str, Any]) -> dict[str, Tensor] | None:
    ema = content.get("ema")
    if isinstance(ema, dict):
        # Either the averaged weights themselves or a record that holds them under "net".
        inner = ema.get("net")
        return inner if isinstance(inner, dict) else ema
    state = content.get("state_dict")
    if not isinstance(state, dict):
        return None
    return {key.removeprefix("net."): value for key, value in state.items() if isinstance(key, str) and key.startswith("net.")}

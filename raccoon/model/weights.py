"""Do the weights of a file fit a network? Told before a byte is reserved for it; and the digest that tells whether they changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError

__all__ = ["check_weights", "weights_digest"]

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_NO_FIT = "the weights do not fit the network in the header"


def check_weights(outline: nn.Module, weights: Mapping[str, Any]) -> None:
    """Refuse ``weights`` that are not those of the network ``outline``, which may lie on the meta device.

    Names and shapes must be the same; floating-point weights may be fp32, fp16 or bf16, counters keep their type. Raises RaccoonError.
    """
    wanted = outline.state_dict(keep_vars=True)
    for what, names in (("missing", wanted.keys() - weights.keys()), ("unknown", weights.keys() - wanted.keys())):
        if names:
            raise RaccoonError(f"{_NO_FIT}: {what} {quoted(min(map(str, names)))}, {len(names)} in all")
    for name, want in wanted.items():
        value = weights[name]
        if type(value) not in (Tensor, nn.Parameter) or value.layout != torch.strided or value.is_meta:
            raise RaccoonError(f"{_NO_FIT}: {name} is no plain tensor")
        if value.shape != want.shape:
            raise RaccoonError(f"{_NO_FIT}: {name} is {list(value.shape)}, not {list(want.shape)}")
        if value.dtype not in (_FLOATS if want.is_floating_point() else (want.dtype,)):
            raise RaccoonError(f"{_NO_FIT}: {name} holds {value.dtype}, not {want.dtype}")
    needed = {id(want): weights[name].nbytes for name, want in wanted.items()}  # shared weights once
    held = {value.untyped_storage().data_ptr(): value.untyped_storage().nbytes() for value in weights.values()}
    if sum(needed.values()) > sum(held.values()):
        raise RaccoonError(f"{_NO_FIT}: the file holds fewer numbers than their shapes say")


def weights_digest(header: Mapping[str, Any], weights: Mapping[str, Tensor]) -> str:
    """sha256 (hexadecimal) over the plain ``header`` without its ``digest`` and over names, types, shapes and bytes of ``weights``.

    Raises RaccoonError when the header holds anything but plain values.
    """
    try:
        text = json.dumps({key: value for key, value in header.items() if key != "digest"}, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise RaccoonError(f"the header is damaged: {error}") from error
    found = hashlib.sha256(text.encode())
    for name in sorted(weights):
        value = weights[name].detach().cpu().contiguous()
        found.update(json.dumps([name, str(value.dtype), list(value.shape)]).encode())
        found.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()

"""The torch encoder gives the bits of the CPU kernels."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.env.board import START
from raccoon.env.encoder import Encoder
from raccoon.env.movegen import afterstates_all_rolls
from raccoon.model import encode_torch
from raccoon.rng import generator
from raccoon.testing import sample_boards

ENCODERS = [Encoder(), Encoder([]), Encoder(["contact"]), Encoder(normalize=False), Encoder(["pip", "tactics"])]


@pytest.fixture(scope="module")
def inputs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    boards = sample_boards(1000)
    boards[:20, 1] = 0  # finished, and the other way round
    boards[20:40, 0] = 0
    boards[40:50] = 0
    boards[50:60, :, 24] = boards[50:60, :, 5]
    boards[50:60, :, 5] = 0
    rng = generator(1, "dice")
    dice = rng.integers(1, 7, (1000, 2)).astype(np.int8)
    dice[::3] = 0
    return boards, dice, rng.random(1000) < 0.3


@pytest.mark.parametrize("encoder", ENCODERS, ids=Encoder.describe)
def test_bits_are_equal(encoder: Encoder, inputs: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    boards, dice, mid = inputs
    tensors = [torch.from_numpy(x) for x in inputs]
    np.testing.assert_array_equal(encode_torch.encode(encoder, *tensors).numpy(), encoder.encode(boards, dice, mid))
    np.testing.assert_array_equal(encode_torch.encode_flat(encoder, *tensors).numpy(), encoder.encode_flat(boards, dice, mid))
    np.testing.assert_array_equal(encode_torch.encode(encoder, tensors[0]).numpy(), encoder.encode(boards))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_any_integer_type(dtype: torch.dtype) -> None:
    children, _ = afterstates_all_rolls(START[None])
    planes = encode_torch.encode(Encoder(), torch.from_numpy(children).to(dtype))
    np.testing.assert_array_equal(planes.numpy(), Encoder().encode(children))


def test_wrong_shape_is_refused() -> None:
    with pytest.raises(RaccoonError, match="shape"):
        encode_torch.encode(Encoder(), torch.zeros(2, 25))

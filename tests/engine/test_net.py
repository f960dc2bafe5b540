"""The network engine: same values as the network, the same bits in every batch, cache, refusals."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from raccoon.contracts import OUTCOME_POINTS, RaccoonError
from raccoon.engine.net import NetEngine, chunks
from raccoon.engine.network.cache import BoardCache
from raccoon.env.encoder import Encoder
from raccoon.model import MLP, Outcomes6, RaccoonNet, ResNet, Scalar, checkpoint_file
from raccoon.rng import generator
from raccoon.testing import check_engine, sample_boards

KINDS: dict[str, tuple[Any, Any]] = {
    "mlp-outcomes6": (partial(MLP, hidden=[256, 128]), Outcomes6),
    "mlp-scalar": (partial(MLP, hidden=[256, 128]), Scalar),
    "wide-mlp-outcomes6": (partial(MLP, hidden=[512, 512, 256, 256]), Outcomes6),
    "resnet-outcomes6": (partial(ResNet, blocks=2, channels=32), Outcomes6),
    "resnet-scalar": (partial(ResNet, blocks=2, channels=32), Scalar),
    "wide-resnet-outcomes6": (partial(ResNet, blocks=2, channels=64), Outcomes6),
}


def make(kind: str = "mlp-outcomes6", encoder: Encoder | None = None) -> RaccoonNet:
    backbone, head = KINDS[kind]
    return RaccoonNet(encoder or Encoder(), backbone, head, seed=2).eval()


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.unique(sample_boards(700), axis=0)[:600]


@pytest.mark.parametrize("kind", ["mlp-outcomes6", "mlp-scalar", "resnet-outcomes6"])
def test_values_are_the_networks(kind: str, boards: np.ndarray) -> None:
    net = make(kind)
    engine = NetEngine(net, batch_size=128)
    with torch.inference_mode():
        x = net.prepare(boards)
        np.testing.assert_allclose(engine.value(boards), net.value_equity(x).numpy(), atol=1e-6)
        if net.has_probs:
            np.testing.assert_allclose(engine.probs6(boards), net.value_probs6(x).numpy(), atol=1e-6)
            np.testing.assert_allclose(engine.probs6(boards) @ OUTCOME_POINTS / 3, engine.value(boards), atol=1e-6)
    assert engine.has_probs == net.has_probs


def test_the_policy_does_not_depend_on_the_order_of_the_dice(boards: np.ndarray) -> None:
    engine, dice = NetEngine(make()), generator(4, "test").integers(1, 7, (600, 2)).astype(np.int8)
    chances = engine.policy(boards, dice)
    np.testing.assert_array_equal(chances, engine.policy(boards, dice[:, ::-1]))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-5)
    with torch.inference_mode():
        x, mask = engine.net.prepare(boards, np.sort(dice, axis=1)), torch.from_numpy(chances > 0)
        np.testing.assert_allclose(engine.net.policy_logits(x, mask).softmax(dim=1).numpy(), chances, atol=1e-6)


@pytest.mark.parametrize("kind", ["mlp-outcomes6", "mlp-scalar", "resnet-outcomes6"])
def test_conforms(kind: str) -> None:
    check_engine(NetEngine(make(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_bits_do_not_depend_on_the_batch(kind: str, boards: np.ndarray) -> None:
    """Alone, in odd groups, in another order, with other batch sizes and threads: bit for bit the same value."""
    boards = boards[:300]
    net = make(kind)
    engine = NetEngine(net)
    everything = engine.value(boards)
    probs = engine.probs6(boards) if engine.has_probs else None
    order = generator(1, "order").permutation(len(boards))
    np.testing.assert_array_equal(engine.value(boards[order]), everything[order])
    for size in (1, 2, 7, 33, 100, 256):
        rows = range(0, 40 if size < 7 else len(boards), size)
        parts = np.concatenate([engine.value(boards[i : i + size]) for i in rows])
        np.testing.assert_array_equal(parts, everything[: len(parts)])
    if probs is not None:
        np.testing.assert_array_equal(engine.probs6(boards[5:12]), probs[5:12])
    threads = torch.get_num_threads()
    try:
        for batch_size, count in ((1, 1), (96, 2), (5000, 3)):
            torch.set_num_threads(count)
            np.testing.assert_array_equal(NetEngine(net, batch_size=batch_size).value(boards), everything)
    finally:
        torch.set_num_threads(threads)


def test_chunks_cover_the_rows_in_few_shapes() -> None:
    shapes = set()
    for rows in range(1, 2600):
        parts = list(chunks(rows, 1024))
        assert [start for start, _, _ in parts] == [0, *(stop for _, stop, _ in parts[:-1])]
        assert parts[-1][1] == rows
        for start, stop, padded in parts:
            assert padded % 32 == 0
            assert stop - start <= padded <= 1024
            shapes.add(padded)
        assert sum(padded for _, _, padded in parts) < rows + 32
    assert len(shapes) == 17
    assert list(chunks(300, 512, step=256)) == [(0, 300, 512)]


def test_repeats_are_evaluated_once(boards: np.ndarray) -> None:
    engine = NetEngine(make())
    repeated = np.concatenate([boards[:40], boards[10:60], boards[:1]])
    values = engine.value(repeated)
    assert engine.rows == 60
    assert engine.evaluations == 91
    np.testing.assert_array_equal(values, np.concatenate([engine.value(part[None]) for part in repeated]))


def test_cache_remembers_and_never_mixes_up(boards: np.ndarray) -> None:
    plain, cached = NetEngine(make()), NetEngine(make(), cache=1 << 16)
    np.testing.assert_array_equal(cached.value(boards), plain.value(boards))
    before = cached.rows
    np.testing.assert_array_equal(cached.probs6(boards), plain.probs6(boards))
    assert cached.rows - before < 20  # a few share a place with another board
    small = NetEngine(make(), cache=20)
    for start in range(0, 600, 60):
        np.testing.assert_array_equal(small.value(boards[start : start + 90]), plain.value(boards[start : start + 90]))


def test_cache_is_bounded_and_last_board_of_a_place_wins(boards: np.ndarray) -> None:
    cache = BoardCache(1, 2)
    rows = np.arange(2 * len(boards), dtype=np.float32).reshape(-1, 2)
    assert not cache.get(boards)[1].any()
    cache.put(boards, rows)
    found, known = cache.get(boards)
    assert known.sum() == 1
    np.testing.assert_array_equal(found[known], rows[known])
    cache.put(boards[7:8], rows[7:8])
    assert np.flatnonzero(cache.get(boards)[1]).tolist() == [7]
    assert BoardCache(1000, 1).entries == 512
    with pytest.raises(RaccoonError, match="cache=-1"):
        BoardCache(-1, 1)


def test_bf16_is_close(boards: np.ndarray) -> None:
    for kind in ("mlp-outcomes6", "resnet-scalar"):
        exact, rough = NetEngine(make(kind)), NetEngine(make(kind), precision="bf16")
        values = rough.value(boards[:128])
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, exact.value(boards[:128]), atol=0.03)
        assert np.corrcoef(values, exact.value(boards[:128]))[0, 1] > 0.995
        np.testing.assert_array_equal(rough.value(boards[3:10]), values[3:10])


def test_load(tmp_path: Path, boards: np.ndarray) -> None:
    net = make()
    checkpoint_file.save(tmp_path / "mine.pt", net, {"note": "x"})
    engine = NetEngine.load(tmp_path / "mine.pt", encoder=Encoder())
    assert (engine.name, engine.header["meta"]) == ("mine", {"note": "x"})
    assert NetEngine.load(str(tmp_path / "mine.pt"), name="other").name == "other"
    np.testing.assert_array_equal(engine.value(boards), NetEngine(net).value(boards))


def test_the_given_network_stays_as_it_was(boards: np.ndarray) -> None:
    net = make("resnet-outcomes6").train()
    before = {key: value.clone() for key, value in net.state_dict().items()}
    NetEngine(net, precision="bf16").value(boards[:40])
    assert net.training
    assert all(torch.equal(before[key], value) for key, value in net.state_dict().items())


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    net = make()
    refused: dict[str, dict[str, Any]] = {
        "precision=fp8": {"precision": "fp8"},
        "batch_size=0": {"batch_size": 0},
        "cache=-1": {"cache": -1},
        "device=cuda:99": {"device": "cuda:99"},
        "device=moon": {"device": "moon"},
    }
    for message, arguments in refused.items():
        with pytest.raises(RaccoonError, match=message):
            NetEngine(net, **arguments)
    checkpoint_file.save(tmp_path / "net.pt", net)
    with pytest.raises(RaccoonError, match=f"{Encoder().layout_hash}.*{Encoder([]).layout_hash}"):
        NetEngine.load(tmp_path / "net.pt", encoder=Encoder([]))
    with pytest.raises(RaccoonError, match="no such checkpoint"):
        NetEngine.load(tmp_path / "none.pt")

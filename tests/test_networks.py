"""``python -m benchmarks.networks`` and ``python -m benchmarks.sparse_layer``: what their figures rest on."""

import numpy as np
import pytest

from benchmarks import networks, sparse_layer


def test_what_another_beats_in_both_is_no_best_trade() -> None:
    costs = {"slow": 5.0, "fast": 1.0, "beaten": 4.0, "middle": 3.0, "dear twin": 6.0}
    errors = {"slow": 1.0, "fast": 3.0, "beaten": 2.5, "middle": 2.0, "dear twin": 1.0}
    assert networks.best_trades(costs, errors) == ["fast", "middle", "slow"]


def test_a_net_without_a_name_or_a_file_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for argument in ("raccoon/assets/default.pt", "mine=nowhere.pt"):
        monkeypatch.setattr("sys.argv", ["networks", argument])
        with pytest.raises(SystemExit):
            networks.main()
        assert f"{argument}: give NAME=NET" in capsys.readouterr().err


def _layer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs in steps of 1/64, most of them zero, weights in steps of 1/8192 and a bias: sums of them are exact in float32."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random((40, 50)) < 0.8, 0, rng.integers(1, 128, (40, 50)) / 64).astype(np.float32)
    return x, (rng.integers(-200, 200, (50, 24)) / 8192).astype(np.float32), rng.normal(size=24).astype(np.float32)


def test_adding_rows_gives_the_dense_layer_whatever_stands_beside_a_row() -> None:
    x, weights, bias = _layer()
    short = np.rint(weights * 8192).astype(np.int16)
    dense = np.maximum(x @ weights + bias, 0)
    for kernel, rows in ((sparse_layer._sparse, weights), (sparse_layer._accumulated, short)):
        whole, alone = np.empty_like(dense), np.empty_like(dense)
        kernel(x, rows, bias, whole)
        assert abs(whole - dense).max() < 1e-5
        order = np.random.default_rng(2).permutation(len(x))
        kernel(x[order], rows, bias, alone)
        assert np.array_equal(alone, whole[order])

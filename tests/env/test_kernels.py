"""Compiled functions work without a cache, with one that is full, and with one that is damaged."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from numba.core import caching

from raccoon.env.kernels import kernel


def _twice(x: int) -> int:
    return 2 * x


def test_where_no_cache_folder_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert kernel(_twice)(21) == 42


def test_a_full_or_damaged_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(caching.IndexDataCacheFile, "_save_data", full)
        assert kernel(_twice)(21) == 42
    assert not list(tmp_path.rglob("*.nbc"))
    assert kernel(_twice)(21) == 42
    for kept in [*tmp_path.rglob("*.nbc"), *tmp_path.rglob("*.nbi")]:
        whole = kept.read_bytes()
        kept.write_bytes(whole[: len(whole) // 2])
        assert kernel(_twice)(21) == 42
        assert list(kept.parent.glob("*.nbi")), "and it is kept again"
    again = kernel(_twice)
    assert again(21) == 42
    assert sum(again.stats.cache_hits.values()) == 1

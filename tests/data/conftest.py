"""Small sets shared by the data tests. The teacher is GNUBG 0-ply: fast, and an independent source of the labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raccoon.data.label_sets.generate import SelfPlayLabels, generate
from raccoon.data.label_sets.store import PositionStore
from raccoon.executor import ProcessExecutor

GNUBG = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
PLAYER = {"_target_": "raccoon.play.EnginePlayer", "engine": GNUBG}


Labels = Callable[..., SelfPlayLabels]
KNOBS = {"player": PLAYER, "teacher": GNUBG, "games": 12, "shard_games": 4, "concurrent": 4, "name": "small"}


@pytest.fixture(scope="session")
def knobs() -> dict[str, Any]:
    """Arguments of a source of three shards of four games."""
    return KNOBS


@pytest.fixture(scope="session")
def labels() -> Labels:
    """That source, with some arguments changed."""
    return lambda **changed: SelfPlayLabels(**{**KNOBS, **changed})


@pytest.fixture(scope="session")
def inline() -> ProcessExecutor:
    return ProcessExecutor(workers=0, progress=False)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory, inline: ProcessExecutor) -> PositionStore:
    """Twelve games; do not write into its folder."""
    return generate(KNOBS, Path(tmp_path_factory.mktemp("small")) / "set", inline)

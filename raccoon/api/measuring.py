"""Measurements and arenas from Python, with players or with their names; reports read back."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from raccoon.api.loading import Source, composed, player_node
from raccoon.contracts import Evaluator, Player, RaccoonError, Report

__all__ = ["measure", "play_arena", "read_report"]


def read_report(path: str | Path) -> Report:
    """The report of a run folder (or its ``report.json``), without plots. Raises RaccoonError naming the file."""
    from raccoon.report.report_files import read

    return read(path)


def play_arena(
    player: Source | Player = "default",
    opponent: Source | Player = "gnubg0",
    *,
    cube: bool = False,
    games: int = 1000,
    seed: int = 1,
    folder: str | Path | None = None,
    workers: int | None = 0,
    progress: bool = False,
    **options: Any,
) -> Report:
    """Games of ``player`` against ``opponent``, seats alternated, the luck of the dice taken out; figures are the player's.

    Players are names, checkpoints, config nodes or loaded players. ``cube``: money games with a live cube (``match_length=5`` in
    ``options``: matches) instead of cubeless ones. ``options`` are those of ``evaluator=cube_arena`` and ``evaluator=vr_arena``.
    Figures: ``ppg_raw`` and ``ppg_vr``, points a game, with 95% intervals; the other names are those of ``report.figures``.

    ``workers``: processes that play, 0 for this one, None for as many as there are cores; loaded players play in this process.
    ``folder``: where the report is written and from where an interrupted arena of named players continues; None keeps nothing.
    The result depends on players, options and ``seed`` alone. Raises RaccoonError naming what cannot be used.
    """
    sides = [side if isinstance(side, Mapping | str | Path) else None for side in (player, opponent)]
    loaded = any(side is None for side in sides)
    if loaded and workers != 0:
        raise RaccoonError(f"workers={workers}: loaded players play in this process; leave workers at 0, or give names or config nodes")
    if loaded and folder is not None and (Path(folder) / "shards").exists():
        raise RaccoonError(f"{folder}: holds an arena already, which loaded players cannot continue; name another folder")
    nodes = [given if side is None else player_node(side) for side, given in zip(sides, (player, opponent), strict=True)]
    return _run("cube_arena" if cube else "vr_arena", nodes[0], nodes[1], seed, folder, workers, progress, options | {"games": games})


def measure(
    evaluator: str | Mapping[str, Any],
    player: Source = "default",
    opponent: Source | None = None,
    *,
    seed: int = 1,
    folder: str | Path | None = None,
    workers: int | None = 0,
    progress: bool = False,
    **options: Any,
) -> Report:
    """Any measurement: ``evaluator`` is an option of that group (``bgsage_pr``, ``cube_pr``, ..) or a config node, ``options`` its own.

    The rest as in ``play_arena``; players are names, checkpoints or config nodes, which the evaluator builds where it needs them.
    """
    return _run(
        evaluator, player_node(player), None if opponent is None else player_node(opponent), seed, folder, workers, progress, options
    )


def _run(
    evaluator: str | Mapping[str, Any],
    player: Any,
    opponent: Any,
    seed: int,
    folder: str | Path | None,
    workers: int | None,
    progress: bool,
    options: Mapping[str, Any],
) -> Report:
    from raccoon.config.instantiate import build, plain
    from raccoon.executor import ProcessExecutor
    from raccoon.report import measurement, report_files

    node = evaluator if isinstance(evaluator, Mapping) else plain(composed("evaluate", [f"evaluator={evaluator}"]).evaluator)
    made = build({**node, **options}, "evaluator", Evaluator, executor=ProcessExecutor(workers, progress))
    with _folder(folder) as run_dir:
        result = measurement.measure(made, player, opponent, run_dir, seed)
        if folder is not None:
            report_files.write(result, run_dir)
    return result


@contextlib.contextmanager
def _folder(given: str | Path | None) -> Generator[Path, None, None]:
    """The folder of a run; a temporary one where none was given."""
    if given is not None:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory(prefix="raccoon-") as name:
        yield Path(name)

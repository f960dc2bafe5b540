"""What evaluators that play games share: their options, and playing and reporting in one go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from raccoon.contracts import Report
from raccoon.eval.arena.games import Played, play_match
from raccoon.eval.arena.plan import MatchPlan
from raccoon.executor import Executor

__all__ = ["GameOptions", "GamesEvaluator", "RecordedOptions"]


class GameOptions(TypedDict, total=False):
    """Options of everything that plays games; ``MatchPlan`` explains them and has their defaults."""

    concurrent: int
    turn_cap: int


class RecordedOptions(GameOptions, total=False):
    """The options of games that count by their results."""

    openings: str
    record: bool


class GamesEvaluator(ABC):
    """Plays the games of ``plan`` on ``executor`` and reports what ``describe`` makes of them. Killed runs continue from their shards."""

    name: str
    renamed: ClassVar[Mapping[str, str]] = {"batch": "concurrent"}

    def __init__(self, executor: Executor, plan: MatchPlan) -> None:
        self.executor = executor
        self.plan = plan

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Play and report. See ``Evaluator.run``. Raises RaccoonError when there is no opponent."""
        played = play_match(self.executor, player, opponent, self.plan, seed, Path(run_dir) / "shards", self.name)
        report = Report(self.name, *played.names, seed)
        self.describe(report, played, Path(run_dir), seed)
        return report

    @abstractmethod
    def describe(self, report: Report, played: Played, run_dir: Path, seed: int) -> None:
        """Fill ``report`` with what the games say; files of its own go to ``run_dir``."""

"""Makes labelled positions: games played by any player, positions labelled by any engine, in shards by worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import whole
from raccoon.config.instantiate import shared
from raccoon.contracts import Boards, Engine, Player, RaccoonError
from raccoon.data.label_sets.rows import pack, unpack5
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.label_sets.writer import Plan, fill
from raccoon.data.selfplay.explore import ExploringPlayer
from raccoon.data.selfplay.recorder import PositionRecorder
from raccoon.engine.outcomes import five_from_six
from raccoon.env.lookup import unique_boards
from raccoon.executor import Executor, check_units
from raccoon.play.match import play_games
from raccoon.progress import advance, expect
from raccoon.rng import hash64

__all__ = ["SelfPlayLabels", "generate", "identity_of", "label", "teacher_of"]

_MAX_SIBLINGS = 3.0
_PART = 25  # games that a worker plays and labels at a time
_AT_ONCE = 512  # rows that the teacher is asked for at a time
_NO_PART = ("name", "_convert_", "_recursive_")


@dataclass(eq=False)
class SelfPlayLabels:
    """Positions of self-play games and of plays not made there, labelled by a teacher.

    ``player`` and ``teacher`` are config nodes (a Player; an Engine that knows the outcome distribution), built in the
    workers. ``games`` are played, ``shard_games`` a shard, ``concurrent`` at a time. ``sibling_share`` of the rows (0 to 0.75, at
    most: some turns have one play) are other afterstates of the same turns, chosen at random or, where ``rank`` is the config node
    of an engine, the best by its value; ``explore`` of the turns (0 to 1) are played at random. A game gives
    about 50 rows of its own. The same seed gives the same shard ``i`` whatever ``games`` is: a set can be grown.
    """

    renamed: ClassVar[Mapping[str, str]] = {"batch": "concurrent"}
    player: Mapping[str, Any]
    teacher: Mapping[str, Any]
    games: int = 4000
    shard_games: int = 250
    sibling_share: float = 0.5
    explore: float = 0.0
    seed: int = 1
    concurrent: int = 250
    rank: Mapping[str, Any] | None = None
    name: str = "selfplay"

    def __post_init__(self) -> None:
        self.player, self.teacher = dict(self.player), dict(self.teacher)  # jobs are plain data
        self.rank = None if self.rank is None else dict(self.rank)

    def plan(self) -> Plan:
        """Check the settings; RaccoonError names the bad one."""
        self._check()
        identity = {
            "kind": "selfplay",
            "player": identity_of(self.player),
            "teacher": identity_of(self.teacher),
            "shard_games": self.shard_games,
            "sibling_share": self.sibling_share,
            "explore": self.explore,
            "seed": self.seed,
        }
        if self.rank is not None:
            identity["rank"] = identity_of(self.rank)
        knobs = {**identity, "player": self.player, "teacher": self.teacher, "rank": self.rank, "concurrent": self.concurrent}
        count = -(-self.games // self.shard_games)
        about = {"teacher": self.teacher, "player": self.player, "seed": self.seed, "games": count * self.shard_games}
        parts = -(-self.shard_games // _PART)
        label = f"labels {self.name}"
        return Plan(identity, selfplay_shard, knobs, count, label, about, part=selfplay_part, parts=parts, join=joined, unit="rows")

    def _check(self) -> None:
        for key in ("games", "shard_games", "concurrent"):
            whole(f"data.source.{key}", getattr(self, key), 1)
        check_units("data.source.games", self.games, self.shard_games)
        limit = _MAX_SIBLINGS / (1 + _MAX_SIBLINGS)
        if not 0 <= self.sibling_share <= limit:
            raise RaccoonError(f"data.source.sibling_share={self.sibling_share}: give 0 to {limit}")
        if not 0 <= self.explore <= 1:
            raise RaccoonError(f"data.source.explore={self.explore}: give 0 to 1")
        whole("data.source.seed", self.seed, 0)
        if "_target_" not in self.teacher or "_target_" not in self.player:
            raise RaccoonError("data.source.player and data.source.teacher: give config nodes with a _target_")


def generate(config: Mapping[str, Any] | SelfPlayLabels, folder: Path | str, executor: Executor) -> PositionStore:
    """Make the set that ``config`` (a ``SelfPlayLabels`` or its arguments) describes in ``folder``, or finish it there.

    See ``raccoon.data.label_sets.writer.fill`` for resuming and errors.
    """
    source = config if isinstance(config, SelfPlayLabels) else SelfPlayLabels(**config)
    return fill(source.plan(), folder, executor)


def selfplay_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": ROW[n]}``: games ``index * shard_games ...`` played, their positions labelled. Pure in (job, index)."""
    parts = -(-job["shard_games"] // _PART)
    return {"rows": joined([selfplay_part(job, index * parts + number)["rows"] for number in range(parts)])}


def selfplay_part(job: Mapping[str, Any], task: int) -> dict[str, Any]:
    """``{"rows": ROW[n]}``: some games of a shard, ``task`` counting the parts of all shards. Pure in (job, task)."""
    index, number = divmod(task, -(-job["shard_games"] // _PART))
    player: Player = shared(job["player"], "data.source.player", Player)
    teacher = teacher_of(job["teacher"])
    if job["explore"] > 0:
        player = ExploringPlayer(player, job["explore"], int(hash64(job["seed"], "explore shard", index)[0]))
    rank: Engine | None = None if job["rank"] is None else shared(job["rank"], "data.source.rank", Engine)
    recorder = PositionRecorder(job["sibling_share"] / (1 - job["sibling_share"]), job["seed"], rank)
    first = index * job["shard_games"]
    games = np.arange(first + number * _PART, first + min((number + 1) * _PART, job["shard_games"]))
    play_games((player, player), games, job["seed"], observers=(recorder,), concurrent=job["concurrent"])
    found = recorder.collect()
    expect(len(found.boards))
    return {"rows": pack(found.boards, label(teacher, found.boards), found.game, found.turn, found.provenance)}


def joined(parts: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """``ROW[n]`` of the parts of a shard, in order: of equal positions the first one."""
    rows = np.concatenate(parts)
    return rows[np.sort(unique_boards(unpack5(rows)[0])[0])]


def label(teacher: Engine, boards: Boards) -> NDArray[np.float64]:
    """Cumulative five ``float64[N, 5]`` of pre-roll boards to the side on roll, by the teacher; the progress hears of the rows."""
    labels = np.empty((len(boards), 5))
    for start in range(0, len(boards), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        labels[rows] = five_from_six(teacher.probs6(boards[rows]))
        advance(len(labels[rows]))
    return labels


def identity_of(node: Any) -> Any:
    """A config node without what cannot change a label: names, values left at their default by ``null``, build flags."""
    if isinstance(node, Mapping):
        return {key: identity_of(value) for key, value in node.items() if key not in _NO_PART and value is not None}
    return [identity_of(value) for value in node] if isinstance(node, list | tuple) else node


def teacher_of(node: Mapping[str, Any]) -> Engine:
    """The engine of a config node, built once a process. Raises RaccoonError when it does not know the outcome distribution."""
    teacher: Engine = shared(node, "data.source.teacher", Engine)
    if not teacher.has_probs:
        raise RaccoonError(f"data.source.teacher: engine {teacher.name} gives a value only; labels need the outcome distribution")
    return teacher

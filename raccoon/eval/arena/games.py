"""Games of one player against another, in shards: what every arena runs. A shard is a pure function of (job, index)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.config.instantiate import shared
from raccoon.contracts import Boards, Player, RaccoonError
from raccoon.env.position_ids import from_position_id
from raccoon.eval.arena.cube_luck import CONTROLS, CubeLuckObserver
from raccoon.eval.arena.plan import MatchPlan, Starts, luck_switch, start_rows
from raccoon.eval.luck import LuckObserver
from raccoon.executor import Executor, Shard, Work, run_shards
from raccoon.files import write_csv, write_text
from raccoon.matches.recorder import MatchRecorder
from raccoon.play.match import play_games
from raccoon.play.observers import DoubleCounter, Progress

__all__ = ["MatchPlan", "Played", "Starts", "build_players", "luck_switch", "play_match", "run_games", "start_rows", "write_games"]


_LATER = ("record", "starts")
"""Options that came later: without a value they leave the identity of a job as it was."""


@dataclass(frozen=True)
class Played:
    """Finished games: ``games, points, rolls int64[G]``, ``capped bool[G]``, ``luck float64[G]`` (None when off), all to player 0.

    With a cube: ``luck`` has a column for each of ``cube_luck.CONTROLS``; ``cube int32[G]`` the value at the end, ``doubles
    int64[G, 2, 3]``: doubles that each player offered, of them taken, of them beavered. ``restarts``: of each player's outside
    program, where it has one.
    ``worker_seconds`` is the time of the shards added up (start-up of workers and loading of players left out);
    ``wall_seconds`` that of this run from start to end, None when earlier shards were found and read;
    ``evaluations`` those of each side's engine (a player that plays itself counts once, under player 0).
    """

    names: tuple[str, str]
    games: NDArray[np.int64]
    points: NDArray[np.int64]
    rolls: NDArray[np.int64]
    capped: NDArray[np.bool_]
    luck: NDArray[np.float64] | None
    worker_seconds: float
    wall_seconds: float | None
    evaluations: tuple[int, int]
    cube: NDArray[np.int32]
    doubles: NDArray[np.int64]
    restarts: tuple[int, int]

    def of(self, rows: NDArray[np.bool_]) -> Played:
        """The games of ``rows bool[G]``; times and counts stay those of all."""
        columns = ("games", "points", "rolls", "capped", "luck", "cube", "doubles")
        return replace(self, **{name: column[rows] for name in columns if (column := getattr(self, name)) is not None})


def build_players(player: Mapping[str, Any], opponent: Mapping[str, Any]) -> tuple[Player, Player]:
    """Both players (of nodes, or built already); one object twice when they are equal, so that the runner asks it once a step."""
    first = shared(player, "player", Player)
    return first, first if opponent == player else shared(opponent, "opponent", Player)


def play_match(
    executor: Executor,
    player: Mapping[str, Any],
    opponent: Mapping[str, Any] | None,
    plan: MatchPlan,
    seed: int,
    folder: Path,
    label: str,
) -> Played:
    """Play the games of ``plan``; shards already in ``folder`` are read. Raises RaccoonError when there is no opponent."""
    options = {key: value for key, value in plan.for_job().items() if key not in _LATER or value}
    job = {"player": player, "opponent": opponent, "seed": seed, "plan": options}
    fresh, began = not any(folder.glob("shard-*.npz")), time.perf_counter()
    shards = run_games(executor, match_shard, job, plan, folder, label)
    for name, text in (item for shard in shards if plan.record for item in json.loads(bytes(shard["texts"])).items()):
        write_text(folder.parent / "matches" / name, text)
    columns = ("games", "points", "rolls", "capped", "luck", "cube", "doubles")
    joined = {key: np.concatenate([shard[key] for shard in shards]) for key in columns}
    return Played(
        names=(str(shards[0]["names"][0]), str(shards[0]["names"][1])),
        games=joined["games"],
        points=joined["points"],
        rolls=joined["rolls"],
        capped=joined["capped"],
        luck=joined["luck"] if plan.luck else None,
        worker_seconds=float(sum(shard["seconds"] for shard in shards)),
        wall_seconds=time.perf_counter() - began if fresh else None,
        evaluations=_both(shards, "evaluations"),
        cube=joined["cube"],
        doubles=joined["doubles"],
        restarts=_both(shards, "restarts"),
    )


def run_games(executor: Executor, shard: Shard, job: Mapping[str, Any], plan: MatchPlan, folder: Path, label: str) -> list[dict[str, Any]]:
    """The shards of ``plan``, played by ``shard`` or found in ``folder``; ``job`` names the players. Raises RaccoonError when the
    opponent is None."""
    if job["opponent"] is None:
        raise RaccoonError("opponent: this measurement needs one, for example opponent=gnubg0")
    work = Work(label, "games" if plan.match_length is None else "matches", plan.sizes)
    return run_shards(executor, shard, {**job, "size": plan.size}, len(plan.sizes), folder, work)


def _both(shards: Sequence[Mapping[str, Any]], what: str) -> tuple[int, int]:
    """A number of each player, added up over the shards."""
    return int(sum(shard[what][0] for shard in shards)), int(sum(shard[what][1] for shard in shards))


def match_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The games of shard ``index`` of a job of ``play_match``."""
    plan = MatchPlan.of_job(job["plan"])
    games = plan.games_of(index)
    players = build_players(job["player"], job["opponent"])
    before = [(_count(player, "evaluations"), _count(player, "restarts_used")) for player in players]
    began = time.perf_counter()
    luck, doubles = _luck_observer(plan, games), DoubleCounter(games)
    record = MatchRecorder(plan.rules, plan.match_length, (players[0].name, players[1].name)) if plan.record else None
    watching = [doubles, Progress(), *(each for each in (luck, record) if each is not None)]
    result = play_games(
        players,
        games,
        job["seed"],
        observers=watching,
        concurrent=plan.concurrent,
        openings=plan.openings,
        turn_cap=plan.turn_cap,
        cube=plan.rules,
        match_length=plan.match_length,
        starts=None if plan.starts is None else _boards(plan.starts, games),
    )
    after = [(_count(player, "evaluations"), _count(player, "restarts_used")) for player in players]
    used = np.array(after, np.int64) - np.array(before, np.int64)
    if players[0] is players[1]:
        used[1] = 0
    return {
        "games": result.games,
        "points": result.points,
        "rolls": result.rolls,
        "capped": result.capped,
        "luck": np.zeros(len(games)) if luck is None else luck.luck,
        "cube": result.cube,
        "doubles": doubles.counts,
        "names": np.array([player.name for player in players]),
        "seconds": time.perf_counter() - began,
        "evaluations": used[:, 0],
        "restarts": used[:, 1],
        "texts": np.frombuffer(json.dumps({} if record is None else record.texts()).encode(), np.uint8),
    }


def _luck_observer(plan: MatchPlan, games: NDArray[np.int64]) -> Any:
    if not plan.luck or plan.match_length is not None:
        return None
    return LuckObserver(games, starts=plan.starts is not None) if plan.cube is None else CubeLuckObserver(games)


def _boards(starts: Starts, games: NDArray[np.int64]) -> Boards:
    return np.stack([from_position_id(starts[row][1]) for row in start_rows(starts, games)])


def _count(player: Player, what: str) -> int:
    """A counter of the player, or of its engine; 0 where there is none."""
    return int(getattr(player, what, getattr(getattr(player, "engine", None), what, 0)))


def write_games(path: Path, played: Played, control: str | None = None) -> None:
    """One line a game as CSV: game, seat of player 0, points and luck to player 0, their difference ``vr``, rolls, capped.

    With a cube (``control``, one of ``cube_luck.CONTROLS``): its value at the end, and both lucks; ``vr`` is by ``control``.
    """
    columns: dict[str, NDArray[Any] | None] = {"game": played.games, "seat": played.games % 2, "points": played.points}
    luck = played.luck
    if control is None:
        columns |= {"luck": luck, "vr": None if luck is None else played.points - luck}
    else:
        columns |= {f"luck_{name}": None if luck is None else luck[:, column] for column, name in enumerate(CONTROLS)}
        columns["vr"] = None if luck is None else played.points - luck[:, CONTROLS.index(control)]
        columns["cube"] = played.cube
    columns |= {"rolls": played.rolls, "capped": played.capped.astype(np.int64)}
    lists = [[None] * len(played.games) if column is None else column.tolist() for column in columns.values()]
    write_csv(path, [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)])

"""Decisions of matches that were played, from their files: the positions and rolls of the plays, with policy targets and value labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted, whole
from raccoon.config.instantiate import shared
from raccoon.contracts import Player, RaccoonError, Turns
from raccoon.data.label_sets.decisions import decision_rows, target_shares
from raccoon.data.label_sets.generate import identity_of, label
from raccoon.data.label_sets.rows import IMPORTED, pack
from raccoon.data.label_sets.store import DECISIONS
from raccoon.data.label_sets.writer import Plan
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import parse_turn
from raccoon.files import file_digest
from raccoon.matches import SUFFIXES, Decision, each_decision, read_match

__all__ = ["MatchDecisions"]

_GAME_BITS = 12
_TARGETS = ("teacher", "played")


class MatchDecisions:
    """The plays with a choice in ``files`` (match files, or folders of them), one shard a file. Whole games are held out.

    ``teacher``: the config node of a Player with an engine that knows the outcome chances, which labels the positions before the roll.
    ``target``: ``teacher`` gives the softmax of its search's values over the ``top`` best plays at ``temperature`` (value scale),
    ``played`` the play that was made. ``strict: false`` leaves out what cannot be read. A double has a second row, as in ``Decisions``.
    """

    decisions = True

    def __init__(
        self,
        files: Sequence[str] | str,
        teacher: Mapping[str, Any],
        target: str = "teacher",
        top: int = 6,
        temperature: float = 0.02,
        strict: bool = True,
        seed: int = 1,
        name: str = "matches",
    ) -> None:
        self.files = [files] if isinstance(files, str) else list(files)
        self.teacher, self.target, self.strict, self.name = dict(teacher), target, strict, name
        self.top = whole("data.source.top", top, 1)
        self.temperature = number("data.source.temperature", temperature, "a number above 0", above=True)
        self.seed = whole("data.source.seed", seed, 0)
        if target not in _TARGETS:
            raise RaccoonError(f"data.source.target={quoted(target)}: choose {' or '.join(_TARGETS)}")
        if "_target_" not in self.teacher:
            raise RaccoonError("data.source.teacher: give the config node of a player, with a _target_")

    def plan(self) -> Plan:
        """Find the files. Raises RaccoonError naming one that is not there."""
        paths = [path for given in self.files for path in _expand(Path(given).resolve())]
        if not paths:
            raise RaccoonError("data.source.files: empty; name match files or folders of them")
        settings = {key: getattr(self, key) for key in ("target", "top", "temperature", "seed", "strict")}
        sums = [file_digest(path)[:16] for path in paths]
        identity = {"kind": "matches", "files": sums, "teacher": identity_of(self.teacher), **settings}
        job = {"files": [str(path) for path in paths], "teacher": self.teacher, **settings}
        about = {"teacher": self.teacher, "policy_teacher": self.teacher if self.target == "teacher" else "the plays made"}
        return Plan(identity, matches_shard, job, len(paths), f"decisions {self.name}", about, DECISIONS)


def matches_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": DECISION_ROW[n]}``: the plays of file ``index``. Pure in (job, index)."""
    player: Any = shared(job["teacher"], "data.source.teacher", Player)
    engine = getattr(player, "engine", None)
    if engine is None or not engine.has_probs:
        raise RaccoonError("data.source.teacher: give a player with an engine that knows the outcome chances")
    match = read_match(job["files"][index], job["strict"])
    plays = [one for one in each_decision(match) if one.kind == "play" and one.done is not None and not one.forced]
    if not plays:
        raise RaccoonError(f"{job['files'][index]}: holds no plays with a choice; leave it out")
    boards = np.stack([one.position.board for one in plays])
    turns = enumerate_turns(boards, np.array([one.position.dice for one in plays], np.int8))
    games = (index << _GAME_BITS) + np.array([one.game for one in plays])
    rows = pack(boards, label(engine, boards), games, np.array([one.number - 1 for one in plays]), IMPORTED)
    teacher = job["target"] == "teacher"
    shares = target_shares(player, turns, job["top"], job["temperature"]) if teacher else _played(plays, turns)
    return {"rows": decision_rows(rows, turns, shares, job["seed"])}


def _played(plays: Sequence[Decision], turns: Turns) -> NDArray[np.float64]:
    """``float64[M]``: 1 for the plays that were made."""
    shares = np.zeros(len(turns.children))
    for row, one in enumerate(plays):
        child = parse_turn(turns.boards[row], turns.dice[row], one.done or "")
        start, stop = turns.offsets[row : row + 2]
        shares[start + int(np.flatnonzero((turns.children[start:stop] == child).all(axis=(1, 2)))[0])] = 1.0
    return shares


def _expand(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(each for each in path.iterdir() if each.suffix.lower() in SUFFIXES)
    if not path.is_file():
        raise RaccoonError(f"data.source.files: {path} is neither a file nor a folder")
    return [path]

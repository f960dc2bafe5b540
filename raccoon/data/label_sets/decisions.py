"""Decisions with policy targets: positions of any set, a roll thrown at each, and what a player thinks of the plays."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, whole
from raccoon.config.instantiate import build, shared
from raccoon.contracts import Player, RaccoonError, Turns
from raccoon.data.label_sets.generate import identity_of
from raccoon.data.label_sets.policy_rows import pack_policies, unlabelled
from raccoon.data.label_sets.rows import unpack5
from raccoon.data.label_sets.store import DECISIONS, POSITIONS
from raccoon.data.label_sets.writer import Plan, Source
from raccoon.engine.rolls import dice_of
from raccoon.env import ragged
from raccoon.env.movegen import enumerate_turns
from raccoon.env.position_ids import position_words
from raccoon.rng import hash64, uniform
from raccoon.search.policy_targets import HalfTargets, half_targets, soft_shares

__all__ = ["Decisions", "decide", "decision_rows", "target_shares"]

_AT_ONCE = 1024


@dataclass(eq=False)
class Decisions:
    """The labelled positions of the source ``positions`` (a config node), each with a roll and a policy target by ``teacher``.

    ``teacher`` is the config node of a Player. One with an engine and a search gives the softmax of its search's values over the
    ``top`` best plays at ``temperature`` (value scale: points / 3); any other the play it chooses. The roll of a position
    follows from (``seed``, position). A double that goes on has a second row, for the board after a first half
    drawn by the target. A value label is that of ``positions``.
    """

    decisions: ClassVar[bool] = True
    positions: Mapping[str, Any]
    teacher: Mapping[str, Any]
    top: int = 6
    temperature: float = 0.02
    seed: int = 1
    name: str = "policy"

    def __post_init__(self) -> None:
        self.positions, self.teacher = dict(self.positions), dict(self.teacher)  # jobs are plain data
        self.top, self.seed = whole("data.source.top", self.top, 1), whole("data.source.seed", self.seed, 0)
        self.temperature = number("data.source.temperature", self.temperature, "a number above 0", above=True)
        for key, node in (("positions", self.positions), ("teacher", self.teacher)):
            if "_target_" not in node:
                raise RaccoonError(f"data.source.{key}: give a config node with a _target_")

    def plan(self) -> Plan:
        """Check the settings of both; RaccoonError names the bad one."""
        source: Source = build(self.positions, "data.source.positions", Source)
        plan = source.plan()
        if plan.format != POSITIONS:
            raise RaccoonError(f"data.source.positions: makes {plan.format}; name a source of labelled positions")
        settings = {"top": self.top, "temperature": self.temperature, "seed": self.seed}
        identity = {"kind": "decisions", "positions": plan.identity, "teacher": identity_of(self.teacher), **settings}
        shard = f"{plan.shard.__module__}:{plan.shard.__qualname__}"  # a job is plain data
        job = {"shard": shard, "positions": plan.job, "teacher": self.teacher, **settings}
        about = {**plan.about, "policy_teacher": self.teacher}
        return Plan(identity, decisions_shard, job, plan.count, f"decisions {self.name}", about, DECISIONS)


def decisions_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": DECISION_ROW[n]}``: shard ``index`` of the positions with a decision each. Pure in (job, index)."""
    player: Player = shared(job["teacher"], "data.source.teacher", Player)  # first: a bad one is refused before games are played
    module, name = job["shard"].split(":")
    rows = np.asarray(getattr(importlib.import_module(module), name)(job["positions"], index)["rows"])
    parts = [
        decide(rows[start : start + _AT_ONCE], player, job["top"], job["temperature"], job["seed"])
        for start in range(0, len(rows), _AT_ONCE)
    ]
    return {"rows": np.concatenate(parts)}


def decide(rows: NDArray[np.void], player: Player, top: int, temperature: float, seed: int) -> NDArray[np.void]:
    """``DECISION_ROW[n]`` of labelled positions ``ROW[N]``: the decisions in their order, then second halves of doubles, N <= n <= 2 N."""
    boards, _ = unpack5(rows)
    words = position_words(boards)
    outcome = (hash64(seed, "decision roll", words[:, 0], words[:, 1]) % np.uint64(36)).astype(np.int64)
    turns = enumerate_turns(boards, dice_of(outcome))
    return decision_rows(rows, turns, target_shares(player, turns, top, temperature), seed)


def decision_rows(rows: NDArray[np.void], turns: Turns, shares: NDArray[np.float64], seed: int) -> NDArray[np.void]:
    """As ``decide``, of ``turns`` at the positions of ``rows`` with the target ``shares float64[M]`` over their plays."""
    words = position_words(turns.boards)
    first, second = half_targets(turns, shares)
    second = _one_each(first, second, hash64(seed, "decision half", words[:, 0], words[:, 1]))
    whole_turn = _packed(first, turns, rows["game"], False)
    whole_turn["probs"] = rows["probs"]
    return np.concatenate([whole_turn, _packed(second, turns, rows["game"], True)])


def target_shares(player: Player, turns: Turns, top: int, temperature: float) -> NDArray[np.float64]:
    """``float64[M]``: the target over whole turns."""
    engine, search = getattr(player, "engine", None), getattr(player, "search", None)
    if engine is not None and search is not None:
        return soft_shares(search.values(turns, engine), turns.offsets, top, temperature)
    shares = np.zeros(len(turns.children))
    shares[turns.offsets[:-1] + np.asarray(player.choose(turns), np.int64)] = 1.0
    return shares


def _one_each(first: HalfTargets, second: HalfTargets, keys: NDArray[np.uint64]) -> HalfTargets:
    """Of the second halves of every row (those of a row together, rows ascending) the one behind a first half drawn by its share,
    where there is a choice left. ``second.entry`` says which first half is meant. ``keys uint64[N]`` draw, one a row of ``first``."""
    assert second.entry is not None
    mass = first.shares[second.entry]
    ends = np.cumsum(mass)
    starts = np.searchsorted(second.row, np.arange(len(keys)))
    before = np.append(0.0, ends)[starts[second.row]]
    total = np.bincount(second.row, mass, len(keys))
    passed = ends - before > uniform(keys)[second.row] * total[second.row]
    hits = np.flatnonzero(passed)
    chosen = hits[np.unique(second.row[hits], return_index=True)[1]]
    keep = chosen[np.diff(second.offsets)[chosen] > 1]
    entries, offsets = ragged.take(second.offsets, keep)
    return HalfTargets(
        second.boards[keep],
        second.row[keep],
        offsets,
        second.ids[entries],
        second.shares[entries],
        second.again[entries],
        second.entry[keep],
    )


def _packed(targets: HalfTargets, turns: Turns, game: NDArray[Any], mid: bool) -> NDArray[np.void]:
    packed = pack_policies(
        targets.boards,
        turns.dice[targets.row],
        np.full(len(targets.row), mid),
        game[targets.row],
        targets.offsets,
        targets.ids,
        targets.shares,
    )
    return unlabelled(packed)

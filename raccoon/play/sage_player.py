"""Open Sage (``bgsage``) as a player with its own cube: ``player=sage1_cube``, ``opponent=sage1_cube``.

Unlike the ``sage`` engine, whose cubeless values Raccoon's cube model reads, it ranks plays by Sage's own cubeful equities
and doubles, takes and beavers as Sage's analyzer says.
"""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes, RaccoonError, Turns
from raccoon.engine.sage import FILTER_MOVES, FILTER_POINTS, LEVELS, SageEngine, sage_module, sage_strategy
from raccoon.env import ragged
from raccoon.env.formats.board26 import to_board26
from raccoon.play.player import EnginePlayer

__all__ = ["SagePlayer"]

_PLAYS = ("1P", "2P", "3P")


class SagePlayer:
    """Sage at its ``level`` 1P (no lookahead; GNUBG's 0-ply), 2P or 3P, for plays and cube decisions, on one thread.

    At 1P both go through Sage in one call for all rows; deeper cube decisions are asked one by one, because only Sage's
    single call looks at later doubles (about .05 s each at 2P, .1 s at 3P). Money games and matches; ``cubes.rules.cap`` is
    not told to Sage, whose cube has no end. Where ``cubes.rules`` is None it plays like the ``sage`` engine without a cube,
    never doubles and always takes. Raises RaccoonError for another level or when ``bgsage`` is not installed.
    """

    def __init__(self, level: str = "1P", name: str | None = None) -> None:
        if level not in _PLAYS:
            raise RaccoonError(f"player.level={quoted(level)}: choose {', '.join(_PLAYS)} (1P is GNUBG's 0-ply)")
        self.level = level
        self.name = name or f"sage{LEVELS[level]}_cube"
        self._cubeless = EnginePlayer(SageEngine(level))
        self._sage = sage_module()
        self._static, self._table = sage_strategy(self._sage, 1)
        self._deep, self._deep_table = (None, None) if level == "1P" else sage_strategy(self._sage, LEVELS[level])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.level, self.name)

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """See ``Player.choose``. Forced plays are not asked."""
        if turns.cubes.rules is None:
            return self._cubeless.choose(turns)
        rows = np.flatnonzero(np.diff(turns.offsets) > 1)
        chosen = np.zeros(len(turns), np.int64)
        if rows.size == 0:
            return chosen
        rules = _money_rules(turns.cubes)
        inputs = [
            {"board": board, "die1": die1, "die2": die2, "cube_value": value, "cube_owner": owner, **score}
            for board, (die1, die2), (value, owner, score) in zip(
                to_board26(turns.boards[rows]).tolist(), turns.dice[rows].tolist(), self._cubes(turns.cubes.take(rows)), strict=True
            )
        ]
        strategies = (self._static,) if self._deep is None else (self._static, self._deep)
        answers = self._sage.batch_checker_play(inputs, *strategies, FILTER_MOVES, FILTER_POINTS, 1, **rules)
        self._forget()
        best = np.array([answer["moves"][0]["board"] for answer in answers], np.int64)
        # Sage shows its plays as the mover sees them, who sits in slot 0 of an afterstate
        index, offsets = ragged.take(turns.offsets, rows)
        same = (to_board26(turns.children[index][:, ::-1]) == ragged.spread(best, offsets)).all(axis=1)
        wanted, hits = ragged.spread(rows, offsets), index[same]
        if not np.array_equal(wanted[same], rows):
            raise RaccoonError(
                f"player {self.name}: Sage's play of row {rows[_first_difference(wanted[same], rows)]} is not among the legal ones"
            )
        chosen[rows] = hits - turns.offsets[rows]
        return chosen

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """See ``Player.double``; False where the side on roll may not double."""
        return self._decide(boards, cubes, ("should_double",), False)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """See ``Player.take``; True where the side on roll could not have doubled."""
        return self._decide(boards, cubes, ("should_take", "is_beaver"), True)

    def beaver(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """``bool[N]``: would it redouble at once, asked like ``take``? False without beavers in the rules."""
        return self._decide(boards, cubes, ("is_beaver",), False)

    def _decide(self, boards: Boards, cubes: Cubes, keys: tuple[str, ...], otherwise: bool) -> NDArray[np.bool_]:
        """Whether any of ``keys`` is set in Sage's cube action."""
        answers = np.full(len(boards), otherwise)
        rows = np.flatnonzero(cubes.may_double())
        if rows.size == 0:
            return answers
        questions = list(zip(to_board26(boards[rows]).tolist(), self._cubes(cubes.take(rows)), strict=True))
        rules = _money_rules(cubes)
        if self._deep is None:
            positions = [(board, value, owner, *score.values()) for board, (value, owner, score) in questions]
            actions = self._sage.batch_evaluate_positions(positions, self._static, 1, **rules)
        else:
            actions = [self._look_ahead(board, value, owner, {**score, **rules}) for board, (value, owner, score) in questions]
            self._forget()
        answers[rows] = [any(bool(action[key]) for key in keys) for action in actions]
        return answers

    def _look_ahead(self, board: list[int], value: int, owner: Any, state: dict[str, Any]) -> dict[str, Any]:
        from bgsage.weights import default_weights

        weights: Any = default_weights()
        net = (weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list)
        plies = LEVELS[self.level]
        return self._sage.cube_decision_nply_unified(board, value, owner, plies, *net, n_threads=1, bearoff_db=self._table, **state)

    def _cubes(self, cubes: Cubes) -> list[tuple[int, Any, dict[str, Any]]]:
        """Value, Sage's owner (of the side on roll) and the score of each row."""
        owners = self._sage.CubeOwner
        names = {CENTRED: owners.CENTERED, OWNED: owners.PLAYER, OPPONENT: owners.OPPONENT}
        found = [(value, names[owner]) for value, owner in zip(cubes.value.tolist(), cubes.owner.tolist(), strict=True)]
        if cubes.away is None:
            return [(value, owner, {}) for value, owner in found]
        crawford = np.zeros(len(cubes), bool) if cubes.crawford is None else cubes.crawford
        return [
            (value, owner, {"away1": mine, "away2": theirs, "is_crawford": last})
            for (value, owner), (mine, theirs), last in zip(found, cubes.away.tolist(), crawford.tolist(), strict=True)
        ]

    def _forget(self) -> None:
        # values in the cache depend on what was asked before
        if self._deep is not None:
            self._deep.clear_cache()


def _money_rules(cubes: Cubes) -> dict[str, bool]:
    rules = cubes.rules or CubeRules()
    money = cubes.away is None
    return {"jacoby": money and rules.jacoby, "beaver": money and rules.beavers}


def _first_difference(found: NDArray[np.int64], wanted: NDArray[np.int64]) -> int:
    return next((i for i, row in enumerate(wanted) if i >= len(found) or found[i] != row), 0)

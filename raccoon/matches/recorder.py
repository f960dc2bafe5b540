"""Watches the match runner and keeps every move and cube action, so that arenas can write their games as match text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CubeRules, Offer, Step, Turns
from raccoon.env.notation import format_turn
from raccoon.matches.formats.assemble import Draft, DraftGame, assemble
from raccoon.matches.formats.mat_writer import mat_text
from raccoon.matches.record import Action, Match

__all__ = ["MatchRecorder"]


class MatchRecorder:
    """``rules``: how the cube is played, None without one; ``length``: of the matches, None in money play; ``names``: player 0 and 1.

    Keeps games in memory as text, some 3 kB each; a game stopped by the turn cap is kept without an end.
    """

    def __init__(self, rules: CubeRules | None, length: int | None, names: tuple[str, str]) -> None:
        self._rules, self._length, self._names = rules, length, names
        self._games: dict[int, list[list[Action]]] = {}

    def rolled(self, step: Step) -> None:
        """Nothing: rolls are kept with their plays."""

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Keep the plays."""
        children = turns.children[turns.offsets[:-1] + chosen]
        for row, game in enumerate(step.games.tolist()):
            games = self._games.setdefault(game, [])
            if len(games) <= step.number[row]:
                games.append([])
            first, second = step.dice[row].tolist()
            move = format_turn(step.boards[row], children[row], step.dice[row])
            games[-1].append(Action(int(step.mover[row]), "move", (first, second), move))

    def doubled(self, offer: Offer) -> None:
        """Keep the doubles and their answers."""
        for row, game in enumerate(offer.games.tolist()):
            mover = int(offer.mover[row])
            answer = "drop" if not offer.took[row] else "beaver" if offer.beavered[row] else "take"
            self._games[game][-1] += [Action(mover, "double"), Action(1 - mover, answer)]

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing: who won is seen from the plays."""

    def matches(self) -> Iterator[tuple[int, Match]]:
        """The matches by index; in money play all games are one session, which has the index of its first game."""
        order = sorted(self._games)
        if self._length is not None:
            for index in order:
                yield index, self._match(self._games[index])
        elif order:
            yield order[0], self._match([self._games[index][0] for index in order])

    def _match(self, games: list[list[Action]]) -> Match:
        rules = self._rules or CubeRules()
        draft = Draft("the games played", self._length or 0, self._names, rules.jacoby, rules.beavers, cube=self._rules is not None)
        draft.games = [DraftGame(0, actions=actions) for actions in games]
        return assemble(draft, strict=True)

    def texts(self) -> dict[str, str]:
        """The match text of each of ``matches`` by the name of its file."""
        return {f"{index:07d}.mat": mat_text(match, names=True) for index, match in self.matches()}

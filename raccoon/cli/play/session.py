"""A person against a player: the match, whose turn it is, and what the player does in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from raccoon.checks import quoted
from raccoon.cli.play.page import board_page, ending
from raccoon.cli.play.played import PlayedMatch
from raccoon.contracts import Player, RaccoonError
from raccoon.env.notation import format_turns
from raccoon.files import check_suffix
from raccoon.matches.formats.mat_writer import write_mat
from raccoon.play.game import ANSWER, OPENING, OVER, PLAY, ROLL

__all__ = ["ACTIONS", "Session", "kept_as"]

ACTIONS: dict[str, Callable[[PlayedMatch, str], PlayedMatch]] = {
    "play": PlayedMatch.play,
    "double": lambda played, _: played.double(),
    "take": lambda played, _: played.take(),
    "pass": lambda played, _: played.drop(),
    "beaver": lambda played, _: played.beaver(),
}
"""What the words of ``Game.legal`` do, but for dice and next games."""


class Session:
    """One match of a person at ``seat`` (1 or 2) against ``player``, kept in ``path`` from action to action.

    ``seed``: of the dice; None: the person enters them. ``them``: the player's name. ``ended``: the person has quit.
    """

    def __init__(self, played: PlayedMatch, player: Player, path: Path, seat: int = 1, seed: int | None = None) -> None:
        self.player, self.seat, self.seed = player, seat, seed
        self.them = player.name
        self.ended = False
        self.go_on(played, path)

    def go_on(self, played: PlayedMatch, path: Path) -> None:
        """Leave the match for another one."""
        self.played, self.path = played, path
        self._before: list[PlayedMatch] = []
        self._shown: PlayedMatch | None = None
        self._kept = played.actions, played.done

    def proceed(self) -> Iterator[str]:
        """Lines about all that happens until the person has to act; then the board. Raises RaccoonError where the player cannot."""
        while (told := self._step()) is not None:
            yield told
        self._keep(self.played)
        if self.played is not self._shown:
            self._shown = self.played
            over = self.played.game.stage == OVER
            yield ending(self.played, self.seat, self.them) if over else board_page(self.played, self.seat, self.them)

    def act(self, played: PlayedMatch) -> None:
        """The match after an action of the person's, which ``undo`` takes back."""
        self._keep(played)
        self._before.append(self.played)
        self.played = played

    def undo(self) -> None:
        """Back to before the person's last action. Raises RaccoonError where there is none."""
        if not self._before:
            raise RaccoonError("undo: there is nothing to take back")
        self._keep(self._before[-1])
        self.played = self._before.pop()

    def need(self, word: str, stage: str) -> None:
        """Raise RaccoonError where the game does not wait for that of the person."""
        if self.played.game.stage != stage or not (stage == OVER or self.mine):
            raise RaccoonError(f"{word}: not now; {self.waits}")

    def judge(self, word: str) -> tuple[Any, Any, Any]:
        """The player's engine, search and cube model. Raises RaccoonError for a player without."""
        from raccoon.search.analysis.questions import parts_of

        parts = parts_of(self.player)
        if parts is None:
            raise RaccoonError(f"{word}: {self.them} has no engine and search to ask")
        return parts

    @property
    def mine(self) -> bool:
        """Is it the person who decides?"""
        return self.played.game.decides == self.seat

    @property
    def enters_dice(self) -> bool:
        """Does the game wait for dice that the person enters?"""
        return self.seed is None and self.played.game.stage in (OPENING, ROLL)

    @property
    def waits(self) -> str:
        """What the person has to do now."""
        game = self.played.game
        if game.stage == OVER:
            return "match over" if game.match_over else "next"
        if game.stage == OPENING:
            return "opening dice, yours first"
        if game.stage == ANSWER:
            return "take, pass or beaver" if "beaver" in game.legal() else "take or pass"
        if game.stage == PLAY:
            return "play {}-{}".format(*game.position.dice or ())
        if not self.mine:
            return f"dice of {self.them}"
        return " or ".join(["dice" if self.seed is None else "roll", *(["double"] if "double" in game.legal() else [])])

    def _step(self) -> str | None:
        """One thing that needs no person, in words; None where the person has to act."""
        game = self.played.game
        if game.stage == OVER:
            return None
        if game.stage == OPENING:
            return self._rolled()
        if not self.mine:
            action = game.decide(self.player)
            return self._rolled() if action == "roll" else self._decided(action)
        if game.stage == PLAY:
            return self._dances()
        return self._rolled() if game.stage == ROLL and "double" not in game.legal() else None

    def _rolled(self) -> str | None:
        """The roll that there has to be; None where the person enters it."""
        if self.seed is None:
            return None
        dice, opening = self.played.next_dice(self.seed), self.played.game.stage == OPENING
        self.played = self.played.roll(*dice)
        who = "you" if self.mine else self.them
        if opening:
            return f"opening roll {max(dice)}-{min(dice)}: {who} {'begin' if self.mine else 'begins'}"
        return f"{who} {'roll' if self.mine else 'rolls'} {dice[0]}-{dice[1]}"

    def _dances(self) -> str | None:
        """A roll of the person's that cannot be played is over at once."""
        game = self.played.game
        if len(game.turns.children) > 1:
            return None
        (move,) = format_turns(game.position.board, game.turns.children, game.position.dice or ())
        if "/" in move:
            return None
        self.played = self.played.play(move)
        return "you cannot move"

    def _decided(self, action: str) -> str:
        """Do what the player has decided."""
        word, _, move = action.partition(" ")
        cube = self.played.game.position.cube_value
        self.played = ACTIONS[word](self.played, move)
        told = {"play": f"plays {move}", "double": f"doubles to {2 * cube}", "take": "takes", "pass": "passes", "beaver": "beavers"}
        return f"{self.them} {'cannot move' if word == 'play' and '/' not in move else told[word]}"

    def _keep(self, played: PlayedMatch) -> None:
        """Write the file where there is something new."""
        if self._kept != (played.actions, played.done):
            write_mat(self.path, played.record, names=True)
            self._kept = played.actions, played.done


def kept_as(text: Any, key: str) -> Path:
    """The file of a match. Raises RaccoonError naming ``key`` where it is none."""
    if not isinstance(text, str) or not text.strip("/. ") or "\0" in text:
        raise RaccoonError(f"{key}={quoted(text)}: give the name of a file, such as match.mat")
    path = Path(text)
    check_suffix(path, "match text", ".mat")
    if path.is_dir():
        raise RaccoonError(f"{key}={quoted(text)}: is a folder; give the name of a file in it")
    return path

"""From what a reader found in a file to a match: every action is played out, results and scores are checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from raccoon.contracts import RaccoonError
from raccoon.matches.record import LABELS, Action, Fault, Game, Match
from raccoon.matches.state import GameState, is_crawford

__all__ = ["Draft", "DraftGame", "Result", "assemble"]


@dataclass(frozen=True)
class Result:
    """What a file says of the end of a game; ``winner`` None where it only says that it ended."""

    winner: int | None
    points: int
    line: int


@dataclass
class DraftGame:
    """A game as the file has it; ``score`` and ``crawford`` None where it does not say."""

    line: int
    score: tuple[int, int] | None = None
    crawford: bool | None = None
    actions: list[Action] = field(default_factory=list)
    result: Result | None = None


@dataclass
class Draft:
    """A file as a reader left it. ``crawford``: the match is played by that rule; ``cube``: there is one; ``faults``: lines that nobody
    could read."""

    source: str
    length: int = 0
    names: tuple[str, str] = LABELS
    jacoby: bool = False
    beavers: bool = False
    crawford: bool = True
    cube: bool = True
    games: list[DraftGame] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, line: int, reason: str) -> None:
        """Note a line that is left out."""
        self.faults.append(Fault(self.source, line, reason))


def assemble(draft: Draft, strict: bool) -> Match:
    """The match of a draft. ``strict``: the first fault raises RaccoonError; else a game ends before what cannot be played, and everything
    that is left out is in ``Match.faults``, a fault each line."""
    games: list[Game] = []
    score, crawford_played = (0, 0), not draft.crawford
    for one in draft.games:
        _name_beavers(draft, one)
    for index, one in enumerate(draft.games):
        following = draft.games[index + 1].score if index + 1 < len(draft.games) else None
        if one.score is not None and games and one.score != score:
            draft.fault(one.line, f"the score is {one.score[0]}-{one.score[1]}; after the game before it is {score[0]}-{score[1]}")
        score = score if one.score is None else one.score
        crawford = is_crawford(draft.length, score, crawford_played) if one.crawford is None else one.crawford
        game = _play(draft, one, score, crawford, following)
        crawford_played |= crawford
        games.append(game)
        if game.winner is not None:
            score = (score[0] + game.points, score[1]) if game.winner == 0 else (score[0], score[1] + game.points)
    faults = sorted(draft.faults, key=lambda fault: fault.line)
    if strict and faults:
        more = f" ({len(faults) - 1} more such lines)" if len(faults) > 1 else ""
        raise RaccoonError(f"{faults[0]}{more}; strict=false leaves such lines out")
    return Match(draft.length, tuple(games), draft.names, draft.jacoby, draft.beavers, draft.cube, draft.source, tuple(faults))


def _play(draft: Draft, one: DraftGame, score: tuple[int, int], crawford: bool, following: tuple[int, int] | None) -> Game:
    """The game, played out as far as it can be."""
    state = GameState(draft.length, score, crawford, draft.jacoby, draft.beavers, draft.cube)
    done: list[Action] = []
    cut = False
    for index, action in enumerate(one.actions):
        try:
            if action.kind == "resign" and action.points is None:
                action = _with_points(action, one.result, score, following)
            applied = state.apply(action)
            if not (action.kind == "take" and done and done[-1].kind == "beaver"):  # most files leave it to the next roll to say so
                done.append(applied)
        except RaccoonError as error:
            draft.fault(action.line or one.line, str(error))
            _leave_out(draft, one.actions[index + 1 :], action)
            cut = True
            break
    winner, points = _settled(draft, one, state, done, score, following, cut)
    return Game(score, tuple(done), winner, points, crawford, one.line)


def _name_beavers(draft: Draft, game: DraftGame) -> None:
    """A double that answers a double is a beaver: SGF knows no other word."""
    for index, (before, action) in enumerate(pairwise(game.actions), start=1):
        if action.kind == "double" and before.kind in ("double", "beaver") and before.player != action.player:
            game.actions[index] = replace(action, kind="beaver")
            draft.beavers = True


def _leave_out(draft: Draft, rest: Sequence[Action], first: Action) -> None:
    for action in rest:
        if action.line != first.line and action.line is not None and action.line != draft.faults[-1].line:
            draft.fault(action.line, f"left out, as what follows line {first.line} cannot be played")


def _with_points(action: Action, result: Result | None, score: tuple[int, int], following: tuple[int, int] | None) -> Action:
    points = result.points if result is not None else None
    if points is None and following is not None:
        points = following[1 - action.player] - score[1 - action.player] or None
    return Action(action.player, "resign", points=points, line=action.line)


def _settled(
    draft: Draft,
    one: DraftGame,
    state: GameState,
    done: list[Action],
    score: tuple[int, int],
    following: tuple[int, int] | None,
    cut: bool,
) -> tuple[int | None, int]:
    """Winner and points: by the plays, else by what the file says, which ends the game with a resignation."""
    result = one.result or _from_scores(score, following, one.line)
    if state.winner is not None:
        if result is not None and not _agrees(result, state, draft.length, score):
            told = f"the file has {_won(result.winner, result.points)}; the plays have {_won(state.winner, state.points)}"
            draft.fault(result.line, told)
        return state.winner, state.points
    if result is None:
        return None, 0
    winner = result.winner
    if winner is None:
        draft.fault(result.line, "it does not say who won, and the plays do not either")
        return None, 0
    if not cut:
        dropped = state.offered and winner == state.mover and result.points == state.cube
        last = Action(1 - winner, "drop") if dropped else Action(1 - winner, "resign", points=result.points)
        done.append(state.apply(replace(last, line=result.line)))
    return winner, result.points


def _from_scores(score: tuple[int, int], following: tuple[int, int] | None, line: int) -> Result | None:
    if following is None:
        return None
    gained = [following[player] - score[player] for player in (0, 1)]
    if min(gained) != 0 or max(gained) <= 0:
        return None
    return Result(0 if gained[0] else 1, max(gained), line)


def _agrees(result: Result, state: GameState, length: int, score: tuple[int, int]) -> bool:
    assert state.winner is not None
    if result.winner not in (None, state.winner):
        return False
    enough = length - score[state.winner] if length else state.points
    jacoby = not length and state.owner is None and result.points == 1  # the file does not say whether it was played
    return result.points == state.points or result.points == min(state.points, enough) or jacoby


def _won(winner: int | None, points: int) -> str:
    side = "somebody" if winner is None else ("the left player", "the right player")[winner]
    return f"{side} winning {points} point{'s' * (points != 1)}"

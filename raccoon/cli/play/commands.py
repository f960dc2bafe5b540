"""What each line means that a person types while playing."""

from __future__ import annotations

from collections.abc import Callable

from raccoon.checks import quoted
from raccoon.cli.play.page import HELP, board_page
from raccoon.cli.play.played import PlayedMatch
from raccoon.cli.play.session import ACTIONS, Session, kept_as
from raccoon.contracts import RaccoonError
from raccoon.matches.formats.mat_writer import write_mat
from raccoon.matches.read import read_match
from raccoon.play.game import ANSWER, OPENING, OVER, PLAY, ROLL
from raccoon.play.resignation import accepts
from raccoon.search.analysis.answers import analyse
from raccoon.search.analysis.questions import Question, read_dice

__all__ = ["COMMANDS", "answer"]

_SIZES = {"": 1, "single": 1, "1": 1, "gammon": 2, "2": 2, "backgammon": 3, "3": 3}
_HINTS = 5


def answer(session: Session, line: str) -> str | None:
    """Do what a line says; what there is to say about it. Raises RaccoonError for a line that cannot be done, which changes nothing."""
    words = line.split(maxsplit=1)
    word, rest = (words[0].lower(), "".join(words[1:]).strip()) if words else (_default(session), "")
    if not word:
        return None
    if word in COMMANDS:
        if rest and word not in _TAKE_MORE:
            raise RaccoonError(f"{word} {quoted(rest)}: write {word} alone")
        return COMMANDS[word](session, rest)
    if session.enters_dice:
        session.act(session.played.roll(*_dice(session, line.strip())))
    elif session.played.game.stage == PLAY and session.mine:
        session.act(session.played.play(line))
    else:
        raise RaccoonError(f"{quoted(line.strip())}: not understood; {session.waits} (help lists what there is)")
    return None


def _default(session: Session) -> str:
    """What an empty line means: the next roll or game, where it is all that is waited for."""
    game = session.played.game
    if game.stage == ROLL and session.seed is not None:
        return "roll"
    return "next" if game.stage == OVER and not game.match_over else ""


def _dice(session: Session, text: str) -> tuple[int, int]:
    try:
        first, second = read_dice(text) or (0, 0)
    except RaccoonError as error:
        raise RaccoonError(f"{quoted(text)}: not understood; {session.waits}: two numbers from 1 to 6, such as 31") from error
    swapped = session.seat == 2 and session.played.game.stage == OPENING
    return (second, first) if swapped else (first, second)


def _roll(session: Session, _: str) -> str:
    session.need("roll", ROLL)
    if session.seed is None:
        raise RaccoonError(f"roll: you enter the dice (dice=manual), such as 31; {session.waits}")
    dice = session.played.next_dice(session.seed)
    session.act(session.played.roll(*dice))
    return "you roll {}-{}".format(*dice)


def _cube(word: str, stage: str) -> Callable[[Session, str], None]:
    """A command that does something with the cube."""

    def command(session: Session, _: str) -> None:
        session.need(word, stage)
        if word not in session.played.game.legal():
            raise RaccoonError(f"{word}: not with this cube and score, and under these rules; {session.waits}")
        session.act(ACTIONS[word](session.played, ""))

    return command


def _next(session: Session, _: str) -> None:
    session.need("next", OVER)
    if session.played.game.match_over:
        raise RaccoonError("next: the match is over; quit, and begin another one")
    session.act(session.played.next())


def _resign(session: Session, rest: str) -> str:
    size = _SIZES.get(rest.lower())
    if size is None:
        raise RaccoonError(f"resign {quoted(rest)}: write resign single, resign gammon or resign backgammon")
    if not session.mine:
        raise RaccoonError(f"resign: not now; {session.waits}")
    if not accepts(session.played.game, size, session.player):
        return f"{session.them} plays on: it expects more than that"
    session.act(session.played.resign(size))
    return f"{session.them} agrees"


def _hint(session: Session, rest: str) -> str:
    from raccoon.search.analysis.page import page, source_of

    count = int(rest) if rest.isascii() and rest.isdecimal() and len(rest) < 7 else 0 if rest else _HINTS
    if count < 1:
        raise RaccoonError(f"hint {quoted(rest)}: write how many plays, 1 or more")
    if not session.mine:
        raise RaccoonError(f"hint: there is nothing to decide now; {session.waits}")
    question = Question(session.played.game.position, own_cube=True)
    record = next(iter(analyse([question], *session.judge("hint"), cubeful=None)))
    if "candidates" in record:
        record["candidates"] = record["candidates"][:count]
    return page(question.position.board, record, source_of(session.player), False)


def _analyse(session: Session, _: str) -> str:
    from raccoon.matches.analysis import analyse_decisions, decisions_of
    from raccoon.matches.page import decision_lines, player_table
    from raccoon.matches.summary import summarise

    session.judge("analyse")
    match, names = session.played.record, ("you", session.them)[:: 1 if session.seat == 1 else -1]
    found = list(analyse_decisions(decisions_of(match), session.player))
    table = player_table(summarise(match, found), names, bool(match.length))
    return "\n".join([*decision_lines(match, found, (names[0], names[1])), "", *table])


def _moves(session: Session, _: str) -> str:
    session.need("moves", PLAY)
    return "\n".join(action.removeprefix("play ") for action in session.played.game.legal())


def _board(session: Session, _: str) -> str:
    return board_page(session.played, session.seat, session.them)


def _undo(session: Session, _: str) -> str:
    session.undo()
    return "taken back"


def _save(session: Session, rest: str) -> str:
    path = kept_as(rest, "save")
    if path.exists():
        raise RaccoonError(f"save {rest}: there is such a file; give another name")
    write_mat(path, session.played.record, names=True)
    return f"saved: {path}"


def _load(session: Session, rest: str) -> str:
    path = kept_as(rest, "load")
    session.go_on(PlayedMatch.resume(read_match(path)), path)
    return f"loaded: {path}, where the match is kept from now on"


def _help(session: Session, _: str) -> str:
    return f"{HELP}\n\nnow: {session.waits}"


def _quit(session: Session, _: str) -> None:
    session.ended = True


COMMANDS: dict[str, Callable[[Session, str], str | None]] = {
    "roll": _roll,
    "double": _cube("double", ROLL),
    "take": _cube("take", ANSWER),
    "pass": _cube("pass", ANSWER),
    "drop": _cube("pass", ANSWER),
    "beaver": _cube("beaver", ANSWER),
    "next": _next,
    "resign": _resign,
    "hint": _hint,
    "analyse": _analyse,
    "moves": _moves,
    "board": _board,
    "undo": _undo,
    "save": _save,
    "load": _load,
    "help": _help,
    "quit": _quit,
}
"""What each word does, and what it says."""
_TAKE_MORE = {"resign", "hint", "save", "load"}

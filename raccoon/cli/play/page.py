"""What the terminal says of a match that is being played: the board, the score, the end of a game, help."""

from __future__ import annotations

from raccoon.cli.play.played import PlayedMatch
from raccoon.env.board import swap
from raccoon.env.formats.diagram import draw

__all__ = ["HELP", "board_page", "ending", "score_line"]

HELP = """a play          8/5 6/5, bar/22, 13/7*(2), bar/24* 6/off: your points, from high to low
roll, double    before your roll; Enter rolls
take, pass, beaver   the answer to a double
31              your dice, where dice=manual asks for them (your die first in the opening roll)
next            the next game; Enter begins it
hint [N]        the best N plays (5), or what to do with the cube
moves           every legal play
board           the board again
undo            back to before your last action
resign [single|gammon|backgammon]   offer so much; the other side agrees or plays on
analyse         every decision so far: what it cost, the luck, PR of both
save FILE       a copy as match text (.mat)
load FILE       go on with the match in a .mat file, where it is kept from then on
quit            or Ctrl-D, Ctrl-C: the match is kept"""
_SIZES = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


def board_page(played: PlayedMatch, seat: int, them: str) -> str:
    """The board as the player at ``seat`` (1 or 2) sees it, and the score; ``them``: who the other one is."""
    game, position = played.game, played.game.position
    mine = game.on_roll == seat
    board = position.board if mine else swap(position.board)
    drawn = draw(board, position.cube_value, position.cube_owner if mine else -position.cube_owner, mine)
    return f"{drawn}\nX is you, O is {them}; {score_line(played, seat)}"


def score_line(played: PlayedMatch, seat: int) -> str:
    """``score 2-1 of 5, Crawford game`` (the points of ``seat`` first), or the points of the money games so far."""
    mine, theirs = played.score[:: 1 if seat == 1 else -1]
    position = played.game.position
    length = f" of {position.match_length}" if position.match_length else ""
    rules = [rule for rule, on in (("Crawford game", position.crawford), ("Jacoby", position.jacoby), ("beavers", position.beavers)) if on]
    return ", ".join([f"score {mine}-{theirs}{length}", *rules])


def ending(played: PlayedMatch, seat: int, them: str) -> str:
    """Who has won the game, how, and where that leaves the match."""
    game = played.game
    winner = "you win" if (game.won > 0) == (seat == 1) else f"{them} wins"
    points, kinds = abs(game.won), [action.kind for action in played.actions]
    size = points // (1 << kinds.count("take") + 2 * kinds.count("beaver"))
    how = "a pass" if kinds[-1] == "drop" else f"{_SIZES.get(size, '')}{', resigned' if kinds[-1] == 'resign' else ''}"
    text = f"{winner} {points} point{'s' * (points != 1)} ({how}); {score_line(played, seat)}"
    if not game.match_over:
        return text
    mine, theirs = played.score[:: 1 if seat == 1 else -1]
    return f"{text}\nthe match is over: {'you win' if mine > theirs else f'{them} wins'} it {max(mine, theirs)}-{min(mine, theirs)}"

"""GNUBG IDs: ``PositionID:MatchID``, a position with its cube, dice and score as GNU Backgammon writes it.

A Match ID is 12 base64 characters, 72 bits filled from the low bit of byte 0: exponent of the cube (4), its owner (2: player 0
or 1, 3 centred), the player on roll (1), Crawford (1), state of the game (3: 1 is a game that is being played), whose decision
it is (1), a double was offered (1), a resignation was offered (2), dice (3 + 3, 0 before the roll), length of the match (15, 0
for money), scores of player 0 and 1 (15 + 15), and 1 where the Jacoby rule is *not* in force (1). Players are absolute; the
board is the Position ID's, the player on roll first. Beavers have no bit: GNUBG takes them from its settings.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import base64
import binascii

import numpy as np

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, OPPONENT, OWNED, RaccoonError
from raccoon.env.formats.xgid import Position, to_xgid
from raccoon.env.position_ids import from_position_id, position_id

__all__ = ["from_gnubg_id", "to_gnubg_id"]

_WIDTHS = {
    "cube": 4, "owner": 2, "on_roll": 1, "crawford": 1, "state": 3, "decides": 1, "doubled": 1, "resigned": 2, "die_1": 3,
    "die_2": 3, "length": 15, "score_0": 15, "score_1": 15, "no_jacoby": 1,
}  # fmt: skip
_PLAYING, _NOBODY = 1, 3
_BYTES = 9
_LIMIT = Position.cube_limit


def _unpacked(text: str) -> dict[str, int]:
    """The fields of a Match ID. Raises RaccoonError naming the text where it is none."""
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RaccoonError(f"Match ID {quoted(text)}: characters outside the base64 alphabet, or not 12 of them") from error
    if len(text) != 12 or len(key) != _BYTES:
        raise RaccoonError(f"Match ID {quoted(text)}: {len(text)} characters instead of 12")
    fields: dict[str, int] = {}
    bits = int.from_bytes(key, "little")
    for name, width in _WIDTHS.items():
        fields[name] = bits & ((1 << width) - 1)
        bits >>= width
    return fields


def _packed(fields: dict[str, int]) -> str:
    bits, used = 0, 0
    for name, width in _WIDTHS.items():
        if not 0 <= fields[name] < 1 << width:
            raise RaccoonError(f"position: {name.replace('_', ' ')} {fields[name]} does not fit a Match ID, which has {width} bits for it")
        bits |= fields[name] << used
        used += width
    return base64.b64encode(bits.to_bytes(_BYTES, "little")).decode()


def _fault(fields: dict[str, int]) -> str:
    """What is wrong with the fields of a Match ID, "" if nothing is."""
    dice = fields["die_1"], fields["die_2"]
    if fields["state"] != _PLAYING:
        return f"no game is being played in it (state {fields['state']} instead of {_PLAYING})"
    if fields["resigned"]:
        return "a resignation waits for an answer; there is nothing to play"
    if (0 in dice and dice != (0, 0)) or max(dice) > 6:
        return f"dice {dice[0]} and {dice[1]} are neither a roll nor 0 and 0"
    if fields["owner"] == 2:
        return "the owner of the cube is neither player nor nobody"
    if fields["doubled"] and any(dice):
        return "a double is offered after the roll"
    if fields["decides"] != fields["on_roll"] ^ fields["doubled"]:
        return "the player on roll is not the one whose decision it is"
    return ""


def from_gnubg_id(text: str) -> Position:
    """Read ``PositionID:MatchID``. Raises RaccoonError naming the text and its fault.

    ``turn`` is 1 when GNUBG's player 1 is on roll, who sits at the bottom of its board; beavers are not allowed (see the module).
    """
    if not isinstance(text, str) or text.count(":") != 1:
        raise RaccoonError(f"GNUBG ID {quoted(text)}: write a Position ID, a colon and a Match ID")
    board_text, match_text = text.strip().split(":")
    board, fields = from_position_id(board_text), _unpacked(match_text)
    fault = _fault(fields)
    if fault:
        raise RaccoonError(f"Match ID {quoted(match_text)}: {fault}")
    mine = fields["on_roll"]
    owner = CENTRED if fields["owner"] == _NOBODY else OWNED if fields["owner"] == mine else OPPONENT
    scores = fields["score_0"], fields["score_1"]
    found = Position(
        board=board,
        dice=(fields["die_1"], fields["die_2"]) if fields["die_1"] else None,
        cube_value=1 << fields["cube"],
        cube_owner=owner,
        score=(scores[mine], scores[1 - mine]),
        match_length=fields["length"],
        crawford=bool(fields["length"] and fields["crawford"]),
        jacoby=not fields["length"] and not fields["no_jacoby"],
        cube_action="double" if fields["doubled"] else "",
        cube_limit=max(_LIMIT, fields["cube"]),
        turn=1 if mine else -1,
    )
    try:
        to_xgid(found)  # one home for what cube and score can be
    except RaccoonError as error:
        raise RaccoonError(f"Match ID {quoted(match_text)}: {error}") from error
    return found


def to_gnubg_id(position: Position) -> str:
    """``PositionID:MatchID`` of a position, the higher die first; beavers and the limit of the cube are left out.

    Raises RaccoonError for what is no position, for a beaver that waits for an answer, and for numbers that do not fit.
    """
    to_xgid(position)
    if position.cube_action not in ("", "double"):
        raise RaccoonError(f"position: a Match ID cannot say that a {position.cube_action} waits for an answer")
    mine, doubled = int(position.turn == 1), int(position.cube_action == "double")
    dice = (0, 0) if position.dice is None or doubled else sorted(position.dice, reverse=True)
    scores = position.score if mine == 0 else position.score[::-1]
    owners = {CENTRED: _NOBODY, OWNED: mine, OPPONENT: 1 - mine}
    fields = {
        "cube": int(position.cube_value).bit_length() - 1, "owner": owners[int(position.cube_owner)], "on_roll": mine,
        "crawford": int(position.crawford), "state": _PLAYING, "decides": mine ^ doubled, "doubled": doubled, "resigned": 0,
        "die_1": int(dice[0]), "die_2": int(dice[1]), "length": position.match_length, "score_0": int(scores[0]),
        "score_1": int(scores[1]), "no_jacoby": int(not position.jacoby),
    }  # fmt: skip
    return f"{position_id(np.asarray(position.board))}:{_packed(fields)}"

"""One game, action by action: the match runner's games again, and rules that it cannot show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CubeRules, Offer, RaccoonError, Step
from raccoon.engine.gnubg import GnubgEngine
from raccoon.play import EnginePlayer, dice, play_games
from raccoon.play.game import ANSWER, OPENING, OVER, PLAY, ROLL, Game
from raccoon.search.analysis.questions import read_question


class Seen:
    """An observer that keeps every roll and double as plain values."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def rolled(self, step: Step) -> None:
        """See ``Observer.rolled``."""
        assert step.cubes.away is not None
        assert step.cubes.crawford is not None
        score, crawford = step.cubes.away[0].tolist(), bool(step.cubes.crawford[0])
        cube = int(step.cubes.value[0]), int(step.cubes.owner[0])
        self.rows.append((int(step.mover[0]), step.boards[0].tobytes(), sorted(step.dice[0].tolist()), cube, score, crawford))

    def played(self, step: Step, turns: Any, chosen: Any) -> None:
        """Nothing to keep."""

    def finished(self, games: Any, points: Any) -> None:
        """Nothing to keep."""

    def doubled(self, offer: Offer) -> None:
        """See ``CubeObserver.doubled``."""
        self.rows.append(("double", int(offer.mover[0]), bool(offer.took[0])))


def followed(player: EnginePlayer, seed: int, length: int) -> tuple[list[Any], Game, int]:
    """Match 0 of the match runner once more; what an observer would see, the last game and the number of rolls."""
    rows, game, rolls, number, roll = [], Game.match(length), 0, 0, 0
    while not game.match_over:
        if game.stage == OVER:
            game, number, roll = game.next(), number + 1, 0
        elif game.stage == OPENING:
            seat, both = dice.opening(seed, np.array([number << 40]))
            low, high = sorted(both[0].tolist())
            game = game.roll(high, low) if seat[0] == 0 else game.roll(low, high)
        elif (action := game.decide(player)) == "roll":
            game = game.roll(*dice.rolls(seed, np.array([number << 40]), np.array([roll]))[0].tolist())
        elif action == "double":
            mover = game.on_roll - 1
            game = game.double()
            took = game.decide(player) == "take"
            rows.append(("double", mover, took))
            game = game.take() if took else game.drop()
        else:
            cubes = game.cubes
            assert cubes.away is not None
            assert cubes.crawford is not None
            cube = int(cubes.value[0]), int(cubes.owner[0])
            row = (game.position.board.tobytes(), sorted(game.position.dice or ()), cube, cubes.away[0].tolist(), bool(cubes.crawford[0]))
            rows.append((game.on_roll - 1, *row))
            assert action in game.legal()
            game, rolls, roll = game.play(action.removeprefix("play ")), rolls + 1, roll + 1
    return rows, game, rolls


@pytest.mark.parametrize("seed", [3, 8])
def test_a_match_is_the_match_runners(seed: int) -> None:
    player, seen = EnginePlayer(GnubgEngine()), Seen()
    result = play_games((player, player), [0], seed, observers=[seen], cube=CubeRules(), match_length=3)
    rows, game, rolls = followed(player, seed, 3)
    assert rows == seen.rows
    assert len({tuple(row[4]) for row in rows if row[0] != "double"}) > 1  # games at more than one score
    assert (1 if game.score[0] > game.score[1] else -1) == result.points[0]
    assert rolls == result.rolls[0]


def test_a_double_that_is_taken_passed_and_beavered() -> None:
    game = Game.money(beavers=True).roll(3, 1).play("8/5 6/5")
    assert (game.stage, game.on_roll, game.legal()) == (ROLL, 2, ["roll", "double"])
    offered = game.double()
    assert (offered.stage, offered.on_roll, offered.decides, offered.legal()) == (ANSWER, 2, 1, ["take", "pass", "beaver"])
    assert [offered.drop().won, offered.resign(1).won, offered.resign(3).won] == [-1, -1, -3]
    for after, value in ((offered.take(), 2), (offered.beaver(), 4)):
        assert (after.stage, after.on_roll, after.position.cube_value) == (ROLL, 2, value)
        assert after.legal() == ["roll"]
        later = after.roll(6, 5).play("24/18 18/13")
        assert (later.on_roll, later.legal()) == (1, ["roll", "double"])


def test_resigning_gives_points_to_the_other_side() -> None:
    game = Game.money(jacoby=True).roll(2, 5)
    assert (game.on_roll, game.stage) == (2, PLAY)
    assert game.resign(2).won == 1  # Jacoby: the cube is centred
    assert Game.money().roll(2, 5).resign(2).won == 2
    assert Game.money().roll(5, 2).resign(1).won == -1


def test_a_gammon_counts_one_while_the_cube_is_centred_under_jacoby() -> None:
    for rules, won in ((1, 1), (0, 2)):
        xgid = f"XGID=-A---------------------o--:0:0:1:65:0:0:{rules}:0:10"
        assert Game.at(read_question(xgid).position).play("1/off").won == won
    xgid = "XGID=-A---------------------o--:1:1:1:65:0:0:1:0:10"
    assert Game.at(read_question(xgid).position).play("1/off").won == 4
    without_cube = Game.money(jacoby=True, cube=False).roll(5, 2)
    assert without_cube.resign(2).won == -2  # as analyses have it


def test_the_crawford_game_comes_once() -> None:
    game = Game.match(3).roll(3, 1).play("8/5 6/5").double().take().roll(6, 2).resign(1)
    assert (game.score, game.match_over, game.won) == ((2, 0), False, 2)
    game = game.next()
    assert (game.stage, game.position.crawford, game.score) == (OPENING, True, (2, 0))
    game = game.roll(1, 2).play("13/11 6/5")
    assert game.legal() == ["roll"]
    game = game.resign(1).next()
    assert (game.position.crawford, game.score) == (False, (2, 1))
    game = game.roll(2, 1).play("13/11 6/5")
    assert game.legal() == ["roll", "double"]
    assert game.double().take().roll(3, 1).resign(1).score == (4, 1)
    with pytest.raises(RaccoonError, match=r"^next: the match is over"):
        game.double().take().roll(3, 1).resign(1).next()


def test_a_match_to_one_point_has_no_doubles() -> None:
    game = Game.match(1).roll(2, 1).play("13/11 6/5")
    assert (game.legal(), game.position.crawford) == (["roll"], False)
    assert game.resign(1).match_over


def test_what_the_game_does_not_wait_for_is_refused() -> None:
    game = Game.money()
    for act, message in (
        (lambda: game.roll(3, 3), "^roll 3 3: equal dice open no game; roll again$"),
        (lambda: game.play("8/5 6/5"), "^not the time for a play: the game waits for its opening roll$"),
        (lambda: game.double(), "^not the time for a double"),
        (lambda: game.resign(1), "^resign: the game waits for its opening roll$"),
        (lambda: game.next(), "^not the time for the end of the game"),
        (lambda: game.roll(3, 1).roll(3, 1), r"^not the time for a roll: player 1 is to play \(3, 1\)$"),
        (lambda: game.roll(3, 1).play("8/5 6/4"), "not a legal play"),
        (lambda: game.roll(3, 1).play("8/5 6/5").take(), "^not the time for an answer to a double: player 2 is to roll or double$"),
        (lambda: Game.money(cube=False).roll(3, 1).play("8/5 6/5").double(), "^double: player 2 may not double"),
        (lambda: game.roll(3, 1).play("8/5 6/5").double().beaver(), "^beaver: these rules or this cube allow none"),
        (lambda: Game.match(26), "^match=26: the Kazaross-XG2 match equity table ends at 25 points"),
    ):
        with pytest.raises(RaccoonError, match=message):
            act()


def test_a_match_to_two_points_has_a_crawford_game() -> None:
    game = Game.match(2).roll(3, 1).play("8/5 6/5").resign(1).next()
    assert (game.stage, game.position.crawford) == (OPENING, True)

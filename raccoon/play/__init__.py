"""Playing games: players, dice and the one match runner."""

from raccoon.play.match import MatchResult, play_games
from raccoon.play.player import EnginePlayer

__all__ = ["EnginePlayer", "MatchResult", "play_games"]

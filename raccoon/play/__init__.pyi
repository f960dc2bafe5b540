from raccoon.play.gnubg_cli import GnubgCliPlayer as GnubgCliPlayer
from raccoon.play.match import MatchResult as MatchResult
from raccoon.play.match import play_games as play_games
from raccoon.play.observers import Record as Record
from raccoon.play.observers import Recorder as Recorder
from raccoon.play.player import EnginePlayer as EnginePlayer
from raccoon.play.sage_player import SagePlayer as SagePlayer

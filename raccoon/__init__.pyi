from raccoon.api.analysis import Analysis as Analysis
from raccoon.api.analysis import Candidate as Candidate
from raccoon.api.analysis import CubeAction as CubeAction
from raccoon.api.analysis import Play as Play
from raccoon.api.analysis import analyse as analyse
from raccoon.api.analysis import legal_plays as legal_plays
from raccoon.api.analysis import read_position as read_position
from raccoon.api.loading import load_engine as load_engine
from raccoon.api.loading import load_player as load_player
from raccoon.api.loading import player_node as player_node
from raccoon.api.measuring import measure as measure
from raccoon.api.measuring import play_arena as play_arena
from raccoon.api.measuring import read_report as read_report
from raccoon.api.training import train_net as train_net
from raccoon.contracts import Figure as Figure
from raccoon.contracts import RaccoonError as RaccoonError
from raccoon.contracts import Report as Report

__version__: str

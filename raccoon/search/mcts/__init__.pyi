from raccoon.search.mcts.search import MCTS as MCTS
from raccoon.search.mcts.search import Played as Played
from raccoon.search.mcts.search import Roots as Roots

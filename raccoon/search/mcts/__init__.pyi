from raccoon.search.mcts.roots import Roots as Roots
from raccoon.search.mcts.search import MCTS as MCTS
from raccoon.search.mcts.search import Played as Played

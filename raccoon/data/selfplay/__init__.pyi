from raccoon.data.contract import Labeller as Labeller
from raccoon.data.selfplay.module import SelfPlay as SelfPlay

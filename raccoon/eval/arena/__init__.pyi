from raccoon.eval.arena.head_to_head import Arena as Arena
from raccoon.eval.arena.head_to_head import verdict as verdict

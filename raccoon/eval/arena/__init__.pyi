from raccoon.eval.arena.figures import verdict as verdict
from raccoon.eval.arena.vr_arena import Arena as Arena

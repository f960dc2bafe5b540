from raccoon.search.rollout.search import Rollout as Rollout
from raccoon.search.rollout.search import RolloutResult as RolloutResult
from raccoon.search.rollout.search import run_rollouts as run_rollouts

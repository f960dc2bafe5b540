"""Cube models side by side on a benchmark's cube decisions: on a player's outcome chances, and on those of the reference.

The second row set is the models alone: no evaluation error is in it, but the reference's own, which for all but measured
references comes out of a search that reads a model itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from raccoon.contracts import CubeModel, CubeRules, Figure, Player
from raccoon.engine.outcomes import six_from_five
from raccoon.eval.benchmark.decisions import CubeDecisions
from raccoon.eval.pr import cube_scoring
from raccoon.eval.pr.cube_scoring import CubeScores, score
from raccoon.eval.pr.cube_shards import CubeDecided
from raccoon.play.player import EnginePlayer

__all__ = ["ModelScores", "model_scores", "table"]

REFERENCE = "reference"


@dataclass(frozen=True)
class ModelScores:
    """``scores`` of a cube model on ``chances`` (a player's name, or ``reference``); ``coherent``: the share of positions that it
    orders owned, centred, other side's cube (None where the chances are unknown)."""

    chances: str
    model: str
    scores: CubeScores
    coherent: Figure | None


def model_scores(
    player: Player, decided: CubeDecided, models: Mapping[str, CubeModel], cube: CubeDecisions, rules: CubeRules
) -> list[ModelScores]:
    """The player as it is, the player by each model that ``decided`` holds, then the reference's chances by the same models."""
    own = player.cube if isinstance(player, EnginePlayer) else None
    probs6 = decided.probs6

    def ordered(model: CubeModel | None, chances: Any) -> Figure | None:
        if model is None or chances is None:
            return None
        good = cube_scoring.coherent(model, chances, cube, rules)
        return Figure(float(good.mean()), n=len(good))

    found = [ModelScores(decided.name, "own", score(decided.name, cube, decided.own), ordered(own, probs6))]
    for name, given in decided.by_model.items():
        found.append(ModelScores(decided.name, name, score(name, cube, given), ordered(models[name], probs6)))
    reference = six_from_five(cube.probs5)
    alone = dict(models) if own is None or not own.doubles else {"own": own, **models}
    for name, model in alone.items():
        answers = cube_scoring.model_answers(model, reference, cube, rules)
        found.append(ModelScores(REFERENCE, name, score(name, cube, answers), ordered(model, reference)))
    return found


def table(found: list[ModelScores], seed: int, replicates: int) -> list[Mapping[str, Any]]:
    """One row a model: PR, its paired difference to the first row of the same chances, PR on measured references, errors."""
    first = {one.chances: one.scores for one in reversed(found)}
    rows: list[Mapping[str, Any]] = []
    for one in found:
        against, some = first[one.chances], one.scores.cube.measured[one.scores.rows]
        rows.append(
            {
                "chances": one.chances,
                "model": one.model,
                "PR": cube_scoring.pr(one.scores, seed, replicates),
                "minus first": None if one.scores is against else cube_scoring.difference(one.scores, against, seed, replicates),
                **({"PR measured": cube_scoring.pr(one.scores, seed, replicates, some)} if some.any() else {}),
                **{row["error"]: row["errors"] for row in cube_scoring.errors(one.scores)},
                "coherent": None if one.coherent is None else one.coherent.value,
            }
        )
    return rows

"""The hot paths that ``python -m benchmarks compare`` times, each a function of what gives names and returns one call of the path.

They run in another checkout as well, maybe an older one. So what they use is asked for by name: ``get`` knows what it was called there.
Networks are small and made here or the same in both checkouts (the prune net), so that what is around them counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["HOT_PATHS", "Call", "Get"]

Get = Callable[[str], Any]
Call = Callable[[], Any]


def _boards(get: Get, count: int) -> Any:
    return get("raccoon.testing.sample_boards")(count)


def _turns(get: Get, count: int) -> Any:
    return get("raccoon.testing.sample_turns")(count)


def _net(get: Get, policy: bool = False) -> Any:
    """An engine of a small untrained network that gives outcome chances."""
    mlp = partial(get("raccoon.model.MLP"), hidden=[64])
    net = get("raccoon.model.RaccoonNet")(get("raccoon.env.Encoder")(), mlp, get("raccoon.model.Outcomes6"), policy=policy, seed=1)
    return get("raccoon.engine.NetEngine")(net.eval())


def _prune(get: Get) -> Any:
    return get("raccoon.engine.NetEngine").load("prune")


def _afterstates(get: Get) -> Call:
    turns = _turns(get, 256)
    return partial(get("raccoon.env.afterstates"), turns.boards, turns.dice)


def _all_rolls(get: Get) -> Call:
    return partial(get("raccoon.env.afterstates_all_rolls"), _boards(get, 64))


def _half_moves(get: Get) -> Call:
    turns = _turns(get, 1024)
    return partial(get("raccoon.env.legal_actions"), turns.boards, turns.dice)


def _unique(get: Get) -> Call:
    return partial(get("raccoon.env.unique_boards"), get("raccoon.env.afterstates_all_rolls")(_boards(get, 64))[0])


def _ids(get: Get) -> Call:
    write, read, boards = get("raccoon.env.position_keys"), get("raccoon.env.from_position_keys"), _boards(get, 4096)
    return lambda: read(write(boards))


def _planes(get: Get) -> Call:
    return partial(get("raccoon.env.Encoder")().encode, _boards(get, 4096))


def _flat(get: Get) -> Call:
    return partial(get("raccoon.env.Encoder")().encode_flat, _boards(get, 4096))


def _values(get: Get) -> Call:
    return partial(_net(get).value, _boards(get, 4096))


def _chances(get: Get) -> Call:
    return partial(_net(get).probs6, _boards(get, 64))


def _keep_best(get: Get) -> Call:
    _, offsets = get("raccoon.env.afterstates_all_rolls")(_boards(get, 128))
    values = np.random.default_rng(1).standard_normal(offsets[-1])
    return partial(get("raccoon.search.filters.keep_best"), values, offsets, 5)


def _keep_one(get: Get) -> Call:
    _, offsets = get("raccoon.env.afterstates_all_rolls")(_boards(get, 512))
    values = np.random.default_rng(1).standard_normal(offsets[-1])
    return partial(get("raccoon.search.filters.keep_best"), values, offsets, 1)


def _filter(get: Get) -> Call:
    return partial(get("raccoon.search.Filter")("value", 8, 0.16).apply, _turns(get, 1024), _prune(get))


def _static(get: Get) -> Call:
    return partial(get("raccoon.search.child_values"), _turns(get, 1024), _net(get))


def _one_ply(get: Get) -> Call:
    return partial(get("raccoon.search.Expectimax")(1, get("raccoon.search.Filter")("value", 8)).values, _turns(get, 24), _net(get))


def _two_ply(get: Get) -> Call:
    search = get("raccoon.search.Expectimax")(2, get("raccoon.search.Filter")("value", 4), prune=_prune(get))
    return partial(search.values, _turns(get, 4), _net(get))


def _cubeful(get: Get) -> Call:
    search, model = get("raccoon.search.Expectimax")(1, get("raccoon.search.Filter")("value", 4)), get("raccoon.cube.model.Janowski")()
    return partial(search.cubeful, _with_cube(get, _turns(get, 24)), _net(get), model)


def _backups(get: Get) -> Call:
    engine = get("raccoon.search.lookahead_engine.LookaheadEngine")(_net(get), prune=_prune(get))
    return partial(engine.probs6, _boards(get, 256))


def _mcts(get: Get) -> Call:
    turns, engine = _turns(get, 64), _net(get, policy=True)
    keys = np.arange(len(turns)).astype(np.uint64)
    return lambda: get("raccoon.search.MCTS")(30).search(turns.boards, turns.dice, engine, np.zeros(len(turns), bool), keys)


def _rollout(get: Get) -> Call:
    return partial(get("raccoon.search.rollout.search.Rollout")(72, truncate=5).roll, _boards(get, 12), _net(get))


def _bearoff(get: Get) -> Call:
    engine = get("raccoon.engine.BearoffEngine")(4)
    boards = np.zeros((4096, 2, 25), np.int8)
    cells = np.random.default_rng(1).integers(0, 6, (4096, 2, 4))
    for checker in range(4):
        boards[np.arange(4096)[:, None], np.arange(2)[None], cells[:, :, checker]] += 1
    return partial(engine.probs6, boards)


def _with_cube(get: Get, turns: Any) -> Any:
    cubes, rules = get("raccoon.contracts.Cubes"), get("raccoon.contracts.CubeRules")()
    return get("raccoon.env.enumerate_turns")(turns.boards, turns.dice, cubes.centred(len(turns), rules))


def _doubles(get: Get) -> Call:
    turns = _with_cube(get, _turns(get, 2048))
    return partial(get("raccoon.play.EnginePlayer")(_net(get)).double, turns.boards, turns.cubes)


def _games(get: Get) -> Call:
    player = get("raccoon.play.EnginePlayer")(_prune(get))
    return lambda: get("raccoon.play.play_games")((player, player), np.arange(32), 1)


def _money_games(get: Get) -> Call:
    player, rules = get("raccoon.play.EnginePlayer")(_net(get)), get("raccoon.contracts.CubeRules")()
    return lambda: get("raccoon.play.play_games")((player, player), np.arange(32), 1, turn_cap=40, cube=rules)


def _arena(get: Get) -> Call:
    player = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.NetEngine.load", "path": "prune"}}
    opponent = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
    plan = vars(get("raccoon.eval.arena.games.MatchPlan")(8))
    return partial(get("raccoon.eval.arena.games.match_shard"), {"player": player, "opponent": opponent, "seed": 3, "plan": plan}, 0)


def _labels(get: Get) -> Call:
    gnubg = {"_target_": "raccoon.engine.GnubgEngine"}
    player = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.NetEngine.load", "path": "prune"}}
    labels = get("raccoon.data.SelfPlayLabels")(player, gnubg, games=4, shard_games=4)
    inline = get("raccoon.executor.ProcessExecutor")(0, progress=False)

    def made() -> None:
        with tempfile.TemporaryDirectory() as folder:
            get("raccoon.data.label_sets.generate.generate")(labels, Path(folder) / "set", inline)

    return made


HOT_PATHS: dict[str, Callable[[Get], Call]] = {
    "plays of a roll": _afterstates,
    "plays of all rolls": _all_rolls,
    "half-moves": _half_moves,
    "distinct boards": _unique,
    "position keys": _ids,
    "encoder, planes": _planes,
    "encoder, flat": _flat,
    "network, 4,096 values": _values,
    "network, 64 chances": _chances,
    "best 5 of each row": _keep_best,
    "best of each row": _keep_one,
    "filter by value": _filter,
    "static search": _static,
    "expectimax 1-ply": _one_ply,
    "expectimax 2-ply, pruned": _two_ply,
    "expectimax 1-ply, cubeful": _cubeful,
    "exact backups, pruned": _backups,
    "MCTS": _mcts,
    "rollout": _rollout,
    "exact bear-off": _bearoff,
    "doubles": _doubles,
    "games": _games,
    "money games with a cube": _money_games,
    "variance-reduced arena": _arena,
    "labels of games": _labels,
}
"""By name; each gives a call of the path that is the same every time."""

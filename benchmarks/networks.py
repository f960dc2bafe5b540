"""Networks beside each other: PR and value MSE of static play against evaluations a second, in 32, 16 and 8 bits.

``python -m benchmarks.networks NAME=NET.pt NAME=NET.pt ... --plot OUT.png`` prints a table and draws PR on the benchmark ``choosing``
against evaluations a second. Each network plays as torch's engine in fp32 and bf16 and as onnxruntime's in fp32 and int8. Speeds are of
one thread, by processor time, best of 8 interleaved, 2,048 distinct boards a call, encoding included. With ``--search NAME`` (of
``evaluator=frontier``: net-0ply, net-1ply-pruned, ..; may be given often) it is PR against seconds a decision, of torch's engine in
fp32 and bf16 with each search, on the embedded benchmark. Differences are paired with the first network in fp32, with the same
search; intervals are 95%, by game.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import torch

from benchmarks.bench_net import distinct_boards, rates
from raccoon import stats
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build
from raccoon.contracts import PR_SCALE, Engine, Figure
from raccoon.engine.net import NetEngine
from raccoon.engine.network.onnx import OnnxEngine
from raccoon.eval.benchmark.loader import CHOOSING, EMBEDDED, load
from raccoon.eval.pr.checker_scoring import Scores, accuracy, choose, pr, score
from raccoon.export import export_onnx
from raccoon.play.player import EnginePlayer
from raccoon.report import plots
from raccoon.rng import generator

__all__ = ["best_trades", "engines", "measured", "searched"]

_ROWS, _SEED = 2048, 1


def engines(nets: Mapping[str, Path], folder: Path | None) -> dict[str, Engine]:
    """Every network (a checkpoint) in its forms, called ``NAME FORM``: two of torch, two exported into ``folder`` where given."""
    found: dict[str, Engine] = {}
    for name, path in nets.items():
        found[f"{name} fp32"] = NetEngine.load(path)
        found[f"{name} bf16"] = NetEngine.load(path, "bf16")
        if folder is None:
            continue
        for precision in ("fp32", "int8"):
            graph = folder / f"{name}-{precision}.onnx"
            export_onnx(path, graph, precision, games=0)
            found[f"{name} onnx {precision}"] = OnnxEngine(graph)
    return found


def measured(players: Mapping[str, Engine]) -> dict[str, dict[str, Any]]:
    """Of each engine: evaluations a second, PR on both benchmarks (``Figure``), PR on ``choosing`` less the first one's, value MSE."""
    boards = distinct_boards(_ROWS)
    speeds = rates([partial(engine.value, boards) for engine in players.values()], len(boards))
    sets = {name: load(name).checker for name in (CHOOSING, EMBEDDED)}
    scores = {
        name: {kind: score(name, checker, choose(EnginePlayer(engine), checker)) for kind, checker in sets.items()}
        for name, engine in players.items()
    }
    first = next(iter(scores.values()))[CHOOSING]
    return {
        name: {
            "evaluations/s": speed,
            CHOOSING: pr(found[CHOOSING], _SEED),
            "difference": _difference(found[CHOOSING], first),
            EMBEDDED: pr(found[EMBEDDED], _SEED),
            "MSE": accuracy(found[EMBEDDED], _SEED)["mse"],
        }
        for (name, found), speed in zip(scores.items(), speeds, strict=True)
    }


def searched(players: Mapping[str, Engine], searches: Sequence[str], games: int | None) -> dict[str, dict[str, Any]]:
    """Of each engine with each search of the frontier's players: seconds and evaluations a decision, PR on the embedded benchmark and
    its paired difference to the first engine with that search; ``games``: the first ones only."""
    checker = load(EMBEDDED).checker.first_games(games)
    known = compose("evaluate", ["evaluator=frontier"]).evaluator.players
    scores: dict[str, Scores] = {}
    firsts: dict[str, Scores] = {}
    for kind in searches:
        for name, engine in players.items():
            search = build(known[kind].search)
            # compile and prepare before the clock runs
            choose(EnginePlayer(engine, search), checker.take(np.arange(2)))
            called = f"{name}, {kind.removeprefix('net-')}"
            scores[called] = score(called, checker, choose(EnginePlayer(engine, search), checker))
            firsts[called] = scores[f"{next(iter(players))}, {kind.removeprefix('net-')}"]
            print(f"{called}: {scores[called].seconds:.5f} s/decision", file=sys.stderr, flush=True)
    return {
        name: {
            "s/decision": found.seconds,
            "evaluations": found.decided.evaluations / len(checker),
            EMBEDDED: pr(found, _SEED),
            "difference": _difference(found, firsts[name]),
        }
        for name, found in scores.items()
    }


def _difference(ours: Scores, theirs: Scores) -> Figure:
    return stats.bootstrap_mean(ours.loss - theirs.loss, ours.checker.games, generator(_SEED, "networks"), stats.REPLICATES, PR_SCALE)


def best_trades(costs: Mapping[str, float], errors: Mapping[str, float]) -> list[str]:
    """The names that no other one beats in both, cheapest first: a lower cost and a lower error are better."""
    best: list[str] = []
    for name in sorted(costs, key=lambda name: (costs[name], errors[name])):
        if not best or errors[name] < errors[best[-1]]:
            best.append(name)
    return best


def _interval(figure: Figure) -> str:
    return f"{figure.value:.3f} [{figure.lo:.3f}, {figure.hi:.3f}]"


def _print_static(found: Mapping[str, Mapping[str, Any]]) -> None:
    print(f"| network | evaluations/s | PR on `{CHOOSING}` | minus the first | PR on `{EMBEDDED}` | value MSE |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, row in found.items():
        cells = " | ".join(_interval(row[key]) for key in (CHOOSING, "difference", EMBEDDED))
        print(f"| {name} | {row['evaluations/s']:,.0f} | {cells} | {row['MSE'].value:.5f} |")


def _print_searched(found: Mapping[str, Mapping[str, Any]]) -> None:
    n = next(iter(found.values()))[EMBEDDED].n
    print(f"| network and search | s/decision | evaluations/decision | PR, n = {n:,} | minus the first, same search |")
    print("|---|---:|---:|---:|---:|")
    for name, row in found.items():
        cells = f"{row['s/decision']:.5f} | {row['evaluations']:,.1f} | {_interval(row[EMBEDDED])} | {_interval(row['difference'])}"
        print(f"| {name} | {cells} |")


def _draw(path: Path, x: Mapping[str, float], y: Mapping[str, Figure], best: Sequence[str], xlabel: str, ylabel: str) -> None:
    canvas = matplotlib.figure.Figure(figsize=(9, 6), layout="constrained")
    plots.frontier(x, y, best, xlabel, ylabel)(canvas)
    canvas.savefig(path, dpi=100)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.networks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("nets", nargs="+", metavar="NAME=NET", help="a name and a checkpoint (.pt or .ckpt)")
    parser.add_argument("--search", action="append", help="a player of evaluator=frontier whose search is used")
    parser.add_argument("--games", type=int, help="with --search: the first so many games of the benchmark")
    parser.add_argument("--plot", type=Path, help="where the picture goes (.png)")
    given = parser.parse_args()
    pairs = [text.partition("=") for text in given.nets]
    if unfit := [text for text, (_, mark, path) in zip(given.nets, pairs, strict=True) if not mark or not Path(path).is_file()]:
        parser.error(f"{unfit[0]}: give NAME=NET, NET the path of a checkpoint")
    known = [name for name in compose("evaluate", ["evaluator=frontier"]).evaluator.players if str(name).startswith("net-")]
    if unknown := [name for name in given.search or () if name not in known]:
        parser.error(f"--search {unknown[0]}: give one of {', '.join(known)}")
    given.nets = {name: Path(path) for name, _, path in pairs}
    return given


def main() -> None:
    """Measure the networks of the command line."""
    given = _arguments()
    torch.set_num_threads(1)
    if given.search:
        found = searched(engines(given.nets, None), given.search, given.games)
        _print_searched(found)
        x, y = {name: row["s/decision"] for name, row in found.items()}, {name: row[EMBEDDED] for name, row in found.items()}
        costs, labels = x, ("seconds a decision of one thread", f"PR on {EMBEDDED}")
    else:
        with tempfile.TemporaryDirectory(prefix="raccoon-") as folder:
            found = measured(engines(given.nets, Path(folder)))
        _print_static(found)
        drawn = {name: row for name, row in found.items() if not name.endswith("onnx fp32")}  # at the place of torch's
        x, y = {name: row["evaluations/s"] for name, row in drawn.items()}, {name: row[CHOOSING] for name, row in drawn.items()}
        costs, labels = {name: -speed for name, speed in x.items()}, ("evaluations a second of one thread", f"PR on {CHOOSING}")
    if given.plot is not None:
        _draw(given.plot, x, y, best_trades(costs, {name: figure.value for name, figure in y.items()}), *labels)


if __name__ == "__main__":
    main()

"""Writes an exported network: the graph, its description, fixtures for ports; measured before it is written."""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import assets
from raccoon.contracts import PR_SCALE, Boards, RaccoonError
from raccoon.engine.net import NetEngine
from raccoon.engine.network.onnx import FORMAT, VERSION, OnnxEngine, meta_path
from raccoon.env.board import terminal_points
from raccoon.env.half_moves import N_ACTIONS
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLLS
from raccoon.env.position_ids import position_id
from raccoon.eval.benchmark.decisions import CheckerDecisions
from raccoon.eval.benchmark.loader import load
from raccoon.eval.pr.checker_scoring import choose, score
from raccoon.export.graph import INPUT, OPSET, PRECISIONS, graph_of
from raccoon.files import atomic, write_json
from raccoon.model import RaccoonNet, checkpoint_file
from raccoon.play.player import EnginePlayer
from raccoon.rng import generator
from raccoon.versions import installed

__all__ = ["POSITIONS", "export_onnx", "golden_path"]

POSITIONS = 2000
"""On how many the graph is compared with the network."""
_GOLDEN = 20
_CALIBRATION = 1024
_CLOSE = 1e-4
"""Largest difference of an fp32 graph: equity / 3, chances, probabilities of half turns."""
_DIVISOR = re.compile(r" / ([0-9.]+)$")
_OUTCOMES = ("win", "win_g", "win_bg", "lose", "lose_g", "lose_bg")


def golden_path(path: str | Path) -> Path:
    """Where the fixtures for ports lie: ``net.golden.json`` beside ``net.onnx``."""
    return Path(path).with_suffix(".golden.json")


def export_onnx(
    source: str | Path, target: str | Path, precision: str = "fp32", policy: bool = False, games: int | None = None
) -> dict[str, Any]:
    """Write the network of the checkpoint ``source`` (or ``default``, ``prune``) to ``target`` (.onnx), beside it its description
    (``.meta.json``) and fixtures (``.golden.json``); returns the description.

    ``precision``: see ``graph_of``; ``policy``: with the policy head. The graph is compared with the network on 2,000 positions and scored
    on the embedded benchmark beside it (``games``: its first ones only, 0 for none). Raises RaccoonError for a source that is no
    checkpoint, a policy head that is not there, and an fp32 graph that does not compute what the network does.
    """
    if precision not in PRECISIONS:
        raise RaccoonError(f"precision={precision}: choose one of {', '.join(PRECISIONS)}")
    net, header = checkpoint_file.load(assets.path(assets.NETS[str(source)]) if str(source) in assets.NETS else source)
    if policy and net.policy is None:
        raise RaccoonError(f"policy=true: {source} has no policy head (train one with model.policy=true); leave it out")
    checker = load().checker
    boards = _positions(checker)
    model = graph_of(net, policy, precision, boards[POSITIONS:])
    content = model.SerializeToString(deterministic=True)
    meta = _described(net, header, str(source), target, precision, policy, content)
    with tempfile.TemporaryDirectory(prefix="raccoon-") as folder:
        draft = Path(folder) / Path(target).name
        draft.write_bytes(content)
        write_json(meta_path(draft), meta)
        ours, theirs = NetEngine(net, name="torch"), OnnxEngine(draft, name="onnx")
        meta["verified"] = _compared(ours, theirs, boards[:POSITIONS], precision)
        meta["pr"] = _scored(ours, theirs, checker.first_games(games)) if games != 0 else None
        golden = _golden(theirs, boards[: POSITIONS : POSITIONS // _GOLDEN], meta)
    with atomic(target) as handle:
        handle.write(content)
    write_json(meta_path(target), meta)
    write_json(golden_path(target), golden)
    return meta


def _positions(checker: CheckerDecisions) -> Boards:
    """``int8[POSITIONS + calibration, 2, 25]``: unfinished positions of the benchmark, each once, in a fixed random order."""
    boards = checker.children[terminal_points(checker.children) == 0]
    boards = boards[unique_boards(boards)[0]]
    return boards[generator(1, "export.positions").permutation(len(boards))[: POSITIONS + _CALIBRATION]]


def _described(
    net: RaccoonNet, header: dict[str, Any], source: str, target: str | Path, precision: str, policy: bool, content: bytes
) -> dict[str, Any]:
    """Everything that is known before the graph is run."""
    encoder = net.encoder
    shape = ["n", encoder.flat_size] if net.backbone.form == "flat" else ["n", encoder.n_channels, 2, 12]
    divisors = {name: found[1] for name in encoder.names if (found := _DIVISOR.search(name))}
    outputs: dict[str, Any] = {"equity": {"shape": ["n"], "means": "money points at cube 1 / 3, to the side on roll"}}
    if net.has_probs:
        outputs["probs6"] = {"shape": ["n", 6], "means": "chances of the side on roll, exclusive, in the order of outcomes"}
    if policy:
        outputs["policy"] = {"shape": ["n", N_ACTIONS], "means": "logits of OpenSpiel's actions; mask what is not legal"}
    return {
        "format": FORMAT,
        "version": VERSION,
        "file": Path(target).name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "opset": OPSET,
        "precision": precision,
        "input": {"name": INPUT, "form": net.backbone.form, "shape": shape},
        "outputs": outputs,
        "head": str(net.config["head"]["_target_"]).rsplit(".", 1)[-1].lower(),
        "outcomes": list(_OUTCOMES),
        "channels": list(encoder.names),
        "scales": {name: float(divisor) for name, divisor in divisors.items()} | {"equity": 3.0},
        "layout": encoder.layout_hash,
        "encoder": encoder.to_config(),
        "source": {"name": Path(source).name, "digest": header.get("digest"), "meta": header.get("meta")},
        "versions": installed("torch", "onnx", "onnxruntime"),
    }


def _compared(ours: NetEngine, theirs: OnnxEngine, boards: Boards, precision: str) -> dict[str, Any]:
    """The largest difference of each output. Raises RaccoonError where an fp32 graph is not the network."""
    found: dict[str, float] = {"equity": _largest(ours.value(boards), theirs.value(boards))}
    if ours.has_probs:
        found["probs6"] = _largest(ours.probs6(boards), theirs.probs6(boards))
    if theirs.has_policy:
        dice = ROLLS[np.arange(len(boards)) % len(ROLLS)]
        found["policy"] = _largest(ours.policy(boards, dice), theirs.policy(boards, dice))
    if precision == "fp32" and max(found.values()) > _CLOSE:
        raise RaccoonError(f"the graph does not compute what the network does: largest differences {found}; nothing was written")
    return {"positions": len(boards), "largest_difference": found}


def _largest(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> float:
    return float(np.abs(ours - theirs).max())


def _scored(ours: NetEngine, theirs: OnnxEngine, checker: CheckerDecisions) -> dict[str, Any]:
    """PR of both, without lookahead and cube, on the same decisions."""
    losses = [score(engine.name, checker, choose(EnginePlayer(engine), checker)).loss for engine in (ours, theirs)]
    before, after = (PR_SCALE * float(loss.mean()) for loss in losses)
    return {"benchmark": "embedded", "decisions": len(checker), "before": before, "after": after}


def _golden(engine: OnnxEngine, boards: Boards, meta: dict[str, Any]) -> dict[str, Any]:
    """Positions with the numbers that go in and come out: what a port must reproduce."""
    encode = engine.encoder.encode_flat if meta["input"]["form"] == "flat" else engine.encoder.encode
    planes, values = encode(boards), engine.value(boards)
    rows = [
        {"position": position_id(board), "x": _numbers(x.reshape(-1)), "equity": _numbers(value[None])[0]}
        for board, x, value in zip(boards, planes, values, strict=True)
    ]
    if engine.has_probs:
        for row, six in zip(rows, engine.probs6(boards), strict=True):
            row["probs6"] = _numbers(six)
    if engine.has_policy:
        dice = ROLLS[np.arange(len(boards)) % len(ROLLS)]
        for row, roll, odds in zip(rows, dice, engine.policy(boards, dice), strict=True):
            legal = np.flatnonzero(odds)
            row["dice"] = roll.tolist()
            row["policy"] = dict(zip(map(str, legal.tolist()), _numbers(odds[legal]), strict=True))
    about = {
        "x": "the input, row by row, as it lies in memory (before the roll: dice 0)",
        "policy": "probability of each legal action after a softmax over the legal ones, the dice in the input",
    }
    return {"sha256": meta["sha256"], "layout": meta["layout"], "input": meta["input"], "about": about, "positions": rows}


def _numbers(values: NDArray[np.float32]) -> list[float]:
    """As few digits as tell one float32 from the next."""
    return [float(np.format_float_positional(value, unique=True)) for value in values]

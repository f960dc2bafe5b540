"""Draws backgames and containment positions from a set of labelled positions, for ``evaluator.starts``.

``python -m benchmarks.hard_starts SET OUT [--count 200] [--seed 1]`` writes OUT/backgame.txt and OUT/containment.txt, a Position
ID a line, one position a game at most. A *backgame*: the side on roll holds two points or more in the opponent's home board, with two
or three checkers on each, and is 70 pips behind or more. A *containment*: the opponent has borne off five checkers or more and has one or
two on the bar or in the home board of the side on roll, who has borne off none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.data.label_sets.store import PositionStore
from raccoon.env.board import pips
from raccoon.env.position_ids import from_position_keys, position_id
from raccoon.files import write_text

__all__ = ["backgame", "containment"]


def backgame(boards: Boards) -> NDArray[np.bool_]:
    """``bool[N]``: the side on roll (slot 1) plays a backgame."""
    anchors = boards[:, 1, 18:24]
    held = ((anchors == 2) | (anchors == 3)).sum(1)
    count = pips(boards)
    return (held >= 2) & (anchors.sum(1) <= 6) & (count[:, 1] - count[:, 0] >= 70)


def containment(boards: Boards) -> NDArray[np.bool_]:
    """``bool[N]``: the side on roll holds the opponent's last checkers in."""
    off = 15 - boards.sum(2)
    behind = boards[:, 0, 18:].sum(1)
    return (off[:, 0] >= 5) & (off[:, 1] == 0) & (behind >= 1) & (behind <= 2)


_RULES: dict[str, Callable[[Boards], NDArray[np.bool_]]] = {"backgame": backgame, "containment": containment}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hard_starts", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("set", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=200, help="positions of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    given = parser.parse_args()
    store = PositionStore.open(given.set)
    rng = np.random.default_rng(given.seed)
    found: dict[str, list[str]] = {name: [] for name in _RULES}
    for shard in rng.permutation(len(store.counts)).tolist():
        rows = store.shard(shard)
        boards = from_position_keys(rows["key"])
        for name, rule in _RULES.items():
            fitting = rng.permutation(np.flatnonzero(rule(boards)))
            _, first = np.unique(rows["game"][fitting], return_index=True)
            found[name] += [position_id(boards[row]) for row in fitting[np.sort(first)]]
        if all(len(texts) >= given.count for texts in found.values()):
            break
    given.out.mkdir(parents=True, exist_ok=True)
    for name, texts in found.items():
        write_text(given.out / f"{name}.txt", "".join(f"{text}\n" for text in texts[: given.count]))
        print(f"{given.out / name}.txt: {min(len(texts), given.count)} positions")


if __name__ == "__main__":
    main()

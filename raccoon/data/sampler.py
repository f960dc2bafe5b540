"""The order in which rows are trained on: a pure function of (seed, epoch) that needs little memory.

The rows of all shards are cut into short blocks; an epoch takes the blocks in random order, a *window* of about a million
rows at a time, and shuffles the rows inside the window. Held-out games are left out when a window is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.store import PositionStore
from raccoon.env import ragged
from raccoon.rng import generator, hash64, uniform

__all__ = ["RowOrder", "held_out", "same_turn"]

_BLOCK = 512
_WINDOW = 1 << 20


def held_out(games: NDArray[np.integer], share: float) -> NDArray[np.bool_]:
    """``bool[N]``: rows of the games that are never trained on, about ``share`` of all games.

    By hash of the game number alone, so that every run, and every relabelled copy of a set, holds out the same games.
    """
    games = np.asarray(games)
    if not len(games) or share <= 0:
        return np.zeros(len(games), bool)
    starts = np.flatnonzero(np.r_[True, games[1:] != games[:-1]])  # games lie together: hash each once
    held = uniform(hash64(0, "holdout", games[starts])) < share
    return ragged.spread(held, np.append(starts, len(games)))


class RowOrder:
    """Training rows of some stores in an order that depends on (seed, epoch) alone.

    ``siblings``: rows of one turn stay together (those within a block), and turns are shuffled.
    ``len(order)`` training rows an epoch; ``held [H]``: the rows of held-out games, in store order, at most
    ``held_limit``. ``set_epoch(e)`` is what Lightning calls; ``windows()`` yields ``ROW[n]`` shuffled windows.
    """

    def __init__(
        self,
        stores: Sequence[PositionStore],
        seed: int,
        holdout: float,
        held_limit: int,
        block: int = _BLOCK,
        window: int = _WINDOW,
        siblings: bool = False,
    ) -> None:
        self.stores = list(stores)
        self.seed = seed
        self.holdout = holdout
        self.epoch = 0
        self.siblings = siblings
        self._blocks_a_window = max(1, window // block)
        self.dtype = self.stores[0].dtype
        for store in self.stores:
            if store.dtype != self.dtype:
                raise RaccoonError(
                    f"{store.folder}: {store.meta['format']} beside {self.stores[0].meta['format']}; sets of one kind go together"
                )
        blocks, held, kept, left = [], 0, [], held_limit
        for s, store in enumerate(self.stores):
            for i in range(len(store.indices)):
                rows = store.shard(i)
                mask = held_out(rows["game"], holdout)
                held += int(mask.sum())
                kept.append(np.asarray(rows[np.flatnonzero(mask)[:left]]))
                left -= len(kept[-1])
                starts = np.arange(0, len(rows), block)
                stops = np.minimum(starts + block, len(rows))
                blocks.append(np.stack([np.full_like(starts, s), np.full_like(starts, i), starts, stops], axis=1))
        self._blocks: NDArray[np.int64] = np.concatenate(blocks)
        self.held: NDArray[np.void] = np.concatenate(kept)
        self._rows = sum(len(store) for store in self.stores) - held
        if self._rows < 1:
            raise RaccoonError(f"data.holdout={holdout}: no game is left to train on; lower it or generate more games")

    def __len__(self) -> int:
        return self._rows

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next pass."""
        self.epoch = epoch

    def windows(self) -> Iterator[NDArray[np.void]]:
        """Yield the rows of the current epoch, a shuffled window at a time."""
        epoch = self.epoch
        order = generator(self.seed, "block order", epoch).permutation(len(self._blocks))
        for w, start in enumerate(range(0, len(order), self._blocks_a_window)):
            rows = self._read(self._blocks[order[start : start + self._blocks_a_window]])
            rows = rows[~held_out(rows["game"], self.holdout)]
            rng = generator(self.seed, "window order", epoch, w)
            yield rows[_by_turns(rows, rng) if self.siblings else rng.permutation(len(rows))]

    def _read(self, blocks: NDArray[np.int64]) -> NDArray[np.void]:
        sizes = blocks[:, 3] - blocks[:, 2]
        at = ragged.offsets_of(sizes)
        out = np.empty(int(at[-1]), self.dtype)
        order = np.lexsort((blocks[:, 1], blocks[:, 0]))  # each shard is opened once
        last, rows = (-1, -1), None
        for b in order:
            s, i, start, stop = (int(x) for x in blocks[b])
            if (s, i) != last or rows is None:
                last, rows = (s, i), self.stores[s].shard(i)
            out[at[b] : at[b + 1]] = rows[start:stop]
        return out


def same_turn(rows: NDArray[np.void]) -> NDArray[np.int64]:
    """``int64[N]``: numbers from 0 that are equal for neighbours of one game and turn."""
    if not len(rows):
        return np.zeros(0, np.int64)
    new = (rows["game"][1:] != rows["game"][:-1]) | (rows["turn"][1:] != rows["turn"][:-1])
    return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)


def _by_turns(rows: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
    """An order of ``rows`` that shuffles turns and leaves the rows of each as they are."""
    offsets = ragged.offsets_of(np.bincount(same_turn(rows)))
    return ragged.take(offsets, rng.permutation(len(offsets) - 1))[0]

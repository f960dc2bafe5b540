"""Mutated benchmarks and label sets: each is refused with one message or holds what was written; nothing is written by reading it."""

from __future__ import annotations

import copy
import gzip
import io
import json
import lzma
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.data.label_sets.generate import SelfPlayLabels, generate
from raccoon.data.label_sets.store import PositionStore, signed
from raccoon.eval.benchmark import compact as benchmark_file
from raccoon.eval.benchmark import exchange as benchmark_json
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import load
from raccoon.executor import ProcessExecutor
from tests.fuzzing import LIMIT_S, Tally, cut, flipped, holder_of, odd_value, overwritten, places

SAMPLE = Path(__file__).parents[1] / "golden" / "benchmark_sample.json"
BYTES: dict[str, Callable[[bytes, random.Random], bytes]] = {"bits flipped": flipped, "cut or longer": cut, "overwritten": overwritten}


def edited(data: Any, rng: random.Random) -> Any:
    """A copy of parsed JSON with one entry gone, new, or of an odd value."""
    data = copy.deepcopy(data)
    path = rng.choice(places(data))
    holder, how = holder_of(data, path), rng.randrange(4)
    if how == 0:
        del holder[path[-1]]
    elif how == 1 and isinstance(holder, dict):
        holder[rng.choice(["more", "", "00", "seed", "key", "9" * 5000])] = odd_value(rng)
    else:
        holder[path[-1]] = odd_value(rng)
    return data


def as_json(data: Any) -> bytes:
    return json.dumps(data, default=repr, skipkeys=True).encode()


def edited_columns(packed: bytes, rng: random.Random) -> bytes:
    """A compact benchmark, right as an archive, with one column changed."""
    with np.load(io.BytesIO(lzma.decompress(packed))) as arrays:
        columns: dict[str, Any] = dict(arrays)
    name = rng.choice(list(columns))
    column = columns[name]
    changes: list[Callable[[], Any]] = [
        lambda: column.astype(rng.choice(["f4", "f8", "i1", "u1", "i8", "?", "U", "S", "c8"])),
        lambda: column[: rng.randrange(len(column) + 1)],
        lambda: np.concatenate([column, column]),
        lambda: column[None],
        lambda: column.view(np.uint8),
        lambda: np.full_like(column, rng.choice([0, 1, 127]), column.dtype),
        lambda: np.where(np.arange(column.size).reshape(column.shape) == rng.randrange(max(column.size, 1)), column.max(), column[:1]),
        lambda: np.frombuffer(rng.randbytes(column.nbytes), column.dtype).reshape(column.shape),
        lambda: np.array(odd_value(rng), "S"),
    ]
    try:
        columns[rng.choice([name, name, name, "checker.more"])] = rng.choice(changes)()
    except (ValueError, TypeError, OverflowError):
        del columns[name]
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **columns)
    return lzma.compress(buffer.getvalue(), preset=0)


def equal(known: Benchmark, given: Benchmark) -> bool:
    return known.meta == given.meta and all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=getattr(a, name).dtype.kind == "f")
        for a, b in ((known.checker, given.checker), (known.cube, given.cube))
        for name in a.__dataclass_fields__
        if name != "cubes"
    )


def sane(given: Benchmark) -> bool:
    """An edit by hand may give another benchmark, but one of numbers that a measurement can use."""
    numbers = [given.checker.equity, given.checker.cubeless, given.checker.probs5, given.cube.no_double, given.cube.double_take]
    return all(np.isfinite(column).all() for column in numbers) and bool((np.diff(given.checker.offsets) > 0).all())


def benchmarks(count: int, folder: Path, seed: int) -> Tally:
    """Load ``count`` mutated benchmarks of all three forms."""
    rng, tally, known = random.Random(seed), Tally(), load(SAMPLE)
    plain = json.loads(SAMPLE.read_bytes())
    benchmark_file.write(known, folder / "x")
    compact, packed = (folder / "x").read_bytes(), gzip.compress(SAMPLE.read_bytes(), mtime=0)
    (folder / "x").unlink()
    for number in range(count):
        what, form = rng.choice([*BYTES, "columns edited", "JSON edited"]), rng.choice(["compact", "gzip"])
        path = folder / f"{number}.benchmark"
        same: Callable[[Any], bool] = sane
        if what in BYTES:
            path.write_bytes(BYTES[what](compact if form == "compact" else packed, rng))
            same = partial(equal, known)
        else:
            path.write_bytes(edited_columns(compact, rng) if what == "columns edited" else as_json(edited(plain, rng)))
        tally.run(f"{form if what in BYTES else 'benchmark'} {what}: case {number}", partial(load, path), same)
        path.unlink()
    return tally


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gnubg = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
    player = {"_target_": "raccoon.play.EnginePlayer", "engine": gnubg}
    source = {"player": player, "teacher": gnubg, "games": 10, "shard_games": 5, "concurrent": 5, "name": "fuzz"}
    assert SelfPlayLabels(**source).plan().count == 2
    return generate(source, tmp_path_factory.mktemp("small") / "set", ProcessExecutor(workers=0, progress=False)).folder


def opened(folder: Path) -> tuple[dict[str, Any], bytes]:
    """What is in a set, every row of it decoded."""
    store = PositionStore.open(folder)
    rows = store.rows(np.arange(len(store)))
    store.gather(np.arange(len(store)))
    return dict(store.meta), rows.tobytes()


def rows_changed(folder: Path, meta: Any, rng: random.Random) -> None:
    """Rows changed in a set from before there were digests, with right checksums of the ends."""
    path = folder / "shard-000000.npy"
    rows = np.load(path)
    size = rows.dtype.itemsize
    data = bytearray(rows.tobytes())
    start = rng.randrange(128, len(rows) - 128) * size
    data[start : start + size] = rng.choice([bytes(size), rng.randbytes(size), flipped(bytes(data[start : start + size]), rng)])
    np.save(path, np.frombuffer(bytes(data), rows.dtype))
    del meta["digest"]
    for entry in meta["shards"].values():
        del entry["sha256"]
    (folder / "meta.json").write_text(json.dumps(meta))


def label_sets(count: int, small: Path, folder: Path, seed: int) -> Tally:
    """Open ``count`` label sets with a mutated shard or ``meta.json``."""
    rng, tally, known = random.Random(seed), Tally(), opened(small)
    meta = json.loads((small / "meta.json").read_bytes())
    for number in range(count):
        here = Path(shutil.copytree(small, folder / str(number)))
        what = rng.choice([*BYTES, "meta edited", "meta edited and signed", "rows of an old set"])
        same: Callable[[Any], bool] = known.__eq__
        if what in BYTES:
            path = here / rng.choice(["meta.json", "shard-000001.npy"])
            path.write_bytes(BYTES[what](path.read_bytes(), rng))
            what = f"{path.suffix[1:]} {what}"
        elif what == "rows of an old set":
            rows_changed(here, copy.deepcopy(meta), rng)
            same = bool  # another label cannot be told from the one that was there
        else:
            changed = json.loads(as_json(edited(meta, rng)))
            if what.endswith("signed"):
                changed, same = signed(changed) if isinstance(changed, dict) else changed, bool
            (here / "meta.json").write_bytes(as_json(changed))
        tally.run(f"{what}: case {number}", partial(opened, here), same)
        shutil.rmtree(here)
    return tally


def hold(tally: Tally, count: int) -> None:
    print(dict(sorted(tally.outcomes.items())), f"slowest {tally.slowest:.2f} s")
    assert not tally.faults
    assert tally.slowest < LIMIT_S
    assert sum(tally.outcomes.values()) == count


COUNTS = [60, pytest.param(5_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", COUNTS)
def test_mutated_benchmarks_are_refused_or_usable(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert benchmark_json.read(SAMPLE)
    hold(benchmarks(count, tmp_path, seed=count), count)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", COUNTS)
def test_mutated_label_sets_are_refused_or_hold_what_was_written(
    count: int, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hold(label_sets(count, small, tmp_path, seed=count), count)
    assert not list(tmp_path.iterdir())

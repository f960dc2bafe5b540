"""Opening a set: what is refused, and by which name."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.store import PositionStore, signed
from raccoon.files.locks import writing


@pytest.fixture
def folder(small: PositionStore, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(small.folder, tmp_path / "copy"))


def test_rows_are_numbered_through_the_shards(small: PositionStore) -> None:
    everything = np.concatenate([np.load(path) for path in sorted(small.folder.glob("shard-*.npy"))])
    pick = np.random.default_rng(1).integers(0, len(small), 500)
    assert len(everything) == len(small)
    assert (small.rows(pick) == everything[pick]).all()
    with pytest.raises(RaccoonError, match="asked"):
        small.rows([len(small)])


def test_meta_tells_what_the_rows_are(small: PositionStore) -> None:
    meta = json.loads((small.folder / "meta.json").read_text())
    assert meta["complete"]
    assert meta["rows"] == len(small)
    assert meta["teacher"]["ply"] == 0
    assert meta["seed"] == 1
    assert {"raccoon", "gnubg-nn"} <= meta["versions"].keys()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda shard: shard.write_bytes(b""), "empty, cut short or not a shard"),
        (lambda shard: shard.write_bytes(shard.read_bytes()[:-100]), "cut short"),
        (lambda shard: np.save(shard, np.zeros(5)), "dtype float64"),
        (lambda shard: np.save(shard, np.load(shard)[::-1]), "not the shard that meta.json lists"),
        (lambda shard: shard.write_text("hello"), "not a shard"),
        (lambda shard: shard.unlink(), "missing"),
    ],
    ids=["empty", "truncated", "other-array", "other-rows", "text", "missing"],
)
def test_a_bad_shard_is_refused_by_name(folder: Path, damage, message: str) -> None:  # type: ignore[no-untyped-def]
    damage(folder / "shard-000001.npy")
    with pytest.raises(RaccoonError, match=message) as caught:
        PositionStore.open(folder)
    assert "shard-000001.npy" in str(caught.value)


def test_a_shard_from_elsewhere_is_refused(folder: Path) -> None:
    shutil.copy(folder / "shard-000000.npy", folder / "shard-000009.npy")
    with pytest.raises(RaccoonError, match=r"shard-000009.npy: meta.json does not list"):
        PositionStore.open(folder)


def test_an_incomplete_set_is_refused_unless_asked_for(folder: Path) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    meta["complete"] = False
    del meta["shards"]["2"]
    (folder / "meta.json").write_text(json.dumps(signed(meta)))
    with pytest.raises(RaccoonError, match="incomplete"):
        PositionStore.open(folder)
    assert len(PositionStore.open(folder, partial=True).indices) == 2
    assert len(PositionStore.open(folder, shards=2).indices) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "no meta.json"), ("{", "JSON"), ("[]", "not the meta.json"), ('{"format": "raccoon-positions", "version": 9}', "version 9")],
)
def test_what_is_not_a_set_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "meta.json").write_text(text)
    with pytest.raises(RaccoonError, match=message):
        PositionStore.open(tmp_path)


def test_a_folder_that_is_being_written_is_refused(folder: Path) -> None:
    with writing(folder):
        with pytest.raises(RaccoonError, match=f"being written by process {os.getpid()} on "):
            PositionStore.open(folder)
        assert len(PositionStore.open(folder, partial=True)) > 0
    assert len(PositionStore.open(folder)) > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"shards": None}, {"shards": [1]}, {"shards": {"a": {"rows": 1, "sum": 1}}}, {"shards": {"-1": {"rows": 1, "sum": 1}}},
        {"shards": {"0": {}}}, {"shards": {"0": 5}}, {"shards": {"0": {"rows": "1", "sum": 1}}}, {"fingerprint": None}, {"complete": "no"},
        {"shards": {"00": {"rows": 1, "sum": 1}}}, {"shards": {"1" * 20: {"rows": 1, "sum": 1}}},
        {"shards": {"0": {"rows": True, "sum": 1}}},
        {"shards": {"0": {"rows": 2**70, "sum": 1}}}, {"shards": {"0": {"rows": 1, "sum": 1, "sha256": 5}}},
        {"digest": "0" * 64}, {"seed": 2},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_listing_is_named(folder: Path, changes: dict[str, object]) -> None:
    meta = folder / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | changes))
    for sign in (False, True):
        if sign and {"shards", "fingerprint", "complete"}.isdisjoint(changes):
            return  # signed again, it is right
        meta.write_text(json.dumps(signed(json.loads(meta.read_text())))) if sign else None
        for partial in (False, True):
            with pytest.raises(RaccoonError, match=r"meta\.json: damaged"):
                PositionStore.open(folder, partial=partial)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": ["raccoon-positions"]}', "not the meta.json of"), ('{"format": {}}', "not the meta.json of"),
        ('{"format": "raccoon-positions", "version": true}', "version True"),
        ('{"format": "raccoon-positions", "version": 1.0}', "version 1.0"),
        ('{"format": "raccoon-positions", "version": 1' + "0" * 5000 + "}", "not readable as JSON"), ("[" * 10**5, "nested too deeply"),
        ('{"a": 1, "a": 2}', "given twice"), ('{"a": "\\ud800"}', "surrogates not allowed"),
        ('{"' + "9" * 5000 + '": 1}', "not the meta.json of"),
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_a_meta_that_is_read_in_two_ways_or_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "meta.json").write_text(text)
    with pytest.raises(RaccoonError, match=message) as caught:
        PositionStore.open(tmp_path)
    assert len(str(caught.value)) < 400


def test_pipes_are_no_files_of_a_set(folder: Path) -> None:
    for name in ("shard-000001.npy", "meta.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(RaccoonError, match=rf"{name}: .*no regular file"):
            PositionStore.open(folder)


def _without_digests(folder: Path) -> None:
    """Make the set one of an older Raccoon."""
    meta = json.loads((folder / "meta.json").read_text())
    del meta["digest"]
    for entry in meta["shards"].values():
        del entry["sha256"]
    (folder / "meta.json").write_text(json.dumps(meta))


def _change(folder: Path, field: str, value: object, row: int = 200) -> None:
    """Another value in the middle of a shard, where the checksum of its ends does not look."""
    path = folder / "shard-000001.npy"
    rows = np.load(path)
    assert 128 < row < len(rows) - 128
    rows[field][row] = value
    np.save(path, rows)


@pytest.mark.parametrize("old", [False, True], ids=["digest", "before digests"])
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("key", 0, "finished game"),
        ("key", 255, "is no board"),
        ("probs", [0, 9000, 0, 0, 0], "not nested"),
        ("provenance", 7, "unknown origin"),
    ],
)
def test_a_changed_row_in_the_middle_is_found(folder: Path, old: bool, field: str, value: object, message: str) -> None:
    _change(folder, field, value)
    if old:
        _without_digests(folder)
    with pytest.raises(RaccoonError, match=rf"shard-000001\.npy: .*{message if old else 'not the shard that meta.json lists'}"):
        PositionStore.open(folder)


def test_a_set_from_before_digests_opens(folder: Path, small: PositionStore) -> None:
    _without_digests(folder)
    old = PositionStore.open(folder)
    assert (old.rows(np.arange(len(old))) == small.rows(np.arange(len(small)))).all()


@pytest.mark.parametrize("content", [b"PK\x03\x04zzz", b"PK"])
def test_a_shard_that_looks_like_an_archive_is_named(folder: Path, content: bytes) -> None:
    (folder / "shard-000000.npy").write_bytes(content)
    with pytest.raises(RaccoonError, match=r"shard-000000\.npy"):
        PositionStore.open(folder)


def test_a_shard_that_is_an_archive_is_named(folder: Path) -> None:
    with open(folder / "shard-000000.npy", "wb") as handle:
        np.savez(handle, rows=np.zeros(3))
    with pytest.raises(RaccoonError, match=r"shard-000000\.npy: empty, cut short or not a shard"):
        PositionStore.open(folder)


@pytest.mark.parametrize("pick", [[0.5], ["a"], None, [[0]], [True]], ids=str)
def test_rows_are_picked_by_whole_numbers(small: PositionStore, pick: object) -> None:
    with pytest.raises(RaccoonError, match="whole numbers"):
        small.gather(pick)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("shards", [0, -1, True])
def test_a_set_is_opened_with_one_shard_or_more(folder: Path, shards: int) -> None:
    with pytest.raises(RaccoonError, match="shards="):
        PositionStore.open(folder, shards=shards)

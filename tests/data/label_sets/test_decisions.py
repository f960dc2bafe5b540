"""Sets of decisions: what a row holds, how a set is made, finished and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from raccoon.contracts import RaccoonError, SearchResult
from raccoon.data.datamodule import PositionData
from raccoon.data.label_sets.decisions import Decisions, _one_each
from raccoon.data.label_sets.policy_rows import DECISION_ROW, KEPT, POLICY_ROW, JointBatch, check_decisions, pack_policies, unpack_policies
from raccoon.data.label_sets.store import DECISIONS, PositionStore
from raccoon.data.label_sets.writer import fill
from raccoon.data.loader import unpacked
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START
from raccoon.env.half_moves import apply_actions, legal_mask
from raccoon.env.movegen import enumerate_turns
from raccoon.executor import ProcessExecutor
from raccoon.rng import hash64
from raccoon.search import child_values
from raccoon.search.policy_targets import HalfTargets, half_targets, soft_shares
from raccoon.testing import check_data

GNUBG = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
PLAYER = {"_target_": "raccoon.play.EnginePlayer", "engine": GNUBG}


def stored(folder: Path) -> dict[str, Any]:
    return {"_target_": "raccoon.data.Stored", "folder": str(folder)}


@pytest.fixture(scope="module")
def decided(small: PositionStore, tmp_path_factory: pytest.TempPathFactory, inline: ProcessExecutor) -> PositionStore:
    folder = tmp_path_factory.mktemp("decided") / "set"
    return fill(Decisions(stored(small.folder), PLAYER).plan(), folder, inline)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("key", 0, "finished"),
        ("dice", 7, "no decision"),
        ("mid", 2, "no decision"),
        ("ids", 2000, "no decision"),
        ("shares", 0, "no decision"),
    ],
)
def test_rows_that_nobody_wrote_are_found_without_a_digest(decided: PositionStore, field: str, value: int, message: str) -> None:
    rows = decided.shard(0).copy()
    check_decisions(rows)
    rows[field][5] = value
    with pytest.raises(RaccoonError, match=rf"row 5 .*{message}"):
        check_decisions(rows)


def test_a_row_comes_back_with_its_largest_shares() -> None:
    rng = np.random.default_rng(3)
    boards, dice = np.repeat(START[None], 2, axis=0), np.array([[3, 1], [5, 5]])
    legal = [np.flatnonzero(row) for row in legal_mask(boards, dice)]
    shares = [rng.random(len(ids)) for ids in legal]
    offsets = np.append(0, np.cumsum([len(ids) for ids in legal]))
    rows = pack_policies(boards, dice, None, np.array([7, 9]), offsets, np.concatenate(legal), np.concatenate(shares))
    assert rows.dtype == POLICY_ROW
    batch = unpack_policies(rows)
    assert torch.equal(batch.boards, torch.from_numpy(boards))
    assert batch.dice.tolist() == [[1, 3], [5, 5]]  # lower die first, as the engine asks
    assert not batch.mid.any()
    for n, (ids, wanted) in enumerate(zip(legal, shares, strict=True)):
        best = np.argsort(-wanted)[:KEPT]
        dense, expected = np.zeros(1352), np.zeros(1352)
        np.add.at(dense, batch.ids[n].numpy(), batch.shares[n].numpy())
        expected[ids[best]] = wanted[best] / wanted[best].sum()
        np.testing.assert_allclose(dense, expected, atol=2e-5)


@pytest.mark.parametrize(("ids", "shares"), [([0], [0.0]), ([0], [-1.0]), ([0], [np.nan]), ([1352], [1.0]), ([], [])])
def test_bad_targets_are_refused(ids: Any, shares: Any) -> None:
    with pytest.raises(RaccoonError, match="policy target of row 0"):
        pack_policies(START[None], np.array([[3, 1]]), None, np.zeros(1), np.array([0, len(ids)]), ids, shares)


def test_a_share_on_an_illegal_action_is_refused() -> None:
    rows = pack_policies(START[None], np.array([[3, 1]]), None, np.zeros(1), np.array([0, 1]), np.array([0]), np.array([1.0]))
    with pytest.raises(RaccoonError, match="illegal action"):
        unpack_policies(rows)


def test_the_likeliest_play_is_the_teachers_best(decided: PositionStore) -> None:
    rows = np.concatenate([decided.shard(i) for i in range(3)])
    assert rows.dtype == DECISION_ROW
    assert decided.meta["format"] == DECISIONS
    batch = unpack_policies(rows[(rows["mid"] == 0) & (rows["dice"][:, 0] != rows["dice"][:, 1])][:200])
    boards, dice = batch.boards.numpy(), batch.dice.numpy()
    turns = enumerate_turns(boards, dice)
    values = child_values(turns, GnubgEngine(ply=0)).values
    best = np.maximum.reduceat(values, turns.offsets[:-1])
    picked = batch.ids.gather(1, batch.shares.argmax(dim=1, keepdim=True))[:, 0].numpy()
    after, again = apply_actions(boards, dice, picked)
    assert not again.any()
    rows_of = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    played = (turns.children == after[rows_of]).all(axis=(1, 2))
    np.testing.assert_array_equal(values[played], best)


def test_labels_belong_to_the_first_halves(small: PositionStore, decided: PositionStore) -> None:
    rows = decided.shard(0)
    batch = unpacked(rows)
    assert isinstance(batch, JointBatch)
    boards, probs6 = unpacked(small.shard(0))[:2]
    assert torch.equal(batch.boards, boards)
    torch.testing.assert_close(batch.probs6, probs6, rtol=0, atol=0)
    second = batch.policy.mid
    assert 0.05 < second.float().mean() < 0.17  # a sixth of the rolls are doubles, most of which go on
    assert (batch.policy.legal[second].sum(dim=1) > 1).all()


def test_sets_of_decisions_pass_the_check_of_data(decided: PositionStore) -> None:
    data = PositionData(folders=[str(decided.folder)], batch_size=32, holdout=0.3)
    assert data.gives == "decisions"
    check_data(data)


def test_the_second_half_that_is_asked_for_is_drawn_by_the_share_of_the_first() -> None:
    count = 600
    turns = enumerate_turns(np.repeat(START[None], count, axis=0), np.repeat([[2, 2]], count, axis=0))
    found = SearchResult(np.tile(np.linspace(0.0, 0.02, int(turns.offsets[1])), count), np.ones(len(turns.children), bool), 0)
    first, second = half_targets(turns, soft_shares(found, turns.offsets, 6, 0.02))
    drawn = _one_each(first, second, hash64(1, "test", np.arange(count)))
    wanted = first.shares[: first.offsets[1]]
    halves = second.boards[: (wanted > 0).sum()]
    times = np.array([(drawn.boards == half).all(axis=(1, 2)).sum() for half in halves])
    assert len(times) > 2
    assert drawn.row.tolist() == list(range(count))
    assert chisquare(times, count * wanted[wanted > 0]).pvalue > 1e-4


def test_second_halves_say_which_first_half_is_before_them() -> None:
    """So that some of them may be left out: those behind the likeliest first half here, and the rest is drawn by its own share."""
    count = 400
    turns = enumerate_turns(np.repeat(START[None], count, axis=0), np.repeat([[2, 2]], count, axis=0))
    found = SearchResult(np.tile(np.linspace(0.0, 0.02, int(turns.offsets[1])), count), np.ones(len(turns.children), bool), 0)
    first, second = half_targets(turns, soft_shares(found, turns.offsets, 6, 0.02))
    assert second.entry is not None
    assert np.array_equal(second.row, np.searchsorted(first.offsets, second.entry, side="right") - 1)
    share = first.shares[second.entry]
    likeliest = share == np.maximum.reduceat(share, np.searchsorted(second.row, np.arange(count)))[second.row]
    kept, entries = ~likeliest, np.repeat(~likeliest, np.diff(second.offsets))
    offsets = np.append(0, np.cumsum(np.diff(second.offsets)[kept]))
    parts = (second.boards[kept], second.row[kept], offsets, second.ids[entries], second.shares[entries], second.again[entries])
    drawn = _one_each(first, HalfTargets(*parts, second.entry[kept]), hash64(1, "test", np.arange(count)))
    assert drawn.entry is not None
    assert len(drawn.row) == count
    within = second.entry[kept & (second.row == 0)]
    times = [(drawn.entry % first.offsets[1] == entry).sum() for entry in within]
    assert chisquare(times, count * first.shares[within] / first.shares[within].sum()).pvalue > 1e-4


def test_shards_do_not_depend_on_how_they_are_run(small: PositionStore, decided: PositionStore, tmp_path: Path, inline) -> None:
    plan = Decisions(stored(small.folder), PLAYER).plan()
    few = Decisions({**stored(small.folder), "shards": 2}, PLAYER).plan()
    folder = tmp_path / "set"
    fill(few, folder, inline)
    again = plan.shard(plan.job, 1)["rows"]
    assert np.array_equal(again, decided.shard(1))
    assert np.array_equal(PositionStore.open(folder).shard(1), decided.shard(1))


def test_a_player_without_a_search_gives_the_play_it_chooses(small: PositionStore) -> None:
    class Last:
        name = "last"

        def choose(self, turns):
            return np.diff(turns.offsets) - 1

    from raccoon.data.label_sets.decisions import decide

    rows = decide(small.shard(0)[:64], Last(), 6, 0.02, 1)  # type: ignore[arg-type]
    batch = unpack_policies(rows)
    simple = (~batch.mid & (batch.dice[:, 0] != batch.dice[:, 1])).numpy()
    assert (batch.shares[torch.from_numpy(simple)].max(dim=1).values == 1).all()
    turns = enumerate_turns(batch.boards.numpy()[simple], batch.dice.numpy()[simple])
    after, _ = apply_actions(turns.boards, turns.dice, batch.ids[torch.from_numpy(simple)][:, 0].numpy())
    np.testing.assert_array_equal(after, turns.children[turns.offsets[1:] - 1])


def test_a_teacher_that_cannot_be_is_refused_before_positions_are_made(small: PositionStore) -> None:
    engine = {"_target_": "raccoon.engine.NetEngine.load", "path": "none.pt"}
    plan = Decisions(stored(small.folder), {"_target_": "raccoon.play.EnginePlayer", "engine": engine}).plan()
    with pytest.raises(RaccoonError, match=r"none\.pt"):
        plan.shard({**plan.job, "positions": None}, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"top": 0}, r"data\.source\.top=0"),
        ({"temperature": 0.0}, r"data\.source\.temperature=0"),
        ({"teacher": {}}, r"data\.source\.teacher"),
        ({"positions": {}}, r"data\.source\.positions"),
    ],
)
def test_bad_settings_are_named(small: PositionStore, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        Decisions(**{"positions": stored(small.folder), "teacher": PLAYER, **settings})


def test_decisions_have_no_siblings(decided: PositionStore) -> None:
    with pytest.raises(RaccoonError, match=r"data\.siblings=true.*decisions"):
        PositionData(folders=str(decided.folder), siblings=True).setup()


def test_decisions_are_no_positions(decided: PositionStore) -> None:
    with pytest.raises(RaccoonError, match="raccoon-decisions"):
        Decisions(stored(decided.folder), PLAYER).plan()

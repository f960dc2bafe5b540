"""Finding runs: at any depth, each once, under names that tell them apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raccoon.contracts import RaccoonError
from raccoon.dashboard import find_runs


def test_a_run_a_sweep_and_its_order(make_run, tmp_path: Path) -> None:
    for job in (10, 2, 0):
        make_run(tmp_path / "sweep" / str(job))
    make_run(tmp_path / "alone")
    make_run(tmp_path / "sweep" / ".hidden")
    (tmp_path / "sweep" / "empty").mkdir()
    assert [*find_runs([tmp_path / "sweep", tmp_path / "alone"])] == ["sweep/0", "sweep/2", "sweep/10", "alone"]


def test_what_is_inside_a_run_is_no_run_of_its_own(make_training, tmp_path: Path) -> None:
    make_training(tmp_path / "run")
    assert [*find_runs([tmp_path])] == [f"{tmp_path.name}/run"]


def test_a_run_named_twice_is_one(make_run, tmp_path: Path) -> None:
    make_run(tmp_path / "sweep" / "0")
    assert [*find_runs([tmp_path / "sweep", tmp_path / "sweep" / "0", tmp_path / "sweep"])] == ["sweep/0"]


def test_runs_of_one_name_are_told_apart_by_their_parents(make_run, tmp_path: Path) -> None:
    folders = [make_run(tmp_path / place / "run") for place in ("x/a", "x/b", "y/a")]
    make_run(tmp_path / "other")
    named = find_runs([*folders, tmp_path / "other"])
    assert [*named] == ["x/a/run", "b/run", "y/a/run", "other"]
    assert [*named.values()] == [*folders, tmp_path / "other"]


def test_the_folder_where_one_stands(make_run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "sweep" / "0")
    monkeypatch.chdir(tmp_path / "sweep" / "0")
    assert [*find_runs(["."])] == ["0"]
    assert [*find_runs([".."])] == ["sweep/0"]


def test_links_are_not_followed(make_run, tmp_path: Path) -> None:
    make_run(tmp_path / "sweep" / "0")
    (tmp_path / "sweep" / "again").symlink_to(tmp_path / "sweep")
    assert [*find_runs([tmp_path / "sweep"])] == ["sweep/0"]


@pytest.mark.parametrize(("make", "reason"), [(Path.touch, "no such folder"), (Path.mkdir, "holds no run"), (None, "no such folder")])
def test_a_path_without_runs_is_named(make, reason: str, tmp_path: Path) -> None:
    if make:
        make(tmp_path / "here")
    with pytest.raises(RaccoonError, match=f"{re.escape(str(tmp_path / 'here'))}: {reason}"):
        find_runs([tmp_path / "here"])

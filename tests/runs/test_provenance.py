"""Provenance: the state of the repository that the code is in, kept beside what was told before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from raccoon.contracts import RaccoonError
from raccoon.runs import provenance


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only source file of a repository on the branch ``work``."""
    for name in ("GIT_DIR", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    source = tmp_path / "package.py"
    source.write_text("one")
    git(tmp_path, "init", "-q", "-b", "work")
    return source


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def commit(source: Path) -> str:
    git(source.parent, "add", source.name)
    git(source.parent, "commit", "-q", "-m", "x")
    return git(source.parent, "rev-parse", "HEAD")


def test_commit_branch_and_changes(repository: Path) -> None:
    head = commit(repository)
    assert provenance.git_state(repository) == {"commit": head, "branch": "work", "dirty": False}
    (repository.parent / "untracked").touch()
    assert provenance.git_state(repository) == {"commit": head, "branch": "work", "dirty": False}
    repository.write_text("two")
    assert provenance.git_state(repository) == {"commit": head, "branch": "work", "dirty": True}


def test_on_no_branch(repository: Path) -> None:
    git(repository.parent, "checkout", "-q", commit(repository))
    state = provenance.git_state(repository)
    assert state is not None
    assert state["branch"] == ""


def test_code_that_is_not_in_the_repository_has_no_state(repository: Path) -> None:
    assert provenance.git_state(repository) is None  # not even a commit
    commit(repository)
    (installed := repository.parent / "site.py").touch()
    assert provenance.git_state(installed) is None


def test_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repository)
    monkeypatch.setenv("PATH", "")
    assert provenance.git_state(repository) is None


def test_what_was_told_stays(tmp_path: Path) -> None:
    provenance.record(tmp_path, data={"sets": []})
    known = provenance.record(tmp_path)
    assert known["data"] == {"sets": []}
    assert set(known) == {"git", "versions", "data"}
    assert "raccoon" in known["versions"]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / provenance.FILE).write_text("{")
    with pytest.raises(RaccoonError, match=r"provenance\.json"):
        provenance.record(tmp_path)

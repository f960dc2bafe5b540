"""Where the numbers of a run come from: the state of the code's repository, versions, and what was learned from.

Kept as ``provenance.json`` in the run folder: ``{git: {commit, branch, dirty}, versions: {package: version}, data: {...}}``;
``git`` is null where the code is in no repository, or git is not installed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import raccoon
from raccoon.files import read_json, write_json
from raccoon.versions import RECORDED, installed

__all__ = ["FILE", "git_state", "record"]

FILE = "provenance.json"
_SECONDS = 10.0


def record(folder: Path, **parts: Any) -> dict[str, Any]:
    """Write what is known into ``folder`` and return it: the state of the code now, and ``parts`` (plain data), which stay
    until they are written again. Raises RaccoonError when the file cannot be written or read."""
    path = folder / FILE
    before = read_json(path) if path.is_file() else {}
    known = dict(before) if isinstance(before, Mapping) else {}
    known |= {"git": git_state(), "versions": installed(*RECORDED), **parts}
    write_json(path, known)
    return known


def git_state(source: Path | None = None) -> dict[str, Any] | None:
    """``{commit, branch, dirty}`` of the repository that the file ``source`` (default: this package's) is tracked in, else None.

    ``dirty``: a tracked file differs from the commit. ``branch`` is empty where HEAD is on none.
    """
    source = Path(raccoon.__file__) if source is None else source
    if _git(source, "ls-files", "--error-unmatch", source.name) is None:
        return None
    commit = _git(source, "rev-parse", "HEAD")
    if not commit:  # a repository without commits
        return None
    changes = _git(source, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "branch": _git(source, "branch", "--show-current") or "", "dirty": bool(changes)}


def _git(source: Path, *arguments: str) -> str | None:
    """The output of git in the folder of ``source``, None when it fails."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(source.parent), *arguments],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

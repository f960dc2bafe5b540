"""The reports of the arenas stay as they are: figures, tables, notes and games, by the names that evaluators have or once had.

``tests/golden/arenas.json`` was written by ``python tests/eval/arena/test_reports.py`` before the arenas became one class.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.executor import ProcessExecutor
from raccoon.report.report_files import to_dict

GOLDEN = Path(__file__).parents[2] / "golden" / "arenas.json"
SMALL = {"games": 4, "shard_games": 3}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "arena": ("arena", SMALL),
    "arena, luck off": ("arena", {**SMALL, "luck": "off"}),
    "vr_arena": ("vr_arena", {**SMALL, "concurrent": 2}),
    "vr_arena, stratified, recorded": ("vr_arena", {**SMALL, "openings": "stratified", "luck": False, "record": True}),
    "vr_arena, capped": ("vr_arena", {"games": 4, "turn_cap": 50}),
    "vr_arena, short matches": ("vr_arena", {"blocks": {"count": 2, "games": 2}}),
    "gnubg_harness": ("gnubg_harness", {**SMALL, "level": "casual"}),
    "cube_arena": ("cube_arena", SMALL),
    "cube_arena, jacoby, beavers": ("cube_arena", {"games": 3, "jacoby": True, "beavers": True, "luck": "cubeless"}),
    "cube_arena, luck off": ("cube_arena", {"games": 2, "luck": False, "cap": 2}),
    "cube_arena, matches": ("cube_arena", {"games": 2, "match_length": 2, "record": True}),
    "doubles": ("doubles", {"games": 3, "shard_games": 2}),
}
OLD = {
    "arena": "raccoon.eval.arena.Arena",
    "vr_arena": "raccoon.eval.vr_arena.VRArena",
    "gnubg_harness": "raccoon.eval.gnubg_harness.GnubgHarness",
    "cube_arena": "raccoon.eval.cube_arena.CubeArena",
    "doubles": "raccoon.eval.doubles.DoublesConcession",
}


@cache
def players() -> tuple[dict[str, Any], dict[str, Any]]:
    config = plain(compose("evaluate", ["player=gnubg0", "opponent=gnubg0", "opponent.name=live", "cube@opponent.cube=live"]))
    return config["player"], config["opponent"]


def result(node: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the evaluator ``node`` reports of GNUBG against GNUBG with a live cube; times, versions and drawings left out."""
    report = build(node, "evaluator", executor=ProcessExecutor(0, progress=False)).run(*players(), folder, 5)
    found = {**to_dict(report), "plots": sorted(report.plots)}
    found["figures"] = {name: figure for name, figure in found["figures"].items() if "second" not in name}
    for name in ("seconds", "versions"):
        del found[name]
    if "games.csv" in found["files"]:
        with (folder / "games.csv").open(encoding="utf-8") as handle:
            found["games"] = [",".join(row) for row in csv.reader(handle)]
    texts = b"".join(path.read_bytes() for path in sorted(folder.glob("matches/*.mat")))
    return found | ({"matches": hashlib.sha256(texts).hexdigest()} if texts else {})


@cache
def golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def rounded(value: Any) -> Any:
    """To twelve digits: vector units of other processors add up in another order."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def composed(case: str) -> dict[str, Any]:
    evaluator, options = CASES[case]
    return {**plain(compose("evaluate", [f"evaluator={evaluator}"]).evaluator), **options}


@pytest.mark.parametrize("case", CASES)
def test_a_report_is_as_it_was(case: str, tmp_path: Path) -> None:
    assert rounded(result(composed(case), tmp_path)) == rounded(golden()[case])


@pytest.mark.parametrize("case", ["arena", "vr_arena", "gnubg_harness", "cube_arena", "doubles"])
def test_an_old_target_measures_as_it_did(case: str, tmp_path: Path) -> None:
    evaluator, options = CASES[case]
    assert rounded(result({"_target_": OLD[evaluator], **options}, tmp_path)) == rounded(golden()[case])


def main() -> None:
    """Write the golden file."""
    found = {}
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found[case] = result(composed(case), Path(folder))
    GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} reports in {GOLDEN}\n")


if __name__ == "__main__":
    main()

"""The page: one file without a network, in which whatever a run wrote is text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli import dashboard
from raccoon.contracts import RaccoonError
from raccoon.dashboard import page, read_runs

HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Elements(HTMLParser):
    """Start tags with their attributes, and whether every tag is closed where it should be."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parsed = Elements(text)
    assert parsed.open == []
    return parsed.found


def made(*folders: Path) -> str:
    return page(read_runs(folders), folders[0].parent)


def assert_alone(text: str) -> None:
    """Nothing in the page is fetched, and no script but its own is in it."""
    found = elements(text)
    for tag, attributes in found:
        assert tag not in ("iframe", "object", "embed", "base", "form")
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, attributes)
            if name in ("src", "srcset", "data", "poster") or (tag == "link" and name == "href"):
                assert (value or "").startswith("data:"), (tag, attributes)
            if tag == "a" and name == "href":
                assert not re.match(r"\s*[a-z]+:|//", value or ""), value
    assert sum(tag == "script" for tag, _ in found) == 1
    assert not re.search(r"@import|url\(|https?://", text)
    policy = next(attributes["content"] for tag, attributes in found if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy


def test_the_page_needs_no_network(make_training, tmp_path: Path) -> None:
    folder = make_training(tmp_path / "run")
    (folder / "calibration.png").write_bytes(PIXEL)
    text = made(folder)
    assert_alone(text)
    assert "data:image/png;base64," in text
    assert "data:image" not in page(read_runs([folder]), tmp_path, images=False)


def hostile_run(make_run: Any, make_report: Any, folder: Path) -> Path:
    """A run that has markup wherever a run has text."""
    cells = [{HOSTILE: HOSTILE, "player": HOSTILE, "PR": 1.0 + at, "s/decision": 1.0 + at, "evaluations/decision": 5.0} for at in (0, 1)]
    result = make_report(player=HOSTILE, opponent=HOSTILE, evaluator=HOSTILE, notes=[HOSTILE], tables={HOSTILE: cells})
    result["figures"][f"{HOSTILE}/pr"] = result["figures"].pop("bgsage_pr/pr")
    result["versions"] = {HOSTILE: HOSTILE}
    rows = [{"epoch": epoch, HOSTILE: 1.0 / epoch} for epoch in (1, 2)]
    config = {HOSTILE: HOSTILE, "trainer": {"_target_": HOSTILE, "lr": folder.name}}
    provenance = {"git": {"commit": "<b>", "dirty": True}, "data": {HOSTILE: [{"a": HOSTILE}]}}
    make_run(folder, "train", "failed", rows, result, config, provenance, error=HOSTILE, started=HOSTILE)
    (folder / '"><b>&.png').write_bytes(PIXEL)
    return folder


def test_what_a_run_wrote_is_text(make_run, make_report, tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "")
    folders = [hostile_run(make_run, make_report, tmp_path / f"{name}{number}") for number in (1, 2)]
    text = made(*folders)
    assert_alone(text)
    assert "alert(1)" in text
    assert not {tag for tag, _ in elements(text)} & {"b"}
    assert all(tag != "img" or "onerror" not in attributes for tag, attributes in elements(text))


def test_runs_of_one_name_are_two_rows_and_two_curves(make_training, tmp_path: Path) -> None:
    text = made(make_training(tmp_path / "one" / "run"), make_training(tmp_path / "two" / "run"))
    assert str(tmp_path) not in text
    legend = [attributes["data-run"] for tag, attributes in elements(text) if tag == "button" and "data-run" in attributes]
    assert legend == ["one/run", "two/run"]


def test_tables_settings_figures_and_provenance_are_in_it(make_training, tmp_path: Path) -> None:
    text = made(make_training(tmp_path / "a", lr=0.001), make_training(tmp_path / "b", lr=0.002))
    for shown in ("vr_arena/outcomes", "0.1353 [0.12, 0.15]", "scored with the best weights", "data.folders[0].rows", "git.commit"):
        assert shown in text
    differ = text.split('id="config"')[1].split("</section>")[0]
    assert "trainer.lr" in differ
    assert "trainer.max_epochs" not in differ
    assert "trainer.max_epochs" in text.split('id="figures"')[1]


def test_a_long_training_makes_a_small_page(make_run, make_epochs, make_report, tmp_path: Path) -> None:
    rows = make_epochs(4_000)
    folder = make_run(tmp_path / "run", rows=rows, result=make_report(tables={"epochs": rows}))
    text = made(folder)
    assert len(text) < 2_000_000
    assert "The first 100 of 4,000 rows" in text


def test_no_runs_that_could_be_read(make_run, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", state=None)
    (folder / "report.json").write_text("{")
    text = made(folder)
    assert_alone(text)
    assert "report.json: not readable as JSON" in text


def test_links_are_relative_and_lead_to_the_files(make_training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_training(tmp_path / "runs" / "a #1?")
    monkeypatch.chdir(tmp_path)
    dashboard.run(["runs", "--out", "site/page.html"])
    links = [attributes["href"] or "" for tag, attributes in elements(Path("site/page.html").read_text()) if tag == "a"]
    assert [link for link in links if not link.startswith("#")] == [
        f"../runs/a%20%231%3F/{name}" for name in ("config.yaml", "metrics.csv")
    ]


def test_the_command_tells_what_it_wrote(make_run, make_training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_training(tmp_path / "a")
    make_run(tmp_path / "b", state="running")
    monkeypatch.chdir(tmp_path)
    assert re.fullmatch(r"dashboard: dashboard\.html \(2 runs, \d+ kB\); not done: b \(stopped\)", dashboard.run(["a", "b"]))
    assert re.fullmatch(r"dashboard: x\.html \(1 run, \d+ kB\)", dashboard.run(["a", "--no-images", "--out", "x.html"]))


def test_a_place_that_cannot_be_written_is_named(make_run, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a")
    with pytest.raises(RaccoonError, match="is a folder; name the HTML file"):
        dashboard.run([str(folder), "--out", str(tmp_path)])
    (tmp_path / "file").touch()
    with pytest.raises(RaccoonError, match="cannot be written"):
        dashboard.run([str(folder), "--out", str(tmp_path / "file" / "page.html")])

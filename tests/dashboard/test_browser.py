"""The page in a browser of this machine: it draws, hides, sorts and opens, asks for nothing and complains about nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli import dashboard

Watch = Callable[[Any], tuple[list[str], list[str]]]
HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"


@pytest.fixture
def show(browser: Any, watch: Watch, tmp_path: Path) -> Iterator[Any]:
    """``show(*folders)``: the dashboard of the runs, opened. At the end: no other request, no error, no message of the console."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    tab = context.new_page()
    requests, complaints = watch(tab)

    def opened(*folders: Path) -> Any:
        out = tmp_path / "dashboard.html"
        dashboard.run([*map(str, folders), "--out", str(out)])
        tab.goto(out.as_uri(), timeout=60_000)
        return tab

    yield opened
    assert [url for url in requests if not url.startswith("data:")] == [(tmp_path / "dashboard.html").as_uri()]
    assert complaints == []
    context.close()


def chart(tab: Any, title: str) -> Any:
    return tab.locator("figure.chart").filter(has=tab.get_by_text(title, exact=True))


def test_panels_are_drawn(show, make_training, tmp_path: Path) -> None:
    tab = show(make_training(tmp_path / "a", pr=20.0), make_training(tmp_path / "b", pr=30.0))
    assert tab.title() == "Raccoon: 2 runs"
    assert [each.get_attribute("id") for each in tab.locator("section").all()] == [
        *("runs", "pr", "vr", "losses", "selfplay", "throughput", "config", "figures", "provenance"),
    ]
    for title, points in (("PR on the benchmark", 5), ("Points per game while training", 5), ("train/loss", 9)):
        drawn = chart(tab, title)
        for run in ("a", "b"):
            trace = drawn.locator(f'.trace[data-run="{run}"]')
            assert trace.locator("circle").count() == points, title
            assert len(trace.locator("polyline").get_attribute("points").split()) == points
            box = trace.locator("polyline").bounding_box()
            assert box["width"] > 200
            assert box["height"] > 100
    assert chart(tab, "Points per game while training").locator("line.bar").count() == 10
    lines = [chart(tab, "train/loss").locator(f'.trace[data-run="{run}"] polyline') for run in "ab"]
    colours = [line.evaluate("line => getComputedStyle(line).stroke") for line in lines]
    assert colours[0] != colours[1]


def test_the_legend_hides_a_run_everywhere(show, make_training, tmp_path: Path) -> None:
    tab = show(make_training(tmp_path / "a"), make_training(tmp_path / "b"))
    button = tab.locator('#legend button[data-run="a"]')
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert all(not trace.is_visible() for trace in tab.locator('.trace[data-run="a"]').all())
    assert all(trace.is_visible() for trace in tab.locator('.trace[data-run="b"]').all())
    button.click()
    assert tab.locator('.trace[data-run="a"]').first.is_visible()


def test_tables_are_sorted_by_their_numbers(show, make_training, tmp_path: Path) -> None:
    tab = show(*(make_training(tmp_path / name, pr=pr) for name, pr in (("a", 90.0), ("b", 9.0), ("c", 180.0))))
    names = tab.locator("#runs tbody tr td:first-child")
    assert names.all_inner_texts() == ["a", "b", "c"]
    by_pr = tab.locator("#runs th button", has_text="PR")
    by_pr.click()
    assert names.all_inner_texts() == ["b", "a", "c"]
    by_pr.click()
    assert names.all_inner_texts() == ["c", "a", "b"]


def test_a_link_opens_the_figures_and_tables_of_a_run(show, make_training, tmp_path: Path) -> None:
    tab = show(make_training(tmp_path / "a"))
    outcome = tab.get_by_text("gammon won")
    assert not outcome.is_visible()
    tab.locator("#runs a").first.click()
    outcome.wait_for(state="visible", timeout=10_000)
    assert tab.get_by_text("0.1353 [0.12, 0.15]").is_visible()


def test_a_point_tells_its_numbers(show, make_training, tmp_path: Path) -> None:
    tab = show(make_training(tmp_path / "a"))
    chart(tab, "PR on the benchmark").locator("circle").first.hover()
    assert tab.locator("#tip").inner_text().split("\n") == ["a", "epoch 1: 20"]


def test_what_a_run_wrote_is_not_run(show, make_run, make_report, tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "∕")
    result = make_report(player=HOSTILE, notes=[HOSTILE], tables={HOSTILE: [{HOSTILE: HOSTILE}]})
    folder = make_run(tmp_path / name, "train", "failed", [{"epoch": 1, HOSTILE: 1.0}], result, {HOSTILE: HOSTILE}, error=HOSTILE)
    tab = show(folder)
    tab.wait_for_timeout(200)
    assert tab.title() == "Raccoon: 1 run"
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 1
    assert chart(tab, HOSTILE).locator("circle").count() == 1


def test_it_fits_a_phone(show, make_training, tmp_path: Path) -> None:
    tab = show(make_training(tmp_path / "a"))
    tab.set_viewport_size({"width": 390, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390

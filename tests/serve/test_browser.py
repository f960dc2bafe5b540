"""The page in a browser of this machine: positions, games and matches, by keyboard and on a phone; it asks nobody else for anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette (extra: serve) is not installed")
pytest.importorskip("uvicorn", reason="uvicorn (extra: serve) is not installed")

import uvicorn

from raccoon.engine.gnubg import GnubgEngine
from raccoon.play import EnginePlayer
from raccoon.search.expectimax import Expectimax
from raccoon.search.lookahead import StaticSearch
from raccoon.serve.app import create_app
from raccoon.serve.server import bound

pytestmark = pytest.mark.slow

Watch = Callable[[Any], tuple[list[str], list[str]]]
OPENING_31 = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
MATCH = Path(__file__).parents[1] / "golden" / "matches" / "chains.mat"
WAIT_MS = 60_000
FAILED = "the server responded with a status of"
"""What the console says of every question that is refused."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page of GNUBG's network, on a free port of this machine."""
    player = EnginePlayer(GnubgEngine(), name="gnubg0")
    app = create_app(player, {"player": StaticSearch(), "deeper": Expectimax(1)}, np.random.default_rng(7))
    with bound(0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def refused() -> list[tuple[str, int]]:
    """Questions that a test asks to be refused: the end of the address, and the status."""
    return []


@pytest.fixture(params=[(1280, 900), (360, 740)], ids=["screen", "phone"])
def tab(browser: Any, watch: Watch, address: str, refused: list[tuple[str, int]], request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page, opened. At the end: no request went elsewhere, nothing failed but what is in ``refused``, and nothing is wider than the
    screen."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(WAIT_MS)
    opened = context.new_page()
    requests, complaints = watch(opened)
    failed: list[tuple[str, int]] = []
    opened.on("response", lambda found: found.status >= 400 and failed.append((found.url.removeprefix(address), found.status)))
    opened.goto(address, timeout=WAIT_MS)
    opened.locator("#position-answer table").first.wait_for()
    yield opened
    assert [url for url in requests if not url.startswith(address)] == []
    assert failed == refused
    assert [text for text in complaints if FAILED not in text] == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_an_id_is_pasted_and_its_plays_seen(tab: Any, refused: list[tuple[str, int]]) -> None:
    tab.fill("#position-id", OPENING_31)
    tab.locator("#moves tbody tr").nth(15).wait_for()
    assert tab.locator("#moves tbody tr").first.inner_text().split()[:3] == ["1", "8/5", "6/5"]
    assert tab.locator("#position-board .arrow").count() == 0
    tab.focus("#moves button")
    tab.keyboard.press("Enter")
    tab.locator("#position-board circle.arrow").first.wait_for()
    tab.select_option("#depth", "deeper")
    tab.locator("#moves td:last-child:text-is('1')").first.wait_for()
    tab.fill("#position-id", "XGID=nonsense")
    tab.locator("#problem:has-text('XGID')").wait_for()
    refused.append(("api/board", 400))


def test_a_board_is_set_up_by_keyboard(tab: Any) -> None:
    tab.focus("#editor summary")
    tab.keyboard.press("Enter")
    tab.click("#editor-clear")
    tab.locator("#position-answer:has-text('No game yet')").wait_for()
    assert tab.locator("#position-board .checker").count() == 2  # the trays, each with 15
    for brush, point in (("1", 3), ("-1", 20)):
        tab.check(f"input[name=brush][value='{brush}']")
        tab.focus(f"#position-board [data-point='{point}']")
        tab.keyboard.press("Enter")
        tab.locator(f"#position-board [data-point='{point}'] .checker").wait_for()
    assert tab.input_value("#position-id") == "XGID=---A----------------a-----:0:0:1:00:0:0:0:0:10"
    tab.locator("#position-answer .verdict").wait_for()


def test_a_turn_is_played(tab: Any) -> None:
    tab.click("nav a[href='#play']")
    tab.fill("#game-new input", "5")
    tab.keyboard.press("Enter")
    tab.locator("#game-actions button:text-is('Roll')").wait_for()
    tab.locator("#game-actions button:text-is('Roll')").press("r")
    for _ in range(20):
        tab.locator("#game-legal button, #game-actions button:text-is('Roll'), #game-actions button:text-is('Take')").first.wait_for()
        if tab.locator("#game-legal button").count():
            break
        tab.locator("#game-actions button").first.press("Enter")
    tab.click("#game-actions button:text-is('Hint')")
    best = tab.locator("#game-answer #moves button").first
    best.wait_for()
    play = best.inner_text()
    best.press("Enter")
    tab.locator("#game-board circle.arrow").first.wait_for()
    assert tab.input_value("#game-play") == play
    tab.press("#game-play", "Enter")
    tab.locator(f"#game-moves li:text-is('You: {play}')").wait_for()
    tab.locator("#game-moves li:has-text('Raccoon: roll')").last.wait_for()
    tab.locator("#game-actions select").select_option("1")
    tab.locator("#game-told:has-text('Raccoon wins'), #game-answer:has-text('Raccoon plays on')").first.wait_for()
    if tab.locator("#game-answer:has-text('Raccoon plays on')").count():
        tab.locator("#game-actions select").select_option("3")  # worth more than any game that goes on
    tab.locator("#game-told:has-text('Raccoon wins')").wait_for()


def test_a_match_is_stepped_through(tab: Any) -> None:
    tab.click("nav a[href='#match']")
    tab.set_input_files("#match-file", MATCH)
    tab.locator("#match-players table").wait_for()
    decisions = tab.locator("#match-list button").count()
    assert decisions > 5
    assert tab.locator("#match-told").inner_text().startswith("Game 1 at 0–0, 1 of ")
    tab.locator("#match-next").press("ArrowRight")
    tab.locator(f"#match-told:has-text(' 2 of {decisions}')").wait_for()
    tab.click("#match-next")
    tab.locator(f"#match-told:has-text(' 3 of {decisions}')").wait_for()
    assert tab.locator("#match-list button[aria-current]").count() == 1
    assert tab.locator("#match-board svg").count() == 1
    assert tab.locator("#match-answer table").count() == 1
    assert tab.locator("#match-graph [data-at='2'][aria-current]").count() == 1
    assert tab.locator("#match-graph .line").evaluate("line => getComputedStyle(line).fill") == "none"  # the style is allowed to be there
    tab.locator(f"#match-graph [data-at='{decisions - 1}']").click()
    tab.locator(f"#match-told:has-text(' {decisions} of {decisions}')").wait_for()

"""The page over HTTP: what it answers, and whom it answers nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette (extra: serve) is not installed")
pytest.importorskip("httpx2", reason="httpx2 (extra: dev) is not installed")

from starlette.testclient import TestClient

from raccoon.engine.gnubg import GnubgEngine
from raccoon.matches import analyse_decisions, decisions_of, parse_match, summarise
from raccoon.play import EnginePlayer
from raccoon.report.equity_graph import equity_graph
from raccoon.search.expectimax import Expectimax
from raccoon.search.lookahead import StaticSearch
from raccoon.serve.app import create_app

OPENING_31 = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


@pytest.fixture(scope="module")
def client() -> TestClient:
    player = EnginePlayer(GnubgEngine(), name="gnubg0")
    depths = {"player": StaticSearch(), "ply0": Expectimax(0)}
    return TestClient(create_app(player, depths, np.random.default_rng(3)), base_url="http://127.0.0.1:8765")


def asked(client: TestClient, name: str, /, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/{name}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_id_is_drawn_and_its_plays_ranked(client: TestClient) -> None:
    found = asked(client, "analysis", id=OPENING_31)
    assert found["svg"].startswith("<svg")
    plays = found["analysis"]["candidates"]
    assert plays[0]["move"] == "8/5 6/5"
    assert len(plays) == 16
    assert plays[0]["chances"]["win"] == pytest.approx(0.55, abs=0.02)
    assert "arrow" in asked(client, "board", id=OPENING_31, move=plays[0]["move"])["svg"]
    assert asked(client, "analysis", id="4HPwATDgc/ABMA", dice="31")["analysis"]["candidates"][0]["move"] == "8/5 6/5"
    before = asked(client, "analysis", id=OPENING_31.replace(":31:", ":00:"), depth="ply0")["analysis"]
    assert before["cube_action"]["action"] == "no double, take"


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("analysis", {}, "id: is missing"),
        ("analysis", {"id": 5}, "id: 5 is no text"),
        ("analysis", {"id": "x" * 300}, "id: 300 characters; 200 are the most"),
        ("analysis", {"id": "XGID=5"}, "XGID"),
        ("analysis", {"id": OPENING_31, "dice": "77"}, "dice"),
        ("analysis", {"id": OPENING_31, "depth": "__class__"}, "depth '__class__': choose player, ply0"),
        ("board", {"id": OPENING_31, "move": "13/1"}, "move='13/1'"),
        ("game", {"action": "roll"}, "game: is missing"),
        ("game", {"action": "new match 900"}, "match"),
        ("game", {"action": "new war"}, "new 'war'"),
        ("game", {"action": "dance", "game": {"xgid": OPENING_31}}, "action 'dance'"),
        ("game", {"action": "double", "game": {"xgid": OPENING_31}}, "not the time for a double"),
        ("game", {"action": "roll", "game": {"xgid": OPENING_31, "won": 1.5}}, "won=1.5"),
        ("game", {"action": "resign 1", "game": {"xgid": OPENING_31}}, "action 'resign'"),
        ("resign", {"game": {"xgid": OPENING_31}, "size": 4}, "size=4: give a whole number from 1 to 3"),
        ("resign", {"game": {"xgid": OPENING_31.replace(":1:31", ":-1:31")}, "size": 1}, "the player decides next"),
        ("board", {"id": "XGID=P-------------------------:0:0:1:00:0:0:0:0:10", "setup": True}, "'P' in the position"),
        ("go", {"game": {"xgid": OPENING_31, "opening": 1}}, "opening=1"),
    ],
)
def test_bad_input_is_told(client: TestClient, name: str, body: dict[str, Any], told: str) -> None:
    answer = client.post(f"/api/{name}", json=body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"headers": {"Host": "example.com"}}, 400),
        ({"headers": {"Host": "127.0.0.1.example.com:8765"}}, 400),
        ({"headers": {"Origin": "http://example.com"}}, 403),
        ({"headers": {"Origin": "null"}}, 403),
        ({"headers": {"Content-Type": "text/plain"}}, 415),
        ({"content": b"[1]"}, 400),
        ({"content": b"{"}, 400),
        ({"content": b"[" * 10_000}, 400),
        ({"content": b'{"id": "' + b"x" * 20_000}, 413),
        ({"content": b"\xff"}, 400),
        ({"headers": {"Origin": "http://127.0.0.1:8765"}}, 200),
    ],
)
def test_only_the_page_is_answered(client: TestClient, sent: dict[str, Any], status: int) -> None:
    headers = {"Content-Type": "application/json"} | sent.get("headers", {})
    answer = client.post("/api/board", content=sent.get("content", b'{"id": "4HPwATDgc/ABMA"}'), headers=headers)
    assert answer.status_code == status, answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_page_is_its_own_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for name in ("page.css", "board.css", "main.js", "api.js", "icon.svg"):
        found = client.get(f"/{name}")
        assert found.status_code == 200
        assert "http:" not in found.text.replace("http://www.w3.org/2000/svg", "")
        assert "https:" not in found.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert client.get("/../app.py").status_code == client.get("/%2e%2e/app.py").status_code == client.get("/x").status_code == 404
    assert client.get("/api/board").status_code == 405


def test_a_game_is_played_to_its_end(client: TestClient) -> None:
    found, stages = asked(client, "game", action="new match 1"), set()
    for turn in range(30):
        stages.add(found["stage"])
        if found["decides"] == 2:
            found = asked(client, "go", game=found["game"])
            assert found["did"].split()[0] in ("roll", "play")
        elif turn > 10:
            break
        else:
            found = asked(client, "game", game=found["game"], action=found["legal"][0])
    assert stages == {"opening", "roll", "play"}
    found = asked(client, "resign", game=found["game"], size=1)
    assert found["agreed"]
    assert found["match_over"]
    assert (found["stage"], found["score"], found["game"]["won"]) == ("over", [0, 1], -1)
    assert client.post("/api/go", json={"game": found["game"]}).json() == {"error": "the match is over"}


@pytest.mark.parametrize(("size", "agreed", "won"), [(1, False, None), (2, True, -4), (3, True, -6)])
def test_the_player_agrees_only_to_a_resignation_that_is_enough(client: TestClient, size: int, agreed: bool, won: int | None) -> None:
    gammon = {"xgid": "XGID=-ab--------O--------------:1:-1:1:00:0:0:0:0:10"}  # the player bears off three before we are home
    found = asked(client, "resign", game=gammon, size=size)
    assert (found["agreed"], found.get("game", {}).get("won")) == (agreed, won)


def test_a_board_is_drawn_while_it_is_set_up(client: TestClient) -> None:
    for board, problem in (("-" * 26, "no checkers on either side"), ("---B" + "-" * 22, "the game is over"), ("---B-a" + "-" * 20, None)):
        xgid = f"XGID={board}:0:0:1:00:0:0:0:0:10"
        found = asked(client, "board", id=xgid, setup=True)
        assert found["xgid"] == xgid
        assert found["svg"].count('circle class="checker') == len(board.replace("-", "")) + board.count("B")
        assert found["problem"] is None if problem is None else problem in found["problem"]


def test_a_match_is_read_and_analysed_part_by_part(client: TestClient) -> None:
    path = Path(__file__).parents[1] / "golden" / "matches" / "chains.mat"
    text = path.read_text(encoding="utf-8")
    found = asked(client, "match", text=text, name=path.name)
    assert found["faults"] == []
    records: list[dict[str, Any]] = []
    while True:
        more = asked(client, "more", key=found["key"], have=len(records))
        assert more["records"]
        records += more["records"]
        if more["players"]:
            break
    assert [row["xgid"] for row in records] == [row["xgid"] for row in found["decisions"]]
    judge = EnginePlayer(GnubgEngine(), name="gnubg0")
    match = parse_match(text)
    own = list(analyse_decisions(decisions_of(match), judge))
    assert more["players"] == summarise(match, own)
    assert more["graph"] == equity_graph(own, ("White", "Black"))
    refused = client.post("/api/match", json={"text": "no match", "name": "x.mat"})
    assert (refused.status_code, refused.json()["error"][:6]) == (400, "x.mat:")
    assert client.post("/api/more", json={"key": "z"}).json() == {"error": "key: that match is not open any more; open its file again"}

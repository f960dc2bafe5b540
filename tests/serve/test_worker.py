"""Long work beside the page: stopped when nobody waits, and no longer in the way of what is asked next."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette (extra: serve) is not installed")

from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.play import EnginePlayer
from raccoon.serve.worker import Stopped, Worker

BOARDS = START[None]


async def never() -> bool:
    return False


def test_a_job_that_nobody_waits_for_is_stopped() -> None:
    worker = Worker()
    player = worker.stoppable(EnginePlayer(RandomEngine()))
    began, asked = threading.Event(), []

    def endless() -> None:
        while True:
            asked.append(player.engine.value(BOARDS)[0])
            began.set()

    async def gone() -> bool:
        return began.is_set()

    async def both() -> float:
        with pytest.raises(Stopped):
            await worker.run(endless, gone)
        return await worker.run(lambda: float(player.engine.value(BOARDS)[0]), never)

    found = asyncio.run(asyncio.wait_for(both(), 20))
    assert found == pytest.approx(float(asked[0]))
    assert player.engine.evaluations == len(asked) + 1
    worker.close()


def test_closing_stops_what_runs_and_leaves_the_player_alone() -> None:
    worker, own = Worker(), EnginePlayer(RandomEngine())
    player = worker.stoppable(own)
    worker.close()
    with pytest.raises(Stopped):
        player.engine.value(BOARDS)
    assert np.isfinite(own.engine.value(BOARDS)).all()

"""The first signal ends a program in good order, a second one at once."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import hydra
import pytest

from raccoon.cli.program import app
from raccoon.runs import interrupts

pytestmark = pytest.mark.parametrize("sent", interrupts.SIGNALS)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


def test_a_signal_is_heard_at_once_and_names_the_status(sent: signal.Signals) -> None:
    before = signal.getsignal(sent)
    with interrupts.heard():
        with pytest.raises(KeyboardInterrupt):
            send(sent)
        assert interrupts.pending()
        assert interrupts.exit_status() == 128 + sent
    assert signal.getsignal(sent) is before


def test_what_is_under_way_is_finished_first(sent: signal.Signals) -> None:
    with interrupts.heard():
        interrupts.release()
        interrupts.hold()
        send(sent)
        with pytest.raises(KeyboardInterrupt):
            interrupts.release()
    with interrupts.heard():
        interrupts.release()  # of the signal before nothing is left


def test_a_second_signal_ends_the_program_at_once(sent: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    ended: list[int] = []
    monkeypatch.setattr(interrupts.os, "_exit", ended.append)
    with interrupts.heard(), interrupts.last_words(lambda: said.append("interrupted")):
        interrupts.hold()
        send(sent)
        send(sent)  # what timeout and make send twice is one interrupt
        assert (said, ended) == ([], [])
        monkeypatch.setattr(interrupts, "_ECHO_S", 0.0)
        send(sent)
        assert (said, ended) == (["interrupted"], [128 + sent])


def test_a_library_that_took_the_signal_gives_it_back(sent: signal.Signals) -> None:
    with interrupts.heard():
        signal.signal(sent, signal.SIG_IGN)
        interrupts.listen()
        with pytest.raises(KeyboardInterrupt):
            send(sent)


def test_other_threads_and_inner_ones_leave_the_handlers_alone(sent: signal.Signals) -> None:
    before = signal.getsignal(sent)
    seen: list[object] = []

    def run() -> None:
        with interrupts.heard():
            seen.append(signal.getsignal(sent))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [before]
    with interrupts.heard():
        installed = signal.getsignal(sent)
        with interrupts.heard():
            pass
        assert signal.getsignal(sent) is installed


def test_a_pipe_whose_closing_was_cut_short_is_closed_without_a_word(sent: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def __init__(self, number: int) -> None:
            self.number = number

        def __del__(self) -> None:
            raise OSError(self.number, "while it is collected")

    reported: list[int | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: reported.append(found.exc_value.errno))
    with interrupts.heard():
        with pytest.raises(KeyboardInterrupt):
            send(sent)
        for number in (errno.EBADF, errno.EIO):
            Closed(number)
    assert reported == [errno.EIO]


def test_an_interrupted_program_ends_at_once_with_its_status(
    sent: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_the_end: list[object] = []

    def run(_: list[str]) -> str:
        send(sent)
        return "not reached"

    def register(call: Callable[..., object], *arguments: object, **named: object) -> Callable[..., object]:
        at_the_end.append(call)
        return given(call, *arguments, **named)

    given = atexit.register
    monkeypatch.setattr(atexit, "register", register)
    with pytest.raises(SystemExit) as ended:
        app.plain_main(run)
    assert ended.value.code == 128 + sent
    assert capsys.readouterr() == ("", "interrupted\n")
    assert at_the_end[0] is gc.freeze  # the first runs last; without it the interpreter takes over a second to leave torch


def test_an_interrupt_within_compiled_code_is_one(sent: signal.Signals) -> None:
    """A numba kernel that is interrupted raises a SystemError of its own, and so does each that called it."""

    def kernel(depth: int) -> None:
        try:
            kernel(depth - 1) if depth else send(sent)
        except (KeyboardInterrupt, SystemError) as error:
            raise SystemError("a result with an exception set") from error

    with interrupts.heard(), pytest.raises(SystemError) as caught:
        kernel(2)
    assert interrupts.is_interrupt(caught.value)
    assert not interrupts.is_interrupt(SystemError("something else"))


def test_a_program_says_interrupted_whatever_a_library_made_of_the_signal(
    sent: signal.Signals, program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def job(config: dict[str, Any], run: Any) -> None:
        try:
            send(sent)
        except KeyboardInterrupt as error:
            raise SystemError("a kernel returned a result with an exception set") from error

    def composing(*_: Any, **__: Any) -> Any:
        def start() -> None:
            with contextlib.suppress(KeyboardInterrupt):
                send(sent)
            raise ValueError("half a config")

        return lambda _: start

    for patched in (False, True):
        if patched:
            monkeypatch.setattr(hydra, "main", composing)
        ended = program(lambda: app.main("search", job, ["position=4HPwATDgc/ABMA"], run_folder=False))
        assert (ended.returncode, ended.stderr) == (128 + sent, "interrupted\n")

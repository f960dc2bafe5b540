"""What several test modules share."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# The tests start some hundred processes. Without bytecode each of them compiles torch and Lightning first, some 7 seconds of it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Small networks gain nothing by threads, and the threads of two workers spin against each other: test_net took five times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved untrained network of the smallest kind (flat encoding, outcome head)."""
    from raccoon.cli.program.composing import compose
    from raccoon.config.instantiate import build, plain
    from raccoon.model import build_net, checkpoint_file

    cfg = compose("train", ["model=mlp_small", "model.backbone.hidden=[8]"])
    path = tmp_path_factory.mktemp("net") / "tiny.pt"
    checkpoint_file.save(path, build_net(plain(cfg.model), build(cfg.encoder)), {})
    return path


@pytest.fixture(scope="session")
def tiny_onnx(tiny_checkpoint: Path) -> Path:
    """The same network exported to ONNX."""
    from raccoon.export import export_onnx

    path = tiny_checkpoint.with_suffix(".onnx")
    export_onnx(tiny_checkpoint, path, games=0)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless browser that is installed already; nothing is downloaded for these tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright (extra: dev) is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"no browser on PATH ({', '.join(BROWSERS)})")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, timeout=60_000)
        yield opened
        opened.close()


@pytest.fixture
def watch() -> Callable[[Any], tuple[list[str], list[str]]]:
    """``watch(tab)``: the addresses that a page of a browser asks for from now on, and what it complains of."""

    def watched(tab: Any) -> tuple[list[str], list[str]]:
        requests: list[str] = []
        complaints: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda message: complaints.append(message.text))
        return requests, complaints

    return watched


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def heeds_ctrl_c() -> Callable[[], None]:
    """A ``preexec_fn``: what a shell puts in the background is deaf to SIGINT, and so is all that it starts."""
    return _heed_ctrl_c


@dataclass(frozen=True)
class Ended:
    """How a program ended, named as in ``subprocess.CompletedProcess``."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """``program(main, *arguments)``: a command line in this process and in ``tmp_path``, without the imports of a new one.

    Default run folders have one name a process: two runs of a test need ``paths.run_dir``.
    """

    def run(main: Callable[[], None], *arguments: str) -> Ended:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["program", *arguments])
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level  # Hydra sets its own
        status: object = None
        try:
            main()
        except SystemExit as error:
            status = error.code
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)
        told = capsys.readouterr()
        if status is None or isinstance(status, int):
            return Ended(status or 0, told.out, told.err)
        return Ended(1, told.out, f"{told.err}{status}\n")

    return run

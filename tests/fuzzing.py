"""What the fuzz tests share: a guard that sees writes, programs and connections, hostile names, and odd values."""

from __future__ import annotations

import contextlib
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from raccoon.contracts import RaccoonError

__all__ = ["HOSTILE", "LIMIT_S", "Tally", "cut", "flipped", "guarded", "holder_of", "hostile_node", "odd_value", "overwritten", "places"]

LIMIT_S = 5.0
HOSTILE = [
    "raccoon.files.write_text", "raccoon.files.write_json", "raccoon.files.atomic", "raccoon.files.os._exit", "raccoon.files.os.abort",
    "raccoon.files.np.load", "raccoon.files.np.savez", "raccoon.runs.folder.socket.create_connection",
    "raccoon.model.checkpoint_file.torch.load",
    "raccoon.model.checkpoint_file.torch.save", "raccoon.model.checkpoint_file.save", "raccoon.model.checkpoint_file.load",
    "raccoon.config.instantiate.importlib.import_module",
    "raccoon.play.gnubg_process.subprocess.run", "raccoon.play.gnubg_process.GnubgProcess", "raccoon.runs.folder.Run",
    "raccoon.model.checkpoint_file.Path",
    "raccoon.model.checkpoint_file.io.FileIO", "raccoon.executor.ProcessExecutor", "raccoon.executor.ProcessExecutor.map",
    "raccoon.cli.program.app.main",
    "raccoon.env.Encoder.from_config", "raccoon.model.RaccoonNet.forward", "raccoon.contracts.RaccoonError",
    "raccoon.engine.NetEngine.load", "raccoon.train.csv_logger", "raccoon.model.Scalar", "raccoon.model.MLP",
    "lightning.pytorch.Trainer", "lightning.pytorch.cli.LightningCLI", "lightning.pytorch.callbacks.LambdaCallback",
    "lightning.pytorch.callbacks.ModelCheckpoint", "torch.load", "torch.optim.Adam", "os.system", "os._exit", "subprocess.Popen",
    "shutil.rmtree", "builtins.exec", "builtins.eval", "builtins.open", "pathlib.Path.touch", "raccoon", "raccoon.", "", ".", "..",
    "raccoon..files", "a.b.c", "raccoon.__init__.x", "raccoon.files.__builtins__.exec", "${oc.env:HOME}", "raccoon.\n", "raccoon.\x00.x",
    "raccoon.executor.ProcessExecutor.__init__.__globals__", "${oc.create:{_target_: os.system, command: 'true'}}", "raccoon.\ud800",
    "x" * 5000, 3, None, True, [], {}, b"os",
]  # fmt: skip
_WATCHED = ("os.", "subprocess.", "socket.", "shutil.", "ctypes.", "tempfile.", "ftplib.", "urllib.", "webbrowser.")
_HARMLESS = frozenset(
    {"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.putenv", "os.unsetenv", "ctypes.cdata", "ctypes.dlopen", "ctypes.dlsym"}
)
_seen: list[str] = []
_armed = False
_hooked = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _armed:
        return
    if event == "open":
        _, mode, flags = arguments
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & 0o3):
            _seen.append(f"open {arguments[0]!r} to write")
    elif event.startswith(_WATCHED) and event not in _HARMLESS:
        _seen.append(f"{event} {arguments!r:.200}")


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"longer than {LIMIT_S} s")


@contextlib.contextmanager
def guarded() -> Iterator[list[str]]:
    """What code within opens to write, starts or connects to is listed; nothing within may take longer than ``LIMIT_S``."""
    global _armed, _hooked
    if not _hooked:  # an audit hook stays for good
        sys.addaudithook(_hook)
        _hooked = True
    _seen.clear()
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    handler = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    _armed = True
    try:
        yield _seen
    finally:
        _armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        sys.dont_write_bytecode = before


@dataclass
class Tally:
    """Outcomes by kind of mutation, the slowest case, and every case that did what none may do."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)

    def run(self, what: str, case: Callable[[], object], same: Callable[[Any], bool]) -> None:
        """Run ``case``: it raises RaccoonError, or what it gives is ``same`` as if nothing had been changed."""
        start, given = time.perf_counter(), None
        with guarded() as seen:
            try:
                given = case()
                outcome = "as before"
            except RaccoonError:
                outcome = "refused"
            except BaseException as error:  # that no other gets out is what is shown
                outcome = "crashed"
                self.faults.append(f"{what}: {type(error).__name__}: {str(error)[:300]}")
        self.faults += [f"{what}: {event}" for event in seen]
        if outcome == "as before" and not same(given):
            outcome = "loaded though changed"
            self.faults.append(f"{what}: loaded though changed")
        self.outcomes[f"{what.split(':')[0]}: {outcome}"] += 1
        self.slowest = max(self.slowest, time.perf_counter() - start)


def hostile_node(rng: random.Random, targets: Sequence[Any] = HOSTILE) -> dict[Any, Any]:
    """A node with one of ``targets``, and arguments that some of them would take."""
    more: list[dict[Any, Any]] = [
        {},
        {"_partial_": True},
        {"path": "written", "text": "x"},
        {"_args_": ["written"]},
        {"_recursive_": False},
    ]
    return {"_target_": rng.choice(targets), **rng.choice(more)}


def odd_value(rng: random.Random, targets: Sequence[Any] = HOSTILE) -> Any:
    """A value that hardly fits anywhere: extreme numbers, texts, containers, bytes, nodes with a hostile target."""
    plain: list[list[Any]] = [
        [None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, -(2**63), 10**400, 0.0, -0.5, 1e308, 1e-320],
        [float("nan"), float("inf"), -float("inf"), 0.1, 1.5],
        ["", "x", "3", "true", "../..", "/nowhere/there", "x" * 10_000, "${oc.env:HOME}", "???", "\x00", "\ud800", "\u00e9"],
        [[], {}, [[]], [None], {"": None}, {1: 2}, [1, "a"], (1, 2), b"bytes", [10**400], [1] * 2000, {"a": {"b": [1]}}],
    ]
    kind = rng.randrange(len(plain) + 3)
    if kind < len(plain):
        return rng.choice(plain[kind])
    inner = hostile_node(rng, targets) if kind == len(plain) else odd_value(rng, targets)
    return {len(plain) + 1: [inner], len(plain) + 2: {"a": inner}}.get(kind, inner)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key path into nested dicts and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items if key != "state_dict" for place in [(*path, key), *places(inner, (*path, key))]]


def holder_of(value: Any, path: tuple[Any, ...]) -> Any:
    """What the last key of ``path`` is a key of."""
    for key in path[:-1]:
        value = value[key]
    return value


def flipped(data: bytes, rng: random.Random) -> bytes:
    """A few bits turned."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8, 64])):
        bit = rng.randrange(8 * len(data))
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> bytes:
    """The head, the tail, or more than there was."""
    return rng.choice([data[: rng.randrange(len(data))], data[rng.randrange(1, len(data)) :], data + rng.randbytes(rng.randrange(1, 3000))])


def overwritten(data: bytes, rng: random.Random) -> bytes:
    """A stretch replaced by zeros, noise, or the first bytes of the file."""
    start, size = rng.randrange(len(data)), rng.choice([1, 4, 64, 1000])
    return data[:start] + rng.choice([bytes(size), rng.randbytes(size), data[:size]]) + data[start + size :]

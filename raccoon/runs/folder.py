"""Run folders: one run, one folder, never overwritten; an interrupted run continues in its own.

A folder holds ``config.yaml`` (enough to repeat the run), ``provenance.json``, ``run.log`` and ``status.json``:
``{state: running | done | interrupted | failed, kind, fingerprint, started, pid, host}``. While a process works in it, it holds a
lock that dies with the process.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from raccoon import checks
from raccoon.aliases import first_arguments
from raccoon.checks import flag, quoted
from raccoon.contracts import RaccoonError
from raccoon.executor import fingerprint
from raccoon.files import remove_left_over, write_json, write_text
from raccoon.runs import interrupts, provenance
from raccoon.runs.claims import claim, claim_old, discarding, read_status
from raccoon.runs.places import is_first_rank, sweep_job, wanted_dir

__all__ = ["IGNORED", "Run", "is_done", "open_run", "settings"]

log = logging.getLogger(__name__)
_RUN_DIR = "@run_dir@"
IGNORED = ("resume", "executor", "logger")  # none changes a result
_LATER = (("stages",), ("data", "minutes"), ("runtime", "tflops"))
"""Keys that came later: without a value they leave the identity of a run as it was."""
_OWN = ("config.yaml", "provenance.json", "run.log", "status.json")


@dataclass(frozen=True)
class Run:
    """An open run: its folder, its kind (``train``, ``evaluate``, ..), whether it continues an interrupted one, and whether that one
    had written its report, the last thing that it does (``reported``): then nothing is left to do.

    ``config`` is the resolved config as plain dicts, ``config["paths"]["run_dir"]`` being ``dir``.
    """

    dir: Path
    kind: str
    resumed: bool
    config: dict[str, Any]
    reported: bool = False


def _resolved(cfg: DictConfig, run_dir: str) -> dict[str, Any]:
    copy = cfg.copy()
    OmegaConf.set_struct(copy, False)
    if not isinstance(copy.get("paths"), DictConfig):
        raise RaccoonError("paths: not in the config, but needed; leave out ~paths and paths=null")
    copy.paths.run_dir = run_dir
    resolved = OmegaConf.to_container(copy, resolve=True, throw_on_missing=True)
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def _check_root(config: Mapping[str, Any]) -> None:
    """Raise RaccoonError for a value of a root config that could only be misread: groups are checked where they are built."""
    seed, resume = config.get("seed"), config.get("resume", True)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise RaccoonError(f"seed={quoted(seed)}: give a whole number from 0 to 2**63 - 1")
    flag("resume", resume)
    texts = {"init": config.get("init"), "folder": config.get("folder")}
    wanted = {f"paths.{key}": value for key, value in config["paths"].items()} | {"paths.run_dir": config["run_dir"]}
    for key, value in (wanted | {key: value for key, value in texts.items() if value is not None}).items():
        checks.path(key, value)


def settings(cfg: DictConfig) -> dict[str, Any]:
    """The resolved config as plain dicts, with nothing in the place of the run folder and of what changes no result.

    Arguments have the names that they had first: runs and stages are known by them."""
    copy = cfg.copy()
    OmegaConf.set_struct(copy, False)
    for key in IGNORED:
        copy[key] = None  # not deleted: other nodes may refer to it
    if OmegaConf.select(copy, "runtime.tflops") is not None:
        copy.runtime.tflops = None
    return first_arguments(_resolved(copy, _RUN_DIR))


def _fingerprint(cfg: DictConfig, kind: str) -> str:
    config = settings(cfg)
    for *parents, key in _LATER:
        node: Any = config
        for parent in parents:
            node = node.get(parent) or {}
        if isinstance(node, dict) and node.get(key, 0) is None:
            del node[key]
    return fingerprint({"config": config, "kind": kind})


@contextlib.contextmanager
def open_run(cfg: DictConfig, kind: str, again: bool = False) -> Iterator[Run]:
    """Open the run folder for ``cfg``, lock it, and mark it done or failed at the end.

    ``again``: of a run of stages, which are held against what they were made from one by one: a folder that holds such a run, finished
    or of other settings, is opened as well, with ``resume``.

    Raises RaccoonError naming the folder when it is in use, holds a finished run, a run of another config, or files
    that no run wrote. With ``resume`` (default true) an unfinished run of the same config, whose process is dead, is
    continued: the folder that ``paths.run_dir`` names, else the newest such folder.
    """
    _check_root(_resolved(cfg, _RUN_DIR) | {"run_dir": cfg.paths.run_dir})
    wanted, named = wanted_dir(cfg, kind)
    if not is_first_rank():  # another process of the same training: rank 0 owns the folder
        folder = Path(os.environ.get("RACCOON_RUN_DIR", str(wanted)))
        yield Run(folder, kind, True, _resolved(cfg, str(folder)))  # it goes on where there is a checkpoint, as rank 0 does
        return
    mark = _fingerprint(cfg, kind)
    resume = bool(cfg.get("resume", True))
    folder, lock, resumed = claim_old(kind, mark) if resume and not named and sweep_job() is None else (wanted, None, False)
    new = lock is None and sweep_job() is None and not wanted.exists()  # a sweep keeps its folders, to tell of them
    if lock is None:
        folder = wanted
        lock, resumed = claim(wanted, mark, resume, again)
    with discarding(folder, _OWN) if new else contextlib.nullcontext(), lock, _logging_to(folder / "run.log") as log_file:
        run = Run(folder, kind, resumed, _resolved(cfg, str(folder)), resumed and not again and (folder / "report.json").exists())
        status = _begin(run, cfg, mark, again)
        os.environ["RACCOON_RUN_DIR"] = str(folder)
        stopped = partial(write_json, folder / "status.json", status | {"state": "interrupted"})
        try:
            with interrupts.last_words(stopped):
                yield run
        except BaseException as error:
            _record(error, log_file, stopped, folder / "status.json", status)
            raise
        finally:
            os.environ.pop("RACCOON_RUN_DIR", None)
        write_json(folder / "status.json", status | {"state": "done", "finished": time.strftime("%Y-%m-%dT%H:%M:%S")})


def _record(error: BaseException, log_file: logging.Handler, stopped: Callable[[], None], file: Path, status: dict[str, Any]) -> None:
    """Say in the run folder how the run ended: to the log file alone, for the command line tells the user once."""
    interrupted = interrupts.is_interrupt(error)
    reason = str(error) or type(error).__name__
    level, text, trace = (logging.WARNING, "interrupted", None) if interrupted else (logging.ERROR, f"failed: {reason}", sys.exc_info())
    log_file.handle(log.makeRecord(log.name, level, __file__, 0, "%s", (text,), trace))
    with contextlib.suppress(RaccoonError):
        stopped() if interrupted else write_json(file, status | {"state": "failed", "error": reason})


def is_done(cfg: DictConfig, kind: str, folder: Path) -> bool:
    """Whether ``folder`` holds the finished run of this config. Raises RaccoonError when it holds another finished one."""
    if not bool(cfg.get("resume", True)) or read_status(folder).get("state") != "done":
        return False
    if read_status(folder).get("fingerprint") != _fingerprint(cfg, kind):
        raise RaccoonError(f"{folder}: was made from other settings or files, or by other versions; resume=false starts a new sweep")
    return True


def _begin(run: Run, cfg: DictConfig, mark: str, again: bool) -> dict[str, Any]:
    status_file = run.dir / "status.json"
    started = read_status(run.dir)["started"] if run.resumed else time.strftime("%Y-%m-%dT%H:%M:%S")
    status = {
        "state": "running", "kind": run.kind, "fingerprint": mark, "started": started,
        "pid": os.getpid(), "host": socket.gethostname(),
    }  # fmt: skip
    write_json(status_file, status)
    if run.resumed:
        remove_left_over(run.dir, deep=True)
        what = "going on with its stages" if again else "continuing the unfinished run (resume=false starts a new one)"
        log.info("%s: %s", run.dir, what)
    else:
        log.info("run folder: %s", run.dir)
    if again or not (run.dir / "config.yaml").exists():
        write_text(run.dir / "config.yaml", _config_text(cfg, run.kind))
    provenance.record(run.dir)
    return status


def _config_text(cfg: DictConfig, kind: str) -> str:
    """The resolved config, but for the run folder, as a primary config that repeats the run in a new folder."""
    body = OmegaConf.to_yaml(OmegaConf.create(_resolved(cfg, _RUN_DIR))).replace(
        f"run_dir: '{_RUN_DIR}'", f"run_dir: ${{raccoon.run_dir:{kind}}}"
    )
    return (
        f"# To run this again: python {kind}.py --config-dir FOLDER --config-name config, FOLDER being where this file is.\n"
        "defaults:\n- base\n- _self_\n- override hydra/job_logging: stdout\n"
        f"hydra:\n  job:\n    name: {kind}\n  sweep:\n    dir: ${{raccoon.sweep_dir:{kind}}}\n" + body.replace(_RUN_DIR, "${paths.run_dir}")
    )


@contextlib.contextmanager
def _logging_to(path: Path) -> Iterator[logging.Handler]:
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace", delay=True)  # status.json comes first
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    try:
        yield handler
    finally:
        logging.getLogger().removeHandler(handler)
        with contextlib.suppress(OSError):  # lines that a full disk has not taken
            handler.close()

"""The jobs of ``-m``: one folder that the same command continues, one line a job, one table at the end."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.experimental.callback import Callback

from raccoon import checks
from raccoon.cli.program import output
from raccoon.cli.program.keys import key_of
from raccoon.contracts import Figure, RaccoonError
from raccoon.executor import fingerprint
from raccoon.runs import claims, places, sweeps
from raccoon.runs import folder as runs

if TYPE_CHECKING:
    from omegaconf import DictConfig

__all__ = ["NO_STAGES", "SweepCallback", "SweepRun", "alone", "close", "current"]

_HEADLINES = ("pr", "ppg_vr", "ppg_raw", "match_wins")
_IGNORED = (*runs.IGNORED, "hydra")
_BASIC = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"
_run: SweepRun | None = None
NO_STAGES = "stages: the jobs of -m have none; give one command for each setting, with folders of their own (paths.run_dir=...)"


class SweepRun:
    """A sweep under way."""

    def __init__(self, sweep: sweeps.Sweep) -> None:
        self.sweep, self.begun = sweep, False
        self.failures: list[Exception] = []
        jobs = [sweeps.Job(number, job, sweep.job_folder(number), "") for number, job in enumerate(sweep.jobs)]
        self.names = [" ".join(words) for words in sweeps.apart(jobs)]

    def job(self, number: int, cfg: DictConfig, kind: str, work: Callable[[], None]) -> None:
        """Run ``work``, the job of that number, unless it is done; say in one line how it went. What fails is told, not raised."""
        if not self.begun:
            self.begun = True
            done = sum(job.state == "done" for job in sweeps.read_jobs(self.sweep.dir))
            before = f", {done} of them done (resume=false starts a new sweep)" if self.sweep.resumed else ""
            print(f"sweep: {self.sweep.dir}, {len(self.sweep.jobs)} jobs{before}; each has its log in its run.log", flush=True)
        folder, began = self.sweep.job_folder(number), time.monotonic()
        try:
            if runs.is_done(cfg, kind, folder):
                self._say(number, "done already" + self._result(folder))
                return
            with output.quiet(), alone(_words()):
                work()
        except Exception as error:  # its log has the rest; the other jobs still run
            self.failures.append(error)
            reason = f"{error}" if isinstance(error, RaccoonError) else f"{type(error).__name__}: {error}"
            if claims.run_state(folder)[0] == "missing":
                self.sweep.refused[number] = reason
                self.sweep.write()
            self._say(number, f"failed: {reason or type(error).__name__}")
        else:
            self._say(number, f"done{self._result(folder)} ({time.monotonic() - began:.0f} s)")

    def close(self) -> None:
        """Leave the folder; one in which no job has begun is removed."""
        os.environ.pop(sweeps.FOLDER, None)
        self.sweep.lock.lock.release()
        if not self.begun and not self.sweep.resumed:
            claims.discard(self.sweep.dir, (sweeps.FILE, "multirun.yaml"))

    def conclude(self) -> list[Exception]:
        """Print the table of all jobs, which of them are not done, and what draws them together; returns why jobs failed."""
        from raccoon.report import report_files

        jobs = sweeps.read_jobs(self.sweep.dir)
        figures = [_figures(job.folder) for job in jobs]
        columns = dict.fromkeys(name for found in figures for name in found)
        rows = [
            {"job": str(job.number), "settings": self.names[job.number], "state": job.state, **{name: found.get(name) for name in columns}}
            for job, found in zip(jobs, figures, strict=True)
        ]
        report_files.show(report_files.rich_table(rows))
        if message := sweeps.told(jobs):
            print(message)
        done = [job for job in jobs if job.state == "done"]
        if len(done) > 1:
            print(f"compare: python -m raccoon.cli.collect {self.sweep.dir}")
            print(f"look at: python -m raccoon.cli.dashboard {self.sweep.dir}")
        return self.failures

    def _say(self, number: int, what: str) -> None:
        print(f"job {number}  {self.names[number]}  {what}", flush=True)

    @staticmethod
    def _result(folder: Path) -> str:
        return "".join(f", {name} {figure.text()}" for name, figure in _figures(folder).items())


class SweepCallback(Callback):
    """Opens the sweep of a command line, before Hydra makes any folder for it."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """See ``hydra.experimental.callback.Callback``. Ends the program with status 2 when the folder cannot be used, or none is."""
        global _run
        kind = str(config.hydra.job.name)
        if not places.is_first_rank():
            return
        try:
            if "run_dir" not in (config.get("paths") or {}):
                raise RaccoonError(
                    f"-m: {kind} makes no runs that a sweep could keep; leave it out, and give lists in brackets: position=[A,B]"
                )
            if config.get("stages") is not None:
                raise RaccoonError(NO_STAGES)
            if config.hydra.sweeper.get("_target_") != _BASIC:
                return
            _run = SweepRun(_open(config, kind))
        except RaccoonError as error:  # Hydra would turn it into a warning
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)


def current() -> SweepRun | None:
    """The sweep under way in this process."""
    return _run


def close() -> None:
    """End the sweep under way, if there is one."""
    global _run
    under_way, _run = _run, None
    if under_way is not None:
        under_way.close()


def _open(config: DictConfig, kind: str) -> sweeps.Sweep:
    from omegaconf import OmegaConf

    overrides = _overrides(config)
    for word in config.hydra.overrides.task:
        if word.startswith("paths.run_dir=") and "," in word:
            raise RaccoonError(f"{word}: the jobs of a sweep have numbered folders in one; name that, or leave it out")
    checks.path("paths.run_dir", config.paths.run_dir)
    base = OmegaConf.to_container(config, resolve=False)
    assert isinstance(base, dict)
    settings = {key: value for key, value in base.items() if key not in _IGNORED}
    kept = [[word for word in job if key_of(word).split(".")[0] not in runs.IGNORED] for job in overrides]
    mark = fingerprint({"kind": kind, "config": settings, "jobs": kept})
    place, named = places.sweep_place(config, kind)
    claims.remove_unused(claims.ROOT / "multirun" / kind, sweeps.FILE)
    earlier = [path.parent for path in (claims.ROOT / "multirun" / kind).glob(f"*/*/{sweeps.FILE}")]
    return sweeps.open_sweep(place, named, earlier, kind, mark, overrides, bool(config.get("resume", True)))


def _overrides(config: DictConfig) -> list[list[str]]:
    """The overrides of every job, as Hydra's sweeper will make them."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    sweeper = config.hydra.sweeper
    words = [f"{key}={value}" for key, value in (sweeper.get("params") or {}).items()] + list(config.hydra.overrides.task)
    parsed = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader()).parse_overrides(words)
    return [list(job) for batch in BasicSweeper.split_arguments(parsed, sweeper.get("max_batch_size")) for job in batch]


def _words() -> list[str]:
    """The arguments that give the job under way alone."""
    from hydra.core.hydra_config import HydraConfig

    overrides = HydraConfig.get().overrides
    return [*overrides.task, *(word for word in overrides.hydra if not word.startswith("hydra.mode=")), "hydra.mode=RUN"]


@contextlib.contextmanager
def alone(words: Sequence[str]) -> Iterator[None]:
    """Within: the arguments of the program are ``words``, for the processes that Lightning starts with them (``runtime=ddp``): they belong
    to that job, and would begin the sweep, or all stages, again."""
    from hydra._internal.utils import get_args_parser

    given = get_args_parser().parse_args(sys.argv[1:])
    named = {name: getattr(given, name) for name in ("config_path", "config_name", "config_dir")}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in named.items() if value]
    saved, sys.argv = sys.argv, [sys.argv[0], *flags, *words]
    environment = dict(os.environ)
    try:
        yield
    finally:
        sys.argv = saved
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            distributed.destroy_process_group()
        os.environ.clear()  # Lightning leaves its rank and port there, which would make the next job a part of this one
        os.environ.update(environment)


def _figures(folder: Path) -> Mapping[str, Figure]:
    """The headline figures of a finished job: its own, or those of the measurements at the end of a training."""
    from raccoon.report import report_files

    if not (folder / "report.json").is_file():
        return {}
    try:
        figures = report_files.read(folder).figures
    except RaccoonError:
        return {}
    found = {name: figure for name, figure in figures.items() if name.rsplit("/", 1)[-1] in _HEADLINES}
    found = {name: figure for name, figure in found.items() if name == (reduced := name.replace("_raw", "_vr")) or reduced not in found}
    return found or dict(list(figures.items())[:1])

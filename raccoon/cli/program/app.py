"""What every command line shares: ``--help`` from the catalogue, Hydra, the run folder, errors without tracebacks."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from raccoon.cli.program import former, output
from raccoon.cli.program.composing import compose, settled
from raccoon.cli.program.faults import expected, missing, told
from raccoon.cli.program.keys import check_keys

if TYPE_CHECKING:
    from omegaconf import DictConfig

__all__ = ["compose", "main", "plain_main", "section"]

Job = Callable[[dict[str, Any], Any], None]


def main(kind: str, job: Job, arguments: list[str] | None = None, run_folder: bool = True) -> None:
    """Run the command line ``kind`` (the name of its root config); exits 2 with one message on bad input.

    ``job(config, run)`` gets the resolved config as plain dicts and the open ``raccoon.runs.folder.Run``; None without ``run_folder``.
    ``arguments`` default to the command line's.
    """
    arguments = former.understood(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: two idle threads must not spin against each other
    with _interruptible() as kept, output.guarded(keeps=run_folder):
        if "--help" in arguments or "-h" in arguments:
            from raccoon.cli.program.help import text

            print(text(kind))
        else:
            _Program(kind, job, arguments, run_folder, kept).run()


class _Program:
    """One call of ``main`` that has something to run; ``kept`` takes the folders of its runs."""

    def __init__(self, kind: str, job: Job, arguments: list[str], run_folder: bool, kept: list[str]) -> None:
        self.kind, self.job, self.arguments, self.run_folder, self.kept = kind, job, arguments, run_folder, kept
        self.failures: list[BaseException] = []
        self.full = os.environ.get("HYDRA_FULL_ERROR") == "1"
        self.composed = False

    def run(self) -> None:
        """Compose the config (or those of a sweep) and do the job; exits 2 when it failed."""
        try:
            import hydra
        except ModuleNotFoundError as error:
            sys.exit(f"error: {error}; activate the environment that `make train` or `make test` makes: . .venv/bin/activate")
        from raccoon import plugins
        from raccoon.cli.program import sweep
        from raccoon.runs import interrupts, places

        plugins.install()
        start = hydra.main(version_base="1.3", config_path=f"pkg://{plugins.CONF}", config_name=self.kind)(self._composed)
        places.new_launch()
        with _hydra_sees(self.arguments):
            try:
                start()
                if (jobs := sweep.current()) is not None:
                    self.failures += jobs.conclude()
            except Exception as error:
                if interrupts.is_interrupt(error) or (interrupts.pending() and not self.composed):  # Hydra makes errors of its own of it
                    raise KeyboardInterrupt from error
                self._refuse(error)
            finally:
                sweep.close()
        if self.failures:
            sys.exit(2)

    def _composed(self, cfg: DictConfig) -> None:
        """The config is there: run the job, alone or as one of a sweep."""
        from hydra.core.hydra_config import HydraConfig

        from raccoon.cli.program import sweep
        from raccoon.runs import interrupts, places

        self.composed = True
        try:
            settled(cfg)
            if (jobs := sweep.current()) is not None:
                jobs.job(HydraConfig.get().job.num, cfg, self.kind, functools.partial(self._work, cfg))
            else:
                with contextlib.nullcontext() if places.is_first_rank() else output.quiet():
                    self._work(cfg)
        except Exception as error:
            if interrupts.is_interrupt(error):
                raise KeyboardInterrupt from error
            if self.full:
                raise
            if not expected(error):
                traceback.print_exc()
                sys.exit(1)
            print(f"error: {told(error)}", file=sys.stderr)
            self.failures.append(error)  # the other jobs of a multirun still run

    def _work(self, cfg: DictConfig) -> None:
        """Check the config, open the run folder, do the job."""
        from hydra.core.hydra_config import HydraConfig

        from raccoon.cli.program import advice, before, first_use, sweep
        from raccoon.config.instantiate import plain
        from raccoon.runs import folder as runs

        overrides = HydraConfig.get().overrides.task
        check_keys(self.kind, cfg, overrides)
        advice.check_groups(overrides)
        advice.check_missing(cfg)
        first_use.notice()
        if staged := cfg.get("stages") is not None:
            from raccoon.cli.stages.checked import everywhere

            cfg = everywhere(cfg, overrides)
        before.check(self.kind, plain(cfg), overrides)
        if not self.run_folder:
            self.job(plain(cfg), None)
            return
        with runs.open_run(cfg, self.kind, again=staged) as run:
            self.kept.append(str(run.dir if (jobs := sweep.current()) is None else jobs.sweep.dir))
            print(f"report: {run.dir / 'report.md'}") if run.reported else self.job(run.config, run)

    def _refuse(self, error: Exception) -> None:
        """Say what Hydra, or the end of a sweep, could not do."""
        from raccoon.cli.program import advice

        if self.full or (self.composed and not expected(error)):
            raise error
        where = "" if expected(error) else f" (in {' '.join(self.arguments)})"
        print(f"error: {advice.advice(self.kind, self.arguments) or told(error, where)}", file=sys.stderr)
        self.failures.append(error)


@contextlib.contextmanager
def _hydra_sees(arguments: list[str]) -> Iterator[None]:
    """Within: Hydra reads ``arguments``, and passes its errors on instead of printing them in its own ways."""
    argv, full = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv, os.environ["HYDRA_FULL_ERROR"] = [sys.argv[0], *arguments], "1"
    try:
        yield
    finally:
        sys.argv = argv
        os.environ.pop("HYDRA_FULL_ERROR") if full is None else os.environ.__setitem__("HYDRA_FULL_ERROR", full)


@contextlib.contextmanager
def _interruptible() -> Iterator[list[str]]:
    """Ctrl-C and SIGTERM end the program with one line that says how to go on, and with 128 + the signal's number.

    Yields a list for the folder that keeps what is done, where there is one.
    """
    from raccoon.runs import interrupts

    kept: list[str] = []
    atexit.register(gc.freeze)  # runs last: a search for garbage in all of torch would keep the ended program for seconds
    with interrupts.heard():
        try:
            yield kept
        except (KeyboardInterrupt, SystemExit, SystemError) as error:
            if not interrupts.is_interrupt(error):
                raise
            from raccoon.runs import places

            if places.is_first_rank():  # one process of a training speaks for all
                folder = "".join(f": {name} keeps what is done; the same command continues it" for name in kept[-1:])
                print(f"interrupted{folder}", file=sys.stderr)
            sys.exit(interrupts.exit_status())


def plain_main(run: Callable[[list[str]], str]) -> None:
    """A command line without a config: prints what ``run(arguments)`` returns; exits 2 with one message on a RaccoonError, and where
    a disk is full or may not be used."""
    from raccoon.contracts import RaccoonError

    try:
        with _interruptible(), output.guarded(keeps=False):
            print(_unmarked(run(sys.argv[1:])))
    except (RaccoonError, OSError) as error:
        if not expected(error):
            raise
        print(f"error: {_unmarked(told(error))}", file=sys.stderr)
        sys.exit(2)


def _unmarked(text: str) -> str:
    """Without the marks around code of a docstring that is shown as help."""
    return text.replace("``", "")


def section(config: dict[str, Any], name: str) -> Any:
    """A section of a config that the program cannot do without. Raises RaccoonError when it was taken out."""
    if name not in config:
        raise missing(name)
    return config[name]

"""``raccoon-evaluate``, ``python evaluate.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section

if TYPE_CHECKING:
    from raccoon.runs.folder import Run

__all__ = ["evaluate", "main"]


def evaluate(config: dict[str, Any], run: Run) -> None:
    """Measure the player of ``config``, write the report into the run's folder and log it where ``logger`` names one."""
    from raccoon.config.instantiate import build
    from raccoon.contracts import Evaluator
    from raccoon.executor import Executor

    executor = build(section(config, "executor"), "executor", Executor)
    evaluator = build(section(config, "evaluator"), "evaluator", Evaluator, executor=executor)
    if not config.get("logger"):
        _measure(config, run, evaluator)
        return
    from raccoon.report.wandb_tables import log_report
    from raccoon.runs import provenance
    from raccoon.train.loggers import begin, build_loggers, closing_loggers

    with closing_loggers():
        loggers = build_loggers(config["logger"])
        begin(loggers, config, provenance.record(run.dir))
        _measure(config, run, evaluator)
        log_report(loggers, run.dir)


def _measure(config: dict[str, Any], run: Run, evaluator: Any) -> None:
    from raccoon.report import measurement, report_files

    result = measurement.measure(evaluator, section(config, "player"), config.get("opponent"), run.dir, config["seed"])
    report_files.write(result, run.dir)
    report_files.show(result)
    print(f"report: {run.dir / 'report.md'}")


def main() -> None:
    """Measure a player; see ``--help``."""
    run_command("evaluate", evaluate)


if __name__ == "__main__":
    main()

"""``raccoon-evaluate``, ``python evaluate.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raccoon.cli.app import main as run_command
from raccoon.cli.app import section

if TYPE_CHECKING:
    from raccoon.runs import Run

__all__ = ["main"]


def _job(config: dict[str, Any], run: Run) -> None:
    from raccoon.build import build
    from raccoon.eval import report

    executor = build(section(config, "executor"), "executor")
    evaluator = build(section(config, "evaluator"), "evaluator", executor=executor)
    result = evaluator.run(section(config, "player"), config.get("opponent"), run.dir, config["seed"])
    report.write(result, run.dir)
    report.show(result)
    print(f"report: {run.dir / 'report.md'}")


def main() -> None:
    """Measure a player; see ``--help``."""
    run_command("evaluate", _job)


if __name__ == "__main__":
    main()

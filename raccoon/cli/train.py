"""``raccoon-train``, ``python train.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section

if TYPE_CHECKING:
    from raccoon.runs.folder import Run

__all__ = ["main"]


def _job(config: dict[str, Any], run: Run) -> None:
    if config.get("stages") is not None:
        from raccoon.cli.stages.run import run_stages

        run_stages(config, run)
        return
    from raccoon.train.run import train

    for name in ("encoder", "model", "data", "trainer", "executor"):
        section(config, name)
    train(config, run)


def main() -> None:
    """Train; see ``--help``."""
    run_command("train", _job)


if __name__ == "__main__":
    main()

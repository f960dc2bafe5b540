"""A training from Python: what ``python train.py`` does, measured at its end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from raccoon.api.loading import composed
from raccoon.contracts import Report

__all__ = ["train_net"]


def train_net(overrides: Iterable[str] = (), *, folder: str | Path) -> Report:
    """Make labels, train a network and measure it, as ``python train.py`` does with these ``overrides``.

    ``folder`` is the run folder; it holds the network as ``net.pt`` and the report, and an interrupted training of the same settings
    continues in it. Labels go to ``paths.data_dir``. ``executor.workers=0`` (or ``debug=fast``, which takes seconds) stays in this
    process; workers need the caller's script to be guarded by ``if __name__ == "__main__"``. Figures of the report are named
    ``val/..`` and ``<measurement>/..``. Raises RaccoonError naming the key for settings that cannot work, and the folder where it holds
    another run.
    """
    from raccoon.report import report_files
    from raccoon.runs import folder as runs
    from raccoon.train.run import train

    config = composed("train", overrides)
    config.paths.run_dir = str(folder)
    with runs.open_run(config, "train") as run:
        return report_files.read(train(run.config, run))

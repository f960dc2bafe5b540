"""Train a small network on GNUBG's labels and measure it: python examples/train_and_measure.py [FOLDER]

``debug=fast`` makes it a matter of seconds; leave it out for the network of `make train`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import raccoon


def main(folder: Path) -> raccoon.Report:
    report = raccoon.train_net(["debug=fast", "model=mlp_small", f"paths.data_dir={folder / 'data'}"], folder=folder / "run")
    for name, figure in report.figures.items():
        print(f"{name:40} {figure.value:.4g}")

    engine = raccoon.load_engine(folder / "run" / "net.pt")
    start = raccoon.read_position("4HPwATDgc/ABMA")
    print(f"the side on roll has {3 * engine.value(start.board[None])[0]:+.3f} points at the start")
    return report


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))

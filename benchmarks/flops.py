"""How long networks of the published sizes would train, by arithmetic: ``python -m benchmarks.flops [--rows N] [--tflops 10 100 300]``.

Prints a table: FLOPs of a row (``raccoon.train.flops``), of one pass over so many rows, and its time on devices that keep up so many
TFLOP/s. Nothing is run: what share of its peak a device keeps up with small networks is for ``train.py`` to tell (*expected and actual*).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.env.encoder import Encoder
from raccoon.model.factory import outline
from raccoon.progress import duration
from raccoon.report.report_files import grid
from raccoon.train.flops import flops_of, minutes_of

SIZES = {"mlp": "tactics", "resnet2x32": "all", "resnet4x64": "all", "resnet6x128": "all", "resnet10x256": "all"}
"""Models of the group, with the encoder that each is trained with."""


def table(rows: int, speeds: Sequence[float]) -> list[dict[str, Any]]:
    """A row for each size, of a training on values."""
    found = []
    for model, encoder in SIZES.items():
        cfg = plain(compose("train", [f"model={model}", f"encoder={encoder}", "model.policy=false"]))
        net = outline(cfg["model"], build(cfg["encoder"], "encoder", Encoder))
        flops = flops_of(net)
        times = {f"{rows:,} rows at {speed:g} TFLOP/s": duration(60 * minutes_of(rows * flops.training, speed)) for speed in speeds}
        size = {"model": model, "encoder": encoder, "parameters": f"{sum(one.numel() for one in net.parameters()):,}"}
        found.append(size | {"MFLOP forward": flops.forward / 1e6, "MFLOP training": flops.training / 1e6, **times})
    return found


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=40_000_000)
    parser.add_argument("--tflops", type=float, nargs="+", default=[10.0, 100.0, 300.0])
    given = parser.parse_args()
    heads, lines = grid(table(given.rows, given.tflops))
    for line in (heads, ["---", "---", *["---:"] * (len(heads) - 2)], *lines):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()

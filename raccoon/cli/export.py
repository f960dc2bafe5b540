"""``python -m raccoon.cli.export IN OUT``: a checkpoint (.pt or .ckpt) as a small network file (.pt) with 16-bit weights.

IN may be "default" or "prune", the networks that ship with Raccoon. Of a training checkpoint the averaged weights are
taken. What it says about its making goes along.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from raccoon.cli.program.app import plain_main
from raccoon.contracts import RaccoonError
from raccoon.files import check_suffix

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> str:
    """Do what the arguments say and return the text to print. Raises RaccoonError."""
    if any(argument in ("-h", "--help") for argument in arguments):
        return f"usage: {(__doc__ or '').strip()}"
    if len(arguments) != 2 or arguments[0].startswith("-"):
        raise RaccoonError(f"usage: {(__doc__ or '').strip()}")
    from raccoon import assets

    source, target = arguments
    check_suffix(target, "a network", ".pt")
    if source not in assets.NETS and not Path(source).exists():
        raise RaccoonError(f"{source}: no such checkpoint")
    from raccoon.model import checkpoint_file

    source = assets.path(assets.NETS[source]) if source in assets.NETS else source
    net, header = checkpoint_file.load(source)
    checkpoint_file.save(target, net, header.get("meta"), half=True)
    return f"{target}: {Path(target).stat().st_size:,} bytes, {net.encoder.describe()}"


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


if __name__ == "__main__":
    main()

"""``python -m raccoon.cli.rgp``: a player that other programs play, by text messages on stdin and stdout (``docs/rgp.md``)."""

from __future__ import annotations

import io
import sys
from typing import Any

from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section

__all__ = ["main"]


def _job(config: dict[str, Any], _: Any) -> None:
    from raccoon.config.instantiate import build
    from raccoon.contracts import Player
    from raccoon.protocol import serve

    player = build(section(config, "player"), "player", Player)
    serve(player, sys.stdin.buffer if sys.stdin is not None else io.BytesIO(), sys.stdout)


def main() -> None:
    """Answer messages until ``quit`` or the end of the input; see ``--help``."""
    run_command("rgp", _job, run_folder=False)


if __name__ == "__main__":
    main()

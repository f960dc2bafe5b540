"""``python -m raccoon.cli.serve``: a page in the browser of this machine: analyse, play, look at matches (``docs/serve.md``)."""

from __future__ import annotations

from typing import Any

from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section

__all__ = ["main"]

_HIGHEST_PORT = 65535


def _job(config: dict[str, Any], _: Any) -> None:
    import numpy as np

    from raccoon.checks import whole
    from raccoon.config.instantiate import build
    from raccoon.contracts import Player, RaccoonError, Search
    from raccoon.search.analysis.questions import parts_of

    port = whole("port", section(config, "port"), 0)
    if port > _HIGHEST_PORT:
        raise RaccoonError(f"port={port}: ports end at {_HIGHEST_PORT}")
    try:
        from raccoon.serve.app import create_app
        from raccoon.serve.server import bound, serve
    except ModuleNotFoundError as error:
        raise RaccoonError(f"serve needs {error.name}, which is not installed: pip install 'raccoon[serve]'") from error
    with bound(port) as listening:
        player = build(section(config, "player"), "player", Player)
        if parts_of(player) is None:
            raise RaccoonError(f"player={getattr(player, 'name', player)}: the page asks players that have an engine and a search")
        depths = {"player": player.search}
        for name, node in (section(config, "depths") or {}).items():
            search = build(node, f"depths.{name}", Search)
            if all(search.name != other.name for other in depths.values()):
                depths[name] = search
        app = create_app(player, depths, np.random.default_rng())
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/ (player {player.name}; Ctrl-C ends it)", flush=True)
        serve(app, listening)


def main() -> None:
    """Show the page until Ctrl-C; see ``--help``."""
    run_command("serve", _job, run_folder=False)


if __name__ == "__main__":
    main()

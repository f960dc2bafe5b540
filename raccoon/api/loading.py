"""Engines and players by the names that a command line knows them by, or from a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raccoon.assets import NETS
from raccoon.checks import quoted
from raccoon.contracts import Engine, Player, RaccoonError

if TYPE_CHECKING:
    from raccoon.play.player import EnginePlayer

__all__ = ["composed", "load_engine", "load_player", "player_node"]

Source = str | Path | Mapping[str, Any]
"""An option of a config group, the path of a checkpoint (``.pt`` or ``.ckpt``), or a config node (``_target_`` and arguments)."""


def load_engine(source: Source = "default", overrides: Iterable[str] = ()) -> Engine:
    """An engine: an option of the group ``engine`` (``gnubg0``, ``sage1``, ..), a checkpoint or a config node.

    ``default`` is the network that ships. ``overrides`` are those of a command line, with keys that begin with ``engine.``, such as
    ``engine.precision=bf16``. Raises RaccoonError for a name that is no option, a file that is no checkpoint and a bad override.

    An engine values boards before the roll, ``int8[N, 2, 25]`` with the side on roll in slot 1: ``value(boards)`` is ``float32[N]``,
    equity / 3 to that side, and ``probs6(boards)`` ``float32[N, 6]``.
    """
    from raccoon.config.instantiate import build, plain

    if isinstance(source, Mapping):
        return build(source, "engine", Engine)
    option = _option(source, "engine", NETS)
    chosen = "net" if option is None or option in NETS else option
    config = composed("search", [f"+engine={chosen}", *overrides])
    node = plain(config.engine)
    return build(node | {"path": str(source)} if chosen == "net" and option != "net" else node, "engine", Engine)


def player_node(
    source: Source = "default", *, search: str = "static", cube: str = "janowski", overrides: Iterable[str] = ()
) -> dict[str, Any]:
    """The config node of a player, as workers and evaluators take it: plain values, nothing is loaded.

    ``source``: an option of the group ``player``, a checkpoint, or a node (returned as it is). ``search``, ``cube``: options of these
    groups; ``overrides`` as on a command line, such as ``search.ply=2``. Raises RaccoonError for names and keys that do not exist.
    """
    from raccoon.config.instantiate import plain

    if isinstance(source, Mapping):
        return dict(plain(source))
    option = _option(source, "player")
    words = [f"player={'checkpoint' if option is None else option}", f"search={search}", f"cube={cube}", *overrides]
    config = composed("search", words)
    if option is None:
        config.player.checkpoint = str(source)
    return plain(config.player)


def load_player(
    source: Source = "default", *, search: str = "static", cube: str = "janowski", overrides: Iterable[str] = ()
) -> EnginePlayer | Player:
    """The player that ``player_node`` describes, ready to play. Raises RaccoonError as that does, and for what cannot be loaded."""
    from raccoon.config.instantiate import build

    return build(player_node(source, search=search, cube=cube, overrides=overrides), "player", Player)


def composed(root: str, overrides: Iterable[str]) -> Any:
    """The config of a command line (DictConfig). Raises RaccoonError that says what to write instead of a bad override."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from raccoon.cli.program.advice import advice, check_groups
    from raccoon.cli.program.composing import compose

    words = list(overrides)
    check_groups(words)
    try:
        return compose(root, words)
    except (HydraException, OmegaConfBaseException) as error:
        raise RaccoonError(advice(root, words) or f"{' '.join(words)}: {error}") from error


def _option(source: str | Path, group: str, more: Iterable[str] = ()) -> str | None:
    """``source`` where it is an option of ``group`` or one of ``more``; None where it is the path of a checkpoint."""
    from raccoon.plugins import catalogue

    options = {*catalogue()[group], *more}
    if isinstance(source, str) and source in options:
        return source
    if Path(source).suffix in (".pt", ".ckpt") or Path(source).is_file():
        return None
    raise RaccoonError(
        f"{group}={quoted(str(source))}: is no option and no checkpoint; choose {', '.join(sorted(options))}, or give a path"
    )

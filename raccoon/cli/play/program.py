"""``python -m raccoon.cli.play``: play against any player in a terminal, or by lines of text from a pipe (``docs/play.md``)."""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section

if TYPE_CHECKING:
    from raccoon.cli.play.played import PlayedMatch
    from raccoon.cli.play.session import Session

__all__ = ["converse", "main"]

_KEYS = ("match_length", "jacoby", "beavers", "dice", "seat", "file")
_FOLDER = Path("runs", "play")


def _job(config: dict[str, Any], _: Any) -> None:
    from raccoon.cli.play.session import Session
    from raccoon.config.instantiate import build
    from raccoon.contracts import Player

    _check(config)
    path = _path(config["file"])
    played = _begun(config, path)
    player = build(section(config, "player"), "player", Player)
    seed = None
    if config["dice"] == "random":
        seed = secrets.randbelow(1 << 31) if config["seed"] is None else config["seed"]
    session = Session(played, player, path, config["seat"], seed)
    print(f"you against {player.name}" + ("" if seed is None else f", seed={seed}") + "; help lists what there is")
    try:
        converse(session)
    except KeyboardInterrupt:
        print()  # the prompt stands there
        raise
    finally:
        if session.path.is_file():
            print(f"kept: {session.path}; file={session.path} goes on with it")


def _check(config: dict[str, Any]) -> None:
    from raccoon.checks import quoted, whole
    from raccoon.contracts import RaccoonError

    for key in (*_KEYS, "seed"):
        section(config, key)
    for key in ("jacoby", "beavers"):
        if config[key] is not None and not isinstance(config[key], bool):
            raise RaccoonError(f"{key}={quoted(config[key])}: give true, false, or null (as the file has it)")
    for key in ("match_length", "seed"):
        if config[key] is not None:
            whole(key, config[key], 0)
    if config["match_length"] and (config["jacoby"] or config["beavers"]):
        raise RaccoonError("jacoby, beavers: rules of money games; leave them out of a match")
    for key, known in (("dice", ("random", "manual")), ("seat", (1, 2))):
        if isinstance(config[key], bool) or config[key] not in known:
            raise RaccoonError(f"{key}={quoted(config[key])}: give {known[0]} or {known[1]}")
    if config["dice"] == "manual" and config["seed"] is not None:
        raise RaccoonError("seed: dice=manual rolls no dice; leave one of them out")


def _path(file: Any) -> Path:
    from raccoon.cli.play.session import kept_as

    if file is not None:
        return kept_as(file, "file")
    name = time.strftime("%Y-%m-%d_%H-%M-%S")
    taken = (_FOLDER / f"{name}{'' if number == 1 else f'-{number}'}.mat" for number in range(1, 1 << 20))
    return next(path for path in taken if not path.exists())


def _begun(config: dict[str, Any], path: Path) -> PlayedMatch:
    """A new match, or the one in the file. Raises RaccoonError where the file has other rules than the command line."""
    from raccoon.cli.play.played import PlayedMatch
    from raccoon.contracts import RaccoonError
    from raccoon.matches.read import read_match

    if not path.exists():
        return PlayedMatch.new(config["match_length"] or 0, bool(config["jacoby"]), bool(config["beavers"]))
    played = PlayedMatch.resume(read_match(path))
    for key in ("match_length", "jacoby", "beavers"):
        has = getattr(played.game.position, key)
        if config[key] is not None and config[key] != has:
            raise RaccoonError(f"{key}={config[key]}: {path} has {key}={has}; leave {key} out, or name another file")
    return played


def converse(session: Session) -> None:
    """Read lines until ``quit`` or the end of the input, and print what they lead to. Raises what the player raises."""
    from raccoon.cli.play.commands import answer
    from raccoon.contracts import RaccoonError

    source = sys.stdin  # None where it was closed
    shown = source is not None and source.isatty()
    if (reconfigure := getattr(source, "reconfigure", None)) is not None:
        reconfigure(errors="replace")
    if shown:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # lines can be edited, and come back with the arrow keys
    while not session.ended:
        for text in session.proceed():
            print(text, flush=True)
        line = None if source is None else _line(f"{session.waits}> ", shown)
        if line is None:
            return
        try:
            told = answer(session, line)
        except RaccoonError as error:
            told = f"error: {error}"
        if told is not None:
            print(told, flush=True)


def _line(prompt: str, shown: bool) -> str | None:
    """The next line of the input, None after the last; from a pipe it is printed, as a terminal shows it."""
    try:
        line = input(prompt)
    except EOFError:
        print()
        return None
    if not shown:
        print(line)
    return line


def main() -> None:
    """Play; see ``--help``."""
    run_command("play", _job, run_folder=False)

"""Keys that a command line sets and its program does not read: refused, for they would change nothing and say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from raccoon.contracts import RaccoonError

if TYPE_CHECKING:
    from omegaconf import DictConfig

__all__ = ["READ", "WITHIN", "check_keys", "check_players", "key_of"]

_ANY = frozenset({"seed", "resume", "paths", "executor"})
_TRAIN = frozenset(
    {"encoder", "model", "data", "trainer", "optimizer", "callbacks", "runtime", "logger", "search", "opponent", "final", "init", "stages"}
)
_SEARCH = ("player", "position", "file", "dice", "move", "json", "top", "diagram", "out", "cubeful", "match", "strict", "names", "svg")
_PLAY = ("player", "seed", "file", "match_length", "jacoby", "beavers", "dice", "seat")
READ = {
    "train": _ANY | _TRAIN,
    "evaluate": _ANY | {"search", "cube", "player", "opponent", "evaluator", "logger"},
    "generate": _ANY | {"data", "folder"},
    "search": _ANY | {"search", "cube", *_SEARCH},
    "rgp": _ANY | {"search", "cube", "player"},
    "serve": _ANY | {"search", "cube", "player", "port", "depths"},
    "play": _ANY | {"search", "cube", *_PLAY},
}
"""The keys at the top of the config of each command line."""
WITHIN = {
    "train": tuple(sorted((_ANY - {"paths"}) | _TRAIN | {"paths.run_dir"})),
    "evaluate": ("seed", "resume", "paths.run_dir", "executor", "player", "opponent", "evaluator", "logger"),
    "generate": ("resume", "paths", "executor", "folder", "data.source", "data.data_dir", "data.minutes"),
    "search": ("resume", *_SEARCH),
    "rgp": ("player",),
    "serve": ("player", "port", "depths"),
    "play": _PLAY,
}
"""What is read of them where it is not all: an override elsewhere counts if one of these refers to it."""
_INSTEAD = {"seed": "data.source.seed decides which games there are"}


def check_keys(kind: str, cfg: DictConfig, overrides: Iterable[str] = ()) -> None:
    """Raise RaccoonError for a key at the top that the program ``kind`` does not read and no other value refers to, and for one of
    the ``overrides`` of the command line that sets something which it does not read."""
    from omegaconf import OmegaConf

    read = READ.get(kind)
    unknown = [str(key) for key in cfg if str(key) not in read] if read else []
    text = OmegaConf.to_yaml(cfg) if unknown else ""
    for key in unknown:
        if not re.search(rf"\$\{{{re.escape(key)}[.}}\[]", text):
            raise RaccoonError(f"{key}: nothing reads that key; leave out +{key}")
    for key in {"player.checkpoint", "opponent.checkpoint"} & set(_set(cfg, overrides)):
        player = key.split(".")[0]
        if "checkpoint" not in OmegaConf.to_yaml(OmegaConf.create({"engine": _part(cfg, f"{player}.engine")})):
            raise RaccoonError(f"{key}: no network of {player}.engine reads it; leave it out, or leave that engine out")
    if kind not in WITHIN:
        return
    parts = WITHIN[kind]
    text = OmegaConf.to_yaml(OmegaConf.create({part: _part(cfg, part) for part in parts}))
    for key in _set(cfg, overrides):
        if any(_inside(key, part) or _inside(part, key) for part in parts) or _referred(key, text):
            continue
        near = [part for part in parts if part.split(".")[0] == key.split(".")[0]]
        listed = " and ".join([", ".join(near[:-1]), near[-1]] if near[1:] else near)
        told = _INSTEAD.get(key, f"it reads {listed}" if near else "nothing that it reads refers to it")
        raise RaccoonError(f"{key}: {kind} does not read that key ({told}); leave it out")
    if cfg.get("folder") is not None and (given := {"data.data_dir", "paths.data_dir"} & set(_set(cfg, overrides))):
        raise RaccoonError(f"folder={cfg.folder}: says where the set goes, and so does {given.pop()}; leave one of them out")


def check_players(evaluator: Any, cfg: Mapping[str, Any], overrides: Iterable[str]) -> None:
    """Raise RaccoonError for an override of a player that takes no part in the measurement (``evaluator.reads``)."""
    reads = getattr(evaluator, "reads", ("player", "opponent"))
    for key in _set(cfg, overrides):
        root = key.split(".")[0]
        if root in ("player", "opponent") and root not in reads:
            name = getattr(evaluator, "name", type(evaluator).__name__)
            raise RaccoonError(f"{key}: evaluator={name} does not read it: no {root} takes part in it as it is set; leave {key} out")


def _set(cfg: Mapping[str, Any], overrides: Iterable[str]) -> Iterator[str]:
    """The dotted keys that overrides set; a group's is the place where its option goes."""
    for word in overrides:
        key = key_of(word)
        if key.split(".")[0] in cfg:
            yield key


def key_of(override: str) -> str:
    """The dotted key that an override sets; of a group's the place where its option goes."""
    return override.lstrip("+~").split("=")[0].split("@")[-1].split(":")[-1].replace("/", ".")


def _part(cfg: DictConfig, part: str) -> Any:
    from omegaconf import OmegaConf

    node: Any = OmegaConf.to_container(cfg, resolve=False)
    for key in part.split("."):
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _inside(key: str, part: str) -> bool:
    return key == part or key.startswith(f"{part}.")


def _referred(key: str, text: str) -> bool:
    """Whether ``${key}``, or ``${..}`` of something around it, is in ``text``."""
    words = key.split(".")
    around = [".".join(words[: count + 1]) for count in range(len(words))]
    return any(re.search(rf"\$\{{{re.escape(one)}[}}\[]", text) for one in around) or f"${{{key}." in text

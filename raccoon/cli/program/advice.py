"""What to say of overrides that do not fit: Hydra's own words name its inner workings, or advise what does not help here.

Everything is read from the overrides and the catalogue; Hydra's error is only the reason to look.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from raccoon.checks import quoted
from raccoon.plugins import catalogue, defaults

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

__all__ = ["advice", "check_groups", "check_missing"]

_ID = re.compile(r"[A-Za-z0-9+/]{14}(:[A-Za-z0-9+/]{12})?")
_PROGRAM = {kind: f"python -m raccoon.cli.{kind}" for kind in ("generate", "rgp", "serve", "play")}
_MULTIRUN = {"-m", "--multirun"}
_OWN_CONFIG = {"--config-name", "-cn", "--config-dir", "-cd", "--config-path", "-cp"}  # what the keys are is not known here
_TAKES_A_WORD = {"--cfg", "-c", "--package", "-p", "--info", "-i"}
_MANY = 20  # options that a message lists
_NEAR = 3


def advice(kind: str, arguments: Sequence[str]) -> str | None:
    """One line about the first override in ``arguments`` that the command line ``kind`` cannot use, and what to write instead.

    None where none is found. To be asked once Hydra has refused them: configs are composed.
    """
    if not _OWN_CONFIG.isdisjoint(arguments):
        return None
    read = []
    for word in _words(arguments):
        override = _parsed(word)
        if override is None:
            found = _unreadable(kind, word)
            if found:
                return found
        else:
            read.append(override)
    groups = catalogue()
    sweeps = not _MULTIRUN.isdisjoint(arguments)
    checks: list[Callable[[Override], str | None]] = [
        lambda each: None if sweeps else _several(kind, each, groups),
        lambda each: _group(kind, each, groups, read),
        lambda each: _option(each, groups),
        _slash,
    ]
    told = next((told for each in read for check in checks if (told := check(each))), None)
    return told or _keys(kind, read, groups)


def check_groups(overrides: Iterable[str]) -> None:
    """Raise RaccoonError for ``search.filter=union``: it would put a text where the option of a group was meant."""
    from raccoon.contracts import RaccoonError

    for word in overrides:
        override = _parsed(word)
        told = None if override is None else _slash(override)
        if told:
            raise RaccoonError(told)


def check_missing(config: DictConfig) -> None:
    """Raise RaccoonError naming what a chosen option needs and nobody gave, such as the path of ``player=checkpoint``."""
    from omegaconf import OmegaConf

    from raccoon.contracts import RaccoonError

    missing = [key for key, value in _flat(OmegaConf.to_container(config, resolve=False), "") if value == "???"]
    if missing:
        raise RaccoonError(f"{', '.join(missing)}: needs a value; add {' '.join(f'{key}=...' for key in missing)}")


def _words(arguments: Sequence[str]) -> list[str]:
    """The arguments that are no flags and belong to none."""
    pairs = zip(["", *arguments], arguments, strict=False)
    return [word for before, word in pairs if not word.startswith("-") and before not in _TAKES_A_WORD]


def _parsed(word: str) -> Override | None:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_override(word)
    except HydraException:
        return None


def _unreadable(kind: str, word: str) -> str | None:
    """About a word that is no override."""
    if kind == "search" and _ID.fullmatch(word):
        return f"{word}: write position={word}"
    if "=" not in word:
        return f"{quoted(word)[1:-1]}: write KEY=VALUE or GROUP=OPTION (--help lists them)"
    key, _, value = word.partition("=")
    return f"{quoted(word)[1:-1]}: a value with = or : in it goes in two kinds of quotes: \"{key}='{value}'\"" if "=" in value else None


def _several(kind: str, override: Override, groups: dict[str, Any]) -> str | None:
    """About ``a,b`` without -m."""
    if not override.is_sweep_override():
        return None
    key, _, value = (override.input_line or "").partition("=")
    as_list = f"{key}=[{value}]"
    if kind in ("search", "rgp", "serve", "play"):
        return f"{key}={value}: give one" if override.key_or_group in groups else f"{key}={value}: a list goes in brackets: {as_list}"
    one_each = f"{key}={value}: add -m for a run with each value"
    return one_each if override.key_or_group in groups else f"{one_each}; a list goes in brackets: {as_list}"


def _group(kind: str, override: Override, groups: dict[str, Any], overrides: list[Override]) -> str | None:
    """About a key at the top that the program has not."""
    from raccoon.cli.program.keys import READ

    key = override.key_or_group
    top, known = re.split(r"[./]", key)[0], READ[kind]
    if top in known or top in ("hydra", "debug", "experiment", "sweep") or override.is_add() or override.package is not None:
        return None
    if top == "XGID":
        return f"{key}: write \"position='{override.input_line}'\""
    program = _PROGRAM.get(kind, f"{kind}.py")
    owners = [_PROGRAM.get(other, f"{other}.py") for other in READ if top in READ[other]]
    if owners:
        return f"{key}: {program} has no {top}; {' and '.join(owners)} has"
    near = _near(top, [*known, *(group for group in groups if "/" not in group)])
    near = near or _near_keys(key, _composed(kind, _chosen(overrides, groups)))
    return f"{key}: {program} has no {top}{_meant(near)}" + ("" if near else "; --help lists what it has")


def _option(override: Override, groups: dict[str, Any]) -> str | None:
    """About an option that its group has not."""
    group = override.key_or_group
    if group not in groups or override.is_delete():
        return None
    for value in _values(override):
        for name in value if isinstance(value, list) else [value]:
            if name is None:
                return f"{group}=null: {_listed(groups[group])}; ~{group} leaves the group out"
            if str(name) not in groups[group]:
                shown = quoted(str(name))[1:-1]
                return f"{group}={shown}: no such option; {_listed(groups[group])}{_meant(_near(shown, groups[group]))}"
    return None


def _slash(override: Override) -> str | None:
    """About ``search.filter=union``."""
    group = override.key_or_group.replace(".", "/")
    options = catalogue().get(group, {})
    value = None if override.is_delete() or override.is_sweep_override() else override.value()
    if "." not in override.key_or_group or not isinstance(value, str):
        return None
    if value in options:
        return f"{override.input_line}: the option of a group goes with a slash: {group}={value}"
    return f"{override.input_line}: {group} has no such option; {_listed(options)}" if options else None


def _keys(kind: str, overrides: list[Override], groups: dict[str, Any]) -> str | None:
    """About a key, or a group inside another, that the composed config has not: those that are near, and who has it."""
    options = {each.key_or_group: _first(each) for each in overrides if not each.is_delete()}
    tops = _chosen(overrides, groups)
    own = _composed(kind, _chosen(overrides, groups, inner=True)) or _composed(kind, tops)
    for override in overrides:
        name = override.key_or_group
        key, top = name.replace("/", "."), re.split(r"[./]", name)[0]
        known = override.is_add() or override.package is not None or top in ("hydra", name)
        if known or key in own or not own:
            continue
        chosen = options.get(top, defaults(kind).get(top))
        inside = [other for other in own if other.startswith(f"{top}.")]
        told = f"{name}: {f'{top}={chosen} has' if chosen else 'there is'} no such {'group' if name in groups else 'key'}"
        near = _near_keys(key, inside)
        if near:
            return told + _meant(near)
        having = [f"{top}={option}" for option in groups.get(top, ()) if key in _composed(kind, [*tops, f"{top}={option}"])]
        return (
            f"{told}; with it: {', '.join(having)}" if having else f"{told}; {_listed(other.removeprefix(f'{top}.') for other in inside)}"
        )
    return None


def _chosen(overrides: list[Override], groups: dict[str, Any], inner: bool = False) -> list[str]:
    """The options of groups that are chosen (the first of a sweep); without ``inner`` only those of groups at the top."""
    choices = [each for each in overrides if each.key_or_group in groups and not each.is_delete()]
    found = [each for each in choices if inner or ("/" not in each.key_or_group and each.package is None)]
    return [f"{each.get_key_element()}={_first(each)}" if each.is_sweep_override() else str(each.input_line) for each in found]


def _composed(kind: str, overrides: list[str]) -> list[str]:
    """The dotted keys of the config with these choices; none where it cannot be composed."""
    from omegaconf import OmegaConf

    from raccoon.cli.program.composing import compose

    with contextlib.suppress(Exception):  # any option of anybody's package, only to look at its keys
        return [key for key, _ in _flat(OmegaConf.to_container(compose(kind, overrides), resolve=False), "")]
    return []


def _flat(node: Any, path: str) -> Iterable[tuple[str, Any]]:
    """The dotted keys below ``node`` with their values; those of Hydra's own (``_target_``) left out."""
    if isinstance(node, dict):
        for key, value in node.items():
            if not str(key).startswith("_"):
                name = f"{path}.{key}" if path else str(key)
                yield name, value
                yield from _flat(value, name)


def _values(override: Override) -> list[Any]:
    from hydra.core.override_parser.types import ChoiceSweep

    value = override.value()
    return list(override.sweep_iterator()) if isinstance(value, ChoiceSweep) else [] if override.is_sweep_override() else [value]


def _first(override: Override) -> Any:
    return next(iter(_values(override)), None)


def _near(word: str, known: Iterable[str]) -> list[str]:
    """The nearest of the known names; those that it begins like come first."""
    names = list(dict.fromkeys(known))
    begins = [name for name in names if name.startswith(word)]
    return list(dict.fromkeys([*begins, *difflib.get_close_matches(word, names, _NEAR)]))[:_NEAR]


def _near_keys(key: str, known: list[str]) -> list[str]:
    """Keys that end like ``key``, else those whose last part is near its own."""
    leaf = key.split(".")[-1]
    same = [other for other in known if other.split(".")[-1] == leaf]
    near = [] if same else _near(leaf, (each.split(".")[-1] for each in known))
    return (same or [other for name in near for other in known if other.endswith(f".{name}")])[:_NEAR]


def _meant(near: list[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return f"there are {', '.join(found[:_MANY])}" + (f" and {len(found) - _MANY} more" if len(found) > _MANY else "")

"""Does a config value suit the parameter it is for? Read off the annotations, so that every target is checked alike.

Without this, ``lr: fast`` fails somewhere inside, ``progress: "no"`` counts as yes and ``games: 1.5`` plays one game.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError

__all__ = ["accepted", "check_arguments"]

Fit = Callable[[Mapping[str, Any], Any], bool]
_LIMIT = 2**63
_SCALARS: dict[Any, Callable[[Any], bool]] = {
    type(None): lambda value: value is None,
    bool: lambda value: isinstance(value, bool),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LIMIT,
    float: lambda value: isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf,
    str: lambda value: isinstance(value, str),
    Path: lambda value: isinstance(value, str | Path),
}
_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", type(None): "null"}


def _any(node: Mapping[str, Any], hint: Any) -> bool:
    return True


def check_arguments(target: Callable[..., Any], arguments: Mapping[str, Any], at: str = "", fit: Fit | None = _any) -> None:
    """Hold config values against the annotations of ``target``'s parameters.

    Numbers, texts, booleans, null, lists, mappings and choices are checked. ``fit(node, annotation)`` says whether a node with a
    ``_target_`` suits (None: it is a mapping like any other). A value equal to the default is always right. Raises RaccoonError
    naming the key.
    """
    hints, defaults = _parameters(target)
    for name, value in arguments.items():
        if name not in hints:
            continue
        if name in defaults and type(value) is type(defaults[name]) and value == defaults[name]:
            continue
        if not _suits(value, hints[name], fit):
            if fit is not None and isinstance(value, Mapping) and "_target_" in value:
                key, takes = f"{at}.{name}" if at else name, inspect.formatannotation(hints[name])
                raise RaccoonError(f"{key}._target_={value['_target_']}: makes something else than this place takes, {takes}")
            wanted = _words(hints[name]) + (" below 2**63" if type(value) is int and abs(value) >= _LIMIT else "")
            raise RaccoonError(f"{at}.{name}={quoted(value)}: give {wanted}" if at else f"{name}={quoted(value)}: give {wanted}")


@functools.lru_cache(maxsize=256)
def _parameters(target: Callable[..., Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Resolved annotations and defaults by name; nothing where they cannot be read."""
    found: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for one in target.__mro__ if inspect.isclass(target) else [target]:
        if inspect.isclass(one) and "__init__" not in vars(one):
            continue
        try:
            parameters = inspect.signature(one).parameters.values()
            hints = _hints(one)
        except (NameError, TypeError, ValueError, AttributeError):
            break
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        found = {p.name: hints[p.name] for p in named if p.name in hints} | _unpacked(hints, parameters) | found
        defaults = {p.name: p.default for p in named if p.default is not p.empty} | defaults
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break  # further keywords usually go to the next class
    return found, defaults


def accepted(target: Callable[..., Any]) -> tuple[list[str], bool]:
    """Keywords that ``target`` takes, and whether it may take others (``**options`` without an ``Unpack`` of a TypedDict).

    Raises ValueError for a C function without a signature.
    """
    parameters = inspect.signature(target).parameters.values()
    keywords = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        return keywords, False
    try:
        more = _unpacked(_hints(target), parameters)
    except (NameError, TypeError, AttributeError):
        more = {}
    return [*keywords, *more], not more


def _unpacked(hints: Mapping[str, Any], parameters: Iterable[inspect.Parameter]) -> dict[str, Any]:
    """Annotations of the keywords that ``**options: Unpack[SomeTypedDict]`` stands for."""
    for parameter in parameters:
        hint = hints.get(parameter.name)
        if parameter.kind is parameter.VAR_KEYWORD and typing.get_origin(hint) is typing.Unpack:
            return typing.get_type_hints(typing.get_args(hint)[0])
    return {}


def _hints(target: Any) -> dict[str, Any]:
    """Annotations of the parameters; the return type may be one that only a type checker imports."""
    if inspect.isclass(target):
        fields = {one.name for one in dataclasses.fields(target)} if dataclasses.is_dataclass(target) else set[str]()
        if fields and fields >= {*inspect.signature(target).parameters}:
            return typing.get_type_hints(target)  # fields may come from a base in another module
        target = target.__init__
    inner = inspect.unwrap(getattr(target, "__func__", target))
    named = {name: hint for name, hint in inner.__annotations__.items() if name != "return"}
    return typing.get_type_hints(types.SimpleNamespace(__annotations__=named), inner.__globals__)


def _suits(value: Any, hint: Any, fit: Fit | None) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if fit is not None and isinstance(value, Mapping) and "_target_" in value:
        return fit(value, hint)
    if origin in (Union, types.UnionType):
        return any(_suits(value, one, fit) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if hint in _SCALARS:
        return _SCALARS[hint](value)
    kind = origin or hint
    if kind in (Sequence, list, tuple):
        return isinstance(value, list | tuple) and _each(value, [one for one in inner if one is not Ellipsis], fit)
    if kind in (Mapping, dict):
        return isinstance(value, Mapping) and (not inner or _each(list(value.values()), inner[1:], fit))
    other = hint is Any or hint is object or not inspect.isclass(kind) or issubclass(kind, Enum)
    return other or not isinstance(value, str | int | float | list | tuple | Mapping | None)


def _each(values: Sequence[Any], hints: Sequence[Any], fit: Fit | None) -> bool:
    """Does every value suit, the hints being one for all or one each?"""
    if len(hints) > 1 and len(hints) != len(values):
        return False
    return all(_suits(value, hints[min(i, len(hints) - 1)], fit) for i, value in enumerate(values)) if hints else True


def _words(hint: Any) -> str:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(one) for one in inner)
    if origin is Literal:
        return " or ".join(repr(one) for one in inner)
    if hint in _WORDS:
        return _WORDS[hint]
    kind = origin or hint
    if kind in (Sequence, list, tuple):
        return "a list" + _of(inner[:1])
    if kind in (Mapping, dict):
        return "a mapping" + _of(inner[1:])
    if hint is Path:
        return "a path"
    return "a node with _target_"


def _of(inner: Sequence[Any]) -> str:
    return f" with {_words(inner[0])} each" if inner and inner[0] is not Any else ""

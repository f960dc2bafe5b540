"""What a ``_target_`` may name: a class that an allowed package defines, or a factory that an installed option names.

The object itself must come from an allowed package, so that no name leads out of one: neither through what a module has
imported (``raccoon.files.os``) nor through functions that are no factories (``raccoon.files.write_text``).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any, Union

from raccoon.aliases import public
from raccoon.checks import quoted
from raccoon.contracts import RaccoonError

__all__ = ["allowed_packages", "check_name", "describe", "fits", "is_kind", "locate", "members"]

_BUILT_IN = ("raccoon", "lightning.pytorch.callbacks", "lightning.pytorch.loggers", "torch.optim")


def allowed_packages() -> tuple[str, ...]:
    """Packages whose classes may be built: Raccoon's own, Lightning's callbacks and loggers, torch's
    optimisers, registered plugins."""
    from raccoon.plugins import plugin_packages

    return (*_BUILT_IN, *plugin_packages())


def locate(target: Any, where: str = "") -> Callable[..., Any]:
    """The class, or the factory (a function or class method that an installed option names), behind a dotted name.

    Raises RaccoonError naming ``where`` for any other name, before a module outside the allowed packages is imported.
    """
    key = f"{where or 'config'}._target_={quoted(target)}"
    packages = check_name(target, where)
    target = public(target)
    try:
        found = _walk(target, packages)
    except Exception as error:  # importing a stranger's module can fail in any way
        raise RaccoonError(f"{key} cannot be imported: {error}") from error
    if not callable(found) or inspect.ismodule(found):
        raise RaccoonError(f"{key} is not a class or function")
    owner = found.__self__ if inspect.ismethod(found) else found
    if not _inside(f"{getattr(owner, '__module__', None)}.", packages):
        raise RaccoonError(f"{key} may not be built from a config: it belongs to {quoted(getattr(owner, '__module__', 'another package'))}")
    if not inspect.isclass(found) and not _is_factory(found, target):
        raise RaccoonError(f"{key} may not be built from a config: it is no class, and no installed option names it as a factory")
    return found


def check_name(target: Any, where: str = "") -> tuple[str, ...]:
    """The allowed packages, if ``target`` is the name of something in one of them; else RaccoonError naming ``where``."""
    packages = allowed_packages()
    if not isinstance(target, str) or not _inside(target, packages) or not all(map(_public, target.split("."))):
        allowed = ", ".join(f"{package}.*" for package in packages)
        key = f"{where or 'config'}._target_={quoted(target)}"
        raise RaccoonError(f"{key} may not be built from a config; allowed are classes in {allowed}")
    return packages


def _inside(name: str, packages: tuple[str, ...]) -> bool:
    return name.startswith(tuple(f"{package}." for package in packages))


def _public(part: str) -> bool:
    return part.isidentifier() and not part.startswith("_")


def _walk(target: str, packages: tuple[str, ...]) -> Any:
    """Packages and modules as far as they go, then attributes; no module but those that the name itself spells."""
    parts = target.split(".")
    found: Any = importlib.import_module(next(package for package in packages if target.startswith(f"{package}.")))
    for depth in range(found.__name__.count(".") + 1, len(parts)):
        part, name = parts[depth], ".".join(parts[: depth + 1])
        if not inspect.ismodule(found) and not inspect.isclass(found):
            raise AttributeError(f"{'.'.join(parts[:depth])} has no parts")
        if inspect.ismodule(found) and part not in vars(found) and hasattr(found, "__path__") and importlib.util.find_spec(name):
            found = importlib.import_module(name)
        else:
            found = getattr(found, part)
        if inspect.ismodule(found) and found.__name__ != name:
            raise AttributeError(f"{name} is a module from elsewhere")
    return found


def _is_factory(found: Any, target: str) -> bool:
    """A plain function, or a method bound to its class, that an option file of Raccoon or a plugin has as its target."""
    if not (inspect.isfunction(found) or (inspect.ismethod(found) and inspect.isclass(found.__self__))):
        return False
    from raccoon.plugins import option_targets

    return not option_targets().isdisjoint((target, f"{found.__module__}.{found.__qualname__}"))


def fits(found: Callable[..., Any], hint: Any, partial: bool = False) -> bool:
    """Can what ``found`` makes (``partial``: a function that makes it) be meant for a place annotated with ``hint``?

    True where that shows only once it is made: ``Any``, factories whose return type cannot be read.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(found, one, partial) for one in inner)
    if hint is Any or hint is object:
        return True
    if (origin or hint) is Callable:
        return partial and (len(inner) < 2 or fits(found, inner[-1]))
    kind = origin or hint
    if partial or not inspect.isclass(kind):
        return not partial and kind is not typing.Literal
    made = found if inspect.isclass(found) else _returned(found)
    if made is None:
        return True
    if _is_protocol(kind):
        return all(callable(getattr(made, name, None)) for name in members(kind) if callable(getattr(kind, name, None)))
    return issubclass(made, kind)


def is_kind(made: Any, kind: type) -> bool:
    """Is ``made`` of the class ``kind``, or has it all members of the protocol ``kind``?"""
    return all(hasattr(made, name) for name in members(kind)) if _is_protocol(kind) else isinstance(made, kind)


def describe(kind: type) -> str:
    """A class in the words of a message: ``CubeModel`` is a cube model."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


def _returned(found: Callable[..., Any]) -> type | None:
    try:
        hint = typing.get_type_hints(found).get("return")
    except (NameError, TypeError):
        return None
    return hint if inspect.isclass(hint) else None


def _is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def members(kind: type) -> set[str]:
    """Public attributes and methods that the protocol and the protocols it extends name."""
    homes = [home for home in kind.__mro__ if _is_protocol(home) and home is not typing.Protocol]
    return {name for home in homes for name in (*vars(home), *home.__annotations__) if not name.startswith("_")}

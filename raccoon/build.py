"""Builds objects from config nodes. The only caller of Hydra's ``instantiate``.

A node is a plain dict (or DictConfig): ``_target_`` names a class or function, the other keys are its arguments.
Targets come from an allow-list, so that a config file or a checkpoint cannot call anything else.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from raccoon.arguments import check_arguments
from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.executor import fingerprint

__all__ = ["allowed_prefixes", "build", "plain", "shared"]

_BUILT_IN = ("raccoon.", "lightning.pytorch.", "torch.optim.")
_SHARED: dict[str, Any] = {}
_MOST_SHARED = 4
_CONTROL = frozenset({"_target_", "_partial_", "_convert_", "_recursive_", "_args_"})


def allowed_prefixes() -> tuple[str, ...]:
    """Module prefixes that a ``_target_`` may start with: Raccoon's own, two libraries, registered plugins."""
    from raccoon.plugins import plugin_packages

    return (*_BUILT_IN, *(f"{package}." for package in plugin_packages()))


def plain(node: Any) -> Any:
    """A DictConfig or ListConfig as resolved plain dicts and lists; anything else unchanged."""
    from omegaconf import OmegaConf

    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def build(node: Mapping[str, Any], at: str = "", /, **extra: Any) -> Any:
    """The object that ``node`` describes, nested nodes first; lists and dicts arrive as plain ones.

    ``at`` is where the node sits in the config, for messages. ``extra`` are further arguments (already built objects
    are welcome); they win over the node's. With ``_partial_: true`` the result is a ``functools.partial``.
    A target that wants its nested nodes as they are says ``_recursive_: false``.

    Raises RaccoonError naming the key: no or unknown target, arguments that the target does not accept or misses,
    and whatever a constructor refuses.
    """
    node = plain(node)
    if not isinstance(node, Mapping) or "_target_" not in node:
        raise RaccoonError(f"{at or 'config'}: expected a node with _target_, got {quoted(node)}")
    node = {key: value for key, value in node.items() if key not in extra}
    for path, inner, outermost in _nodes(node, at):
        _check(path, inner, extra if outermost else {}, partial=bool(inner.get("_partial_")))
    with _refusals(at or str(node["_target_"])):
        from hydra.utils import instantiate

        # extra never passes through OmegaConf, which would turn dataclasses and dicts into configs
        made = instantiate({**node, "_partial_": True}, _convert_="all")
        return functools.partial(made, **extra) if node.get("_partial_") else made(**extra)


def shared(node: Mapping[str, Any], at: str = "", ready: Callable[[Any], object] | None = None) -> Any:
    """``build(node, at)``, once a process: the same object while the node and the files that it names stay the same.

    For players and engines in workers, which keep no state between calls; the last few are kept. ``ready`` is called
    with the object when it has just been built.
    """
    mark = fingerprint(node)
    if mark not in _SHARED:
        made = build(node, at)
        if ready is not None:
            ready(made)
        while len(_SHARED) >= _MOST_SHARED:
            del _SHARED[next(iter(_SHARED))]
        _SHARED[mark] = made
    return _SHARED[mark]


@contextlib.contextmanager
def _refusals(where: str) -> Iterator[None]:
    """What a constructor refuses, as a RaccoonError that says where; anything else is a fault and passes unchanged."""
    from hydra.errors import InstantiationException

    try:
        yield
    except RaccoonError:
        raise
    except InstantiationException as error:
        cause = error.__cause__
        if cause is not None and _too_large(cause):
            raise RaccoonError(f"{where}: cannot be built, it needs more memory than there is ({cause})") from error
        if isinstance(cause, RaccoonError) or (cause is not None and not isinstance(cause, TypeError | ValueError | ImportError)):
            raise cause from error
        raise RaccoonError(f"{where}: {' '.join(str(error).split())}") from error
    except ImportError as error:
        raise RaccoonError(f"{where}: {error}; is the package installed? (the extras are in pyproject.toml)") from error
    except (TypeError, ValueError) as error:
        raise RaccoonError(f"{where}: {error}") from error
    except (MemoryError, RuntimeError) as error:
        if not _too_large(error):
            raise
        raise RaccoonError(f"{where}: cannot be built, it needs more memory than there is ({error})") from error


def _too_large(error: BaseException) -> bool:
    """Is memory what is missing? torch says so by a RuntimeError."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "allocate memory" in str(error))


def _nodes(node: Any, path: str, outermost: bool = True) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Every node with a target in ``node`` that ``instantiate`` will build, with its key path."""
    if isinstance(node, Mapping):
        if "_target_" in node:
            yield path, node, outermost
            if node.get("_recursive_") is False:
                return
        for key, value in node.items():
            yield from _nodes(value, f"{path}.{key}" if path else str(key), False)
    elif isinstance(node, list | tuple):
        for index, value in enumerate(node):
            yield from _nodes(value, f"{path}[{index}]", False)


def _check(path: str, node: Mapping[str, Any], extra: Mapping[str, Any], partial: bool) -> None:
    target = node["_target_"]
    where = path or "config"
    if not isinstance(target, str) or not target.startswith(allowed_prefixes()):
        allowed = ", ".join(f"{prefix}*" for prefix in allowed_prefixes())
        raise RaccoonError(f"{where}._target_={quoted(target)} may not be built from a config; allowed are {allowed}")
    found = _locate(target, where)
    try:
        parameters = inspect.signature(found).parameters
    except ValueError:  # a C function without a signature: instantiate reports what it refuses
        return
    keywords = [name for name, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = [key for key in node if key not in _CONTROL] + list(extra)
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        unknown = [key for key in given if key not in keywords]
        if unknown:
            names = ", ".join(f"{path}.{key}" if path else key for key in unknown)
            raise RaccoonError(f"{names}: {target} does not take that; it accepts {', '.join(keywords) or 'no arguments'}")
    check_arguments(found, {key: node[key] for key in given if key in node and key not in extra}, path)
    missing = [name for name in keywords if parameters[name].default is inspect.Parameter.empty and name not in given]
    if missing and not partial and "_args_" not in node:
        names = ", ".join(f"{path}.{key}" if path else key for key in missing)
        raise RaccoonError(f"{names}: missing; {target} needs it (it accepts {', '.join(keywords)})")


def _locate(target: str, where: str) -> Any:
    """The object behind a dotted name: modules as far as they go, then attributes."""
    try:
        found = importlib.import_module(target.split(".")[0])
        for depth, part in enumerate(target.split(".")[1:], start=2):
            module = ".".join(target.split(".")[:depth])
            if inspect.ismodule(found) and part not in vars(found) and importlib.util.find_spec(module) is not None:
                found = importlib.import_module(module)
            else:
                found = getattr(found, part)
    except Exception as error:
        raise RaccoonError(f"{where}._target_={quoted(target)} cannot be imported: {error}") from error
    if not callable(found):
        raise RaccoonError(f"{where}._target_={quoted(target)} is not a class or function")
    return found

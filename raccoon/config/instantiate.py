"""Builds objects from config nodes.

A node is a plain dict (or DictConfig): ``_target_`` names a class or factory, the other keys are its arguments.
``raccoon.config.targets`` says what may be named, so that a config file or a checkpoint cannot call anything else. Hydra's
``instantiate`` is not used: it looks names up in its own way and resolves ``${...}`` in texts, those of a stranger's checkpoint
included, into further nodes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from raccoon.checks import bounded, flag, quoted
from raccoon.config.arguments import accepted, check_arguments
from raccoon.config.declared import declared
from raccoon.config.targets import check_name, describe, fits, is_kind, locate
from raccoon.contracts import RaccoonError
from raccoon.executor import fingerprint

__all__ = ["build", "check_declared", "check_flags", "nodes", "plain", "shared"]

_SHARED: dict[str, Any] = {}
_MOST_SHARED = 4
_CONTROL = frozenset({"_target_", "_partial_", "_convert_", "_recursive_"})


def plain(node: Any) -> Any:
    """A DictConfig or ListConfig as resolved plain dicts and lists; anything else unchanged."""
    from omegaconf import OmegaConf

    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def build(node: Mapping[str, Any], at: str = "", kind: type | None = None, /, **extra: Any) -> Any:
    """The object that ``node`` describes, nested nodes first; lists and dicts arrive as plain ones.

    ``at`` is where the node sits in the config, for messages. ``kind``: the class or protocol that the place asks for. ``extra``
    are further arguments (already built objects are welcome); they win over the node's. With ``_partial_: true`` the result is
    a ``functools.partial``. A target that wants its nested nodes as they are says ``_recursive_: false``.

    Raises RaccoonError naming the key, before anything is built: no or unknown target, one of another kind (nested nodes are
    held against the annotation of their parameter), arguments that the target does not accept or misses; then whatever a
    constructor refuses.
    """
    node = plain(node)
    if not isinstance(node, Mapping) or "_target_" not in node:
        raise RaccoonError(f"{at or 'config'}: expected a node with _target_, got {quoted(node)}")
    node = {key: value for key, value in node.items() if key not in extra}
    bounded(node, at or "config")
    if kind is not None and not fits(locate(node["_target_"], at), kind, bool(node.get("_partial_"))):
        raise RaccoonError(f"{at or 'config'}: {node['_target_']} is no {describe(kind)}; choose an option of the right group")
    for path, inner in nodes(node, at):
        locate(inner["_target_"], path)
        _check_control(path or "config", inner)
    node = _with_present_names(node)
    for path, inner in nodes(node, at):
        _check(path, inner, extra if inner is node else {})
    with _refusals(at or str(node["_target_"]), list(nodes(node, at))):
        made = _made(node, extra)
    if kind is not None and not is_kind(made, kind):
        raise RaccoonError(f"{at or 'config'}: {node['_target_']} gives a {type(made).__name__}, which is no {describe(kind)}")
    return made


def _with_present_names(value: Any) -> Any:
    """``value`` with every argument of a node under its present name: a target lists those of earlier versions in ``renamed`` (former name
    to present name). Where both are given, the former one counts: nothing but a user's file or command line still has it."""
    if isinstance(value, list | tuple):
        return [_with_present_names(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if "_target_" not in value:
        return {key: _with_present_names(one) for key, one in value.items()}
    present = _renamed(value, locate(value["_target_"]))
    return present if value.get("_recursive_") is False else {key: _with_present_names(one) for key, one in present.items()}


def _renamed(node: Mapping[str, Any], found: Callable[..., Any]) -> dict[str, Any]:
    """``node`` of the target ``found`` with the present names of its arguments."""
    renamed: Mapping[str, str] = getattr(found, "renamed", {})
    former = {renamed[key]: one for key, one in node.items() if key in renamed}
    return {key: one for key, one in node.items() if key not in renamed} | former


def _made(value: Any, extra: Mapping[str, Any], live: bool = True) -> Any:
    """``value`` with fresh lists and dicts and, while ``live``, an object in place of every node."""
    if isinstance(value, list | tuple):
        return [_made(one, {}, live) for one in value]
    if not isinstance(value, Mapping):
        return value
    if not live or "_target_" not in value:
        return {key: _made(one, {}, live) for key, one in value.items()}
    inside = value.get("_recursive_", True)
    arguments = {key: _made(one, {}, inside) for key, one in value.items() if key not in _CONTROL} | dict(extra)
    found = locate(value["_target_"])
    return functools.partial(found, **arguments) if value.get("_partial_") else found(**arguments)


def shared(node: Any, at: str = "", kind: type | None = None, ready: Callable[[Any], object] | None = None) -> Any:
    """``build(node, at, kind)``, once a process: the same object while the node and the files that it names stay the same.

    For players and engines in workers, which keep no state between calls; the last few are kept. ``ready`` is called
    with the object when it has just been built. What is no node is an object already and is returned.
    """
    if not isinstance(plain(node), Mapping):
        return node
    mark = fingerprint(node)
    if mark not in _SHARED:
        made = build(node, at, kind)
        if ready is not None:
            ready(made)
        while len(_SHARED) >= _MOST_SHARED:
            del _SHARED[next(iter(_SHARED))]
        _SHARED[mark] = made
    return _SHARED[mark]


@contextlib.contextmanager
def _refusals(where: str, inside: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[None]:
    """What a constructor refuses, as a RaccoonError that says where; anything else is a fault and passes unchanged."""
    try:
        yield
    except RaccoonError:
        raise
    except ImportError as error:
        raise RaccoonError(f"{where}: {error}; is the package installed? (the extras are in pyproject.toml)") from error
    except (TypeError, ValueError) as error:
        raise RaccoonError(_unexpected(str(error), inside) or f"{where}: {error}") from error
    except (MemoryError, RuntimeError) as error:
        if not _too_large(error):
            raise
        raise RaccoonError(f"{where}: cannot be built, it needs more memory than there is ({error})") from error
    except Exception as error:
        if type(error).__name__ != "MisconfigurationException":  # Lightning's refusal, told by name: it is not imported for this
            raise
        raise RaccoonError(f"{where}: {error}") from error


def _unexpected(message: str, inside: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The key among the nodes ``inside`` that Python says is no argument, in the words of ``_check``; "" where it says something else.

    For targets that hand on whatever they are given (``**options: Any``).
    """
    found = re.search(r"unexpected keyword argument '(\w+)'", message)
    word = found[1] if found else ""
    holders = [(path, node["_target_"]) for path, node in inside if word and word in node]
    advice = "does not take that; look for the right name in the option's file"
    return f"{holders[0][0]}.{word}: {holders[0][1]} {advice}".lstrip(".") if holders else ""


def _too_large(error: BaseException) -> bool:
    """Is memory what is missing? torch says so by a RuntimeError."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "allocate memory" in str(error))


def nodes(value: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every node in ``value`` that ``build`` makes into an object, with its key path, the outermost first."""
    if isinstance(value, Mapping):
        if "_target_" in value:
            yield path, value
            if value.get("_recursive_") is False:
                return
        for key, inner in value.items():
            yield from nodes(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from nodes(inner, f"{path}[{index}]")


def _check(path: str, node: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
    """Refuse arguments that the target of a node does not take or misses."""
    target = node["_target_"]
    found = locate(target, path)
    keywords = _check_given(path, node, extra, found, _fit if node.get("_recursive_", True) else None)
    parameters = inspect.signature(found).parameters if keywords else {}
    given = {*node, *extra}
    missing = [
        name for name in keywords if name in parameters and parameters[name].default is inspect.Parameter.empty and name not in given
    ]
    if missing and not node.get("_partial_"):
        names = ", ".join(f"{path}.{key}" if path else key for key in missing)
        raise RaccoonError(f"{names}: missing; {target} needs it (it accepts {', '.join(keywords)})")


def _check_given(
    path: str, node: Mapping[str, Any], extra: Mapping[str, Any], found: Callable[..., Any], fit: Callable[[Any, Any], bool] | None
) -> list[str]:
    """Refuse arguments that ``found`` does not take; returns those that it accepts."""
    try:
        keywords, others = accepted(found)
    except ValueError:  # a C function without a signature: the call reports what it refuses
        return []
    given = [key for key in node if key not in _CONTROL] + list(extra)
    unknown = [key for key in given if key not in keywords]
    if unknown and not others:
        names = ", ".join(f"{path}.{key}" if path else key for key in unknown)
        raise RaccoonError(f"{names}: {node['_target_']} does not take that; it accepts {', '.join(keywords) or 'no arguments'}")
    check_arguments(found, {key: node[key] for key in given if key in node and key not in extra}, path, fit)
    return keywords


def check_declared(value: Any, at: str = "") -> None:
    """Refuse what ``build`` would refuse of the nodes in ``value``, at any depth, as far as the sources of their targets tell: no target
    is imported. Raises RaccoonError naming the key."""
    inside = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    if isinstance(value, Mapping) and isinstance(value.get("_target_"), str):
        check_name(value["_target_"], at)
        check_flags(value, at, value["_target_"])
    for key, inner in inside:
        check_declared(inner, f"{at}[{key}]" if not isinstance(value, Mapping) else f"{at}.{key}" if at else str(key))


def check_flags(flags: Mapping[str, Any], at: str, target: str) -> None:
    """Refuse ``flags`` that the class or function ``target``, of any package, does not take, as far as its source tells."""
    found = declared(target)
    if found is not None:
        _check_given(at, _renamed({**flags, "_target_": target}, found), {}, found, lambda node, hint: True)


def _fit(node: Mapping[str, Any], hint: Any) -> bool:
    return fits(locate(node["_target_"]), hint, bool(node.get("_partial_")))


def _check_control(where: str, node: Mapping[str, Any]) -> None:
    """The keys that speak to ``build``, and keys that cannot be names of arguments."""
    for key in ("_partial_", "_recursive_"):
        flag(f"{where}.{key}", node.get(key, True))
    if node.get("_convert_", "all") != "all":
        raise RaccoonError(f"{where}._convert_={quoted(node['_convert_'])}: leave it out, lists and mappings always arrive plain")
    if "_args_" in node:
        raise RaccoonError(f"{where}._args_: give the arguments by name")
    unnamed = [key for key in node if not isinstance(key, str)]
    if unnamed:
        raise RaccoonError(f"{where}: the key {quoted(unnamed[0])} is no name of an argument")

"""Signatures of targets as their sources declare them, for checks before anything is imported.

A wrong setting of a trainer is told at once this way: importing the trainer, and Lightning with it, would take seconds.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import types
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from raccoon.aliases import public

__all__ = ["declared"]

_LIGHT = ("collections.abc", "pathlib", "typing")
_DEEPEST = 8
_HELD = ("Enum", "Flag", "str", "int", "float", "dict", "list", "tuple", "NamedTuple", "TypedDict")
_Definition = ast.ClassDef | ast.FunctionDef


def declared(target: str) -> Callable[..., Any] | None:
    """A stand-in for the class or function ``target``: same parameters, defaults and annotations, and it cannot be called.

    Annotations that name more than builtins, ``typing``, ``collections.abc``, ``pathlib`` and classes are ``Any``, and so are those of
    parameters whose default is no literal. None where the source does not tell: there is none, or the signature is made
    elsewhere (by a decorator other than ``dataclass``, a base class of another kind). A decorator that Lightning puts on an ``__init__``
    keeps the signature.
    """
    module, names = public(target), list[str]()
    while module and _source(module) is None:
        module, _, name = module.rpartition(".")
        names.insert(0, name)
    if not module or not names:
        return None
    found = _definition(module, names[0])
    if found is None or len(names) > 2:
        return None
    home, node = found
    if len(names) == 2:
        inner = _member(node, names[1])
        ways = [getattr(way, "id", "") for way in inner.decorator_list] if inner else []
        return _function(home, inner.args, bound=True) if inner and ways == ["classmethod"] else None
    if isinstance(node, ast.ClassDef):
        return _class(home, node)
    return None if node.decorator_list else _function(home, node.args)


@functools.cache
def _source(module: str) -> ast.Module | None:
    """The parsed source of a module or package, without importing the packages around it; None where there is none."""
    top, *rest = module.split(".")
    name, spec = top, importlib.util.find_spec(top)
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = importlib.machinery.PathFinder.find_spec(name, list(spec.submodule_search_locations))
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    try:
        stub = Path(spec.origin).with_suffix(".pyi")  # of a facade, whose names stand there
        return ast.parse((stub if stub.exists() else Path(spec.origin)).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _definition(module: str, name: str, depth: int = 0) -> tuple[str, _Definition] | None:
    """Where a name of ``module`` is defined: the module and the class or function; names that are imported are followed."""
    tree = _source(module)
    if tree is None or depth > _DEEPEST:
        return None
    found = None
    for node in tree.body:
        if isinstance(node, _Definition) and node.name == name:
            found = module, node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    found = _definition(_imported(module, node), alias.name, depth + 1)
    return found


def _imported(module: str, node: ast.ImportFrom) -> str:
    """The full name of the module that ``from ... import`` in ``module`` means."""
    return f"{module.rsplit('.', node.level)[0]}.{node.module}" if node.level else node.module or ""


def _member(node: _Definition, name: str) -> ast.FunctionDef | None:
    found = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name] if isinstance(node, ast.ClassDef) else []
    return found[-1] if found else None


@functools.cache
def _class(module: str, node: ast.ClassDef) -> type | None:
    """A class with the signature of ``node``; bases that take part in it are stand-ins too."""
    own = _member(node, "__init__")
    if own is None and _is_dataclass(node):
        fields = _fields(module, node)
        if fields is None or _member(node, "__new__"):
            return None
        bound = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return type(node.name, (), {"__init__": _stand_in([bound, *fields.values()])} | _former_names(node))
    if node.decorator_list or node.keywords or _member(node, "__new__") or (own and own.decorator_list and not _kept(module)):
        return None
    above = () if own and not own.args.kwarg else tuple(_base(module, base) for base in node.bases)
    bases = tuple(base for base in above if base is not None)
    if len(bases) < len(above) or not (own or bases):
        return None
    members = {"__init__": _function(module, own.args, bound=False)} if own else {}
    return type(node.name, bases, members | _former_names(node))


def _is_dataclass(node: ast.ClassDef) -> bool:
    """Is it decorated by ``dataclass`` alone, in a way that leaves its parameters those of its fields?"""
    ways = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    given = {word.arg for one in node.decorator_list if isinstance(one, ast.Call) for word in one.keywords}
    return [getattr(way, "id", "") for way in ways] == ["dataclass"] and given <= {"eq", "frozen", "order", "slots", "repr"}


def _fields(module: str, node: ast.ClassDef) -> dict[str, inspect.Parameter] | None:
    """The parameters of a dataclass by name, those of its bases first; None where a base is something else."""
    found: dict[str, inspect.Parameter] = {}
    for base in node.bases:
        home, above = (isinstance(base, ast.Name) and _definition(module, base.id)) or ("", None)
        fields = _fields(home, above) if isinstance(above, ast.ClassDef) and _is_dataclass(above) else None
        if fields is None:
            return None
        found |= fields
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            said = f"{ast.unparse(one.annotation)} {ast.unparse(one.value) if one.value else ''}"
            if "ClassVar" not in said and "init=False" not in said:
                given = ast.arg(one.target.id, one.annotation)
                found[given.arg] = _parameter(module, given, inspect.Parameter.POSITIONAL_OR_KEYWORD, one.value)
    return found


def _former_names(node: ast.ClassDef) -> dict[str, Any]:
    """The class attribute ``renamed`` (see ``raccoon.config.instantiate``) where the class has one that is a literal."""
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value]
    found = [one.value for one in fields if isinstance(one.target, ast.Name) and one.target.id == "renamed"]
    return {"renamed": ast.literal_eval(found[0])} if found and isinstance(found[0], ast.Dict) else {}


def _kept(module: str) -> bool:
    return module.startswith("lightning.")


def _base(module: str, base: ast.expr) -> type | None:
    found = _definition(module, base.id) if isinstance(base, ast.Name) else None
    return _class(found[0], found[1]) if found and isinstance(found[1], ast.ClassDef) else None


def _function(module: str, given: ast.arguments, bound: bool = False) -> Callable[..., Any]:
    """A function with these parameters, the first left out where it is ``bound``."""
    positional = [*given.posonlyargs, *given.args]
    defaults = dict(zip([one.arg for one in reversed(positional)], reversed(given.defaults), strict=False))
    defaults |= {one.arg: default for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is not None}
    kinds = [(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in given.args]
    kinds = [(one, inspect.Parameter.POSITIONAL_ONLY) for one in given.posonlyargs] + kinds
    kinds += [(one, inspect.Parameter.VAR_POSITIONAL) for one in (given.vararg,) if one]
    kinds += [(one, inspect.Parameter.KEYWORD_ONLY) for one in given.kwonlyargs]
    kinds += [(one, inspect.Parameter.VAR_KEYWORD) for one in (given.kwarg,) if one]
    return _stand_in([_parameter(module, one, kind, defaults.get(one.arg)) for one, kind in kinds[1 if bound else 0 :]])


def _stand_in(parameters: Sequence[inspect.Parameter]) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> None:
        raise TypeError("a declared signature cannot be called")

    stand_in.__annotations__ = {one.name: one.annotation for one in parameters if one.annotation is not one.empty}
    stand_in.__dict__["__signature__"] = inspect.Signature(parameters)
    return stand_in


def _parameter(module: str, given: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
    annotation: Any = inspect.Parameter.empty if given.annotation is None else _hint(module, given.annotation)
    value: Any = inspect.Parameter.empty
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except ValueError:
            annotation, value = Any, ...
    return inspect.Parameter(given.arg, kind, default=value, annotation=annotation)


def _hint(module: str, annotation: ast.expr) -> Any:
    """What an annotation means; ``Any`` where it names more than ``_light`` and classes."""
    names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    known = _light(module)
    others = {name: made for name in names - set(known) if (made := _typed_dict(module, name) or _kind(module, name)) is not None}
    holder = types.SimpleNamespace(__annotations__={"it": ast.unparse(annotation)})
    try:
        return typing.get_type_hints(holder, known | others)["it"]
    except (NameError, TypeError, AttributeError, SyntaxError):
        return Any


@functools.cache
def _typed_dict(module: str, name: str) -> Any:
    """The TypedDict that ``name`` means in ``module``; None where it is something else."""
    found = _definition(module, name)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    home, node = found[0], found[1]
    bases = [base.id if isinstance(base, ast.Name) else "" for base in node.bases]
    above = [_typed_dict(home, base) for base in bases if base != "TypedDict"]
    if not bases or None in above:
        return None
    fields = {key: hint for one in above for key, hint in typing.get_type_hints(one).items()}
    own = {one.target.id: one.annotation for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}
    return TypedDict(name, fields | {key: _hint(home, hint) for key, hint in own.items()})  # pyright: ignore


@functools.cache
def _kind(module: str, name: str) -> type | None:
    """A stand-in for the class that ``name`` means in ``module``: for telling that a number or a text is none of it. None where it means
    something else, or values that a config can hold."""
    found = _definition(module, name)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    return None if any(ast.unparse(base).endswith(_HELD) for base in found[1].bases) else type(name, (), {"__module__": found[0]})


@functools.cache
def _light(module: str) -> dict[str, Any]:
    """The names that ``module`` imports from the standard library's typing modules."""
    tree = _source(module)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module in _LIGHT] if tree else []
    named = [(importlib.import_module(str(node.module)), alias) for node in imports for alias in node.names]
    return {alias.asname or alias.name: getattr(home, alias.name) for home, alias in named if hasattr(home, alias.name)}

"""Small faults that can be put into a source file: another comparison, sign, number or truth value, or a statement left out.

Messages, defaults, annotations and texts are left alone: a test need not notice them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants", "numba_compiled"]

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
}
_LOGIC: dict[type[ast.boolop], type[ast.boolop]] = {ast.And: ast.Or, ast.Or: ast.And}


@dataclass(frozen=True)
class Mutant:
    """``path`` with the bytes ``start:end``, on ``line``, replaced by ``text``; ``before`` is what stands there."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    text: str

    def source(self) -> bytes:
        """The whole file with the fault in it."""
        whole = self.path.read_bytes()
        return whole[: self.start] + self.text.encode() + whole[self.end :]

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.text))
        return f"{self.path}:{self.line}: {before}  ->  {after}"


def mutants(path: Path) -> list[Mutant]:
    """Every mutant of a Python file, in the order of the source."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, text in _changes(ast.parse(data)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        found.append(Mutant(path, node.lineno, start, end, data[start:end].decode(), text))
    return sorted(found, key=lambda one: (one.start, one.end, one.text))


def numba_compiled(path: Path) -> bool:
    """Whether the file has functions that numba compiles: others may have them built in and kept."""
    tree = ast.parse(path.read_bytes())
    decorators = [d for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for d in node.decorator_list]
    return any("kernel" in ast.dump(one) or "njit" in ast.dump(one) for one in decorators)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for node in _tested(tree):
        if isinstance(node, ast.expr):
            for changed in _expressions(node):
                yield node, f"({ast.unparse(changed)})"
        elif isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
            changed = copy.deepcopy(node)
            changed.op = _ARITHMETIC[type(node.op)]()
            yield node, ast.unparse(changed)
        if isinstance(node, ast.AugAssign | ast.Continue | ast.Break) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield node, "pass"


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare) and len(changed.ops) == 1:
        changed.ops = [_COMPARE[type(changed.ops[0])]()]
        yield changed
    elif isinstance(changed, ast.BinOp) and type(changed.op) in _ARITHMETIC:
        changed.op = _ARITHMETIC[type(changed.op)]()
        yield changed
    elif isinstance(changed, ast.BoolOp):
        changed.op = _LOGIC[type(changed.op)]()
        yield changed
    elif isinstance(changed, ast.UnaryOp) and isinstance(changed.op, ast.Not | ast.USub | ast.Invert):
        yield changed.operand
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, bool):
        yield ast.Constant(not changed.value)
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, int | float):
        yield ast.Constant(changed.value + 1)


def _tested(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose change a test should notice."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _untested(child):
                yield from _tested(child)


def _untested(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return True
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func).startswith(("log.", "warnings."))
    )

"""Tables of reports as text: what a cell says, and the number that it is sorted by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raccoon.contracts import Figure
from raccoon.report.report_files import grid

__all__ = ["Table", "table"]

_ROWS = 100


@dataclass(frozen=True)
class Table:
    """``heads`` with whether their column holds numbers; ``rows`` of ``(text, number)``, number None for text; ``total``: how many rows
    there are, of which the first are shown."""

    heads: Sequence[tuple[str, bool]]
    rows: Sequence[Sequence[tuple[str, float | None]]]
    total: int


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The first rows of a report's table, under the heads of all."""
    heads, texts = grid(rows[:_ROWS])
    numbers = [[_number(row.get(head)) for head in heads] for row in rows[:_ROWS]]
    shown = [[*zip(text, number, strict=True)] for text, number in zip(texts, numbers, strict=True)]
    numeric = [any(number is not None for number in column) for column in zip(*numbers, strict=True)]
    return Table([*zip(heads, numeric, strict=True)], shown, len(rows))


def _number(value: Any) -> float | None:
    value = value.value if isinstance(value, Figure) else value
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None

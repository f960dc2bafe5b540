"""Reports as files: ``report.json``, a readable ``report.md``, one CSV a table and one PNG a plot, in the run folder.

``report.json`` is written last: a folder that has it holds the whole result, and it is never overwritten.
"""

from __future__ import annotations

import logging
import math
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.files import atomic, read_json, write_csv, write_json, write_text
from raccoon.versions import RECORDED, installed

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

__all__ = ["check_free", "flat_row", "format_figure", "grid", "read", "render", "show", "to_dict", "versions", "write"]

log = logging.getLogger(__name__)
_WIDTH = 140


def write(report: Report, run_dir: Path | str) -> Path:
    """Write every file of ``report`` into ``run_dir`` and return the path of its ``report.json``.

    ``report.files`` gains the names of the files written. A plot that cannot be drawn costs a note, not the result.
    Raises RaccoonError when the folder already holds a report.
    """
    folder = Path(run_dir)
    path = check_free(folder)
    written = []
    for title, rows in report.tables.items():
        name = f"{_slug(title)}.csv"
        write_csv(folder / name, [dict(flat_row(row)) for row in rows])
        written.append(name)
    for stem, draw in report.plots.items():
        name = f"{stem}.png"
        try:
            _plot(folder / name, draw)
        except RaccoonError:
            raise
        except Exception as error:
            log.warning("plot %s failed", name, exc_info=True)
            report.notes.append(f"{name} could not be drawn: {error}")
        else:
            written.append(name)
    report.files = list(dict.fromkeys([*report.files, "report.md", *written]))
    write_text(folder / "report.md", _markdown(report))
    write_json(path, to_dict(report))
    return path


def check_free(run_dir: Path | str) -> Path:
    """The path of the ``report.json`` of a folder that has none yet; RaccoonError when it has one."""
    path = Path(run_dir) / "report.json"
    if path.exists():
        raise RaccoonError(f"{path}: already holds the result of a run; name another folder (paths.run_dir=...) or move it away")
    return path


def read(path: Path | str) -> Report:
    """The report in ``path`` (a run folder or its ``report.json``), without plots. Raises RaccoonError naming the file."""
    path = Path(path)
    path = path / "report.json" if path.is_dir() else path
    data = read_json(path)
    try:
        figures = {name: _figure(figure) for name, figure in data["figures"].items()}
        tables: dict[str, Sequence[Mapping[str, Any]]]
        tables = {title: [{key: _cell(cell) for key, cell in row.items()} for row in rows] for title, rows in data["tables"].items()}
        keys = ("evaluator", "player", "opponent", "seed", "seconds", "notes", "files")
        return Report(figures=figures, tables=tables, **{key: data[key] for key in keys})
    except (KeyError, TypeError, AttributeError) as error:
        raise RaccoonError(f"{path}: not a report ({type(error).__name__}: {error}); give the folder of an evaluation") from error


def to_dict(report: Report) -> dict[str, Any]:
    """Plain data for JSON; numbers that are not finite become null."""
    return {
        "evaluator": report.evaluator,
        "player": report.player,
        "opponent": report.opponent,
        "seed": report.seed,
        "seconds": round(report.seconds, 3),
        "versions": versions(),
        "figures": {name: _plain(asdict(figure)) for name, figure in report.figures.items()},
        "tables": {title: _plain(rows) for title, rows in report.tables.items()},
        "notes": list(report.notes),
        "files": list(report.files),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of what computes or referees."""
    return {"python": platform.python_version(), **installed(*RECORDED)}


def show(what: Report | Table) -> None:
    """Print a report or a table; where the output is no terminal, wide enough for every interval."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else _WIDTH).print(render(what) if isinstance(what, Report) else what)


def render(report: Report) -> Group:
    """Rich tables for the terminal: ``rich.print(render(report))``."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    figures = Table("figure", title=_title(report), title_justify="left")
    for heading in ("value", "95% interval", "n"):
        figures.add_column(heading, justify="right")
    for name, figure in report.figures.items():
        figures.add_row(Text(name), *format_figure(figure))
    parts: list[Any] = [figures]
    parts += [rich_table(rows, title) for title, rows in report.tables.items()]
    parts.extend(Text(f"- {note}") for note in report.notes)
    return Group(*parts)


def rich_table(rows: Sequence[Mapping[str, Any]], title: str = "") -> Table:
    """A table for the terminal; see ``grid``."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left")
    heads, cells = grid(rows)
    for index, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if index == 0 else "right")
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def format_figure(figure: Figure) -> tuple[str, str, str]:
    """Value, interval and n as text."""
    interval = "" if figure.lo is None or figure.hi is None else f"[{_text(figure.lo)}, {_text(figure.hi)}]"
    return _text(figure.value), interval, "" if figure.n is None else f"{figure.n:,}"


def _title(report: Report) -> str:
    against = f" v {report.opponent}" if report.opponent else ""
    return f"{report.evaluator}: {report.player}{against} (seed {report.seed}, {report.seconds:.1f} s)"


def _markdown(report: Report) -> str:
    lines = [f"# {_title(report)}", ""]
    lines += _markdown_table(["figure", "value", "95% interval", "n"], [[n, *format_figure(f)] for n, f in report.figures.items()])
    for title, rows in report.tables.items():
        lines += [f"## {title}", "", *_markdown_table(*grid(rows))]
    if report.notes:
        lines += ["## Notes", "", *(f"- {note}" for note in report.notes), ""]
    for name in report.files:
        if name.endswith(".png"):
            lines += [f"![{name.removesuffix('.png')}]({name})", ""]
    lines += ["Versions: " + ", ".join(f"{name} {version}" for name, version in versions().items()), ""]
    return "\n".join(lines)


def _markdown_table(heads: Sequence[str], cells: Iterable[Sequence[str]]) -> list[str]:
    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"

    return [line(heads), "|---" + "|---:" * (len(heads) - 1) + "|", *map(line, cells), ""]


def grid(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The columns of a table and its cells as text, a figure with its interval."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    return heads, [[_text(row.get(head)) for head in heads] for row in rows]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Figure):
        return " ".join(part for part in format_figure(value)[:2] if part)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        if abs(value) < 0.1 or abs(value) >= 1e5:
            return f"{value:.3g}"
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return str(value)


def flat_row(row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """The cells of a table's row; a figure has the ends of its interval in two more."""
    for key, value in row.items():
        if isinstance(value, Figure):
            yield key, value.value
            yield from ((f"{key} lo", value.lo), (f"{key} hi", value.hi))
        else:
            yield key, value


def _plot(path: Path, draw: Any) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 5), dpi=130, layout="constrained")
    FigureCanvasAgg(canvas)
    draw(canvas)
    with atomic(path) as handle:
        canvas.savefig(handle, format="png")


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "table"


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _figure(data: Mapping[str, Any]) -> Figure:
    return Figure(math.nan if data["value"] is None else data["value"], data["lo"], data["hi"], data["n"])


def _cell(value: Any) -> Any:
    return _figure(value) if isinstance(value, dict) and value.keys() == {"value", "lo", "hi", "n"} else value

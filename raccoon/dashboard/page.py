"""The page: records to one HTML file that needs no network, no server and no other file (but for links to the run folders)."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from raccoon.contracts import RaccoonError
from raccoon.dashboard import panels
from raccoon.dashboard.records import RunRecord
from raccoon.dashboard.tables import table
from raccoon.files import write_text
from raccoon.flatten import shown
from raccoon.report.report_files import format_figure

__all__ = ["differences", "page", "write_page"]

_STATES = ("broken", "failed", "stopped", "interrupted", "missing", "running", "done")
_SHOWN = 200  # characters of a setting


def write_page(records: Sequence[RunRecord], out: Path | str, images: bool = True) -> None:
    """Write ``page`` to the file ``out``, whole or not at all. Raises RaccoonError when it cannot be written."""
    out = Path(out)
    if out.is_dir():
        raise RaccoonError(f"{out}: is a folder; name the HTML file to write, for example {out / 'dashboard.html'}")
    write_text(out, page(records, out.absolute().parent, images))


def page(records: Sequence[RunRecord], base: Path, images: bool = True) -> str:
    """HTML of all ``records``, links being relative to ``base``. With ``images`` the plots of the runs are part of it.

    Whatever a run wrote is text here, never markup: the templates escape it, and the page's own policy runs no other script.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("raccoon.dashboard"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"figure": format_figure, "plain": _plain, "number": _number, "table": table, "setting": _setting}
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    sections = panels.sections(records)
    drawn = {trace.run for section in sections for chart in section.charts for trace in chart.traces}
    return environment.get_template("page.html").render(
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}",
        made=time.strftime("%Y-%m-%d %H:%M:%S"),
        records=records,
        states={state: sum(record.state == state for record in records) for state in _STATES},
        sections=sections,
        drawn=[(number, record.name) for number, record in enumerate(records) if record.name in drawn],
        headline=panels.headline,
        differences=differences(records),
        links={record.name: _links(record, base) for record in records},
        plots={record.name: _plots(record) if images else [] for record in records},
    )


def differences(records: Sequence[RunRecord]) -> list[tuple[str, list[RunRecord], list[tuple[str, list[str]]]]]:
    """The settings that are not the same in all runs of a kind (and trainer or evaluator): ``(kind, runs, [(key, values)])``,
    values in the order of the runs, empty where a run has no such setting."""
    found = []
    for kind, what in dict.fromkeys((record.kind, record.what) for record in records if record.config):
        runs = [record for record in records if (record.kind, record.what) == (kind, what) and record.config]
        keys = sorted({key for run in runs for key in run.config})
        rows = [(key, [_setting(run.config[key]) if key in run.config else "" for run in runs]) for key in keys]
        rows = [(key, values) for key, values in rows if len(set(values)) > 1]
        if rows:
            found.append((f"{kind} {what}", runs, rows))
    return found


def _setting(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _links(record: RunRecord, base: Path) -> list[tuple[str, str]]:
    """``(text, address)`` of the files worth opening."""
    there = [name for name in ("report.md", "config.yaml", "run.log", "metrics.csv") if (record.folder / name).is_file()]
    return [(name, quote(os.path.relpath(record.folder / name, base))) for name in there]


def _plots(record: RunRecord) -> list[tuple[str, str]]:
    """``(title, data address)`` of the plots; one that cannot be read is left out."""
    made = []
    for title, path in record.images.items():
        try:
            made.append((title, f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"))
        except OSError:
            continue
    return made


def _plain(node: Any, at: str = "") -> list[tuple[str, str]]:
    """``(dotted key, text)`` of the leaves of a nested mapping."""
    if isinstance(node, Mapping):
        return [leaf for key, value in node.items() for leaf in _plain(value, f"{at}.{key}" if at else str(key))]
    if isinstance(node, list) and any(isinstance(item, Mapping) for item in node):
        return [leaf for number, value in enumerate(node) for leaf in _plain(value, f"{at}[{number}]")]
    return [(at, _setting(node))]


def _number(value: float) -> str:
    return f"{value:g}"


def _asset(name: str) -> str:
    return resources.files("raccoon.dashboard").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

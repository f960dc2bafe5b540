"""Which charts a set of runs gives: curves by epoch and by time, results with their intervals, trades of strength for cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raccoon.contracts import Figure
from raccoon.dashboard.charts import Chart, Point, Series, forest, xy_chart
from raccoon.dashboard.measured import usable
from raccoon.dashboard.records import RunRecord
from raccoon.eval.pr.frontier import pareto

__all__ = ["HALF", "PR", "VR", "Section", "headline", "sections"]

PR, VR, HALF = "val/pr", "val/vr_ppg", "val/vr_ppg_half"
_UNITS = {PR: "PR", VR: "points per game", "val/ce": "nats above entropy", "val/mse": "points squared", "seconds": "of the epoch"}
_OWN = {"epoch", "step", PR, VR, HALF}

_COST_NOTE = (
    "Dashed: no other is lower in both. An engine that searches by itself (gnubg2, sage3) counts a whole search as one evaluation; "
    "seconds are those of the machine and the day."
)


@dataclass(frozen=True)
class Section:
    """Charts that belong together, under an anchor; ``note`` says how to read them."""

    anchor: str
    title: str
    note: str
    charts: Sequence[Chart]


def sections(records: Sequence[RunRecord]) -> list[Section]:
    """Every section that has something to show."""
    speed = [name for name in _columns(records) if name.endswith("_per_s") or name == "seconds"]
    play = [name for name in _columns(records) if name.startswith("play/") and name not in speed]
    losses = [name for name in _columns(records) if name not in {*speed, *play}]
    wanted = [
        Section("pr", "PR", "Lower is better. Bars are 95% intervals.", _pr(records)),
        Section("vr", "Points per game, variance reduced", "Against each run's own opponent; bars are 95% intervals.", _vr(records)),
        Section("losses", "Losses and what else was validated", "Means over an epoch.", [_by_epoch(records, name) for name in losses]),
        Section("selfplay", "Self-play", "Of the games of each epoch.", [_by_epoch(records, name) for name in play]),
        Section("throughput", "Throughput", "", [*_speeds(records), *(_by_epoch(records, name) for name in speed)]),
        Section("frontier", "PR against its cost", _COST_NOTE, _frontier(records)),
    ]
    return [section for section in wanted if section.charts]


def headline(record: RunRecord, name: str) -> Figure | None:
    """The figure ``pr`` or ``ppg_vr`` of a run: its own, or that of a measurement at the end of a training."""
    return next((figure for _, figure in _ending(record, name)), None)


def _ending(record: RunRecord, name: str) -> Iterator[tuple[str, Figure]]:
    for key, figure in record.report.figures.items() if record.report else ():
        if (key == name or key.endswith(f"/{name}")) and key != PR and math.isfinite(figure.value):
            yield key, figure


def _pr(records: Sequence[RunRecord]) -> list[Chart]:
    charts = _scores(records, PR, None, "PR on the benchmark", "PR")
    return [*charts, *_results(records, "pr", "PR of finished runs", "PR")]


def _vr(records: Sequence[RunRecord]) -> list[Chart]:
    charts = _scores(records, VR, HALF, "Points per game while training", "points per game")
    return [*charts, *_results(records, "ppg_vr", "Points per game of finished runs", "points per game", zero=True)]


def _columns(records: Sequence[RunRecord]) -> list[str]:
    names = dict.fromkeys(name for record in records for row in record.rows for name in row)
    return sorted(name for name in names if name not in _OWN)


def _scores(records: Sequence[RunRecord], name: str, half: str | None, title: str, ylabel: str) -> list[Chart]:
    """A score by epoch and by minutes of training: epochs that only carry the last score are left out."""

    def by(x: Callable[[Sequence[Mapping[str, float]]], list[float]]) -> list[Series]:
        return _series(records, lambda record: _scored(record.rows, x(record.rows), name, half))

    zero = name == VR
    if not by(_epochs):
        return []
    return [
        xy_chart(title, by(_epochs), "epoch", ylabel, whole_x=True, zero=zero),
        xy_chart(f"{title}, by time", by(_minutes), "minutes of training", ylabel, zero=zero),
    ]


def _scored(rows: Sequence[Mapping[str, float]], x: Sequence[float], name: str, half: str | None) -> list[Point]:
    points: list[Point] = []
    last = None
    for at, row in zip(x, rows, strict=True):
        if name not in row or row[name] == last:
            continue
        last, reach = row[name], row.get(half or "")
        interval = (None, None) if reach is None else (last - reach, last + reach)
        points.append(Point(at, Figure(last, *interval), tip=f"epoch {row['epoch']:g}: {Figure(last, *interval).text()}"))
    return points


def _series(records: Sequence[RunRecord], points: Callable[[RunRecord], Sequence[Point]], joined: bool = True) -> list[Series]:
    """Of each run that has points. Runs keep their number, so that they look the same in every chart."""
    made = [Series(record.name, number, points(record), joined) for number, record in enumerate(records)]
    return [each for each in made if each.points]


def _epochs(rows: Sequence[Mapping[str, float]]) -> list[float]:
    return [row["epoch"] for row in rows]


def _minutes(rows: Sequence[Mapping[str, float]]) -> list[float]:
    return [seconds / 60 for seconds in itertools.accumulate(row.get("seconds", 0.0) for row in rows)]


def _by_epoch(records: Sequence[RunRecord], name: str) -> Chart:
    def points(record: RunRecord) -> list[Point]:
        rows = [row for row in record.rows if name in row]
        return [Point(row["epoch"], Figure(row[name]), tip=f"epoch {row['epoch']:g}: {row[name]:.5g}") for row in rows]

    return xy_chart(name, _series(records, points), "epoch", _UNITS.get(name, ""), whole_x=True)


def _speeds(records: Sequence[RunRecord]) -> list[Chart]:
    def steps(record: RunRecord) -> list[Point]:
        rows = [{"epoch": 0.0, "step": 0.0}, *record.rows]
        pairs = [(after, after.get("step", 0.0) - before.get("step", 0.0)) for before, after in itertools.pairwise(rows)]
        rates = [(row["epoch"], made / row["seconds"]) for row, made in pairs if made > 0 and row.get("seconds", 0.0) > 0]
        return [Point(epoch, Figure(rate), tip=f"epoch {epoch:g}: {rate:.4g} steps/s") for epoch, rate in rates]

    series = _series(records, steps)
    return [xy_chart("optimizer steps a second, self-play included", series, "epoch", "steps/s", whole_x=True)] if series else []


def _results(records: Sequence[RunRecord], name: str, title: str, xlabel: str, zero: bool = False) -> list[Chart]:
    def points(record: RunRecord) -> list[Point]:
        report = record.report
        if report is None:
            return []
        against = f" v {report.opponent}" if report.opponent and name != "pr" else ""
        made = []
        for key, figure in _ending(record, name):
            label = f"{record.name}: {report.player}{against}"
            made.append(Point(0.0, figure, label, f"{label}\n{key} {figure.text()}" + (f", n = {figure.n:,}" if figure.n else "")))
        return made

    series = _series(records, points, joined=False)
    return [forest(title, series, xlabel, zero)] if series else []


def _frontier(records: Sequence[RunRecord]) -> list[Chart]:
    evaluations = _cost_chart(records, "evaluations_per_decision", "evaluations/decision", "evaluations a decision", False)
    return [*evaluations, *_cost_chart(records, "seconds_per_decision", "s/decision", "seconds a decision", True)]


def _cost_chart(records: Sequence[RunRecord], figure: str, column: str, xlabel: str, line: bool) -> list[Chart]:
    """Points of single runs and of the tables of measurements over many players, each (player, PR, cost) once."""
    found: dict[tuple[str, float, float], tuple[int, Figure]] = {}
    for number, record in enumerate(records):
        for player, pr, cost in _trades(record, figure, column):
            if cost > 0:
                found.setdefault((player, round(pr.value, 6), float(f"{cost:.3g}")), (number, pr))
    if len(found) < 2:
        return []
    best = pareto({str(place): (cost, pr) for place, (_, pr, cost) in enumerate(found)}) if line else []
    points: dict[int, list[Point]] = {}
    for place, ((player, _, cost), (number, pr)) in enumerate(found.items()):
        tip = f"{player}\nPR {pr.text()}\n{cost:,.4g} {xlabel}"
        points.setdefault(number, []).append(Point(cost, pr, player if str(place) in best else "", tip))
    places = list(found)
    front = [Series("", -1, [Point(places[int(place)][2], Figure(places[int(place)][1])) for place in best])] if line else []
    series = [Series(records[number].name, number, each, joined=False) for number, each in points.items()]
    return [xy_chart(f"PR against {xlabel}", [*front, *series], xlabel, "PR", log_x=True)]


def _trades(record: RunRecord, figure: str, column: str) -> Iterator[tuple[str, Figure, float]]:
    """``(player, PR, cost)`` of a report: its figures, and the rows of its tables that have all three."""
    report = record.report
    if report is None:
        return
    for key, pr in _ending(record, "pr"):
        cost = report.figures.get(key.removesuffix("pr") + figure)
        if cost is not None:
            yield report.player if record.kind != "train" else record.name, pr, cost.value
    for row in itertools.chain.from_iterable(report.tables.values()):
        player, pr, cost = row.get("player"), row.get("PR"), row.get(column)
        pr = pr if isinstance(pr, Figure) else Figure(pr) if usable(pr) else None
        if isinstance(player, str) and pr is not None and usable(pr.value) and usable(cost):
            yield player.split(" #")[0], pr, float(cost)

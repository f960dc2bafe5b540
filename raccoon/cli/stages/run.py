"""Runs the stages of a command: those whose results are not there, in their order, each as a run in its own folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.cli.program import sweep
from raccoon.cli.stages.checked import Checked, check_stages
from raccoon.cli.stages.record import digests, made_anew, problem, read_record
from raccoon.cli.stages.report import check_reports, write_report
from raccoon.config.instantiate import build
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.links import link_set
from raccoon.data.label_sets.writer import Source, prepare
from raccoon.executor import Executor
from raccoon.files import write_json
from raccoon.runs import folder as runs
from raccoon.runs.folder import Run
from raccoon.runs.stages import RECORD, RESULTS, SET, read_stages

__all__ = ["run_stages"]

_KINDS = {"train": "train", "labels": "generate", "export": "export", "evaluate": "evaluate"}
Records = dict[str, dict[str, Any]]


def run_stages(config: Mapping[str, Any], run: Run) -> Path:
    """Run what ``config["stages"]`` lists in folders below ``run.dir``; returns the path of the ``report.json`` of the whole.

    A stage whose result is there is left alone, one that was interrupted goes on. Raises RaccoonError naming the stage and the key,
    before anything is begun, for settings that cannot work and for a stage that was made from others.
    """
    if sweep.current() is not None:
        raise RaccoonError(sweep.NO_STAGES)
    stages = read_stages(config["stages"], run.dir)
    checked = check_stages(stages, run.dir)
    record: Records = read_record(run.dir / RECORD)
    changed = {one.stage.name: problem(one, record.get(one.stage.name)) for one in checked}
    for one in checked:
        if one.stage.active and not one.stage.redo and changed[one.stage.name]:
            raise RaccoonError(_refusal(one, changed[one.stage.name]))
    made_anew(checked)
    settings = {one.stage.name: one.settings for one in checked}
    check_reports(stages, settings)
    if not (run.dir / RECORD).exists():
        write_json(run.dir / RECORD, record)
    for number, one in enumerate(checked, start=1):
        _turn(one, f"stage {number} of {len(checked)}, {one.stage.name}", record, run)
    return write_report(stages, settings, run.dir, int(config["seed"]))


def _refusal(one: Checked, why: str) -> str:
    name = one.stage.name
    advice = f"stages.from={name} makes it and those after it anew, stages.only=[{name}] it alone, stages.skip=[{name}] takes it as it is"
    return f"stages.{name}: {why} ({one.stage.folder}); {advice}, or name another folder (paths.run_dir=...)"


def _turn(one: Checked, title: str, record: Records, run: Run) -> None:
    """Run a stage, unless it is left out or done."""
    stage = one.stage
    if not stage.active:
        print(f"{title}: left out", flush=True)
        return
    if why := problem(one, record.get(stage.name)):  # a stage before it may have been made anew since
        if not stage.redo:
            raise RaccoonError(_refusal(one, why))
        print(f"{title}: {why}; {stage.folder} becomes {_set_aside(stage.folder)}", flush=True)
    elif one.done:
        print(f"{title}: done already ({stage.folder})", flush=True)
        return
    record[stage.name] = {"kind": stage.kind, "settings": dict(one.settings), "inputs": digests(stage)}
    write_json(run.dir / RECORD, record)
    print(f"{title}: {' '.join(one.words[:-1]) or ' '.join(stage.nets)}", flush=True)
    try:
        with sweep.alone(["hydra.mode=RUN", *one.words]), runs.open_run(one.cfg, _KINDS[stage.kind]) as part:
            if not part.reported:
                _JOBS[stage.kind](part.config, part)
            _link_set(one, part.config)
    except RaccoonError as error:
        raise RaccoonError(f"stages.{stage.name}: {error}") from error


def _set_aside(folder: Path) -> Path:
    """Rename ``folder``: its first free name with a number."""
    number = 1
    while (aside := folder.with_name(f"{folder.name}.{number}")).exists():
        number += 1
    folder.rename(aside)
    return aside


def _train(config: dict[str, Any], run: Run) -> None:
    from raccoon.train.run import train

    train(config, run)


def _label(config: dict[str, Any], run: Run) -> None:
    executor = build(config["executor"], "executor", Executor)
    source = build(config["data"]["source"], "data.source", Source)
    store = prepare(source, config["data"]["data_dir"], executor, config["data"]["minutes"])
    print(f"set: {store.folder} ({len(store):,} rows)")


def _export(config: dict[str, Any], run: Run) -> None:
    from raccoon.cli.export import write_net

    print(write_net(config["nets"], run.dir / RESULTS["net"]))


def _evaluate(config: dict[str, Any], run: Run) -> None:
    from raccoon.cli.evaluate import evaluate

    evaluate(config, run)


_JOBS = {"train": _train, "labels": _label, "export": _export, "evaluate": _evaluate}


def _link_set(one: Checked, config: Mapping[str, Any]) -> None:
    """``set`` in the folder of a stage that made labels, or found them: links to what it used of them."""
    node = (config.get("data") or {}).get("source")
    if not node:
        return
    data = config["data"]
    source = build(node, "data.source", Source)
    executor = build(config["executor"], "executor", Executor)
    where = data.get("data_dir", config["paths"]["data_dir"])
    link_set(prepare(source, where, executor, data.get("minutes")), one.stage.folder / SET)

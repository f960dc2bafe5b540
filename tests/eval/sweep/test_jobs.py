"""A sweep of training runs in one table, its jobs called after what sets them apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from raccoon.contracts import RaccoonError, Report
from raccoon.eval.pr.checker import BGSagePR
from raccoon.eval.sweep.by_pr import collect
from raccoon.eval.sweep.jobs import config_names
from raccoon.executor import ProcessExecutor
from raccoon.report import report_files

PLAYER = {"_target_": "raccoon.play.EnginePlayer"}
ENGINES = ({"_target_": "raccoon.engine.RandomEngine"}, {"_target_": "raccoon.engine.GnubgEngine", "ply": 0})


def make(folder: Path, config: dict[str, object]) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("# how to run it again\n" + OmegaConf.to_yaml(config))
    return folder


def test_jobs_are_called_after_what_differs(tmp_path: Path) -> None:
    configs = [
        {
            "seed": 1,
            "paths": {"run_dir": f"mine/{number}"},
            "trainer": {"arm": arm, "ema": ema},
            "head": {"_target_": f"raccoon.model.{head}"},
        }
        for number, (arm, ema, head) in enumerate(
            (("both", None, "Six"), ("both", 0.5, "Six"), ("scalar", True, "One"), ("scalar", True, "One"))
        )
    ]
    jobs = [make(tmp_path / str(number), config) for number, config in enumerate(configs)]
    assert config_names(jobs[:2]) == ["trainer.ema=null", "trainer.ema=0.5"]
    assert config_names(jobs[1:]) == [
        "head._target_=Six trainer.arm=both trainer.ema=0.5",
        "head._target_=One trainer.arm=scalar trainer.ema=true #2",
        "head._target_=One trainer.arm=scalar trainer.ema=true #3",
    ]
    assert config_names(jobs[2:]) == ["#2", "#3"]
    (jobs[0] / "config.yaml").write_text("a: [")
    with pytest.raises(RaccoonError, match=r"0/config\.yaml: cannot be read"):
        config_names(jobs)


def test_the_final_scores_of_training_runs_are_collected(tmp_path: Path) -> None:
    for number, engine in enumerate(ENGINES):
        job = make(tmp_path / str(number), {"trainer": {"arm": ("scalar", "both")[number]}})
        final = job / "final" / "bgsage_pr"
        measured = BGSagePR(ProcessExecutor(0), sample=20, compare=None, bootstrap=100).run(PLAYER | {"engine": engine}, None, final, 1)
        report_files.write(measured, final)
        report_files.write(Report("train", "MLP", None, 1, 1.0), job)
    rows = collect(tmp_path, replicates=100).tables["Sweep"]
    assert [(row["job"], row["player"]) for row in rows] == [("0", "trainer.arm=scalar"), ("1", "trainer.arm=both")]
    assert rows[0]["minus lowest"].value == pytest.approx(rows[0]["PR"].value - rows[1]["PR"].value)
    assert rows[1]["minus lowest"] is None

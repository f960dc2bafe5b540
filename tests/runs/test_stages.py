"""The node ``stages`` of a config: what is read from it, and what is refused before anything is composed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from raccoon.contracts import RaccoonError
from raccoon.runs import folder  # noqa: F401 (registers the resolver)
from raccoon.runs.stages import read_stages, shared_overrides

HERE = Path("whole")
NODE: dict[str, Any] = {
    "all": ["debug=fast"],
    "made": {"kind": "labels", "overrides": ["data=demo"], "label_minutes": 3},
    "one": {"overrides": ["data=folders", "data.folders=[whole/made/set]"], "minutes": 2.5},
    "two": {"overrides": ["init=whole/one/last.ckpt"]},
    "mean": {"kind": "export", "nets": ["whole/one/net.pt", "whole/two/net.pt"]},
    "left_out": None,
}


def names(**options: Any) -> list[str]:
    return [stage.name for stage in read_stages(NODE | options, HERE) if stage.active]


def test_stages_have_their_overrides_budgets_and_inputs() -> None:
    made, one, two, mean = read_stages(NODE, HERE)
    assert list(made.overrides) == ["data=demo", "data.minutes=3.0"]
    assert list(one.overrides)[2:] == ["trainer.max_minutes=2.5"]
    assert list(made.shared) == list(one.shared) == ["debug=fast"]
    assert one.inputs == {"made.set": HERE / "made" / "set"}
    assert two.inputs == {"one.last": HERE / "one" / "last.ckpt"}
    assert sorted(mean.inputs) == ["one.net", "two.net"]
    assert mean.folder == HERE / "mean"
    assert not mean.overrides
    assert not mean.shared


def test_results_of_stages_are_paths_below_the_run_folder() -> None:
    cfg = OmegaConf.create({"paths": {"run_dir": "whole"}, "texts": ["init=${stage:one.last}", "[${stage:made.set},${stage:one.net}]"]})
    assert list(cfg.texts) == ["init=whole/one/last.ckpt", "[whole/made/set,whole/one/net.pt]"]
    with pytest.raises(Exception, match=r"give NAME\.RESULT, RESULT being one of net, last, best, set"):
        OmegaConf.to_container(OmegaConf.create({"paths": {"run_dir": "x"}, "a": "${stage:one}"}), resolve=True)


def test_a_path_of_another_folder_is_no_result() -> None:
    node = {"one": {"overrides": ["init=old/whole/zero/net.pt", "data.folders=[whole/sets/settings]"]}}
    assert read_stages(node, HERE)[0].inputs == {}


@pytest.mark.parametrize(("whole", "path"), [("whole", "whole/one/net.pt"), ("dé, a='b'", "'dé, a=\\'b\\'/one/net.pt'")])
def test_results_in_overrides_are_quoted_where_the_folder_needs_it(whole: str, path: str) -> None:
    result = f"{whole}/one/net.pt"
    node = {"one": {"overrides": []}, "two": {"overrides": [f"init={result}", f"a=[{result},{result}]", f'b="{result}"']}}
    two = read_stages(node, Path(whole))[1]
    assert list(two.overrides) == [f"init={path}", f"a=[{path},{path}]", f'b="{result}"']
    assert two.inputs == {"one.net": Path(result)}


def test_stages_are_chosen_by_from_only_and_skip() -> None:
    assert names() == ["made", "one", "two", "mean"]
    assert names(**{"from": "two"}) == ["two", "mean"]
    assert names(only=["one", "mean"]) == ["one", "mean"]
    assert names(skip=["one"]) == ["made", "two", "mean"]
    assert names(**{"from": "one", "skip": ["two"]}) == ["one", "mean"]
    assert [stage.redo for stage in read_stages(NODE | {"from": "two"}, HERE)] == [False, False, True, True]
    assert not any(stage.redo for stage in read_stages(NODE | {"skip": ["made"]}, HERE))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"from": "three"}, "stages.from='three': no such stage; there are made, one, two, mean"),
        ({"skip": ["x"]}, "stages.skip='x': no such stage"),
        ({"only": "one"}, "stages.only='one': give a list of texts"),
        ({"two": {"overrides": ["init=whole/late/net.pt"]}}, "stages.two: refers to the stage late, but no stage before it is called that"),
        ({"two": {"overrides": ["init=whole/made/net.pt"]}}, "stages.two: refers to made.net, but a stage of kind labels leaves none"),
        ({"two": {"minutes": 3}}, "stages.two.overrides: missing"),
        ({"two": {"overrides": [], "minutes": 0}}, "stages.two.minutes=0: give a number above 0, or null"),
        ({"two": {"overrides": [], "hours": 1}}, "stages.two.hours: a stage of kind train does not read it; it reads kind, overrides"),
        ({"two": {"kind": "distil", "overrides": []}}, "stages.two.kind='distil': choose train, labels, export, evaluate"),
        ({"two": {"kind": "export"}}, "stages.two.nets: missing"),
        ({"two": {"kind": ["train"], "overrides": []}}, "stages.two.kind=['train']: choose train, labels, export, evaluate"),
        ({"two": {"overrides": 0}}, "stages.two.overrides=0: give a list of texts"),
        ({"two": {"overrides": [], "minutes": 10**400}}, "give a number above 0, or null"),
        ({"a" * 65: {"overrides": []}}, "64 at most"),
        ({"all": "seed=2"}, "stages.all='seed=2': give a list of texts"),
        ({"two": ["init=x"]}, "stages.two=['init=x']: give a mapping"),
        ({"t/o": {"overrides": []}}, "stages.t/o: a name is letters, digits and _"),
    ],
)
def test_what_cannot_work_is_named(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(RaccoonError) as refused:
        read_stages(NODE | changes, HERE)
    assert told in str(refused.value)


@pytest.mark.parametrize("node", [5, "one", ["one"]])
def test_what_is_no_mapping_is_refused(node: Any) -> None:
    with pytest.raises(RaccoonError, match=r"^stages=.*: give a mapping of names to stages, or null"):
        read_stages(node, HERE)
    with pytest.raises(RaccoonError, match=r"^stages=.*: give a mapping of names to stages, or null"):
        shared_overrides(node)

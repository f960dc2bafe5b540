"""Objects from config nodes: what is built, what is refused, and what the refusal says."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from omegaconf import OmegaConf

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain, shared
from raccoon.contracts import Engine, Player, RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.executor import Executor, ProcessExecutor
from raccoon.model import build_net

EXECUTOR = {"_target_": "raccoon.executor.ProcessExecutor", "workers": 0, "progress": False}


@dataclass(frozen=True)
class Record:
    size: int


class Holder:
    """A target that keeps what it was given."""

    def __init__(self, inner: Any, items: Any = (), record: Any = None) -> None:
        if inner == "bad":
            raise RaccoonError("inner=bad: give something else")
        if inner == "value":
            raise ValueError("inner must not be value")
        self.inner, self.items, self.record = inner, items, record


class Nested(Holder):
    """A target whose argument is a node of its own."""


class Open(Holder):
    """A target that hands on whatever it is given."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


class Renamed(Holder):
    """A target whose argument ``items`` was called ``pieces`` once."""

    renamed: ClassVar[dict[str, str]] = {"pieces": "items"}


class Greedy:
    def __init__(self) -> None:
        raise MemoryError("1 PiB")


class Broken:
    def __init__(self) -> None:
        raise KeyError("a fault of the program")


def factory() -> Record:
    return Record(1)


@pytest.fixture(autouse=True)
def _tests_are_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raccoon.plugins.plugin_packages", lambda: (__name__.split(".")[0],))


def target(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"_target_": f"{__name__}.{name}", **kwargs}


@pytest.mark.parametrize("value", ["3", 1.5, True, None, [3]], ids=str)
def test_a_value_of_another_type_is_named_before_anything_is_built(value: Any) -> None:
    with pytest.raises(RaccoonError, match=r"^top\.record\.size=.*: give a whole number$"):
        build(target("Holder", inner="bad", record=target("Record", size=value)), "top")


@pytest.mark.parametrize("depth", [0, 1])
def test_what_needs_more_memory_than_there_is_is_named(depth: int) -> None:
    node = target("Greedy")
    with pytest.raises(RaccoonError, match=r"^top: cannot be built, it needs more memory"):
        build(target("Holder", inner=node) if depth else node, "top")


def test_builds_from_dict_and_from_dictconfig() -> None:
    for node in (EXECUTOR, OmegaConf.create(EXECUTOR)):
        executor = build(node)
        assert isinstance(executor, ProcessExecutor)
        assert executor.workers == 0


def test_lists_and_dicts_arrive_plain() -> None:
    holder = build(OmegaConf.create(target("Holder", inner={"a": [1, {"b": 2}]}, items=[1, 2])))
    assert type(holder.inner) is dict
    assert type(holder.inner["a"]) is list
    assert type(holder.inner["a"][1]) is dict
    assert type(holder.items) is list


def test_nested_nodes_are_built_first_and_objects_pass_through_extra_unchanged() -> None:
    record = Record(3)
    holder = build(target("Nested", inner=target("Holder", inner=1)), items={"k": [1]}, record=record)
    assert isinstance(holder.inner, Holder)
    assert holder.record is record
    assert holder.items == {"k": [1]}


def test_extra_wins_over_the_node_and_the_node_is_not_built() -> None:
    holder = build(target("Holder", inner=target("Broken")), inner=7)
    assert holder.inner == 7


def test_partial_with_extra() -> None:
    made = build(target("Holder", _partial_=True, items=[1]), record=5)
    assert isinstance(made, functools.partial)
    assert vars(made("x")) == {"inner": "x", "items": [1], "record": 5}
    outer = build(target("Holder", inner=target("Holder", _partial_=True)))
    assert vars(outer.inner(2)) == {"inner": 2, "items": (), "record": None}


def test_non_recursive_nodes_stay_plain_dicts() -> None:
    inner = {"_target_": "os.system", "command": "true"}
    holder = build(target("Holder", _recursive_=False, inner={"a": inner}))
    assert holder.inner == {"a": inner}
    assert type(holder.inner["a"]) is dict


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "raccoonish.thing", "subprocess.Popen", "torch.load"])
def test_targets_outside_the_allow_list_are_refused(name: str) -> None:
    with pytest.raises(RaccoonError, match=r"engine\.inner\._target_.*may not be built.*raccoon\.\*"):
        build(target("Holder", inner={"_target_": name}), "engine")


@pytest.mark.parametrize(
    ("node", "extra", "message"),
    [
        (EXECUTOR | {"wrokers": 2}, {}, r"^executor\.wrokers: .*ProcessExecutor does not take that; it accepts workers, progress$"),
        (EXECUTOR, {"speed": 2}, r"^executor\.speed: .*does not take that"),
        ({"_target_": "raccoon.executor.Nothing"}, {}, r"executor\._target_='raccoon.executor.Nothing' cannot be imported"),
        ({"_target_": "raccoon.nothing.Nothing"}, {}, r"executor\._target_.*cannot be imported"),
        ({"_target_": "raccoon.env.board.START"}, {}, r"executor\._target_.*not a class or function"),
        ({"_target_": 3}, {}, r"executor\._target_=3 may not be built"),
        ({"workers": 0}, {}, r"^executor: expected a node with _target_"),
        (None, {}, r"^executor: expected a node with _target_"),
        (EXECUTOR | {"workers": -1}, {}, r"executor\.workers=-1"),
    ],
)
def test_messages_name_the_key(node: Any, extra: dict[str, Any], message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        build(node, "executor", **extra)


@pytest.mark.parametrize(
    "name",
    [
        "raccoon.files.write_text", "raccoon.files.os._exit", "raccoon.files.np.load",
        "raccoon.runs.folder.socket.create_connection",
        "raccoon.model.checkpoint_file.torch.load",
        "raccoon.model.checkpoint_file.Path", "raccoon.files.atomic", "raccoon.model.checkpoint_file.load",
        "raccoon.env.Encoder.from_config", "raccoon.env.Encoder.encode", "raccoon.env.Encoder.__init__",
        "raccoon.cli.__main__.main", "raccoon.executor.ProcessExecutor.__class__", "raccoon.contracts.RaccoonError.__subclasses__",
        "raccoon", "raccoon.", "raccoon.files", "raccoon..files", "lightning.pytorch.Trainer", "lightning.pytorch.cli.LightningCLI",
        "lightning.pytorch.callbacks.early_stopping.torch.load", "torch.nn.Linear", "${oc.env:HOME}",
        f"{__name__}.factory", f"{__name__}.Path", f"{__name__}.functools.partial",
        "raccoon.files.write_text\n", "os.system", 3, None, ["raccoon.executor.ProcessExecutor"],
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("place", ["outermost", "nested", "in a list", "partial"])
def test_what_is_no_class_of_an_allowed_package_is_refused(name: Any, place: str, tmp_path: Path) -> None:
    written = tmp_path / "written"
    node = {"_target_": name, "path": str(written), "text": "x"}
    nodes = {
        "outermost": node,
        "nested": target("Holder", inner=node),
        "in a list": target("Holder", inner=1, items=[{"a": node}]),
        "partial": target("Holder", inner=node | {"_partial_": True}),
    }
    with pytest.raises(RaccoonError, match=r"_target_="):
        build(nodes[place], "top")
    assert not written.exists()


def test_hostile_targets_of_a_command_line_are_refused(tmp_path: Path) -> None:
    written = tmp_path / "written"
    text = f"{{_target_:raccoon.files.write_text,path:{written},text:x}}"
    target_only = [
        "model.head._target_=raccoon.files.write_text",
        "model.head._partial_=false",
        f"+model.head.path={written}",
        "+model.head.text=x",
    ]
    for overrides in (target_only, [f'model.head="${{oc.create:{text}}}"'], [f"+model.backbone.inner={text}"]):
        with pytest.raises(RaccoonError, match=r"^model\.(head|backbone\.inner)\._target_='raccoon\.files\.write_text' may not be built"):
            build_net(plain(compose("train", overrides).model), Encoder())
    assert not written.exists()


def test_functions_are_built_only_where_an_option_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raccoon.plugins.option_targets", lambda: frozenset({f"{__name__}.factory", f"{__name__}.Path.cwd"}))
    assert build(target("factory"), "top", Record) == Record(1)
    with pytest.raises(RaccoonError, match="belongs to 'pathlib'"):
        build(target("Path.cwd"))


@pytest.mark.parametrize("text", ["${oc.create:{_target_: os.getcwd}}", "${oc.env:HOME}", "${nothing}", "???"])
def test_texts_of_a_plain_node_are_not_resolved(text: str) -> None:
    assert build(target("Holder", inner=text, items=[{"a": text}])).items == [{"a": text}]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"engine": EXECUTOR}, r"^player\.engine\._target_=raccoon\.executor\.ProcessExecutor: makes something else .*Engine"),
        ({"engine": {"_target_": "raccoon.engine.RandomEngine", "_partial_": True}}, r"^player\.engine\._target_="),
        ({"engine": {"_target_": "raccoon.engine.RandomEngine", "seed": EXECUTOR}}, r"^player\.engine\.seed\._target_="),
        ({"engine": {"_target_": "raccoon.engine.RandomEngine"}, "search": EXECUTOR}, r"^player\.search\._target_="),
        ({"engine": {"_target_": "raccoon.engine.RandomEngine"}, "_recursive_": False}, r"^player\.engine=.*give a node"),
        ({"engine": [1]}, r"^player\.engine=\[1\]: give a node"),
    ],
)
def test_a_nested_node_must_make_what_its_parameter_takes(node: dict[str, Any], message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        build({"_target_": "raccoon.play.EnginePlayer", **node}, "player")


def test_the_outermost_node_must_make_what_the_place_takes() -> None:
    for kind in (Engine, Player, Encoder):
        with pytest.raises(RaccoonError, match=rf"^top: .*ProcessExecutor is no {kind.__name__.lower()}"):
            build(EXECUTOR, "top", kind)
    assert isinstance(build(EXECUTOR, "top", Executor), ProcessExecutor)
    with pytest.raises(RaccoonError, match=r"^top: .*Holder is no engine"):
        build(target("Holder", inner=1), "top", Engine)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"_args_": [1]}, "by name"), ({"_partial_": "yes"}, "true or false"), ({"_recursive_": 0}, "true or false"),
        ({"_convert_": "none"}, "leave it out"), ({3: 4}, "no name of an argument"),
    ],
)  # fmt: skip
def test_control_keys_are_checked(more: dict[Any, Any], message: str) -> None:
    for node in (target("Holder", inner=1, **{}) | more, target("Holder", inner=target("Holder", inner=1) | more)):
        with pytest.raises(RaccoonError, match=message):
            build(node, "top")


def test_data_without_end_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    wide: list[Any] = []
    for _ in range(30):
        wide = [wide, wide]
    for value, message in ((loop, "nests deeper"), (wide, "more than 100,000"), (10**5000, "bits")):
        with pytest.raises(RaccoonError, match=rf"^top: .*{message}"):
            build(target("Holder", inner=value), "top")


def test_missing_arguments_and_list_positions_are_named() -> None:
    with pytest.raises(RaccoonError, match=r"^x\.items\[1\]\.inner: missing; .*Holder needs it"):
        build(target("Holder", inner=1, items=[target("Holder", inner=1), target("Holder")]), "x")


def test_refusals_of_constructors() -> None:
    for node in (target("Holder", inner="bad"), target("Nested", inner=target("Holder", inner="bad"))):
        with pytest.raises(RaccoonError, match=r"^inner=bad: give something else$"):
            build(node)
    for node in (target("Holder", inner="value"), target("Nested", inner=target("Holder", inner="value"))):
        with pytest.raises(RaccoonError, match=r"model: .*inner must not be value"):
            build(node, "model")


def test_faults_of_the_program_pass_unchanged() -> None:
    with pytest.raises(KeyError, match="a fault"):
        build(target("Broken"))
    with pytest.raises(KeyError, match="a fault"):
        build(target("Holder", inner=target("Broken")))


def test_plain_resolves_interpolations() -> None:
    assert plain(OmegaConf.create({"a": 1, "b": ["${a}"]})) == {"a": 1, "b": [1]}
    assert plain(5) == 5


def test_shared_objects_are_built_once_while_node_and_files_stay_the_same(tmp_path: Path) -> None:
    weights = tmp_path / "net.pt"
    weights.write_text("first")
    node, seen = target("Holder", inner=str(weights)), []
    first = shared(node, ready=seen.append)
    assert shared({**node}, ready=seen.append) is first
    assert seen == [first]
    weights.write_text("second")
    assert shared(node) is not first
    for number in range(6):
        assert shared(target("Holder", inner=number)).inner == number
    with pytest.raises(RaccoonError, match=r"^inner=bad"):
        shared(target("Holder", inner="bad"))


@pytest.mark.parametrize("depth", [0, 1])
def test_a_key_that_no_class_behind_an_open_one_takes_is_named(depth: int) -> None:
    node = target("Open", inner=1, itmes=[2])
    with pytest.raises(RaccoonError, match=rf"^top{'.inner' * depth}\.itmes: .*Open does not take that"):
        build(target("Holder", inner=node) if depth else node, "top")
    assert build(target("Open", inner=1, items=[2])).items == [2]


def test_arguments_have_former_names() -> None:
    assert build(target("Renamed", inner=1, pieces=[3])).items == [3]
    inner = build(target("Holder", inner=target("Renamed", inner=1, items=[1], pieces=[2]))).inner
    assert inner.items == [2]
    kept = build(target("Nested", inner={"_target_": f"{__name__}.Renamed", "pieces": [1]}) | {"_recursive_": False}).inner
    assert kept == {"_target_": f"{__name__}.Renamed", "pieces": [1]}  # whoever builds it knows them too

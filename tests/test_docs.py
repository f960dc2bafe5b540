"""The pages are true: their examples, written out as packages, pass their own checks; links, files and options exist."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import io
import itertools
import re
import shlex
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override

from raccoon import plugins, testing
from raccoon.cli.play import program as play
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import plain

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
FIXTURE = ROOT / "tests" / "plugin_fixture"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?:# @package \S+\n)?# ([\w./-]+\.(?:py|yaml|toml))\n")  # Hydra reads its own line only when it is the first
_PRINTS = re.compile(r"^```python\n(.*?)^```\n\n((?:    [^\n]+\n)+)", re.MULTILINE | re.DOTALL)
_TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+(/[\w.-]+)*(/|\.(py|md|yaml|toml))")
_DOTTED = re.compile(r"raccoon(?:\.\w+)+[*<]?")
_OVERRIDE = re.compile(r"[+~]*[a-z_]+[\w/@.]*=")
_PROGRAMS = {"train.py": "train", "evaluate.py": "evaluate", "raccoon-train": "train", "raccoon-evaluate": "evaluate"}
_MODULES = {
    "raccoon.cli.train": "train",
    "raccoon.cli.evaluate": "evaluate",
    "raccoon.cli.generate": "generate",
    "raccoon.cli.rgp": "rgp",
    "raccoon.cli.serve": "serve",
    "raccoon.cli.play": "play",
}


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, language, file name ("" where it begins with none) and text without that line."""

    page: str
    language: str
    name: str
    text: str


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        for language, text in _FENCE.findall(page.read_text(encoding="utf-8")):
            named = _NAMED.match(text)
            name = named[1] if named else ""
            found.append(Block(str(page.relative_to(ROOT)), language, name, text.replace(f"# {name}\n", "", 1) if name else text))
    return found


BLOCKS = blocks()
FILES = [block for block in BLOCKS if block.name]
TESTS = [(block, test) for block in FILES if block.name.startswith("tests/") for test in _TEST.findall(block.text)]


def commands() -> list[tuple[str, str, list[str]]]:
    """``(page, root config, arguments)`` of every command of Raccoon's in the bash blocks."""
    found = []
    for page, words in shell_words():
        for _, part in itertools.groupby(words, key=lambda word: word in ("&&", "|", ";", ">")):
            root, rest = _program(list(part))
            if root:
                found.append((page, root, rest))
    return found


def shell_words() -> list[tuple[str, list[str]]]:
    """``(page, words)`` of every line of the bash blocks."""
    found = []
    for block in BLOCKS:
        if block.language in ("bash", "sh", "console"):
            lines = block.text.replace("\\\n", " ").splitlines()
            found += [(block.page, shlex.split(line.removeprefix("$ "), comments=True)) for line in lines]
    return found


def _program(words: list[str]) -> tuple[str | None, list[str]]:
    """Root config and arguments of one command; None when it is not one of ours."""
    for at, word in enumerate(words):
        if word in _PROGRAMS:
            return _PROGRAMS[word], words[at + 1 :]
        if word == "-m" and at + 1 < len(words) and words[at + 1] in _MODULES:
            return _MODULES[words[at + 1]], words[at + 2 :]
    return None, []


COMMANDS = commands()


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every named block as a file, importable, its packages installed as plugins."""
    folder = tmp_path_factory.mktemp("docs")
    for block in FILES:
        path = folder / block.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    packages = sorted({block.name.split("/")[0] for block in FILES if "/" in block.name} - {"tests"})
    for package in packages:
        (folder / package / "__init__.py").touch()
        (folder / package / "conf" / "__init__.py").touch()
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    _install(folder, project["name"], project["entry-points"]["raccoon.plugins"])
    _install(folder, "my-package", {"my": "my_package.conf"})
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    plugins.plugins.cache_clear()
    yield folder
    sys.path.remove(str(folder))
    importlib.invalidate_caches()
    plugins.plugins.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] in packages]:
        del sys.modules[name]


def _install(folder: Path, name: str, entries: dict[str, str]) -> None:
    """What pip would leave behind."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{key} = {value}" for key, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[raccoon.plugins]", *lines, ""]), encoding="utf-8")


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _cases(test: object) -> list[dict[str, object]]:
    """The arguments of each case of a test with at most one ``parametrize`` mark."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    return [{mark.args[0]: value} for mark in marks for value in mark.args[1]] or [{}]


def printed() -> list[Any]:
    """Code and what the page shows that it prints, of every page that shows both."""
    pages = [(page.relative_to(ROOT), _PRINTS.findall(page.read_text(encoding="utf-8"))) for page in PAGES]
    return [pytest.param(code, textwrap.dedent(shown), id=str(page)) for page, found in pages for code, shown in found]


@pytest.mark.parametrize(("code", "shown"), printed())
def test_code_prints_what_is_shown(code: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "<page>", "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_readme_shows_what_its_code_prints() -> None:
    assert "README.md" in {case.id for case in printed()}


def test_the_readme_plays_the_game_that_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^    printf '(.+)' \| python -m raccoon\.cli\.play (.+)\n\n((?:    .+\n)+)", page, re.MULTILINE)
    assert shown is not None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO(shown[1].replace("\\n", "\n")))
    play._job(plain(compose("play", shlex.split(shown[2]))), None)
    printed, page_has = (re.sub(r"\d+\.\d\d s;", "s;", text) for text in (capsys.readouterr().out, textwrap.dedent(shown[3])))
    assert printed == page_has


def test_no_file_is_written_twice() -> None:
    names = [block.name for block in FILES]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(("block", "test"), TESTS, ids=[f"{block.page}::{test}" for block, test in TESTS])
def test_example(block: Block, test: str, written: Path, tmp_path: Path) -> None:
    function = getattr(_module(written / block.name), test)
    for number, case in enumerate(_cases(function)):
        if "tmp_path" in inspect.signature(function).parameters:
            case["tmp_path"] = tmp_path / str(number)
            (tmp_path / str(number)).mkdir()
        function(**case)


def test_every_check_is_used_on_a_page() -> None:
    used = "".join(block.text for block, _ in TESTS)
    assert [name for name in vars(testing)["__all__"] if name.startswith("check_") and name not in used] == []


def test_every_group_is_in_the_index() -> None:
    index = (DOCS / "extending" / "README.md").read_text(encoding="utf-8")
    groups = {group for group in plugins.catalogue() if not group.startswith("debug/")}
    assert {group for group in groups if f"`{group}`" not in index} == set()
    assert {page.name for page in (DOCS / "extending").glob("*.md")} - {"README.md"} <= set(_LINK.findall(index))


def test_the_table_of_groups_is_the_catalogue() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## Config groups")[1].split("\n## ")[0]
    shown = {group: sorted(_CODE.findall(row)) for group, row in re.findall(r"^\| `([\w/]+)` \| (.+) \|$", table, re.MULTILINE)}
    groups = {group: options for group, options in plugins.catalogue().items() if not group.startswith("debug/")}
    own = {group: sorted(name for name, by in options.items() if by == "raccoon") for group, options in groups.items()}
    assert shown == {group: names for group, names in own.items() if names}


def test_the_table_of_experiments_is_the_folder() -> None:
    table = (DOCS / "experiments.md").read_text(encoding="utf-8").split("## All of them")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|(.+)\|$", table, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(path.stem for path in (ROOT / "conf" / "experiment").glob("*.yaml"))
    cells = {name: [cell.strip() for cell in row.split("|")] for name, row in rows}
    assert {name: len(row) for name, row in cells.items() if len(row) != 5} == {}
    assert [name for name, (question, judged, cost, _, measured) in cells.items() if not (question and judged and cost and measured)] == []


def test_the_fixture_is_shown_as_it_is() -> None:
    shown = {block.name: block.text for block in FILES if block.page == "docs/extending/README.md"}
    shipped = {str(path.relative_to(FIXTURE)): path for path in FIXTURE.rglob("*") if path.suffix in (".py", ".toml", ".yaml")}
    assert {name for name in shown if not name.startswith("tests/")} == set(shipped)
    for name, path in shipped.items():
        assert shown[name] == path.read_text(encoding="utf-8"), name


def test_the_plugin_of_the_examples_is_what_the_pages_show() -> None:
    """A page that changes changes the file of that name in examples/plugin."""
    shown = {block.name: block.text for block in FILES if block.page != "docs/extending/README.md"}
    plugin = ROOT / "examples" / "plugin"
    own = {"pyproject.toml", "my_package/__init__.py", "my_package/conf/__init__.py"}
    kept = {str(path.relative_to(plugin)) for path in plugin.rglob("*") if path.suffix in (".py", ".toml", ".yaml")}
    assert set(shown) == kept - own
    assert [name for name, text in shown.items() if (plugin / name).read_text(encoding="utf-8") != text] == []


def test_the_site_has_every_page_and_every_package_a_reference() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"(\S+\.md)$", settings.split("\nnav:\n")[1], re.MULTILINE)
    assert sorted(named) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert re.search(r"^strict: true$", settings, re.MULTILINE)
    assert re.search(r"^  font: false", settings, re.MULTILINE)
    described = {
        found for page in (DOCS / "reference").glob("*.md") for found in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
    }
    packages = {f"raccoon.{path.parent.name}" for path in (ROOT / "raccoon").glob("*/__init__.py")}
    inner = {f"raccoon.{name}" for name in ("api", "assets", "cli", "dashboard", "serve")}  # nothing that one writes code against
    assert packages - inner <= described


def test_one_training_run_of_the_whole_package(written: Path, tmp_path: Path) -> None:
    """The parts of the pages work together: encoder, network, data, trainer, callback, logger, executor, evaluator, opponent."""
    from raccoon.config.instantiate import plain
    from raccoon.report import report_files
    from raccoon.runs.folder import Run
    from raccoon.train.run import train

    choices = ["encoder=my_race", "model=my_dense", "model/head=my_chain", "data=my_bearoffs", "trainer=my_huber", "executor=my_renewed"]
    choices += ["callbacks=my_norm", "logger=[csv,my_jsonl]", "search=my_reply", "opponent=my_hitter", "debug=fast"]
    choices += ["~final.vr_arena", "~final.bgsage_pr", "+evaluator@final.my_lengths=my_lengths", "engine@data.source.teacher=my_pips"]
    sizes = ["model.backbone.width=16", "model.backbone.blocks=1", "final.my_lengths.games=2", "search.keep=1"]
    folder = tmp_path / "run"
    folder.mkdir()
    cfg = plain(compose("train", [*choices, *sizes, f"paths.run_dir={folder}", f"paths.data_dir={tmp_path}"]))
    result = report_files.read(train(cfg, Run(folder, "train", False, cfg)))
    assert {"val/mse", "my_lengths/rolls"} <= set(result.figures)
    assert result.opponent == "my_hitter"
    assert "train/weight_norm" in (folder / "metrics.csv").read_text(encoding="utf-8")
    assert "train/loss" in (folder / "my_jsonl.jsonl").read_text(encoding="utf-8")


def test_programs_on_the_pages_exist() -> None:
    faults = []
    for page, words in shell_words():
        scripts = [word for word in words if word.endswith(".py") and "=" not in word and not (ROOT / word).exists()]
        modules = [word for flag, word in itertools.pairwise(words) if flag == "-m" and re.match(r"(raccoon|benchmarks)\b", word)]
        faults += [(page, name) for name in [*scripts, *(module for module in modules if not importlib.util.find_spec(module))]]
    assert faults == []


def _overrides(arguments: list[str]) -> list[Override]:
    return OverridesParser.create().parse_overrides([word for word in arguments if _OVERRIDE.match(word)])


def _choices(override: Override) -> list[Any]:
    """The values that one run or another takes."""
    return list(override.sweep_iterator()) if override.is_sweep_override() else [override.value()]


def _first(override: Override) -> str:
    """The override as it was given; of a sweep the first choice."""
    line = override.input_line or ""
    return f"{line.split('=')[0]}={_choices(override)[0]}" if override.is_sweep_override() else line


def test_options_on_the_pages_exist(written: Path) -> None:
    catalogue = plugins.catalogue()
    named = [(page, each.key_or_group, choice) for page, _, words in COMMANDS for each in _overrides(words) for choice in _choices(each)]
    options = [(page, group, str(each)) for page, group, choice in named for each in (choice if isinstance(choice, list) else [choice])]
    known = [(page, group, option) for page, group, option in options if group in catalogue]
    assert [(page, group, option) for page, group, option in known if option not in {*catalogue[group], "null", "None"}] == []
    assert len(known) > 40


def test_keys_on_the_pages_exist(written: Path) -> None:
    """Commands that set more than ``group=option`` compose, with the first choice of a sweep."""
    lines = set()
    for page, root, words in COMMANDS:
        overrides = _overrides(words)
        if any(re.search(r"[.@]", each.key_or_group) or each.package for each in overrides):
            lines.add((page, root, *(_first(each) for each in overrides)))
    faults = []
    for page, root, *words in sorted(lines):
        try:
            compose(root, words)
        except Exception as error:
            faults.append(f"{page}: {root} {' '.join(words)}: {error}")
    assert faults == []
    assert len(lines) > 10


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_and_files_exist(page: Path) -> None:
    text = prose(page)
    faults = []
    for link in _LINK.findall(text):
        target, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        path = (page.parent / target).resolve() if target else page
        if not path.exists():
            faults.append(link)
        elif anchor and anchor not in _anchors(path):
            faults.append(f"{link}: no such heading")
    faults += [name for name in _CODE.findall(text) if not _exists(name, page)]
    assert faults == []


def _anchors(page: Path) -> set[str]:
    """GitHub's ids of the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _exists(name: str, page: Path) -> bool:
    """False for what reads like a path of this repository and is none; run folders and label sets are no part of it."""
    if not _PATH.fullmatch(name) or name.split("/")[0] in ("runs", "data", "final"):
        return True
    if "/" not in name.rstrip("/") and not name.endswith(".py"):  # config.yaml, report.md: files of a run
        return True
    return any((base / name).exists() for base in (ROOT, ROOT / "raccoon", page.parent, FIXTURE))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_dotted_names_exist(page: Path) -> None:
    faults = []
    for name in {name for code in _CODE.findall(prose(page)) for name in _DOTTED.findall(code) if name[-1] not in "*<"}:
        found: object = importlib.import_module("raccoon")
        for depth, part in enumerate(name.split(".")[1:], start=2):
            module = ".".join(name.split(".")[:depth])
            if isinstance(found, ModuleType) and hasattr(found, "__path__") and importlib.util.find_spec(module):
                found = importlib.import_module(module)
            elif hasattr(found, part):
                found = getattr(found, part)
            else:
                faults.append(name)
                break
    assert faults == []

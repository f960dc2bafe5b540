"""``python -m raccoon.cli.benchmark``: show, convert, build or measure a benchmark file.

show FILE                     what a file holds (FILE may be "embedded", "choosing" or "measured"), and the noise of its references:
                              what it charges a player who makes no error
convert IN OUT [tier=NAME]    check a benchmark (JSON, gzipped JSON or compact) and write it in the compact form; the decisions of one
                              tier alone, as tier=rollout for measured references
build OUT key=value ...       self-play refereed by Open Sage; keys: games, seed, first, level, refine, close, trivial,
                              cube_window, player (a node), workers. The same command continues an interrupted build.
roll IN OUT key=value ...     measured references: rolls out cube decisions and close checker plays of IN to the end of the game, the
                              cube included; the rest of IN is copied. Keys: trials, seed, games (null: all), cube, checker (how many
                              plays, null: all that are close), close, most (candidates), engine and prune (nodes), workers. The same
                              command continues an interrupted one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from raccoon.checks import quoted
from raccoon.cli.program.app import plain_main
from raccoon.config.arguments import check_arguments
from raccoon.contracts import RaccoonError
from raccoon.files import check_suffix
from raccoon.flatten import leaves, shown

if TYPE_CHECKING:
    from raccoon.eval.benchmark.decisions import Benchmark
    from raccoon.executor import Executor

__all__ = ["main", "run"]

Plan = TypeVar("Plan")

_NOISE = (
    "SE: standard error of a rollout's reference; within 1 SE: the share of questions whose best two answers are no further apart than",
    "the SE of their difference; charged PR: what a player who makes no error is charged for errors of the references of that size",
)
_COMPACT = ("a compact benchmark", ".npz.xz", ".xz")


def run(arguments: Sequence[str]) -> str:
    """Do what the arguments say and return the text to print. Raises RaccoonError."""
    usage = f"usage: {(__doc__ or '').strip()}"
    if {"-h", "--help"} & set(arguments):
        return usage
    command, rest = (arguments[0], list(arguments[1:])) if arguments else ("", [])
    if command == "show" and len(rest) == 1:
        return _show(rest[0])
    if command == "convert" and len(rest) >= 2 and not any("=" in text for text in rest[:2]):
        return _convert(rest[0], rest[1], rest[2:])
    if command == "build" and rest and "=" not in rest[0] and not rest[0].startswith("-"):
        return _build(Path(rest[0]), rest[1:])
    if command == "roll" and len(rest) >= 2 and not any("=" in text or text.startswith("-") for text in rest[:2]):
        return _roll(rest[0], Path(rest[1]), rest[2:])
    raise RaccoonError(usage)


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


def _show(source: str) -> str:
    from raccoon.eval.benchmark.loader import load
    from raccoon.eval.references.noise import noise_table

    benchmark = load(source)
    checker, cube = benchmark.checker, benchmark.cube
    lines = [
        f"{benchmark.source}: {len(checker):,} checker decisions ({len(checker.children):,} candidates), {len(cube):,} cube decisions",
        f"games: {len({*checker.games.tolist(), *cube.games.tolist()}):,}; {benchmark.rules.flags()}",
    ]
    part = checker if len(checker) else cube
    for title, labels in (("tiers", part.tiers), ("game plans", part.plans), ("reference levels", part.levels)):
        lines.append(f"{title}: " + ", ".join(f"{name} {count:,}" for name, count in Counter(labels.tolist()).most_common()))
    for rolled in benchmark.meta.get("rolled", []):
        lines.append("rolled out: " + ", ".join(f"{key}={shown(value)}".lstrip("=") for key, value in leaves(rolled)))
    return "\n".join([*lines, "", _columns(noise_table(benchmark)), *_NOISE])


def _columns(rows: Sequence[Mapping[str, Any]]) -> str:
    from raccoon.report.report_files import grid

    heads, cells = grid(rows)
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in (heads, *cells))


def _convert(source: str, target: str, assignments: Sequence[str]) -> str:
    from raccoon.eval.benchmark import compact as benchmark_file
    from raccoon.eval.benchmark.loader import load

    check_suffix(target, *_COMPACT)
    _check_new(Path(target))
    settings = _settings("convert", assignments)
    tier = settings.pop("tier", None)
    if settings:
        raise RaccoonError(f"convert: unknown key {quoted(next(iter(settings)))}; the only one is tier")
    benchmark = load(source, "IN")
    if tier is not None:
        benchmark = benchmark.of_tier(str(tier))
    size = benchmark_file.write(benchmark, target)
    return f"{target}: {size:,} bytes, {len(benchmark.checker):,} checker and {len(benchmark.cube):,} cube decisions"


def _build(target: Path, assignments: Sequence[str]) -> str:
    from raccoon.eval.benchmark.make import BuildPlan, build_benchmark, is_of

    return _make("build", target, assignments, BuildPlan, build_benchmark, is_of)


def _roll(source: str, target: Path, assignments: Sequence[str]) -> str:
    from raccoon.eval.benchmark.loader import load
    from raccoon.eval.benchmark.roll import RollPlan, is_rolled, roll_benchmark

    load(source, "IN")
    return _make(
        "roll", target, assignments, RollPlan,
        lambda executor, plan, folder: roll_benchmark(executor, source, plan, folder),
        lambda benchmark, plan: is_rolled(benchmark, source, plan),
    )  # fmt: skip


def _make(
    command: str, target: Path, assignments: Sequence[str], kind: type[Plan],
    work: Callable[[Executor, Plan, Path], Benchmark], is_of: Callable[[Benchmark, Plan], bool],
) -> str:  # fmt: skip
    """Write ``target`` by ``work`` to the plan of the ``assignments``; ``is_of``: does a benchmark say that it was made to the plan?"""
    from raccoon.eval.benchmark import compact as benchmark_file
    from raccoon.eval.benchmark.loader import load
    from raccoon.executor import ProcessExecutor
    from raccoon.executor.shards import check_folder, remove_shards

    folder = target.with_name(f"{target.name}.parts")
    if not folder.exists():
        _check_new(target)
    check_suffix(target, *_COMPACT)
    check_folder(folder)
    settings = _settings(command, assignments)
    workers = settings.pop("workers", None)
    check_arguments(kind, settings, command)
    check_arguments(ProcessExecutor, {"workers": workers}, command)
    try:
        plan = kind(**settings)
    except TypeError as error:
        raise RaccoonError(f"{command}: {error}; see the usage for the keys") from error
    if target.exists():  # this command was killed when it had written it
        benchmark = load(target)
        if not is_of(benchmark, plan):
            raise RaccoonError(f"{target}: exists already, and is no result of this {command}; name another file or remove it")
        size = target.stat().st_size
    else:
        benchmark = work(ProcessExecutor(workers), plan, folder)
        size = benchmark_file.write(benchmark, target)
    remove_shards(folder)
    return f"{target}: {size:,} bytes, {len(benchmark.checker):,} checker and {len(benchmark.cube):,} cube decisions"


def _check_new(target: Path) -> None:
    if target.exists():
        raise RaccoonError(f"{target}: exists already; name another file or remove it")


def _settings(command: str, assignments: Sequence[str]) -> dict[str, Any]:
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    faulty = [text for text in assignments if not all(text.partition("="))]
    if faulty:
        raise RaccoonError(f"{command}: {quoted(faulty[0])} is not of the form key=value")
    try:
        settings = OmegaConf.to_container(OmegaConf.from_dotlist(list(assignments)), resolve=True)
    except (OmegaConfBaseException, ValueError) as error:
        raise RaccoonError(f"{command}: {' '.join(assignments)}: {error}") from error
    return {str(key): value for key, value in settings.items()} if isinstance(settings, dict) else {}


if __name__ == "__main__":
    main()

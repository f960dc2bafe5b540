"""The text of ``--help``: every group with its options, the defaults marked; written from the catalogue alone."""

from __future__ import annotations

import textwrap

from raccoon.cli.program.keys import READ
from raccoon.plugins import catalogue, defaults

__all__ = ["text"]

_ABOUT = {
    "train": "Train a network and measure it.",
    "evaluate": "Measure a player.",
    "generate": "Label positions.",
    "search": "Say what a player thinks of a position: plays ranked, chances, depth.",
    "serve": "Show a page in the browser of this machine: analyse, play, look at matches (docs/serve.md).",
    "rgp": "Let other programs play a player, by text messages (docs/rgp.md).",
    "play": "Play against a player in a terminal: matches and money games with the cube (docs/play.md).",
}
_EXAMPLES = {
    "train": (
        "model=resnet10x256 trainer=distill",
        "model=mlp trainer.max_epochs=20 logger=[csv,wandb]",
        "-m model/head=scalar,outcomes6 encoder=base,all",
        "debug=fast",
    ),
    "generate": (
        "data=gnubg1 data.source.games=100000",
        "data=relabel data.source.folder=data/demo-... data.source.teacher.ply=2",
    ),
    "search": (
        "position=4HPwATDgc/ABMA dice=[3,1] search=expectimax search.ply=2",
        "\"position='XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:-1:63:0:0:0:3:8'\" player=gnubg1",
        "position=4HPwATDgc/ABMA:cAngACAAIAAE search=expectimax",
        "position=4HPwATDgc/ABMA dice=[2,1] \"move='24/21'\"",
        "file=positions.txt search=pruned search.ply=2 json=true top=3",
        "file=positions.txt search=roller_plus out=analysed.jsonl",
    ),
    "serve": (
        "search=pruned search.ply=2",
        "player=gnubg2 port=9000",
    ),
    "rgp": (
        "player=default search=pruned search.ply=2",
        "player=gnubg2",
    ),
    "play": (
        "match_length=5",
        "player=default search=pruned search.ply=2 match_length=7 file=tuesday.mat",
        "player=gnubg2 jacoby=true beavers=true seed=3",
        "dice=manual match_length=11",
    ),
    "evaluate": (
        "player=default opponent=gnubg0 evaluator.games=6000",
        "evaluator=bgsage_pr player=checkpoint player.checkpoint=runs/.../net.pt",
        "evaluator=cube_arena search=pruned cube=janowski opponent=sage1_cube",
        "-m evaluator=bgsage_pr player=gnubg0,gnubg1,default",
        "debug=fast",
    ),
}
_PROGRAM = {kind: f"python -m raccoon.cli.{kind}" for kind in ("generate", "rgp", "serve", "play")}
_HIDDEN = ("debug/",)
_GLUE = "\u00a0"  # no line ends between an option and its provider
_NO_RUNS = {"search", "rgp", "serve", "play"}  # programs without a run folder, and so without the groups of those that have one
_OF_RUNS = {"debug", "executor", "experiment", "sweep"}


def text(kind: str) -> str:
    """The help page of the command line ``kind``."""
    program = _PROGRAM.get(kind, f"python {kind}.py")
    chosen = defaults(kind)
    elsewhere = set().union(*READ.values()) - READ.get(kind, set()) | (_OF_RUNS if kind in _NO_RUNS else set())
    sweeps = "" if kind in _NO_RUNS else " [-m]"
    lines = [_ABOUT.get(kind, kind), "", f"usage: {program}{sweeps} [GROUP=OPTION ...] [KEY=VALUE ...]", ""]
    lines += ["Groups and options (* is the default; another provider's name is in brackets):"]
    for group, options in catalogue().items():
        if group.startswith(_HIDDEN) or group.split("/")[0] in elsewhere:
            continue
        marked = [
            f"{option}{'*' if chosen.get(group) == option else ''}{'' if provider == 'raccoon' else f'{_GLUE}[{provider}]'}"
            for option, provider in options.items()
        ]
        wrapped = textwrap.wrap(
            ", ".join(marked), 120, initial_indent=f"  {group:<16} ", subsequent_indent=" " * 19, break_on_hyphens=False
        )
        lines += [line.replace(_GLUE, " ") for line in wrapped]
    lines += ["", "Examples:", *(f"  {program} {example}" for example in _EXAMPLES.get(kind, ()))]
    if kind in _NO_RUNS:
        lines += ["", *_own_keys(kind), "  --cfg job          print the composed config and stop"]
        return "\n".join(lines)
    lines += [
        "",
        "  -m                 one run for each combination of the comma-separated values",
        "  --cfg job          print the composed config and stop;  --info defaults  shows where it comes from",
        "  paths.run_dir=DIR  where the results go (default: a new folder under runs/)",
        "  resume=false       start afresh although the same command was interrupted before",
        f'  -sc install=bash   shell completion: eval "$({program} -sc install=bash)"',
        "  --hydra-help       Hydra's own flags;  HYDRA_FULL_ERROR=1 shows tracebacks",
    ]
    return "\n".join(lines)


def _own_keys(kind: str) -> list[str]:
    """The keys of a program's own, from the comments of its config."""
    import importlib.resources

    text = importlib.resources.files("raccoon.conf").joinpath(f"{kind}.yaml").read_text(encoding="utf-8").split("\nhydra:")[0]
    keys = [line.split("#", 1) for line in text.splitlines() if "#" in line and ":" in line.split("#")[0]]
    return [f"  {key.strip():<18} {about.strip()}" for key, about in keys]

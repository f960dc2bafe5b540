"""``python -m raccoon.cli.export IN OUT``: a checkpoint (.pt or .ckpt) as a small network file (.pt) with 16-bit weights, or as ONNX.

IN may be "default" or "prune", the networks that ship with Raccoon. Of a training checkpoint the averaged weights are
taken. What it says about its making goes along.

OUT.onnx is compared with the network on 2,000 positions and scored on the embedded benchmark; OUT.meta.json describes it and
OUT.golden.json has positions with what goes in and comes out. After OUT.onnx may follow:

  precision=fp32   or fp16 (weights of 16 bits), int8 (inner layers of 8 bits)
  policy=false     true: with the policy head
  games=all        score the first so many games of the benchmark only; 0: none
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raccoon.checks import quoted
from raccoon.cli.program.app import plain_main
from raccoon.contracts import RaccoonError
from raccoon.files import check_suffix

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> str:
    """Do what the arguments say and return the text to print. Raises RaccoonError."""
    usage = f"usage: {(__doc__ or '').strip()}"
    if any(argument in ("-h", "--help") for argument in arguments):
        return usage
    if len(arguments) < 2 or arguments[0].startswith("-"):
        raise RaccoonError(usage)
    from raccoon import assets

    source, target, *more = arguments
    check_suffix(target, "a network", ".pt", ".onnx")
    options = _options(more, usage)
    if options and not target.endswith(".onnx"):
        raise RaccoonError(f"{more[0]}: is for ONNX; name the target {Path(target).with_suffix('.onnx')}, or leave it out")
    if source not in assets.NETS and not Path(source).exists():
        raise RaccoonError(f"{source}: no such checkpoint")
    return _onnx(source, target, options) if target.endswith(".onnx") else _torch(source, target)


def _options(words: Sequence[str], usage: str) -> dict[str, Any]:
    given = {key: value for key, _, value in (word.partition("=") for word in words)}
    if len(given) < len(words) or not given.keys() <= {"precision", "policy", "games"}:
        raise RaccoonError(usage)
    options: dict[str, Any] = {}
    if "precision" in given:
        if given["precision"] not in ("fp32", "fp16", "int8"):
            raise RaccoonError(f"precision={quoted(given['precision'])}: choose fp32, fp16 or int8")
        options["precision"] = given["precision"]
    if "policy" in given:
        if given["policy"] not in ("true", "false"):
            raise RaccoonError(f"policy={quoted(given['policy'])}: give true or false")
        options["policy"] = given["policy"] == "true"
    if "games" in given:
        text = given["games"]
        if text != "all" and not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise RaccoonError(f"games={quoted(text)}: give all, or a whole number, 0 or more")
        options["games"] = None if text == "all" else int(text)
    return options


def _torch(source: str, target: str) -> str:
    from raccoon import assets
    from raccoon.model import checkpoint_file

    source = str(assets.path(assets.NETS[source])) if source in assets.NETS else source
    net, header = checkpoint_file.load(source)
    checkpoint_file.save(target, net, header.get("meta"), half=True)
    return f"{target}: {Path(target).stat().st_size:,} bytes, {net.encoder.describe()}"


def _onnx(source: str, target: str, options: dict[str, Any]) -> str:
    try:
        from raccoon.export import export_onnx
    except ImportError as error:
        raise RaccoonError(f"{target}: {error}; install Raccoon with the extra onnx (pip install 'raccoon[onnx]')") from error
    meta = export_onnx(source, target, **options)
    verified, pr = meta["verified"], meta["pr"]
    differences = ", ".join(f"{name} {value:.2g}" for name, value in verified["largest_difference"].items())
    lines = [
        f"{target}: {meta['bytes']:,} bytes, {meta['precision']}, opset {meta['opset']}, layout {meta['layout']}",
        f"largest differences from the network on {verified['positions']:,} positions: {differences}",
    ]
    if pr is not None:
        lines.append(f"PR on {pr['decisions']:,} decisions of the benchmark: {pr['before']:.4f} before, {pr['after']:.4f} after")
    return "\n".join(lines)


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


if __name__ == "__main__":
    main()

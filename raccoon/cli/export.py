"""``python -m raccoon.cli.export IN OUT``: a checkpoint (.pt or .ckpt) as a small network file (.pt) with 16-bit weights, or as ONNX.

IN may be "default" or "prune", the networks that ship with Raccoon. Of a training checkpoint the averaged weights are
taken. What it says about its making goes along. IN may also be several networks of one kind, separated by commas (A.ckpt,B.ckpt):
OUT.pt has the mean of their weights, and its meta the digest of each.

OUT.onnx is compared with the network on 2,000 positions and scored on the embedded benchmark; OUT.meta.json describes it and
OUT.golden.json has positions with what goes in and comes out. After OUT.onnx may follow:

  precision=fp32   or fp16 (weights of 16 bits), int8 (inner layers of 8 bits)
  policy=false     true: with the policy head
  games=all        score the first so many games of the benchmark only; 0: none
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raccoon.checks import quoted
from raccoon.cli.program.app import plain_main
from raccoon.contracts import RaccoonError
from raccoon.files import check_suffix

__all__ = ["main", "run", "write_net"]


def run(arguments: Sequence[str]) -> str:
    """Do what the arguments say and return the text to print. Raises RaccoonError."""
    usage = f"usage: {(__doc__ or '').strip()}"
    if any(argument in ("-h", "--help") for argument in arguments):
        return usage
    if len(arguments) < 2 or arguments[0].startswith("-"):
        raise RaccoonError(usage)
    source, target, *more = arguments
    check_suffix(target, "a network", ".pt", ".onnx")
    options = _options(more, usage)
    if options and not target.endswith(".onnx"):
        raise RaccoonError(f"{more[0]}: is for ONNX; name the target {Path(target).with_suffix('.onnx')}, or leave it out")
    sources = _sources(source)
    if target.endswith(".onnx"):
        if len(sources) > 1:
            raise RaccoonError(f"{source}: an average becomes a .pt first; export that to {target}")
        return _onnx(source, target, options)
    return write_net(sources, target)


def _sources(text: str) -> list[str]:
    """The files of one or several networks. Raises RaccoonError naming one that is missing."""
    from raccoon import assets

    words, names = text.split(","), []
    while words:
        counts = range(len(words), 0, -1)  # commas may be in the names of files
        known = [count for count in counts if (name := ",".join(words[:count])) in assets.NETS or (name and os.path.exists(name))]
        if not known:
            raise RaccoonError(f"{words[0] or text}: no such checkpoint")
        names.append(",".join(words[: known[0]]))
        del words[: known[0]]
    return names


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


def write_net(sources: Sequence[str], target: Path | str) -> str:
    """Write the network of ``sources`` (files, or names of networks that ship), the average of several, to ``target`` with 16-bit
    weights; returns what to tell of it. Raises RaccoonError naming the file that is at fault."""
    from raccoon import assets
    from raccoon.model import average, checkpoint_file

    paths = [str(assets.path(assets.NETS[source])) if source in assets.NETS else source for source in sources]
    if len(paths) > 1:
        net, meta = average.average(paths)
    else:
        net, header = checkpoint_file.load(paths[0])
        meta = header.get("meta", {})
    checkpoint_file.save(target, net, meta, half=True)
    of = f", the average of {len(paths)}" if len(paths) > 1 else ""
    return f"{target}: {Path(target).stat().st_size:,} bytes, {net.encoder.describe()}{of}"


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

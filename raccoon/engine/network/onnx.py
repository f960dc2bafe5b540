"""A network exported to ONNX as an engine, run by onnxruntime; it needs no torch. ``python -m raccoon.cli.export`` writes its files."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import bounded, quoted, whole
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.network.batched import BatchedEngine
from raccoon.env.encoder import Encoder
from raccoon.files import read_json, read_regular

__all__ = ["FORMAT", "LAYOUT_KEY", "VERSION", "OnnxEngine", "meta_path", "read_meta"]

FORMAT, VERSION = "raccoon-onnx", 1
LAYOUT_KEY = "layout"
"""Under it the graph itself holds the hash of its input layout."""
_MOST = 1 << 31  # bytes; what a protocol buffer can hold
_KINDS = {"sha256": str, "layout": str, "channels": list, "encoder": dict, "input": dict, "outputs": dict}


def meta_path(path: str | Path) -> Path:
    """Where the description of an exported network lies: ``net.meta.json`` beside ``net.onnx``."""
    return Path(path).with_suffix(".meta.json")


def read_meta(path: str | Path) -> dict[str, Any]:
    """The description of the exported network ``path``.

    Raises RaccoonError naming the file when it is missing or damaged, of a newer version, or of an input layout that this version does
    not produce.
    """
    beside = meta_path(path)
    if Path(path).suffix != ".onnx":
        raise RaccoonError(f"engine.path={path}: give a network exported to ONNX, NAME.onnx (python -m raccoon.cli.export NET NAME.onnx)")
    if Path(path).is_file() and not beside.is_file():
        raise RaccoonError(f"{path}: its description {beside.name} is not beside it; copy both, or export the network again")
    found = read_json(beside)
    bounded(found, str(beside))
    meta = cast(dict[str, Any], found if isinstance(found, dict) else {})
    if meta.get("format") != FORMAT:
        raise RaccoonError(f"{beside}: does not describe an exported network of this program (format {FORMAT!r}); export it again")
    if meta.get("version") != VERSION:
        raise RaccoonError(f"{beside}: version {quoted(meta.get('version'))}, known is {VERSION}: update Raccoon, or export again")
    for key, kind in _KINDS.items():
        if not isinstance(meta.get(key), kind):
            raise RaccoonError(f"{beside}: damaged ({key} is {quoted(meta.get(key))}); export the network again")
    encoder = Encoder.from_config(meta["encoder"])
    if encoder.layout_hash != meta["layout"] or list(encoder.names) != meta["channels"]:
        raise RaccoonError(
            f"{path}: made for an input layout that this version does not produce: {len(meta['channels'])} planes, layout "
            f"{quoted(meta['layout'])}; here it is {encoder.describe()}"
        )
    return meta


class OnnxEngine(BatchedEngine):
    """Evaluates with the exported network ``path`` (.onnx, its ``.meta.json`` beside it) on the CPU.

    ``threads``: of one forward pass. ``batch_size``, ``cache``: see ``BatchedEngine``. ``encoder``: refuse a network of any other layout.
    ``meta`` is the description. Raises RaccoonError naming the file when it is missing, changed since it was written, or of another layout.
    """

    def __init__(
        self,
        path: str | Path,
        batch_size: int = 4096,
        threads: int = 1,
        cache: int = 0,
        name: str | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        whole("engine.threads", threads, 1)
        self.meta = read_meta(path)
        own = Encoder.from_config(self.meta["encoder"])
        if encoder is not None and encoder.layout_hash != own.layout_hash:
            raise RaccoonError(f"{path}: made for {own.describe()}, but {encoder.describe()} is asked for: choose the same encoder")
        self._session = _session(path, self.meta, threads)
        self._flat = self.meta["input"].get("form") == "flat"
        names = {output.name for output in self._session.get_outputs()}
        super().__init__(name or Path(path).stem, own, "probs6" in names, "policy" in names, batch_size, cache)

    def _run_graph(self, outputs: list[str], x: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        return self._session.run(outputs, {"x": x})

    def _forward(self, boards: Boards) -> NDArray[np.float32]:
        out = np.empty((len(boards), self._width), np.float32)
        x = self.encoder.encode_flat(boards) if self._flat else self.encoder.encode(boards)
        if self.has_probs:
            out[:, 0], out[:, 1:] = self._run_graph(["equity", "probs6"], x)
        else:
            out[:, 0] = self._run_graph(["equity"], x)[0]
        return out

    def _policy(
        self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        encode = self.encoder.encode_flat if self._flat else self.encoder.encode
        logits = np.where(mask, self._run_graph(["policy"], encode(boards, dice, mid_doubles))[0], -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


def _session(path: str | Path, meta: dict[str, Any], threads: int) -> Any:
    """The graph in ``path``, ready to run. Raises RaccoonError when it is not the one that ``meta`` describes."""
    runtime: Any = importlib.import_module("onnxruntime")  # an extra, without types
    try:
        content = read_regular(path, _MOST)
    except OSError as error:
        raise RaccoonError(f"{path}: cannot be read ({error.strerror or error})") from error
    if hashlib.sha256(content).hexdigest() != meta["sha256"]:
        raise RaccoonError(f"{path}: changed since it was written, or not the file that {meta_path(path).name} describes; export it again")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    try:
        session: Any = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen kinds, all of its own
        raise RaccoonError(f"{path}: onnxruntime cannot run it ({error})") from error
    inside = session.get_modelmeta().custom_metadata_map.get(LAYOUT_KEY)
    if inside != meta["layout"]:
        raise RaccoonError(f"{path}: the graph was made for layout {quoted(inside)}, {meta_path(path).name} says {meta['layout']}")
    return session

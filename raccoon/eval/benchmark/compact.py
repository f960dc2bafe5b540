"""The compact form of a benchmark: an xz-compressed ``.npz`` of integer columns, about a third of the gzipped JSON.

Reference numbers are kept as whole millionths, which is exact for files of six decimals. Candidates are stored best
first and as differences (boards from the position before the play, numbers from the candidate above), which is what
makes them small; loading puts them back in position-key order. xz's own checksum covers the whole content.
"""

from __future__ import annotations

import io
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, Cubes, RaccoonError
from raccoon.env import ragged
from raccoon.env.board import swap, validate
from raccoon.env.position_ids import from_position_keys, position_keys
from raccoon.eval.benchmark.check import LONGEST_TEXT, checked
from raccoon.eval.benchmark.decisions import Benchmark, CheckerDecisions, CubeDecisions
from raccoon.eval.benchmark.exchange import key_order
from raccoon.files import parse_json, read_regular
from raccoon.files.npz import parse_arrays

__all__ = ["MAGIC", "read", "write"]

MAGIC = b"\xfd7zXZ\x00"
_FORMAT = 1
_UNIT = 1e-6
_MOST = 1 << 30  # bytes, unpacked
_CUBE_NUMBERS = ("no_double", "double_take", "double_pass")
_CUBE_ERRORS = ("no_double_se", "double_take_se", "difference_se")
_TEXT, _CODE = ("|S",), ("|u1", "<i4")
_Column = tuple[tuple[str, ...], tuple[str | int, ...]]
_COMMON: dict[str, _Column] = {
    "keys": (_TEXT, ("N",)), "games": (("<i8",), ("N",)), "turn": (("<i4",), ("N",)), "boards": (("|u1",), ("N", 10)),
    "cube_value": (("<i4",), ("N",)), "cube_owner": (("|i1",), ("N",)), "tiers": (_CODE, ("N",)), "plans": (_CODE, ("N",)),
    "levels": (_CODE, ("M",)), **{f"{name}.names": (_TEXT, ("K",)) for name in ("tiers", "plans", "levels")},
}  # fmt: skip
_CHECKER: dict[str, _Column] = {
    "dice": (("|i1",), ("N", 2)), "counts": (("<i4",), ("N",)), "children": (("|i1",), ("M", 2, 25)),
    **dict.fromkeys(("equity", "cubeless", "std_error", *(f"probs{i}" for i in range(5))), (("|u1",), (4, "M"))),
}  # fmt: skip
_CUBE: dict[str, _Column] = {
    **dict.fromkeys(_CUBE_NUMBERS, (("<i8",), ("N",))), "probs5": (("<i8",), ("N", 5)),
    "has_double": (("|b1",), ("N",)), "has_take": (("|b1",), ("N",)),
}  # fmt: skip
_ERRORS: dict[str, dict[str, _Column]] = {
    "checker": {"difference_se": (("|u1",), (4, "M"))}, "cube": dict.fromkeys(_CUBE_ERRORS, (("<i8",), ("N",))),
}  # fmt: skip
"""Types and shapes of the columns: N decisions, M candidates (of a cube decision: itself), K names. ``_ERRORS`` are written where a
decision was measured; other files, and those of older versions, have none."""


def write(benchmark: Benchmark, path: str | Path) -> int:
    """Write ``benchmark`` atomically and return the size in bytes."""
    from raccoon.files import atomic

    header = {"format": _FORMAT, "meta": dict(benchmark.meta)}
    arrays: dict[str, NDArray[Any]] = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    for prefix, part in (("checker", benchmark.checker), ("cube", benchmark.cube)):
        columns = _pack_checker(part) if isinstance(part, CheckerDecisions) else _pack_cube(part)
        arrays.update({f"{prefix}.{name}": column for name, column in columns.items()})
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    packed = lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME, check=lzma.CHECK_SHA256)
    with atomic(path) as handle:
        handle.write(packed)
    return len(packed)


def read(path: str | Path, source: str | None = None) -> Benchmark:
    """Read a compact file. Raises RaccoonError naming it when it is damaged, foreign or from a newer Raccoon."""
    source = source or str(path)
    try:
        columns = parse_arrays(_unpacked(read_regular(path, _MOST)))
        header = parse_json(columns["header"].tobytes())
        version, meta = header["format"], header["meta"]
        if not isinstance(meta, dict):
            raise TypeError("meta is no object")
    except (OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError, MemoryError) as error:
        raise RaccoonError(f"{source}: not a compact benchmark, or damaged ({error}); convert the JSON file again") from error
    if version != _FORMAT:
        raise RaccoonError(f"{source}: benchmark format {quoted(version)}, this Raccoon reads {_FORMAT}; install the matching version")
    try:
        checker, cube = (_part(columns, name) for name in ("checker", "cube"))
        benchmark = Benchmark(source, meta, _unpack_checker(checker), _unpack_cube(cube))
    except (KeyError, ValueError) as error:
        raise RaccoonError(f"{source}: damaged benchmark ({type(error).__name__}: {error}); convert the JSON file again") from error
    return checked(benchmark)


def _unpacked(data: bytes) -> bytes:
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MOST)
    content = decoder.decompress(data, _MOST)
    if not decoder.eof or decoder.unused_data:
        raise lzma.LZMAError(f"cut short, followed by something, or more than {_MOST:,} bytes")
    return content


def _part(columns: dict[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """The columns of one part, which have the types and lengths that ``write`` gives them. Raises ValueError naming another one."""
    found = {key.removeprefix(f"{name}."): column for key, column in columns.items() if key.startswith(f"{name}.")}
    if not all(column.ndim for column in found.values()):
        raise ValueError("a column that is one number")
    rows = len(found["keys"])
    candidates = len(found["children"]) if name == "checker" else rows
    measured = {key: column for key, column in _ERRORS[name].items() if key in found}
    for key, (kinds, shape) in (_COMMON | (_CHECKER if name == "checker" else _CUBE) | measured).items():
        column = found[key]
        short = column.dtype.kind != "S" or column.dtype.itemsize <= 4 * LONGEST_TEXT
        wanted = tuple({"N": rows, "M": candidates, "K": column.size}.get(str(size), size) for size in shape)
        if column.dtype.str.rstrip("0123456789" if column.dtype.kind == "S" else "") not in kinds or not short or column.shape != wanted:
            raise ValueError(f"column {key} is {column.dtype}{list(column.shape)} for {rows} rows")
    for key in ("tiers", "plans", "levels"):
        codes = found[key]
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(found[f"{key}.names"]):
            raise ValueError(f"column {key}: numbers of names that are not there")
    return found


def _pack_common(part: CheckerDecisions | CubeDecisions) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {"keys": np.char.encode(part.keys, "utf-8"), "games": part.games, "turn": part.turn}
    for name in ("tiers", "plans", "levels"):
        names, codes = np.unique(getattr(part, name), return_inverse=True)
        columns[f"{name}.names"] = np.char.encode(names, "utf-8")
        columns[name] = codes.astype(np.uint8 if len(names) < 256 else np.int32)
    columns.update(boards=position_keys(part.boards), cube_value=part.cubes.value, cube_owner=part.cubes.owner)
    return columns


def _unpack_common(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    labels = ("tiers", "plans", "levels")
    common: dict[str, Any] = {name: np.char.decode(columns[f"{name}.names"], "utf-8")[columns[name]] for name in labels}
    common.update(keys=np.char.decode(columns["keys"], "utf-8"), games=columns["games"], turn=columns["turn"])
    common.update(boards=from_position_keys(columns["boards"]), cubes=Cubes(columns["cube_value"], columns["cube_owner"]))
    return common


def _pack_checker(part: CheckerDecisions) -> dict[str, NDArray[Any]]:
    rows = part.rows_of_candidates()
    best_first = np.lexsort((-part.equity, rows))
    difference = part.children[best_first] - _before(part.boards, rows)
    numbers = {"equity": part.equity, "cubeless": part.cubeless, **{f"probs{i}": part.probs5[:, i] for i in range(5)}}
    columns = _pack_common(part)
    columns["levels"] = columns["levels"][best_first]
    columns.update(dice=part.dice, counts=np.diff(part.offsets).astype(np.int32), children=difference.astype(np.int8))
    units = {name: _units(values[best_first]) for name, values in numbers.items()}
    units["cubeless"] = units["cubeless"] - _from_probs(units)
    columns.update({name: _planes(np.diff(values, prepend=0)) if name == "equity" else _planes(values) for name, values in units.items()})
    columns["std_error"] = _planes(_known(part.std_error[best_first]))
    if not np.isnan(part.difference_se).all():
        columns["difference_se"] = _planes(_known(part.difference_se[best_first]))
    return columns


def _unpack_checker(columns: dict[str, NDArray[Any]]) -> CheckerDecisions:
    common = _unpack_common(columns)
    counts = columns["counts"].astype(np.int64)
    if (counts < 1).any() or counts.sum() != len(columns["children"]):
        raise ValueError("the candidates do not fit the decisions: at least one each, and no others")
    offsets = ragged.offsets_of(counts)
    rows = ragged.row_of(offsets)
    children = columns["children"] + _before(common["boards"], rows)
    validate(children, "candidate boards")
    order = key_order(children, offsets)
    units = {name: _numbers(columns[name]) for name in ("equity", "cubeless", *(f"probs{i}" for i in range(5)))}
    units["equity"] = np.cumsum(units["equity"])
    units["cubeless"] = units["cubeless"] + _from_probs(units)
    errors: dict[str, Any] = {name: _errors(_numbers(columns[name]))[order] for name in ("std_error", "difference_se") if name in columns}
    common["levels"] = common["levels"][order]
    return CheckerDecisions(
        **common,
        dice=columns["dice"],
        offsets=offsets,
        children=children[order],
        equity=_values(units["equity"])[order],
        cubeless=_values(units["cubeless"])[order],
        probs5=np.stack([_values(units[f"probs{i}"])[order] for i in range(5)], axis=1),
        **errors,
    )


def _pack_cube(part: CubeDecisions) -> dict[str, NDArray[Any]]:
    columns = _pack_common(part)
    columns.update({name: _units(getattr(part, name)) for name in (*_CUBE_NUMBERS, "probs5")})
    columns.update(has_double=part.has_double, has_take=part.has_take)
    errors = {name: _known(getattr(part, name)) for name in _CUBE_ERRORS}
    if any((error >= 0).any() for error in errors.values()):
        columns.update(errors)
    return columns


def _unpack_cube(columns: dict[str, NDArray[Any]]) -> CubeDecisions:
    numbers: dict[str, Any] = {name: _values(columns[name]) for name in (*_CUBE_NUMBERS, "probs5")}
    numbers.update(has_double=columns["has_double"], has_take=columns["has_take"])
    numbers.update({name: _errors(columns[name]) for name in _CUBE_ERRORS if name in columns})
    common = _unpack_common(columns)
    return CubeDecisions(**common, **numbers)


def _before(boards: Boards, rows: NDArray[np.int64]) -> Boards:
    """Each candidate's position before the play, seen like the candidate itself (opponent in slot 1)."""
    return swap(boards)[rows]


def _units(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(values / _UNIT).astype(np.int64)


def _values(units: NDArray[np.int64]) -> NDArray[np.float64]:
    # Dividing by 1e6 gives the float nearest to the decimal number, as reading the JSON does.
    return units / 1e6


def _known(errors: NDArray[np.float64]) -> NDArray[np.int64]:
    """Standard errors in millionths, -1 where unknown."""
    return _units(np.nan_to_num(errors, nan=-_UNIT))


def _errors(units: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(units < 0, np.nan, _values(units))


def _from_probs(units: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Cubeless points (2w - 1 + wg + wbg - lg - lbg) of cumulative probabilities, in millionths."""
    win, wg, wbg, lg, lbg = (units[f"probs{i}"] for i in range(5))
    return 2 * win - 1_000_000 + wg + wbg - lg - lbg


def _planes(values: NDArray[np.int64]) -> NDArray[np.uint8]:
    """``uint8[4, M]``: the bytes of 32-bit numbers side by side, which compresses better than numbers side by side."""
    return np.ascontiguousarray(values.astype("<i4").view(np.uint8).reshape(-1, 4).T)


def _numbers(planes: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.ascontiguousarray(planes.T).view("<i4").reshape(-1).astype(np.int64)

"""The records and protocols that every layer shares. Batch first; numpy only, so that importing this costs nothing.

Points of view
--------------
``Boards`` is ``int8[N, 2, 25]``: slot 1 is the side on roll, slot 0 the other side. Each side counts from its own
ace point: index ``i`` is its point ``i + 1``, index 24 its bar; checkers borne off are implied (15 minus the sum).
An *afterstate* is the board after a whole turn, already swapped: the opponent of the mover sits in slot 1, so its
value to the mover is minus its value to the side on roll.

Two scales, never mixed in one variable: ``value`` is money equity / 3 in [-1, 1]; ``points`` is money points at cube 1.
Plies are GNUBG's: 0 is a static evaluation of the afterstates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from raccoon.cube_rules import CENTRED, OPPONENT, OWNED, CubeEquities, CubeRules, Cubes

__all__ = [
    "BLUNDER",
    "CENTRED",
    "OPPONENT",
    "OUTCOME_POINTS",
    "OWNED",
    "PR_SCALE",
    "BeaverPlayer",
    "Boards",
    "CubeEquities",
    "CubeModel",
    "CubeObserver",
    "CubeRules",
    "CubefulSearch",
    "Cubes",
    "Engine",
    "Evaluator",
    "ExactChancesModel",
    "ExactCubeModel",
    "Figure",
    "KnowingEngine",
    "Observer",
    "Offer",
    "Player",
    "PolicyEngine",
    "RaccoonError",
    "Report",
    "Search",
    "SearchResult",
    "Step",
    "Turns",
]

Boards = NDArray[np.int8]
"""``int8[N, 2, 25]``, see the module docstring."""

OUTCOME_POINTS: NDArray[np.float64] = np.array([1.0, 2.0, 3.0, -1.0, -2.0, -3.0])
"""Points of ``probs6 = [win, win_g, win_bg, lose, lose_g, lose_bg]`` (exclusive, sums to 1) to the side on roll."""

PR_SCALE = 500.0
"""The performance rating (PR) is so many times the mean points given away by a decision."""
BLUNDER = 0.08
"""A decision that gives away more points than these is a blunder."""


_LONG_WORD = re.compile(r"(\S{80})\S{240,}(\S{80})")


class RaccoonError(ValueError):
    """Input that cannot be used. The message names the key, file or value and says what to do about it.

    Whatever was put into it, it is cut in the middle beyond 4000 characters, and so is a word (such as a path) beyond 400.
    """

    def __init__(self, message: str = "") -> None:
        message = _LONG_WORD.sub(r"\1...\2", message)
        super().__init__(message if len(message) <= 4000 else f"{message[:3000]} ... {message[-900:]}")


@dataclass(frozen=True)
class Turns:
    """Rows that wait for a checker play, enumerated once (by ``raccoon.env.movegen.enumerate_turns``).

    ``boards int8[N, 2, 25]`` before the play (mover in slot 1), ``dice int8[N, 2]``, ``cubes``;
    ``children int8[M, 2, 25]`` the distinct afterstates of all rows (opponent on roll), row ``i`` owning
    ``children[offsets[i]:offsets[i + 1]]``, in a fixed order; ``offsets int64[N + 1]``. A dance has one child.
    """

    boards: Boards
    dice: NDArray[np.int8]
    cubes: Cubes
    children: Boards
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.boards)


@dataclass(frozen=True)
class SearchResult:
    """Values of the children of a ``Turns``, on the value scale (equity / 3) and *to the mover*.

    ``values float64[M]``; ``full bool[M]``: the children searched to full depth, the only ones that may be chosen;
    ``evaluations``: engine evaluations used; ``plies int8[M]``: depth behind each value, None: 0 throughout.
    """

    values: NDArray[np.float64]
    full: NDArray[np.bool_]
    evaluations: int
    plies: NDArray[np.int8] | None = None


@runtime_checkable
class Engine(Protocol):
    """Static evaluation of pre-roll boards for the side on roll. Finished boards get their exact value."""

    name: str
    has_probs: bool
    evaluations: int

    def value(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N]``: equity / 3 of pre-roll ``boards`` to the side on roll."""
        ...

    def probs6(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N, 6]``: outcome distribution to the side on roll. Raises RaccoonError when not ``has_probs``."""
        ...


@runtime_checkable
class KnowingEngine(Protocol):
    """An ``Engine`` that knows some positions for certain, such as the bear-off tables. A search does not look below those."""

    def knows(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: does it know the value of the board?"""
        ...


@runtime_checkable
class PolicyEngine(Protocol):
    """An ``Engine`` that may also have a policy over half turns; ``has_policy`` says whether it has one."""

    has_policy: bool

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """``float32[N, 1352]``: how likely it is to play each of OpenSpiel's actions, in the mover's numbering. ``mid_doubles bool[N]``:
        the first half of a double has been played. Raises RaccoonError when not ``has_policy``."""
        ...


@runtime_checkable
class Search(Protocol):
    """Turns engine evaluations into values of the candidate plays."""

    name: str

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        """Value of every child to the mover; see ``SearchResult``."""
        ...


@runtime_checkable
class CubeModel(Protocol):
    """What a player believes the cube to be worth, given the outcome distribution. Equities as in ``CubeEquities``.

    ``moves``: plays are ranked ``cubeful`` or ``cubeless``; ``doubles``: False never doubles and takes whatever is offered;
    ``suffix``: what the model adds to a player's name, "" for the usual one.
    """

    moves: Literal["cubeful", "cubeless"]
    doubles: bool
    suffix: str

    def by_owner(self, probs6: NDArray[np.floating], boards: Boards, jacoby: bool = False) -> NDArray[np.float64]:
        """``float64[N, 3]``: of not doubling now in money play, the cube centred, owned by the side on roll, by the other side."""
        ...

    def no_double(self, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: of not doubling now."""
        ...

    def equities(self, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> CubeEquities:
        """All three; whether the side may double does not count."""
        ...

    def optimal(self, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: the side on roll doubles (where it may) or not as is best for it, the other side answers."""
        ...

    def finished(self, points: NDArray[np.floating], cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: of a game that ended with cubeless ``points`` (1, 2, 3 or minus) to the side on roll of ``cubes``."""
        ...


@runtime_checkable
class ExactCubeModel(Protocol):
    """A ``CubeModel`` that knows the money equities of some boards for certain. A search does not look below those."""

    def exact(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: are the money equities of the board exact?"""
        ...


@runtime_checkable
class ExactChancesModel(Protocol):
    """A ``CubeModel`` that knows the outcome chances of some boards for certain."""

    def chances(self, probs6: NDArray[np.floating], boards: Boards) -> NDArray[np.float64]:
        """``float64[N, 6]``: ``probs6 [N, 6]``, made exact where the model knows the board."""
        ...


@runtime_checkable
class CubefulSearch(Protocol):
    """A ``Search`` that can play with a live cube."""

    def cubeful(self, turns: Turns, engine: Engine, model: CubeModel) -> SearchResult:
        """As ``Search.values``: points per unit of the cube / 3, to the mover."""
        ...

    def cube_equities(self, boards: Boards, cubes: Cubes, engine: Engine, model: CubeModel) -> CubeEquities:
        """``CubeEquities``, ``float64[N]`` each, of unfinished pre-roll ``boards int8[N, 2, 25]`` with ``cubes``, to the side on roll."""
        ...


@runtime_checkable
class Player(Protocol):
    """Makes every decision of one side, for many games at a time. Deterministic: no state between calls matters."""

    name: str

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """``int64[N]``: for each row the index of the chosen child *within its row*."""
        ...

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """``bool[N]``: pre-roll, side on roll: double now? Asked only where ``cubes.may_double()``."""
        ...

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """``bool[N]``: the doubler is on roll on ``boards`` (slot 1); does its opponent, this player, take?

        ``cubes`` are the doubler's before it doubled. A player that can beaver is a ``BeaverPlayer`` as well.
        """
        ...


@runtime_checkable
class BeaverPlayer(Protocol):
    """A ``Player`` that can redouble at once when it takes."""

    def beaver(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """``bool[N]``: redouble and keep the cube? Asked as ``Player.take``, after a take under rules with beavers."""
        ...


@dataclass(frozen=True)
class Step:
    """What the match runner shows observers at one roll of many games, before the plays are made.

    ``games int64[N]`` global game indices (in match play: of the match); ``roll int64[N]`` roll number within the game (0 =
    opening roll); ``mover int8[N]`` index of the player on roll (0 = player, 1 = opponent); ``boards`` pre-roll, mover in slot
    1; ``dice int8[N, 2]`` the roll; ``cubes`` at the roll; ``number int64[N]``: which game of its match, 0 in money play.
    """

    games: NDArray[np.int64]
    roll: NDArray[np.int64]
    mover: NDArray[np.int8]
    boards: Boards
    dice: NDArray[np.int8]
    cubes: Cubes
    number: NDArray[np.int64]


@dataclass(frozen=True)
class Offer:
    """Doubles that were offered: as in ``Step``, with ``cubes`` before the double, ``took bool[N]`` and ``beavered bool[N]``."""

    games: NDArray[np.int64]
    roll: NDArray[np.int64]
    mover: NDArray[np.int8]
    boards: Boards
    cubes: Cubes
    took: NDArray[np.bool_]
    beavered: NDArray[np.bool_]


class Observer(Protocol):
    """Watches the match runner. It never changes a game and draws no dice."""

    def rolled(self, step: Step) -> None:
        """After the dice of every live game are known, before the plays."""
        ...

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """After the plays: ``turns`` row-aligned with ``step``; ``chosen int64[N]`` index within each row."""
        ...

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Games that just ended and their points to player 0 (cube included); 0 when the turn cap stopped a game. In match play:
        matches, 1 won and -1 lost."""
        ...


@runtime_checkable
class CubeObserver(Protocol):
    """An ``Observer`` that also wants to see doubles."""

    def doubled(self, offer: Offer) -> None:
        """After the answers, before the roll."""
        ...


@dataclass(frozen=True)
class Figure:
    """A named number: ``value`` with its 95% interval ``[lo, hi]`` (None where it has none) over ``n`` observations."""

    value: float
    lo: float | None = None
    hi: float | None = None
    n: int | None = None

    def text(self) -> str:
        """``value [lo, hi]`` in four digits; the value alone where there is no interval."""
        interval = "" if self.lo is None or self.hi is None else f" [{self.lo:.4g}, {self.hi:.4g}]"
        return f"{self.value:.4g}{interval}"


@dataclass
class Report:
    """The result of one measurement; ``raccoon.report.report_files.write`` turns it into files.

    ``tables`` maps a title to a list of rows (dicts with the same keys). ``plots`` maps a file stem to a function
    that draws on a matplotlib Figure; they are drawn when the report is written and are not part of the JSON.
    """

    evaluator: str
    player: str
    opponent: str | None
    seed: int
    seconds: float = 0.0
    figures: dict[str, Figure] = field(default_factory=dict)
    tables: dict[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    plots: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@runtime_checkable
class Evaluator(Protocol):
    """A measurement of a player, alone or against an opponent.

    ``player`` and ``opponent`` are plain config nodes (``_target_`` and arguments); they are built by
    ``raccoon.config.instantiate.build`` where they are used, which may be a worker process. One that asks but some of the two says so by
    ``reads``, a tuple of ``"player"`` and ``"opponent"``: setting the other on the command line is refused then.
    """

    name: str

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Measure. Partial results live in ``run_dir`` so that an interrupted run continues where it stopped."""
        ...

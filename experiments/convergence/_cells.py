"""Which cells of games x solvers x updates x precisions x payoff scales x iterations are run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

BATTLESHIP = "battleship(ship_sizes=[1,2],ship_values=[1,2])"
"""On the 2x2 board with two ships; with one ship, the uniform policy is already an equilibrium."""

SOLVERS = (
    "cfr",
    "cfr+",
    "lcfr",
    "dcfr",
    "dcfr+",
    "pcfr+",
    "sapcfr+",
    "apcfr+",
    "pdcfr+",
    "hs-dcfr(30)",
    "hs-dcfr(15)",
    "hs-pcfr+(30)",
    "modicum-cfr+",
    "mmd",
)
"""Every row of `jaxsolve.SOLVERS`, scheduled DCFR with both of its published starts."""

SCHEDULED = tuple(s for s in SOLVERS if s.startswith("hs-"))
"""Solvers that are also run for half of, and twice, the iterations they plan for."""

SCALES = (1.0, 10.0, 100.0)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One solver on one game. Every payoff scale and number of iterations is a run of its own.

    Attributes:
        game: as `games.load` takes it.
        solver: as `js.load_solver` takes it.
        updates: "alternating" or "simultaneous".
        dtype: "float32" or "float64", of the run; exploitability is always measured in float64.
        scales: what payoffs are multiplied by; several are solved in one batch.
        iterations: of each run.
        plans: planned iterations per iteration, 1 unless a schedule is to be misled.
    """

    game: str
    solver: str
    updates: str = "alternating"
    dtype: str = "float32"
    scales: tuple[float, ...] = (1.0,)
    iterations: tuple[int, ...] = (100, 1_000, 10_000)
    plans: tuple[float, ...] = (1.0,)

    @property
    def size(self) -> int:
        """How many rows it has: wrong plans are run on payoffs as they are only."""
        return len(self.iterations) * (len(self.scales) + len(self.plans) - 1)

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Returns whether a row is of this cell."""
        mine = (self.game, self.solver, self.updates, self.dtype)
        same = mine == tuple(row[k] for k in ("game", "solver", "updates", "dtype"))
        return same and row["iterations"] in self.iterations


@dataclasses.dataclass(frozen=True)
class Part:
    """A game and how much of the cross product is run on it."""

    game: str
    modes: tuple[tuple[str, str], ...]
    scales: tuple[float, ...] = (1.0,)
    iterations: tuple[int, ...] = (100, 1_000, 10_000)
    solvers: tuple[str, ...] = SOLVERS


_ALTERNATING = (("alternating", "float32"),)
_UPDATES = (*_ALTERNATING, ("simultaneous", "float32"))
_THREE = (*_UPDATES, ("alternating", "float64"))
_ALL = (*_THREE, ("simultaneous", "float64"))

_PUBLISHED = ("dcfr", "pcfr+", "sapcfr+", "apcfr+", "pdcfr+")
"""Solvers with published figures on 13 ranks, and their kin."""

PARTS = (
    Part("kuhn", _ALL, SCALES),
    Part("leduc", _ALL, SCALES),
    Part("leduc(ranks=5)", _THREE),
    Part("leduc(ranks=9)", _ALTERNATING),
    Part("leduc(ranks=13)", _ALTERNATING, iterations=(100, 1_000)),
    Part("leduc(ranks=13)", _ALTERNATING, iterations=(10_000,), solvers=_PUBLISHED),
    Part(BATTLESHIP, _THREE),
    Part("goofspiel(cards=4)", _THREE),
    Part("goofspiel(cards=5,order=descending)", _THREE),
    Part("liars_dice(sides=4)", _THREE),
    Part("liars_dice(sides=5)", _UPDATES),
    Part("liars_dice(sides=6)", _ALTERNATING, iterations=(100, 1_000)),
)

QUICK = (
    Part("kuhn", (("alternating", "float32"),), SCALES, (100, 1_000)),
    Part("leduc", _ALTERNATING, iterations=(100, 1_000)),
)


def cells(part: Part, solvers: tuple[str, ...] = SOLVERS) -> Iterator[Cell]:
    """Yields the cells of a part, for those of its solvers that are asked for."""
    for updates, dtype in part.modes:
        for solver in (s for s in part.solvers if s in solvers):
            misled = solver in SCHEDULED and updates == "alternating"
            plans = (1.0, 0.5, 2.0) if misled else (1.0,)
            yield Cell(part.game, solver, updates, dtype, part.scales, part.iterations, plans)

"""Solving spots: one, or many that share a betting tree."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.evaluate import expected_values, exploitability
from jaxsolve.holdem._report import NodeReport, node_report
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, hands_in, spot_tree
from jaxsolve.solvers import BatchResult, Result, Solver, load_solver, solve_batch
from jaxsolve.solvers import solve as solve_tree
from jaxsolve.tree import Policy, check_fits, run_bytes


@dataclasses.dataclass(frozen=True)
class SpotResult:
    """A solved spot.

    Attributes:
        spot: the tree.
        result: of the solver; its curve is in chips.
    """

    spot: SpotTree
    result: Result

    @property
    def pot(self) -> float:
        """Chips in the middle at the root."""
        return float(self.spot.spot.pot)

    @property
    def policy(self) -> Policy:
        """The solution."""
        return self.result.policy

    @property
    def ev(self) -> tuple[float, float]:
        """Expected chips of (oop, ip), the pot included; they add up to it without rake."""
        first, second = (float(x) + self.pot / 2 for x in self.result.values)
        return first, second

    @property
    def exploitability_chips(self) -> float:
        """Half the sum of what both players could gain, in chips."""
        return self.result.exploitability

    @property
    def exploitability_pot(self) -> float:
        """The same as a share of the pot."""
        return self.result.exploitability / self.pot

    def node(self, line: str = "", board: str | None = None) -> NodeReport:
        """Returns strategy and values at one decision, see `node_report`."""
        return node_report(self.spot, self.policy, line, board)

    def facts(self) -> dict[str, Any]:
        """Returns what result.json holds."""
        root = self.node()
        strategy = {
            str(row["hand"]): {a: round(float(row[a]), 6) for a in root.actions}
            for _, row in root.table().iterrows()
        }
        oop, ip = self.ev
        return {
            "ev_oop": oop,
            "ev_ip": ip,
            "exploitability_chips": self.exploitability_chips,
            "exploitability_pot": self.exploitability_pot,
            "iterations": self.result.iterations,
            "seconds": self.result.seconds,
            "compile_seconds": self.result.compile_seconds,
            "build_seconds": self._build_seconds,
            "decision_nodes": self.spot.num_decision_nodes,
            "hands": len(self.spot.hands),
            "status": self.result.status,
            "root": strategy,
        }

    @property
    def _build_seconds(self) -> float:
        return self.spot.tree.info.build_seconds

    def __repr__(self) -> str:
        oop, ip = self.ev
        return (
            f"SpotResult(EV oop {oop:.4f}, ip {ip:.4f} of pot {self.pot:g}; exploitability "
            f"{self.exploitability_chips:.4g} chips, {100 * self.exploitability_pot:.3g}% of the "
            f"pot; {self.result.iterations} iterations in {self.result.seconds:.2f} s)"
        )

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self))}</p>{self.node()._repr_html_()}"


def solve(
    spot: Spot | SpotTree | str | Path,
    *,
    target: str | float | None = "0.1%",
    solver: Solver | str = "dcfr",
    iterations: int = 10_000,
    measure_every: int | None = None,
    progress: bool = True,
    **options: Any,
) -> SpotResult:
    """Solves a spot.

    Args:
        spot: a spot, its tree (with locks, say), or the path of a SPOT.toml.
        target: stop at this exploitability: "0.1%" of the pot, or chips; None to run on.
        solver: a variant or its name.
        iterations: at most.
        measure_every: iterations between measurements; about ten a decade by default.
        progress: show a bar with the exploitability in chips and in percent of the pot.
        **options: of `jaxsolve.solve`: time_limit, out, resume, callback, ...

    Raises:
        ValueError: an argument makes no sense.
        MemoryError: it does not fit; says how much it needs.
    """
    if isinstance(spot, str | Path):
        spot = Spot.load(spot)
    ready = spot_tree(spot) if isinstance(spot, Spot) else spot
    pot = ready.spot.pot
    result = solve_tree(
        ready.tree,
        solver,
        iterations=iterations,
        measure_every=measure_every,
        target=parse_target(target, pot),
        progress=progress,
        describe=lambda chips: f"{chips:.3g} chips = {100 * chips / pot:.3g}% of the pot",
        **options,
    )
    return SpotResult(ready, result)


def parse_target(target: str | float | None, pot: float) -> float | None:
    """Returns chips, from "0.1%" of the pot, "0.2" or a number of chips.

    Raises:
        ValueError: it is none of these, or not positive.
    """
    if target is None:
        return None
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(%?)\s*", str(target))
    try:
        number = float(match.group(1)) if match else float("nan")
    except ValueError:
        number = float("nan")
    if not number > 0 or not np.isfinite(number):
        raise ValueError(f'target is {target!r}; write "0.1%" (of the pot) or a number of chips')
    return number / 100 * pot if match and match.group(2) else number


def solve_spots(
    spots: Sequence[Spot | SpotTree],
    *,
    solver: Solver | str = "dcfr",
    iterations: int = 1000,
    measure_every: int | None = None,
    chunk: int | None = None,
) -> tuple[BatchResult, list[SpotTree]]:
    """Solves spots that share the shape of a betting tree in one vmapped call.

    Boards, ranges, pots, stacks and rake may differ. Suits are not put together, because that
    changes the number of boards. What it takes is logged first.

    Returns:
        (the batch, whose exploitability is in chips; the trees, for `node_report` with
        `batch.policy(k)`).

    Raises:
        ValueError: two spots differ in shape; names both.
        MemoryError: it does not fit; says how much it needs.
    """
    if not spots:
        raise ValueError("no spots to solve")
    room = max(len(hands_in(s)) if isinstance(s, Spot) else len(s.hands) for s in spots)
    trees = [
        spot_tree(s, symmetric=False, num_hands=room) if isinstance(s, Spot) else s for s in spots
    ]
    first = trees[0].tree
    each = sum(p.num_sequences * p.num_hands for p in first.players)
    check_fits(
        f"{len(trees)} spots" if len(trees) > 1 else "one spot",
        run_bytes(each * len(trees)),
        what=f"{each:,} actions and hands each",
        instead="Solve fewer at once.",
    )
    _same_betting(trees)
    ready = load_solver(solver) if isinstance(solver, str) else solver
    batch = solve_batch(
        [t.tree for t in trees],
        ready,
        iterations=iterations,
        measure_every=measure_every,
        chunk=chunk,
    )
    return batch, trees


def _same_betting(trees: Sequence[SpotTree]) -> None:
    first = trees[0]
    for k, other in enumerate(trees[1:], 1):
        same = all(
            np.array_equal(getattr(first.betting, name), getattr(other.betting, name))
            for name in ("parent", "kind", "actor", "street")
        ) and len(first.hands) == len(other.hands)
        if not same:
            raise ValueError(
                f"spots 0 and {k} have different betting trees ({first.spot!r} with "
                f"{first.betting.num_nodes} nodes, {other.spot!r} with "
                f"{other.betting.num_nodes}), so they cannot be solved in one call"
            )


def measure(spot: SpotTree, policy: Policy) -> tuple[float, float, float]:
    """Returns (EV of oop, EV of ip, exploitability), all in chips, of any policy."""
    worth = np.asarray(expected_values(spot.tree, policy)) + spot.spot.pot / 2
    return float(worth[0]), float(worth[1]), float(exploitability(spot.tree, policy))

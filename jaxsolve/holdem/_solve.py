"""Solving spots: one, or many that share a betting tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.evaluate import expected_values, exploitability
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, hands_in, spot_tree
from jaxsolve.solvers import BatchResult, Solver, load_solver, solve_batch
from jaxsolve.solvers import solve as solve_tree
from jaxsolve.tree import Policy, check_fits, run_bytes


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
    return SpotResult(
        spot=ready,
        policy=result.policy,
        curve=result.curve,
        values=(float(result.values[0]), float(result.values[1])),
        status=result.status,
        iterations=result.iterations,
        seconds=result.seconds,
        compile_seconds=result.compile_seconds,
    )


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

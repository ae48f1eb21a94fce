"""Heads-up no-limit flop hold'em, blinds 50 and 100, solved and measured at full width.

Every one of the 1,326 hands, and every flop up to names of suits, has its own strategy; only the
sizes of bets are chosen from a menu. Exploitability is by exact best responses within that menu. A
milli-big-blind (mbb) is a tenth of a chip.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxsolve as js
from experiments._report import Report, device_name, slug
from jaxsolve import holdem

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON file per device and version of JAX."""

MBB = 10.0
"""mbb in a chip."""


class Plan(NamedTuple):
    """What is solved.

    Attributes:
        stack: chips before the blinds.
        sizes: menu of bets and raises.
        cap: bets and raises on a street before only all-in is left.
        points: iterations at which it is measured.
        solver: as `js.load_solver` takes it.
    """

    stack: int
    sizes: tuple[str, ...]
    cap: int
    points: tuple[int, ...]
    solver: str = "dcfr"

    @property
    def menu(self) -> str:
        """The sizes in words."""
        return f"{', '.join(self.sizes)}; {self.cap} a street, then all-in; stack {self.stack}"


POINTS = (1, 3, 10, 30, 100, 200, 300, 400)
FULL = tuple(Plan(20_000, ("50%", "a"), cap, POINTS) for cap in (1, 2))
QUICK = (Plan(1_000, ("a",), 0, (1, 3, 10)),)


def main(
    quick: bool,
    out: Path,
    *,
    plans: Sequence[Plan] | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per menu and measurement, after saving them in `out`; saved as they come.

    `seconds` are those of iterations, `waited` also those of tables and of measuring.

    Args:
        quick: stacks of ten big blinds, check, call or all-in.
        out: folder.
        plans: what is solved instead.
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and plans is None) if record is None else record
    rows: list[dict[str, Any]] = []
    report = Report("nlfh", quick, 0.0, rows)
    report.columns = [
        *("menu", "iterations", "seconds", "exploitability_mbb"),
        *("value_button_mbb_low", "value_button_mbb_high"),
    ]
    report.extra = {"load_average_at_start": os.getloadavg()[0]}
    for plan in plans or (QUICK if quick else FULL):
        for row in _solved(plan, say):
            rows.append(row)
            report.seconds = time.perf_counter() - begin
            report.save(out)
    report.save(out, figure=_figure(rows))
    if record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = slug(f"{jax.default_backend()} {device_name()}") + f"-jax{jax.__version__}"
        (RESULTS / f"{stem}.json").write_text(report.as_json(digits=6))
    return report


def _solved(plan: Plan, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yields the row of each measurement."""
    begin = time.perf_counter()
    spot = holdem.flop_holdem(stack=plan.stack, sizes=plan.sizes, cap=plan.cap)
    engine = holdem.spot_engine(spot, js.load_solver(plan.solver))
    if engine is None:
        raise ValueError("the whole game is solved in C++: it needs a compiler, a CPU and float32")
    state = engine.prepare(engine.fresh(), plan.points[-1])
    sizes = {
        "menu": plan.menu,
        "solver": plan.solver,
        "decision_nodes": spot.num_decision_nodes,
        "state_gib": sum(x.nbytes for x in state.arrays) / 2**30,
    }
    say(f"{plan.menu}: {spot!r}, made in {time.perf_counter() - begin:.0f} s")
    seconds, done = 0.0, 0
    for point in plan.points:
        start = time.perf_counter()
        state = engine.advance(state, point - done, plan.points[-1])
        seconds += time.perf_counter() - start
        done = point
        blind, button = (float(x) for x in np.add(*engine.payoffs(state)))
        row = {
            **sizes,
            "iterations": point,
            "seconds": round(seconds, 2),
            "waited": round(time.perf_counter() - begin, 2),
            "exploitability_mbb": (blind + button) / 2 * MBB,
            "value_button_mbb_low": -blind * MBB,
            "value_button_mbb_high": button * MBB,
        }
        say(f"{point} iterations, {seconds:.0f} s: {row['exploitability_mbb']:.1f} mbb/g")
        yield row


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns two panels: exploitability, and the bounds of the button's value, by menu."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, menu in enumerate(dict.fromkeys(r["menu"] for r in rows)):
        of, colour = [r for r in rows if r["menu"] == menu], f"C{number}"
        x = [r["iterations"] for r in of]
        left.loglog(x, [r["exploitability_mbb"] for r in of], "o-", color=colour, label=menu)
        low = [r["value_button_mbb_low"] for r in of]
        high = [r["value_button_mbb_high"] for r in of]
        right.fill_between(x, low, high, alpha=0.2, color=colour)
        right.plot(x, low, "v-", x, high, "^-", color=colour)
    left.set(xlabel="iterations", ylabel="exploitability (mbb/g)")
    left.legend(fontsize="small")
    left.grid(alpha=0.3, which="both")
    right.set(xscale="log", xlabel="iterations", ylabel="value of the button (mbb/g)")
    right.set_yscale("symlog", linthresh=100)
    right.set_title("guaranteed by the solution, and the most it can be")
    right.grid(alpha=0.3, which="both")
    return figure

"""A river network: its errors on rivers held out, and turns that end where it says what is left.

Rivers are drawn at random, solved, stored and learned from in one compiled program (`learn.train`).
Then random turns with all hands are solved by discounted CFR, once with the network at the end of
the betting and once whole; a third leaf says that nobody bets on the river.
Every turn is judged by its own exploitability (see `_turns.exploitability`).

A study that was stopped goes on: training from its last checkpoint, bit for bit, and turns that
are in result.json are not solved again.

Source of the method: Moravcik et al. 2017 (DeepStack), whose networks were trained on 1 to 10
million solved situations of the turn and flop.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments._report import Report
from experiments.river_net import _turns
from jaxsolve import learn
from jaxsolve.holdem import river_net
from jaxsolve.nets import Net, save_net

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""

LEAVES = ("network", "no river bets", "solved")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        steps: batches of training data.
        batch: rivers of each.
        updates: of the network after each batch.
        minibatch: examples of an update.
        solver_iterations: of every river.
        buckets, width, depth: of the network.
        held_out: rivers that errors are measured on.
        held_out_iterations: of each.
        log_every: batches between measurements, each with a checkpoint.
        minutes: of training at most; None for the whole plan.
        spots: turns, all with the network and exactly.
        iterations: of both.
        curve_spots: of them, also with `curve` and with the other leaves.
        curve: further iterations.
        judge: iterations that solve what a turn's strategy leaves open.
        hands: of a range, 1,128 for all.
        least, most: stack of a turn in pots.
    """

    steps: int = 2500
    batch: int = 32
    updates: int = 16
    minibatch: int = 256
    solver_iterations: int = 100
    buckets: int = 32
    width: int = 192
    depth: int = 3
    held_out: int = 256
    held_out_iterations: int = 500
    log_every: int = 25
    minutes: float | None = 60.0
    spots: int = 20
    iterations: int = 100
    curve_spots: int = 2
    curve: tuple[int, ...] = (25, 50, 200)
    judge: int = 150
    hands: int = 1128
    least: float = 0.5
    most: float = 8.0


QUICK = Settings(
    steps=40,
    batch=16,
    solver_iterations=60,
    held_out=32,
    held_out_iterations=150,
    log_every=10,
    spots=2,
    iterations=50,
    curve_spots=1,
    curve=(25,),
    judge=50,
    hands=300,
    most=3.0,
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row for the network and one for each turn, leaf and number of iterations.

    Args:
        quick: a few rivers, and two turns of the 300 strongest hands.
        out: folder; what is in it is gone on with. The network is written to river_net.npz there.
        settings: instead of those of the full or the quick run.
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.

    Raises:
        ValueError: there is no C++ compiler here, or `out` holds the training of other settings.
    """
    chosen = settings or (QUICK if quick else Settings())
    record = (not quick and settings is None) if record is None else record
    begin = time.perf_counter()
    report = Report("river_net", quick, 0.0, [])
    report.extra = {"settings": repr(chosen), "complete": False, "curve": []}
    known, before = report.earlier(out, same=["settings"])
    report.rows[:] = [r for r in known if r["leaf"] != "errors"]

    def save(complete: bool = False) -> None:
        report.extra["complete"] = complete
        report.seconds = before + time.perf_counter() - begin
        report.shown = _table(report.rows)
        report.save(out, figure=_figure(report.rows, report.extra["curve"]))
        if record:
            report.record(RESULTS)

    data = river_net.RiverData(iterations=chosen.solver_iterations)
    trained, errors = _train(chosen, data, out, say)
    report.rows.insert(0, errors)
    report.extra["curve"] = trained.curve
    save()
    save_net(trained.net, out / "river_net.npz")
    for task in _tasks(chosen):
        done = [(r["leaf"], r.get("spot"), r.get("iterations")) for r in report.rows]
        if task not in done:
            report.rows.append(_turn(chosen, data, trained.net, *task))
            say(_words(report.rows[-1]))
            save()
    save(complete=True)
    return report


def _train(
    chosen: Settings, data: river_net.RiverData, out: Path, say: Callable[[str], None]
) -> tuple[learn.Trained, dict[str, Any]]:
    """Returns the trained network and the row of its errors."""
    net = river_net.river_net(
        jax.random.key(0), buckets=chosen.buckets, width=chosen.width, depth=chosen.depth
    )
    exact = dataclasses.replace(data, iterations=chosen.held_out_iterations)
    held = river_net.solved_rivers(jax.random.key(1), exact, chosen.held_out)
    trained = learn.train(
        net,
        river_net.river_source(net, data, batch=chosen.batch),
        learn.Plan(
            steps=chosen.steps,
            updates=chosen.updates,
            minibatch=chosen.minibatch,
            huber=0.5,
            buffer=1 << 17,
        ),
        out=out / "training",
        resume=True,
        log_every=chosen.log_every,
        validate=lambda n: river_net.river_errors(n, held),
        time_limit=None if chosen.minutes is None else 60 * chosen.minutes,
    )
    last = trained.curve[-1]
    found = river_net.river_errors(trained.net, held)
    row = {
        "leaf": "errors",
        "rivers": int(last["examples"]),
        "train_seconds": last["seconds"],
        "held_out": chosen.held_out,
        **found,
    }
    say(
        f"{row['rivers']:,} rivers in {last['seconds']:.0f} s: mean error {found['mae']:.4f} pots, "
        f"{found['mae_range']:.4f} weighed by ranges, {found['mae_check_down']:.4f} without bets"
    )
    return trained, row


def _tasks(chosen: Settings) -> list[tuple[str, int, int]]:
    """Returns (leaf, spot, iterations) of all turns."""
    main_line = [
        (leaf, spot, chosen.iterations)
        for spot in range(chosen.spots)
        for leaf in ("network", "solved")
    ]
    few = range(min(chosen.curve_spots, chosen.spots))
    others = [("no river bets", spot, chosen.iterations) for spot in few]
    curve = [
        (leaf, spot, count)
        for spot, count, leaf in itertools.product(few, chosen.curve, ("network", "solved"))
    ]
    return main_line + others + curve


def _turn(
    chosen: Settings, data: river_net.RiverData, net: Net, leaf: str, seed: int, iterations: int
) -> dict[str, Any]:
    """Returns the row of one turn."""
    spot = _turns.random_turn(
        seed, data.menu, hands=chosen.hands, least=chosen.least, most=chosen.most
    )
    if leaf == "solved":
        found = _turns.exactly(spot, iterations)
    else:
        silent = river_net.river_net(jax.random.key(0), buckets=chosen.buckets, width=8, depth=1)
        found = _turns.with_network(spot, net if leaf == "network" else silent, iterations)
    judged = leaf != "solved" or seed < chosen.curve_spots
    gap = _turns.exploitability(spot, found.strategy, chosen.judge) if judged else None
    return {
        "leaf": leaf,
        "spot": seed,
        "iterations": iterations,
        "stack_pots": spot.effective_stack / spot.pot,
        "exploitability_percent": None if gap is None else 100 * gap,
        "whole_percent": None if found.whole is None else 100 * found.whole,
        "seconds": found.seconds,
        "processor_seconds": found.processor_seconds,
    }


def _words(row: dict[str, Any]) -> str:
    gaps = [
        f"{row[key]:.2f}% of the pot{words}"
        for key, words in (("exploitability_percent", ""), ("whole_percent", " with its rivers"))
        if row[key] is not None
    ]
    return (
        f"{row['leaf']}, turn {row['spot']}, stack {row['stack_pots']:.2f} pots, "
        f"{row['iterations']} iterations: {', '.join(gaps)}; {row['seconds']:.2f} s"
    )


def _table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the errors, and means over turns by leaf and iterations."""
    lines: list[dict[str, Any]] = [r for r in rows if r["leaf"] == "errors"]
    turns = [r for r in rows if r["leaf"] != "errors"]
    for leaf, count in sorted(
        {(r["leaf"], r["iterations"]) for r in turns}, key=lambda x: (LEAVES.index(x[0]), x[1])
    ):
        mine = [r for r in turns if (r["leaf"], r["iterations"]) == (leaf, count)]
        line: dict[str, Any] = {"leaf": leaf, "iterations": count, "turns": len(mine)}
        for key in ("exploitability_percent", "whole_percent", "seconds", "processor_seconds"):
            line[key] = _mean([r[key] for r in mine])
        worst = [r["exploitability_percent"] for r in mine]
        line["worst_percent"] = max((x for x in worst if x is not None), default=None)
        lines.append(line)
    return lines


def _mean(values: list[Any]) -> float | None:
    numbers = [v for v in values if v is not None]
    return float(np.mean(numbers)) if numbers else None


def _figure(rows: list[dict[str, Any]], curve: list[dict[str, float]]) -> Any:
    """Returns a figure: errors by rivers learned from, exploitability of turns by iterations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    if curve:
        x = [r["examples"] for r in curve]
        left.plot(x, [r["mae"] for r in curve], label="all hands")
        left.plot(x, [r["mae_range"] for r in curve], label="weighed by ranges")
        left.axhline(curve[-1]["mae_check_down"], ls=":", color="gray", label="nobody bets")
    left.set(xlabel="solved rivers", ylabel="mean absolute error (pots)", yscale="log")
    left.legend()
    turns = [r for r in rows if r["leaf"] != "errors"]
    for leaf, marker in zip(LEAVES, "os^", strict=True):
        mine = [r for r in turns if r["leaf"] == leaf and r["exploitability_percent"] is not None]
        counts = sorted({r["iterations"] for r in mine})
        several = {r["spot"] for r in mine if r["iterations"] != counts[0]} if counts else set()
        shown = [r for r in mine if r["spot"] in several] or mine
        means = [
            _mean([r["exploitability_percent"] for r in shown if r["iterations"] == n])
            for n in counts
        ]
        if counts:
            right.plot(counts, means, marker + "-", label=f"rivers: {leaf}")
    right.axhline(1, ls=":", color="gray")
    right.set(xlabel="iterations", ylabel="exploitability of the turn (% of the pot)", yscale="log")
    if turns:
        right.legend()
    return figure

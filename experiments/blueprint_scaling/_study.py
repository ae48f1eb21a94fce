"""How strong a heads-up blueprint is after some minutes, for each sampler and number of buckets.

One run is stopped at each of the minutes, and its average strategy is kept there. All strategies
play one reference, exactly over hands on the same sampled boards; the reference is one of them.
The first of the minutes has several seeds, which say how much a run differs from another.

A study that was stopped goes on: a strategy that is kept is not trained again, a run goes on from
its last checkpoint, and matches that are in result.json are not played again.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments._blueprints import MENUS, Run, abstraction_of, load_run, train_run
from experiments._report import Report
from jaxsolve import holdem

COLUMNS = (
    *("sampler", "buckets", "minutes", "threads", "seed", "nodes_per_second", "against"),
    *("mbb", "low", "high", "lbr_call_mbb", "lbr_call_low", "lbr_call_high", "best_response_mbb"),
)
RESULTS = Path(__file__).parent / "results"


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        samplers: names.
        buckets: of flop, turn and river each.
        minutes: of training, ascending; of processor time, of all threads together.
        seeds: of the first of the minutes; the first seed goes on to the last.
        reference: sampler and buckets of the strategy that all play: seed 0 at the last minute.
        menu: in `examples/menus`.
        boards: of a match, the same in all of them.
        lbr_boards: of the local best response to what the first seed has at the first and at the
            last of the minutes; 0 for none.
        response_boards: flops, and turns of each, of the best response to them; None for none.
        threads: of training and matches; one leaves the other cores to other work.
        checkpoint_seconds: what a kill loses at most.
        folders: {buckets: directory of an abstraction}; others are built in the cache.
    """

    samplers: tuple[str, ...] = ("external", "vector")
    buckets: tuple[int, ...] = (50, 200, 1_000)
    minutes: tuple[float, ...] = (2, 4, 10, 20, 40)
    seeds: int = 3
    reference: tuple[str, int] = ("external", 200)
    menu: str = "hu100_plain.toml"
    boards: int = 100
    lbr_boards: int = 10
    response_boards: tuple[int, int] | None = (2, 2)
    threads: int = 1
    checkpoint_seconds: float = 60
    folders: Mapping[int, Path] = dataclasses.field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if list(self.minutes) != sorted(set(self.minutes)) or not self.minutes[0] > 0:
            raise ValueError(f"minutes ascend from above 0, not {self.minutes}")
        if self.reference[0] not in self.samplers or self.reference[1] not in self.buckets:
            raise ValueError(f"the reference {self.reference} is none of the strategies")

    @property
    def runs(self) -> list[Run]:
        """All of them, the one with the reference first."""
        lines = [(s, b) for s in self.samplers for b in self.buckets]
        lines.sort(key=lambda line: line != self.reference)
        return [
            Run(s, b, seed, self.minutes[: None if seed == 0 else 1], self.threads)
            for s, b in lines
            for seed in range(self.seeds)
        ]

    @property
    def against(self) -> str:
        """The reference in words."""
        sampler, buckets = self.reference
        return f"{sampler}, {buckets} buckets, {self.minutes[-1]:g} min"


QUICK = Plan(
    buckets=(50, 200),
    minutes=(0.05, 0.1),
    seeds=2,
    menu="hu20.toml",
    boards=10,
    lbr_boards=2,
    response_boards=(1, 1),
    checkpoint_seconds=2,
)


def main(
    quick: bool,
    out: Path,
    *,
    plan: Plan | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per sampler, number of buckets, seed and minutes of training.

    Args:
        quick: a menu of 20 big blinds and seconds of training.
        out: folder; a study that was stopped goes on where it was.
        plan: instead of that of the full or the quick study.
        record: also write the result of this device to the study's folder; by default for the
            full study.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and plan is None) if record is None else record
    chosen = plan or (QUICK if quick else Plan())
    rows: list[dict[str, Any]] = []
    report = Report("blueprint_scaling", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"plan": str(chosen), "complete": False}
    earlier, spent = report.earlier(out, same=("plan",))
    begin -= spent
    menu = holdem.BetMenu.load(MENUS / chosen.menu)
    games = {
        b: holdem.holdem_game(menu, abstraction_of(b, chosen.folders.get(b), out))
        for b in chosen.buckets
    }
    reference: tuple[holdem.HoldemGame, np.ndarray] | None = None
    for run in chosen.runs:
        game = games[run.buckets]
        train_run(run, game, out, checkpoint_seconds=chosen.checkpoint_seconds)
        if reference is None:
            reference = game, load_run(run, run.minutes[-1], game, out)[1]
        for minutes in run.minutes:
            if len(rows) < len(earlier):
                rows.append(earlier[len(rows)])
                continue
            trained, average = load_run(run, minutes, game, out)
            bounds = run.seed == 0 and minutes in (run.minutes[0], run.minutes[-1])
            rows.append(
                {
                    "sampler": run.sampler,
                    "buckets": run.buckets,
                    "minutes": minutes,
                    "threads": chosen.threads,
                    "seed": run.seed,
                    "nodes_per_second": trained["nodes"] / trained["seconds"],
                    "passes": trained["passes"],
                    "against": chosen.against,
                    **_strength((game, average), reference, chosen, bounds=bounds),
                }
            )
            say(
                f"{run.sampler}, {run.buckets} buckets, seed {run.seed}, {minutes:g} min: "
                f"{rows[-1]['mbb']:+.0f} mbb/h"
            )
            report.seconds = time.perf_counter() - begin
            report.save(out)
    report.extra["complete"] = True
    report.seconds = time.perf_counter() - begin
    report.save(out, figure=_figure(rows, chosen))
    if record:
        report.record(RESULTS)
    return report


def _strength(
    strategy: tuple[holdem.HoldemGame, np.ndarray],
    reference: tuple[holdem.HoldemGame, np.ndarray],
    plan: Plan,
    *,
    bounds: bool,
) -> dict[str, float | None]:
    """Returns the columns of a row that say how strong a strategy is, in mbb/h."""
    found = holdem.range_match(strategy, reference, boards=plan.boards, threads=plan.threads)
    row: dict[str, float | None] = {"mbb": found.mbb, "low": found.low, "high": found.high}
    row |= dict.fromkeys(("lbr_call_mbb", "lbr_call_low", "lbr_call_high", "best_response_mbb"))
    if bounds and plan.lbr_boards:
        bound = holdem.local_best_response(
            strategy, boards=plan.lbr_boards, raises=False, threads=plan.threads
        )
        row |= {"lbr_call_mbb": bound.mbb, "lbr_call_low": bound.low, "lbr_call_high": bound.high}
    if bounds and plan.response_boards is not None:
        flops, turns = plan.response_boards
        response = holdem.sampled_best_response(
            strategy, flops=flops, turns=turns, threads=plan.threads
        )
        row["best_response_mbb"] = response.mbb
    return row


def _figure(rows: list[dict[str, Any]], plan: Plan) -> Any:
    """Returns a figure: mbb/h against the reference by minutes, a line per sampler and buckets."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.axhline(0, color="#888888", linewidth=0.8)
    styles = (("-", "x"), ("--", "+"), (":", "*"))
    for (style, cross), sampler in zip(styles, plan.samplers, strict=False):
        for n, buckets in enumerate(plan.buckets):
            line = [r for r in rows if (r["sampler"], r["buckets"]) == (sampler, buckets)]
            first = [r for r in line if r["seed"] == 0]
            axes.errorbar(
                [r["minutes"] for r in first],
                [r["mbb"] for r in first],
                yerr=[r["high"] - r["mbb"] for r in first],
                color=f"C{n}",
                linestyle=style,
                marker="o",
                markersize=3,
                capsize=3,
                label=f"{sampler}, {buckets:,} buckets",
            )
            others = [r for r in line if r["seed"] > 0]
            place = [r["minutes"] for r in others], [r["mbb"] for r in others]
            axes.plot(*place, cross, color=f"C{n}", markersize=5)
    axes.set_xscale("log")
    axes.set_xticks(plan.minutes, [f"{m:g}" for m in plan.minutes])
    axes.minorticks_off()
    axes.set_xlabel(f"processor minutes of training (threads: {plan.threads})")
    axes.set_ylabel(f"mbb/h against {plan.against}")
    axes.set_title("95 % intervals over boards; x and +: other seeds", fontsize=9)
    axes.legend(fontsize=8)
    return figure

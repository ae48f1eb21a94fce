"""What the parts of Pluribus are worth: weights, pruning, and how searches are made and played.

Two games: three-player Leduc, where NashConv is exact, and six-player no-limit hold'em, where each
part is what it wins in one seat of a table of blueprints. Blueprints are trained by one thread, and
minutes are the processor's.

A study that was stopped goes on: rows that are in result.json are not measured again, trainings
go on from their last checkpoint, and scores from theirs.

Source of the comparison: Brown and Sandholm 2019, supplement: linear weights 3 times as fast,
pruning 2 times.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from experiments._blueprints import MENUS, abstraction_of, one_bet_sizes, trained_blueprint
from experiments._report import Report
from experiments.pluribus_parts import _holdem, _leduc
from jaxsolve import holdem
from jaxsolve.holdem import play
from jaxsolve.mccfr import Options

COLUMNS = (
    *("game", "part", "passes", "minutes", "nash_conv", "mbb", "se", "seeds", "hands"),
    *("nodes", "processor_seconds"),
)
RESULTS = Path(__file__).parent / "results"
SLACK = 0.5
"""Seconds by which a training may be longer than it was asked to be."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        passes: of external sampling at which NashConv of Leduc is measured, ascending.
        seeds: of these.
        search_passes: of the blueprint from which Leduc is searched.
        iterations: of a search of Leduc.
        search_seeds: such blueprints.
        menu: in `examples/menus`, six players.
        buckets: of flop, turn and river each.
        bits: of the tables.
        base_minutes: of training of the blueprint at the table.
        minutes: of training of the others, ascending.
        deals: of their scores, each played in six rotations.
        search_deals: of scores of searchers.
        sampled: deals that a search makes.
        search_buckets: of the streets that are searched by sampling, each; None for every hand.
        samples: hands that are drawn to score a deviation.
        step: deals between two checkpoints.
        folder: of an abstraction; others are built in the cache.
    """

    passes: tuple[int, ...] = (30_000, 100_000, 300_000, 1_000_000)
    seeds: int = 3
    search_passes: int = 30_000
    iterations: int = 200
    search_seeds: int = 3
    menu: str = "six100.toml"
    buckets: int = 50
    bits: int = 16
    base_minutes: float = 10.0
    minutes: tuple[float, ...] = (1.0, 2.0, 4.0)
    deals: int = 200
    search_deals: int = 100
    sampled: int = 60_000
    search_buckets: int | None = 200
    samples: int = 512
    step: int = 10
    folder: Path | None = dataclasses.field(default=None, repr=False)


QUICK = Plan(
    passes=(30_000, 100_000),
    seeds=1,
    iterations=50,
    search_seeds=0,
    menu="six20.toml",
    bits=32,
    base_minutes=0.3,
    minutes=(0.1, 0.2),
    deals=20,
    search_deals=10,
    sampled=10_000,
    search_buckets=50,
    samples=128,
)

Row = dict[str, Any]


def main(
    quick: bool,
    out: Path,
    *,
    plan: Plan | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per part, game and length of training.

    Args:
        quick: stacks of 20 big blinds, seconds of training, few hands, no searches of Leduc.
        out: folder; a study that was stopped goes on where it was.
        plan: instead of that of the full or the quick study.
        record: also write the result of this device to the study's folder; by default for the
            full study.
        say: receives progress, a line at a time.

    Raises:
        KeyboardInterrupt: after Ctrl-C during a training.
    """
    begin = time.perf_counter()
    record = (not quick and plan is None) if record is None else record
    chosen = plan or (QUICK if quick else Plan())
    rows: list[Row] = []
    report = Report("pluribus_parts", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"plan": str(chosen), "complete": False}
    earlier, spent = report.earlier(out, same=("plan",))
    begin -= spent
    for stage, measure in _stages(chosen, out, say):
        found = [row for row in earlier if row["stage"] == stage]
        if not found:
            found = [{**row, "stage": stage} for row in measure()]
            for row in found:
                if "mbb" in row:
                    say(f"{row['part']}: {row['mbb']:+.0f} mbb/h, se {row['se']:.0f}")
        rows += found
        report.seconds = time.perf_counter() - begin
        report.save(out)
    report.extra["complete"] = True
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


def _stages(
    plan: Plan, out: Path, say: Callable[[str], None]
) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """Yields (name, what measures its rows)."""
    yield (
        "weights, Leduc",
        functools.partial(_leduc.weights_and_pruning, plan.passes, plan.seeds, say),
    )
    lengths = plan.search_passes, plan.iterations, plan.search_seeds
    yield "searches, Leduc", functools.partial(_leduc.searches, *lengths, say)

    @functools.cache
    def base() -> play.BlueprintAgent:
        return _train(plan, out, "base", plan.base_minutes, None)[0]

    @functools.cache
    def buckets() -> holdem.Abstraction | None:
        number = plan.search_buckets
        return None if number is None else abstraction_of(number, plan.folder, out)

    def make(**how: Any) -> play.SearchAgent:
        passes = dict.fromkeys(range(4), plan.sampled)
        options: Row = {"first": 0, "buckets": buckets(), "iterations": {2: 60, 3: 200}}
        return play.SearchAgent(
            base(), menu=one_bet_sizes(base().game.menu), passes=passes, **options, **how
        )

    train = functools.partial(_train, plan, out)
    scores = {"plan": _settings(plan), "samples": plan.samples, "step": plan.step}
    for way in _holdem.WAYS:
        for minutes in plan.minutes:

            def trained(way: str = way, minutes: float = minutes) -> list[Row]:
                options = {**scores, "deals": plan.deals}
                return _holdem.trained_rows(way, minutes, train, base(), out, options)

            yield f"{way}, {minutes:g} minutes", trained
    for way in _holdem.SEARCHERS:

        def searched(way: str = way) -> list[Row]:
            options = {**scores, "deals": plan.search_deals}
            return _holdem.search_rows(way, make, base(), out, options)

        yield f"search, {way}", searched


def _train(
    plan: Plan, out: Path, folder: str, minutes: float, options: Options | None
) -> tuple[play.BlueprintAgent, Row]:
    """Returns a blueprint's agent and what is known of its training.

    Raises:
        ValueError: the blueprint in the folder is further on already.
    """
    made = trained_blueprint(
        MENUS / plan.menu,
        abstraction_of(plan.buckets, plan.folder, out),
        out / folder,
        minutes=minutes,
        bits=plan.bits,
        sampler="external",
        options=options,
        clock=time.process_time,
    )
    if made.seconds > 60 * minutes + SLACK:
        raise ValueError(
            f"{out / folder} was trained for longer than {minutes:g} minutes: remove it"
        )
    known = {
        "passes": made.tables.passes,
        "nodes": made.nodes,
        "processor_seconds": made.seconds,
    }
    return play.BlueprintAgent(*made.strategy, name=folder), known


def _settings(plan: Plan) -> str:
    """Returns what two parts of one score share."""
    lengths = dict.fromkeys(("deals", "search_deals", "step", "seeds", "search_seeds"), 0)
    return str(dataclasses.replace(plan, passes=(), minutes=(), **lengths))


def _figure(rows: list[Row]) -> Any:
    """Returns a figure: blueprints by passes and minutes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, stage, x, y in (
        (left, "weights, Leduc", "passes", "nash_conv"),
        (right, "minutes", "minutes", "mbb"),
    ):
        chosen = [r for r in rows if stage in r["stage"]]
        for name in dict.fromkeys(r["part"] for r in chosen):
            line = [r for r in chosen if r["part"] == name]
            error = [1.96 * (r["se"] or 0) for r in line]
            across, up = [r[x] for r in line], [r[y] for r in line]
            axes.errorbar(across, up, yerr=error, fmt="o-", capsize=3, label=name)
        axes.set_xscale("log")
        if chosen:
            axes.legend(fontsize=8)
    left.set_yscale("log")
    left.set_xlabel("passes of external sampling")
    left.set_ylabel("NashConv, chips (95 %, seeds)")
    left.set_title("three-player Leduc", fontsize=10)
    right.set_xlabel("processor minutes of training")
    right.set_ylabel("mbb/h among five of the base (95 %, deals)")
    right.set_title("six-player hold'em", fontsize=10)
    return figure

"""Figures of blueprints on one menu, each beside the bar that it must reach.

All times are processor seconds of all threads together, so that other work on the machine changes
little. Strategies of one run at several times, and of one and two threads, play each other exactly
over hands on the same sampled boards; local best responses bound from below what the strategy of
the longest training loses.

A study that was stopped goes on: trainings from their last checkpoint, and rows that are in
result.json are not measured again.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments._blueprints import MENUS, Run, abstraction_of, load_run, train_run
from experiments._report import Report
from jaxsolve import holdem
from jaxsolve.holdem import NUM_HANDS, play
from jaxsolve.holdem._bet_menu import BIG_BLIND
from jaxsolve.holdem._boards import compatible_reach
from jaxsolve.holdem._local_best_response import mean_signs
from jaxsolve.mccfr import Options, make_tables

COLUMNS = ("bar", "sampler", "unit", "value", "low", "high", "least", "most", "reached")
RESULTS = Path(__file__).parent / "results"

Strategy = tuple[holdem.HoldemGame, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        menu: in `examples/menus`.
        buckets: of flop, turn and river each.
        seconds: of short trainings by both samplers, ascending.
        minutes: of long trainings by external sampling, ascending.
        pass_seconds: of full vector passes, to count them.
        boards: of a match, the same in all of them.
        call_boards: of the local best response that only calls.
        raise_boards: of those that raise, too.
        checkpoint_seconds: of training that a kill loses at most.
        folder: of an abstraction; one is built in the cache by default.
    """

    menu: str = "hu100.toml"
    buckets: int = 200
    seconds: tuple[float, float] = (16, 64)
    minutes: tuple[float, float] = (10, 40)
    pass_seconds: float = 10
    boards: int = 100
    call_boards: int = 80
    raise_boards: int = 40
    checkpoint_seconds: float = 60
    folder: Path | None = dataclasses.field(default=None, repr=False)

    def run(self, sampler: str, *, threads: int = 1) -> Run:
        """Returns a training; only that of external sampling by one thread is long."""
        short, long = tuple(x / 60 for x in self.seconds), self.minutes
        times = {("external", 1): (*short, *long), ("vector", 1): short}
        last = (self.seconds[-1] / 60,)
        return Run(sampler, self.buckets, 0, times.get((sampler, threads), last), threads)


QUICK = Plan(
    menu="hu20.toml",
    buckets=50,
    seconds=(1, 2),
    minutes=(0.05, 0.1),
    pass_seconds=1,
    boards=10,
    call_boards=4,
    raise_boards=2,
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
    """Returns a row per bar.

    Args:
        quick: a menu of 20 big blinds and seconds of training, which reach few of the bars.
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
    report = Report("blueprint_bars", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"plan": str(chosen), "complete": False}
    earlier, spent = report.earlier(out, same=("plan",))
    begin -= spent
    game = holdem.holdem_game(
        holdem.BetMenu.load(MENUS / chosen.menu),
        abstraction_of(chosen.buckets, chosen.folder, out),
    )
    for number, (bar, sampler, unit, limits, measure) in enumerate(_bars(game, chosen, out)):
        if number < len(earlier):
            rows.append(earlier[number])
            continue
        value, low, high = measure()
        rows.append(_row(bar, sampler, unit, (value, low, high), limits))
        say(f"{bar}, {sampler}: {value:,.1f} {unit}")
        report.seconds = time.perf_counter() - begin
        report.save(out)
    report.extra["complete"] = True
    report.seconds = time.perf_counter() - begin
    report.save(out)
    if record:
        report.record(RESULTS)
    return report


Measured = tuple[float, float | None, float | None]
"""A value and the ends of its 95 % interval, if it has one."""

Limits = tuple[float | None, float | None]
"""The least and the most that a value may be."""


def _bars(
    game: holdem.HoldemGame, plan: Plan, out: Path
) -> Iterator[tuple[str, str, str, Limits, Callable[[], Measured]]]:
    """Yields (bar, sampler, unit, limits, what measures it)."""
    (short, longer), (middle, long) = plan.seconds, plan.minutes

    def trained(run: Run, minutes: float) -> Strategy:
        upto = dataclasses.replace(run, minutes=tuple(x for x in run.minutes if x <= minutes))
        train_run(upto, game, out, checkpoint_seconds=plan.checkpoint_seconds)
        return game, load_run(run, minutes, game, out)[1]

    def match(first: tuple[Run, float], second: tuple[Run, float]) -> Measured:
        return _interval(holdem.range_match(trained(*first), trained(*second), boards=plan.boards))

    def bound(run: Run, minutes: float, raises: bool) -> Measured:
        boards = plan.raise_boards if raises else plan.call_boards
        who = trained(run, minutes)
        return _interval(holdem.local_best_response(who, boards=boards, raises=raises))

    def beats_uniform() -> Measured:
        uniform = game, holdem.uniform_sums(game)
        return _interval(holdem.range_match(trained(external, long), uniform, boards=plan.boards))

    def shoves(run: Run) -> Measured:
        return _all_in_first(*trained(run, longer / 60))

    def passes() -> Measured:
        run = plan.run("external")
        trained(run, longer / 60)
        header = load_run(run, longer / 60, game, out)[0]
        return header["passes"] / header["seconds"], None, None

    external, vector = plan.run("external"), plan.run("vector")
    speed = "passes a second"
    yield "passes of one hand each", "external", speed, (70_000, None), passes
    full = functools.partial(_full_passes, game, plan.pass_seconds)
    yield "passes of all hands on a board", "vector", speed, (20, None), full
    for run in (external, vector):
        name = f"{longer:g} s beat {short:g} s"
        gain = functools.partial(match, (run, longer / 60), (run, short / 60))
        yield name, run.sampler, "mbb/h", (150, None), gain
    response = "local best response"
    for run in (external, vector):
        raising = functools.partial(bound, run, longer / 60, raises=True)
        yield (
            f"{response} to {longer:g} s, raises, too",
            run.sampler,
            "mbb/h",
            (None, None),
            raising,
        )
        first = functools.partial(shoves, run)
        yield f"all-in first, to {longer:g} s", run.sampler, "mbb/h", (None, None), first
    gain = functools.partial(match, (external, long), (external, middle))
    yield f"{long:g} min beat {middle:g} min", "external", "mbb/h", (50, None), gain
    yield f"{long:g} min beat uniform play", "external", "mbb/h", (1_500, None), beats_uniform
    for raises, most, what in ((False, 150, "only calls"), (True, 400, "raises, too")):
        name = f"{response} to {long:g} min, {what}"
        measure = functools.partial(bound, external, long, raises=raises)
        yield name, "external", "mbb/h", (None, most), measure
    for run in (external, vector):
        two = functools.partial(
            match, (plan.run(run.sampler, threads=2), longer / 60), (run, longer / 60)
        )
        name = f"two threads against one, {longer:g} s"
        yield name, run.sampler, "mbb/h", (-20, 20), two


def _full_passes(game: holdem.HoldemGame, seconds: float) -> Measured:
    """Returns passes without roulette a processor second, on tables with a little training."""
    tables = make_tables(game)
    tables, _ = holdem.HandVectorSampler(game, Options(unit=10)).run(tables, 100)
    full = holdem.HandVectorSampler(game, Options(unit=10), roulette=0)
    done, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < seconds:
        tables, _ = full.run(tables, 4)
        done += 4
    return done / spent, None, None


def _all_in_first(game: holdem.HoldemGame, sums: np.ndarray) -> Measured:
    """Returns what the first player wins who moves in with the hands that gain by it, or folds.

    It is a lower bound of what a best response wins; below 0 where calls are well chosen. A menu
    without such a bet answers as to its largest first raise.
    """
    agent, stack = play.BlueprintAgent(game, sums, name="blueprint"), game.menu.stack
    hand = play.new_hand(game.menu.rules, stack)
    small, big = (int(hand.state.spent[k]) for k in (hand.actor, 1 - hand.actor))
    start = agent.begin(hand, 1 - hand.actor, number=0, key=0)
    told, _ = agent.policy(start, hand.act(stack))
    calls = told.policy[:, told.totals == stack].sum(1).astype(np.float32)
    signs = mean_signs(np.array([], int), 1_024, np.random.default_rng(0))
    won = big * compatible_reach(1 - calls) + stack * (signs @ calls)
    won /= compatible_reach(np.ones(NUM_HANDS, np.float32))
    return 1000 / BIG_BLIND * float(np.maximum(won, -small).mean()), None, None


def _interval(found: holdem.RangeMatch) -> Measured:
    return found.mbb, found.low, found.high


def _row(bar: str, sampler: str, unit: str, measured: Measured, limits: Limits) -> dict[str, Any]:
    (value, low, high), (least, most) = measured, limits
    inside = (least is None or value >= least) and (most is None or value <= most)
    return {
        "bar": bar,
        "sampler": sampler,
        "unit": unit,
        "value": value,
        "low": low,
        "high": high,
        "least": least,
        "most": most,
        "reached": inside if (least, most) != (None, None) else None,
    }

"""What search adds to a heads-up blueprint: one value a leaf, several, a network, to the end.

All agents search from one blueprint and play two opponents over ranges (`play.agents_range_match`,
one end of each street drawn, means over runouts): the blueprint itself, and a blueprint of another
menu after the flop with five times the training. All agents meet an opponent on the same boards, so
that differences between two of them, board by board, vary less than either. A local best response
that folds, calls, bets the pot or moves in says how much of each can be won at least.

A study that was stopped goes on: trainings from their last checkpoint, matches from their last
boards.

Source of the comparison: Brown, Sandholm and Amos 2018, table 1, whose opponents (Baby Tartanian8
and Slumbot) cannot be had: blueprint -57 +- 13 and -11 +- 8 mbb/h, search +6 +- 5 and +11 +- 9.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments._blueprints import MENUS, abstraction_of, trained_agent
from experiments._report import Report
from jaxsolve import holdem
from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.holdem import leaf_net, limited, play
from jaxsolve.mccfr import Continuations, bias
from jaxsolve.nets import load_net

COLUMNS = (
    *("agent", "opponent", "hands", "mbb", "low", "high", "estimator"),
    *("seconds_per_hand", "processor_seconds_per_board"),
)
KIND = "match of modicum_hunl"
RESPONSE = "local best response"
ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results"

AGENTS: dict[str, dict[str, Any]] = {
    "blueprint": {},
    "turn and river": {"first": 2},
    "turn and river, unsafe": {"first": 2, "root": "unsafe"},
    "one value": {"first": 1, "continuations": bias(10, 1)},
    "one value, unsafe": {"first": 1, "continuations": bias(10, 1), "root": "unsafe"},
    "multi-valued": {"first": 1, "continuations": bias(10)},
    "multi-valued, unsafe": {"first": 1, "continuations": bias(10), "root": "unsafe"},
    "multi-valued, all choose": {"first": 1, "continuations": bias(5), "choosers": "all"},
    "multi-valued, leaf network": {"first": 1, "continuations": bias(10), "leaf_net": True},
    "network": {"first": 2, "net": ROOT / "examples" / "river_net.npz"},
}
"""Agents and the options of `play.SearchAgent`; examples of a leaf network are made for as long as
the blueprint is trained."""

PAIRS = (
    ("multi-valued", "one value"),
    ("multi-valued, unsafe", "one value, unsafe"),
    ("multi-valued", "turn and river"),
    ("multi-valued, leaf network", "multi-valued"),
    ("multi-valued, unsafe", "turn and river, unsafe"),
    ("multi-valued, unsafe", "multi-valued"),
)
"""Agents that are compared on the same boards, the first less the second."""

SMALL = {
    "turn": {"bet": ["75%", "a"], "raise": ["a"]},
    "river": {"bet": ["75%", "a"], "raise": ["a"]},
}
"""Sizes of the quick study's searches."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        agents: of `AGENTS`.
        menu: of the blueprint, in `examples/menus`.
        other: of the opponent.
        buckets: of flop, turn and river each.
        minutes: of the blueprint's training by one thread, of the processor; the opponent has five
            times as many.
        boards: of a match against the blueprint.
        strangers: agents that play the other opponent.
        other_boards: of these matches.
        runouts: of each flop, see `play.agents_range_match`.
        lbr: agents that a local best response plays, and the boards of each.
        step: boards between two checkpoints.
        hands: that are played to measure the time.
        passes: boards of a search of the flop.
        iterations: of a search, by street.
        sizes: on turn and river; None for the agent's.
        seed: of boards and draws.
        folder: of an abstraction; others are built in the cache.
    """

    agents: tuple[str, ...] = (
        *("blueprint", "turn and river", "turn and river, unsafe"),
        *("one value, unsafe", "multi-valued", "multi-valued, unsafe"),
        *("multi-valued, leaf network", "network"),
    )
    menu: str = "hu100_plain.toml"
    other: str = "hu100_other.toml"
    buckets: int = 200
    minutes: float = 4.0
    boards: int = 40
    strangers: tuple[str, ...] = ("blueprint", "turn and river", "multi-valued", "network")
    other_boards: int = 24
    runouts: int = 24
    lbr: Mapping[str, int] = dataclasses.field(
        default_factory=lambda: {
            **dict.fromkeys(("blueprint", "turn and river", "multi-valued"), 16),
            **dict.fromkeys(("multi-valued, unsafe", "one value, unsafe"), 64),
            "multi-valued, leaf network": 16,
        }
    )
    step: int = 2
    hands: int = 10
    passes: int = 500
    iterations: Mapping[int, int] = dataclasses.field(default_factory=lambda: {2: 60, 3: 200})
    sizes: Mapping[str, Any] | None = None
    seed: int = 0
    folder: Path | None = dataclasses.field(default=None, repr=False)


QUICK = Plan(
    agents=(
        *("blueprint", "turn and river", "one value", "multi-valued"),
        "multi-valued, leaf network",
    ),
    menu="hu20.toml",
    other="hu20_other.toml",
    buckets=50,
    minutes=0.1,
    boards=4,
    strangers=("blueprint", "multi-valued"),
    other_boards=2,
    runouts=8,
    lbr={"blueprint": 2, "multi-valued": 2},
    hands=4,
    passes=40,
    iterations={2: 15, 3: 40},
    sizes=SMALL,
)


def main(
    quick: bool,
    out: Path,
    *,
    plan: Plan | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per agent and opponent.

    Args:
        quick: stacks of 20 big blinds, seconds of training, few boards.
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
    report = Report("modicum_hunl", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"plan": str(chosen), "complete": False}
    report.extra["paper_mbb"] = {"blueprint": [-57, -11], "search": [6, 11]}
    buckets = abstraction_of(chosen.buckets, chosen.folder, out)
    base = _trained(chosen.menu, chosen.minutes, buckets, out)
    guess = limited.beyond(base.view, Continuations(base.sums, bias(10, 1)))
    agents = {name: _agent(name, base, chosen, out) for name in chosen.agents}
    pace = {n: _pace(agent, base, chosen) for n, agent in agents.items()}
    won: dict[str, np.ndarray] = {}

    def add(row: dict[str, Any]) -> None:
        rows.append(row)
        width = (row["high"] - row["low"]) / 2
        say(f"{row['agent']}, {row['opponent']}: {row['mbb']:+.0f} +- {width:.0f} mbb/h")
        report.save(out)

    def meet(name: str, opponent: play.BlueprintAgent, title: str, boards: int) -> np.ndarray:
        match = functools.partial(
            play.agents_range_match,
            agents[name],
            opponent,
            base.game.menu.stack,
            drawn=True,
            quick=guess,
            seed=chosen.seed,
            runouts=chosen.runouts,
        )
        row, chips = _row(match, name, title, boards, "ranges", chosen, out)
        add({**row, "seconds_per_hand": pace[name]})
        return chips

    def compare(chips: Mapping[str, np.ndarray], opponent: str, estimator: str) -> None:
        for first, second in PAIRS:
            if first in chips and second in chips:
                both = min(len(chips[first]), len(chips[second]))
                less = chips[first][:both] - chips[second][:both]
                add(_result(f"{first}, less {second}", opponent, less, estimator))

    for name in agents:
        if name != "blueprint":  # which wins nothing from itself
            won[name] = meet(name, base, "the blueprint", chosen.boards)
    compare(won, "the blueprint", "ranges, paired")
    left: dict[str, np.ndarray] = {}
    for name, boards in chosen.lbr.items():
        match = functools.partial(_lbr, agents[name], base.game.menu.stack, guess, chosen.seed)
        row, left[name] = _row(match, name, RESPONSE, boards, "lower bound", chosen, out)
        add(row)
    compare(left, RESPONSE, "lower bound, paired")
    if chosen.strangers:
        other = _trained(chosen.other, 5 * chosen.minutes, buckets, out)
        for name in chosen.strangers:
            meet(name, other, "another menu, 5 x the training", chosen.other_boards)
    report.extra["complete"] = True
    report.seconds = time.perf_counter() - begin
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


def _trained(
    menu: str, minutes: float, buckets: holdem.Abstraction, out: Path
) -> play.BlueprintAgent:
    return trained_agent(
        MENUS / menu,
        buckets,
        out,
        minutes=minutes,
        sampler="external",
        clock=time.process_time,
    )


def _agent(name: str, base: play.BlueprintAgent, plan: Plan, out: Path) -> play.RangeAgent:
    if name == "blueprint":
        return base
    options = dict(AGENTS[name])
    if "leaf_net" in options:
        after = limited.beyond(base.view, Continuations(base.sums, options["continuations"]))
        options["leaf_net"] = leaf_net.train(
            after, minutes=plan.minutes, out=out / "leaf_net", clock=time.process_time
        )
    if "net" in options:
        options["net"] = load_net(options["net"])
    if plan.sizes is not None:
        options["menu"] = plan.sizes
    return play.SearchAgent(
        base, name=name, passes={1: plan.passes}, iterations=plan.iterations, **options
    )


def _lbr(
    agent: play.RangeAgent,
    stack: int,
    guess: limited.Beyond,
    seed: int,
    *,
    boards: int,
    skip: int,
) -> holdem.RangeMatch:
    """Returns what the agent wins from a local best response, so less than nothing."""
    found = play.agent_local_best_response(
        agent, stack, boards=boards, skip=skip, seed=seed, drawn=True, quick=guess
    )
    return dataclasses.replace(found, chips=-found.chips)


def _row(
    match: Callable[..., holdem.RangeMatch],
    agent: str,
    opponent: str,
    boards: int,
    estimator: str,
    plan: Plan,
    out: Path,
) -> tuple[dict[str, Any], np.ndarray]:
    """Returns (a row of a match, chips float64 [boards]); it goes on where it was."""
    words = f"{agent} {opponent}".replace(" ", "_").replace(",", "")
    path = out / "matches" / f"{words}.npz"
    chips, spent = np.zeros(0), 0.0
    header = {
        "kind": KIND,
        "plan": str(
            dataclasses.replace(
                plan,
                **dict.fromkeys(("agents", "strangers"), ()),
                **dict.fromkeys(("boards", "other_boards", "hands"), 0),
                lbr={},
            )
        ),
    }
    if path.exists():
        found, arrays = load_arrays(path, KIND)
        if found["plan"] == header["plan"]:
            chips, spent = arrays["chips"], float(found["spent"])
    path.parent.mkdir(parents=True, exist_ok=True)
    while len(chips) < boards:
        begin = time.process_time()
        upto = min(len(chips) + plan.step, boards)
        chips = np.concatenate([chips, match(boards=upto, skip=len(chips)).chips])
        spent += time.process_time() - begin
        save_arrays(path, {**header, "spent": spent}, {"chips": chips})
    row = _result(agent, opponent, chips[:boards], estimator)
    return {**row, "processor_seconds_per_board": spent / len(chips)}, chips[:boards]


def _result(agent: str, opponent: str, chips: np.ndarray, estimator: str) -> dict[str, Any]:
    """Returns a row of chips, float64 [boards]."""
    whole = holdem.RangeMatch(np.zeros((len(chips), 5), np.uint8), chips)
    return {
        "agent": agent,
        "opponent": opponent,
        "hands": len(chips),
        "mbb": whole.mbb,
        "low": whole.low,
        "high": whole.high,
        "estimator": estimator,
    }


def _pace(agent: play.RangeAgent, base: play.BlueprintAgent, plan: Plan) -> float:
    """Returns seconds of the clock for each hand against the blueprint, at the table."""
    begin = time.perf_counter()
    play.play_match([agent, base], base.game.menu.stack, hands=plan.hands, seed=plan.seed)
    return (time.perf_counter() - begin) / plan.hands


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: mbb/h of every agent against every opponent."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.0), layout="constrained")
    axes = figure.subplots()
    agents = list(dict.fromkeys(r["agent"] for r in rows))
    axes.axvline(0, color="#888888", linewidth=0.8)
    for k, opponent in enumerate(dict.fromkeys(r["opponent"] for r in rows)):
        line = [r for r in rows if r["opponent"] == opponent]
        axes.errorbar(
            [r["mbb"] for r in line],
            [agents.index(r["agent"]) + 0.18 * (k - 1) for r in line],
            xerr=[(r["high"] - r["low"]) / 2 for r in line],
            fmt="o",
            markersize=4,
            capsize=3,
            color=f"C{k}",
            label=opponent,
        )
    axes.set_yticks(range(len(agents)), agents)
    axes.invert_yaxis()
    axes.set_xlabel("mbb/h that the agent wins (95 % intervals over boards)")
    figure.legend(fontsize=8, loc="outside upper right", ncols=3)
    return figure

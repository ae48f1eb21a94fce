"""A searcher among five blueprints, five searchers and one blueprint, and what positions win.

All deals are played in every rotation of the agents around the table, and AIVAT corrects moves,
cards and all-ins with the blueprint's values, as in `play.play_match`. One searcher among five
blueprints is also scored by its deviations alone (`play.deviation_match`), which has the same mean
and far less luck. The p value is one-tailed: the chance of so much or more if the searcher were
worth nothing. `control` is a blueprint in the searcher's seats. The searcher bets what the
blueprint's menu has, so that each of its bets is known to the blueprint.

A study that was stopped goes on: the training from its last checkpoint, matches from theirs.

Source of the comparison: Brown and Sandholm 2019, "Superhuman AI for multiplayer poker": 48 mbb/h
(standard error 25) of one agent among five professionals, 32 mbb/h (15) of five among one; its
opponents cannot be had, and ours is the agent's own blueprint.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments._blueprints import MENUS, abstraction_of, one_bet_sizes, trained_agent
from experiments._report import Report
from experiments._scores import deviation_scores, mean_of
from jaxsolve import holdem
from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.holdem import play

COLUMNS = ("seat_type", "hands", "mbb", "se", "p", "estimator", "seconds_per_decision")
SHOWN = (*COLUMNS, "mbb_paper", "se_paper")
KIND = "positions of pluribus_six"
RESULTS = Path(__file__).parent / "results"
ROUNDING = 1e-3
"""Standard errors of a strategy among its copies, mbb/h, which wins nothing but for rounding."""
PLACES = ("SB", "BB", "UTG", "HJ", "CO", "BTN")


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        menu: in `examples/menus`, six players.
        buckets: of flop, turn and river each.
        bits: of the tables.
        minutes: of training by one thread, of the processor.
        deals: of a search.
        search_buckets: of the streets that are searched by sampling, each; None for every hand.
        one: hands of one searcher among five blueprints.
        five: of five searchers and one blueprint.
        alone: of the searcher in all seats.
        step: hands between two checkpoints.
        paced: hands that are played to measure the time of a decision.
        value_hands: from which AIVAT learns its values.
        samples: hands that are drawn to score a deviation.
        seed: of cards and choices.
        folder: of an abstraction; others are built in the cache.
    """

    menu: str = "six100.toml"
    buckets: int = 50
    bits: int = 16
    minutes: float = 10.0
    deals: int = 60_000
    search_buckets: int | None = 200
    one: int = 1_500
    five: int = 120
    alone: int = 30
    step: int = 60
    paced: int = 6
    value_hands: int = 300_000
    samples: int = 1_024
    seed: int = 0
    folder: Path | None = dataclasses.field(default=None, repr=False)


QUICK = Plan(
    menu="six20.toml",
    bits=32,
    minutes=0.3,
    deals=20_000,
    search_buckets=50,
    one=120,
    five=12,
    alone=12,
    step=12,
    value_hands=50_000,
    samples=256,
)


def main(
    quick: bool,
    out: Path,
    *,
    plan: Plan | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per kind of table and estimator, and one per position.

    Args:
        quick: stacks of 20 big blinds, seconds of training, few hands.
        out: folder; a study that was stopped goes on where it was.
        plan: instead of that of the full or the quick study.
        record: also write the result of this device to the study's folder; by default for the
            full study.
        say: receives progress, a line at a time.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once what there is has been written.
    """
    begin = time.perf_counter()
    record = (not quick and plan is None) if record is None else record
    chosen = plan or (QUICK if quick else Plan())
    rows: list[dict[str, Any]] = []
    report = Report("pluribus_six", quick, 0.0, rows, columns=SHOWN)
    report.extra = {"plan": str(chosen), "complete": False}
    folder, searched = chosen.folder, chosen.search_buckets
    buckets = abstraction_of(chosen.buckets, folder, out)
    base = trained_agent(
        MENUS / chosen.menu,
        buckets,
        out,
        minutes=chosen.minutes,
        bits=chosen.bits,
        clock=time.process_time,
    )
    agent = play.SearchAgent(
        base,
        menu=one_bet_sizes(base.game.menu),
        first=0,
        passes=dict.fromkeys(range(4), chosen.deals),
        buckets=None if searched is None else abstraction_of(searched, folder, out),
        iterations={2: 60, 3: 200},
        name="searcher",
    )
    stack = base.game.menu.stack
    values = holdem.hand_values((base.game, base.sums), hands=chosen.value_hands, seed=chosen.seed)
    pace = _pace(agent, stack, chosen)
    report.extra["seconds_per_decision"] = pace
    tables: dict[str, tuple[list[Any], int, tuple[float, float] | None]] = {
        "control": ([base] * 6, min(chosen.one, 600), None),
        "5 searchers, 1 blueprint": ([base, *[agent] * 5], chosen.five, (32.0, 15.0)),
    }
    kept = deviation_scores(
        out / "deviations.npz",
        _settings(chosen),
        agent,
        base,
        deals=-(-chosen.one // 6),
        step=chosen.step // 6,
        seed=chosen.seed,
        samples=chosen.samples,
        values=values,
    )
    rows += _one(kept, pace)
    report.extra["correlation"] = _correlations(kept)
    for row in rows:
        say(f"{row['seat_type']}, {row['estimator']}: {row['mbb']:+.0f}, se {row['se']:.0f}")
    for name, (agents, hands, paper) in tables.items():
        match = play.play_match(
            agents,
            stack,
            hands=hands,
            seed=chosen.seed,
            values=values,
            every=chosen.step,
            out=out / "matches",
            resume=True,
        )
        rows += _rows(name, match, paper, pace if agent in agents else None)
        report.save(out)
        for row in rows[-2:]:
            say(f"{name}, {row['estimator']}: {row['mbb']:+.0f}, se {row['se']:.0f}")
        if not match.finished:
            raise KeyboardInterrupt
    rows += _positions(agent, stack, chosen, values, out)
    report.extra["complete"] = True
    report.seconds = time.perf_counter() - begin
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


def _pace(agent: play.SearchAgent, stack: int, plan: Plan) -> float:
    """Returns seconds of the clock for each decision of a table of searchers."""
    begin, moves = time.perf_counter(), 0
    rules = holdem.no_limit(6)
    for number in range(plan.paced):
        cards = play.shuffled([plan.seed, number], 6)
        moves += len(
            play.play_hand([agent] * 6, rules, stack, cards, number=number, keys=[number] * 6).moves
        )
    return (time.perf_counter() - begin) / max(moves, 1)


def _settings(plan: Plan) -> str:
    """Returns what two parts of one match share."""
    return str(
        dataclasses.replace(plan, **dict.fromkeys(("one", "five", "alone", "step", "paced"), 0))
    )


def _one(kept: Mapping[str, np.ndarray], pace: float) -> list[dict[str, Any]]:
    """Returns one searcher among five blueprints by each estimator."""
    rows = []
    for estimator in ("deviations", "aivat", "duplicate"):
        chips = kept[estimator]
        paper = (48.0, 25.0) if estimator == "deviations" else None
        name = "1 searcher, 5 blueprints"
        rows.append(_row(name, 6 * len(chips), estimator, chips, paper, pace))
    return rows


def _correlations(kept: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Returns how chips at the table go with what the estimators say of a deal's luck."""
    luck = kept["duplicate"] - kept["aivat"], kept["deviations"]
    with np.errstate(invalid="ignore"):
        aivat, score = (float(np.corrcoef(kept["duplicate"], x)[0, 1]) for x in luck)
    return {"chips, luck by AIVAT": aivat, "chips, deviations": score}


def _rows(
    name: str,
    match: play.AgentMatch,
    paper: tuple[float, float] | None,
    pace: float | None,
) -> list[dict[str, Any]]:
    """Returns AIVAT and the table; of five searchers the mean of each."""
    assert match.chips is not None
    rows = []
    for estimator, chips in (("aivat", match.chips), ("duplicate", match.plain)):
        mine = -chips[:, 0] / 5 if name.startswith("5") else chips[:, 0]
        known = paper if estimator == "aivat" else None
        rows.append(_row(name, match.plain.size, estimator, mine, known, pace))
    return rows


def _row(
    name: str,
    hands: int,
    estimator: str,
    chips: np.ndarray,
    paper: tuple[float, float] | None,
    pace: float | None,
) -> dict[str, Any]:
    """Returns a row of chips, float64 [D]."""
    found = mean_of(chips)
    return {
        "seat_type": name,
        "hands": hands,
        "mbb": found.mbb,
        "se": found.standard_error,
        "estimator": estimator,
        "p": found.p_value if found.standard_error > ROUNDING else None,
        "seconds_per_decision": pace,
        "mbb_paper": paper[0] if paper else None,
        "se_paper": paper[1] if paper else None,
    }


def _positions(
    agent: play.SearchAgent, stack: int, plan: Plan, values: Any, out: Path
) -> list[dict[str, Any]]:
    """Returns what the searcher wins from itself, by position; goes on where it was."""
    path = out / "positions.npz"
    header = {"kind": KIND, "plan": _settings(plan)}
    chips = np.zeros((2, 0, 6))
    if path.exists():
        found, arrays = load_arrays(path, KIND)
        if found["plan"] == header["plan"]:
            chips = arrays["chips"]
    while chips.shape[1] < plan.alone:
        first = chips.shape[1]
        hands = min(first + plan.step // 6, plan.alone)
        options: Mapping[str, Any] = {"hands": hands, "skip": first, "seed": plan.seed}
        more = play.self_play(agent, 6, stack, values=values, **options)
        chips = np.concatenate([chips, more], 1)
        save_arrays(path, header, {"chips": chips})
    rows: list[dict[str, Any]] = []
    for seat, place in enumerate(PLACES):
        won = holdem.HandMatch(*chips[:, : plan.alone, [seat]])
        rows.append(
            {
                "seat_type": f"searcher, {place}",
                "hands": plan.alone,
                "mbb": won.mbb,
                "se": won.standard_error,
                "p": None,
                "estimator": "aivat",
                "seconds_per_decision": None,
            }
        )
    return rows


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: matches and positions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    shown = [r for r in rows if r["estimator"] != "duplicate"]
    names = [
        r["seat_type"] + (", deviations" if r["estimator"] == "deviations" else "") for r in shown
    ]
    axes.axvline(0, color="#888888", linewidth=0.8)
    spread = [1.96 * r["se"] for r in shown]
    axes.errorbar([r["mbb"] for r in shown], range(len(shown)), xerr=spread, fmt="o", capsize=3)
    axes.set_yticks(range(len(shown)), names)
    axes.invert_yaxis()
    axes.set_xlabel("mbb/h (AIVAT, and deviations; 95 % intervals)")
    return figure

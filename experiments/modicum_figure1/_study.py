"""Exploitability of the answer to a bet off the tree, by the number of values per state.

O opens with 3/4 of the pot, where the abstraction has 1/2 and 1. P answers by a depth-limited
search to the end of the betting round, with 1, 2, 4, 8 or 16 values at the limit, and re-solves the
second round; by action translation; or has had the bet in the abstraction all along. Exploitability
is exact, in the game of the abstraction in which O may open with the bet off the tree besides: what
a best response of O gains on the value of that game.

Source: Brown, Sandholm and Amos 2018, section 6.1 and figure 1. Differs in the games: no-limit
Leduc with five ranks, and no-limit flop hold'em with a deck of eight cards, whose hands and flops
are few enough for the best responses that generate the values to be exact.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax

import jaxsolve as js
from experiments._report import Report, cell
from experiments.modicum_figure1._response import Settings, answer, learn
from experiments.modicum_figure1._spot import Rules, Spot, spot, translated
from jaxsolve import search
from jaxsolve.values import biased, poker_class

RESULTS = Path(__file__).parent / "results"
"""Committed results, by device and version of JAX."""

KEYS = ("game", "method", "choosers", "leaf", "values")
"""What tells rows apart."""

BIASED = 4
"""Biased continuations: the blueprint, and more folds, calls or raises."""

ONE_SUIT = Rules(
    "nolimit_leduc, 5 ranks, 1 suit", "nolimit_leduc(ranks=5,suits=1,stack=20,ante=2,", "bet", 2.0
)
LEDUC = Rules(
    "nolimit_leduc, 5 ranks, 2 suits", "nolimit_leduc(ranks=5,suits=2,stack=20,ante=2,", "bet", 2.0
)
FLOP = Rules(
    "flop hold'em, 4 ranks, 2 suits",
    "holdem(streets=2,ranks=4,suits=2,stack=2000,raises=[1,1],",
    "raise",
    100.0,
    iterations=2000,
    letter="r",
)


class Plan(NamedTuple):
    """What is measured in one game.

    Attributes:
        rules: the game.
        values: numbers of values per state.
        lines: (method, choosers, leaf) of the curves.
        settings: budgets.
        generate: iterations of CFR+ for each generated continuation.
    """

    rules: Rules
    values: tuple[int, ...]
    lines: tuple[tuple[str, str, str], ...]
    settings: Settings = Settings()
    generate: int = 500


EXACT = (
    ("self_generated", "opponent", "exact"),
    ("self_generated", "all", "exact"),
    ("bias", "opponent", "exact"),
    ("bias", "all", "exact"),
)
ESTIMATED = (
    ("self_generated", "opponent", "exact_game_root"),
    ("self_generated", "opponent", "rollout"),
    ("self_generated", "opponent", "network"),
    ("self_generated", "opponent", "exact_own_pot"),
    ("self_generated", "opponent", "exact_with_bet"),
)

QUICK = (
    Plan(
        ONE_SUIT,
        (1, 2, 4, 8, 16),
        (EXACT[0], EXACT[2]),
        Settings(search=500, resolve=500, target=1e-3),
        300,
    ),
)
FULL = (
    Plan(LEDUC, (1, 2, 4, 8, 16), (*EXACT, *ESTIMATED)),
    Plan(
        FLOP,
        (1, 2, 4, 8, 16),
        (*EXACT, *(line for line in ESTIMATED if line[2] in ("exact_own_pot", "exact_with_bet"))),
        Settings(search=3000, resolve=3000, target=0.02),
    ),
)


def main(
    quick: bool,
    out: Path,
    *,
    plans: Sequence[Plan] | None = None,
    record: bool | None = None,
) -> Report:
    """Returns a row per point and line, after saving them in `out`; saved as they come.

    A run that was stopped goes on where it was, if it is started again with the same `out`.

    Args:
        quick: one-suited Leduc only, with exact values.
        out: folder.
        plans: what is measured instead.
        record: also write the result of this device to `RESULTS`; by default for the full run.
    """
    begin = time.perf_counter()
    record = (not quick and plans is None) if record is None else record
    plans = plans or (QUICK if quick else FULL)
    rows: list[dict[str, Any]] = []
    report = Report("modicum_figure1", quick, 0.0, rows)
    report.extra = {"complete": False, "spots": [], "plans": [str(plan) for plan in plans]}
    earlier, spent = report.earlier(out, same=("plans",))
    begin -= spent
    with jax.enable_x64(True):
        for plan in plans:
            here = spot(plan.rules)
            report.extra["spots"].append(_described(here))
            for row in measured(here, plan, earlier):
                rows.append(row)
                print(", ".join(cell(v) for v in row.values()), flush=True)
                report.seconds = time.perf_counter() - begin
                if len(rows) > len(earlier):
                    report.save(out)
    report.extra["complete"] = True
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


def measured(
    here: Spot, plan: Plan, earlier: Sequence[dict[str, Any]] = ()
) -> Iterator[dict[str, Any]]:
    """Yields the rows of one game: the horizontal lines, then each curve.

    Args:
        here: the spot.
        plan: what is measured.
        earlier: rows of curves that need not be measured again.
    """
    known = {tuple(r[k] for k in KEYS): r for r in earlier}

    def row(method: str, mbb: float, seconds: float, **more: Any) -> dict[str, Any]:
        empty = {"choosers": None, "leaf": None, "values": None}
        return {
            "game": plan.rules.name,
            "method": method,
            **(empty | more),
            "exploitability_mbb": mbb,
            "seconds": round(seconds, 2),
        }

    for randomised, name in ((True, "translation_random"), (False, "translation_deterministic")):
        begin = time.perf_counter()
        policy = translated(here, randomised=randomised)
        yield row(name, here.mbb(policy), time.perf_counter() - begin)
    fallback = translated(here, randomised=True)
    begin = time.perf_counter()
    iterations = plan.rules.iterations
    found = js.solve(here.game, "cfr+", iterations=iterations, measure_every=iterations)
    prepared = dataclasses.replace(found.average, names=here.game.info)
    yield row("in_abstraction", here.mbb(prepared), time.perf_counter() - begin)
    for method, choosers, values in plan.lines:
        counts = [k for k in plan.values if method != "bias" or k <= BIASED]
        curve = [(plan.rules.name, method, choosers, values, k) for k in counts]
        if all(key in known for key in curve):
            yield from (known[key] for key in curve)
            continue
        begin = time.perf_counter()
        base = prepared if values == "exact_with_bet" else here.blueprint
        policies = continuations(here, base, method, choosers, max(plan.values), plan.generate)
        network = values == "network"
        learned = learn(here, policies, choosers, plan.settings) if network else None
        made = time.perf_counter() - begin
        for count, key in zip(counts, curve, strict=True):
            if key in known:
                yield known[key]
                continue
            got = answer(
                here,
                policies[:count],
                choosers=choosers,
                values=values,
                settings=plan.settings,
                room=len(policies),
                learned=learned,
                fallback=fallback,
            )
            seconds = got.seconds + made * count / len(policies)
            kind = {"choosers": choosers, "leaf": values, "values": count}
            yield row(method, here.mbb(got.policy), seconds, **kind)


def continuations(
    here: Spot, blueprint: js.Policy, method: str, choosers: str, count: int, iterations: int
) -> list[js.Policy]:
    """Returns continuations in the game that a blueprint is of, the blueprint first.

    Args:
        here: the spot.
        blueprint: of the menu, or of the game with the bet.
        method: "self_generated", or "bias": four, as in Modicum.
        choosers: "opponent" or "all".
        count: how many are generated.
        iterations: of CFR+ for each.
    """
    menu = blueprint is here.blueprint
    tree, limit = (here.menu, here.limit) if menu else (here.game, here.after_bet)
    if method == "bias":
        return biased(tree, blueprint, classes=poker_class)
    return search.self_generated(
        tree,
        limit,
        blueprint,
        count=count,
        player=here.player,
        choosers=choosers,
        iterations=iterations,
    )


def _described(here: Spot) -> dict[str, Any]:
    info: Any = here.game.info
    return {
        "game": here.rules.name,
        "string": info.name,
        "states": info.num_states,
        "infosets": sum(info.num_infosets),
        "leaf_states": here.after_bet.num_leaves,
        "value_of_the_opener_mbb": here.value / here.rules.unit * 1000,
        "blueprint_exploitability_mbb": here.gap / here.rules.unit * 1000,
    }


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns exploitability against the number of values, a panel for each game."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    names = list(dict.fromkeys(r["game"] for r in rows))
    figure = Figure(figsize=(6 * len(names), 5), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        mine = [r for r in rows if r["game"] == name]
        for k, r in enumerate(r for r in mine if r["values"] is None):
            label = r["method"].replace("_", " ")
            axes.axhline(r["exploitability_mbb"], color=f"C{7 + k}", ls="--", label=label)
        lines = dict.fromkeys(
            (r["method"], r["choosers"], r["leaf"]) for r in mine if r["values"] is not None
        )
        for line in lines:
            points = [r for r in mine if (r["method"], r["choosers"], r["leaf"]) == line]
            x, y = ([r[key] for r in points] for key in ("values", "exploitability_mbb"))
            axes.plot(x, y, "o-", label=", ".join(line).replace("_", " "))
        axes.set(xscale="log", yscale="log", title=name)
        axes.set(xlabel="values per state", ylabel="exploitability (mbb/g)")
        axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    return figure

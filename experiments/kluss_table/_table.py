"""Exploitability of blueprints, and of what KLSS and KLUSS make of them at every infoset.

Player 0 re-solves with maxmargin; exploitability is one-sided, the value of the game less what the
strategy is worth against a best response. On the games of Zhang & Sandholm 2021, table 1, searches
see the end of the game, blueprints and units are the paper's. On small boards of dark chess each
search sees `look_ahead` plies, values what it cannot see by material, and has its alternative
values from the search above; the blueprint is the strategy of the first one and uniform beyond,
and `unsafe` re-solves without a gadget. The optimum of a subgame is seldom unique, and what is
left depends on which one a solver finds: PCFR+ started uniformly finds `klss` and `kluss`, the
linear program, where searches see the end, `klss_lp` and `kluss_lp`. Everything is float64. A
stopped run goes on from the rows that it has.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from experiments.klss_table1._games import LINES, blueprint
from experiments.kluss_table._positions import (
    POSITIONS,
    Position,
    Tree,
    re_solved,
    rules,
    whole_tree,
)
from jaxsolve import search
from jaxsolve.tree import uniform_policy

TOLERANCE = 1e-6
"""Gap at which CFR leaves a subgame, in units of the largest payoff."""

ITERATIONS = 5_000
"""At most so many iterations of CFR a level."""

QUICK_LINES = ("Kuhn poker", "2x2 abrupt dark hex")
"""Games of table 1 in the quick run."""

LONG = ("liar's dice, 5-sided die",)
"""The game of table 1 that takes longest."""

RESULTS = Path(__file__).parent / "results"

SHOWN = (
    *("game", "look_ahead", "blueprint", "unsafe", "klss", "kluss", "klss_lp", "kluss_lp"),
    "seconds",
)


def main(quick: bool, out: Path, *, record: bool | None = None) -> Report:
    """Returns the table, after saving rows and table in `out`.

    Args:
        quick: two games of table 1 and three positions, one look-ahead each.
        out: folder.
        record: also write the result of this device to the study's folder when all rows are there;
            by default for the full run.
    """
    record = not quick if record is None else record
    report = Report("kluss_table", quick, 0.0, [], columns=SHOWN, extra={"complete": False})
    report.rows, before = report.earlier(out, same=("quick",))
    begin = time.perf_counter()
    known = {(row["game"], row["look_ahead"]) for row in report.rows}
    last: str | Position | None = None
    with jax.enable_x64(True):
        for game, plies in _tasks(quick):
            name = game if isinstance(game, str) else named(game)
            if (name, plies) in known:
                continue
            if game != last:
                jax.clear_caches()  # every game has programs of its own; their memory has a limit
            last = game
            report.rows.append(measure(game, plies))
            report.seconds = before + time.perf_counter() - begin
            report.save(out)
            print(f"{name} {plies or ''}: {report.rows[-1]['seconds']:.1f} s", flush=True)
    report.extra["complete"] = True
    report.save(out)
    if record:
        report.record(RESULTS)
    return report


def named(position: Position) -> str:
    """Returns the game of a position as a row shows it."""
    return f"dark chess {position.fen}, {position.plies} plies, {position.at_cap}"


def measure(game: str | Position, plies: int | None) -> dict[str, Any]:
    """Returns one row: of a line of table 1 by its label, or of a position and a look-ahead."""
    begin = time.perf_counter()
    if isinstance(game, str):
        line = next(x for x in LINES if x.label == game)
        tree, unit = js.compile(games.load(line.game)), float(line.unit)
        weak = blueprint(tree, line)
        row = _listed(tree, weak.policy, unit, weak.floors[0], ("pcfr+", "lp"))
        name = game
    else:
        tree, value, whole = _built(game)
        name, row = named(game), {"value": value}
        found = re_solved(whole, plies or 1)
        row["searches"] = found.pop("searches")
        row |= {key: row["value"] - worth for key, worth in found.items()}
        if plies == game.plies:
            exact = _listed(tree, uniform_policy(tree), 1.0, None, ("lp",))
            row |= {key: exact[key] for key in ("klss_lp", "kluss_lp")}
    row = {"game": name, "look_ahead": plies, **row}
    row["states"], row["infosets"] = tree.info.num_states, sum(tree.info.num_infosets)
    row["seconds"] = time.perf_counter() - begin
    return {k: float(v) if isinstance(v, np.floating) else v for k, v in row.items()}


@functools.lru_cache(maxsize=1)
def _built(position: Position) -> tuple[js.PublicTree, float, Tree]:
    """Returns a position's compiled game, its value, and its tree of positions."""
    tree = js.compile(rules(position))
    return tree, js.solve_lp(tree).value, whole_tree(rules(position))


def _listed(
    tree: js.PublicTree,
    policy: js.Policy,
    unit: float,
    floor: np.ndarray | None,
    methods: tuple[str, ...],
) -> dict[str, Any]:
    """Returns what KLSS and KLUSS make of a blueprint of a compiled game, looking to the end."""
    value = js.solve_lp(tree).value
    row: dict[str, Any] = {"value": value}
    for method in methods:
        ending = "_lp" if method == "lp" else ""
        for key, frozen in (("klss", True), ("kluss", False)):
            found = search.nested(
                tree,
                policy,
                players=0,
                frozen=frozen,
                floor=floor,
                solver=method,
                target=TOLERANCE * unit,
                iterations=ITERATIONS,
                measure_every=100,
            )
            row["blueprint"] = (value - found.blueprint_worst_case[0]) / unit
            row[key + ending] = (value - found.worst_case[0]) / unit
            row[f"{key}{ending}_gap"] = found.gap / unit
    return row


def _tasks(quick: bool) -> Iterator[tuple[str | Position, int | None]]:
    """Yields every row's game and look-ahead, those that take long last."""
    lines = [line.label for line in LINES if line.label in QUICK_LINES or not quick]
    yield from ((label, None) for label in lines if label not in LONG)
    for position in POSITIONS[:3] if quick else POSITIONS:
        for plies in (2,) if quick else range(2, position.plies + 1):
            yield position, plies
    yield from ((label, None) for label in lines if label in LONG)

"""Searching one action deep in rock-paper-scissors+, with one, two and three values at the limit.

Player 0 chooses unseen, so a search of depth one ends before player 1's choice. With one value per
state player 1 goes on as in equilibrium, every action of player 0 is worth 0, and whatever the
solver returns is as good as any other. With more, player 1 first chooses a pure continuation.

Exploitability is what player 0's strategy loses to a best response; the value of the game is 0.

Source: Brown, Sandholm and Amos 2018, section 2 and figure 1 of the paper.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from jaxsolve.values import after_actions, continuations, extend

EQUILIBRIUM = (0.4, 0.4, 0.2)
"""Rock, paper, scissors."""

ITERATIONS = 2000
"""Of PCFR+."""

VALUES: dict[int, tuple[str, ...]] = {
    1: ("equilibrium",),
    2: ("rock", "paper"),
    3: ("rock", "paper", "scissors"),
}
"""How player 1 may go on, by the number of values."""


def main(quick: bool, out: Path) -> Report:
    """Returns a row per number of values, after saving rows, table and picture in `out`.

    Args:
        quick: makes no difference; the study takes seconds.
        out: folder.
    """
    begin = time.perf_counter()
    with jax.enable_x64(True):
        rows = [row(values) for values in VALUES]
    report = Report("modicum_rps", quick, time.perf_counter() - begin, rows)
    report.save(out, figure=_figure(rows))
    return report


def row(values: int) -> dict[str, Any]:
    """Returns the outcome of a search with so many values at each state of the limit."""
    tree = js.compile(games.load("rps_plus"))
    blueprint = _policy(tree, EQUILIBRIUM)
    at_limit = [
        blueprint if name == "equilibrium" else _policy(tree, _pure(tree, name))
        for name in VALUES[values]
    ]
    limited = continuations(tree, after_actions(tree, 1), at_limit)
    found = js.solve(limited, "pcfr+", iterations=ITERATIONS, progress=False).average
    whole = extend(limited, found, blueprint)
    strategy = whole.probabilities(0)
    return {
        "values": values,
        "continuations": ", ".join(VALUES[values]),
        "exploitability": float(js.best_response(tree, whole, 1).value),
        "strategy": [float(p) for p in strategy],
        "strategy_paper": list(EQUILIBRIUM),
    }


def _policy(tree: js.PublicTree, second: Any) -> js.Policy:
    """Returns a policy whose player 0 plays the equilibrium, and player 1 as given."""
    return js.tree.policy_from_probabilities(tree, [np.array(EQUILIBRIUM), np.asarray(second)])


def _pure(tree: js.PublicTree, name: str) -> np.ndarray:
    return np.array([float(tree.info.action_name(1, a) == name) for a in range(3)])


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns the strategies as bars, and their exploitability in words."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    names = ("rock", "paper", "scissors")
    for k, r in enumerate(rows):
        label = f"{r['values']} value(s): exploitability {r['exploitability']:.3f}"
        axes.bar(np.arange(3) + 0.2 * (k - 1.5), r["strategy"], 0.2, label=label)
    axes.bar(np.arange(3) + 0.3, EQUILIBRIUM, 0.2, color="0.7", label="equilibrium")
    axes.set_xticks(np.arange(3), names)
    axes.set_ylabel("probability")
    axes.legend(fontsize=8)
    return figure

"""Parts on three-player Leduc, by NashConv: of a blueprint by sampling, and of searches from one.

Limits of what a game this small says: a row of the blueprint is visited thousands of times, and
nobody ever does what the search does not hold, unless raises are left out of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import games
import jaxsolve as js
from jaxsolve import mccfr, search, values

WEIGHTED = "leduc(players=3)"
"""The game of blueprints."""

SEARCHED = "leduc(players=3,raises=1)"
"""The game of searches, in which all of them are made."""

WAYS: dict[str, dict[str, Any]] = {
    "linear": {"unit": 1000.0},
    "linear, pruned": {"unit": 1000.0, "prune": 30.0, "floor": 33.0, "warm_up": 20_000},
    "no weights": {"power": 0.0},
}
"""Options of `mccfr.Options`."""

SEARCHES: dict[str, tuple[dict[str, Any], tuple[str, ...] | None]] = {
    "round's start, final": ({}, None),
    "round's start, average": ({"final": False}, None),
    "each decision, frozen, final": ({"every_decision": True}, None),
    "each decision, frozen, average": ({"every_decision": True, "final": False}, None),
    "raises off the menu, frozen": ({"final": False}, ("fold", "call")),
    "raises off the menu, free": ({"final": False, "frozen": False}, ("fold", "call")),
}
"""Options of `search.pluribus`, and the actions that searches hold. An action that is not among
them is added once it has been taken; own actions before it are frozen or free. A search from the
round's start whose own actions are free is the same at each decision."""


def weights_and_pruning(
    passes: Sequence[int], seeds: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Returns a row per way and number of passes.

    Args:
        passes: at which NashConv is measured, ascending.
        seeds: of each way.
        say: receives a line per row.
    """
    if not passes:
        return []
    tree = js.compile(games.load(WEIGHTED))
    game = mccfr.listed_game(tree)
    rows = []
    for name, options in WAYS.items():
        found = np.zeros((seeds, len(passes), 3))
        for seed in range(seeds):
            sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=seed, **options))
            tables, seconds, nodes = mccfr.make_tables(game), 0.0, 0
            for k, upto in enumerate(passes):
                begin = time.process_time()
                tables, visited = sampler.run(tables, upto - tables.passes)
                seconds, nodes = seconds + time.process_time() - begin, nodes + visited
                gap = float(js.nash_conv(tree, game.policy_of(tables)))
                found[seed, k] = gap, seconds, nodes
        for k, upto in enumerate(passes):
            gaps, seconds, nodes = found[:, k, 0], *found[:, k, 1:].mean(0)
            row = _row(WEIGHTED, name, gaps)
            rows.append({**row, "passes": upto, "processor_seconds": seconds, "nodes": nodes})
            say(f"{name}, {upto:,} passes: NashConv {gaps.mean():.3f}")
    return rows


def searches(
    passes: int, iterations: int, seeds: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Returns a row per way to search, and one of the blueprints that they start from.

    Args:
        passes: of the blueprints, by external sampling.
        iterations: of a search.
        seeds: blueprints.
        say: receives a line per row.
    """
    if not seeds:
        return []
    tree = js.compile(games.load(SEARCHED))
    game = mccfr.listed_game(tree)
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        options = mccfr.Options(seed=seed, **WAYS["linear"])
        tables, _ = mccfr.ExternalSampler(game, options).run(mccfr.make_tables(game), passes)
        blueprint = game.policy_of(tables)
        found.setdefault("blueprint", []).append(float(js.nash_conv(tree, blueprint)))
        policies = values.biased(tree, blueprint, classes=values.poker_class)
        for name, (how, menu) in SEARCHES.items():
            settings = search.DepthSearch(policies, solver="lcfr", iterations=iterations, menu=menu)
            made = search.pluribus(tree, settings, **how)
            found.setdefault(name, []).append(made.exploitability * tree.num_players)
            say(f"{name}, seed {seed}: NashConv {found[name][-1]:.3f}")
    return [_row(SEARCHED, name, np.asarray(gaps)) for name, gaps in found.items()]


def _row(game: str, part: str, gaps: np.ndarray) -> dict[str, Any]:
    """Returns what rows of both kinds have, of NashConv float [seeds]."""
    n = len(gaps)
    error = gaps.std(ddof=1) / n**0.5 if n > 1 else None
    return {"game": game, "part": part, "nash_conv": gaps.mean(), "se": error, "seeds": n}

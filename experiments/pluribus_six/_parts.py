"""What linear weights and pruning are worth to a blueprint: three-player Leduc, by NashConv.

Source of the comparison: Brown and Sandholm 2019, supplement: linear weighting 3 times as fast,
pruning 2 times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import games
import jaxsolve as js
from jaxsolve import mccfr

WAYS: dict[str, dict[str, Any]] = {
    "linear": {"unit": 1000.0},
    "linear, pruned": {"unit": 1000.0, "prune": 30.0, "floor": 33.0, "warm_up": 20_000},
    "no weights": {"power": 0.0},
}
"""Options of `mccfr.Options`."""


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
    tree = js.compile(games.load("leduc(players=3)"))
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
            gap, seconds, nodes = found[:, k].mean(0)
            error = found[:, k, 0].std(ddof=1) / seeds**0.5 if seeds > 1 else None
            rows.append(
                {
                    "part": name,
                    "passes": upto,
                    "nash_conv": gap,
                    "se": error,
                    "seeds": seeds,
                    "processor_seconds": seconds,
                    "nodes": nodes,
                }
            )
            say(f"{name}, {upto:,} passes: NashConv {gap:.3f}")
    return rows

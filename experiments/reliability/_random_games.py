"""Random games, solved in batches of one shape and each held against its own linear program."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from tqdm import tqdm

import jaxsolve as js
from experiments.reliability import _program
from jaxsolve.testing import random_game

TOLERANCE = 1e-3
"""Largest difference that is no fault, in payoffs of a standard deviation of 3."""

ITERATIONS = 2000
TRIES = 4
"""Batches that do not converge are solved anew, with this many times the iterations."""


def random_games(minutes: float, *, count: int = 10_000, batch: int = 400) -> dict[str, Any]:
    """Returns how many games were solved, and the worst differences.

    Args:
        minutes: stop after a batch beyond this.
        count: games at most.
        batch: games of one shape, that differ in payoffs and chances.
    """
    end = time.monotonic() + 60 * minutes
    gaps: list[tuple[float, float, float]] = []
    shapes, seed = 0, 0
    with tqdm(total=count, desc="random games", unit="game") as bar:
        while len(gaps) < count and time.monotonic() < end:
            size = min(batch, count - len(gaps))
            found = compare(seed, size)
            seed += 1
            if found:
                shapes += 1
                gaps += found
                bar.update(size)
                bar.set_postfix(worst=f"{max(max(gap) for gap in gaps):.1e}")
    worst = np.max(gaps, axis=0) if gaps else np.full(3, np.nan)
    return {
        "part": "random games against a linear program",
        "count": len(gaps),
        "faults": sum(max(gap) > TOLERANCE for gap in gaps),
        "detail": (
            f"{shapes} shapes; worst difference of the value {worst[0]:.1e}, worst exploitability "
            f"{worst[1]:.1e}, worst difference of exploitabilities {worst[2]:.1e}"
        ),
    }


def compare(seed: int, size: int) -> list[tuple[float, float, float]]:
    """Returns for each game of one shape what is wrong with it, none of a trivial shape.

    Per game: difference of the value from that of the linear program; exploitability of the
    average policy by an independent best response; difference of ours from it.
    """
    depth, silence = 3 + seed % 4, (0.0, 0.5, 0.8, 1.0)[seed // 4 % 4]
    games = [random_game(seed, depth=depth, silence=silence, numbers=k) for k in range(size)]
    walked = [_program.walk(game.tables) for game in games]
    if not all(walked[0].infosets):
        return []  # somebody never decides
    exact = [_program.value(each) for each in walked]
    trees = [js.compile(game, keep_states=False) for game in games]
    for iterations in (ITERATIONS, ITERATIONS * TRIES):
        result = js.solve_batch(trees, js.pcfr_plus(), iterations=iterations)
        rows = []
        for k, (game, value) in enumerate(zip(walked, exact, strict=True)):
            policy = result.policy(k)
            played = [np.asarray(policy.probabilities(i), float) for i in range(2)]
            gap = _program.exploitability(game, played)
            ours = float(result.exploitability[-1, k])
            rows.append((abs(float(result.values[k, 0]) - value), gap, abs(ours - gap)))
        if max(max(row) for row in rows) <= TOLERANCE:
            break
    return rows

"""Ratings from a cross table: Bradley and Terry 1952, in Elo points, draws as half a win each."""

from __future__ import annotations

import math

import numpy as np

ELO = 400 / math.log(10)
"""Elo points of a natural unit of strength."""


def ratings(points: np.ndarray, *, prior: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Returns (ratings float64 [n], their mean 0; half widths of 95 % intervals [n]) in Elo points.

    Args:
        points: float [n, n], points of row against column; a win is 1, a draw a half.
        prior: points that each of two players who have met gets in addition, so that somebody who
            lost all games has a rating, too: one drawn game with the default.

    Raises:
        ValueError: the table is not square.
    """
    if points.ndim != 2 or points.shape[0] != points.shape[1]:
        raise ValueError(f"a cross table is square, not {points.shape}")
    met = (points + points.T) > 0
    won = points + prior * met
    np.fill_diagonal(won, 0)
    games, n = won + won.T, len(won)
    strength = np.zeros(n)
    for _ in range(100):
        chance = 1 / (1 + np.exp(strength[None] - strength[:, None]))
        slope = (won - games * chance).sum(1)
        curve = games * chance * (1 - chance)
        information = np.diag(curve.sum(1)) - curve
        step = np.linalg.pinv(information) @ slope
        strength += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-10:
            break
    chance = 1 / (1 + np.exp(strength[None] - strength[:, None]))
    curve = games * chance * (1 - chance)
    spread = np.linalg.pinv(np.diag(curve.sum(1)) - curve)
    return ELO * (strength - strength.mean()), ELO * 1.96 * np.sqrt(np.maximum(np.diag(spread), 0))

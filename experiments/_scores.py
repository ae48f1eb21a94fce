"""Scores of agents by their deviations from a blueprint, kept in a file as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve import holdem
from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.holdem import play

KIND = "deviations of a study"


def deviation_scores(
    path: Path,
    plan: str,
    agent: play.RangeAgent,
    blueprint: play.BlueprintAgent,
    *,
    deals: int,
    step: int,
    **options: Any,
) -> dict[str, np.ndarray]:
    """Returns float64 [deals] of each estimator of `play.deviation_match`; goes on where it was.

    Args:
        path: of the file.
        plan: what another part of the same match shares; a file of another plan is not used.
        agent: in one seat.
        blueprint: in all others.
        deals: how many.
        step: deals between two checkpoints.
        options: more of `play.deviation_match`.
    """
    kept: dict[str, np.ndarray] = {}
    if path.exists():
        found, arrays = load_arrays(path, KIND)
        kept = arrays if found["plan"] == plan else {}
    while (first := len(next(iter(kept.values()), ()))) < deals:
        upto = min(first + max(1, step), deals)
        more = play.deviation_match(agent, blueprint, deals=upto, skip=first, **options)
        kept = {name: np.concatenate([kept.get(name, x[:0]), x]) for name, x in more.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        save_arrays(path, {"kind": KIND, "plan": plan}, kept)
    return {name: chips[:deals] for name, chips in kept.items()}


def mean_of(chips: np.ndarray) -> holdem.HandMatch:
    """Returns mbb/h, standard error and p value of chips, float64 [deals]."""
    return holdem.HandMatch(chips[:, None], chips[:, None])

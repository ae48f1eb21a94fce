"""Floors: the least probability with which actions must be played.

A blueprint with a floor under every action is weak in a systematic way, which is what re-solving is
tested with (Zhang & Sandholm 2021, section 7). In a linear program a floor is a constraint. In CFR
a row plays floor + (1 - total floor) * q, and the minimizer learns q (Farina, Kroer & Sandholm
2017, section 3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from jaxsolve.regret import Minimizer, Step
from jaxsolve.subgame._index import GameIndex, index_of
from jaxsolve.tree import PublicTree
from jaxsolve.types import Array


class Floored(NamedTuple):
    """State of a minimizer under a floor: its own, and the floor [A, ...]."""

    inner: Any
    floor: Array


def action_floor(
    tree: PublicTree, epsilon: float, *, player: int = 0, action: str | None = None
) -> np.ndarray:
    """Returns float64 [C], epsilon / m for the actions of a player at infosets of m actions.

    Args:
        tree: a compiled game.
        epsilon: share of every strategy that is not free.
        player: whose actions.
        action: the only one with a floor, by its name, wherever it is legal; every one by default.

    Raises:
        ValueError: epsilon is not in 0..1, or no action has that name (the names are listed).
    """
    return named_floor(index_of(tree), epsilon, player, action)


def named_floor(index: GameIndex, epsilon: float, player: int, action: str | None) -> np.ndarray:
    """Returns the floor of `action_floor`."""
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon must lie between 0 and 1, not {epsilon}")
    rows = index.seats[player].rows
    floor = epsilon / rows.width[rows.row_of]
    if action is None:
        return floor
    used = {int(a): index.info.action_name(player, int(a)) for a in np.unique(rows.action)}
    if action not in used.values():
        raise ValueError(
            f"{index.info.name} has no action {action!r} of player {player}; it has "
            f"{', '.join(sorted(set(used.values())))}"
        )
    named = np.array([used[int(a)] == action for a in rows.action])
    return np.where(named, floor, 0.0)


def floored(minimizer: Minimizer) -> Minimizer:
    """Returns a minimizer of the free part of a strategy; its state must hold the floor.

    `init` starts it without a floor; put one there with `with_floor`.
    """
    return Minimizer(Partial(_init, minimizer.init), Partial(_update, minimizer.update))


def with_floor(state: Floored, floor: Array) -> Floored:
    """Returns the state with a floor [A, ...]."""
    return Floored(state.inner, jnp.asarray(floor, state.floor.dtype))


def _init(init: Any, policy: Array) -> Floored:
    return Floored(init(policy), jnp.zeros_like(policy))


def _update(
    update: Any, state: Floored, step: Step, values: Array, policy: Array, legal: Array
) -> tuple[Floored, Array]:
    free = 1 - state.floor.sum(0)
    safe = jnp.where(free > 0, free, 1)
    q = jnp.where(free > 0, (policy - state.floor) / safe, policy)
    inner, q = update(state.inner, step, values * free, q, legal)
    return Floored(inner, state.floor), state.floor + free * q

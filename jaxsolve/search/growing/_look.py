"""A prior that has looked one move ahead, where a public state is opened."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.regret import normalise
from jaxsolve.search.growing._reach import flow_of, reach_at
from jaxsolve.search.growing._state import GrowingSearch, SearchProblem
from jaxsolve.search.growing._update import action_values
from jaxsolve.types import Array
from jaxsolve.values import scaled_values

SUREST = 0.995
"""Values beyond it, of either sign, count as it: nobody's chance is less than 1 in 400."""


def by_odds(prior: Array, value: Array, legal: Array, temperature: Array | float) -> Array:
    """Returns a prior times exp(atanh(value) / temperature), normalised.

    Args:
        prior: float [A, H], >= 0.
        value: float [A, H], what actions are worth, in units of the largest payoff.
        legal: bool [A, H].
        temperature: > 0.
    """
    odds = jnp.arctanh(jnp.clip(value, -SUREST, SUREST)) / temperature
    most = odds.max(0, where=legal, initial=-jnp.inf)
    return normalise(jnp.where(legal, prior * jnp.exp(jnp.minimum(odds - most, 0)), 0), legal)


def looked(
    search: GrowingSearch,
    problem: SearchProblem,
    store: Any,
    public: Array,
    row: Array,
    reach: Array,
    prior: Array,
    scale: Array,
) -> Array:
    """Returns float [A, H], a prior by the odds of what each action is worth.

    Args:
        search: options; `look` is the temperature.
        problem: what the search is about.
        store: of the model, with the public state open.
        public: int32 [], its number.
        row: int32 [], its row.
        reach: float [2, H], own reaches there.
        prior: float [A, H], what the actor plays until the children are asked about.
        scale: float [], the largest payoff.
    """
    transitions = search.model.transitions(store)
    actor, legal = transitions.actor[row], transitions.legal[row]
    width, hands = transitions.num_children, transitions.num_hands
    flow = flow_of(actor, reach, prior)
    every = jnp.arange(width)
    here = jnp.zeros((), jnp.int32)
    reaches = jax.vmap(lambda k: reach_at(transitions, flow[None], here, row, k))(every)
    child = transitions.child[row]
    asked = search.model.public_state(store, jnp.maximum(child, 0))
    found = scaled_values(problem.value, asked, reaches)
    found = jnp.where(child[:, None, None] >= 0, found * transitions.factor[row][:, None, None], 0)
    found = jnp.pad(jnp.moveaxis(found, 0, 1), ((0, 0), (0, 1), (0, 0)))
    gains, _ = action_values(transitions, row, actor, list(found), flow, hands, hands)
    unit = transitions.weights.against(public, reach)[actor] * scale
    value = jnp.where(unit > 0, gains / jnp.where(unit > 0, unit, 1), 0)
    return by_odds(prior, value, legal, search.look)

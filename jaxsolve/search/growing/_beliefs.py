"""What somebody who sees all that is public believes, read from a tree that has grown."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxsolve.public import PublicModel, Transitions
from jaxsolve.search.growing._reach import reach_at
from jaxsolve.search.growing._solve import Grown
from jaxsolve.search.growing._tree import Growth
from jaxsolve.types import Array


def beliefs_at(model: PublicModel, found: Grown, number: Array) -> Array:
    """Returns float [2, H], probabilities of private states under chance and average policies.

    Args:
        model: of the search.
        found: its outcome.
        number: int32 [], an opened public state; 0 is the root.
    """
    transitions, growth = model.transitions(found.growth.store), found.growth
    acts = jnp.arange(2) == transitions.actor[growth.row[number]]
    flow = found.action_reach[number]
    reach = jnp.where(acts[:, None], flow.sum(1), flow[:, 0])
    return _joint(transitions, growth.public[number], reach)


def beliefs_below(model: PublicModel, found: Grown, number: Array, child: Array) -> Array:
    """Returns float [2, H], likewise at a child of an opened public state.

    Args:
        model: of the search.
        found: its outcome.
        number: int32 [], an opened public state.
        child: int32 [], which child of it; one that is there.
    """
    transitions, growth = model.transitions(found.growth.store), found.growth
    row = growth.row[number]
    reach = reach_at(transitions, found.action_reach, number, row, child)
    return _joint(transitions, transitions.child[row, child], reach)


def depths(growth: Growth) -> np.ndarray:
    """Returns int [N], decisions from the root to each opened public state; on the host."""
    up, out = np.asarray(growth.up), np.zeros(int(growth.num_opened), int)
    for n in range(1, len(out)):
        out[n] = out[up[n]] + 1
    return out


def _joint(transitions: Transitions, public: Array, reach: Array) -> Array:
    both = reach * transitions.weights.against(public, reach)
    sums = both.sum(1, keepdims=True)
    return both / jnp.where(sums > 0, sums, 1)

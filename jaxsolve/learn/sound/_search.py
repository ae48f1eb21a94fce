"""GT-CFR that logs what it asks the network.

Source: Schmid et al. 2023 (Student of Games), supplement, algorithms 1 and 2: queries of a search
are picked from all that it made. Here each is kept with equal probability as they come (reservoir
sampling, Vitter 1985), so that a search of any length needs room for those that are picked only.
Of the two passes of an alternating iteration, queries are of the second.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.search.growing import (
    GrowingSearch,
    Grown,
    PriorFunction,
    SearchState,
    begin,
    finish,
    grow,
    reach_at,
)
from jaxsolve.search.resolving import BeliefSubgame, choose
from jaxsolve.types import Array, PRNGKey, PyTree
from jaxsolve.values import ValueFunction, normalised


class Queries(NamedTuple):
    """Beliefs that a search asked about (L picked, H private states).

    Attributes:
        seen: float [], leaves that it asked about, counted in each iteration.
        root: the public states, as searches may start from them, leading axis L.
        beliefs: float [L, 2, H], each sums to 1.
    """

    seen: Array
    root: PyTree
    beliefs: Array


def logged_search(
    search: GrowingSearch,
    value: ValueFunction,
    subgame: BeliefSubgame,
    key: PRNGKey,
    *,
    prior: PriorFunction | None,
    slots: int,
) -> tuple[Grown, Queries]:
    """Returns the outcome of one search, as `gt_cfr` does, and some of its queries.

    Args:
        search: options.
        value: worth of leaves.
        subgame: where it starts.
        key: draws simulations, with the numbers of `gt_cfr`, and queries.
        prior: of PUCT.
        slots: L, queries to pick, each from all of them.
    """
    root, ranges, gadget, path = subgame
    state, problem = begin(search, value, root, ranges, gadget, path, prior)
    picks = jax.random.fold_in(key, 1 << 31)  # no simulation has that number
    log = Queries(
        jnp.zeros((), ranges.dtype),
        jax.tree.map(lambda x: jnp.broadcast_to(x, (slots, *jnp.shape(x))), root),
        jnp.full((slots, *ranges.shape), 1 / ranges.shape[-1], ranges.dtype),
    )

    def note(state: SearchState, log: Queries) -> Queries:
        return _log(search, state, log, jax.random.fold_in(picks, state.iteration))

    state, log = grow(search, problem, state, key, log, note)
    return finish(search, problem, state), log


def _log(search: GrowingSearch, state: SearchState, log: Queries, key: PRNGKey) -> Queries:
    """Returns the picks after one more iteration, whose leaves are all equally likely to be one."""
    growth, model = state.growth, search.model
    transitions = model.transitions(growth.store)
    leaves = growth.num_leaves
    draws = jax.random.uniform(key, (len(log.beliefs), 2), log.seen.dtype)
    place = jnp.minimum((draws[:, 0] * leaves).astype(jnp.int32), leaves - 1)
    here, child = jnp.divmod(growth.leaf[jnp.maximum(place, 0)], growth.num_children)
    row = growth.row[here]
    public = jnp.maximum(transitions.child[row, child], 0)
    reach = jax.vmap(lambda n, r, k: reach_at(transitions, state.action_reach, n, r, k))(
        here, row, child
    )
    beliefs, _ = normalised(reach, transitions.possible[public])
    seen = log.seen + leaves
    new = draws[:, 1] * seen < leaves
    root = jax.vmap(lambda p: model.root_of(growth.store, p))(public)
    return Queries(
        seen,
        jax.vmap(choose)(new, root, log.root),
        jnp.where(new[:, None, None], beliefs, log.beliefs),
    )

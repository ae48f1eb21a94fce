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

from jaxsolve.search.fixed import Gadget
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
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, normalised


class Queries(NamedTuple):
    """Beliefs that a search asked about (L picked, H private states).

    Attributes:
        seen: float [], leaves that it asked about, counted in each iteration.
        subgame_class: int32 [L], public states.
        beliefs: float [L, 2, H], each sums to 1.
    """

    seen: Array
    subgame_class: Array
    beliefs: Array


def logged_search(
    search: GrowingSearch,
    value: ValueFunction,
    subgame_class: Array,
    ranges: Array,
    key: PRNGKey,
    *,
    gadget: Gadget,
    path_to_focus: Array,
    prior: PriorFunction | None,
    slots: int,
) -> tuple[Grown, Queries]:
    """Returns the outcome of one search, as `gt_cfr` does, and some of its queries.

    Args:
        search: options, in a table.
        value: worth of leaves.
        subgame_class: int32 [], the public state at the root.
        ranges: float [2, H], own reaches of both players there.
        key: draws simulations, with the numbers of `gt_cfr`, and queries.
        gadget: the constraint of re-solving.
        path_to_focus: int32 [W], children on the way to the focus, then -1.
        prior: of PUCT.
        slots: L, queries to pick, each from all of them.
    """
    state, problem = begin(search, value, subgame_class, ranges, gadget, path_to_focus, prior)
    picks = jax.random.fold_in(key, 1 << 31)  # no simulation has that number
    hands = ranges.shape[-1]
    log = Queries(
        jnp.zeros((), ranges.dtype),
        jnp.zeros(slots, jnp.int32),
        jnp.full((slots, 2, hands), 1 / hands, ranges.dtype),
    )

    def note(state: SearchState, log: Queries) -> Queries:
        return _log(search, state, log, jax.random.fold_in(picks, state.iteration))

    state, log = grow(search, problem, state, key, log, note)
    return finish(search, problem, state), log


def _log(search: GrowingSearch, state: SearchState, log: Queries, key: PRNGKey) -> Queries:
    """Returns the picks after one more iteration, whose leaves are all equally likely to be one."""
    growth = state.growth
    transitions = search.model.transitions(growth.store)
    leaves = growth.num_leaves
    draws = jax.random.uniform(key, (len(log.subgame_class), 2), log.seen.dtype)
    place = jnp.minimum((draws[:, 0] * leaves).astype(jnp.int32), leaves - 1)
    here, child = jnp.divmod(growth.leaf[jnp.maximum(place, 0)], growth.num_children)
    subgame_class = jnp.maximum(transitions.child[growth.row[here], child], 0)
    reach = jax.vmap(lambda n, k: reach_at(transitions, growth, state.action_reach, n, k))(
        here, child
    )
    beliefs, _ = normalised(reach, transitions.possible[subgame_class])
    seen = log.seen + leaves
    new = draws[:, 1] * seen < leaves
    return Queries(
        seen,
        jnp.where(new, subgame_class, log.subgame_class),
        jnp.where(new[:, None, None], beliefs, log.beliefs),
    )

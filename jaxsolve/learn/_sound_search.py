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
    Run,
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
        kind: int32 [L], public states.
        beliefs: float [L, 2, H], each sums to 1.
    """

    seen: Array
    kind: Array
    beliefs: Array


def logged_search(
    search: GrowingSearch,
    value: ValueFunction,
    kind: Array,
    ranges: Array,
    key: PRNGKey,
    *,
    gadget: Gadget,
    path: Array,
    prior: PriorFunction | None,
    slots: int,
) -> tuple[Grown, Queries]:
    """Returns the outcome of one search, as `gt_cfr` does, and some of its queries.

    Args:
        search: options, in a table.
        value: worth of leaves.
        kind: int32 [], the public state at the root.
        ranges: float [2, H], own reaches of both players there.
        key: draws simulations, with the numbers of `gt_cfr`, and queries.
        gadget: the constraint of re-solving.
        path: int32 [W], children on the way to the focus, then -1.
        prior: of PUCT.
        slots: L, queries to pick, each from all of them.
    """
    run, task = begin(search, value, kind, ranges, gadget, path, prior)
    picks = jax.random.fold_in(key, 1 << 31)  # no simulation has that number
    hands = ranges.shape[-1]
    log = Queries(
        jnp.zeros((), ranges.dtype),
        jnp.zeros(slots, jnp.int32),
        jnp.full((slots, 2, hands), 1 / hands, ranges.dtype),
    )

    def note(run: Run, log: Queries) -> Queries:
        return _log(search, run, log, jax.random.fold_in(picks, run.iteration))

    run, log = grow(search, task, run, key, log, note)
    return finish(search, task, run), log


def _log(search: GrowingSearch, run: Run, log: Queries, key: PRNGKey) -> Queries:
    """Returns the picks after one more iteration, whose leaves are all equally likely to be one."""
    growth = run.growth
    rows = search.ground.rows(growth.store)
    leaves = growth.num_leaves
    draws = jax.random.uniform(key, (len(log.kind), 2), log.seen.dtype)
    place = jnp.minimum((draws[:, 0] * leaves).astype(jnp.int32), leaves - 1)
    here, child = jnp.divmod(growth.leaf[jnp.maximum(place, 0)], growth.num_children)
    kind = jnp.maximum(rows.child[growth.row[here], child], 0)
    reach = jax.vmap(lambda n, k: reach_at(rows, growth, run.outflow, n, k))(here, child)
    beliefs, _ = normalised(reach, rows.possible[kind])
    seen = log.seen + leaves
    new = draws[:, 1] * seen < leaves
    return Queries(
        seen,
        jnp.where(new, kind, log.kind),
        jnp.where(new[:, None, None], beliefs, log.beliefs),
    )

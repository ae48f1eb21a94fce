"""The state machine of continual re-solving, against a plain walk through the last tree."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.public import PublicTable, actions_limit, no_limit, public_game, public_table
from jaxsolve.search import (
    fixed_resolver,
    growing_resolver,
    growing_search,
    gt_cfr,
    no_gadget,
    resolving,
    solve_belief,
    subgames,
)
from jaxsolve.search.growing import Grown

SMALL = "leduc(suits=1,raises=1)"


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


def nothing(public: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


ZERO = jax.tree_util.Partial(nothing)


def steps_to(where: PublicTable, p: int) -> list[int]:
    out: list[int] = []
    while p:
        out.insert(0, int(where.step[p]))
        p = int(where.parent[p])
    return out


def walked(
    where: PublicTable, found: Grown, steps: list[int]
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Returns (last public state in the tree, steps to it, own reaches, values there), by loops."""
    growth, hands = found.growth, where.num_hands
    here, p, up, k = 0, 0, -1, -1
    used = 0
    for step in steps:
        if here < 0 or not growth.inside[here, step]:
            break
        up, k, p = here, step, int(where.children[p, step])
        here = int(growth.opened[here, step])
        used += 1
    pairs = where.transitions.parents_of[growth.row[up], k]
    reach = np.zeros((2, hands))
    for i in range(2):
        flat = found.action_reach[up, i].reshape(-1)
        for h in range(hands):
            reach[i, h] = sum(flat[code] for code in pairs[i, h])
    return p, used, reach, np.asarray(found.child_values[up, :, k])


@pytest.mark.slow
def test_the_state_is_that_of_the_last_public_state_in_the_tree():
    where = table(SMALL)
    resolver = growing_resolver(where, js.cfr_plus(2.0), simulations=12)
    engine = resolver.engine

    @jax.jit
    def search(key: Any) -> Any:
        state = resolving.init(engine, resolver.root)
        return resolving.search(engine, state, jnp.int32(0), ZERO, None, key, alpha=0.5)

    state, found = search(jax.random.key(3))
    arrays = jax.device_get(found)
    move = jax.jit(functools.partial(resolving.follow, engine))
    seen = set()
    for p in range(1, len(where.parent)):
        steps = steps_to(where, p)
        path = np.full(engine.longest_path, -1, np.int32)
        path[: len(steps)] = steps
        after = move(state, engine.tree(found), jnp.asarray(path))
        last, used, reach, values = walked(where, arrays, steps)
        assert int(after.root) == where.subgame_class[last]
        left = [int(k) for k in after.path_to_focus if k >= 0]
        assert left == steps[used:]
        assert int(after.length) == len(left)
        np.testing.assert_allclose(after.ranges, reach, atol=1e-6)
        np.testing.assert_allclose(after.promised, values, atol=1e-6)
        assert bool(after.bound)
        seen.add(len(left))
    assert {0, 1, 2} <= seen


def test_ranges_and_gadgets_of_other_private_states_are_refused():
    """When a search is traced, before anything is compiled."""
    where = table("kuhn")  # 3 cards
    searched = subgames(public_game(games.load("kuhn")), no_limit)
    growing = growing_search(where, js.cfr_plus(), simulations=2)

    def fixed(ranges: Any, gadget: Any) -> Any:
        return solve_belief(searched, None, js.pcfr_plus(), 0, ranges, gadget, iterations=2)

    def grown(ranges: Any, gadget: Any) -> Any:
        key = jax.random.key(0)
        return gt_cfr(growing, ZERO, jnp.int32(0), ranges, key, gadget=gadget)

    right, four = jnp.ones((2, 3)), jnp.ones((2, 4))
    for search in (fixed, grown):
        jax.eval_shape(search, right, no_gadget(3))
        for ranges, gadget in ((four, no_gadget(3)), (right, no_gadget(4)), (right[0], None)):
            with pytest.raises(AssertionError, match=r"ranges and alternative values are \[2, 3\]"):
                jax.eval_shape(search, ranges, gadget)


@pytest.mark.slow  # two compiled searches
def test_a_search_goes_on_where_a_tree_to_a_depth_limit_ends():
    """One action deep, player 1's first decision is at the limit of the first search."""
    where = table("kuhn")
    resolver = fixed_resolver(where, actions_limit(1), js.pcfr_plus(), iterations=20, grouped=False)
    engine, key = resolver.engine, None

    @jax.jit
    def decide(path: Any) -> Any:
        state = resolving.init(engine, resolver.root)
        state = resolving.follow(engine, state, engine.blank(resolver.root), path)
        state, found = resolving.search(engine, state, jnp.int32(1), ZERO, None, key, alpha=0.5)
        return state, engine.policy(found, state.at)

    composed = resolving.resolve_game(resolver, ZERO)
    for p in np.flatnonzero(where.actor == 1):
        path = np.full(engine.longest_path, -1, np.int32)
        steps = steps_to(where, int(p))
        path[: len(steps)] = steps
        state, policy = decide(jnp.asarray(path))
        assert int(state.root) == where.subgame_class[p]
        assert (int(state.length), int(state.at)) == (0, 0)
        np.testing.assert_allclose(policy, composed[p], atol=1e-5)

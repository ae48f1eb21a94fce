"""Continual re-solving with growing trees: the policy of all searches is near an equilibrium."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, public_table
from jaxsolve.search import growing_resolver, resolve_game, table_oracle
from jaxsolve.search.resolving._resolve_game import next_decisions, search_batch

SMALL = "leduc(suits=1,raises=1)"
OURS = js.cfr_plus(2.0)


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


def nothing(state: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


ZERO = jax.tree_util.Partial(nothing)


def uniform(where: PublicTable) -> np.ndarray:
    legal = where.transitions.legal[where.subgame_class]
    return legal / np.maximum(legal.sum(1, keepdims=True), 1)


@pytest.mark.slow
def test_more_simulations_bring_the_composed_policy_to_the_equilibrium():
    where = table("kuhn")
    value = table_oracle(where, js.pcfr_plus(), iterations=30)
    gaps, tables = {}, {}
    for s in (10, 300):
        # Equal capacities: the second search compiles nothing.
        resolver = growing_resolver(where, OURS, simulations=s, capacity=4, batch=4, tile=1)
        traces = search_batch._cache_size()
        tables[s] = [resolve_game(resolver, value, jax.random.key(k)) for k in range(2)]
        gaps[s] = [respond(where, t).exploitability for t in tables[s]]
        assert s == 10 or search_batch._cache_size() == traces
    assert max(gaps[300]) < 3e-3
    assert max(gaps[300]) < min(gaps[10])
    assert not np.array_equal(*tables[10])  # seeds differ
    again = resolve_game(resolver, value, jax.random.key(0))
    np.testing.assert_array_equal(again, tables[300][0])
    every = resolve_game(resolver, value, jax.random.key(0), when="every")
    assert respond(where, every).exploitability < 3e-3
    assert not np.array_equal(every, again)  # searches at the opponent's decisions came before
    tree = js.compile(games.load("kuhn"))
    assert float(js.exploitability(tree, where.policy_of(tree, again))) == pytest.approx(
        gaps[300][0], abs=1e-5
    )


@pytest.mark.slow
def test_small_trees_in_deep_games_find_their_roots():
    """With few simulations most public states were never in a tree; every row is a policy."""
    where = table(SMALL)
    resolver = growing_resolver(where, OURS, simulations=8)
    found = resolve_game(resolver, ZERO, jax.random.key(0))
    held = where.possible[np.arange(len(where.actor)), where.actor]
    np.testing.assert_allclose(found.sum(1)[held], 1, atol=1e-5)
    assert respond(where, found).exploitability < respond(where, uniform(where)).exploitability


@pytest.mark.long
def test_glasses_by_searches_with_solved_leaves():
    """Private states that many ways lead to, and public states that one action splits."""
    where = table("scotland_yard(rounds=3)")
    value = table_oracle(where, js.pcfr_plus(), iterations=20)
    resolver = growing_resolver(where, OURS, simulations=300, batch=1, tile=1)
    found = respond(where, resolve_game(resolver, value, jax.random.key(0)))
    assert found.exploitability < 0.01
    assert found.best[0] == pytest.approx(-1 / 3, abs=0.01)  # what Mr X can make of it
    assert found.best[1] == pytest.approx(1 / 3, abs=0.01)  # what the detectives can


@pytest.mark.slow  # seconds of compilation
def test_one_action_at_a_time_in_perfect_information():
    """A pruned action has no tree below it: its search starts above, under the gadget."""
    where = table("tic_tac_toe(rows=3,columns=2)")
    resolver = growing_resolver(where, js.cfr_plus().simultaneous(), simulations=40, top=1)
    found = resolve_game(resolver, ZERO, jax.random.key(0))
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
    assert respond(where, found).exploitability < respond(where, uniform(where)).exploitability


def test_next_decisions_are_the_first_on_every_way():
    where = table(SMALL)
    for seat in (0, 1):
        first = [
            n
            for n in np.flatnonzero(where.actor == seat)
            if not any(where.actor[up] == seat for up in _above(where.parent, int(n)))
        ]
        assert sorted(next_decisions(where, 0, seat)) == sorted(first)


def _above(parent: np.ndarray, node: int) -> list[int]:
    out = []
    while parent[node] >= 0:
        node = int(parent[node])
        out.append(node)
    return out


def test_bad_input():
    where = table("kuhn")
    with pytest.raises(ValueError, match="alpha is a share"):
        growing_resolver(where, js.cfr_plus(), simulations=1, alpha=1.5)
    with pytest.raises(ValueError, match="batch must be positive"):
        growing_resolver(where, js.cfr_plus(), simulations=1, batch=0)
    other = nets.make_net(table(SMALL), nets.ValueNetwork(8, 1), jax.random.key(0))
    resolver = growing_resolver(where, js.cfr_plus(), simulations=1)
    with pytest.raises(ValueError, match="this network is of leduc"):
        resolve_game(resolver, other, jax.random.key(0))
    with pytest.raises(ValueError, match="needs a key"):
        resolve_game(resolver, ZERO)
    with pytest.raises(ValueError, match="has no end"):
        resolve_game(resolver, ZERO, jax.random.key(0), when="end")

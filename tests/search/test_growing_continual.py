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
from jaxsolve.search import (
    compose_growing,
    growing_resolver,
    oracle,
    policy_of,
    public_game,
)
from jaxsolve.search._growing_continual import _next_decisions, _search_batch


@functools.cache
def made(name: str) -> Any:
    return public_game(games.load(name))


def gap(name: str, table: np.ndarray) -> float:
    tree = js.compile(games.load(name), layout="hands")
    return float(js.exploitability(tree, policy_of(tree, made(name), table)))


@pytest.mark.slow  # a minute of compiling
def test_more_simulations_bring_the_composed_policy_to_the_equilibrium():
    game = made("kuhn")
    value = oracle(game, js.pcfr_plus(), iterations=30)
    resolvers = {s: growing_resolver(game, js.cfr_plus(2.0), simulations=s) for s in (10, 1000)}
    tables = {
        s: [compose_growing(r, value, jax.random.key(k)) for k in range(2)]
        for s, r in resolvers.items()
    }
    gaps = {s: [gap("kuhn", t) for t in found] for s, found in tables.items()}
    assert max(gaps[1000]) < 3e-3
    assert max(gaps[1000]) < min(gaps[10])
    assert not np.array_equal(*tables[10])  # seeds differ
    traces = _search_batch._cache_size()
    again = compose_growing(resolvers[1000], value, jax.random.key(0))
    assert _search_batch._cache_size() == traces
    np.testing.assert_array_equal(again, tables[1000][0])


@pytest.mark.slow  # a minute of compiling
def test_small_trees_with_deep_games_find_their_roots():
    """With two simulations most public states were never in a tree; every row is a policy."""
    name = "leduc(suits=1,raises=1)"
    game = made(name)
    zero = jax.tree_util.Partial(lambda kind, beliefs: jnp.zeros_like(beliefs))
    resolver = growing_resolver(game, js.cfr_plus(2.0), simulations=2)
    table = compose_growing(resolver, zero, jax.random.key(0))
    for node in np.flatnonzero(game.actor >= 0):
        rows = table[node, : len(game.children[node])]
        possible = game.possible[node, game.actor[node]]
        np.testing.assert_allclose(rows.sum(0)[possible], 1, atol=1e-5)
    uniform = np.zeros_like(table)
    for node in np.flatnonzero(game.actor >= 0):
        count = len(game.children[node])
        uniform[node, :count] = 1 / count
    assert gap(name, table) < gap(name, uniform)


def test_next_decisions_are_the_first_on_every_way():
    game = made("leduc(suits=1,raises=1)")
    for seat in (0, 1):
        found = _next_decisions(game, game.root, seat)
        acts = np.flatnonzero(game.actor == seat)
        first = [
            n for n in acts if not any(game.actor[up] == seat for up in _above(game.parent, int(n)))
        ]
        assert found == sorted(first)


def _above(parent: np.ndarray, node: int) -> list[int]:
    out = []
    while parent[node] >= 0:
        node = int(parent[node])
        out.append(node)
    return out


def test_bad_input():
    with pytest.raises(ValueError, match="alpha is a share"):
        growing_resolver(made("kuhn"), js.cfr_plus(), simulations=1, alpha=1.5)

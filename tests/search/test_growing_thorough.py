"""Simulations that pass by what is open to its ends: nothing is wasted, and the tree is whole."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, public_table, rules_model
from jaxsolve.search import (
    Grown,
    growing_resolver,
    growing_search,
    gt_cfr,
    no_gadget,
    resolve_game,
)

SMALL = "leduc(suits=1,raises=1)"
OURS = js.cfr_plus(2.0)


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


def nothing(state: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


ZERO = jax.tree_util.Partial(nothing)
_search = jax.jit(gt_cfr)


def grown(simulations: int, *, skip_solved: bool, path: tuple[int, ...] = ()) -> Grown:
    where = table(SMALL)
    options = growing_search(
        where, OURS, simulations=simulations, capacity=where.below[0], skip_solved=skip_solved
    )
    way = jnp.asarray([*path, -1, -1][:2], jnp.int32)
    ranges = jnp.ones((2, where.num_hands))
    gadget = no_gadget(where.num_hands)
    key = jax.random.key(0)
    return _search(options, ZERO, jnp.int32(0), ranges, key, gadget=gadget, path_to_focus=way)


@pytest.mark.slow
def test_every_simulation_opens_something_until_all_is_open():
    size = int(table(SMALL).below[0])
    assert size > 12
    few, many, paper = (
        grown(8, skip_solved=True),
        grown(60, skip_solved=True),
        grown(60, skip_solved=False),
    )
    assert few.growth.num_opened == 9
    assert not few.growth.done[0]
    assert (many.growth.num_opened, many.growth.num_leaves) == (size, 0)
    assert many.growth.done[:size].all()
    assert many.growth.visits[0].sum() < 60  # the rest of the simulations have nothing to do
    assert paper.growth.visits[0].sum() == 60


def test_what_is_done_has_nothing_left_below():
    growth = grown(8, skip_solved=True).growth
    rows, count = table(SMALL).transitions, int(growth.num_opened)
    for node in range(count):
        real = rows.child[int(growth.row[node])] >= 0
        below = np.asarray(growth.opened[node])[real]
        assert growth.done[node] == all(b >= 0 and growth.done[b] for b in below)
    assert 0 < growth.done[:count].sum() < count


def test_grows_below_the_focus_first():
    where = table(SMALL)
    step = int(np.argmax(where.children[0] >= 0))
    node = int(where.children[0, step])
    size = int(where.below[node])
    first = grown(size // 2, skip_solved=True, path=(step,))
    assert int(first.focus) == 1
    assert not first.growth.done[1]
    count = int(first.growth.num_opened)
    inside = np.asarray(first.growth.up)[2:count]
    assert (inside > 0).all()  # nothing beside the way
    more = grown(300, skip_solved=True, path=(step,))
    assert more.growth.done[1]
    assert more.growth.num_opened > 1 + size


@pytest.mark.slow  # half a minute of compiling
def test_with_worthless_leaves_comes_to_the_equilibrium():
    where = table("kuhn")
    gaps = {}
    for skip_solved in (False, True):
        resolver = growing_resolver(
            where, OURS, simulations=300, capacity=4, skip_solved=skip_solved
        )
        found = resolve_game(resolver, ZERO, jax.random.key(0))
        gaps[skip_solved] = respond(where, found).exploitability
    assert gaps[True] < 3e-3
    assert gaps[False] > 10 * gaps[True]  # leaves beside the way are never opened


@pytest.mark.long  # seconds of compiling
def test_leduc_needs_no_network_with_many_simulations():
    where = table("leduc")
    resolver = growing_resolver(where, OURS, simulations=600, skip_solved=True)
    found = resolve_game(resolver, ZERO, jax.random.key(0))
    # About 1 thousandth of a chip; without being skip_solved it is about 200.
    assert respond(where, found).exploitability < 0.02


@pytest.mark.slow  # seconds of compiling
def test_the_tree_from_the_rules_is_that_of_the_table():
    where = table("kuhn")
    options: dict[str, Any] = {"simulations": 3, "capacity": 4, "skip_solved": True}
    model, root = rules_model(
        games.load("kuhn"), depth=3, worlds=6, hands=3, children=2, actions=2, scale=2.0
    )
    ranges, key = jnp.ones((2, 3)), jax.random.key(0)
    want = _search(growing_search(where, OURS, **options), ZERO, jnp.int32(0), ranges, key)
    got = _search(growing_search(model, OURS, **options), ZERO, root, ranges, key)
    np.testing.assert_array_equal(got.growth.opened, want.growth.opened)
    np.testing.assert_array_equal(got.growth.done, want.growth.done)
    assert want.growth.done.all()
    np.testing.assert_allclose(got.average, want.average, atol=1e-5)

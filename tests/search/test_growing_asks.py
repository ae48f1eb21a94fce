"""Growing trees that ask the value function about all leaves in some iterations only."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.public import PublicTable, hidden_piece_model, public_table
from jaxsolve.search import Grown, growing_search, gt_cfr

SMALL = "leduc(suits=1,raises=1)"
CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3],rounds=3,"
    "reveals=[2],doubles=1)"
)
PAPER = js.cfr_plus().simultaneous()
TRACED: list[Any] = []


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


def worth(state: Any, share: Any) -> Any:
    """Values that differ by private state, by public state, and by a number for each."""
    number = state.features.sum(-1) + 2.0 * state.subgame_class
    hands = 2.0 * jnp.arange(state.possible.shape[-1])
    value = jnp.cos(3 * number[:, None] + hands) - share[:, None]
    return jnp.stack([value, -value], 1)


@jax.tree_util.Partial
def fixed(state: Any, beliefs: Any) -> Any:
    """Beliefs change nothing."""
    return worth(state, jnp.ones(len(beliefs)))


@jax.tree_util.Partial
def moving(state: Any, beliefs: Any) -> Any:
    """What player 0 is believed to hold does."""
    return worth(state, beliefs[:, 0, 0])


@jax.tree_util.Partial
def first(state: Any, beliefs: Any) -> Any:
    """What `moving` says where nobody has told anything yet."""
    possible = state.possible[:, 0]
    return worth(state, possible[:, 0] / possible.sum(1))


@jax.jit
def _search(search: Any, value: Any, root: Any, ranges: Any) -> Grown:
    TRACED.append(value)
    return gt_cfr(search, value, root, ranges, jax.random.key(0))


def same(one: Grown, two: Grown) -> None:
    np.testing.assert_array_equal(one.growth.opened, two.growth.opened)
    for name in ("average", "root_values", "child_values", "action_reach"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=2e-5, err_msg=name)


@pytest.mark.parametrize("solver", [PAPER, js.cfr_plus()], ids=["simultaneous", "alternating"])
def test_where_beliefs_change_nothing_it_does_not_matter_when_one_asks(solver: Any) -> None:
    ranges = jnp.asarray([[1.0, 0.2, 0.7], [0.5, 1.0, 0.1]])
    found = [
        _search(
            growing_search(table(SMALL), solver, simulations=12, capacity=14, ask_every=every),
            fixed,
            jnp.int32(0),
            ranges,
        )
        for every in (1, 3, 1000)
    ]
    for other in found[1:]:
        same(found[0], other)
    assert found[0].asked > found[1].asked > found[2].asked
    if not solver.alternating:  # every leaf once: what is in the tree when the last update begins
        late = _search(
            growing_search(table(SMALL), solver, simulations=11, capacity=14, ask_every=1000),
            fixed,
            jnp.int32(0),
            ranges,
        )
        assert found[2].asked == late.growth.inside.sum()


def test_where_numbers_change_and_where_they_stay() -> None:
    """The rules of a chase on a map, of which the leaves below Mr X are read in another way."""
    rules: Any = games.load(CHASE)
    model, root = hidden_piece_model(rules)
    ranges = jnp.ones((2, model.hands[0]))
    one, two = (
        _search(growing_search(model, PAPER, simulations=25, ask_every=every), fixed, root, ranges)
        for every in (1, 4)
    )
    same(one, two)
    assert two.asked < one.asked / 2


def test_an_answer_is_of_the_beliefs_it_was_asked_about() -> None:
    """A tree that does not grow has 40 iterations with the answers of the first, at even play."""
    still: dict[str, Any] = {"simulations": 1, "per_update": 1 / 40}
    ranges = jnp.ones((2, 3))
    old, new, told = (
        _search(
            growing_search(table("kuhn"), PAPER, **still, ask_every=every),
            value,
            jnp.int32(0),
            ranges,
        )
        for value, every in ((moving, 1000), (moving, 1), (first, 1))
    )
    np.testing.assert_allclose(old.policy, told.policy, atol=1e-6)
    np.testing.assert_allclose(old.root_values, told.root_values, atol=1e-6)
    assert abs(new.root_values - old.root_values).max() > 0.01
    leaves = 2
    again = _search(
        growing_search(table("kuhn"), PAPER, **still, ask_every=7), moving, jnp.int32(0), ranges
    )
    assert (new.asked, old.asked, again.asked) == (40 * leaves, leaves, 6 * leaves)


def test_another_number_compiles_nothing() -> None:
    for every in (2, 5):
        search = growing_search(table("kuhn"), PAPER, simulations=3, ask_every=every)
        _search(search, fixed, jnp.int32(0), jnp.ones((2, 3)))
        if every == 2:
            before = len(TRACED)
    assert len(TRACED) == before

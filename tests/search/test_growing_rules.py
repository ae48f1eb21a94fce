"""Trees grown from the rules inside the search: the trees of the game's table, and what is full."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.public import PublicTable, listed_model, public_table, rules_model
from jaxsolve.search import Grown, growing_search, gt_cfr
from jaxsolve.types import Status

PAPER = js.cfr_plus().simultaneous()
ROOM: dict[str, dict[str, Any]] = {
    "kuhn": {"worlds": 6, "hands": 3, "children": 2, "actions": 2, "scale": 2.0},
    "leduc": {"worlds": 30, "hands": 6, "children": 7, "actions": 3, "outcomes": 6, "scale": 13.0},
    "liars_dice(sides=3)": {"worlds": 9, "hands": 3, "children": 7},
    "tic_tac_toe(rows=2,columns=2,line=2)": {"worlds": 1, "hands": 1, "children": 4},
    "scotland_yard(rounds=3)": {
        "worlds": 12,
        "hands": 11,
        "children": 3,
        "actions": 3,
        "merged": 4,
    },
}


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


def nothing(state: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


ZERO = jax.tree_util.Partial(nothing)
_search = jax.jit(gt_cfr)


def grown(name: str, simulations: int, solver: Any, **room: Any) -> Grown:
    """A search from the rules."""
    options = {"depth": listed_model(table(name)).depth, **ROOM[name], **room}
    model, root = rules_model(games.load(name), **options)
    search = growing_search(model, solver, simulations=simulations)
    ranges = jnp.ones((2, max(model.hands)))
    return _search(search, ZERO, root, ranges, jax.random.key(0))


@pytest.mark.parametrize(
    "name",
    [
        "kuhn",
        pytest.param("leduc", marks=pytest.mark.slow),
        pytest.param("liars_dice(sides=3)", marks=pytest.mark.slow),
        pytest.param("tic_tac_toe(rows=2,columns=2,line=2)", marks=pytest.mark.slow),
    ],
)
def test_the_tree_is_that_of_the_table(name: str):
    """Trees from the rules equal those of a table, node by node.

    Children come in the order of actions and outcomes, so equal keys grow equal trees.
    """
    where = table(name)
    search = growing_search(where, PAPER, simulations=60, capacity=max(61, where.below[0]))
    want = _search(search, ZERO, jnp.int32(0), jnp.ones((2, where.num_hands)), jax.random.key(0))
    got = grown(name, 60, PAPER)
    count, width = int(want.growth.num_opened), where.transitions.num_children
    actions, hands = where.transitions.num_actions, where.num_hands
    assert got.status == 0
    assert got.growth.num_opened == count > 3
    np.testing.assert_array_equal(got.growth.opened[:count, :width], want.growth.opened[:count])
    np.testing.assert_array_equal(got.growth.visits[:count, :actions], want.growth.visits[:count])
    np.testing.assert_allclose(
        got.average[:count, :actions, :hands], want.average[:count], atol=1e-5
    )
    np.testing.assert_allclose(
        got.child_values[:count, :, :width, :hands], want.child_values[:count], atol=1e-5
    )
    found = got.growth.store.features[got.growth.public[:count]]
    classes = np.asarray(want.growth.public)[:count]
    np.testing.assert_allclose(found, where.features[classes], atol=1e-6)


@pytest.mark.slow
def test_ways_that_meet_are_merged():
    """Glasses with three rounds: the whole tree is opened, and CFR finds its value."""
    name = "scotland_yard(rounds=3)"
    got = grown(name, 400, js.cfr_plus(2.0))
    assert got.status == 0
    assert (got.growth.num_opened, got.growth.num_leaves) == (table(name).below[0], 0)
    assert got.root_values[0].sum() == pytest.approx(-1 / 3, abs=5e-3)
    assert got.root_values[1].sum() == pytest.approx(1 / 3, abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "room", "bit"),
    [
        ("leduc", {"children": 3}, Status.CHILDREN),
        ("scotland_yard(rounds=3)", {"merged": 1}, Status.LISTS),
        ("scotland_yard(rounds=3)", {"worlds": 2}, Status.WORLDS),
    ],
)
def test_what_does_not_fit_is_said(name: str, room: dict[str, int], bit: int):
    assert int(grown(name, 20, PAPER, **room).status) & bit


def test_bad_input():
    with pytest.raises(ValueError, match=r"use worlds=6, hands=\(3, 3\) or more"):
        rules_model(games.load("kuhn"), depth=3, worlds=2, hands=2, children=2)
    with pytest.raises(ValueError, match="has 3 players"):
        rules_model(games.load("kuhn(players=3)"), depth=3, worlds=2, hands=2, children=2)
    with pytest.raises(ValueError, match="must be positive"):
        rules_model(games.load("kuhn"), depth=0, worlds=6, hands=3, children=2)
    with pytest.raises(ValueError, match="the first deal is not private"):
        rules_model(games.load("goofspiel(cards=3)"), depth=3, worlds=9, hands=9, children=9)

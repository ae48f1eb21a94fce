"""Trees grown from the rules inside the search: the trees of the game's table, and what is full."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.public import (
    PublicTable,
    RulesModel,
    Worlds,
    hidden_piece_model,
    made_model,
    public_table,
    rules_model,
)
from jaxsolve.search import Grown, growing_search, gt_cfr, table_oracle
from jaxsolve.types import Status

PAPER = js.cfr_plus().simultaneous()
CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,2],detectives=[5],rounds=3)"
ROOM: dict[str, dict[str, Any]] = {
    "kuhn": {"worlds": 6, "hands": 3, "children": 2, "actions": 2, "scale": 2.0},
    "leduc": {"worlds": 30, "hands": 6, "children": 7, "actions": 3, "outcomes": 6},
    "liars_dice(sides=3)": {"worlds": 9, "hands": 3, "children": 7},
    "tic_tac_toe(rows=2,columns=2,line=2)": {"worlds": 1, "hands": 1, "children": 4},
    CHASE: {"worlds": 4, "hands": (4, 1), "children": 3, "actions": 3, "merged": 3, "branches": 1},
    "scotland_yard(rounds=3)": {
        "worlds": 12,
        "hands": (11, 1),
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


def rules_of(name: str, **room: Any) -> tuple[RulesModel, Worlds]:
    """The rules of a game, and the worlds where it begins."""
    return rules_model(games.load(name), **{"depth": table(name).depth, **ROOM[name], **room})


def grown(name: str, simulations: int, solver: Any, **room: Any) -> Grown:
    """A search from the rules."""
    model, root = rules_of(name, **room)
    search = growing_search(model, solver, simulations=simulations)
    ranges = jnp.ones((2, max(model.hands)))
    return _search(search, ZERO, root, ranges, jax.random.key(0))


@pytest.mark.slow  # test_resolving_rules.py grows such trees in the default suite
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("kuhn", marks=pytest.mark.long),
        CHASE,  # four private states against one
        "leduc",
        pytest.param("liars_dice(sides=3)", marks=pytest.mark.long),
        "tic_tac_toe(rows=2,columns=2,line=2)",
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
    if not where.format.num_features:
        return
    # One network says the same of both.
    net = nets.make_net(where, nets.ValueNetwork(8, 1), jax.random.key(1), uniform_play=False)
    model, _ = rules_of(name)
    net.check(model)
    listed = where.states.at(want.growth.public[:count])
    grew = model.public_state(got.growth.store, got.growth.public[:count])
    np.testing.assert_allclose(grew.scale, listed.scale)
    assert (grew.subgame_class == -1).all()
    ask = jax.jit(lambda state, beliefs: net(state, beliefs))
    beliefs = learn.draw_beliefs(listed.possible, jax.random.key(2))
    np.testing.assert_array_equal(grew.features, listed.features)
    np.testing.assert_allclose(ask(grew, beliefs), ask(listed, beliefs), atol=1e-6)


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


@pytest.mark.slow  # it compiles the opening of a public state of the London map
def test_a_store_of_london_is_small():
    """Pairs that never meet cost nothing: 199 stations against one private state."""
    game = games.load("scotland_yard(board=london)")
    room = {"children": 48, "actions": 48, "merged": 12, "branches": 1}
    model, root = rules_model(game, depth=144, worlds=199, hands=(199, 1), **room)
    store = jax.eval_shape(lambda x: model.start(x, 50, jnp.float32)[0], root)
    size = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(store))
    assert store.transitions.weights.pairs.shape == (1 + 50 * 48, 199, 1)
    assert store.transitions.payoffs.pairs.shape == (50, 48, 199, 1)
    assert size < 150e6

    def first(root: Worlds) -> Any:
        store, number = model.start(root, 2, jnp.float32)
        return model.open(store, number, jnp.int32(0), jnp.bool_(True))[0]

    program = jax.jit(first).lower(root).compile()
    assert program.memory_analysis().temp_size_in_bytes < 150e6
    opened = program(root)
    assert opened.status == 0
    # Mr X starts at one of 13 stations; the detectives see the ticket that he uses.
    assert int(opened.transitions.possible[0, 0].sum()) == 13
    assert 1 < int((opened.transitions.child[0] >= 0).sum()) <= 8


def test_value_functions_that_do_not_fit_are_refused():
    where = table("kuhn")
    model, root = rules_of("kuhn")
    search = growing_search(model, PAPER, simulations=4)
    ranges, key = jnp.ones((2, 3)), jax.random.key(0)
    told = nets.make_net(where, nets.ValueNetwork(4, 1), key)
    for value, message in (
        (told, "uniform_play=False"),
        (table_oracle(where, PAPER, iterations=1), "subgame_class is -1"),
        (nets.make_net(public_table(games.load("leduc")), told.module, key), "is of leduc"),
    ):
        with pytest.raises(ValueError, match=message):
            gt_cfr(search, value, root, ranges, key)
    with pytest.raises(ValueError, match="use uniform_play=False"):
        nets.make_net(model, told.module, key, uniform_play=True)
    other, _ = rules_of("kuhn", scale=3.0)
    plain = nets.make_net(where, told.module, key, uniform_play=False)
    plain.check(model)
    with pytest.raises(ValueError, match=r"in units of 2, .* in units of 3: make the model"):
        plain.check(other)


def test_bad_input():
    with pytest.raises(ValueError, match=r"use worlds=6, hands=\(3, 3\) or more"):
        rules_model(games.load("kuhn"), depth=3, worlds=2, hands=2, children=2)
    with pytest.raises(ValueError, match="has 3 players"):
        rules_model(games.load("kuhn(players=3)"), depth=3, worlds=2, hands=2, children=2)
    with pytest.raises(ValueError, match="must be positive"):
        rules_model(games.load("kuhn"), depth=0, worlds=6, hands=3, children=2)
    with pytest.raises(ValueError, match="the first deal is not private"):
        rules_model(games.load("goofspiel(cards=3)"), depth=3, worlds=9, hands=9, children=9)
    stuck = games.load("scotland_yard(edges=[[1,2],[2,9]],evader=[1],detectives=[2],rounds=2)")
    for model in (public_table, hidden_piece_model, made_model):
        with pytest.raises(ValueError, match="is over before anybody decides"):
            model(stuck)
    room = {"depth": 3, "worlds": 6, "hands": 3, "children": 2}
    half: Any = SimpleNamespace(name="half", num_players=2, init=games.Kuhn().init)
    with pytest.raises(ValueError, match="have no method actor, legal, chance, step, observe"):
        rules_model(half, **room)
    with pytest.raises(ValueError, match=r"observe\(state\) shows nothing in public"):
        rules_model(Mute(), **room)


class Mute(games.Kuhn):
    """Shows nothing in public."""

    def observe(self, state: Any) -> Any:
        public, private = super().observe(state)
        return public[:0], private

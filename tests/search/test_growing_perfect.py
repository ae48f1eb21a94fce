"""Perfect information: what is known of a leaf at once is what would be asked at each iteration."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.public import PublicState, made_model, rules_model
from jaxsolve.public._made import ALTERNATES
from jaxsolve.search import Grown, growing_resolver, growing_search, gt_cfr, resolving

PAPER = js.cfr_plus().simultaneous()
QUICK_TO_COMPILE = {"pgx:connect_four", "pgx:go_9x9", "pgx:othello", "pgx:tic_tac_toe"}
ROOM = {"depth": 9, "worlds": 1, "children": 9, "branches": 1}


def worth(state: PublicState, beliefs: jax.Array) -> jax.Array:
    """Any function of the board."""
    number = jnp.sin(3 * state.features @ jnp.arange(1.0, 1 + state.features.shape[-1]))
    both = number[:, None, None] * jnp.asarray([1.0, -1.0])[:, None]
    return jnp.where(state.possible, both, 0) * jnp.ones_like(beliefs)


def likely(state: PublicState, beliefs: jax.Array) -> jax.Array:
    """Any policy that depends on the board."""
    size = state.features.shape[-1]
    logits = jnp.cos(state.features @ jnp.arange(9.0 * size).reshape(size, 9))
    return jnp.broadcast_to(jnp.exp(logits)[..., None], (*logits.shape, beliefs.shape[-1]))


def grown(hands: int, top: int | None, per_update: float) -> Grown:
    """A search of tic-tac-toe with room for so many private states of each player."""
    model, root = rules_model(games.load("pgx:tic_tac_toe"), hands=hands, **ROOM)
    options = growing_search(model, PAPER, simulations=24, top=top, per_update=per_update)
    even = jnp.ones((2, hands))
    found = jax.jit(lambda key: gt_cfr(options, worth, root, even, key, prior=likely))
    return found(jax.random.key(3))


@pytest.mark.parametrize(
    ("top", "per_update"),
    [(1, 1.0), pytest.param(None, 4.0, marks=pytest.mark.slow)],
)
def test_leaves_asked_once_give_the_search_that_asks_each_time(
    top: int | None, per_update: float
) -> None:
    once, each = grown(1, top, per_update), grown(2, top, per_update)
    np.testing.assert_array_equal(once.growth.up, each.growth.up)
    np.testing.assert_array_equal(once.growth.visits[..., 0], each.growth.visits[..., 0])
    np.testing.assert_allclose(once.average[..., 0], each.average[..., 0], atol=1e-5)
    np.testing.assert_allclose(once.root_values[:, 0], each.root_values[:, 0], atol=1e-5)
    np.testing.assert_allclose(once.action_values[..., 0], each.action_values[..., 0], atol=1e-5)
    assert int(once.asked) < int(each.asked)


@pytest.mark.slow  # test_hidden_piece.py looks for such copies in the default suite
@pytest.mark.parametrize("per_update", [2, 1])
def test_a_simulation_does_not_copy_what_is_opened(per_update: int) -> None:
    """XLA had copied features, boards and all else twice for each, where leaves are asked about."""
    model, root = made_model(games.load("pgx:tic_tac_toe"))
    search = growing_search(model, PAPER, simulations=6, per_update=per_update, top=1)
    features = model.start(root, 7, jnp.float32)[0].features

    def one(key: jax.Array, root: Any) -> jax.Array:
        return gt_cfr(search, worth, root, jnp.ones((2, 1)), key, prior=likely).policy

    keys = jax.random.split(jax.random.key(0), 3)
    roots = jax.tree.map(lambda x: jnp.stack([x] * 3), root)
    text = jax.jit(jax.vmap(one)).lower(keys, roots).compile().as_text()
    shape = ",".join(map(str, (3, *features.shape)))
    assert f"f32[{shape}]" in text
    assert not re.findall(rf"f32\[{shape}\]\S* copy\(", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK_TO_COMPILE else pytest.param(name, marks=pytest.mark.long)
        for name in sorted(ALTERNATES)
    ],
)
def test_players_move_in_turn_where_searches_rely_on_it(name: str) -> None:
    game = games.load(name)

    @jax.jit
    def actors(key: jax.Array) -> jax.Array:
        def one(state: Any, draw: jax.Array) -> tuple[Any, jax.Array]:
            legal = game.legal(state)
            action = jnp.argmax(jnp.where(legal, jax.random.uniform(draw, legal.shape), -1))
            return game.step(state, action), game.actor(state)

        return jax.lax.scan(one, game.init(), jax.random.split(key, 60))[1]

    for seed in range(3):
        found = np.asarray(actors(jax.random.key(seed)))
        found = found[: int((found >= 0).sum())]
        assert len(found) > 4
        np.testing.assert_array_equal(found, np.arange(len(found)) % 2)


def test_trees_that_are_kept_hold_no_positions() -> None:
    """The next search starts at a position that is made of the last one: no tree need keep it."""
    model, root = rules_model(games.load("pgx:tic_tac_toe"), hands=1, **ROOM)
    engine = growing_resolver(model, PAPER, root=root, simulations=24).engine
    start = resolving.init(engine, root)
    state, found = jax.jit(
        lambda key: resolving.search(engine, start, 0, worth, likely, key, alpha=0.5)
    )(jax.random.key(3))
    tree, growth = engine.tree(found), found.growth
    assert tree.store is None
    assert jax.tree.structure(engine.blank(root)) == jax.tree.structure(tree)
    transitions = model.transitions(growth.store)
    move = jax.jit(lambda state, child: resolving.advance(engine, state, tree, child))
    for child in range(9):
        first = move(state, jnp.int32(child))
        below = model.root_of(growth.store, transitions.child[0, child])
        jax.tree.map(np.testing.assert_array_equal, first.root, below)
        # Where nothing is hidden a child's own reaches are those of the action that leads there.
        np.testing.assert_allclose(first.ranges[0, 0], found.average[0, child, 0], atol=1e-6)
        np.testing.assert_array_equal(first.promised, found.child_values[0, :, child])
        known = move(first, jnp.int32(0))  # the tree goes on below what was opened
        at = growth.opened[0, child]
        assert bool(known.bound) == (at >= 0)
        if at >= 0:
            after = model.root_of(growth.store, transitions.child[growth.row[at], 0])
            jax.tree.map(np.testing.assert_array_equal, known.root, after)

"""Finding one's way in a game by observations alone, on a model of the rules."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
from jaxsolve.evaluate import rules_arena
from jaxsolve.public import RulesModel, Worlds, rules_model
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Status

ROOM: dict[str, dict[str, Any]] = {
    "kuhn": {"depth": 3, "worlds": 6, "hands": 3, "children": 2, "actions": 2, "scale": 2.0},
    "leduc": {"depth": 8, "worlds": 30, "hands": 6, "children": 7, "actions": 3, "outcomes": 6},
    "liars_dice(sides=3)": {"depth": 7, "worlds": 9, "hands": 3, "children": 7},
    "scotland_yard(rounds=3)": {
        "depth": 6,
        "worlds": 12,
        "hands": (11, 1),
        "children": 3,
        "actions": 3,
        "merged": 4,
    },
}


@functools.cache
def programs(name: str) -> tuple[RulesModel, Worlds, Any, Any, Any]:
    """The model, its first root, and `first_hand`, `follow` and what opening a child shows."""
    model, root = rules_model(games.load(name), **ROOM[name])

    @jax.jit
    def child_of(root: Worlds, child: Any) -> Worlds:
        store, first = model.start(root, 1, jnp.float32)
        store, _ = model.open(store, first, jnp.int32(0), jnp.bool_(True))
        return model.root_of(store, 1 + child)

    return model, root, jax.jit(model.first_hand), jax.jit(model.follow), child_of


@pytest.mark.parametrize(
    "name",
    [
        "kuhn",
        pytest.param("leduc", marks=pytest.mark.slow),
        pytest.param("liars_dice(sides=3)", marks=pytest.mark.slow),
        pytest.param("scotland_yard(rounds=3)", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_observations_lead_to_the_true_public_and_private_state(name: str):
    """In random matches, both players find the worlds that are possible, and theirs among them."""
    _model, start, first_hand, follow, child_of = programs(name)
    game, rng = games.load(name), np.random.default_rng(0)
    arena = rules_arena(game)
    step, observation = jax.jit(arena.step), jax.jit(arena.observation, static_argnums=1)
    decisions = 0
    for _ in range(12):
        position = arena.start()
        know: list[Any] = [None, None]  # (root, hand, own last action) at each player's decision
        while (actor := int(game.actor(position.state))) != TERMINAL:
            legal = np.flatnonzero(game.legal(position.state))
            if actor != CHANCE:
                seen = observation(position, actor)
                used = 0
                if know[actor] is None:
                    root = start
                    found = first_hand(jnp.int32(actor), seen.public, seen.private)
                    hand, used = found.hand, int(found.used)
                    assert found.status == 0
                    path = int(jax.vmap(game.actor)(root.states)[0]) != actor
                else:
                    root, hand, path = *know[actor], True
                while path:
                    found = follow(
                        root, jnp.int32(actor), hand, seen.action, seen.public, seen.private, used
                    )
                    assert found.status == 0
                    root, hand = child_of(root, found.child), found.hand
                    used = int(found.used)
                    alive = int(jnp.argmax(root.weight > 0))
                    path = int(jax.vmap(game.actor)(root.states)[alive]) != actor
                assert used == int(seen.length)
                know[actor] = (root, hand)
                mine = np.asarray((root.weight > 0) & (root.hand[:, actor] == hand))
                same = [
                    np.array(x.reshape(len(mine), -1) == np.ravel(y)).all(1)
                    for x, y in zip(
                        jax.tree.leaves(root.states), jax.tree.leaves(position.state), strict=True
                    )
                ]
                assert (mine & np.all(same, 0)).any()
                decisions += 1
            position = step(position, jnp.int32(rng.choice(legal)))
    assert decisions > 20


def test_what_no_state_shows_is_said():
    _model, root, first_hand, follow, _ = programs("kuhn")
    public = jnp.full((4, 1), NOTHING, jnp.int32)
    lost = first_hand(jnp.int32(0), public, public.at[0].set(7))
    assert int(lost.status) == Status.UNSEEN
    lost = follow(root, jnp.int32(1), jnp.int32(0), jnp.int32(-1), public.at[0].set(9), public, 0)
    assert int(lost.status) == Status.UNSEEN
    assert "no state of the game" in Status(int(lost.status)).message

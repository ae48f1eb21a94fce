"""What value functions make of public states once: the network's answers, and searches with it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.public import PublicState, hidden_piece_model, rules_model
from jaxsolve.search import Grown, growing_search, gt_cfr
from jaxsolve.search.growing import _prepared
from jaxsolve.types import Array, pytree
from jaxsolve.values import Prepares

CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5],[5,6]],evader=[1,5,6],detectives=[3],"
    "rounds=4,reveals=[2],doubles=1)"
)
MODELS: dict[str, Any] = {
    "hidden piece": hidden_piece_model(games.load(CHASE)),
    "leduc": rules_model(games.load("leduc"), depth=8, worlds=30, hands=6, children=7, outcomes=6),
}
BODIES = {"hidden piece": ("mlp", "resnet", "shared"), "leduc": ("mlp",)}
CASES = [(game, body) for game, bodies in BODIES.items() for body in bodies]


def net_of(game: str, body: str) -> nets.Net:
    """Returns a network with random weights, not small ones, and a policy."""
    model, _ = MODELS[game]
    module = nets.ValueNetwork(8, 2, body=body, actions=model.num_actions)
    net = nets.make_net(model, module, jax.random.key(1), uniform_play=False)
    return net.replace(jax.tree.map(lambda x: 3 * x, net.params))


@pytree
@dataclasses.dataclass(frozen=True)
class Unprepared:
    """A network that is asked about features again and again."""

    net: nets.Net

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        return self.net(state, beliefs)


@pytree
@dataclasses.dataclass(frozen=True)
class Once:
    """A value function that looks at features when it prepares and never again."""

    worth: Array

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        raise AssertionError("asked about a leaf that had been prepared")

    def prepare(self, state: PublicState) -> Array:
        return state.features @ jnp.sin(jnp.arange(state.features.shape[-1], dtype=float))

    def answer(self, prepared: Array, state: PublicState, beliefs: Array) -> Array:
        found: Array = self.worth * jnp.sin(prepared)[:, None, None] * jnp.ones_like(beliefs)
        return found.at[:, 1].multiply(-1)


@pytree
@dataclasses.dataclass(frozen=True)
class Again:
    """`Once`, from features each time."""

    once: Once

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        return self.once.answer(self.once.prepare(state), state, beliefs)


@functools.cache
def opened(game: str) -> Any:
    """Returns the store after the first public state and its first child were opened."""
    model, root = MODELS[game]
    store, public = model.start(root, 3, jnp.float32)
    add = jax.jit(model.open)
    store, row = add(store, public, 0, True)
    below = model.transitions(store).child[row]
    return add(store, below[below >= 0][0], 1, True)[0]


def searched(game: str, value: Any, abreast: int = 2, **options: Any) -> Grown:
    """Returns searches of the first keys."""
    model, root = MODELS[game]
    search = growing_search(model, js.cfr_plus().simultaneous(), simulations=16, tile=4, **options)
    keys = jax.random.split(jax.random.key(0), abreast)
    ranges = jnp.ones((2, max(model.hands)))
    found: Grown = jax.jit(jax.vmap(lambda k: gt_cfr(search, value, root, ranges, k)))(keys)
    return found


def assert_same(got: Grown, expected: Grown) -> None:
    np.testing.assert_array_equal(got.growth.row, expected.growth.row)
    for name in ("average", "child_values", "root_values"):
        found, right = getattr(got, name), getattr(expected, name)
        size = float(np.abs(right).max())
        np.testing.assert_allclose(found, right, atol=3e-5 * size, err_msg=name)
    assert np.ptp(expected.child_values) > 0.1


@pytest.mark.parametrize(("game", "body"), CASES)
def test_a_network_says_the_same_of_what_is_prepared(game: str, body: str):
    """Values and policy, also of what has no features any more."""
    net, model = net_of(game, body), MODELS[game][0]
    store = opened(game)
    public = jnp.flatnonzero(model.transitions(store).possible[:].any(2).all(1))
    state = model.public_state(store, public)
    beliefs = jax.random.uniform(jax.random.key(2), state.possible.shape) * state.possible
    beliefs = beliefs / beliefs.sum(-1, keepdims=True)
    assert isinstance(net, Prepares)
    prepared = net.prepare(state)
    bare = state._replace(features=jnp.full_like(state.features, jnp.nan))
    if state.private is not None:
        bare = bare._replace(private=jnp.full_like(state.private, jnp.nan))
    np.testing.assert_allclose(net.answer(prepared, bare, beliefs), net(state, beliefs), atol=1e-5)
    got, right = net.output(bare, beliefs, prepared), net.output(state, beliefs)
    np.testing.assert_allclose(got.policy_logits, right.policy_logits, atol=1e-4)
    assert np.ptp(right.values) > 0.1
    assert len(public) > 3


@pytest.mark.parametrize(
    ("body", "options"),
    [
        pytest.param("mlp", {}, marks=pytest.mark.slow),
        pytest.param("resnet", {}, marks=pytest.mark.slow),
        pytest.param("shared", {}, marks=pytest.mark.slow),
        ("shared", {"ask_every": 3}),
    ],
)
def test_a_search_is_that_of_a_network_that_looks_again(body: str, options: dict[str, int]):
    net = net_of("hidden piece", body)
    got, expected = (searched("hidden piece", x, **options) for x in (net, Unprepared(net)))
    assert_same(got, expected)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("hidden piece", {}),
        pytest.param("leduc", {"top": 1}, marks=pytest.mark.slow),
        pytest.param("hidden piece", {"ask_every": 3}, marks=pytest.mark.slow),
        pytest.param("leduc", {}, marks=pytest.mark.slow),
    ],
)
def test_features_are_looked_at_once(game: str, options: dict[str, int]):
    once = Once(jnp.float32(0.5))
    assert_same(searched(game, once, **options), searched(game, Again(once), **options))


@pytest.mark.slow  # in the default suite test_few_private_states.py has programs of some sizes
def test_of_some_private_states_a_program_takes_the_first(monkeypatch: pytest.MonkeyPatch):
    """Of six stations four are kept, for programs of one, two and four; others look again."""
    monkeypatch.setattr(_prepared, "SIZES", (1, 2, 4))
    net = net_of("hidden piece", "shared")
    model, root = MODELS["hidden piece"]
    store, _ = model.start(root, 17, jnp.float32)
    kept = _prepared.nothing_prepared(model, net, store)
    count = len(model.transitions(store).scale)
    assert [x.shape for x in kept] == [(count, 4, 8), (count, 1, 8)]
    assert_same(searched("hidden piece", net), searched("hidden piece", Unprepared(net)))

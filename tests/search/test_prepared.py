"""What value functions make of public states once: the network's answers, and searches with it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from looks_again import LooksAgain

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.public import PublicState, hidden_piece_model, rules_model
from jaxsolve.search import Grown, growing_search, gt_cfr
from jaxsolve.search.growing import _prepared, begin, grow
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
        pytest.param("resnet", {}, marks=pytest.mark.long),
        pytest.param("shared", {}, marks=pytest.mark.slow),
        pytest.param("shared", {"ask_every": 3}, marks=pytest.mark.long),
    ],
)
def test_a_search_is_that_of_a_network_that_looks_again(body: str, options: dict[str, int]):
    net = net_of("hidden piece", body)
    got, expected = (searched("hidden piece", x, **options) for x in (net, LooksAgain(net)))
    assert_same(got, expected)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("hidden piece", {}),
        pytest.param("leduc", {"top": 1}, marks=pytest.mark.slow),
        pytest.param("hidden piece", {"ask_every": 3}, marks=pytest.mark.slow),
        pytest.param("leduc", {}, marks=pytest.mark.long),
    ],
)
def test_features_are_looked_at_once(game: str, options: dict[str, int]):
    once = Once(jnp.float32(0.5))
    assert_same(searched(game, once, **options), searched(game, Again(once), **options))


@pytest.mark.slow  # in the default suite the rows themselves are looked at
@pytest.mark.parametrize("rows", [pytest.param(24, marks=pytest.mark.long), 0.25])
def test_rows_are_of_possible_private_states(rows: float, monkeypatch: pytest.MonkeyPatch):
    """With room for all of them, and with so little that some public states are looked at again."""
    monkeypatch.setattr(_prepared, "SIZES", (1, 2, 4))
    monkeypatch.setattr(_prepared, "PREPARED", (2,))
    monkeypatch.setattr(_prepared, "ROWS", rows)
    net = net_of("hidden piece", "shared")
    model, root = MODELS["hidden piece"]
    store, _ = model.start(root, 17, jnp.float32)
    kept = _prepared.nothing_prepared(model, net, store)
    assert kept is not None
    count = len(model.transitions(store).scale)
    many, one = kept.each
    assert many.entries.shape == (int(rows * count) + 6, 8)
    assert one.shape == (count, 1, 8)
    assert_same(searched("hidden piece", net), searched("hidden piece", LooksAgain(net)))


def test_public_states_are_kept_one_after_another():
    """What is kept is what the network makes of each public state, as long as there is room."""
    net = net_of("hidden piece", "shared")
    model, root = MODELS["hidden piece"]
    search = growing_search(model, js.cfr_plus().simultaneous(), simulations=24, tile=4)

    def run(key: Array) -> Any:
        state, problem = begin(search, net, root, jnp.ones((2, 6)), None, None, None)
        return grow(search, problem, state, key, (), lambda state, log: log)[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_prepared, "PREPARED", (2,))
        patch.setattr(_prepared, "ROWS", 0.25)
        state = jax.jit(run)(jax.random.key(0))
    store, kept = state.growth.store, state.prepared
    counts = np.asarray(model.ranked(store).counts)
    first, (rows, _) = np.asarray(kept.begin), kept.each
    right = net.prepare(model.public_state(store, jnp.arange(len(counts))))[0]
    order = np.asarray(model.ranked(store).order)
    end = 0
    for q in np.flatnonzero(first >= 0):
        assert first[q] == end
        end += counts[q]
        found = rows.entries[first[q] : end]
        np.testing.assert_allclose(found, right[q, order[q, : counts[q]]], atol=1e-5)
    assert int(kept.used) == end
    assert 10 < end <= len(counts) // 4
    there = np.unique(np.asarray(model.transitions(store).child[: int(state.growth.num_opened)]))
    lost = [q for q in there if q >= 0 and first[q] < 0]
    assert lost, "there was room for everything"

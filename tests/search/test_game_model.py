"""A model of public states that a game makes itself: liar's dice as bids x dice, by formulas."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.public import (
    DensePayoffs,
    DenseWeights,
    IndependentWeights,
    OuterPayoffs,
    PublicModel,
    PublicState,
    StateFormat,
    Transitions,
    public_table,
)
from jaxsolve.search import growing_search, gt_cfr
from jaxsolve.types import Array, pytree

SIDES = 3
BIDS = 2 * SIDES
NAME = f"liars_dice(sides={SIDES})"


@pytree
@dataclasses.dataclass(frozen=True)
class DiceModel:
    """One die each: a public state is 2 x (number of the last bid, 0 for none) + who bids next."""

    table: Transitions
    features: Array

    format = StateFormat(NAME, BIDS + 1 + 2, (SIDES, SIDES), 0, 1.0, False, "possible pairs")
    hands = (SIDES, SIDES)
    num_actions = BIDS
    num_children = BIDS
    depth = wait = BIDS + 1
    largest = 1 << 30

    def start(self, root: Array, capacity: int, dtype: Any) -> tuple[None, Array]:
        return None, root

    def transitions(self, store: None) -> Transitions:
        return self.table

    def open(self, store: None, public: Array, new: Array, go: Array) -> tuple[None, Array]:
        return None, public

    def public_state(self, store: None, public: Array) -> PublicState:
        ones = jnp.ones(public.shape)
        possible = jnp.ones((*public.shape, 2, SIDES), bool)
        none = jnp.full(public.shape, -1)
        return PublicState(self.features[public], possible, ones, none)

    def actor_of(self, root: Array) -> Array:
        return root % 2

    def root_of(self, store: None, public: Array) -> Array:
        return public


def dice_model() -> DiceModel:
    """The model; nothing of the rules is called."""
    size, h, c, a = 2 * (BIDS + 1), SIDES, BIDS, BIDS
    dice = np.arange(SIDES)
    child = np.full((size, c), -1)
    legal = np.zeros((size, a, h), bool)
    parents = np.full((size, c, 2, h, 1), a * h)
    own, wait = np.full((size, a, h, 1), c * h), np.full((size, h, c), c * h)
    first, second = np.zeros((size, a, 2, h)), np.zeros((size, a, 2, h))
    features = np.zeros((size, BIDS + 1 + 2))
    for number in range(size):
        last, actor = divmod(number, 2)
        features[number, [last, BIDS + 1 + actor]] = 1
        for k in range(BIDS - last):  # higher bids
            child[number, k] = 2 * (last + 1 + k) + 1 - actor
            legal[number, k] = True
            parents[number, k, actor, :, 0] = k * h + dice
            parents[number, k, 1 - actor, :, 0] = dice
            own[number, k, :, 0] = k * h + dice
            wait[number, :, k] = k * h + dice
        if last:  # or the bid is called a lie
            call = BIDS - last
            legal[number, call] = True
            quantity, face = divmod(last - 1, SIDES)
            shows = ((dice == face) | (dice == SIDES - 1)).astype(float)
            sign = 1 - 2 * (actor == 0)  # of the bidder, for player 0
            if quantity == 0:  # true unless nobody shows the face
                terms = ((np.ones(h), np.ones(h)), (-2 * (1 - shows), 1 - shows))
            else:  # true if both show it
                terms = ((-np.ones(h), np.ones(h)), (2 * shows, shows))
            for r, (one, two) in enumerate(terms):
                first[number, call, r], second[number, call, r] = sign * one / h**2, two
    even = jnp.full((size, h), 1 / h)
    table = Transitions(
        actor=jnp.arange(size) % 2,
        legal=jnp.asarray(legal),
        child=jnp.asarray(child),
        factor=jnp.asarray(child >= 0, float),
        parents_of=jnp.asarray(parents),
        child_of_action=jnp.asarray(own),
        child_of_waiting=jnp.asarray(wait),
        payoffs=OuterPayoffs(jnp.asarray(first, float), jnp.asarray(second, float)),
        weights=IndependentWeights(even, even),
        possible=jnp.ones((size, 2, h), bool),
        scale=jnp.ones(size),
        size=jnp.ones(size, int),
    )
    return DiceModel(table, jnp.asarray(features))


@functools.cache
def pairs(against: int) -> tuple[DenseWeights, DensePayoffs, IndependentWeights, OuterPayoffs]:
    """Independent private states, three against `against`, in both forms."""
    rng = np.random.default_rng(0)
    one, two = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(against), 4)
    first, second = rng.normal(size=(4, 2, 2, 3)), rng.normal(size=(4, 2, 2, against))
    dense = np.einsum("nh,ng->nhg", one, two), np.einsum("narh,narg->nahg", first, second)
    arrays = [jnp.asarray(x, float) for x in (*dense, one, two, first, second)]
    return (
        DenseWeights(arrays[0]),
        DensePayoffs(arrays[1]),
        IndependentWeights(arrays[2], arrays[3]),
        OuterPayoffs(arrays[4], arrays[5]),
    )


@pytest.mark.parametrize("against", [1, 2])
def test_independent_private_states_are_outer_products(against: int):
    dense, paid, apart, outer = pairs(against)
    rng = np.random.default_rng(1)
    reach = jnp.asarray(rng.random((2, 3)), float)
    flow = jnp.asarray(rng.random((2, 2, 3)), float)
    public = jnp.int32(2)
    assert dense.hands == apart.hands == (3, against)
    want = apart.against(public, reach)
    np.testing.assert_allclose(dense.against(public, reach), want, 1e-5)
    for form, (player, hand) in itertools.product((dense, apart), ((0, 1), (1, against - 1))):
        got = form.against_one(public, jnp.int32(player), jnp.int32(hand), reach)
        assert float(got) == pytest.approx(float(want[player, hand]), rel=1e-5)
    for first, second in itertools.product((flow[0], flow[0, :1]), (flow[1], flow[1, :1])):
        want = outer.values(public, first, second)  # of each action, or of all alike
        np.testing.assert_allclose(paid.values(public, first, second), want, rtol=1e-4, atol=1e-6)
    for h, g in itertools.product(range(3), range(against)):
        at = (public, jnp.int32(h), jnp.int32(g))
        assert float(dense.at(*at)) == pytest.approx(float(apart.at(*at)), rel=1e-5)
        at = (public, jnp.int32(1), jnp.int32(h), jnp.int32(g))
        assert float(paid.at(*at)) == pytest.approx(float(outer.at(*at)), rel=1e-4)


@pytest.mark.parametrize("straying", [0.0, 0.1])
def test_pairs_of_independent_private_states_are_drawn_alike(straying: float):
    dense, _, apart, _ = pairs(2)
    rng = np.random.default_rng(1)
    reach, public = jnp.asarray(rng.random((2, 3)), float), jnp.int32(2)
    uniform = jnp.asarray(rng.random(2000), float)
    drawn = [
        np.asarray(jax.vmap(lambda u, w=w: w.draw(public, reach, u, straying))(uniform))
        for w in (dense, apart)
    ]
    assert (drawn[0] == drawn[1]).all(1).mean() > 0.999  # rounding may move a boundary
    nobody = jnp.zeros((2, 3))
    for form in (dense, apart):
        pair = form.draw(public, nobody, jnp.asarray(0.5), straying)
        assert (pair >= 0).all()
        assert pair[0] < 3
        assert pair[1] < 2


@pytest.mark.slow  # half a minute of compiling
def test_searches_are_those_of_the_table():
    """One network as the value of leaves in both; the trees and the policies are the same."""
    where = public_table(games.load(NAME))
    net = nets.make_net(where, nets.ValueNetwork(8, 1), jax.random.key(0), uniform_play=False)
    model: PublicModel = dice_model()
    found = []
    for one in (where, model):
        search = growing_search(one, js.cfr_plus().simultaneous(), simulations=20, capacity=21)
        run = jax.jit(functools.partial(gt_cfr, search, net))
        found.append(run(jnp.int32(0), jnp.ones((2, SIDES)), jax.random.key(3)))
    want, got = found
    assert want.growth.num_opened == got.growth.num_opened > 8
    np.testing.assert_array_equal(want.growth.opened, got.growth.opened)
    np.testing.assert_allclose(want.average, got.average, atol=1e-4)
    np.testing.assert_allclose(want.root_values, got.root_values, atol=1e-5)

"""The whole of flop hold'em in C++: showdowns on three cards, counted over all flops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve import native
from jaxsolve.holdem._engine import SpotEngine, SpotState, spot_engine
from jaxsolve.holdem._spot_tree import SpotTree

pytestmark = pytest.mark.skipif(
    native.host_library("spots") is None, reason="no C++ compiler here: nothing to compare"
)


@pytest.fixture(scope="module")
def uniform() -> tuple[SpotTree, SpotEngine, SpotState]:
    """Ten big blinds, check, call or all-in; after an iteration, both averages are uniform."""
    spot = he.flop_holdem(stack=1000, sizes=("a",), cap=0)
    engine = spot_engine(spot, js.dcfr())
    assert engine is not None
    return spot, engine, engine.advance(engine.prepare(engine.fresh(), 10), 1, 10)


@pytest.mark.parametrize("name", ["7s2h", pytest.param("AsAh", marks=pytest.mark.slow)])
def test_all_ins_before_the_flop_are_worth_what_all_flops_say(uniform, name: str):
    """The button goes all-in, and the big blind folds or calls with every hand half the time."""
    _, engine, state = uniform
    hand = he.parse_cards(name)
    left = np.setdiff1d(np.arange(52), hand)
    flops = np.asarray(list(itertools.combinations(left, 3)))
    mine = np.asarray(he.strength(np.column_stack([np.tile(hand, (len(flops), 1)), flops])))
    won = met = 0
    for other in itertools.combinations(left, 2):
        free = ~np.isin(flops, other).any(1)
        cards = np.column_stack([np.tile(other, (len(flops), 1)), flops])
        won += int((np.sign(mine - np.asarray(he.strength(cards))) * free).sum())
        met += int(free.sum())
    exact = 0.5 * 100 + 0.5 * 1000 * won / met
    values, _ = engine.values(state, 1, 0, 0)
    fold, _, all_in = values[:3, he.hand_index(*hand)]
    assert all_in / fold * -50 == pytest.approx(exact, abs=0.05)


@pytest.mark.slow
def test_best_responses_are_those_of_the_tensors(uniform):
    spot, engine, state = uniform
    tree = spot.tree
    policy = js.uniform_policy(tree)
    values, gains = engine.payoffs(state)
    np.testing.assert_allclose(values, js.expected_values(tree, policy), atol=1e-3)
    best = js.best_response_values(tree, policy)
    np.testing.assert_allclose(values + gains, best, atol=2e-3)

"""Evaluation of random games: against the oracle, the linear program, and each other."""

from __future__ import annotations

import jax
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import random_games

import jaxsolve as js
from jaxsolve.solvers import average_policy, init_state, run
from jaxsolve.testing import RandomGame
from jaxsolve.tree import policy_from_probabilities

ITERATIONS = 3000


@pytest.fixture(scope="module", autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def mixed(rng: np.random.Generator, tree: js.PublicTree) -> list[np.ndarray]:
    """A random behaviour policy, some actions of which have probability 0."""
    out = []
    for info in tree.info.players:
        weights = rng.random(len(info.action))
        weights[rng.random(len(weights)) < 0.3] = 0
        weights[info.offset[1:] - 1] += 0.1  # the last action keeps some
        width = np.diff(info.offset)
        totals = np.add.reduceat(weights, info.offset[:-1]) if len(weights) else weights
        out.append(weights / np.repeat(totals, width))
    return out


def assert_as_the_oracle(game: RandomGame, seed: int) -> None:
    tree, reference = js.compile(game), oracle.walk(game)
    n = game.num_players
    drawn = mixed(np.random.default_rng(seed), tree)
    for probabilities in (drawn, oracle.flat(oracle.uniform(reference))):
        strategy = oracle.from_flat(reference, probabilities)
        policy = policy_from_probabilities(tree, probabilities)
        values, best = js.expected_values(tree, policy), js.best_response_values(tree, policy)
        np.testing.assert_allclose(values, oracle.values(reference, strategy), atol=1e-9)
        expected = [oracle.best_response(reference, strategy, i)[0] for i in range(n)]
        np.testing.assert_allclose(best, expected, atol=1e-9)
        for i in range(n):
            response = js.best_response(tree, policy, i)
            np.testing.assert_allclose(response.value, expected[i], atol=1e-9)
            players = tuple(response.policy if j == i else p for j, p in enumerate(policy.players))
            earned = js.expected_values(tree, js.Policy(players))[i]
            np.testing.assert_allclose(earned, expected[i], atol=1e-9)
        nash_conv = js.nash_conv(tree, policy)
        np.testing.assert_allclose(nash_conv, oracle.nash_conv(reference, strategy), atol=1e-9)
        exploitability = js.exploitability(tree, policy)
        np.testing.assert_allclose(exploitability, nash_conv / n, atol=1e-12)
        assert (np.asarray(best) >= np.asarray(values) - 1e-12).all()
        assert exploitability >= -1e-12


@pytest.mark.slow  # seconds of compiling
@settings(max_examples=6)
@given(game=random_games(), seed=st.integers(0, 1000))
def test_two_players(game: RandomGame, seed: int):
    assert_as_the_oracle(game, seed)


@pytest.mark.slow  # seconds of compilation
@settings(max_examples=3)
@given(game=random_games(players=3, zero_sum=False), seed=st.integers(0, 1000))
def test_three_players(game: RandomGame, seed: int):
    assert_as_the_oracle(game, seed)


@jax.jit
def solved(tree: js.PublicTree) -> js.Policy:
    state = run(tree, js.cfr_plus(), init_state(tree, js.cfr_plus()), ITERATIONS, ITERATIONS)
    return average_policy(tree, state)


@settings(max_examples=6)
@given(game=random_games())
def test_cfr_plus_and_the_linear_program_agree(game: RandomGame):
    tree, reference = js.compile(game), oracle.walk(game)
    policy, exact = solved(tree), js.solve_lp(tree)
    assert js.exploitability(tree, policy) < 1e-3
    values = js.expected_values(tree, policy)
    np.testing.assert_allclose(values, [exact.value, -exact.value], atol=1e-3)
    # The plans of the linear program are an equilibrium, by the oracle too.
    assert abs(exact.gap) < 1e-7
    plans = oracle.from_flat(reference, [exact.policy.probabilities(i) for i in range(2)])
    assert oracle.nash_conv(reference, plans) < 1e-7
    for i, sign in enumerate((1, -1)):
        best, _ = oracle.best_response(reference, plans, i)
        np.testing.assert_allclose(best, sign * exact.value, atol=1e-7)
    # What a best response gets bounds the value from both sides, whatever the policy.
    upper, lower = js.best_response_values(tree, policy)
    assert -lower - 1e-9 <= exact.value <= upper + 1e-9

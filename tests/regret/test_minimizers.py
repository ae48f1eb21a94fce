"""Regret minimizers by themselves: arrays in, arrays out, no game."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsolve as js
from jaxsolve.regret import Minimizer, Step, mirror_descent, normalise, regret_matching
from jaxsolve.solvers import Solver
from jaxsolve.solvers.variants import SOLVERS

LEGAL = jnp.array(
    [[True, True, True, False], [True, True, False, False], [True, False, True, False]]
)
"""[A, N]: all three actions, the first two, the first and the last, and a padded row."""

ROUNDS = 400


def step(t: float, horizon: float = ROUNDS) -> Step:
    return Step(jnp.float32(t), jnp.float32(horizon))


def uniform(legal: jax.Array) -> jax.Array:
    return normalise(jnp.zeros(legal.shape), legal)


@jax.jit
def play(minimizer: Minimizer, values: jax.Array, legal: jax.Array) -> jax.Array:
    """Returns the policies [T, A, N] against values [T, A, N]."""

    def update(carry: Any, given: Any) -> Any:
        state, policy = carry
        t, now = given
        new = minimizer.update(state, step(t), now, policy, legal)
        return new, policy

    start = uniform(legal)
    times = jnp.arange(1.0, len(values) + 1)
    return jax.lax.scan(update, (minimizer.init(start), start), (times, values))[1]


def test_normalise():
    weights = jnp.array([[2.0, 0, 0, 0], [0, 0, 0, 0], [6.0, 0, 3.0, 0]])
    expected = [[0.25, 0.5, 0, 0], [0, 0.5, 0, 0], [0.75, 0, 1, 0]]
    for scale in (1.0, 1e-30):  # little is not nothing
        np.testing.assert_allclose(normalise(scale * weights, LEGAL), expected, rtol=1e-6)


@pytest.mark.parametrize("row", SOLVERS)
def test_always_a_distribution(row: str):
    """Over legal actions, 0 in padding, whatever the values: none, huge, or the same for all."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, *LEGAL.shape))
    values[3:5] = 0
    values[5] *= 1e4
    values[6] = 7
    values[8] *= 1e-12
    policies = play(SOLVERS[row].build().minimizer, jnp.asarray(values), LEGAL)
    assert np.isfinite(policies).all()
    assert (np.asarray(policies) >= 0).all()
    assert (np.asarray(policies)[:, ~np.asarray(LEGAL)] == 0).all()
    np.testing.assert_allclose(policies.sum(1), np.tile(LEGAL.any(0), (12, 1)), atol=1e-5)


def update_twice(minimizer: Minimizer) -> list[np.ndarray]:
    """Two updates of one row of two actions, with the values (4, 0) and then (0, 2)."""
    legal, policy = jnp.ones((2, 1), bool), jnp.full((2, 1), 0.5)
    state, policies = minimizer.init(policy), []
    for t, values in enumerate(([4.0, 0.0], [0.0, 2.0]), start=1):
        state, policy = minimizer.update(state, step(t), jnp.array(values)[:, None], policy, legal)
        policies.append(np.asarray(policy[:, 0]))
    return policies


def constant(hyper: Any, where: Step, t: jax.Array) -> tuple[Any, Any]:
    """A discount that is the same at all times."""
    return hyper


@pytest.mark.parametrize(
    ("minimizer", "second"),
    [
        # r = (2, -2), policy (1, 0); then r = (0, 2).
        (regret_matching(), [1, 0]),  # R = (2, 0)
        (regret_matching(clip=True), [0.5, 0.5]),  # R = (2, 0), then (2, 2)
        (regret_matching((0.25, 0.75), discount=constant), [0.5, 0.5]),  # (0.5, -1.5) + r
        (regret_matching(clip=True, prediction=1.0), [1 / 3, 2 / 3]),  # (2, 2) + (0, 2)
        (regret_matching(clip=True, prediction=0.5), [0.4, 0.6]),  # (2, 2) + (0, 1)
    ],
)
def test_by_hand(minimizer: Minimizer, second: list[float]):
    policies = update_twice(minimizer)
    np.testing.assert_allclose(policies[0], [1, 0], atol=1e-6)
    np.testing.assert_allclose(policies[1], second, atol=1e-6)


@pytest.mark.parametrize("row", ["cfr", "cfr+", "pcfr+", "sapcfr+", "apcfr+"])
@pytest.mark.parametrize("source", ["random", "adversary"])
def test_regret_grows_like_a_square_root(row: str, source: str):
    """Regret of (predictive) regret matching (+) is at most D sqrt(A T) against anything.

    D bounds the norm of an instantaneous regret; predictions can at worst double it.
    """
    minimizer = SOLVERS[row].build().minimizer
    legal = jnp.ones((3, 1), bool)
    if source == "random":
        values = np.random.default_rng(1).uniform(-1, 1, size=(ROUNDS, 3, 1))
        policies = np.asarray(play(minimizer, jnp.asarray(values), legal))
    else:
        policies, values = _against_an_adversary(minimizer, legal)
    earned = (policies * values).sum((0, 1))
    regret = (values.sum(0) - earned).max()
    assert regret <= 2 * 2 * np.sqrt(3 * ROUNDS)


@jax.jit
def _duel(minimizer: Minimizer, legal: jax.Array) -> tuple[jax.Array, jax.Array]:
    def update(carry: Any, t: jax.Array) -> Any:
        state, policy = carry
        values = jnp.where(policy == policy.max(), -1.0, 1.0)  # the favourite always loses
        return minimizer.update(state, step(t), values, policy, legal), (policy, values)

    start = uniform(legal)
    times = jnp.arange(1.0, ROUNDS + 1)
    return jax.lax.scan(update, (minimizer.init(start), start), times)[1]


def _against_an_adversary(minimizer: Minimizer, legal: Any) -> tuple[np.ndarray, np.ndarray]:
    policies, values = _duel(minimizer, legal)
    return np.asarray(policies), np.asarray(values)


@pytest.mark.parametrize("row", ["cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "apcfr+", "pdcfr+"])
def test_the_scale_of_payoffs_does_not_matter(row: str):
    values = jnp.asarray(np.random.default_rng(2).normal(size=(8, *LEGAL.shape)))
    minimizer = SOLVERS[row].build().minimizer
    # A power of two scales floats exactly.
    np.testing.assert_array_equal(
        play(minimizer, values, LEGAL), play(minimizer, 64.0 * values, LEGAL)
    )


@pytest.mark.parametrize("row", SOLVERS)
def test_rows_do_not_see_each_other(row: str):
    values = jnp.asarray(np.random.default_rng(3).normal(size=(6, *LEGAL.shape)))
    minimizer = SOLVERS[row].build().minimizer
    together = play(minimizer, values, LEGAL)
    others_differ = play(minimizer, values.at[:, :, 1:].multiply(-3.0), LEGAL)
    np.testing.assert_array_equal(together[:, :, 0], others_differ[:, :, 0])


def test_mirror_descent_settles_at_the_softmax():
    """Against constant values its fixed point is the quantal response, softmax(q / alpha)."""
    values = np.random.default_rng(4).normal(size=(3, 1))
    alpha = 0.5
    policies = play(
        mirror_descent(eta=0.3, alpha=alpha),
        jnp.asarray(np.tile(values, (ROUNDS, 1, 1))),
        jnp.ones((3, 1), bool),
    )
    quantal = np.exp(values / alpha) / np.exp(values / alpha).sum()
    np.testing.assert_allclose(policies[-1], quantal, atol=1e-5)


@pytest.mark.parametrize("row", SOLVERS)
def test_building_again_shares_programs(row: str):
    """Static parts compare equal; hyper-parameters are leaves."""
    first, second = SOLVERS[row].build(), SOLVERS[row].build()
    assert jax.tree.structure(first) == jax.tree.structure(second)
    assert jax.tree.structure(first) != jax.tree.structure(first.simultaneous())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (js.dcfr(), js.dcfr(alpha=3.0, beta=1.0, gamma=0.5)),
        (js.cfr_plus(), js.cfr_plus(gamma=2.0)),
        (js.apcfr_plus(), js.apcfr_plus(longest=2.0)),
        (js.hs_dcfr(30.0), js.hs_dcfr(15.0)),
        (js.mmd(), js.mmd(eta=1.0, alpha=0.5)),
    ],
)
def test_hyper_parameters_are_leaves(first: Solver, second: Solver):
    assert jax.tree.structure(first) == jax.tree.structure(second)
    assert jax.tree.leaves(first) != jax.tree.leaves(second)


@pytest.mark.parametrize("name", ["cfr+", "apcfr+", "mmd"])
def test_arrays_of_unequal_shapes_are_refused(name: str) -> None:
    minimizer = js.load_solver(name).minimizer
    policy = uniform(LEGAL)
    state = minimizer.init(policy)
    with pytest.raises(AssertionError, match="state, action values and policy"):
        minimizer.update(state, step(1), jnp.zeros(LEGAL.shape[:1]), policy, LEGAL)
    with pytest.raises(AssertionError, match="broadcast"):
        minimizer.update(state, step(1), policy, policy, LEGAL[:, :3])

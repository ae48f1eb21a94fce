"""Values from rollouts and from a network, against the exact ones."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search, values
from jaxsolve.values import (
    DepthLimit,
    Rollouts,
    after_round,
    biased,
    continuations,
    fit,
    leaf_network,
    leaf_values,
    path_features,
    poker_class,
)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def leduc() -> tuple[js.PublicTree, DepthLimit, list[js.Policy]]:
    with jax.enable_x64(True):
        tree = js.compile(games.load("nolimit_leduc(ranks=3,suits=1,stack=5,sizes=[1.0])"))
        policies = biased(tree, js.uniform_policy(tree), classes=poker_class, factor=5)
        return tree, after_round(tree), policies


@pytest.mark.parametrize("choosers", ["opponent", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_rollouts_are_unbiased_and_converge_by_the_root(leduc, choosers: str):
    tree, limit, policies = leduc
    exact = np.asarray(leaf_values(tree, limit, policies, choosers=choosers))
    errors, deviation = {}, np.zeros(exact.shape)
    for count in (64, 4):  # payoffs are skewed: the larger samples say how far they spread
        draw = values.rollouts(tree, limit, policies, count=count, choosers=choosers)
        drawn = jax.vmap(draw)(jax.random.split(jax.random.key(count), 200))
        error = np.asarray(drawn) - exact  # [200, L, k_0, k_1, 2]
        assert drawn.shape[1:] == exact.shape
        deviation = np.maximum(deviation, error.std(0, ddof=1) * np.sqrt(count))
        bias = np.abs(error.mean(0))
        assert (bias < 5 * deviation / np.sqrt(200 * count) + 1e-9).all()  # of hundreds of values
        errors[count] = np.sqrt((error**2).mean())
    assert errors[4] / errors[64] == pytest.approx(4, rel=0.1)  # sqrt(64 / 4)


@pytest.mark.slow  # seconds of compiling
def test_rollouts_of_some_states_are_rollouts_of_these(leduc):
    tree, limit, policies = leduc
    exact = np.asarray(leaf_values(tree, limit, policies))
    draw = values.rollouts(tree, limit, policies, count=4096)
    some = jnp.array([5, 0, 17])
    drawn = draw(jax.random.key(1), some)
    np.testing.assert_allclose(drawn, exact[np.asarray(some)], atol=0.3)


@pytest.mark.slow  # seconds of compilation
def test_a_solver_draws_values_inside_the_solve(leduc):
    """CFR on three rollouts a leaf finds what it finds on exact values."""
    tree, limit, policies = leduc
    limited = continuations(tree, limit, policies)
    draw = values.rollouts(tree, limit, policies, count=3)
    solver = search.with_sampled_values(js.cfr(), draw)
    found = js.solve(limited, solver, iterations=100, measure_every=20, progress=False)
    start = float(js.exploitability(limited, js.uniform_policy(limited)))
    assert found.exploitability < 0.2 * start
    again = js.solve(limited, solver, iterations=20, measure_every=20, progress=False)
    assert again.exploitability == found.curve.exploitability[0]  # keys are of the iteration
    with pytest.raises(ValueError, match="no depth limit whose values"):
        js.solve(tree, solver, iterations=1, progress=False)


@pytest.mark.slow  # 1,500 steps of rollouts
def test_a_network_learns_the_values(leduc):
    """Trained on single rollouts, it comes closer to the exact values than its targets are."""
    tree, limit, policies = leduc
    exact = jnp.asarray(leaf_values(tree, limit, policies))
    features = jnp.asarray(path_features(tree, limit))
    assert features.shape[0] == limit.num_leaves
    assert len(np.unique(np.asarray(features), axis=0)) == limit.num_leaves
    network = leaf_network((1, len(policies), 2), hidden=(32, 32), scale=2.0)
    draw = values.rollouts(tree, limit, policies, count=1)
    once = float(jnp.abs(draw(jax.random.key(0)) - exact).mean())
    found = fit(
        network,
        features,
        draw_of(draw),
        jax.random.key(2),
        steps=1500,
        batch=64,
        learning_rate=3e-3,
    )
    error = float(jnp.abs(network.apply(found.parameters, features) - exact).mean())
    assert error < 0.35 * once
    assert found.losses[-100:].mean() < found.losses[:100].mean()
    limited = continuations(
        tree, limit, policies, values=lambda states: network.apply(found.parameters, features)
    )
    assert limited.info.values.shape == exact.shape
    with pytest.raises(ValueError, match="targets of a state have shape"):
        fit(network, features, exact[:, :, :1], jax.random.key(0))


def draw_of(rollouts: Rollouts):
    return lambda key, states: rollouts(key, states)

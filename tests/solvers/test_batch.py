"""Batched solving: equal to a loop over members, however it is cut and wherever it runs."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve.solvers import average_policy, init_state, run
from jaxsolve.tree import coarse

ITERATIONS = 12  # few, so that rounding has not yet been amplified


@pytest.fixture(scope="module")
def tree() -> js.PublicTree:
    return js.compile(games.load("kuhn"))


def _scaled(tree: js.PublicTree, scale: float) -> js.PublicTree:
    return tree.replace(leaves=tuple(leaf.with_scale(scale) for leaf in tree.leaves))


def _alone(tree: js.PublicTree, solver: js.Solver) -> float:
    state = run(tree, solver, init_state(tree, solver), ITERATIONS, ITERATIONS)
    return float(js.exploitability(tree, average_policy(tree, state)))


@pytest.mark.parametrize("chunk", [1, 3])
def test_hyperparameters_equal_a_loop(tree, chunk):
    solvers = [js.dcfr(alpha=1 + 0.3 * k, beta=-0.2 * k) for k in range(5)]
    batch = js.solve_batch(tree, solvers, iterations=ITERATIONS, chunk=chunk)
    alone = [_alone(tree, s) for s in solvers]
    np.testing.assert_allclose(batch.exploitability[-1], alone, rtol=2e-5)


def test_payoffs_equal_a_loop(tree):
    trees = [_scaled(tree, 1.0 + k) for k in range(3)]
    batch = js.solve_batch(trees, js.pcfr_plus(), iterations=ITERATIONS, measure_every=5)
    assert batch.iterations.tolist() == [5, 10, 12]
    alone = [_alone(t, js.pcfr_plus()) for t in trees]
    np.testing.assert_allclose(batch.exploitability[-1], alone, rtol=2e-5)
    own = js.exploitability(trees[2], batch.policy(2))
    np.testing.assert_allclose(own, batch.exploitability[-1, 2], rtol=2e-5)


@pytest.mark.parametrize("name", few(["cfr+", "apcfr+", "hs-dcfr", "mmd"], "cfr+".__eq__))
def test_every_kind_of_minimizer_batches(tree, name):
    solver = js.SOLVERS[name].build()
    trees = [_scaled(tree, 1.0), _scaled(tree, 0.5)]
    batch = js.solve_batch(trees, solver, iterations=4)
    again = js.solve_batch([trees[1], trees[0]], solver, iterations=4)
    np.testing.assert_allclose(batch.exploitability[0], again.exploitability[0][::-1], rtol=1e-6)
    assert batch.exploitability[0, 0] != batch.exploitability[0, 1]


def test_ranges_batch(tree):
    """A range of 0.5 halves both players' stakes in reach, so values scale with it."""
    player = tree.players[0]
    half = tree.replace(
        players=(
            jax.tree.map(lambda x: x, player).__class__(
                player.levels, player.children, player.root_reach * 0.5
            ),
            tree.players[1],
        )
    )
    batch = js.solve_batch([tree, half], js.cfr_plus(), iterations=ITERATIONS)
    np.testing.assert_allclose(batch.values[1] * 2, batch.values[0], rtol=1e-4)


def test_trees_of_other_rows_are_vmapped():
    """Same padded shapes, other games: indices differ, so members are vmapped."""
    names = ["matching_pennies(numbers=6)", "matching_pennies(numbers=7)"]
    trees = [js.compile(games.load(n), bucket=lambda size: 16) for n in names]
    batch = js.solve_batch(trees, js.cfr_plus(), iterations=ITERATIONS)
    alone = [_alone(t, js.cfr_plus()) for t in trees]
    np.testing.assert_allclose(batch.exploitability[-1], alone, rtol=1e-4, atol=1e-6)


def test_hand_layout_batches():
    tree = js.compile(games.load("kuhn"), layout="hands")
    trees = [_scaled(tree, 1.0), _scaled(tree, 2.0)]
    batch = js.solve_batch(trees, js.cfr_plus(), iterations=ITERATIONS)
    alone = [_alone(t, js.cfr_plus()) for t in trees]
    np.testing.assert_allclose(batch.exploitability[-1], alone, rtol=2e-5)


def test_refuses_what_does_not_fit(tree):
    other = js.compile(games.load("rps_plus"))
    with pytest.raises(ValueError, match=r"kuhn with own levels \[2, 1\].* and rps_plus"):
        js.solve_batch([tree, other], js.cfr(), iterations=1)
    with pytest.raises(ValueError, match="do not pair"):
        js.solve_batch([tree] * 3, [js.cfr()] * 2, iterations=1)
    with pytest.raises(ValueError, match="different kinds"):
        js.solve_batch(tree, [js.cfr(), js.pcfr_plus()], iterations=1)
    with pytest.raises(ValueError, match="iterations should be a whole number"):
        js.solve_batch(tree, js.cfr(), iterations=0)
    small = js.compile(games.load("matching_pennies(numbers=5)"), bucket=coarse)
    large = js.compile(games.load("matching_pennies(numbers=50)"), bucket=coarse)
    with pytest.raises(ValueError, match=r"shape, \(.*\) and \(.*\)"):
        js.solve_batch([small, large], js.cfr(), iterations=1)

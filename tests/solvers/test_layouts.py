"""Iterations in the forms for accelerators against those of a CPU, on the same processor."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.solvers import init_state, run
from jaxsolve.solvers._levels import sweeps_levels
from jaxsolve.tree import MatrixPayoffs, laid_out, take


def test_every_layout_iterates_alike():
    # In float64: where a sum of regrets is 0, rounding decides between a pure and a uniform row.
    with jax.enable_x64(True):
        tree, solver = js.compile(games.load("liars_dice(sides=2)")), js.dcfr()
        found = []
        for platform in ("cpu", "gpu", "tpu"):
            here = laid_out(tree, platform)
            assert sweeps_levels(here, solver) == (platform != "cpu")
            state = run(here, solver, init_state(here, solver), jnp.int32(6), jnp.int32(6))
            found.append((state.reach, [m.mean for m in state.average], state.policy))
        for other in found[1:]:
            for x, y in zip(jax.tree.leaves(found[0]), jax.tree.leaves(other), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


def test_locks_and_predictions_keep_the_form_of_a_processor():
    tree = laid_out(js.compile(games.load("kuhn")), "tpu")
    assert isinstance(tree.leaves[0], MatrixPayoffs)
    assert not sweeps_levels(tree, js.pcfr_plus())
    policy = js.uniform_policy(tree)
    plain = js.exploitability(js.compile(games.load("kuhn")), policy)
    np.testing.assert_allclose(js.exploitability(tree, policy), plain, rtol=1e-6)
    with pytest.raises(ValueError, match=r"laid_out\(tree, \"cpu\"\)"):
        init_state(tree, js.cfr_plus(), policy)


def test_comparing_finds_what_a_gather_finds():
    x = jnp.asarray(np.random.default_rng(0).normal(size=50), jnp.float32)
    index = jnp.asarray([[3, 49], [0, 3]])
    np.testing.assert_array_equal(take(x, index, one_hot=True), x[index])

"""A player's step in C++ against the loop in JAX, from states without ties."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve import native
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.regret import Step, normalise
from jaxsolve.solvers import SolveState, average_policy, init_state, run
from jaxsolve.solvers._loop import FUSED, sweep_of
from jaxsolve.tree import PublicTree

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TURN = {
    "board": "Ts9s8s2h",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}
FLOP = {**TURN, "board": "Ts9s8s", "stack": 60, "sizes": {"bet": ["a"], "raise": ["a"]}}
pytestmark = pytest.mark.skipif(
    not native.available(), reason="no C++ compiler here, or not a CPU: nothing to compare"
)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("flop", "wide river")]
"""Tens of seconds of compilation and plain iterations each."""


@pytest.fixture(scope="module", params=["turn, raked", *SLOW])
def spot(request: pytest.FixtureRequest) -> SpotTree:
    """Two, three and one streets, the longer ones with symmetric suits; more than one thread."""
    if request.param == "wide river":
        river = he.Spot.load(EXAMPLES / "river.toml").as_dict()
        wide = he.Spot.parse({**river, "oop": "full", "ip": "22+,A2+,K2+,Q2+"})
        return he.spot_tree(wide, operator="native")
    rake = {"rake": 0.05, "rake_cap": 8} if "raked" in request.param else {}
    return he.spot_tree(
        he.Spot.parse({**(FLOP if request.param == "flop" else TURN), **rake}), operator="native"
    )


def without_sweep(tree: PublicTree) -> PublicTree:
    return tree.replace(leaves=(dataclasses.replace(tree.leaves[0], sweep=None),))


def random_state(tree: PublicTree, solver: js.Solver, seed: int) -> SolveState:
    """Returns a state with random regrets and averages, in which no two actions are equal."""
    rng = np.random.default_rng(seed)
    policy = []
    for player in tree.players:
        weights = [
            jnp.asarray(rng.random((*b.legal.shape[:2], player.num_hands)), jnp.float32) * b.legal
            for b in player.blocks
        ]
        policy.append(
            tuple(normalise(w, b.legal) for w, b in zip(weights, player.blocks, strict=True))
        )
    state = init_state(tree, solver, js.Policy(tuple(policy)))

    def drawn(x: jax.Array, legal: jax.Array) -> jax.Array:
        regret = rng.normal(size=x.shape)
        if solver.minimizer.coefficients(Step(jnp.ones(()), jnp.ones(()))).least == 0:
            regret = 0.1 + np.abs(regret)  # matching+ has no negative ones
        return jnp.asarray(regret, jnp.float32) * legal

    regrets = tuple(
        tuple(type(s)(drawn(s[0], b.legal)) for s, b in zip(states, player.blocks, strict=True))
        for states, player in zip(state.minimizer, tree.players, strict=True)
    )
    average = tuple(
        m._replace(mean=jnp.asarray(rng.random(m.mean.shape), jnp.float32), weight=m.weight + 3)
        for m in state.average
    )
    return state._replace(minimizer=regrets, average=average, iteration=jnp.asarray(3, jnp.int32))


@pytest.mark.parametrize("solver", few(["dcfr", "pdcfr+"], "dcfr".__eq__))
def test_one_iteration_equals_the_loop(spot: SpotTree, solver: str):
    tree = spot.tree.replace(names=None)
    ready = js.load_solver(solver)
    assert sweep_of(tree, ready) is not None
    one, horizon = jnp.asarray(1, jnp.int32), jnp.asarray(10, jnp.int32)
    fused, plain = (
        run(t, ready, random_state(tree, ready, 7), one, horizon)
        for t in (tree, without_sweep(tree))
    )
    scale = max(float(jnp.abs(r).max()) for r in jax.tree.leaves(plain.minimizer))
    for name, tolerance in (("minimizer", 2e-5 * scale), ("policy", 5e-4), ("reach", 1e-4)):
        pairs = zip(
            jax.tree.leaves(getattr(fused, name)),
            jax.tree.leaves(getattr(plain, name)),
            strict=True,
        )
        for a, b in pairs:
            np.testing.assert_allclose(a, b, atol=tolerance, err_msg=name)
    for player, (a, b) in enumerate(zip(fused.average, plain.average, strict=True)):
        # Padding is never reached; the loop averages it and the sweep leaves it alone.
        legal = np.concatenate(
            [np.ones(1, bool), *(np.asarray(x).reshape(-1) for x in tree.players[player].legal)]
        )
        np.testing.assert_allclose(a.mean[legal], b.mean[legal], atol=2e-6)
        np.testing.assert_array_equal(a.weight, b.weight)


@pytest.mark.parametrize("iterations", [1, 40])
def test_payoffs_and_best_responses_are_those_of_the_average_policy(
    spot: SpotTree, iterations: int
):
    tree, solver = spot.tree.replace(names=None), js.dcfr()
    state = init_state(tree, solver)
    state = run(tree, solver, state, jnp.int32(iterations), jnp.int32(iterations))
    (leaf,) = tree.leaves
    payoffs, more = leaf.sweep.payoffs(tree, [m.mean for m in state.average])
    policy = average_policy(tree, state)
    want = js.expected_values(tree, policy)
    np.testing.assert_allclose(payoffs, want, atol=1e-5 * spot.spot.pot)
    best = js.best_response_values(tree, policy)
    np.testing.assert_allclose(more, best - want, atol=2e-5 * spot.spot.pot)
    assert float(more.min()) > 0


def test_many_iterations_equal_one_by_one(spot: SpotTree):
    tree, solver = spot.tree.replace(names=None), js.dcfr()
    horizon = jnp.asarray(FUSED + 3, jnp.int32)
    at_once = run(tree, solver, init_state(tree, solver), horizon, horizon)
    state = init_state(tree, solver)
    for _ in range(FUSED + 3):
        state = run(tree, solver, state, jnp.asarray(1, jnp.int32), horizon)
    # The coefficients of several steps may be rounded otherwise than those of one.
    for a, b in zip(jax.tree.leaves(at_once), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_runs_converge(spot: SpotTree):
    tree = spot.tree.replace(names=None)
    result = js.solve(tree, "dcfr", iterations=200, measure_every=100, progress=False)
    # Measured in JAX, from the average policy.
    assert result.exploitability < 0.005 * spot.spot.pot


def test_what_the_sweep_cannot_do_is_left_to_the_loop(spot: SpotTree):
    tree = spot.tree
    assert sweep_of(tree, js.dcfr().simultaneous()) is None
    assert sweep_of(tree, js.load_solver("mmd")) is None

    locked = he.lock(spot, "", {"x": 1.0})
    assert sweep_of(locked.tree, js.dcfr()) is None


def test_payoffs_scale(spot: SpotTree):
    tree = spot.tree.replace(names=None)
    twice = tree.replace(leaves=(tree.leaves[0].with_scale(jnp.float32(2)),))
    a, b = (js.solve(t, "cfr", iterations=1, progress=False).state for t in (tree, twice))
    for x, y in zip(jax.tree.leaves(a.minimizer), jax.tree.leaves(b.minimizer), strict=True):
        np.testing.assert_allclose(2 * x, y, rtol=1e-5, atol=1e-6)


def test_a_second_run_compiles_nothing(spot: SpotTree):
    tree = spot.tree.replace(names=None)
    js.solve(tree, "dcfr", iterations=2, progress=False)
    before = run._cache_size()
    js.solve(tree, js.dcfr(alpha=1.2), iterations=3, progress=False)
    assert run._cache_size() == before

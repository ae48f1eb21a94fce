"""The CFR loop: where it converges to, for how many players, and what it compiles."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from compiled import TRACED, counted
from few import few
from random_games import Tilted

import games
import jaxsolve as js
from jaxsolve.solvers import Solver, average_policy, current_policy, init_state, run
from jaxsolve.solvers.variants import SOLVERS
from jaxsolve.testing import random_game

STATED = {"mmd": {"eta": 0.2, "alpha": 0.01}}
"""Settings that suit payoffs of about 1 where they have to."""

VALUES = {"kuhn": -1 / 18, "rps_plus": 0.0, "coin_toss": 0.0}
BOUNDS = {
    **dict.fromkeys(("pcfr+", "sapcfr+", "apcfr+", "pdcfr+", "hs-pcfr+"), 1e-6),
    **dict.fromkeys(("lcfr", "dcfr", "dcfr+", "cfr+", "modicum-cfr+"), 1e-3),
    **dict.fromkeys(("cfr", "hs-dcfr"), 2e-3),
    "mmd": 2e-2,
}
"""Exploitability after 1,000 alternating iterations, on each game of VALUES."""


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


@jax.jit
def solved(trees: tuple[Any, ...], solver: Solver, iterations: int) -> list[Any]:
    """Per tree: the solver's policy, its exploitability and its values."""
    out = []
    for tree in trees:
        state = run(tree, solver, init_state(tree, solver), iterations, iterations)
        policy = (current_policy if solver.output == "current" else average_policy)(tree, state)
        out.append((policy, js.exploitability(tree, policy), js.expected_values(tree, policy)))
    return out


def named(tree: Any, policy: js.Policy) -> list[np.ndarray]:
    policy = js.Policy(policy.players, tree.info)
    return [policy.probabilities(i) for i in range(tree.num_players)]


@pytest.mark.parametrize("row", few(SOLVERS, {"cfr", "cfr+", "dcfr", "pcfr+", "mmd"}.__contains__))
def test_converges(row: str):
    trees = tuple(js.compile(games.load(name)) for name in VALUES)
    results = solved(trees, SOLVERS[row].build(**STATED.get(row, {})), 1000)
    for tree, (policy, gap, values), (name, known) in zip(
        trees, results, VALUES.items(), strict=True
    ):
        assert gap <= BOUNDS[row], name
        assert abs(values[0] - known) <= 2 * gap + 1e-6, name  # NashConv bounds the error
        for p, info in zip(named(tree, policy), tree.info.players, strict=True):
            assert (p >= 0).all()
            np.testing.assert_allclose(np.add.reduceat(p, info.offset[:-1]), 1, atol=1e-5)


def test_equilibrium_of_rock_paper_scissors_plus():
    tree = js.compile(games.load("rps_plus"))
    policy = solved((tree,), js.pcfr_plus(), 1000)[0][0]
    for p in named(tree, policy):
        np.testing.assert_allclose(p, [0.4, 0.4, 0.2], atol=1e-5)


def test_three_player_kuhn():
    tree = js.compile(games.load("kuhn(players=3)"))
    _, gap, values = solved((tree,), js.cfr_plus(), 1000)[0]
    assert 3 * gap < 1e-3
    np.testing.assert_allclose(values.sum(), 0, atol=1e-5)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("row", few(["cfr", "cfr+", "dcfr"], "cfr+".__eq__))
@pytest.mark.parametrize("simultaneous", [False, True])
def test_three_players_of_general_sum(row: str, simultaneous: bool):
    game = random_game(7, players=3, depth=6, silence=0.8, zero_sum=False)
    tree, reference = js.compile(game), oracle.walk(game)
    assert min(tree.info.num_infosets) >= 3
    solver = SOLVERS[row].build()
    if simultaneous:
        solver = solver.simultaneous()
    expected = oracle.solve(reference, row, iterations=5, simultaneous=simultaneous)[-1]
    policy, gap, values = solved((tree,), solver, 5)[0]
    for got, want in zip(named(tree, policy), oracle.flat(expected.average), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-9)
    np.testing.assert_allclose(3 * gap, oracle.nash_conv(reference, expected.average), atol=1e-9)
    np.testing.assert_allclose(values, oracle.values(reference, expected.average), atol=1e-9)


def test_a_player_who_never_acts():
    game = random_game(0, depth=1, silence=0.0)
    tree = js.compile(game)
    assert tree.info.num_infosets == (1, 0)
    state = run(tree, js.cfr_plus(), init_state(tree, js.cfr_plus()), 10, 10)
    policy = average_policy(tree, state)
    assert policy.probabilities(1).shape == (0,)
    assert js.exploitability(tree, policy) < 0.5
    assert tree.players[1].root_reach == 1  # not donated with the state


# --- float32 and float64, starting points -----------------------------------------------------


@pytest.mark.parametrize("row", few(["cfr", "dcfr", "pcfr+", "apcfr+", "mmd"], "dcfr".__eq__))
def test_float32_follows_float64(row: str):
    game = Tilted(games.load("kuhn"))
    policies = []
    for wide in (False, True):
        with jax.enable_x64(wide):
            tree = js.compile(game)
            policies.append(
                named(tree, solved((tree,), SOLVERS[row].build(**STATED.get(row, {})), 20)[0][0])
            )
    for single, double in zip(*policies, strict=True):
        assert (single.dtype, double.dtype) == (np.float32, np.float64)
        np.testing.assert_allclose(single, double, atol=2e-4)


def test_starts_from_a_policy_and_leaves_it_alone():
    tree, solver = js.compile(games.load("kuhn")), js.cfr()
    rng = np.random.default_rng(0)
    start = js.Policy(
        jax.tree.map(
            lambda p: jnp.asarray(_random_like(rng, p), p.dtype), js.uniform_policy(tree).players
        ),
        tree.info,
    )
    before = named(tree, start)
    state = run(tree, solver, init_state(tree, solver, start), 1, 1)
    for a, b in zip(before, named(tree, start), strict=True):  # the buffers are still there
        np.testing.assert_array_equal(a, b)
    # The average of one iteration is where it started.
    for a, b in zip(before, named(tree, average_policy(tree, state)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def _random_like(rng: np.random.Generator, policy: Any) -> np.ndarray:
    weights = np.where(np.asarray(policy) > 0, 0.1 + rng.random(policy.shape), 0)
    return weights / np.maximum(weights.sum(0), 1e-9)


# --- batches ---------------------------------------------------------------------------------


def assert_rows_equal(batch: Any, alone: list[Any]) -> None:
    """Checks that member k of a batch of policies is the k-th of a list."""
    for k, one in enumerate(alone):
        for a, b in zip(jax.tree.leaves(batch), jax.tree.leaves(one), strict=True):
            np.testing.assert_allclose(a[k], b, atol=1e-9)
    leaves = zip(*(jax.tree.leaves(one) for one in alone), strict=True)
    assert any(np.abs(a - b).max() > 1e-4 for a, b, *_ in leaves)  # the members do differ


@pytest.mark.usefixtures("float64")
def test_vmap_over_payoffs_equals_a_loop():
    tree = js.compile(Tilted(games.load("kuhn")))

    def play(scale: jax.Array) -> tuple[Any, Any]:
        member = tree.replace(leaves=tuple(leaf.with_scale(scale) for leaf in tree.leaves))
        state = run(member, js.mmd(), init_state(member, js.mmd()), 20, 20)
        policy = current_policy(member, state)
        return policy.players, js.expected_values(member, policy)

    scales = jnp.array([0.5, 1.0, 3.0])
    batch, values = jax.jit(jax.vmap(play))(scales)
    alone = [jax.jit(play)(s) for s in scales]
    assert_rows_equal(batch, [policy for policy, _ in alone])
    np.testing.assert_allclose(values, [value for _, value in alone], atol=1e-9)


@pytest.mark.usefixtures("float64")
def test_vmap_over_trees_equals_a_loop():
    trees = [js.compile(games.load("kuhn")), js.compile(Tilted(games.load("kuhn")))]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *trees)

    def play(tree: Any) -> Any:
        state = run(tree, js.cfr(), init_state(tree, js.cfr()), 10, 10)
        return average_policy(tree, state).players

    assert_rows_equal(jax.jit(jax.vmap(play))(stacked), [jax.jit(play)(t) for t in trees])


@pytest.mark.usefixtures("float64")
def test_vmap_over_hyper_parameters_equals_a_loop():
    tree = js.compile(Tilted(games.load("kuhn")))

    def play(alpha: jax.Array, gamma: jax.Array) -> Any:
        solver = js.dcfr(alpha=alpha, gamma=gamma)
        state = run(tree, solver, init_state(tree, solver), 20, 20)
        return average_policy(tree, state).players

    alpha, gamma = jnp.array([0.5, 1.5, 4.0]), jnp.array([0.0, 2.0, 3.0])
    alone = [jax.jit(play)(a, g) for a, g in zip(alpha, gamma, strict=True)]
    assert_rows_equal(jax.jit(jax.vmap(play))(alpha, gamma), alone)


# --- traces ----------------------------------------------------------------------------------


def test_equal_shapes_trace_once():
    with jax.debug_key_reuse(False):  # which traces every call anew
        _check_traces()


def _check_traces() -> None:
    init = jax.jit(init_state)

    def everything(tree: Any, solver: Solver, iterations: int) -> None:
        state = run(tree, solver, init(tree, solver), iterations, iterations)
        policy = average_policy(tree, state)
        js.exploitability(tree, policy)
        js.expected_values(tree, policy)
        js.best_response(tree, policy, 0)

    first = js.compile(games.load("coin_toss"))
    other = js.compile(games.load("coin_toss(sell_heads=-0.75,sell_tails=0.25)"))
    with counted(TRACED) as traced:
        everything(first, js.dcfr(), 3)
    assert "run" in str(traced)
    with counted(TRACED) as traced:
        everything(first, js.dcfr(), 3)  # again
        everything(first, js.dcfr(), 7)  # longer
        everything(first, js.dcfr(alpha=1.1, beta=0.3, gamma=2.5), 3)  # other hyper-parameters
        everything(other, js.dcfr(), 3)  # other payoffs and names
    assert traced == []


@pytest.mark.slow  # compiles two sweeps
def test_the_example_of_a_sweep_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "sweep.py"))
    assert np.asarray(names["gaps"]).max() < 0.02
    np.testing.assert_allclose(
        names["value_of"](jnp.arange(1.0, 5.0)), -np.arange(1.0, 5.0) / 18, rtol=0.01
    )
    assert "values" in capsys.readouterr().out

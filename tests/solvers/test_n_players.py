"""More than two players and general sums: solvers, averages, best responses and NashConv.

Full-width CFR on three players is compared with plain Python elsewhere (`test_loop`); here it is
what solvers reach, and what OpenSpiel and closed forms say of it.
"""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import oracle
import pytest

import games
import jaxsolve as js
from jaxsolve.evaluate._lp import behaviour_of, realization
from jaxsolve.solvers import Solver, average_policy, current_policy, init_state, run
from jaxsolve.testing import random_game
from jaxsolve.tree import policy_from_probabilities

KUHN, LEDUC = "kuhn(players=3)", "leduc(players=3,ranks=2,raises=1)"

# NashConv (the sum over players) after 1,000 iterations; samplers with 64 samples each.
BOUNDS: dict[str, tuple[Solver, float]] = {
    "cfr": (js.cfr(), 1e-2),
    "cfr+": (js.cfr_plus(), 1e-3),
    "dcfr": (js.dcfr(), 1e-3),
    "pcfr+": (js.pcfr_plus(), 1e-3),
    "es-mccfr": (js.es_mccfr(batch=64), 0.02),
    "os-mccfr": (js.os_mccfr(batch=64), 0.08),
}


def names(*wanted: str) -> list[Any]:
    """Solvers as parameters. Samplers compile for ten seconds and more, so most are slow tests."""
    slow = pytest.mark.slow
    return [pytest.param(n, marks=slow) if n.endswith("mccfr") else n for n in wanted]


PRISONERS = "matrix(payoffs=[[5,0],[10,1]],column_payoffs=[[5,10],[0,1]])"
SEXES = "matrix(payoffs=[[3,0],[0,2]],column_payoffs=[[2,0],[0,3]])"
DOMINATED = (  # rows 1, then columns 2, then nothing is left to choose
    "matrix(payoffs=[[1,0,2],[3,1,4],[2,0,3]],column_payoffs=[[4,1,3],[1,0,2],[5,2,2]])"
)


@functools.cache
def tree_of(text: str) -> js.PublicTree:
    return js.compile(games.load(text))


@functools.cache
def solved(text: str, name: str, iterations: int) -> js.Policy:
    tree = tree_of(text)
    solver = BOUNDS[name][0].bind(tree)
    state = run(tree, solver, init_state(tree, solver), jnp.int32(iterations), jnp.int32(1000))
    return average_policy(tree, state)


@pytest.mark.parametrize("name", names(*BOUNDS))
def test_nash_conv_of_three_player_kuhn(name: str):
    policy = solved(KUHN, name, 1000)
    gap = float(js.nash_conv(tree_of(KUHN), policy))
    assert -1e-6 <= gap <= BOUNDS[name][1]
    assert float(js.exploitability(tree_of(KUHN), policy)) == pytest.approx(gap / 3, abs=1e-6)


@pytest.mark.parametrize("name", names("cfr+", "es-mccfr"))
def test_nash_conv_of_three_player_kuhn_by_openspiel(name: str):
    pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    from open_spiel.python.algorithms import exploitability

    tree = tree_of(KUHN)
    for policy in (solved(KUHN, name, 1000), random_policy(tree)):
        theirs = js.to_openspiel(tree, policy)
        want = exploitability.nash_conv(theirs.game, theirs)
        assert float(js.nash_conv(tree, policy)) == pytest.approx(want, abs=2e-6)


@pytest.mark.slow  # half a minute of compilation for a game of 3 x 1,000 infosets
@pytest.mark.parametrize("name", names("cfr", "cfr+", "dcfr", "os-mccfr"))
def test_three_player_leduc(name: str):
    # No theorem says that regret minimizers find an equilibrium of three players; they come
    # close and may leave again, where rounding decides between actions of equal value.
    tree = tree_of(LEDUC)
    start = float(js.nash_conv(tree, js.uniform_policy(tree)))
    policy = solved(LEDUC, name, 300)
    gap = float(js.nash_conv(tree, policy))
    assert gap <= start * (0.5 if name == "os-mccfr" else 0.05)
    reference = walked(LEDUC)
    strategy = oracle.from_flat(reference, [policy.probabilities(i) for i in range(3)])
    assert oracle.nash_conv(reference, strategy) == pytest.approx(gap, abs=2e-5)
    best = js.best_response_values(tree, policy)
    for i in range(3):
        value, _ = oracle.best_response(reference, strategy, i)
        assert float(best[i]) == pytest.approx(value, abs=1e-5)
        assert float(js.best_response(tree, policy, i).value) == pytest.approx(value, abs=1e-5)


@functools.cache
def walked(text: str) -> oracle.OracleGame:
    return oracle.walk(games.load(text))


@pytest.mark.parametrize("name", names("cfr+", "es-mccfr", "os-mccfr"))
def test_averages_are_right_for_every_player(name: str):
    # The average is every player's own realization plan, averaged over the policies they played.
    tree, iterations = tree_of(KUHN), 6
    solver = BOUNDS[name][0].bind(tree)
    state = init_state(tree, solver)
    plans: list[list[np.ndarray]] = [[], [], []]
    for _ in range(iterations):
        played = current_policy(tree, state)
        for i, rows in enumerate(tree.info.form.rows):
            plans[i].append(realization(rows, played.probabilities(i)))
        state = run(tree, solver, state, jnp.int32(1), jnp.int32(1000))
    weight = np.arange(1, iterations + 1) if name == "cfr+" else np.ones(iterations)
    average = average_policy(tree, state)
    for i, rows in enumerate(tree.info.form.rows):
        mean = weight @ np.array(plans[i])
        want = behaviour_of(rows, mean)
        np.testing.assert_allclose(average.probabilities(i), want, atol=1e-5)
        assert np.ptp(plans[i], axis=0).max() > 0.1  # everybody's policy moves


@pytest.mark.parametrize("text", [PRISONERS, SEXES, DOMINATED])
def test_nash_conv_of_general_sum_matrices(text: str):
    tree, game = tree_of(text), games.load(text)
    a, b = np.array(game.payoffs), np.array(game.column_payoffs)
    policy = random_policy(tree)
    x, y = (policy.probabilities(i) for i in range(2))
    want = (a @ y).max() - x @ a @ y + (x @ b).max() - x @ b @ y
    assert float(js.nash_conv(tree, policy)) == pytest.approx(want, abs=1e-5)
    np.testing.assert_allclose(js.expected_values(tree, policy), [x @ a @ y, x @ b @ y], atol=1e-5)


@pytest.mark.parametrize("name", names(*BOUNDS))
def test_where_dominance_leaves_one_profile_every_solver_finds_it(name: str):
    assert_solved(PRISONERS, (1, 1), name)


@pytest.mark.parametrize("name", ["cfr+", "dcfr"])
@pytest.mark.parametrize(("text", "values"), [(SEXES, None), (DOMINATED, (4, 2))])
def test_general_sum_matrices(text: str, values: Any, name: str):
    # In the battle of the sexes the first of two equilibria in pure strategies, or the other, by
    # what is played first.
    assert_solved(text, values, name)


def assert_solved(text: str, values: Any, name: str) -> None:
    tree = tree_of(text)
    policy = solved(text, name, 1000)
    assert float(js.nash_conv(tree, policy)) <= 0.1
    if values is not None:
        np.testing.assert_allclose(js.expected_values(tree, policy), values, atol=0.1)


@pytest.mark.parametrize("name", names("es-mccfr", "os-mccfr", "pcs-mccfr"))
def test_a_player_who_never_acts(name: str):
    tree = js.compile(random_game(0, depth=1, silence=0.0))
    assert tree.info.num_infosets == (1, 0)
    solver = js.SAMPLERS[name].build(batch=2).bind(tree)
    state = run(tree, solver, init_state(tree, solver), jnp.int32(200), jnp.int32(200))
    assert js.exploitability(tree, average_policy(tree, state)) < 0.1


def random_policy(tree: js.PublicTree) -> js.Policy:
    random, lists = np.random.default_rng(0), []
    for p in tree.info.players:
        weight = random.uniform(0.1, 1, len(p.action))
        lists.append(weight / np.repeat(np.add.reduceat(weight, p.offset[:-1]), np.diff(p.offset)))
    return policy_from_probabilities(tree, lists)

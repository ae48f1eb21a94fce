"""Samplers: right in expectation, the same again for the same seed, honest about their cost.

Expectations are enumerated where that is possible: every sample's numbers are set to the middle of
an interval that leads to one choice, and all choices are weighed by their probability. Elsewhere
means of many samples must lie within five standard errors.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_games import Tilted

import games
import jaxsolve as js
from jaxsolve.solvers import average_policy, init_state, node_curve, nodes_touched, run
from jaxsolve.solvers.sampling._external import capacities, external
from jaxsolve.solvers.sampling._outcome import outcome
from jaxsolve.solvers.sampling._public_events import public_chance
from jaxsolve.solvers.sampling._shared import action_values, add_scattered, add_sorted
from jaxsolve.testing import random_game
from jaxsolve.tree import (
    HistoryTree,
    history_tree,
    listed,
    payoffs_by_states,
    policy_from_probabilities,
)
from jaxsolve.tree._public_tree import leaf_values, reach_of, values_of

# Each sampled solver compiles for half a minute on a busy machine: run with `make test-slow`.
# What is not marked compiles little: every sampler on one tiny game, exactly in expectation.
slow = pytest.mark.slow

SAMPLERS = {
    "es": lambda **options: js.es_mccfr(**options),
    "os": lambda **options: js.os_mccfr(**options),
    "pcs": lambda **options: js.pcs_mccfr(**options),
}

GAMES = {
    "kuhn": lambda: games.load("kuhn"),
    "kuhn3": lambda: games.load("kuhn(players=3)"),
    "leduc": lambda: games.load("leduc(suits=1,raises=1)"),
    "goofspiel": lambda: games.load("goofspiel(cards=3)"),
    "tilted": lambda: Tilted(games.load("kuhn")),
    "random": lambda: random_game(5, depth=6, silence=0.8),
    "random3": lambda: random_game(8, players=3, depth=6, silence=0.8, zero_sum=False),
}


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@functools.cache
def tree_of(name: str) -> js.PublicTree:
    return js.compile(GAMES[name]())


def policy_in_quarters(tree: js.PublicTree) -> js.Policy:
    """Probabilities are multiples of 1/4, and some are 0; infosets have one or two actions."""
    lists = []
    for p in tree.info.players:
        random = np.random.default_rng(1)
        rows = [
            np.array([x, 4 - x]) / 4 if n == 2 else np.ones(1)
            for n, x in zip(np.diff(p.offset), random.integers(0, 5, p.num_infosets), strict=True)
        ]
        lists.append(np.concatenate(rows))
    return policy_from_probabilities(tree, lists)


def random_policy(tree: js.PublicTree, seed: int = 0) -> js.Policy:
    random = np.random.default_rng(seed)
    lists = []
    for p in tree.info.players:
        weight = random.uniform(0.1, 1, len(p.action))
        lists.append(weight / np.repeat(np.add.reduceat(weight, p.offset[:-1]), np.diff(p.offset)))
    return policy_from_probabilities(tree, lists)


def exact(tree: js.PublicTree, policy: js.Policy, player: int) -> np.ndarray:
    """Counterfactual action values of full-width CFR, as one vector."""
    return flat(_exact(tree, policy.players, player))


@functools.partial(jax.jit, static_argnames="player")
def _exact(tree: js.PublicTree, policy: Any, player: int) -> Any:
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    gain = leaf_values(tree, player, reach)
    mine = policy[player]
    return values_of(tree.players[player], gain, lambda k, q: (mine[k] * q).sum(0))[0]


def flat(blocks: Any) -> np.ndarray:
    return np.concatenate([np.asarray(b).reshape(-1) for b in blocks])


def estimate(tree: js.PublicTree, solver: Any, policy: js.Policy, player: int, times: int) -> Any:
    """Returns (estimates [times, ...] of all action values, nodes touched [times])."""
    sampler = solver.bind(tree).sampler
    blocks, nodes = _estimates(tree, sampler, policy.players, player, times)
    return np.concatenate([np.asarray(b).reshape(times, -1) for b in blocks], 1), np.asarray(nodes)


@functools.partial(jax.jit, static_argnames=("player", "times"))
def _estimates(tree: Any, sampler: Any, policy: Any, player: int, times: int) -> Any:
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    return jax.lax.map(
        lambda t: sampler(tree, player, policy, reach, t), jnp.arange(times, dtype=jnp.int32)
    )


# --- Expectations, exactly ---------------------------------------------------------------------


@dataclasses.dataclass
class Paths:
    """Every path, with the numbers in [0, 1) that lead outcome sampling to it."""

    uniform: list[list[float]]
    chance: list[float]
    end: list[int]


def all_paths(history: HistoryTree, odds: np.ndarray, player: int, epsilon: float) -> Paths:
    """Own actions are taken twice: the lowest numbers explore, the others follow the policy."""
    out = Paths([], [], [])
    depths = history.num_depths - 1
    nodes = np.asarray(history.nodes)

    def descend(state: int, uniform: list[float], chance: float) -> None:
        actor, children, first, base, stride = nodes[state]
        if children == 0:
            out.uniform.append(uniform + [0.5] * (depths - len(uniform)))
            out.chance.append(chance)
            out.end.append(state)
            return
        p = odds[base + stride * np.arange(children)]
        slot = np.arange(children)
        if actor == player:
            p = np.concatenate([np.full(children, epsilon / children), (1 - epsilon) * p])
            slot = np.tile(slot, 2)
        edges = np.concatenate([[0], np.cumsum(p)])
        for k in np.flatnonzero(p):
            descend(first + slot[k], [*uniform, (edges[k] + edges[k + 1]) / 2], chance * p[k])

    descend(0, [], 1.0)
    return out


@functools.partial(jax.jit, static_argnames="player")
def outcomes(
    tree: Any, history: Any, policy: Any, player: int, epsilon: Any, uniform: Any, weight: Any
) -> Any:
    """Returns (terminal states [B], weighted sum of the action values)."""
    odds = history.odds(policy)
    seen = jax.vmap(lambda u: outcome(history, odds, player, epsilon, u))(uniform)
    here = jnp.where(seen.position < 0, -1, seen.position - history.start(policy, player))
    return seen, action_values(tree.players[player], here, seen.value * weight[:, None])


@functools.partial(jax.jit, static_argnames=("player", "size"))
def externals(
    tree: Any, history: Any, policy: Any, player: int, size: Any, uniform: Any, weight: Any
) -> Any:
    """Returns (visits, weighted sum of the action values)."""
    odds = history.odds(policy)
    seen = jax.vmap(lambda u: external(history, odds, player, size, u))(uniform)
    here = jnp.where(seen.position < 0, -1, seen.position - history.start(policy, player))
    return seen, action_values(tree.players[player], here, seen.value * weight[:, None])


@pytest.mark.parametrize("epsilon", [0.3, 0.9])
@pytest.mark.parametrize(
    "name", ["kuhn", pytest.param("kuhn3", marks=slow), pytest.param("random3", marks=slow)]
)
def test_outcome_sampling_is_exact_in_expectation(name: str, epsilon: float):
    tree = tree_of(name)
    policy = policy_in_quarters(tree) if name.startswith("kuhn") else random_policy(tree)
    history = history_tree(tree)
    odds = np.asarray(history.odds(policy.players).each)
    for i in range(tree.num_players):
        paths = all_paths(history, odds, i, epsilon)
        weight = jnp.array(paths.chance)
        assert weight.sum() == pytest.approx(1, abs=1e-12)
        seen, got = outcomes(
            tree, history, policy.players, i, epsilon, jnp.array(paths.uniform), weight
        )
        np.testing.assert_array_equal(seen.end, paths.end)
        np.testing.assert_allclose(flat(got), exact(tree, policy, i), atol=1e-12)


def test_external_sampling_is_exact_in_expectation():
    # Two cards are dealt, with 3 and 2 outcomes; afterwards at most two states of a depth ask
    # for a sampled action, whose probabilities are quarters. A grid of all numbers that matter.
    tree = tree_of("kuhn")
    policy, history = policy_in_quarters(tree), history_tree(tree)
    table = listed(tree).states
    sizes = (1, 1, 1, 2, 2, 2), (1, 1, 1, 1, 2, 1)
    for i, size in enumerate(sizes):
        assert capacities(table, i) == size
        grids = [[1 / 6, 3 / 6, 5 / 6], [1 / 4, 3 / 4]]
        for depth in range(2, 6):
            asks = history.widths[depth][1 - i] > 0
            grids += [[1 / 8, 3 / 8, 5 / 8, 7 / 8] if asks else [0.5]] * size[depth]
        uniform = jnp.array(list(itertools.product(*grids)))
        weight = jnp.full(len(uniform), 1 / len(uniform))
        seen, got = externals(tree, history, policy.players, i, size, uniform, weight)
        np.testing.assert_allclose(flat(got), exact(tree, policy, i), atol=1e-12)
        value = float(js.expected_values(tree, policy)[i])
        assert np.mean(seen.root) == pytest.approx(value, abs=1e-12)


def test_public_chance_sampling_is_exact_in_expectation():
    # Three betting sequences lead to the board card: check-check, raise-call, check-raise-call.
    # Each is a point of its own, and no two lie on one path: enumerate one event for all.
    tree = tree_of("leduc")
    events = public_chance(tree)
    assert events.odds.shape == (3, 3)
    assert len(events.parent) == 1 + 3 * 3
    np.testing.assert_allclose(events.odds, 1 / 3)
    policy = random_policy(tree)

    @functools.partial(jax.jit, static_argnames="i")
    def sampled(tree: Any, events: Any, policy: Any, i: int, uniform: Any) -> Any:
        other = reach_of(tree.players[1 - i], policy[1 - i])
        weight = events.weights(uniform)
        gain = events.lists[i](other, weight)
        values, _ = values_of(tree.players[i], gain, lambda k, q: (policy[i][k] * q).sum(0))
        return weight, values

    for i in range(2):
        total = 0
        for k in range(3):
            weight, values = sampled(tree, events, policy.players, i, jnp.full(3, (k + 0.5) / 3))
            assert sorted(set(np.asarray(weight).tolist())) == [0, 1, 3]
            total = total + flat(values) / 3
        np.testing.assert_allclose(total, exact(tree, policy, i), atol=1e-12)


@slow
def test_public_chance_events_of_many_rounds_multiply():
    # Three prizes in random order: three events, then two, then a certain one.
    tree = tree_of("goofspiel")
    events = public_chance(tree)
    assert events.longest == 2
    random = np.random.default_rng(0)
    weight = jax.vmap(events.weights)(jnp.array(random.random((20_000, len(events.odds)))))
    assert set(np.unique(np.asarray(weight).round(9))) == {0, 1, 3, 6}
    mean, error = np.mean(weight, 0), np.std(weight, 0) / np.sqrt(len(weight))
    assert (abs(mean - 1) <= 5 * error + 1e-12).all()
    assert int(events.size.sum()) == tree.info.num_states


@slow
def test_without_public_chance_public_chance_sampling_is_cfr():
    tree = tree_of("tilted")
    assert public_chance(tree).longest == 0
    states = [
        run(tree, solver, init_state(tree, solver), 20, 20)
        for solver in (js.cfr(), js.pcs_mccfr(batch=3).bind(tree))
    ]
    for one, other in zip(*(average_policy(tree, s).players for s in states), strict=True):
        np.testing.assert_allclose(flat(one), flat(other), atol=1e-9)


# --- Expectations, by the mean of many ---------------------------------------------------------


@slow
@pytest.mark.parametrize(
    ("name", "sampler"),
    [("random3", "es"), ("random3", "os"), ("random3", "pcs"), ("leduc", "pcs")],
)
def test_means_are_those_of_full_cfr(name: str, sampler: str):
    tree = tree_of(name)
    policy = random_policy(tree)
    solver = SAMPLERS[sampler](batch=64, seed=3)
    for i in range(tree.num_players):
        samples, _ = estimate(tree, solver, policy, i, 400)
        mean, error = samples.mean(0), samples.std(0) / np.sqrt(len(samples))
        # A rare entry may not have been seen at all; its standard error says nothing then.
        want = exact(tree, policy, i)
        seen = (samples != 0).sum(0) > 20
        assert seen.mean() > 0.5
        assert (abs(mean - want)[seen] <= 5 * error[seen] + 1e-12).all()
        spread = np.linalg.norm(samples - want, axis=1)
        assert np.linalg.norm(mean - want) <= 3 * np.sqrt((spread**2).mean() / len(samples))


# --- The same again ----------------------------------------------------------------------------


@slow
@pytest.mark.parametrize("sampler", ["es", "os"])
def test_a_batch_is_the_mean_of_its_samples(sampler: str):
    tree = tree_of("kuhn")
    policy, history = random_policy(tree), history_tree(tree)
    player, batch = 1, 8
    bound = SAMPLERS[sampler](batch=batch, seed=5).bind(tree).sampler
    together, nodes = estimate(tree, SAMPLERS[sampler](batch=batch, seed=5), policy, player, 3)
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(5), 2), player)
    size = sum(bound.capacity[player]) if sampler == "es" else history.num_depths - 1
    total, touched = 0, 0
    for uniform in jax.random.uniform(key, (batch, size)):
        args = (tree, history, policy.players, player)
        if sampler == "es":
            seen, got = externals(*args, bound.capacity[player], uniform[None], jnp.ones(1))
        else:
            seen, got = outcomes(*args, bound.epsilon, uniform[None], jnp.ones(1))
        total = total + flat(got) / batch
        touched += int(seen.nodes[0])
    np.testing.assert_allclose(together[2], total, atol=1e-12)
    assert touched == nodes[2]


@slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_resumed_run_equals_an_uninterrupted_one(sampler: str):
    tree = tree_of("kuhn" if sampler != "pcs" else "leduc")
    solver = SAMPLERS[sampler](batch=4, linear=True).bind(tree)

    def after(*parts: int) -> Any:
        state = init_state(tree, solver)
        for n in parts:
            state = run(tree, solver, state, jnp.int32(n), jnp.int32(9))
        return [np.asarray(x) for x in jax.tree.leaves(state)]

    once = after(9)
    for other in (after(9), after(4, 5)):
        for a, b in zip(once, other, strict=True):
            np.testing.assert_array_equal(a, b)
    other_seed = dataclasses.replace(solver.sampler, seed=1)
    solver = dataclasses.replace(solver, sampler=other_seed)
    assert any((a != b).any() for a, b in zip(once, after(9), strict=True))


@slow
def test_seeds_are_a_batch_axis():
    tree = tree_of("kuhn")
    solvers = [js.os_mccfr(batch=4, seed=s) for s in range(3)]
    batch = js.solve_batch(tree, solvers, iterations=20)
    assert len(set(batch.exploitability[-1].tolist())) == 3
    for solver, gap in zip(solvers, batch.exploitability[-1], strict=True):
        alone = js.solve(tree, solver, iterations=20, progress=False)
        assert alone.exploitability == pytest.approx(gap, abs=1e-12)


def test_both_ways_of_adding_up_agree():
    random = np.random.default_rng(2)
    index = jnp.array(random.integers(0, 9, 200))
    value = jnp.array(random.normal(size=200))
    want = np.bincount(index, value, 9)[:7]
    np.testing.assert_allclose(add_scattered(index, value, 7), want, atol=1e-12)
    np.testing.assert_allclose(
        jax.jit(add_sorted, static_argnums=2)(index, value, 7), want, atol=1e-12
    )
    np.testing.assert_array_equal(add_sorted(index[:0], value[:0], 3), np.zeros(3))


# --- What it costs -----------------------------------------------------------------------------


@slow
@pytest.mark.parametrize(
    ("sampler", "expected"),
    # By hand, under uniform play. A deal takes 3 states. Player 0 acts and is answered twice:
    # 3 + 2 + 2 * 1, and two more after pass-bet (1/2). Player 1 sees one action, then answers it.
    [("es", (3 + 2 + 2 + 1, 3 + 1 + 2 + 1 / 2)), ("os", (5 + 1 / 4, 5 + 1 / 4))],
)
def test_nodes_touched(sampler: str, expected: tuple[float, float]):
    tree = tree_of("kuhn")
    solver = SAMPLERS[sampler](batch=64)
    policy = js.uniform_policy(tree)
    if sampler == "os":
        solver = dataclasses.replace(solver, sampler=dataclasses.replace(solver.sampler, epsilon=1))
    for i, want in enumerate(expected):
        _, nodes = estimate(tree, solver, policy, i, 300)
        mean, error = nodes.mean() / 64, nodes.std() / 64 / np.sqrt(300)
        assert abs(mean - want) <= 5 * error + 1e-12


@slow
def test_nodes_of_public_chance_sampling():
    tree = tree_of("leduc")
    _, nodes = estimate(tree, js.pcs_mccfr(batch=2), js.uniform_policy(tree), 0, 50)
    events = public_chance(tree)
    before, after = int(events.size[0]), np.asarray(events.size[1:])
    assert nodes.min() >= 2 * (before + 3 * after.min())
    assert nodes.max() <= 2 * (before + 3 * after.max())
    assert before + after.sum() == tree.info.num_states


@slow
def test_counter_of_two_words():
    tree = tree_of("kuhn")
    solver = js.os_mccfr(batch=4).bind(tree)
    state = init_state(tree, solver)._replace(nodes=jnp.array([2**32 - 3, 1], jnp.uint32))
    before = nodes_touched(tree, state)
    state = run(tree, solver, state, 1, 1)
    assert 2 * 4 * 5 <= nodes_touched(tree, state) - before <= 2 * 4 * 6


@slow
def test_node_curve_counts_exact_solvers_too():
    tree = tree_of("kuhn")
    rows = node_curve(tree, js.cfr(), [1, 5])
    assert [(r.iteration, r.nodes, r.infosets) for r in rows] == [(1, 116, 12), (5, 580, 60)]
    sampled = node_curve(tree, js.os_mccfr(batch=4), [1, 5])
    assert 0 < sampled[0].nodes < sampled[1].nodes
    again = js.solve(tree, "os-mccfr(batch=4)", iterations=5, progress=False)
    assert again.nodes == sampled[1].nodes


# --- The states of a game, and what is refused -------------------------------------------------


@pytest.mark.parametrize(
    "name", [name if name == "kuhn" else pytest.param(name, marks=slow) for name in GAMES]
)
def test_history_and_tensors_agree(name: str):
    tree = tree_of(name)
    policy = random_policy(tree)
    np.testing.assert_allclose(
        payoffs_by_states(tree, policy.players), js.expected_values(tree, policy), atol=1e-12
    )


def test_unbound_solver_is_refused():
    tree, solver = tree_of("kuhn"), js.es_mccfr()
    with pytest.raises(ValueError, match=r"call solver\.bind\(tree\) first"):
        run(tree, solver, init_state(tree, solver), 1, 1)


def test_tree_without_states_is_refused():
    with pytest.raises(ValueError, match='layout="rows"'):
        js.es_mccfr().bind(js.compile(games.load("kuhn"), layout="hands"))


@slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_tree_with_other_payoffs_is_refused(sampler: str):
    tree = tree_of("kuhn")
    scaled = tree.replace(leaves=tuple(x.with_scale(2.0) for x in tree.leaves))
    with pytest.raises(ValueError, match="are not those of the rules of kuhn"):
        SAMPLERS[sampler]().bind(scaled)


@pytest.mark.parametrize("batch", [0, 2.5, -1])
def test_batch_must_be_a_whole_number(batch: float):
    with pytest.raises(ValueError, match="batch should be a whole number from 1 to"):
        js.es_mccfr(batch=batch)

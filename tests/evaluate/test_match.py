"""Matches, AIVAT and the local best response, against full enumeration."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.public import public_game
from jaxsolve.tree import listed, policy_from_probabilities
from jaxsolve.types import PRNGKey, PyTree


@functools.cache
def made(name: str = "leduc") -> js.PublicTree:
    return js.compile(games.load(name))


def random_policy(tree: js.PublicTree, seed: int) -> js.Policy:
    rng = np.random.default_rng(seed)
    parts = []
    for p in tree.info.players:
        raw = rng.exponential(size=len(p.action))
        total = np.add.reduceat(raw, p.offset[:-1])
        parts.append(raw / np.repeat(total, np.diff(p.offset)))
    return policy_from_probabilities(tree, parts)


@functools.cache
def near_equilibrium() -> js.Policy:
    result = js.solve(made(), "pcfr+", iterations=300, measure_every=300, progress=False)
    return result.average


def mixed(first: js.Policy, second: js.Policy) -> js.Policy:
    """Player 0 as in one policy, player 1 as in another."""
    tree = made()
    return policy_from_probabilities(tree, [_exact(first, 0), _exact(second, 1)])


def _exact(policy: js.Policy, player: int) -> np.ndarray:
    p = policy.info.players[player]
    raw = policy.probabilities(player).astype(np.float64)
    return raw / np.repeat(np.add.reduceat(raw, p.offset[:-1]), np.diff(p.offset))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", [1, 2])
def test_aivat_is_unbiased_whatever_the_opponent_and_the_values(player: int, seed: int):
    with jax.enable_x64(True):
        tree = js.compile(games.load("leduc"))
        play = random_policy(tree, seed)
        table = listed(tree).states
        odds = evaluate.outcome_probabilities(play)[table.terminal]
        raw = table.utility[:, player]
        values = np.random.default_rng(seed).normal(size=table.num_states)
        estimate = evaluate.aivat(play, values, player=player)[table.terminal]
    assert odds.sum() == pytest.approx(1, abs=1e-12)
    assert odds @ estimate == pytest.approx(odds @ raw, abs=1e-12)
    assert np.abs(estimate - raw).max() > 0.1  # it does estimate something else


def test_aivat_takes_most_of_the_luck_out():
    """An agent near equilibrium against itself and against another opponent."""
    good, other = near_equilibrium(), random_policy(made(), 3)
    table = listed(made()).states
    for opponent, least in ((good, 0.95), (other, 0.6)):
        play = mixed(good, opponent)
        odds = evaluate.outcome_probabilities(play)[table.terminal]
        raw = table.utility[:, 0]
        estimate = evaluate.aivat(good, evaluate.state_values(play))[table.terminal]
        mean = odds @ raw
        assert odds @ estimate == pytest.approx(mean, abs=1e-6)
        spread = [np.sqrt(odds @ (x - mean) ** 2) for x in (raw, estimate)]
        assert spread[1] <= (1 - least) * spread[0]


def test_state_values_are_those_of_the_tree():
    policy = random_policy(made(), 4)
    worth = evaluate.state_values(policy)
    assert worth[0] == pytest.approx(float(js.expected_values(made(), policy)[0]), abs=1e-5)


def test_matches_agree_with_the_exact_value():
    first, second = random_policy(made(), 5), random_policy(made(), 6)
    game = evaluate.arena(made())
    players = [agents.fixed(first), agents.fixed(second)]
    match = evaluate.play_matches(game, players, 4000, jax.random.key(0))
    seats = [
        js.expected_values(made(), mixed(a, b))[0] for a, b in ((first, second), (second, first))
    ]
    exact = float(seats[0] - seats[1]) / 2  # the first agent, in either seat
    found = evaluate.score(match)
    assert found.matches == 2000
    assert abs(found.mean - exact) < 4 * found.standard_error
    alone = evaluate.score(match, mirror=False)
    assert found.interval[0] < found.mean < found.interval[1]
    assert "95 %" in repr(alone)
    # The luck of the cards cancels: pairs spread less than two independent matches would.
    assert found.standard_error < 0.95 * alone.standard_error


def test_mirrored_matches_have_the_same_cards():
    game = evaluate.arena(made())
    players = [agents.fixed(random_policy(made(), 5)), agents.uniform()]
    match = evaluate.play_matches(game, players, 200, jax.random.key(1))
    table = listed(made()).states
    states = np.asarray(game.states(match.actions))
    np.testing.assert_array_equal(states[0::2, 2], states[1::2, 2])  # both private cards
    assert len(np.unique(states[:, 2])) > 20
    over = table.actor[states[:, -1]]
    assert (over == -2).all()
    # A policy against itself comes out even in every pair.
    same = [agents.fixed(js.uniform_policy(made()))] * 2
    again = evaluate.play_matches(game, same, 2000, jax.random.key(2))
    found = evaluate.score(again)
    assert abs(found.mean) < 4 * found.standard_error


def test_matches_compile_once():
    """All orders of seats are one program, and what an agent does is traced once for it."""
    from jaxsolve.evaluate import _play

    traced = []

    def counted(name: str) -> Agent:
        inner = agents.uniform()

        def act(mind: PyTree, seen: Observation, key: PRNGKey) -> tuple[Decision, PyTree]:
            traced.append(name)
            return inner.act(mind, seen, key)

        return inner._replace(act=act, name=name)

    game, before = evaluate.arena(made("kuhn")), _play.play._cache_size()
    players = [counted("first"), counted("second")]
    for seed in range(2):
        evaluate.play_matches(game, players, 8, jax.random.key(seed))
    assert _play.play._cache_size() == before + 1
    assert sorted(traced) == ["first", "second"]


def test_local_best_response_is_below_the_best_response():
    game = public_game(games.load("leduc"))
    policies = [near_equilibrium(), js.uniform_policy(made()), random_policy(made(), 7)]
    for policy in policies:
        table = game.table_of(policy)
        best = js.best_response_values(made(), policy)
        for player in range(2):
            found = evaluate.local_best_response(game, table, player)
            assert found <= float(best[player]) + 1e-5
    # Against uniform play it finds nearly all there is to win.
    uniform = game.table_of(policies[1])
    total = sum(evaluate.local_best_response(game, uniform, i) for i in range(2))
    assert total > 0.8 * float(js.best_response_values(made(), policies[1]).sum())


def test_bad_input():
    game = evaluate.arena(made("kuhn"))
    with pytest.raises(ValueError, match="1 agents for kuhn"):
        evaluate.play_matches(game, [agents.uniform()], 2, jax.random.key(0))
    with pytest.raises(ValueError, match="multiple of 2: 2, or"):
        evaluate.play_matches(game, [agents.uniform()] * 2, 3, jax.random.key(0))
    hands: Any = js.compile(games.load("kuhn"), layout="hands")
    with pytest.raises(ValueError, match="world states"):
        evaluate.arena(hands)
    with pytest.raises(ValueError, match="each needs one"):
        evaluate.aivat(near_equilibrium(), np.zeros(3))
    leduc = public_game(games.load("leduc"))
    with pytest.raises(ValueError, match="is not one of leduc"):
        evaluate.local_best_response(leduc, np.zeros((3, 3, 6)), 0)
    with pytest.raises(ValueError, match="no names"):
        agents.fixed(js.Policy(near_equilibrium().players))
    with pytest.raises(ValueError, match="plays leduc and cannot play kuhn"):
        evaluate.play_matches(game, [agents.fixed(near_equilibrium())] * 2, 2, jax.random.key(0))

"""Beliefs that searches ask about: they follow from one policy, and mix with others."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.public import actions_limit, no_limit, public_game
from jaxsolve.search import subgames

CHECKED, BET = 1, 2
"""Kinds of public states after player 0's first action."""


@functools.cache
def kuhn() -> Any:
    return public_game(games.load("kuhn"))


def queries(**options: Any) -> learn.Source:
    game = kuhn()
    chosen: Any = {"roots": [0], "search_iterations": 6, "iterations": 10} | options
    return learn.search_queries(
        game,
        subgames(game, actions_limit(1), classes=[0]),
        subgames(game, no_limit, classes=[CHECKED, BET]),
        js.pcfr_plus(),
        **chosen,
    )


@functools.cache
def net() -> nets.Net:
    return nets.make_net(kuhn(), nets.ValueNetwork(16, 1), jax.random.key(0))


@pytest.mark.parametrize("explore", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_beliefs_after_each_action_come_from_one_policy(explore: float):
    """m x (belief if he checked) + (1 - m) x (belief if he bet) is his range before."""
    source = queries(searches=1, leaves=16, explore=explore)
    sample = jax.jit(source.sample)
    parted = 0
    for seed in range(12):
        examples, _ = sample(net(), source.init(jax.random.key(0)), jax.random.key(seed))
        subgame_class, beliefs = np.asarray(examples.public), np.asarray(examples.beliefs)
        assert set(subgame_class.tolist()) == {CHECKED, BET}
        np.testing.assert_allclose(beliefs.sum(-1), 1, rtol=1e-5)
        np.testing.assert_allclose(beliefs[:, 1], beliefs[:1, 1].repeat(16, 0), atol=1e-6)
        after = [beliefs[subgame_class == k, 0] for k in (CHECKED, BET)]
        for same in after:
            np.testing.assert_allclose(same, same[:1].repeat(len(same), 0), atol=1e-6)
        if explore:
            continue
        np.testing.assert_allclose(beliefs[0, 1], 1 / 3, atol=1e-6)
        check, bet = after[0][0], after[1][0]
        change = check - bet
        share = ((1 / 3 - bet) @ change) / max(change @ change, 1e-9)
        assert -1e-4 <= share <= 1 + 1e-4
        np.testing.assert_allclose(share * check + (1 - share) * bet, 1 / 3, atol=1e-4)
        parted += bool(np.abs(change).max() > 0.05)
    assert explore or parted > 0


@pytest.mark.slow  # seconds of compilation
def test_mixed_sources_go_on_where_each_was():
    game = kuhn()
    below = subgames(game, no_limit)
    drawn = learn.random_beliefs(
        game, below, js.pcfr_plus(), stages=[[1, 2], [0]], steps=2, iterations=10, batch=3
    )
    both = learn.mixed(queries(searches=2, leaves=4, explore=0.5), drawn)
    assert both.batch == 11
    sample, of_drawn = jax.jit(both.sample), jax.jit(drawn.sample)
    examples, state = sample(net(), both.init(jax.random.key(0)), jax.random.key(1))
    assert examples.beliefs.shape == (11, 2, 3)
    assert int(state[1]) == 1
    alone, _ = of_drawn(net(), state[1], jax.random.fold_in(jax.random.key(2), 1))
    after, _ = sample(net(), state, jax.random.key(2))
    np.testing.assert_allclose(after.beliefs[8:], alone.beliefs)
    np.testing.assert_allclose(after.values[8:], alone.values, atol=1e-6)


def test_mixed_sources_may_differ_in_actions():
    """Where there are fewer actions than elsewhere, the others are never played."""

    def certain(actions: int) -> learn.Source:
        """Returns a source of a single belief, at which the last action is played."""
        hands = np.full((1, 2, 3), 1 / 3)
        policy = np.zeros((1, actions, 3))
        policy[:, -1] = 1
        one = learn.Examples(np.zeros(1, np.int32), hands, 0 * hands, policy)
        one = jax.tree.map(jnp.asarray, one)
        return learn.Source(lambda _: 0, lambda net, state, key: (one, state), 1, kuhn().states.at)

    both = learn.mixed(certain(2), certain(4))
    examples, _ = both.sample(net(), both.init(jax.random.key(0)), jax.random.key(1))
    np.testing.assert_array_equal(examples.policy[..., 0], [[0, 1, 0, 0], [0, 0, 0, 1]])


def test_no_searches_are_refused():
    with pytest.raises(ValueError, match="searches=0"):
        queries(searches=0, leaves=4)

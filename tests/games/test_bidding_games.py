"""Oshi-zumo and Blotto: forced bids, sealed bids, shared fields."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import games
from jaxsolve.game import Game, State
from jaxsolve.types import NOTHING, TERMINAL


def play(game: Game, *actions: int) -> State:
    state = game.init()
    for action in actions:
        assert game.legal(state)[action]
        state = game.step(state, jnp.int32(action))
    return state


def test_a_bid_is_sealed():
    game = games.OshiZumo(coins=5)
    shown = {tuple(game.observe(play(game, bid))[0].tolist()) for bid in range(6)}
    assert shown == {(6, NOTHING)}
    assert game.observe(play(game, 2, 4))[0].tolist() == [2, 4]
    assert game.observe(play(game, 2, 4, 1))[0].tolist() == [6, NOTHING]


def test_too_few_coins_for_the_smallest_bid():
    game = games.OshiZumo(coins=5, min_bid=3)
    state = play(game, 3, 4)
    assert np.flatnonzero(game.legal(state)).tolist() == [2]
    assert np.flatnonzero(game.legal(play(game, 3, 4, 2))).tolist() == [1]


@pytest.mark.parametrize(("alesia", "first"), [(False, 1), (True, 0)])
def test_wrestler_left_on_the_platform(alesia: bool, first: int):
    game = games.OshiZumo(coins=3, size=1, horizon=1, alesia=alesia)
    state = play(game, 3, 1)
    assert game.actor(state) == TERMINAL
    assert game.utility(state).tolist() == [first, -first]


def test_wrestler_off_the_platform():
    game = games.OshiZumo(coins=5, size=1, alesia=True)
    state = play(game, 1, 2, 1, 2)
    assert game.actor(state) == TERMINAL
    assert game.utility(state).tolist() == [-1, 1]


def test_blotto_payoffs():
    game = games.Blotto(coins=4, fields=3)
    spread = {game.action_name(0, a): a for a in range(game.num_actions)}
    assert len(spread) == 15
    for first, second, payoff in (
        ("2-2-0", "4-0-0", 0),  # one field each, one shared
        ("0-2-2", "4-0-0", 1),
        ("2-1-1", "2-0-2", 0),
        ("2-2-0", "3-1-0", 0),
        ("0-0-4", "1-2-1", -1),
    ):
        state = play(game, spread[first], spread[second])
        assert game.utility(state).tolist() == [payoff, -payoff], (first, second)


def test_blotto_shares():
    game = games.Blotto(coins=2, fields=3, players=3)
    spread = {game.action_name(0, a): a for a in range(game.num_actions)}
    state = play(game, spread["2-0-0"], spread["0-2-0"], spread["0-2-0"])
    assert game.utility(state).tolist() == [1, -0.5, -0.5]
    state = play(game, spread["2-0-0"], spread["0-2-0"], spread["1-0-1"])
    np.testing.assert_allclose(game.utility(state), 0)  # one field each


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("oshi_zumo(min_bid=51)", "min_bid must be 0 to coins=50"),
        ("oshi_zumo(horizon=0)", "horizon"),
        ("blotto(players=1)", "players should be a whole number from 2 to 10"),
    ],
)
def test_bad_parameters(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        games.load(text)

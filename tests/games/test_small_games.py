"""Matching pennies, Coin Toss, rock-paper-scissors+, matrix games: payoffs and who sees what."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import games
from jaxsolve.game import Game, State
from jaxsolve.types import CHANCE, NOTHING, TERMINAL


def play(game: Game, *actions: int) -> State:
    state = game.init()
    for action in actions:
        assert game.legal(state)[action]
        state = game.step(state, jnp.int32(action))
    return state


def payoffs(game: Game, *actions: int) -> list[float]:
    state = play(game, *actions)
    assert game.actor(state) == TERMINAL
    return game.utility(state).tolist()


@pytest.mark.parametrize(
    ("number", "sides", "first"),
    [
        (1, "hh", -0.98),
        (100, "hh", 1.0),
        (1, "tt", 1.0),
        (100, "tt", -0.98),
        (50, "hh", 0.0),
        (51, "tt", 0.0),
        (50, "ht", -1.0),
        (50, "th", -1.0),
    ],
)
def test_matching_pennies_payoffs(number: int, sides: str, first: float):
    got = payoffs(games.load("matching_pennies"), number - 1, *("ht".index(s) for s in sides))
    np.testing.assert_allclose(got, [first, -first], atol=1e-6)


def test_matching_pennies_views():
    game = games.MatchingPennies(numbers=6)
    views = [game.observe(play(game, n - 1))[1][:, 0].tolist() for n in range(1, 7)]
    assert views == [[1, 0], [1, 1], [2, 1], [2, 2], [3, 2], [3, 3]]


@pytest.mark.parametrize(
    ("actions", "first"),
    [
        ((0, 0), 0.5),  # heads, sold
        ((1, 0), -0.5),  # tails, sold
        ((0, 1, 0), -1.0),  # heads, played, guessed right
        ((0, 1, 1), 1.0),
        ((1, 1, 0), 1.0),
        ((1, 1, 1), -1.0),
    ],
)
def test_coin_toss_payoffs(actions: tuple[int, ...], first: float):
    assert payoffs(games.load("coin_toss"), *actions) == [first, -first]


def test_coin_toss_is_seen_by_player_0_only():
    game = games.CoinToss()
    for coin in (0, 1):
        state = play(game, coin)
        assert game.observe(state)[1].tolist() == [[coin], [NOTHING]]
    assert game.actor(game.init()) == CHANCE
    assert play(game, 0, 1).guess == -1


def test_coin_toss_equilibrium():
    """Guessing heads with 1/4 makes selling and playing worth the same for both coins."""
    game = games.CoinToss()
    for coin in (0, 1):
        sale = payoffs(game, coin, 0)[0]
        played = 0.25 * payoffs(game, coin, 1, 0)[0] + 0.75 * payoffs(game, coin, 1, 1)[0]
        assert played == sale


def test_rps_plus_equilibrium():
    """Every action is worth 0 against (.4, .4, .2), for both players."""
    game = games.RockPaperScissorsPlus()
    table = np.array([[payoffs(game, i, j)[0] for j in range(3)] for i in range(3)])
    np.testing.assert_array_equal(table, -table.T)
    np.testing.assert_allclose(table @ [0.4, 0.4, 0.2], 0, atol=1e-9)
    assert [abs(table[i, j]) for i, j in ((0, 1), (0, 2), (1, 2))] == [1, 2, 2]


def test_matrix_from_a_string():
    text = "matrix(payoffs=[[1,2,3],[4,5,6]],column_payoffs=[[6,5,4],[3,2,1]])"
    game = games.load(text)
    assert game.name == text
    assert game == games.Matrix(((1, 2, 3), (4, 5, 6)), ((6, 5, 4), (3, 2, 1)))
    assert hash(game) == hash(games.load(text))
    assert payoffs(game, 1, 2) == [6, 1]
    assert game.legal(game.init()).tolist() == [True, True, False]
    assert payoffs(games.load("matrix(payoffs=[[1],[0.5]])"), 1, 0) == [0.5, -0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("matrix(payoffs=[[1,2],[3]])", "rows of equal length"),
        ("matrix(payoffs=[1,2])", "each a list of at least 1 entries"),
        ("matrix(payoffs=words)", "payoffs should be a list"),
        ("matrix(payoffs=[[1,2]],column_payoffs=[[1],[2]])", "column_payoffs"),
        ("matching_pennies(numbers=0)", "a whole number from 1 to 30,000"),
        ("coin_toss(sell=1)", "sell_heads"),
    ],
)
def test_bad_parameters(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        games.load(text)

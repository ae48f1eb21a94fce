"""Hands played by tables, beside exact expected payoffs of small games."""

from __future__ import annotations

import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import mccfr


@pytest.mark.parametrize("name", few(["kuhn", "kuhn(players=3)", "leduc"], "kuhn".__eq__))
def test_means_are_expected_payoffs(name: str) -> None:
    """A random strategy: the mean over many hands is within sampling error of its exact value."""
    tree = js.compile(games.load(name))
    game = mccfr.listed_game(tree)
    tables = mccfr.make_tables(game)
    tables.average[:] = np.random.default_rng(5).exponential(size=len(tables.average)) - 0.4
    exact = np.asarray(js.expected_values(tree, game.policy_of(tables)))
    rng = np.random.default_rng(2)
    rows = rng.choice(len(game.chance), 200_000, p=game.chance)
    deals = mccfr.Deals(game.deals.bucket[rows], game.deals.outcome[rows])
    won = mccfr.play_hands(game, tables.average, deals, rng)
    np.testing.assert_allclose(won.sum(1), 0, atol=1e-5)
    error = won.std(0) / np.sqrt(len(won))
    assert np.abs((won.mean(0) - exact) / error).max() < 4
    assert np.abs(exact / error).max() > 5  # so that a wrong seat would be found


def test_a_table_of_another_game_is_refused() -> None:
    game = mccfr.listed_game(js.compile(games.load("kuhn")))
    with pytest.raises(ValueError, match="entries is not of"):
        mccfr.play_hands(game, np.zeros(5), game.deal(0, 0, 1), np.random.default_rng(0))

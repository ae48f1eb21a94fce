"""Networks of positions: whose value it is, what training does, files."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
from jaxsolve import learn
from jaxsolve.nets import PositionNet, load_position_net, position_net, save_position_net


@pytest.mark.slow  # programs of games and of a fit
def test_a_network_learns_how_games_end_and_is_kept(tmp_path: Path):
    rules = games.load("dark_chess(fen=k3/4/4/KR2_w)").positions
    untrained = position_net(rules, jax.random.key(0), hidden=4)
    state = rules.init()
    assert float(untrained(state)) == pytest.approx(float(rules.evaluate(state)), abs=1e-6)

    played = [
        learn.position_games(rules, rules.evaluate, jax.random.key(k), num_games=16, plies=10)
        for k in range(2)
    ]
    assert played[0].played[0].all()
    assert set(np.unique(played[0].result)) <= {-1.0, 0.0, 1.0}
    over = ~np.asarray(played[0].played[-1])
    assert over.any()
    assert (np.asarray(played[0].result)[over] != 0).any()
    turns = np.asarray(played[0].states.turn)[np.asarray(played[0].played)]
    assert set(turns.tolist()) == {0, 1}

    fit = learn.train_positions(rules, played, jax.random.key(3), hidden=4, steps=200, batch=64)
    assert fit.loss < 0.9 * fit.guess_loss
    save_position_net(fit.net, tmp_path / "net.npz")
    again = load_position_net(tmp_path / "net.npz", rules)
    assert float(again(state)) == float(fit.net(state)) != float(untrained(state))
    with pytest.raises(ValueError, match="is a network of"):
        load_position_net(tmp_path / "net.npz", games.load("dark_chess(size=5)"))
    with pytest.raises(ValueError, match="the last is held out"):
        learn.train_positions(rules, played[:1], jax.random.key(3))


def test_a_board_with_colours_swapped_has_the_opposite_value():
    white = games.DarkChess(fen="k3/1p2/4/KR2 w")
    black = games.DarkChess(fen="kr2/4/1P2/K3 b")
    drawn = position_net(white, jax.random.key(0), hidden=4)
    net = PositionNet(white, {**drawn.params, "last": jnp.arange(4.0)})
    one, other = float(net(white.init())), float(net(black.init()))
    assert one == pytest.approx(-other, abs=1e-6)
    assert one != pytest.approx(float(white.evaluate(white.init())), abs=1e-3)


def test_what_makes_no_network_is_refused():
    with pytest.raises(ValueError, match="rules need evaluate and position_features"):
        position_net(games.load("kuhn"), jax.random.key(0))
    with pytest.raises(ValueError, match="hidden=0"):
        position_net(games.load("dark_chess(size=4)"), jax.random.key(0), hidden=0)

"""Games of greedy players as examples: what is possible, units, and the value of uniform play."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from experiments.sog_scotland_yard._greedy import greedy_games
from experiments.sog_scotland_yard._opponents import greedy_agent
from games._scotland_yard_features import distances_of
from jaxsolve import evaluate, nets
from jaxsolve.public import hidden_piece_model

CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3],rounds=3,"
    "reveals=[2],doubles=1)"
)


def examples(noise: float, count: int) -> tuple[Any, Any, Any]:
    game: Any = games.load(CHASE)
    model, _ = hidden_piece_model(game)
    net = nets.make_net(model, nets.ValueNetwork(4, 1), jax.random.key(0), uniform_play=False)
    source = greedy_games(model, game, games=count, positions=4, noise=noise)
    found, state = jax.jit(source.sample)(net, source.init(jax.random.key(0)), jax.random.key(1))
    assert state == count
    return game, source, found


def test_positions_are_possible_and_targets_are_outcomes():
    game, source, found = examples(0.2, 64)
    np.testing.assert_allclose(found.beliefs.sum(-1), 1, rtol=1e-6)
    met = np.asarray(found.value_weight) > 0
    assert (met.sum(-1) == 1).all()
    assert (np.asarray(found.beliefs)[met] > 0).all()
    # In the units of a network an outcome is -1 or 1, whatever is possible.
    worth = np.asarray(found.values)[met].reshape(-1, 2)
    np.testing.assert_allclose(np.abs(worth), 1, rtol=1e-5)
    np.testing.assert_allclose(worth.sum(1), 0, atol=1e-5)
    assert (np.asarray(jax.vmap(game.actor)(found.public.state)) >= 0).all()
    possible = source.public_state(found.public).possible
    np.testing.assert_array_equal(possible[:, 0], found.beliefs[:, 0] > 0)
    assert len(np.unique(np.asarray(found.beliefs[:, 0]), axis=0)) > 3


def test_with_nothing_but_noise_outcomes_are_those_of_uniform_play():
    game, _, found = examples(1.0, 2000)
    tree = js.compile(game)
    want = js.expected_values(tree, js.uniform_policy(tree))[0]
    met = found.value_weight[:, 0] > 0
    each = jnp.where(met, found.values[:, 0], 0).sum(-1).reshape(2000, 4).mean(1)
    error = float(each.std() / np.sqrt(2000))
    assert float(each.mean()) == pytest.approx(float(want), abs=4 * error)


def test_the_greedy_player_alone_makes_those_moves():
    """Detectives minimise the sum of distances to where Mr X may be, he maximises the least."""
    game: Any = games.load("scotland_yard(board=london,rounds=2,reveals=[],doubles=0)")
    arena, player = evaluate.rules_arena(game, max_moves=20), greedy_agent(game)
    act, step, distance = (
        jax.jit(player.act),
        jax.jit(game.step),
        np.asarray(distances_of(game.map)),
    )
    first = jnp.int32(34)
    state, position = step(game.init(), first), arena.step(arena.start(), first)
    memory = [player.init(jnp.int32(seat), jax.random.key(seat)) for seat in (0, 1)]
    possible, moves = np.isin(np.arange(199), np.array(game.map.evader) - 1), 0
    joined = np.asarray(game.map.joined()) > 0
    while int(game.actor(state)) >= 0:
        seat = int(game.actor(state))
        decision, memory[seat] = act(
            memory[seat], arena.observation(position, seat), jax.random.key(moves)
        )
        legal = np.flatnonzero(game.legal(state))
        places, taken = legal % 199, np.asarray(state.stations[1:])
        good = distance[places][:, possible].sum(1) if seat else -distance[places][:, taken].min(1)
        action = int(decision.action)
        assert good[legal == action] == good.min()
        if seat:
            possible[action % 199] = False
        else:
            possible = joined[action // 199][possible].any(0)
            possible[taken] = False
        state, position = step(state, decision.action), arena.step(position, decision.action)
        moves += 1
    assert moves > 5

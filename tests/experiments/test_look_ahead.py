"""Games of players who look one move ahead: beliefs, policies, and the value of uniform play."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from experiments.sog_scotland_yard._look_ahead import (
    SUREST,
    look_ahead,
    look_ahead_games,
    opened,
    play,
)
from jaxsolve import nets
from jaxsolve.public import HiddenRoot, hidden_piece_model

CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3],rounds=3,"
    "reveals=[2],doubles=1)"
)
SHARP = jnp.array([0.3, 0.2])


def chase() -> tuple[Any, Any, HiddenRoot, nets.Net]:
    game: Any = games.load(CHASE)
    model, root = hidden_piece_model(game)
    module = nets.ValueNetwork(8, 1)
    return game, model, root, nets.make_net(model, module, jax.random.key(2), uniform_play=False)


def played(count: int, noise: float) -> tuple[Any, Any, Any, nets.Net, Any, Any]:
    game, model, root, net = chase()
    stray = jnp.full(2, noise)

    def one(key: Any) -> Any:
        return play(model, net, root, key, temperature=SHARP, noise=stray)

    outcome, plies = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), count))
    return game, model, root, net, outcome, plies


def test_beliefs_are_what_is_left_of_games_that_look_alike():
    """Of games that show the same, the shares of the stations are the belief there."""
    _, _, _, _, outcome, plies = played(4000, 0.1)
    assert (np.abs(outcome) == 1).all()
    np.testing.assert_allclose(plies.seen.belief.sum(-1)[plies.on], 1, rtol=1e-5)
    ply, tried = 3, 0
    belief, number = np.asarray(plies.seen.belief[:, ply]), np.asarray(plies.seen.number[:, ply])
    on = np.asarray(plies.on[:, ply])
    alike = np.round(belief, 5)
    for row in np.unique(alike[on], axis=0):
        here = on & (alike == row).all(1)
        share = np.bincount(number[here], minlength=belief.shape[1]) / here.sum()
        error = np.sqrt(np.maximum(row * (1 - row), 1e-9) / here.sum())
        assert (np.abs(share - row) <= 4.5 * error + 1e-4).all()
        tried += here.sum() > 200 and (row > 0.02).sum() > 1
    assert tried


def test_policies_are_those_of_what_the_network_says_of_each_child():
    """Against the network asked about states of the rules, one at a time."""
    game, model, _, net, _, plies = played(64, 0.1)

    @jax.jit
    def look(root: HiddenRoot, belief: Any) -> tuple[Any, Any]:
        here = opened(model, root)
        return look_ahead(model, net, here, belief, SHARP), here.legal

    seen = set()
    for index in range(64):
        ply = index % plies.on.shape[1]
        here, on = jax.tree.map(lambda x, i=index, n=ply: x[i, n], plies)
        if not bool(on) or int(here.root.left):
            continue
        found, legal = look(here.root, here.belief)
        actor, belief = int(game.actor(here.root.state)), np.asarray(here.belief)
        possible = np.flatnonzero(np.asarray(here.root.weight) > 0)
        if actor == 0:
            worth = worth_to_evader(game, model, net, here, possible)
        else:
            worth = {0: worth_to_detectives(game, model, net, here, possible, belief)}
        for number, each in worth.items():
            column = number if actor == 0 else possible[0]
            policy = np.asarray(found[:, column])
            odds = np.arctanh(np.clip(list(each.values()), -SUREST, SUREST)) / float(SHARP[actor])
            want = np.exp(odds - odds.max())
            got = np.sort(policy[np.asarray(legal[:, column])])
            np.testing.assert_allclose(got, np.sort(want / want.sum()), atol=2e-4)
        seen.add(actor)
    assert seen == {0, 1}


def said(model: Any, net: Any, state: Any, left: int, belief: np.ndarray) -> np.ndarray:
    """Returns what the network says of a public state, float [2, H]."""
    weight = (belief > 0) / (belief > 0).sum()
    root = HiddenRoot(state, jnp.asarray(weight, jnp.float32), jnp.int32(left))
    asked = model.public_state(*model.start(root, 1, jnp.float32))
    other = np.arange(len(belief)) == 0
    both = jnp.asarray(np.stack([belief / belief.sum(), other]), jnp.float32)
    return np.asarray(net.output(jax.tree.map(lambda x: x[None], asked), both[None]).values[0])


def worth_to_evader(
    game: Any, model: Any, net: Any, here: Any, possible: np.ndarray
) -> dict[int, dict[int, float]]:
    """Returns what each action is worth, by station and action: children are told by the ticket."""
    flows: dict[int, np.ndarray] = {}
    states, ends, leads = {}, {}, {}
    for number in possible:
        state = game.place(here.root.state, jnp.int32(number))
        legal = np.flatnonzero(game.legal(state))
        for action in legal:
            after = game.step(state, jnp.int32(action))
            used, place = int(after.used), int(after.stations[0])
            leads[number, action] = used, place
            if int(after.result):
                ends[number, action] = float(game.utility(after)[0])
                continue
            flow = flows.setdefault(used, np.zeros(len(here.belief)))
            flow[place] += float(here.belief[number]) / len(legal)
            states[used] = after
    found: dict[int, dict[int, float]] = {}
    values = {}
    for used, state in states.items():
        shows = int(state.phase) != 1 and int(state.moves) in game.map.reveals
        flow = np.maximum(flows[used], 1e-30 * (flows[used] > 0))
        values[used] = said(model, net, state, len(model.digits) * shows, flow)
    for (number, action), (used, place) in leads.items():
        ended = ends.get((number, action))
        value = values[used][0, place] if ended is None else ended
        found.setdefault(int(number), {})[int(action)] = float(value)
    return found


def worth_to_detectives(
    game: Any, model: Any, net: Any, here: Any, possible: np.ndarray, belief: np.ndarray
) -> dict[int, float]:
    """Returns what each action is worth: what ends, and what the network says of the rest."""
    found = {}
    for action in np.flatnonzero(game.legal(game.place(here.root.state, jnp.int32(possible[0])))):
        paid, rest, state = 0.0, np.zeros(len(belief)), None
        for number in possible:
            placed = game.place(here.root.state, jnp.int32(number))
            after = game.step(placed, jnp.int32(action))
            if int(after.result):
                paid -= belief[number] * float(game.utility(after)[0])
            else:
                rest[number], state = belief[number], after
        worth = 0.0 if state is None else rest.sum() * said(model, net, state, 0, rest)[1, 0]
        found[int(action)] = float(paid + worth)
    return found


def test_with_nothing_but_noise_outcomes_are_those_of_uniform_play():
    game, model, root, net = chase()
    source = look_ahead_games(model, root, games=2000, positions=4, noise=(1.0, 1.0), abreast=None)
    found, state = jax.jit(source.sample)(net, source.init(jax.random.key(0)), jax.random.key(1))
    assert state == 2000
    tree = js.compile(game)
    want = js.expected_values(tree, js.uniform_policy(tree))[0]
    met = found.value_weight[:, 0] > 0
    assert (np.asarray(found.beliefs[:, 0])[np.asarray(met)] > 0).all()
    assert (np.asarray(found.public.left) > 0).any()  # a station that is being shown
    each = jnp.where(met, found.values[:, 0], 0).sum(-1).reshape(2000, 4).mean(1)
    error = float(each.std() / np.sqrt(2000))
    assert float(each.mean()) == pytest.approx(float(want), abs=4 * error)

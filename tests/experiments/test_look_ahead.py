"""Games of players who look one move ahead: beliefs, policies, and what positions are worth."""

from __future__ import annotations

import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
from experiments.sog_scotland_yard._look_ahead import (
    SIZES,
    SUREST,
    asker,
    look_ahead,
    opened,
    sized,
)
from experiments.sog_scotland_yard._look_ahead_games import look_ahead_games, play, values_along
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


def played(
    count: int, noise: float, temperature: Any = SHARP
) -> tuple[Any, Any, nets.Net, Any, Any, Any]:
    game, model, root, net = chase()
    stray = jnp.full(2, noise)

    def one(key: Any) -> Any:
        return play(model, (net, net), root, key, temperature=temperature, noise=stray)

    outcome, plies, backups = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), count))
    return game, model, net, outcome, plies, backups


def test_beliefs_are_what_is_left_of_games_that_look_alike():
    """Of games that show the same, the shares of the stations are the belief there."""
    _, _, _, outcome, plies, _ = played(4000, 0.1)
    assert (np.abs(outcome) == 1).all()
    np.testing.assert_allclose(plies.belief.sum(-1)[plies.on], 1, rtol=1e-5)
    ply, tried = 3, 0
    belief, number = np.asarray(plies.belief[:, ply]), np.asarray(plies.number[:, ply])
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
    game, model, net, _, plies, _ = played(64, 0.1)

    @jax.jit
    def look(root: HiddenRoot, belief: Any) -> tuple[Any, Any]:
        here = opened(model, root)
        ask = asker(model, net, here, model.num_children, model.hands[0])
        return look_ahead(ask, here, belief, SHARP), here.legal

    parts = "actor", "legal", "place", "step", "utility"
    rules = types.SimpleNamespace(map=game.map, **{x: jax.jit(getattr(game, x)) for x in parts})
    seen = set()
    for index in range(64):
        ply = index % plies.on.shape[1]
        here = jax.tree.map(lambda x, i=index, n=ply: x[i, n], plies)
        if not bool(here.on) or int(here.root.left):
            continue
        found, legal = look(here.root, here.belief)
        actor, belief = int(rules.actor(here.root.state)), np.asarray(here.belief)
        possible = np.flatnonzero(np.asarray(here.root.weight) > 0)
        if actor == 0:
            worth = worth_to_evader(rules, model, net, here, possible)
        else:
            worth = {0: worth_to_detectives(rules, model, net, here, possible, belief)}
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
    other = np.arange(len(belief)) == 0
    both = jnp.asarray(np.stack([belief / belief.sum(), other]), jnp.float32)
    return np.asarray(_said(model, net, root, both))


@jax.jit
def _said(model: Any, net: Any, root: HiddenRoot, beliefs: Any) -> Any:
    asked = model.public_state(*model.start(root, 1, jnp.float32))
    return net.output(jax.tree.map(lambda x: x[None], asked), beliefs[None]).values[0]


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


def test_values_along_games_are_what_games_are_worth():
    """With all of the correction, on the average: of the station that Mr X was on, and of others.

    So it is for later positions, of games that look alike until then.
    """
    game, _, _, outcome, plies, backups = played(6000, 0.0, jnp.array([2.0, 2.0]))
    outcome = np.asarray(outcome)
    values = jax.vmap(lambda on, each: values_along(on, each, 1.0, np.inf))(plies.on, backups)
    cut = jax.vmap(lambda on, each: values_along(on, each, 0.0, 1.0))(plies.on, backups)
    np.testing.assert_array_equal(cut[plies.on], backups.values[plies.on])
    tried = 0
    for ply in (0, 1, 2):
        state = plies.root.state
        shown = state.stations[:, ply, 1:], state.tickets[:, ply].reshape(6000, -1)
        told = jnp.concatenate([*shown, plies.root.left[:, ply, None]], 1)
        alike = np.concatenate([np.round(plies.belief[:, ply], 5), told], 1)
        for row in np.unique(alike, axis=0):
            here = np.asarray(plies.on[:, ply]) & (alike == row).all(1)
            for number in np.flatnonzero(row[: game.map.num_stations] > 0):
                there = here & (np.asarray(plies.number[:, ply]) == number)
                if there.sum() < 300:
                    continue
                mine, met = np.asarray(values[here, ply, number]), outcome[there]
                error = np.hypot(mine.std() / here.sum() ** 0.5, met.std() / there.sum() ** 0.5)
                assert mine.mean() == pytest.approx(met.mean(), abs=4.5 * error + 2 / there.sum())
                tried += met.std() > 0.05
    assert tried >= 3


@pytest.mark.slow
def test_few_children_and_few_stations_are_enough():
    """In London, of a network of stations: what is possible alone is asked about."""
    game: Any = games.load("scotland_yard(board=london)")
    model, root = hidden_piece_model(game)
    module = nets.ValueNetwork(8, 2, "shared", skip=game.num_placed)
    net = nets.make_net(model, module, jax.random.key(2), uniform_play=False)
    noise = jnp.full(2, 0.1)

    def one(key: Any) -> Any:
        return play(model, (net, net), root, key, temperature=SHARP, noise=noise)

    _, plies, _ = jax.jit(one)(jax.random.key(0))

    @jax.jit
    def both(root: HiddenRoot, belief: Any) -> Any:
        here = opened(model, root)

        def look(children: int, numbers: int) -> Any:
            return look_ahead(asker(model, net, here, children, numbers), here, belief, SHARP)

        few = here.store.counts[1:].max() <= SIZES[0][1]
        return sized(model, net, here, look), look(model.num_children, model.hands[0]), few

    tried = 0
    for ply in range(0, int(plies.on.sum()), 7):
        here = jax.tree.map(lambda x, n=ply: x[n], plies)
        found, want, few = both(here.root, here.belief)
        np.testing.assert_allclose(found, want, atol=1e-5)
        tried += bool(few)
    assert tried >= 3


def test_each_player_asks_a_network_of_their_own():
    """The first move is Mr X's, so that it is worth what his network says of it."""
    _, model, root, net = chase()
    other = nets.make_net(model, net.module, jax.random.key(3), uniform_play=False)

    def backups(players: tuple[nets.Net, nets.Net]) -> np.ndarray:
        noise = jnp.zeros(2)
        found = play(model, players, root, jax.random.key(0), temperature=SHARP, noise=noise)
        return np.asarray(found[2].values)

    mine, theirs, both = (backups(x) for x in ((net, net), (other, other), (net, other)))
    np.testing.assert_array_equal(both[0], mine[0])
    assert np.abs(both[0] - theirs[0]).max() > 1e-3
    assert np.abs(both - mine).max() > 1e-3


def test_examples_of_look_ahead_games():
    _, model, root, net = chase()
    source = look_ahead_games(model, root, games=200, positions=4, abreast=None)
    found, state = jax.jit(source.sample)(net, source.init(jax.random.key(0)), jax.random.key(1))
    assert state == 200
    weight, belief = np.asarray(found.value_weight), np.asarray(found.beliefs)
    np.testing.assert_allclose(weight.sum(-1), 1, rtol=1e-5)
    assert (weight[belief > 0] > 0).all()
    np.testing.assert_allclose((belief * np.asarray(found.values)).sum((1, 2)), 0, atol=1e-5)
    assert (np.asarray(found.public.left) > 0).any()  # a station that is being shown

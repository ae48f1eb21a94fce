"""The network: zero sums, masks, and what it refuses."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.public import PublicState, hidden_piece_model, no_limit, public_game
from jaxsolve.search import solve_belief, subgames

CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3])"


@functools.cache
def leduc() -> Any:
    return public_game(games.load("leduc"))


@pytest.mark.parametrize("body", few(["mlp", "resnet", "conv 1x1x11"], "mlp".__eq__))
def test_values_sum_to_zero_and_impossible_hands_have_none(body: str):
    game = leduc()
    module = nets.ValueNetwork(16, 2, body=body, actions=3)
    net = nets.make_net(game, module, jax.random.key(0))
    state = game.states.at(jnp.asarray(np.tile(game.classes_after_chance(), 2)))
    beliefs = learn.draw_beliefs(state.possible, jax.random.key(1))
    np.testing.assert_allclose(beliefs.sum(-1), 1, atol=1e-6)
    values = net(state, beliefs)
    assert values.shape == (len(beliefs), 2, 6)
    np.testing.assert_allclose((values * beliefs).sum((1, 2)), 0, atol=1e-6)
    assert (np.asarray(values)[~np.asarray(state.possible)] == 0).all()
    assert (np.asarray(beliefs)[~np.asarray(state.possible)] == 0).all()
    assert net.output(state, beliefs).logits.shape == (len(beliefs), 3, 6)  # type: ignore[union-attr]


def test_a_player_with_fewer_private_states_has_inputs_and_values_for_those_alone():
    """It is the network for as many on both sides, without weights of what is never there."""
    model, _ = hidden_piece_model(games.load(CHASE))
    net = nets.make_net(model, nets.ValueNetwork(8, 2), jax.random.key(0))
    num_features, first, every = model.format.num_features, model.hands[0], max(model.hands)
    numbers = net.params["params"]
    assert model.hands == (5, 1)
    assert numbers["Dense_0"]["kernel"].shape == (num_features + 6, 8)
    assert numbers["Dense_2"]["kernel"].shape == (8, 6)
    inputs = jnp.zeros((num_features + 2 * every, 8))
    inputs = inputs.at[: num_features + first + 1].set(numbers["Dense_0"]["kernel"])
    outputs = jnp.full((8, 2 * every), 7.0).at[:, : first + 1].set(numbers["Dense_2"]["kernel"])
    bias = jnp.full(2 * every, 7.0).at[: first + 1].set(numbers["Dense_2"]["bias"])
    full = {
        "Dense_0": numbers["Dense_0"] | {"kernel": inputs},
        "Dense_1": numbers["Dense_1"],
        "Dense_2": {"kernel": outputs, "bias": bias},
    }
    other = nets.Net({"params": full}, net.module.clone(hands=None), net.format)
    possible = jnp.zeros((3, 2, every), bool).at[:, 0].set(True).at[:, 1, 0].set(True)
    state = PublicState(
        features=jax.random.normal(jax.random.key(1), (3, num_features)),
        possible=possible,
        scale=jnp.ones(3),
        subgame_class=jnp.full(3, -1),
    )
    beliefs = learn.draw_beliefs(possible, jax.random.key(2))
    np.testing.assert_allclose(net(state, beliefs), other(state, beliefs), atol=1e-6)
    assert np.ptp(net(state, beliefs)) > 0.01


def test_impossible_hands_have_no_gradient():
    game = leduc()
    net = nets.make_net(game, nets.ValueNetwork(8, 1), jax.random.key(0))
    state = game.states.at(jnp.asarray([game.classes_after_chance()[0]]))
    possible = state.possible
    beliefs = learn.draw_beliefs(possible, jax.random.key(1))
    values = jax.random.normal(jax.random.key(2), possible.shape)

    @jax.jit
    def grads(targets: Any) -> Any:
        examples = learn.Examples(state, beliefs, targets, jnp.zeros((1, 3, 6)))
        return jax.grad(learn.loss)(net.params, net, state, examples, learn.Plan())

    other = jnp.where(possible, values, values + 7)
    for a, b in zip(jax.tree.leaves(grads(values)), jax.tree.leaves(grads(other)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_correction_moves_all_possible_values_alike():
    possible = jnp.array([[True, True, False], [True, True, True]])
    beliefs = jnp.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    values = jnp.array([[1.0, 3.0, 9.0], [1.0, 1.0, 1.0]])
    found = nets.zero_sum(values, beliefs, possible)  # the sum is 2 + 1 = 3
    np.testing.assert_allclose(found, [[-0.5, 1.5, 0], [-0.5, -0.5, -0.5]], atol=1e-6)


def test_features_come_from_the_game():
    game = leduc()
    assert game.features.shape == (game.num_classes, 6 + 2 * 2 + 1)
    by_state = {tuple(row) for row in game.features[game.classes_after_chance()]}
    assert len(by_state) == 18  # 3 pots, 6 boards


@pytest.mark.parametrize("name", few(["kuhn", "leduc"], "kuhn".__eq__))
def test_an_output_of_zero_means_uniform_play(name: str):
    game = public_game(games.load(name))
    net = nets.make_net(game, nets.ValueNetwork(4, 1), jax.random.key(0))
    silent = net.replace(jax.tree.map(jnp.zeros_like, net.params))
    subgame_class = jnp.asarray([0, game.num_classes // 2, game.num_classes - 1])
    state = game.states.at(subgame_class)
    beliefs = learn.draw_beliefs(state.possible, jax.random.key(1))
    whole = subgames(game, no_limit)

    def played(subgame_class: Any, beliefs: Any) -> Any:
        nothing = solve_belief(whole, None, js.cfr(), subgame_class, beliefs, iterations=0)
        return jnp.stack([nothing.value_at(i, jnp.int32(0)) for i in range(2)])

    np.testing.assert_allclose(
        silent(state, beliefs), jax.jit(jax.vmap(played))(subgame_class, beliefs), atol=1e-5
    )
    plain = nets.make_net(game, net.module, jax.random.key(0), uniform_play=False)
    assert not plain.format.uniform_play
    still = plain.replace(jax.tree.map(jnp.zeros_like, plain.params))
    np.testing.assert_array_equal(still(state, beliefs), 0)


def test_the_shared_body_treats_private_states_alike(tmp_path: Path):
    """Other numbers of private states: the same values and policies, renumbered."""
    chase = hidden_piece_model(games.load(CHASE))[0]
    module = nets.ValueNetwork(8, 2, body="shared", actions=chase.num_actions)
    net = nets.make_net(chase, module, jax.random.key(0))
    net.check(chase)
    hands, rng = max(chase.hands), np.random.default_rng(0)
    belief = rng.dirichlet(np.ones(hands))
    beliefs = np.stack([belief, np.arange(hands) == 0])[None]
    private = rng.normal(size=(1, 2, hands, chase.format.num_private))
    order = rng.permutation(hands)

    def said(beliefs: Any, private: Any) -> Any:
        state = PublicState(
            features=jnp.ones((1, chase.format.num_features)),
            possible=jnp.asarray(beliefs > 0),
            scale=jnp.ones(1),
            subgame_class=jnp.zeros(1, jnp.int32),
            private=jnp.asarray(private),
        )
        return net.output(state, jnp.asarray(beliefs))

    first = said(beliefs, private)
    mixed = np.stack([beliefs[:, 0][:, order], beliefs[:, 1]], 1)
    again = said(mixed, np.stack([private[:, 0][:, order], private[:, 1]], 1))
    np.testing.assert_allclose(again.values[:, 0], first.values[:, 0][:, order], atol=1e-5)
    np.testing.assert_allclose(again.values[:, 1], first.values[:, 1], atol=1e-5)
    assert np.ptp(first.values[0, 0]) > 1e-3
    np.testing.assert_allclose((first.values * beliefs).sum((1, 2)), 0, atol=1e-6)
    assert (np.asarray(first.values)[beliefs == 0] == 0).all()
    # Those of player 1, who has one private state, come on top of those of number 0.
    rest = (order > 0) & (np.arange(hands) > 0)
    wanted = first.policy_logits[..., order][..., rest]
    np.testing.assert_allclose(again.policy_logits[..., rest], wanted, atol=1e-5)
    assert rest.sum() >= 3
    nets.save_net(net, tmp_path / "net.npz")
    assert nets.load_net(tmp_path / "net.npz").module == net.module
    width = chase.format.num_features
    with pytest.raises(ValueError, match=f"skip={width} is for .* less than the {width} features"):
        nets.make_net(chase, module.clone(skip=width), jax.random.key(0))
    with pytest.raises(ValueError, match=r"leduc has none: .* private_features\(state\)"):
        nets.make_net(leduc(), module, jax.random.key(0))
    other = dataclasses.replace(net, format=net.format._replace(num_private=3))
    with pytest.raises(ValueError, match="is given 3 features of each private state"):
        other.check(chase)


def test_bad_input():
    game = leduc()
    with pytest.raises(ValueError, match="unknown body"):
        nets.make_net(game, nets.ValueNetwork(body="cnn"), jax.random.key(0))
    with pytest.raises(ValueError, match="unknown activation"):
        nets.make_net(game, nets.ValueNetwork(activation="tanh"), jax.random.key(0))
    net = nets.make_net(game, nets.ValueNetwork(4, 1), jax.random.key(0))
    net.check(game)
    with pytest.raises(
        ValueError, match=r"is of leduc with 11 features .* kuhn has 4 and \(3, 3\)"
    ):
        net.check(public_game(games.load("kuhn")))
    with pytest.raises(ValueError, match=r"a method public_features\(state\) -> float \[F\]"):
        nets.make_net(public_game(Silent()), net.module, jax.random.key(0))


class Silent(games.Kuhn):
    """Does not describe its public states."""

    public_features = None  # type: ignore[assignment]


def test_what_is_skipped_changes_nothing():
    chase = hidden_piece_model(games.load(CHASE))[0]
    many = chase.format.num_features
    module = nets.ValueNetwork(8, 2, body="shared", actions=chase.num_actions, skip=many - 2)
    net = nets.make_net(chase, module, jax.random.key(0))
    hands, rng = max(chase.hands), np.random.default_rng(0)
    beliefs = np.stack([rng.dirichlet(np.ones(hands)), np.arange(hands) == 0])[None]

    def said(features: Any) -> Any:
        state = PublicState(
            features=jnp.asarray(features)[None],
            possible=jnp.asarray(beliefs > 0),
            scale=jnp.ones(1),
            subgame_class=jnp.zeros(1, jnp.int32),
            private=jnp.ones((1, 2, hands, chase.format.num_private)),
        )
        return np.asarray(net.output(state, jnp.asarray(beliefs)).policy_logits)

    first = said(np.zeros(many))
    np.testing.assert_array_equal(said(np.arange(many) < many - 2), first)
    assert (said(np.arange(many) >= many - 2) != first).any()

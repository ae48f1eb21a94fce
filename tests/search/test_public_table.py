"""Public states in arrays: against compiled trees, best responses and values of known games."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, public_table

CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,2],detectives=[5],rounds=3)"


@functools.cache
def table(name: str, cards: bool | None = None) -> PublicTable:
    return public_table(games.load(name), cards=cards)


def random_policy(where: PublicTable, seed: int) -> np.ndarray:
    legal = where.transitions.legal[where.subgame_class]
    weights = np.random.default_rng(seed).random(legal.shape) * legal
    return weights / np.maximum(weights.sum(1, keepdims=True), 1e-9)


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("kuhn", True),
        ("kuhn", False),
        ("leduc(suits=1,raises=1)", False),
        # Faces that cannot matter any more are merged.
        pytest.param("liars_dice(sides=3)", False, marks=pytest.mark.slow),
        ("tic_tac_toe(rows=2,columns=2,line=2)", True),
        (CHASE, None),
        pytest.param("scotland_yard(rounds=3)", None, marks=pytest.mark.slow),
        pytest.param("leduc", False, marks=pytest.mark.slow),
        pytest.param("leduc", True, marks=pytest.mark.slow),
    ],
)
def test_values_and_best_responses_are_those_of_the_compiled_tree(name: str, cards: bool | None):
    where, tree = table(name, cards), js.compile(games.load(name))
    policy = random_policy(where, 1)
    compiled = where.policy_of(tree, policy)
    got = respond(where, policy)
    np.testing.assert_allclose(got.value, js.expected_values(tree, compiled), atol=1e-5)
    np.testing.assert_allclose(got.best, js.best_response_values(tree, compiled), atol=1e-5)
    assert got.exploitability == pytest.approx(float(js.exploitability(tree, compiled)), abs=1e-5)
    back = where.table_of(compiled)
    held = where.possible[np.arange(len(where.actor)), where.actor]
    legal = where.transitions.legal[where.subgame_class] & held[:, None]
    np.testing.assert_allclose(back[legal], policy[legal], atol=1e-6)


def test_world_states_or_public_nodes_and_hands():
    """Two ways through one game lead to the same public states, and the same game below each."""
    one, two = table("leduc(suits=1,raises=1)", True), table("leduc(suits=1,raises=1)", False)
    assert (one.num_classes, len(one.parent)) == (two.num_classes, len(two.parent))
    np.testing.assert_allclose(one.uniform_payoffs()[0], two.uniform_payoffs()[0], atol=1e-12)
    np.testing.assert_array_equal(np.sort(one.transitions.size), np.sort(two.transitions.size))
    for a, b in (
        (one.payoff, two.payoff),
        (one.weight, two.weight),
        (one.transitions.factor, two.transitions.factor),
    ):
        a, b = np.sort(a.ravel()), np.sort(b.ravel())
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("name", ["leduc(suits=1,raises=1)", "liars_dice(sides=3)", CHASE])
def test_payoffs_of_uniform_play(name: str):
    """A pair's payoffs, weighed by the other's reach, are counterfactual values everywhere."""
    where = table(name, None if name == CHASE else False)
    legal = where.transitions.legal[where.subgame_class]
    found = respond(where, legal / np.maximum(legal.sum(1, keepdims=True), 1))
    pairs = where.uniform_payoffs()[where.subgame_class]
    first = np.einsum("pab,pb->pa", pairs[:, 0], found.reach[:, 1])
    second = np.einsum("pab,pa->pb", pairs[:, 1], found.reach[:, 0])
    np.testing.assert_allclose(found.values, np.stack([first, second], 1), atol=1e-12)


def test_ways_of_mr_x_to_one_station_are_one_private_state():
    """Numbers of private states are stations, and reach adds up over the ways there."""
    where = table(CHASE)
    assert where.num_hands == 4
    rows = where.transitions
    assert (rows.parents_of < rows.num_actions * rows.num_hands).sum(-1).max() == 2
    assert where.payoff.shape[2:] == (4, 1)
    assert where.features.shape == (where.num_classes, 13)
    assert np.unique(where.features, axis=0).shape[0] > where.num_classes // 2


def test_kinds_are_equal_subgames():
    """In liar's dice only the last bid matters."""
    where = table("liars_dice(sides=3)", True)
    assert (where.num_classes, len(where.parent)) == (2 * 2 * 3 - 2 + 2, 64)


class Confused(games.ScotlandYard):
    """Says that all stations are one."""

    def private_states(self, state):
        return jnp.zeros(2, jnp.int32)


class Loud(games.ScotlandYard):
    """Tells everybody where Mr X is."""

    def public_features(self, state):
        return state.stations.astype(float)


def test_bad_games():
    with pytest.raises(ValueError, match="players"):
        public_table(games.load("kuhn(players=3)"))
    with pytest.raises(ValueError, match="play begins in 3 public states"):
        public_table(games.load("goofspiel(cards=3)"))
    with pytest.raises(ValueError, match="one number to infostates with different futures"):
        public_table(Confused(rounds=2))
    with pytest.raises(ValueError, match="public_features depends on what is private"):
        public_table(Loud(rounds=2))
    with pytest.raises(ValueError, match=r"depends on the hands|is hidden"):
        public_table(games.load("scotland_yard(rounds=2)"), cards=True)


def test_bad_policies():
    where = table("kuhn", True)
    with pytest.raises(ValueError, match="shape"):
        respond(where, np.zeros((1, 2, 3)))
    with pytest.raises(ValueError, match="private state 0 at public state 0 sums to 0"):
        respond(where, np.zeros((4, 2, 3)))
    with pytest.raises(ValueError, match="is not kuhn"):
        where.policy_of(js.compile(games.load("coin_toss")), random_policy(where, 0))

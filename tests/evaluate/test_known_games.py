"""Evaluation of known games: closed forms, OpenSpiel, and exact values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest

import games
import jaxsolve as js
from jaxsolve.solvers import init_state
from jaxsolve.tree import policy_from_probabilities


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


def kuhn_equilibrium(alpha: float) -> dict[str, float]:
    """Probability of betting at each infoset: Kuhn's equilibria, one for each alpha in 0..1/3."""
    first = {"J": alpha, "Q": 0, "K": 3 * alpha, "J|p|b": 0, "Q|p|b": alpha + 1 / 3, "K|p|b": 1}
    second = {"J|p": 1 / 3, "Q|p": 0, "K|p": 1, "J|b": 0, "Q|b": 1 / 3, "K|b": 1}
    return first | second


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("layout", ["rows", "hands"])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 1 / 3])
def test_equilibria_of_kuhn(alpha: float, layout: str):
    tree = js.compile(games.load("kuhn"), layout=layout)
    bets = kuhn_equilibrium(alpha)
    policy = policy_from_probabilities(
        tree,
        [
            np.array([p for name in labels for p in (1 - bets[name], bets[name])])
            for labels in tree.info.labels
        ],
    )
    np.testing.assert_allclose(js.expected_values(tree, policy), [-1 / 18, 1 / 18], atol=1e-12)
    assert abs(js.nash_conv(tree, policy)) < 1e-12


def test_best_response_of_a_player_who_knows():
    """Against rock, paper; against scissors, rock: in rock-paper-scissors+."""
    tree = js.compile(games.load("rps_plus"))
    for choice, value, answer in ((0, 1, 1), (2, 2, 0)):
        pure = np.eye(3)[choice]
        response = js.best_response(tree, policy_from_probabilities(tree, [pure, pure]), 1)
        assert response.value == value
        np.testing.assert_array_equal(np.ravel(response.policy[0]), np.eye(3)[answer])


@pytest.mark.parametrize("text", ["kuhn", "kuhn(players=3)", "goofspiel(cards=3,imp_info=false)"])
def test_oracle_and_openspiel_agree(text: str):
    """The reference of these tests is itself held against a third program."""
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game_as_turn_based(
        {
            "kuhn": "kuhn_poker",
            "kuhn(players=3)": "kuhn_poker(players=3)",
            "goofspiel(cards=3,imp_info=false)": "goofspiel(num_cards=3)",
        }[text]
    )
    reference = oracle.walk(games.load(text))
    rng = np.random.default_rng(5)
    strategy = [
        [rng.dirichlet(np.ones(len(infoset.actions))).tolist() for infoset in sets]
        for sets in reference.infosets
    ]
    if "goofspiel" in text:  # their strings forget in which trick a card was bid
        strategy = oracle.uniform(reference)
    table = {}

    def descend(world: oracle.World, state: object) -> None:
        if state.is_terminal():
            return
        actions = state.legal_actions()
        if world.infoset is not None:
            odds = strategy[world.actor][world.infoset.index]
            table[state.information_state_string()] = list(zip(actions, odds, strict=True))
        for action, child in zip(actions, world.children, strict=True):
            descend(child, state.child(action))

    descend(reference.root, theirs.new_initial_state())
    policy = pyspiel.TabularPolicy(table)
    np.testing.assert_allclose(
        oracle.nash_conv(reference, strategy), pyspiel.nash_conv(theirs, policy), atol=1e-9
    )


@pytest.mark.parametrize(
    ("name", "params"),
    [
        (name, row.params)
        for name, entry in games.GAMES.items()
        for row in entry.references
        if row.value is not None and row.states <= 500
    ],
)
def test_known_values_by_the_linear_program(name: str, params: str):
    row = next(r for r in games.GAMES[name].references if r.params == params)
    tree = js.compile(games.load(f"{name}({params})"))
    result = js.solve_lp(tree)
    assert abs(result.gap) < 1e-7
    np.testing.assert_allclose(result.value, row.value, atol=1e-6)
    assert js.exploitability(tree, result.policy) < 1e-5


def test_linear_program_wants_two_players_and_constant_sum():
    for text in ("kuhn(players=3)", "matrix(payoffs=[[5,0],[10,1]],column_payoffs=[[5,10],[0,1]])"):
        with pytest.raises(ValueError, match="not a two-player constant-sum game"):
            js.solve_lp(js.compile(games.load(text)))
    bare = jax.jit(lambda tree: tree)(js.compile(games.load("kuhn")))
    with pytest.raises(ValueError, match="has no names"):
        js.solve_lp(bare)


def test_constant_sum_that_is_not_zero():
    """Both get 3 more than in matching pennies: the same equilibrium, another value."""
    text = "matrix(payoffs=[[4,2],[2,4]],column_payoffs=[[2,4],[4,2]])"
    tree = js.compile(games.load(text))
    result = js.solve_lp(tree)
    assert abs(result.value - 3) < 1e-7
    np.testing.assert_allclose(js.expected_values(tree, result.policy), [3, 3], atol=1e-5)
    assert abs(js.exploitability(tree, result.policy)) < 1e-5


def test_prisoners_dilemma():
    """General sum: defecting is the equilibrium, cooperating gains 5 each by deviating."""
    text = "matrix(payoffs=[[5,0],[10,1]],column_payoffs=[[5,10],[0,1]])"
    tree = js.compile(games.load(text))
    both = [np.array([1.0, 0.0])] * 2
    assert js.nash_conv(tree, policy_from_probabilities(tree, both)) == 10
    both = [np.array([0.0, 1.0])] * 2
    assert js.nash_conv(tree, policy_from_probabilities(tree, both)) == 0


def test_evaluation_batches():
    """vmap over policies equals one at a time."""
    tree = js.compile(games.load("kuhn"))
    rng = np.random.default_rng(6)
    policies = [
        policy_from_probabilities(
            tree,
            [
                np.concatenate([rng.dirichlet([1, 1]) for _ in range(info.num_infosets)])
                for info in tree.info.players
            ],
        )
        for _ in range(4)
    ]
    batch = jax.tree.map(lambda *x: jnp.stack(x), *policies)
    together = jax.vmap(lambda policy: js.exploitability(tree, policy))(batch)
    alone = [js.exploitability(tree, policy) for policy in policies]
    np.testing.assert_allclose(together, alone, rtol=1e-5)
    assert len(np.unique(np.round(together, 3))) == 4


@pytest.mark.slow  # seconds of compilation
def test_float32_evaluation_is_close_to_float64():
    """A random policy in Leduc: payoffs of some chips, to seven digits."""
    results = []
    for wide in (False, True):
        with jax.enable_x64(wide):
            tree = js.compile(games.load("leduc(suits=1)"), layout="hands")
            rng = np.random.default_rng(7)
            given = []
            for info in tree.info.players:
                weights = rng.random(len(info.action))
                totals = np.add.reduceat(weights, info.offset[:-1])
                given.append(weights / np.repeat(totals, np.diff(info.offset)))
            policy = policy_from_probabilities(tree, given)
            results.append(
                [
                    float(js.exploitability(tree, policy)),
                    *np.asarray(js.expected_values(tree, policy)),
                ]
            )
    np.testing.assert_allclose(*results, atol=5e-6)


@pytest.mark.parametrize(
    "evaluate",
    [
        js.exploitability,
        js.nash_conv,
        js.expected_values,
        js.best_response_values,
        lambda tree, policy: js.best_response(tree, policy, 0),
        lambda tree, policy: init_state(tree, js.cfr_plus(), policy),
    ],
)
def test_a_policy_of_another_game_is_refused(evaluate):
    tree = js.compile(games.load("kuhn"))
    for other, words in (
        (js.compile(games.load("leduc")), "instead of|another game or layout"),
        (js.compile(games.load("kuhn"), layout="hands"), "another game or layout"),
        (js.compile(games.load("kuhn(players=3)")), "3 players for a game of 2"),
    ):
        with pytest.raises(ValueError, match=words):
            evaluate(tree, js.uniform_policy(other))

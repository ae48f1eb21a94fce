"""What re-solving guarantees: lemma 11, theorems 4, 5 and 9, and where nothing is guaranteed."""

from __future__ import annotations

import jax
import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_games import random_games
from told_pennies import ToldPennies

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.evaluate._lp import behaviour_of, best_value, payoff_matrix, realization
from jaxsolve.evaluate._max_min import max_min, seen_from
from jaxsolve.testing import RandomGame, random_game
from jaxsolve.tree import policy_from_probabilities

EXACT = 1e-7
"""What a chain of linear programs leaves over; HiGHS is exact to 1e-9 on games of this size."""


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def random_policy(tree: js.PublicTree, seed: int) -> js.Policy:
    """A policy that plays everything, sometimes hardly ever."""
    rng = np.random.default_rng(seed)
    parts = []
    for player in tree.info.players:
        weights = rng.gamma(0.7, size=len(player.action)) + 1e-3
        total = np.add.reduceat(weights, player.offset[:-1]) if len(weights) else weights
        parts.append(weights / np.repeat(total, np.diff(player.offset)))
    return policy_from_probabilities(tree, parts)


def worst(tree: js.PublicTree, policy: js.Policy, player: int) -> float:
    """What a policy's part is worth against a best response, by the oracle."""
    reference = oracle.walk(tree.info.game)
    strategy = oracle.from_flat(reference, [policy.probabilities(i) for i in range(2)])
    return -oracle.best_response(reference, strategy, 1 - player)[0]


def places(tree: js.PublicTree, player: int, knowledge: int | str) -> np.ndarray:
    levels = subgame.levels(tree, player=player, knowledge=knowledge)
    return np.concatenate([np.zeros(0, np.int64), *levels])


@settings(max_examples=8)
@given(
    game=random_games(),
    seed=st.integers(0, 100),
    player=st.integers(0, 1),
    knowledge=st.sampled_from([1, 3, 5, "common"]),
    gadget=st.sampled_from(["resolve", "maxmargin"]),
    reach=st.sampled_from([None, "exact"]),
    where=st.integers(0, 1000),
)
def test_one_safe_solve_never_hurts(
    game: RandomGame,
    seed: int,
    player: int,
    knowledge: int | str,
    gadget: str,
    reach: str | None,
    where: int,
):
    """Lemma 11, for every gadget, order of knowledge and player."""
    tree = js.compile(game)
    at = places(tree, player, knowledge)
    assume(len(at))
    blueprint = random_policy(tree, seed)
    build = getattr(subgame, gadget)
    part = build(
        tree,
        blueprint,
        int(at[where % len(at)]),
        player=player,
        knowledge=knowledge,
        reach=reach,
    )
    solution = js.solve_lp(part)
    after = subgame.write(blueprint, part, solution.policy)
    assert worst(tree, after, player) >= worst(tree, blueprint, player) - EXACT
    if reach is None:
        assert part.info.margins(solution.policy).min() >= -EXACT


@settings(max_examples=6)
@given(
    game=random_games(),
    seed=st.integers(0, 100),
    knowledge=st.sampled_from([1, 3, "common"]),
    gadget=st.sampled_from(["resolve", "maxmargin"]),
)
def test_writing_back_never_hurts(game: RandomGame, seed: int, knowledge: int | str, gadget: str):
    """Theorem 4; and common knowledge is safe everywhere without writing back."""
    tree = js.compile(game)
    blueprint = random_policy(tree, seed)
    result = search.nested(tree, blueprint, knowledge=knowledge, gadget=gadget, safety="write-back")
    for i, history in enumerate(result.history):
        steps = np.array([result.blueprint_worst_case[i], *history, result.worst_case[i]])
        assert np.diff(steps).min() >= -EXACT
        np.testing.assert_allclose(worst(tree, result.policy, i), result.worst_case[i], atol=1e-9)
    assert result.exploitability == pytest.approx(
        oracle.nash_conv(
            oracle.walk(game),
            oracle.from_flat(oracle.walk(game), [result.policy.probabilities(i) for i in range(2)]),
        )
        / 2,
        abs=1e-9,
    )
    if knowledge == "common":
        everywhere = search.nested(tree, blueprint, knowledge="common", gadget=gadget)
        assert min(np.subtract(everywhere.worst_case, result.blueprint_worst_case)) >= -EXACT


@settings(max_examples=6)
@given(game=random_games(), seed=st.integers(0, 100), player=st.integers(0, 1))
def test_independent_infosets_are_safe_together(game: RandomGame, seed: int, player: int):
    """Theorem 5."""
    tree = js.compile(game)
    chosen = subgame.independent_set(tree, player, jax.random.key(seed))
    blueprint = random_policy(tree, seed)
    result = search.nested(
        tree, blueprint, players=player, safety="independent", infosets=chosen.tolist()
    )
    assert result.worst_case[player] >= result.blueprint_worst_case[player] - EXACT


def equilibria(tree: js.PublicTree, player: int, count: int) -> list[np.ndarray]:
    """Some optimal vertices, as realization plans."""
    form = seen_from(tree.info.form, player)
    found = [max_min(form, rng=np.random.default_rng(k)) for k in range(count)]
    return [realization(form.rows[0], behaviour_of(form.rows[0], vertex.plan)) for vertex in found]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gadget", ["maxmargin", "resolve"])
def test_an_equilibrium_stays_affine(seed: int, gadget: str):
    """Theorem 9 and proposition 8: a best response to every equilibrium of the opponent."""
    tree = js.compile(random_game(seed, depth=6, silence=0.8))
    exact = js.solve_lp(tree)
    payoff = payoff_matrix(tree.info.form)
    result = search.nested(tree, exact.policy, gadget=gadget, rng=np.random.default_rng(seed))
    for player, sign in ((0, 1), (1, -1)):
        mine = realization(
            tree.info.form.rows[player], result.policy.probabilities(player).astype(float)
        )
        for theirs in equilibria(tree, 1 - player, 5):
            x, y = (mine, theirs) if player == 0 else (theirs, mine)
            assert sign * (x @ payoff @ y - exact.value) >= -EXACT


def test_an_affine_equilibrium_of_kuhn():
    """Player 0 of Kuhn has an equilibrium for each alpha in 0..1/3; player 1 answers them all."""
    tree = js.compile(games.load("kuhn"))
    result = search.nested(tree, js.solve_lp(tree).policy, players=1, gadget="resolve")
    form = tree.info.form
    mine = realization(form.rows[1], result.policy.probabilities(1).astype(float))
    for alpha in np.linspace(0, 1 / 3, 5):
        bets = {"J": alpha, "Q": 0, "K": 3 * alpha}
        bets |= {"J|p|b": 0, "Q|p|b": alpha + 1 / 3, "K|p|b": 1}
        odds = np.array([p for name in tree.info.labels[0] for p in (1 - bets[name], bets[name])])
        theirs = realization(form.rows[0], odds)
        value = theirs @ payoff_matrix(form) @ mine
        assert value == pytest.approx(-1 / 18, abs=1e-9)
        assert best_value(form.rows[1], -(payoff_matrix(form).T @ theirs)) == pytest.approx(1 / 18)


def test_1klss_everywhere_can_hurt_by_a_factor_that_grows():
    """Proposition 3: everybody corrects the same error, and together they overshoot."""
    factors = []
    for numbers in (8, 16):
        tree = js.compile(ToldPennies(numbers))
        heads = 0.5 + 2 / numbers
        blueprint = policy_from_probabilities(
            tree, [np.tile([heads, 1 - heads], numbers), np.array([0.5, 0.5])]
        )
        result = search.nested(tree, blueprint, players=0, gadget="maxmargin")
        before, after = (-x[0] for x in (result.blueprint_worst_case, result.worst_case))
        assert before == pytest.approx(4 / numbers)
        assert after == pytest.approx(1)
        factors.append(after / before)
        safe = search.nested(tree, blueprint, players=0, safety="write-back")
        assert safe.worst_case[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(factors, [2, 4])


def test_unsafe_can_hurt():
    """In Coin Toss O plays with heads and sells with tails; P then always guesses heads."""
    tree = js.compile(games.load("coin_toss"))
    blueprint = policy_from_probabilities(
        tree, [np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.25, 0.75])]
    )
    play = int(tree.info.form.rows[1].public[0])
    part = subgame.unsafe(tree, blueprint, play, player=1)
    after = subgame.write(blueprint, part, js.solve_lp(part).policy)
    assert worst(tree, blueprint, 1) == pytest.approx(0)
    assert worst(tree, after, 1) == pytest.approx(-0.75)  # O sells heads and plays tails instead

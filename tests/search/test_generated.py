"""Continuations from self-play, and action translation."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.values import after_actions, after_round, continuations, extend


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def test_self_play_finds_the_continuations_of_rock_paper_scissors():
    """Each best response is pure, and with three of them the search plays the equilibrium."""
    tree = js.compile(games.load("rps_plus"))
    blueprint = js.solve_lp(tree).policy
    limit = after_actions(tree, 1)
    losses = []
    for count in range(1, 5):
        found = search.self_generated(tree, limit, blueprint, count=count, solver="lp", tremble=0)
        assert len(found) == count
        limited = continuations(tree, limit, found)
        whole = extend(limited, js.solve_lp(limited).policy, blueprint)
        losses.append(float(js.best_response(tree, whole, 1).value))
        assert all(set(np.round(p.probabilities(1), 9)) == {0, 1} for p in found[1:])
    assert losses[0] >= 0.2
    assert losses[-1] < 1e-6
    np.testing.assert_allclose(whole.probabilities(0), [0.4, 0.4, 0.2], atol=1e-6)


@pytest.mark.parametrize("choosers", ["opponent", pytest.param("all", marks=pytest.mark.slow)])
def test_more_generated_values_leave_less_to_exploit(choosers: str):
    """Each is a best response to the search before, so that it takes back what that gave away."""
    tree = js.compile(games.load("nolimit_leduc(ranks=4,suits=1,stack=5,sizes=[1.0])"))
    blueprint = js.solve_lp(tree).policy
    limit = after_round(tree)
    gains: list[float] = []
    search.self_generated(
        tree,
        limit,
        blueprint,
        count=5,
        choosers=choosers,
        solver="lp",
        tremble=0,
        progress=lambda _, gain: gains.append(gain),
    )
    assert len(gains) == 4
    assert gains[-1] < gains[0]
    value = js.solve_lp(tree).value
    assert min(gains) >= -value - 1e-9  # a response to a strategy is worth at least the value


def test_pseudo_harmonic_of_the_paper():
    """f(x) = (B - x)(1 + A) / ((B - A)(1 + x)): ends, middle, 0.75 between 0.5 and 1."""
    assert search.pseudo_harmonic(0.5, 0.5, 1.0) == 1
    assert search.pseudo_harmonic(1.0, 0.5, 1.0) == 0
    assert search.pseudo_harmonic(0.75, 0.5, 1.0) == pytest.approx(3 / 7)
    # The median of the mapping is (A + B + 2AB) / (A + B + 2).
    assert search.pseudo_harmonic((0.5 + 1 + 1) / 3.5, 0.5, 1.0) == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match="does not lie between"):
        search.pseudo_harmonic(2.0, 0.5, 1.0)


def test_neighbours():
    sizes = {"half": 0.5, "pot": 1.0}
    assert search.neighbours(0.75, sizes) == [
        ("half", pytest.approx(3 / 7)),
        ("pot", pytest.approx(4 / 7)),
    ]
    assert search.neighbours(0.75, sizes, randomised=False) == [("pot", 1.0)]
    assert search.neighbours(3.0, sizes) == [("pot", 1.0)]
    assert search.neighbours(0.1, sizes) == [("half", 1.0)]
    assert search.neighbours(1.0, sizes) == [("pot", 1.0)]
    with pytest.raises(ValueError, match="knows no bet"):
        search.neighbours(0.5, {})


@pytest.mark.slow  # seconds of compilation
def test_translation_answers_a_bet_as_the_bets_near_it():
    rules = "nolimit_leduc(ranks=3,suits=1,stack=8,ante=2,raises=2,sizes="
    coarse = js.compile(games.load(f"{rules}[0.5,1.0])"))
    tree = js.compile(games.load(f"{rules}[0.5,0.75,1.0])"))
    policy = js.solve_lp(coarse).policy
    bets = {"bet 0.5": 0.5, "bet 0.75": 0.75, "bet 1": 1.0}
    random = search.translate(policy, tree, bets)
    likelier = search.translate(policy, tree, bets, randomised=False)
    for card in ("J", "Q", "K"):
        name = f"{card}s|bet 0.75"
        low, high = (policy[name.replace("0.75", near)]["fold"] for near in ("0.5", "1"))
        assert random[name]["fold"] == pytest.approx(3 / 7 * low + 4 / 7 * high)
        assert likelier[name]["fold"] == pytest.approx(high)
        assert random[f"{card}s"]["bet 0.75"] == 0
        # After a bet that it never makes, it goes on as after the bets that this stands for.
        after = random[f"{card}s|bet 0.75|all-in"]["fold"]
        ends = [policy[f"{card}s|bet {near}|all-in"]["fold"] for near in ("0.5", "1")]
        assert min(ends) - 1e-9 <= after <= max(ends) + 1e-9

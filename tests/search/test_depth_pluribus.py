"""Pluribus's form of depth-limited search: frozen actions, final iterates, average beliefs."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.search.depth import _pluribus as form
from jaxsolve.search.depth._plan import plan_of
from jaxsolve.search.depth._search import Beliefs, Searcher
from jaxsolve.values import biased, poker_class


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def leduc() -> tuple[js.PublicTree, js.Policy]:
    with jax.enable_x64(True):
        rules = "nolimit_leduc(ranks=3,suits=1,stack=6,ante=2,sizes=[0.5])"
        tree = js.compile(games.load(rules))
        return tree, js.solve_lp(tree).policy


def test_searches_beat_a_uniform_blueprint(leduc):
    """In Kuhn poker a search from the start sees the whole game; its final iterate is played."""
    tree = js.compile(games.load("kuhn"))
    settings = search.DepthSearch([js.uniform_policy(tree)], solver="pcfr+", iterations=2000)
    found = search.pluribus(tree, settings)
    assert found.exploitability < 0.02
    assert found.exploitability < 0.05 * float(js.exploitability(tree, js.uniform_policy(tree)))
    assert float(js.exploitability(tree, found.policy)) == pytest.approx(found.exploitability)


def test_own_actions_are_frozen_for_the_hand_held(leduc):
    """A frozen row keeps its strategy in the search; the same row of another hand does not."""
    tree, blueprint = leduc
    policies = biased(tree, blueprint, classes=poker_class)
    settings = search.DepthSearch(policies, solver="cfr+", iterations=50)
    who = Searcher(plan_of(tree, 0, None), settings, {})
    info = tree.info.players[0]
    later = [r for r in range(info.num_infosets) if form._case(who.plan, r).past]
    case = form._case(who.plan, later[0])
    beliefs = Beliefs.start(tree, blueprint, 0)
    found = form._round(who, beliefs, case.root, case.taken)
    odd = beliefs.odds[0].copy()
    (row,) = case.past
    at = slice(info.offset[row], info.offset[row + 1])
    odd[at] = np.arange(1, 1 + at.stop - at.start) / np.arange(1, 1 + at.stop - at.start).sum()
    held = found.frozen(0, case.past, odd, who.plan)
    free = np.zeros_like(held)
    solver = js.load_solver("cfr+")
    average, current = form._solved(found.tree, solver, 50, np.stack([held, free]), 0)
    for policies_ in (average, current):
        np.testing.assert_allclose(form._entries(found, who.plan, policies_, 0, 0)[at], odd[at])
        assert np.abs(form._entries(found, who.plan, policies_, 1, 0)[at] - odd[at]).max() > 0.05
    other = next(r for r in later if form._case(who.plan, r).past not in (case.past, ()))
    (theirs,) = form._case(who.plan, other).past
    there = slice(info.offset[theirs], info.offset[theirs + 1])
    frozen, plain = (form._entries(found, who.plan, current, m, 0)[there] for m in (0, 1))
    assert np.isfinite(frozen).all()
    assert np.isfinite(plain).all()


@pytest.mark.slow  # many small programs to compile
def test_off_menu_actions_are_searched(leduc):
    tree, blueprint = leduc
    policies = biased(tree, blueprint, classes=poker_class)
    menu = ("fold", "call", "bet 0.5")
    settings = search.DepthSearch(policies, solver="lcfr", iterations=200, menu=menu)
    found = search.pluribus(tree, settings)
    for i in range(2):
        actions = tree.info.players[i].action
        off = np.array([tree.info.action_name(i, int(a)) == "all-in" for a in actions])
        searched = np.abs(found.policy.probabilities(i) - blueprint.probabilities(i)) > 1e-9
        assert searched.any()
        assert found.policy.probabilities(i)[off & searched].max(initial=0) == 0
    best = js.best_response_values(tree, found.policy)
    np.testing.assert_allclose(found.worst_case, -np.asarray(best)[::-1], atol=1e-9)


def test_bad_input(leduc):
    tree, blueprint = leduc
    with pytest.raises(ValueError, match="no final iterate"):
        search.pluribus(tree, search.DepthSearch([blueprint]))
    with pytest.raises(ValueError, match="Pluribus searches have"):
        search.pluribus(tree, search.DepthSearch([blueprint], solver="cfr", ahead=2))

"""Pluribus's form of depth-limited search: frozen actions, final iterates, average beliefs."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.search.depth import _pluribus as form
from jaxsolve.search.depth._plan import plan_of
from jaxsolve.search.depth._search import Beliefs, Searcher
from jaxsolve.tree import listed
from jaxsolve.values import biased, poker_class, public_below


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
    later = [r for r in range(info.num_infosets) if form._case(who.plan, r, True).past]
    case = form._case(who.plan, later[0], True)
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
    other = next(r for r in later if form._case(who.plan, r, True).past not in (case.past, ()))
    (theirs,) = form._case(who.plan, other, True).past
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


def test_what_is_played_and_frozen_is_an_option(leduc):
    """Free searches are one for a round; frozen ones go on from it; averages are not iterates."""
    tree, blueprint = leduc
    policies = biased(tree, blueprint, classes=poker_class)
    settings = search.DepthSearch(policies, solver="lcfr", iterations=30)

    def odds(**how) -> tuple[int, np.ndarray]:
        found = search.pluribus(tree, settings, players=0, **how)
        return found.searches, found.policy.probabilities(0)

    count, plain = odds()
    free = odds(every_decision=True, frozen=False)
    assert free[0] == count
    np.testing.assert_array_equal(free[1], plain)
    frozen = odds(every_decision=True)
    assert frozen[0] > count
    assert np.abs(frozen[1] - plain).max() > 0.01
    average = odds(final=False)
    assert average[0] == count
    assert np.abs(average[1] - plain).max() > 0.01
    agent = search.depth.PluribusSearch(tree, settings, frozen=False, final=False)
    mine = tree.info.players[0]
    first = int(np.argmin(mine.public))
    told, _ = agent.decide(agent.start(0), first)
    np.testing.assert_allclose(told, average[1][mine.offset[first] : mine.offset[first + 1]])


def test_bad_input(leduc):
    tree, blueprint = leduc
    with pytest.raises(ValueError, match="no final iterate"):
        search.pluribus(tree, search.DepthSearch([blueprint]))
    with pytest.raises(ValueError, match="Pluribus searches have"):
        search.pluribus(tree, search.DepthSearch([blueprint], solver="cfr", ahead=2))


@pytest.fixture(scope="module")
def kuhn3() -> js.PublicTree:
    with jax.enable_x64(True):
        return js.compile(games.load("kuhn(players=3)"))


def skewed(tree: js.PublicTree) -> js.Policy:
    """A policy that plays the first action of each infoset more often than the others."""
    parts = []
    for p in tree.info.players:
        odds = np.where(np.isin(np.arange(len(p.action)), p.offset), 3.0, 1.0)
        parts.append(odds / np.repeat(np.add.reduceat(odds, p.offset[:-1]), np.diff(p.offset)))
    return js.tree.policy_from_probabilities(tree, parts)


def test_subgames_of_three_players_pay_what_the_game_pays(kuhn3):
    """Weighted by how likely they are come to, the subgames of a level add up to the game."""
    index = subgame.game_index(kuhn3)
    policy = skewed(kuhn3)
    behaviour = [policy.probabilities(i).astype(np.float64) for i in range(3)]
    table = index.table
    reach = table.chance.copy()
    for i, entry in enumerate(js.tree.state_entries(index.info, table)):
        step = np.where(entry >= 0, behaviour[i][entry], 1)
        for lo, hi in itertools.pairwise(table.depth_start[1:]):
            step[lo:hi] *= step[table.parent[lo:hi]]
        reach *= step
    level = np.unique(table.public[table.depth_start[5] : table.depth_start[6]])
    total = np.zeros(3)
    for public_state in level:
        here = table.public == public_state
        ends = np.isin(table.terminal, np.flatnonzero(here))
        part = subgame.joint_subgame(index, 1, int(public_state), behaviour)
        if ends.any() or part is None:
            total += reach[table.terminal[ends]] @ table.utility[ends]
            continue
        inside = [behaviour[i][s] for i, s in enumerate(part.source)]
        local = js.tree.policy_from_probabilities(part.tree, inside)
        total += reach[here].sum() * np.asarray(js.expected_values(part.tree, local))
    np.testing.assert_allclose(total, js.expected_values(kuhn3, policy), atol=1e-12)


@pytest.mark.slow
def test_three_players_search(kuhn3):
    """In Kuhn poker of three a search sees the whole game, and comes close to an equilibrium."""
    uniform = js.uniform_policy(kuhn3)
    settings = search.DepthSearch([uniform], solver="cfr+", iterations=1000)
    found = search.pluribus(kuhn3, settings)
    assert found.searches == 3  # one for each player, at the start of the only round
    assert found.worst_case == ()
    assert found.exploitability == pytest.approx(float(js.nash_conv(kuhn3, found.policy)) / 3)
    assert found.exploitability < 0.05 * float(js.nash_conv(kuhn3, uniform)) / 3
    with pytest.raises(ValueError, match="not a two-player constant-sum game"):
        search.depth_limited(kuhn3, settings)


@pytest.mark.long  # 58 thousand states
def test_three_players_search_to_the_end_of_the_round():
    """In Leduc poker of three a search ends with the round, and still improves the blueprint."""
    tree = js.compile(games.load("leduc(players=3,ranks=2)"))
    blueprint = skewed(tree)
    settings = search.DepthSearch(
        biased(tree, blueprint, classes=poker_class), choosers="all", solver="lcfr", iterations=200
    )
    found = search.pluribus(tree, settings)
    assert found.exploitability < 0.5 * float(js.nash_conv(tree, blueprint)) / 3


def test_searches_are_made_where_a_round_begins(leduc):
    """P follows the search of the round; searching again at each decision makes more searches."""
    tree, _ = leduc
    plan = plan_of(tree, 0, ("fold", "call", "bet 0.5"))
    info = tree.info.players[0]
    rows = range(info.num_infosets)
    round_only = [form._case(plan, row, False) for row in rows]
    each = [form._case(plan, row, True) for row in rows]
    assert all(not case.past for case in round_only if not case.taken)
    assert any(case.past for case in each if not case.taken)
    for row, case, more in zip(rows, round_only, each, strict=True):
        assert set(case.past) <= set(more.past)
        for earlier in case.past:  # frozen: decisions above the last action off the menu
            below = public_below(listed(tree).states, np.array([max(case.taken)]))
            assert not below[info.public[earlier]], row

"""Nested depth-limited solving: what it composes, measured exactly."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import agents, evaluate, search
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.search.depth._plan import plan_of
from jaxsolve.tree import listed
from jaxsolve.values import biased, poker_class


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def kuhn() -> tuple[js.PublicTree, js.Policy, list[js.Policy]]:
    """Kuhn poker, an equilibrium, and one continuation for each of the two actions."""
    with jax.enable_x64(True):
        tree = js.compile(games.load("kuhn"))
        blueprint = js.solve_lp(tree).policy
        always = []
        for action in range(2):
            parts = [(p.action == action).astype(float) for p in tree.info.players]
            always.append(js.tree.policy_from_probabilities(tree, parts))
        return tree, blueprint, always


@pytest.fixture(scope="module")
def leduc() -> tuple[js.PublicTree, js.Policy]:
    """One-suited Leduc with bets of half the pot, and all-in."""
    with jax.enable_x64(True):
        tree = js.compile(games.load("nolimit_leduc(ranks=3,suits=1,stack=6,ante=2,sizes=[0.5])"))
        return tree, js.solve_lp(tree).policy


@pytest.mark.parametrize("gadget", ["unsafe", "resolve", "maxmargin"])
@pytest.mark.parametrize("choosers", ["opponent", "all"])
def test_pure_continuations_are_enough_in_kuhn(kuhn, gadget: str, choosers: str):
    """An opponent with one decision left can be anything: searches play an equilibrium."""
    tree, blueprint, always = kuhn
    options = {"ahead": 1, "gadget": gadget, "choosers": choosers}
    found = search.depth_limited(tree, search.DepthSearch([blueprint, *always], **options))
    assert found.exploitability < 1e-6
    assert float(js.exploitability(tree, found.policy)) < 1e-6
    assert found.searches == 3  # player 0 at the start and after pass, bet; player 1 at the start


def test_one_value_is_exploited_in_kuhn(kuhn):
    tree, blueprint, _ = kuhn
    found = search.depth_limited(tree, search.DepthSearch([blueprint], ahead=1))
    assert found.exploitability > 0.1
    assert found.blueprint_worst_case == pytest.approx((-1 / 18, 1 / 18))


def test_a_search_to_the_end_needs_no_values(kuhn):
    tree, _, _ = kuhn
    for gadget in ("resolve", "maxmargin"):
        settings = search.DepthSearch([js.uniform_policy(tree)], ahead=9, gadget=gadget)
        assert search.depth_limited(tree, settings).exploitability < 1e-6


@pytest.mark.slow  # many small programs to compile
def test_what_is_reported_is_the_policy(leduc):
    tree, blueprint = leduc
    policies = biased(tree, blueprint, classes=poker_class)
    found = search.depth_limited(tree, search.DepthSearch(policies, gadget="maxmargin"))
    best = js.best_response_values(tree, found.policy)
    np.testing.assert_allclose(found.worst_case, -np.asarray(best)[::-1], atol=1e-9)
    assert found.exploitability == pytest.approx(float(js.exploitability(tree, found.policy)))
    one = search.depth_limited(tree, search.DepthSearch(policies, gadget="maxmargin"), players=1)
    np.testing.assert_allclose(one.policy.probabilities(0), blueprint.probabilities(0), atol=1e-9)
    assert one.worst_case[1] == pytest.approx(found.worst_case[1])


@pytest.mark.slow  # seconds of compilation
def test_actions_off_the_menu_are_answered_but_not_played(leduc):
    """A blueprint that folds to every all-in is repaired where the all-in comes."""
    tree, blueprint = leduc
    info = tree.info
    parts = [blueprint.probabilities(i).astype(float) for i in range(2)]
    plan = plan_of(tree, 1, ("fold", "call", "bet 0.5"))
    for row in np.flatnonzero(plan.off[info.players[1].public]):
        at = slice(*info.players[1].offset[row : row + 2])
        parts[1][at] = [info.action_name(1, int(a)) == "fold" for a in info.players[1].action[at]]
    weak = js.tree.policy_from_probabilities(tree, parts)
    search_ = search.DepthSearch(
        biased(tree, weak, classes=poker_class, factor=100),
        gadget="resolve",
        menu=("fold", "call", "bet 0.5"),
    )
    found = search.depth_limited(tree, search_, players=1)
    assert found.worst_case[1] > found.blueprint_worst_case[1] + 0.1
    actions = info.players[1].action
    all_in = np.array([info.action_name(1, int(a)) == "all-in" for a in actions])
    touched = np.abs(found.policy.probabilities(1) - weak.probabilities(1)) > 1e-9
    assert found.policy.probabilities(1)[all_in & touched].max() == 0
    assert any(p.taken >= 0 for p in plan.points)


def test_plans_root_searches_where_the_opponent_acted(leduc):
    tree, _ = leduc
    table = listed(tree).states
    for player in range(2):
        plan = plan_of(tree, player, None)
        theirs = set(tree.info.players[1 - player].public.tolist())
        mine = set(tree.info.players[player].public.tolist())
        assert {p.public for p in plan.points} == mine
        for point in plan.points:
            assert point.root in theirs or plan.ends[point.root] or plan.parent[point.root] < 0
            at = point.public
            while at != point.root:  # the root lies above
                at = int(plan.parent[at])
                assert at == point.root or at not in theirs
        assert (np.diff(plan.level) >= 0).all()
    assert table.num_states == tree.info.num_states


def test_bad_input(kuhn):
    tree, blueprint, _ = kuhn
    with pytest.raises(ValueError, match="no action 'bluff'"):
        search.depth_limited(tree, search.DepthSearch([blueprint], menu=("bluff",)))
    with pytest.raises(ValueError, match="gadget must be one of"):
        search.depth_limited(tree, search.DepthSearch([blueprint], gadget="safe"))
    with pytest.raises(ValueError, match="at least 1 action"):
        search.depth_limited(tree, search.DepthSearch([blueprint], ahead=0))
    with pytest.raises(ValueError, match="no continuations"):
        search.depth_limited(tree, search.DepthSearch([]))


def decisions(agent: Agent, tree: js.PublicTree, player: int, infoset: int) -> list[Decision]:
    """What an agent decides on the way to an infoset, and there."""
    info = listed(tree)
    rows, p = info.form.rows[player], info.players[player]
    path = [infoset]
    while (up := int(rows.parent[path[-1]])) >= rows.roots:
        path.append(int(rows.row_of[up - rows.roots]))
    state, found = agent.init(player, jax.random.key(0)), []
    for row in reversed(path):
        legal = np.zeros(info.game.num_actions, bool)
        legal[p.action[p.offset[row] : p.offset[row + 1]]] = True
        nothing = np.zeros((0, 1), np.int32)
        seen = Observation(player, nothing, nothing, 0, -1, legal, row)
        decision, state = agent.act(state, seen, jax.random.key(1))
        found.append(decision)
    return found


def test_agents_play_the_composed_policy(kuhn):
    """They make only the searches on their way, and come to the same strategy."""
    tree, blueprint, always = kuhn
    settings = search.DepthSearch(
        [blueprint, *always], ahead=1, gadget="resolve", solver="pcfr+", iterations=300
    )
    rounds = search.DepthSearch([blueprint], solver="cfr+", iterations=50)
    p = tree.info.players[0]
    for whole, agent in (
        (search.depth_limited(tree, settings, players=0), agents.depth_limited(tree, settings)),
        (search.pluribus(tree, rounds, players=0), agents.pluribus(tree, rounds)),
        (
            search.pluribus(tree, rounds, players=0, every_decision=True),
            agents.pluribus(tree, rounds, every_decision=True),
        ),
        (
            search.nested(tree, blueprint, knowledge="common", players=0),
            agents.nested(tree, blueprint, knowledge="common"),
        ),
        (search.nested(tree, blueprint, players=0), agents.nested(tree, blueprint)),
    ):
        for infoset in (0, 3):  # at the start, and after pass and bet: two searches
            action, policy = decisions(agent, tree, 0, infoset)[-1]
            at = slice(*p.offset[infoset : infoset + 2])
            np.testing.assert_allclose(
                policy[p.action[at]], whole.policy.probabilities(0)[at], atol=1e-6
            )
            assert policy[action] > 0
    with pytest.raises(ValueError, match="has infosets 0 to 5"):
        agent.act(
            agent.init(0, jax.random.key(0)),
            Observation(0, np.zeros((0, 1)), np.zeros((0, 1)), 0, -1, np.ones(2, bool), 6),
            jax.random.key(0),
        )


@pytest.mark.slow
def test_agents_that_search_play_matches(kuhn):
    """The same matches on compiled states and on the rules alone."""
    tree, blueprint, _ = kuhn
    searcher = agents.nested(tree, blueprint)
    game = tree.info.game
    key = jax.random.key(2)
    listed_arena, rules = evaluate.arena(tree), evaluate.rules_arena(game)
    one, two = (
        evaluate.play_matches(arena, [searcher, agents.fixed(blueprint)], 4, key)
        for arena in (listed_arena, rules)
    )
    np.testing.assert_array_equal(one.utility, two.utility)

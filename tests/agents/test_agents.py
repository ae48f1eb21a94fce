"""Agents: what they play is what the composed search plays, in a whole batch of matches."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.public import actions_limit, no_limit, policy_of, public_game, table_of
from jaxsolve.search import compose, continual, oracle


@functools.cache
def kuhn() -> tuple[js.PublicTree, Any]:
    rules = games.load("kuhn")
    return js.compile(rules), public_game(rules)


@pytest.mark.parametrize("name", ["kuhn", "leduc(suits=1,raises=1)", "liars_dice(sides=2)"])
def test_tables_and_policies_agree_in_both_layouts(name: str):
    rules = games.load(name)
    game = public_game(rules)
    rows, hands = js.compile(rules), js.compile(rules, layout="hands")
    rng = np.random.default_rng(0)
    table = np.zeros((len(game.parent), max(map(len, game.children)), game.num_hands))
    for k, below in enumerate(game.children):
        if game.actor[k] >= 0:
            table[k, : len(below)] = rng.dirichlet(np.ones(len(below)), game.num_hands).T
    policies = [policy_of(tree, game, table) for tree in (rows, hands)]
    gaps = [float(js.exploitability(t, p)) for t, p in zip((rows, hands), policies, strict=True)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-5)
    for policy in policies:
        found = table_of(policy, game)
        seen = found > 0
        np.testing.assert_allclose(found[seen], table[seen], atol=1e-6)


@pytest.mark.parametrize(
    "limited",
    [False, pytest.param(True, marks=pytest.mark.slow)],  # compiles a search in a search
)
def test_the_agent_plays_the_composed_search(limited: bool):
    tree, game = kuhn()
    limit = actions_limit(2) if limited else no_limit
    leaf = oracle(game, js.pcfr_plus(), iterations=20) if limited else None
    search = continual(game, limit, js.pcfr_plus(), iterations=30)
    table = compose(search, leaf)
    policy = policy_of(tree, game, table)
    mind = agents.resolving(search, limit, leaf, tree.info)
    arena = evaluate.arena(tree)
    match = evaluate.play_matches(arena, [mind, mind], 128, jax.random.key(0))
    states = np.asarray(arena.states(match.actions))
    actor, infoset = np.asarray(arena.actor), np.asarray(arena.infoset)
    seen = set()
    for m in range(len(states)):
        for step in range(states.shape[1] - 1):
            at = states[m, step]
            if actor[at] < 0:
                continue
            i, k = int(actor[at]), int(infoset[at])
            p = tree.info.players[i]  # type: ignore[union-attr]
            entries = slice(p.offset[k], p.offset[k + 1])
            expected = np.zeros(match.policies.shape[2])
            expected[p.action[entries]] = policy.probabilities(i)[entries]
            np.testing.assert_allclose(match.policies[m, step], expected, atol=2e-3)
            seen.add((i, k))
    assert len(seen) >= 8  # of 12 infosets


@pytest.mark.slow  # compiles another search
def test_a_near_equilibrium_agent_does_not_lose_to_uniform_play():
    tree, game = kuhn()
    search = continual(game, no_limit, js.pcfr_plus(), iterations=100)
    mind = agents.resolving(search, no_limit, None, tree.info)
    arena = evaluate.arena(tree)
    match = evaluate.play_matches(arena, [mind, agents.uniform()], 1000, jax.random.key(1))
    found = evaluate.score(match)
    assert found.interval[0] > 0  # wins about 0.2 chips


def test_fixed_agents_play_their_policy():
    tree, _ = kuhn()
    policy = js.uniform_policy(tree)
    mind = agents.fixed(policy)
    seen = evaluate.arena(tree).observation(jnp.int32(5), 0)  # after both cards were dealt
    assert seen.legal.tolist() == [True, True, False]
    decisions, _ = jax.vmap(lambda key: mind.act(jnp.int32(0), seen, key))(
        jax.random.split(jax.random.key(0), 1000)
    )
    assert 400 < int(decisions.action.sum()) < 600
    np.testing.assert_allclose(decisions.policy[0], [0.5, 0.5, 0])


def test_bad_input():
    tree, game = kuhn()
    search = continual(game, no_limit, js.pcfr_plus(), iterations=1, safe=False)
    with pytest.raises(ValueError, match="safe=True"):
        agents.resolving(search, no_limit, None, tree.info)
    other = js.compile(games.load("kuhn(players=3)"))
    with pytest.raises(ValueError, match="is not kuhn"):
        agents.resolving(search._replace(safe=True), no_limit, None, other.info)

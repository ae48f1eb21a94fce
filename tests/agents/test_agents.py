"""Agents: what they play is what the composed search plays, in a whole batch of matches."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.public import (
    PublicTable,
    actions_limit,
    no_limit,
    public_game,
    public_table,
    rules_model,
)
from jaxsolve.search import (
    Resolver,
    fixed_resolver,
    growing_resolver,
    oracle,
    resolve_game,
    resolving,
)


@functools.cache
def kuhn() -> tuple[js.PublicTree, PublicTable]:
    rules = games.load("kuhn")
    return js.compile(rules), public_table(rules)


def fixed(limit: Any, iterations: int, **options: Any) -> Resolver[Any]:
    """Searches of Kuhn to a depth limit, in one program."""
    return fixed_resolver(
        kuhn()[1], limit, js.pcfr_plus(), iterations=iterations, grouped=False, **options
    )


@pytest.mark.parametrize(
    "name", few(["kuhn", "leduc(suits=1,raises=1)", "liars_dice(sides=2)"], "kuhn".__eq__)
)
def test_tables_and_policies_agree_in_both_layouts(name: str):
    rules = games.load(name)
    game = public_game(rules)
    rows, hands = js.compile(rules), js.compile(rules, layout="hands")
    rng = np.random.default_rng(0)
    table = np.zeros((len(game.parent), max(map(len, game.children)), game.num_hands))
    for k, below in enumerate(game.children):
        if game.actor[k] >= 0:
            table[k, : len(below)] = rng.dirichlet(np.ones(len(below)), game.num_hands).T
    policies = [game.policy_of(tree, table) for tree in (rows, hands)]
    gaps = [float(js.exploitability(t, p)) for t, p in zip((rows, hands), policies, strict=True)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-5)
    for policy in policies:
        found = game.table_of(policy)
        seen = found > 0
        np.testing.assert_allclose(found[seen], table[seen], atol=1e-6)


def played(mind: Any, policy: js.Policy, place: Any = None) -> set[tuple[int, int]]:
    """Returns the infosets an agent comes to in matches with itself; there it plays the policy."""
    tree, _ = kuhn()
    arena = evaluate.arena(tree)
    match = evaluate.play_matches(place or arena, [mind, mind], 128, jax.random.key(0))
    states = np.asarray(arena.states(match.actions))
    actor, infoset = np.asarray(arena.actor), np.asarray(arena.infoset)
    seen = set()
    for m in range(len(states)):
        for step in range(states.shape[1] - 1):
            at = states[m, step]
            if actor[at] < 0:
                continue
            i, k = int(actor[at]), int(infoset[at])
            p = tree.info.players[i]
            entries = slice(p.offset[k], p.offset[k + 1])
            expected = np.zeros(match.policies.shape[2])
            expected[p.action[entries]] = policy.probabilities(i)[entries]
            np.testing.assert_allclose(match.policies[m, step], expected, atol=2e-3)
            seen.add((i, k))
    return seen


@pytest.mark.slow  # compiles a search
@pytest.mark.parametrize(
    "actions",
    [
        None,
        # A search in a search; one action deep, the first tree ends before player 1 acts.
        pytest.param(1, marks=pytest.mark.long),
        pytest.param(2, marks=pytest.mark.long),
    ],
)
def test_the_agent_plays_the_composed_search(actions: int | None):
    tree, where = kuhn()
    limit = no_limit if actions is None else actions_limit(actions)
    leaf = None
    if actions is not None:
        leaf = oracle(public_game(games.load("kuhn")), js.pcfr_plus(), iterations=20)
    resolver = fixed(limit, 30)
    policy = where.policy_of(tree, resolve_game(resolver, leaf))
    assert len(played(agents.resolving(resolver, leaf, tree), policy)) >= 8  # of 12 infosets


def nothing(public: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


SEED = 5
GROWING: dict[str, Any] = {"simulations": 8, "batch": 2, "capacity": 11}


@functools.cache
def found_by_hand() -> np.ndarray:
    """Returns the policy of searches of Kuhn that both seats make one after the other."""
    _, where = kuhn()
    value = jax.tree_util.Partial(nothing)
    resolver = growing_resolver(where, js.cfr_plus(2.0), **GROWING)
    engine = resolver.engine

    @jax.jit
    def search(state: Any, seat: Any, level: Any) -> Any:
        level = jax.random.fold_in(jax.random.key(SEED), level)
        state, found = resolving.search(engine, state, seat, value, None, level, alpha=0.5)
        return state, engine.tree(found), engine.policy(found, state.at)

    move = jax.jit(functools.partial(resolving.advance, engine))
    found = np.zeros((len(where.parent), where.transitions.num_actions, where.num_hands))

    def walk(p: int, seat: int, state: Any, branches: Any, level: int) -> None:
        if where.actor[p] == seat:
            state, branches, found[p] = search(state, jnp.int32(seat), level)
            level += 1
        for k, child in enumerate(where.children[p]):
            if child >= 0:
                walk(int(child), seat, move(state, branches, jnp.int32(k)), branches, level)

    start, blank = resolving.init(engine, resolver.root), engine.blank(resolver.root)
    for seat in (0, 1):
        walk(0, seat, start, blank, 0)
    composed = resolve_game(resolver, value, jax.random.key(SEED))
    first = where.actor == 0  # the first search of each of their levels
    np.testing.assert_allclose(composed[first], found[first], atol=1e-6)
    return found


@pytest.mark.slow  # compiles a search for each way of finding its place
@pytest.mark.parametrize("listed", [True, pytest.param(False, marks=pytest.mark.long)])
def test_an_agent_whose_trees_grow_plays_what_its_searches_find(listed: bool):
    """Each search of the agent made again by hand, on compiled states and on the rules alone."""
    tree, where = kuhn()
    value = jax.tree_util.Partial(nothing)
    if listed:
        resolver = growing_resolver(where, js.cfr_plus(2.0), **GROWING)
        own = agents.resolving(resolver, value, tree)
    else:
        model, root = rules_model(
            games.load("kuhn"), depth=3, worlds=6, hands=3, children=2, actions=2, scale=2.0
        )
        own = agents.resolving(
            growing_resolver(model, js.cfr_plus(2.0), root=root, **GROWING), value
        )
    # All matches have the same seed.
    mind = own._replace(init=lambda seat, k: own.init(seat, k)._replace(seed=jnp.uint32(SEED)))
    arena = None if listed else evaluate.rules_arena(games.load("kuhn"))
    policy = where.policy_of(tree, found_by_hand())
    assert len(played(mind, policy, arena)) >= 8


@pytest.mark.slow  # compiles another search
def test_a_near_equilibrium_agent_does_not_lose_to_uniform_play():
    tree, _ = kuhn()
    mind = agents.resolving(fixed(no_limit, 100), None, tree)
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
    tree, where = kuhn()
    with pytest.raises(ValueError, match=r"alpha=0\.5"):
        agents.resolving(fixed(no_limit, 1, alpha=None), None, tree)
    several = fixed_resolver(where, no_limit, js.pcfr_plus(), iterations=1)
    with pytest.raises(ValueError, match="grouped=False"):
        agents.resolving(several, None, tree)
    other = js.compile(games.load("kuhn(players=3)"))
    with pytest.raises(ValueError, match="is not kuhn"):
        agents.resolving(fixed(no_limit, 1), None, other)

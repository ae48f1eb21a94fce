"""Two arenas, compiled states and rules, are one: same matches, same observations."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import random_games

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.game import Agent, Decision, Game, Observation
from jaxsolve.tree import pick, policy_from_probabilities
from jaxsolve.types import CHANCE, NOTHING, TERMINAL


def random_policy(tree: js.PublicTree, seed: int) -> js.Policy:
    rng = np.random.default_rng(seed)
    parts = []
    for p in tree.info.players:
        raw = rng.exponential(size=len(p.action))
        parts.append(raw / np.repeat(np.add.reduceat(raw, p.offset[:-1]), np.diff(p.offset)))
    return policy_from_probabilities(tree, parts)


def assert_same(first: evaluate.Match, second: evaluate.Match) -> None:
    moves = min(first.actions.shape[1], second.actions.shape[1])
    for match in (first, second):
        assert (np.asarray(match.actors)[:, moves:] == TERMINAL).all()
        assert (np.asarray(match.actions)[:, moves:] == -1).all()
    for a, b in zip(first[:2], second[:2], strict=True):
        np.testing.assert_array_equal(a[:, :moves], b[:, :moves])
    np.testing.assert_allclose(first.policies[:, :moves], second.policies[:, :moves], atol=1e-6)
    np.testing.assert_array_equal(first.utility, second.utility)


@pytest.mark.parametrize(
    "name",
    [
        "kuhn",
        "goofspiel(cards=3)",
        pytest.param("kuhn(players=3)", marks=pytest.mark.slow),
        pytest.param("leduc", marks=pytest.mark.slow),
        pytest.param("liars_dice(sides=3)", marks=pytest.mark.slow),
    ],
)
def test_both_arenas_play_the_same_matches(name: str):
    rules = games.load(name)
    tree = js.compile(rules)
    seats = [agents.fixed(random_policy(tree, 1))] * tree.num_players
    listed, stepped = evaluate.arena(tree), evaluate.rules_arena(rules, max_moves=32, max_rows=8)
    count = 40 * tree.num_players
    first, second = (
        evaluate.play_matches(where, seats, count, jax.random.key(3)) for where in (listed, stepped)
    )
    assert_same(first, second)
    assert len(np.unique(np.asarray(first.actions), axis=0)) > 10
    # In one deal everybody is in every seat, with the same first outcome of chance.
    deals = np.asarray(first.actions).reshape(40, tree.num_players, -1)
    if int(first.actors[0, 0]) == CHANCE:
        assert (deals[:, :, 0] == deals[:, :1, 0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, pytest.param(3, marks=pytest.mark.long)])
def test_hidden_moves_and_every_kind_of_observation(players: int):
    """Random games, where moves are hidden and infosets span depths; games share their programs."""
    for seed in range(3):
        rules = random_games.random_game(seed, players=players)
        tree = js.compile(rules)
        seats = [agents.fixed(random_policy(tree, seed))] * players
        arenas = (evaluate.arena(tree), evaluate.rules_arena(rules, max_moves=32, max_rows=16))
        first, second = (
            evaluate.play_matches(where, seats, 8 * players, jax.random.key(seed))
            for where in arenas
        )
        assert_same(first, second)


def test_observations_say_what_was_shown_since_the_last_decision():
    tree = js.compile(games.load("kuhn"))
    listed = evaluate.arena(tree)
    stepped = evaluate.rules_arena(games.load("kuhn"), max_rows=4)
    here, there = listed.start(), stepped.start()
    for action in (2, 0, 0, 1):  # king to player 0, jack to player 1, pass, bet
        here, there = listed.step(here, jnp.int32(action)), stepped.step(there, jnp.int32(action))
    for arena, position in ((listed, here), (stepped, there)):
        seen = arena.observation(position, 0)  # type: ignore[arg-type]
        assert (int(seen.player), int(seen.length), int(seen.action)) == (0, 2, 0)
        assert np.asarray(seen.public)[:2].ravel().tolist() == [0, 1]  # the pass, then the bet
        assert (np.asarray(seen.private) == NOTHING).all()  # the card was shown before the pass
        assert seen.legal.tolist() == [True, True, False]
    assert stepped.observation(there, 0).infoset is None


def remembering(log: list[Any]) -> Agent:
    """Plays uniformly on the host, with the draws of `agents.uniform`, and keeps what it saw."""
    inner = agents.uniform()

    def act(state: Any, seen: Observation, key: Any) -> tuple[Decision, Any]:
        assert isinstance(seen.public, np.ndarray)
        log.append(seen)
        return inner.act(state, seen, key)

    return Agent(inner.init, act, "remembering", host=True)


@pytest.mark.parametrize("on_rules", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_agents_on_the_host_play_the_same_matches(on_rules: bool):
    rules = games.load("kuhn")
    tree = js.compile(rules)
    where: Any = evaluate.rules_arena(rules, max_moves=8) if on_rules else evaluate.arena(tree)
    other, log = agents.fixed(random_policy(tree, 1)), list[Any]()
    first = evaluate.play_matches(where, [agents.uniform(), other], 8, jax.random.key(1))
    second = evaluate.play_matches(where, [remembering(log), other], 8, jax.random.key(1))
    assert_same(first, second)
    assert len(log) == int((np.asarray(first.actors) >= 0).sum()) - _moves_of(first, 1)


def counting() -> Agent:
    """Plays by how often it was asked before, and by its draws."""

    def act(asked: jax.Array, seen: Observation, key: Any) -> tuple[Decision, jax.Array]:
        policy = seen.legal * (1.0 + (jnp.arange(len(seen.legal)) + asked) % 2)
        policy = policy / policy.sum()
        drawn = pick(policy, jax.random.uniform(key))
        return Decision(drawn, policy), asked + 1

    return Agent(lambda seat, key: jnp.int32(0), act, "counting")


def test_agents_that_are_asked_in_turn_play_the_same_matches():
    """Matches of Leduc end at different moves, and a raise makes the other seat's turn differ."""
    where = evaluate.rules_arena(games.load("leduc"), max_moves=16)
    both = [counting(), agents.uniform()]
    first, second = (
        evaluate.play_matches(where, both, 40, jax.random.key(2), in_turn=in_turn)
        for in_turn in (False, True)
    )
    assert_same(first, second)
    over = (np.asarray(first.actors) == TERMINAL).argmax(1)
    assert len(np.unique(over)) > 2


def _moves_of(match: evaluate.Match, agent: int) -> int:
    actors = np.asarray(match.actors)
    seat = (agent - np.arange(len(actors)) % 2) % 2
    return int((actors == seat[:, None]).sum())


def test_the_agents_of_a_deal_win_what_the_seats_pay():
    """Three players in turn: what the first agent wins against two equal ones comes out even."""
    rules = games.load("kuhn(players=3)")
    where = evaluate.rules_arena(rules, max_moves=12)
    match = evaluate.play_matches(where, [agents.uniform()] * 3, 3000, jax.random.key(0))
    np.testing.assert_allclose(np.asarray(match.utility).sum(1), 0, atol=1e-6)
    found = evaluate.score(match)
    assert found.matches == 1000
    assert abs(found.mean) < 4 * found.standard_error
    # The agent in each seat of a deal: what match 3 k + r pays agent 0 is paid to seat -r.
    last = np.asarray(match.actors)
    cards = np.asarray(match.actions)[:, :3]
    assert (last[:, :3] == CHANCE).all()
    assert (cards.reshape(1000, 3, 3) == cards[::3, None]).all()


@pytest.mark.slow
def test_a_policy_of_public_tree_and_hands_plays_by_its_observations():
    rules = games.load("kuhn")
    rows, hands = js.compile(rules), js.compile(rules, layout="hands")
    solved = [
        js.solve(t, "cfr+", iterations=20, measure_every=20, progress=False) for t in (rows, hands)
    ]
    seats = [agents.fixed(result.average) for result in solved]
    where = evaluate.arena(rows)
    first, second = (evaluate.play_matches(where, [s] * 2, 40, jax.random.key(5)) for s in seats)
    np.testing.assert_allclose(first.policies, second.policies, atol=1e-4)


@functools.cache
def london() -> Game:
    return games.load("scotland_yard(board=london)")


@pytest.mark.slow  # compiles the rules of a large map
def test_a_game_that_nobody_lists_is_played_from_its_rules():
    where = evaluate.rules_arena(london(), max_moves=256)
    match = evaluate.play_matches(where, [agents.uniform()] * 2, 4, jax.random.key(0))
    assert (np.abs(np.asarray(match.utility)) == 1).all()
    assert (np.asarray(match.utility).sum(1) == 0).all()


def test_connect_four_is_played_from_its_rules():
    pytest.importorskip("pgx")
    where = evaluate.rules_arena(games.load("pgx:connect_four"), max_moves=42, max_rows=2)
    match = evaluate.play_matches(
        where, [agents.uniform()] * 2, 64, jax.random.key(0), keep_policies=False
    )
    moves = (np.asarray(match.actors) >= 0).sum(1)
    assert moves.min() >= 7
    assert moves.max() <= 42
    assert match.policies.shape == (64, 42, 0)
    assert (np.asarray(match.utility).sum(1) == 0).all()


def test_what_does_not_fit_is_an_error():
    rules, key = games.load("kuhn"), jax.random.key(0)
    both = [agents.uniform()] * 2
    short = evaluate.rules_arena(rules, max_moves=3)
    with pytest.raises(ValueError, match=r"not over .* 3; give more: rules_arena"):
        evaluate.play_matches(short, both, 2, key)
    with pytest.raises(ValueError, match="not over"):
        evaluate.play_matches(short, [remembering([]), agents.uniform()], 2, key)
    narrow = evaluate.rules_arena(rules, max_rows=1)
    with pytest.raises(ValueError, match="max_rows"):
        evaluate.play_matches(narrow, both, 2, key)


@pytest.mark.parametrize("host", [False, True])
def test_an_action_that_is_not_legal_is_an_error(host: bool):
    def act(state: Any, seen: Observation, key: Any) -> tuple[Decision, Any]:
        return Decision(jnp.int32(2), jnp.zeros(3)), state

    cheat = Agent(lambda seat, key: (), act, "cheat", host=host)
    for where in (evaluate.arena(js.compile("kuhn")), evaluate.rules_arena(games.load("kuhn"))):
        with pytest.raises(ValueError, match=r"not legal \(the agent 'cheat' in seat 0, action 2"):
            evaluate.play_matches(
                where, [cheat, agents.uniform()], 1, jax.random.key(0), mirror=False
            )


@pytest.mark.slow  # seconds of compiling
def test_a_policy_of_other_rules_under_the_same_name_is_an_error():
    """It meets observations that its tree does not have, and says so instead of playing on."""
    first = random_games.random_game(0, silence=0.1)
    where = evaluate.rules_arena(first)
    for rules, message in (
        (random_games.random_game(1, silence=0.1), "plays other rules than the arena"),
        (games.load("kuhn"), "of other rules"),
        (games.load("leduc"), r"policy of shape \(\d,\), but random.* has 3 actions"),
    ):
        policy = js.uniform_policy(js.compile(rules))
        info = dataclasses.replace(policy.info, name=where.name)
        mind = agents.fixed(dataclasses.replace(policy, names=info))
        with pytest.raises(ValueError, match=message):
            evaluate.play_matches(where, [mind, mind], 200, jax.random.key(0))


def test_bad_input():
    with pytest.raises(ValueError, match="must be positive"):
        evaluate.rules_arena(games.load("kuhn"), max_moves=0)
    policy = js.uniform_policy(js.compile("leduc"))
    where = evaluate.rules_arena(games.load("kuhn"))
    with pytest.raises(ValueError, match="plays leduc and cannot play kuhn"):
        evaluate.play_matches(where, [agents.fixed(policy)] * 2, 2, jax.random.key(0))
    with pytest.raises(ValueError, match="3 agents for kuhn, a game of 2 players"):
        evaluate.play_matches(where, [agents.uniform()] * 3, 3, jax.random.key(0))


@pytest.mark.slow
def test_games_of_openspiel_are_played_on_their_states():
    pytest.importorskip("pyspiel")
    rules = games.load("openspiel:kuhn_poker")
    with pytest.raises(ValueError, match="comes from OpenSpiel"):
        evaluate.rules_arena(rules)
    tree = js.compile(rules)
    mind = agents.fixed(js.uniform_policy(tree))
    match = evaluate.play_matches(evaluate.arena(tree), [mind] * 2, 20, jax.random.key(0))
    assert set(np.abs(np.asarray(match.utility)).ravel().tolist()) <= {1, 2}

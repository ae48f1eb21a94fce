"""Agents that hold positions possible: klss, obscuro and determinised search."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import COMPILED, counted
from few import few

import games
from jaxsolve import agents, evaluate
from jaxsolve.agents._knowledge import purified
from jaxsolve.game import Agent, Observation
from jaxsolve.search.knowledge import Effort

SMALL = "dark_chess(size=4,plies=12)"
WORK = Effort(seconds=None, rounds=3, iterations=3, batch=64)


def played(game: Any, seats: list[Agent], seed: int = 0) -> Any:
    """Returns one match."""
    arena = evaluate.rules_arena(game)
    return evaluate.play_matches(arena, seats, 1, jax.random.key(seed), mirror=False)


@pytest.mark.parametrize(
    "kind", few(["obscuro", "klss", "klss-2021", "klss-purified"], "klss".__eq__)
)
def test_a_match_is_played_and_the_true_position_is_always_possible(kind: str):
    game, seen = games.load(SMALL), []

    def note(mind: agents.Mind, found: Any) -> None:
        states = mind.infoset.states
        listed = {_name(states, k) for k in range(mind.infoset.num_states)}
        seen.append((mind.seat, listed, found))

    kind, _, form = kind.partition("-")
    forms: dict[str, dict[str, Any]] = {
        "": {},
        "2021": {"discovery": 1e3, "trunk": "lp"},
        "purified": {"mixed": 2},
    }
    options = forms[form]
    made = getattr(agents, kind)(
        game, effort=WORK, capacity=4096, positions=32, log=note, **options
    )
    arena, key = evaluate.rules_arena(game), jax.random.key(0)
    with counted(COMPILED) as first:
        match = evaluate.play_matches(arena, [made, made], 1, key, mirror=False)
    with counted(COMPILED) as second:
        again = evaluate.play_matches(arena, [made, made], 1, key, mirror=False)
    assert first  # so it listens
    assert not second
    np.testing.assert_array_equal(match.actions, again.actions)  # nothing depends on time
    actions = [int(a) for a in match.actions[0] if a >= 0]
    assert len(seen) == 2 * len(actions)
    state, carried = game.positions.init(), 0
    for k, action in enumerate(actions):
        (seat, listed, found), policy = seen[k], match.policies[0, k]
        assert seat == int(game.actor(state)) == int(state.turn)
        assert _name(jax.tree.map(lambda x: np.asarray(x)[None], state), 0) in listed
        assert found.positions <= len(listed)
        assert policy.sum() == pytest.approx(1)
        if most := options.get("mixed", 3 if kind == "obscuro" else 0):
            assert (policy > 0).sum() <= (most if found.safe else 1)
        else:
            np.testing.assert_allclose(policy[found.actions], found.average, atol=1e-6)
        if form == "2021":  # a linear program has one strategy, PCFR+ a last one and an average
            np.testing.assert_array_equal(found.policy, found.average)
        carried += found.carried
        state = game.positions.step(state, jnp.int32(action))
    assert carried > 0


@pytest.mark.slow  # compiles four searches
def test_determinised_search_takes_a_king_and_sees_a_reply():
    """White can take the king; in the second position a knight, or a pawn about to promote."""
    takes = games.load("dark_chess(fen=k3/4/4/R2K_w,plies=4)")
    for depth in (1, 2):
        match = played(takes, [agents.determinized(takes, depth=depth), agents.uniform()])
        assert takes.action_name(0, int(match.actions[0, 0])) == "a1a4"
        assert float(match.utility[0, 0]) == 1
    choice, first = games.load("dark_chess(fen=n4/2k2/5/R3p/K4_w,plies=2)"), []
    for depth in (1, 2):
        match = played(choice, [agents.determinized(choice, depth=depth), agents.uniform()])
        first.append(choice.action_name(0, int(match.actions[0, 0])))
    assert first == ["a2a5", "a2e2"]


def test_an_observation_that_fits_nothing_is_met_with_guesses():
    game = games.load(SMALL)
    agent = agents.obscuro(game, effort=WORK, capacity=4096, positions=32)
    mind = agent.init(jnp.int32(1), jax.random.key(0))
    after = game.step(game.init(), jnp.int32(np.flatnonzero(game.legal(game.init()))[0]))
    public, private = game.observe(after)
    wrong = np.array(private[1])
    wrong[0] ^= 1 << 3  # a square that cannot be seen
    legal = game.legal(after)
    seen = Observation(
        player=jnp.int32(1),
        public=public[None],
        private=jnp.asarray(wrong)[None],
        length=jnp.int32(1),
        action=jnp.int32(-1),
        legal=legal,
        infoset=None,
    )
    with pytest.warns(UserWarning, match="no position fits what player 1 saw"):
        decision, mind = agent.act(mind, seen, jax.random.key(1))
    assert bool(legal[int(decision.action)])
    assert mind.guessed


def test_a_policy_is_purified():
    policy = np.array([0.1, 0.5, 0.25, 0.15])
    np.testing.assert_array_equal(purified(policy, None, 3), [0, 1, 0, 0])
    np.testing.assert_allclose(purified(policy, policy, 3), [0, 0.6, 0.25, 0.15])
    steady = np.array([0, 0, 0.25, 0.15])  # what is new gives its share to the best
    np.testing.assert_allclose(purified(policy, steady, 1), [0, 0.75, 0.25, 0])


def test_bad_arguments_are_refused():
    chess, kuhn = games.load(SMALL), games.load("kuhn")
    with pytest.raises(ValueError, match="without chance"):
        agents.obscuro(kuhn)
    with pytest.raises(ValueError, match="mixed=0"):
        agents.obscuro(chess, mixed=0)
    with pytest.raises(ValueError, match="mixed=0"):
        agents.klss(chess, mixed=0)
    with pytest.raises(ValueError, match="capacity=8"):
        agents.klss(chess, capacity=8)
    with pytest.raises(ValueError, match="positions=0"):
        agents.klss(chess, positions=0)
    with pytest.raises(ValueError, match="discovery=0"):
        agents.klss(chess, discovery=0)
    with pytest.raises(ValueError, match="trunk must be one of cfr, lp, not 'gurobi'"):
        agents.klss(chess, trunk="gurobi")
    with pytest.raises(ValueError, match="depth=3"):
        agents.determinized(chess, depth=3)
    with pytest.raises(ValueError, match="no values of positions"):
        agents.determinized(games.load("phantom_ttt"))


def _name(states: Any, k: int) -> bytes:
    return b"".join(np.asarray(x)[k].tobytes() for x in jax.tree.leaves(states))

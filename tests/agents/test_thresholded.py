"""Thresholding and purification of any agent's policy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.game import Agent, Decision, Observation


@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
def test_unlikely_actions_are_left_out_and_the_rest_keeps_its_proportions(least: float):
    tree = js.compile(games.load("leduc"))
    policy = js.solve(tree, "cfr+", iterations=20, measure_every=20, progress=False).average
    agent = agents.thresholded(agents.fixed(policy), least)
    found = evaluate.agent_policy(tree, agent, jax.random.key(0))
    left = 0
    for i, player in enumerate(tree.info.players):
        before, after = policy.probabilities(i), found.probabilities(i)
        for row in np.split(np.arange(len(before)), player.offset[1:-1]):
            kept = before[row] >= min(least, before[row].max()) - 1e-6
            np.testing.assert_allclose(
                after[row], np.where(kept, before[row], 0) / before[row][kept].sum(), atol=1e-5
            )
            left += (~kept).sum()
    assert (left > 0) == (least > 0)


def test_actions_are_drawn_from_what_is_left():
    """Of a player on the host too, who learns of what was played as of actions of their own."""
    game = games.load("kuhn")

    def act(state: int, seen: Observation, key: jax.Array) -> tuple[Decision, int]:
        first = np.flatnonzero(seen.legal)[0]
        policy = np.where(np.arange(len(seen.legal)) == first, 0.8, 0.2 * seen.legal)
        return agents.decide(jnp.asarray(policy), key), state + 1

    plain = Agent(lambda seat, key: 0, act, "plain", game.name, host=True)
    seats = [agents.thresholded(plain, 0.5), plain]
    match = evaluate.play_matches(evaluate.rules_arena(game), seats, 40, jax.random.key(0))
    policies = np.asarray(match.policies)
    assert (policies.max(-1) == 1).sum() >= 40
    assert np.isclose(policies.max(-1), 0.8).any()


def test_a_threshold_that_is_no_probability():
    with pytest.raises(ValueError, match=r"least=1\.5 must be a probability"):
        agents.thresholded(agents.uniform(), 1.5)

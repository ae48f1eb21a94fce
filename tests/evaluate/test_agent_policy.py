"""An agent's policy at all infosets of a game, by asking it."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import agents, evaluate


@pytest.mark.parametrize("name", ["kuhn", "goofspiel(cards=3,order=descending)", "kuhn(players=3)"])
def test_a_fixed_agent_plays_its_policy(name: str):
    """It follows its observations from decision to decision."""
    tree = js.compile(games.load(name))
    policy = js.solve(tree, "cfr+", iterations=3, measure_every=3, progress=False).average
    found = evaluate.agent_policy(tree, agents.fixed(policy), jax.random.key(0))
    for i in range(tree.num_players):
        np.testing.assert_allclose(found.probabilities(i), policy.probabilities(i), atol=1e-6)


def test_bad_input():
    tree = js.compile(games.load("kuhn"))
    other = agents.fixed(js.uniform_policy(js.compile(games.load("kuhn(players=3)"))))
    with pytest.raises(ValueError, match=r"plays kuhn\(players=3\), not kuhn"):
        evaluate.agent_policy(tree, other, jax.random.key(0))
    person = agents.person(games.load("kuhn"), input, print)
    with pytest.raises(ValueError, match="plain Python"):
        evaluate.agent_policy(tree, person, jax.random.key(0))
    silent = agents.uniform()._replace(
        act=lambda state, seen, key: (agents.decide(0.0 * seen.legal, key), state)
    )
    with pytest.raises(ValueError, match="with probability 0 at infoset"):
        evaluate.agent_policy(tree, silent, jax.random.key(0))

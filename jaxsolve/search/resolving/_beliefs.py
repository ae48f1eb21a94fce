"""A subgame that starts from beliefs, and the constraint under which it is re-solved.

Whatever searches (a tree that grows, a tree to a fixed depth) starts from the same four things: a
public state, the own reaches of both players there, the gadget, and the path to the public state
at which somebody has to act.

The gadget (Burch, Johanson & Bowling 2014) lets the opponent of the player who re-solves choose,
with each private state, between following into the subgame and terminating for the counterfactual
value that the search before promised. As in Student of Games (Schmid et al. 2023) the opponent's
range is alpha times what the gadget plays, plus (1 - alpha) times the range of the search before:
that second part is a floor under the probability of following.

Example: Kuhn poker after a bet, player 1 re-solves. Player 0 bets with ranges (jack .3, queen 0,
king 1). With alpha = .5 the floors are (.15, 0, .5), and the gadget chooses how much of the other
.5 of each card follows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import chex
import jax.numpy as jnp

from jaxsolve.types import Array
from jaxsolve.values import normalised

TRACE = 1e-6
"""Least own reach of a possible private state, as a share of the largest of its range."""


class Gadget(NamedTuple):
    """The constraint under which a subgame is re-solved (H private states).

    Attributes:
        on: bool [2], who may terminate: the opponent of the player who re-solves, or nobody.
        alternative: float [2, H], counterfactual values of terminating, for the ranges given.
        alpha: float [], share of the gadget in the opponent's range; the rest is the range given.
    """

    on: Array
    alternative: Array
    alpha: Array


class BeliefSubgame(NamedTuple):
    """What a search starts from (H private states, W children on the longest path).

    Attributes:
        root: the public state; what it is depends on the model of public states: the number of
            its subgame class (int32 []) in a table, its world states where trees grow from rules.
        ranges: float [2, H], own reaches of both players there. Under a gadget the opponent's is
            what alpha mixes in.
        gadget: the constraint.
        path_to_focus: int32 [W], which child to go to from each public state between the root and
            the one at which somebody has to act, then -1.
    """

    root: Any
    ranges: Array
    gadget: Gadget
    path_to_focus: Array


def no_gadget(hands: int) -> Gadget:
    """Returns the constraint that is none."""
    return Gadget(jnp.zeros(2, bool), jnp.zeros((2, hands)), jnp.ones(()))


def root_reach(possible: Array, ranges: Array, gadget: Gadget) -> tuple[Array, Array]:
    """Returns what both players bring to the root of a subgame.

    Args:
        possible: bool [2, H], private states that can be held there.
        ranges: float [2, H], own reaches of both players.
        gadget: the constraint.

    Returns:
        own reaches float [2, H]: of a player who may terminate 1 for each possible private state;
        of others the range given, no possible private state less than a trace. And floors float
        [2, H] under the probability of following, 0 for players who may not terminate.

    Raises:
        AssertionError: the ranges or the gadget have not the private states of the root.
    """
    chex.assert_shape(
        (ranges, gadget.alternative, gadget.on),
        (possible.shape, possible.shape, (2,)),
        custom_message=f"ranges and alternative values are [2, {possible.shape[-1]}] here",
    )
    beliefs, _ = normalised(ranges, possible)
    # A range without mass becomes uniform: its owner never comes here, but a policy is needed all
    # the same. A single private state has a trace for that reason: without any reach its average
    # policy would stay uniform, and its values would be those of playing so.
    mine = jnp.where(possible, ranges, 0)
    mine = jnp.where(mine.sum(-1, keepdims=True) > 0, mine, beliefs)
    mine = jnp.maximum(mine, TRACE * mine.max(-1, keepdims=True) * possible)
    top = beliefs.max(-1, keepdims=True)
    floor = (1 - gadget.alpha) * beliefs / jnp.where(top > 0, top, 1)
    on = gadget.on[:, None]
    return jnp.where(on, possible.astype(ranges.dtype), mine), jnp.where(on, floor, 0)

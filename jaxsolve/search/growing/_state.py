"""The options of a search by growing trees, its problem, and the state that it changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from jaxsolve.public import PublicModel, PublicState
from jaxsolve.search.growing._tree import Growth
from jaxsolve.search.resolving import Gadget
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, pytree
from jaxsolve.values import ValueFunction

PriorFunction = Callable[[PublicState, Array], Array]
"""(public states [F], beliefs [F, 2, H]) -> weights of actions [F, A, H], by place; a pytree."""


@pytree
@dataclasses.dataclass(frozen=True)
class GrowingSearch:
    """How to grow a tree. A pytree: numbers are leaves, sizes are static.

    Attributes:
        model: the public states that trees grow into.
        solver: variant of CFR.
        exploration: constant of PUCT.
        rounds: int32 [], regret update phases, each followed by simulations.
        updates: int32 [], iterations of CFR in each.
        simulations_per_round: int32 [], simulations after each.
        top: k, actions whose children are added when a public state is opened; all if None.
        capacity: I, public states that can be opened.
        tile: leaves that the value function is asked about at once.
        skip_solved: simulations pass by what is open to its ends.
        warm: regrets of a public state that is opened, in units of its prior; None for none.
        ask_every: iterations from one question about all leaves to the next; None for 1.
    """

    model: PublicModel
    solver: Solver
    exploration: Any
    rounds: Any
    updates_per_round: Any
    simulations_per_round: Any
    top: int | None = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})
    tile: int = dataclasses.field(metadata={"static": True})
    skip_solved: bool = dataclasses.field(default=False, metadata={"static": True})
    warm: Any = None
    ask_every: Any = None

    @property
    def several(self) -> Array:
        """int32 [], 1 where a simulation may meet others since the last regret update, else 0."""
        return jnp.minimum(self.simulations_per_round - 1, 1)


class Known(NamedTuple):
    """What was said of leaves when they were asked about last; no range changes it where H is 1.

    Attributes:
        values: float [I, 2, C + 1, H], per unit of the opponent's reach.
        prior: float [I, A, C + 1], of the actor there, not normalised; None without a prior, and
            where it is not kept.
    """

    values: Array
    prior: Array | None


class SearchState(NamedTuple):
    """What changes during a search (I opened public states at most).

    Attributes:
        iteration: int32 [], iterations of CFR.
        growth: the tree.
        minimizer: state of each public state, leading axis I.
        policy: float [I, A, H], of the next iteration.
        total: float [I, A, H], sum over iterations of the actor's own reach of each action.
        action_reach: float [I, 2, A + 1, H], own reach of each (action, private state) of the
            actor; of the player who waits, the own reach of the private state, in the first action.
            The last action is padding, 0.
        child_values: float [I, 2, C + 1, H], counterfactual values of the children, times the
            probability of chance on the path there. The last child is padding, 0.
        values: float [I, A, H], counterfactual values of the actor's actions.
        value_sum: float [I, 2, C + 1, H], sum of `child_values` over iterations.
        present: float [I, C], weight of the iterations in which a child was in the tree.
        gadget: state of the minimizer of both gadgets.
        follow: float [2, 2, H], free part of the probabilities of following and terminating.
        root_reach: float [2, H], sum over iterations of own reaches at the root.
        root_value_sum: float [2, H], sum over iterations of counterfactual values there.
        start: float [2, H], sum over iterations of own reaches at the focus.
        weight: float [], of all iterations so far. All sums decay alike.
        known: answers about leaves that are kept, or None.
        prepared: what the value function keeps of public states, leading axis Q, or None; see
            `_prepared`.
        asked: int32 [].
    """

    iteration: Array
    growth: Growth
    minimizer: Any
    policy: Array
    total: Array
    action_reach: Array
    child_values: Array
    values: Array
    value_sum: Array
    present: Array
    gadget: Any
    follow: Array
    root_reach: Array
    root_value_sum: Array
    start: Array
    weight: Array
    known: Known | None
    prepared: Any
    asked: Array


class SearchProblem(NamedTuple):
    """What one search is about.

    Attributes:
        reach: float [2, H], own reaches at the root; of a player under a gadget, what is possible.
        floor: float [2, H], least probability of following.
        gadget: the constraint.
        value: worth of leaves.
        prior: of actions, or None.
        focus: int32 [], the opened public state below which the tree grows.
        horizon: int32 [], planned iterations.
    """

    reach: Array
    floor: Array
    gadget: Gadget
    value: ValueFunction
    prior: PriorFunction | None
    focus: Array
    horizon: Array

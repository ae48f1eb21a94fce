"""Leaves that are worth what a function of the beliefs says: a value network, or a solver.

At the depth limit of a card game the rest is a subgame that depends on the public state and on both
ranges only. A *value function* maps them to counterfactual values (Moravcik et al. 2017, DeepStack;
Schmid et al. 2023, Student of Games):

    (PublicState of F leaves, beliefs float [F, 2, H]) -> float [F, 2, H]

It is given the features of each public state, so that it need not know a list of all of them.
Beliefs sum to 1 for each player, and values are per unit of the opponent's reach, chance moves
below the leaf included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp

from jaxsolve.public import Described, PublicState
from jaxsolve.tree import GatherSum, take
from jaxsolve.types import Array, pytree

ValueFunction = Callable[[PublicState, Array], Array]
"""(public states [F], beliefs [F, 2, H]) -> values [F, 2, H] per unit of the opponent's reach; a
pytree."""


@runtime_checkable
class ChecksGame(Protocol):
    """A value function that cannot serve every game."""

    def check(self, game: Described) -> None:
        """Refuses public states that the function was not made for.

        Raises:
            ValueError: says what differs.
        """
        ...


def check_value(value: object, game: Described) -> None:
    """Refuses a value function that was made for other public states, before anything is compiled.

    Args:
        value: a `ValueFunction`, `PriorFunction` or None.
        game: a list or a model of public states.

    Raises:
        ValueError: says what differs.
    """
    if isinstance(value, ChecksGame):
        value.check(game)


@runtime_checkable
class TakesFew(Protocol):
    """A value function that may pass over private states that are not possible."""

    @property
    def takes_few(self) -> bool:
        """It says the same of the possible ones, whichever others there are and wherever."""
        ...


def takes_few(value: object) -> bool:
    """Returns whether a value function may pass over private states that are not possible."""
    return isinstance(value, TakesFew) and value.takes_few


@runtime_checkable
class Prepares(Protocol):
    """A value function that can do once what does not depend on the beliefs."""

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        """See `ValueFunction`."""
        ...

    def prepare(self, state: PublicState) -> Any:
        """Returns what it makes of public states alone, a pytree with the leading axis F.

        The second axis is private states, if the function `takes_few`: of some, `answer` is given
        the first ones.
        """
        ...

    def answer(self, prepared: Any, state: PublicState, beliefs: Array) -> Array:
        """See `ValueFunction`; `prepared` is of these public states."""
        ...


@pytree
@dataclasses.dataclass(frozen=True)
class ValueLeaf:
    """F public leaves whose counterfactual values a function of the beliefs gives.

    Attributes:
        value: a `ValueFunction`; its parameters are leaves of this pytree.
        states: what it is given of each class of public states, leading axis K.
        subgame_class: int32 [F], of each leaf.
        factor: float [F], reach of chance from the root on; 0 in padding.
        sequence: per player, int32 [F], the sequence that leads to the leaf.
        leaves: per player, sequence <- its leaves.
    """

    value: Any
    states: PublicState | None
    subgame_class: Array
    factor: Array
    sequence: tuple[Array, ...]
    leaves: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        ranges = jnp.stack([take(reach[i], self.sequence[i]) for i in range(2)], 1)
        if self.states is None:
            raise ValueError("these leaves have no value function yet; see search.with_value")
        worth = scaled_values(self.value, self.states.at(self.subgame_class), ranges)
        mine = worth[:, player] * self.factor[:, None]
        return self.leaves[player](jnp.concatenate([mine, jnp.zeros_like(mine[:1])]))

    def with_scale(self, scale: Array) -> ValueLeaf:
        """See `LeafOperator`."""
        return dataclasses.replace(self, factor=self.factor * scale)


def scaled_values(value: ValueFunction, state: PublicState, ranges: Array) -> Array:
    """Returns counterfactual values [F, 2, H] for ranges that need not be normalised.

    Args:
        value: of beliefs.
        state: the public states [F]; private states that are not possible have no reach, and the
            value 0.
        ranges: float [F, 2, H], own reaches.
    """
    beliefs, mass = normalised(ranges, state.possible)
    return jnp.where(state.possible, value(state, beliefs) * mass[:, ::-1, None], 0)


def normalised(ranges: Array, possible: Array) -> tuple[Array, Array]:
    """Returns (beliefs [..., H] that sum to 1, mass [...] of each range).

    A range without mass becomes uniform over the possible hands: its owner never gets there, but
    what their hands would be worth is needed all the same.

    Args:
        ranges: float [..., H], own reaches.
        possible: bool [..., H].
    """
    ranges = jnp.where(possible, ranges, 0)
    mass = ranges.sum(-1)
    some = mass > 0
    count = jnp.maximum(possible.sum(-1), 1).astype(ranges.dtype)
    even = possible / count[..., None]
    safe = jnp.where(some, mass, 1)
    return jnp.where(some[..., None], ranges / safe[..., None], even), mass

"""What moves do to a hidden number, as tables by kind of public state, and how they are read."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.devices import by_platform, shared_max
from jaxsolve.game import MoveTables
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class Lists:
    """One of the lists of `Transitions`, read from a table by kind; indexed like an array.

    Attributes:
        table: int [T, ...].
        kind: int32 [I].
    """

    table: Array
    kind: Array

    def __getitem__(self, index: Any) -> Array:
        """Returns table[kind[row], ...]."""
        row, *rest = index if isinstance(index, tuple) else (index,)
        found = self.table.at[(self.kind[row], *rest)].get(
            mode="promise_in_bounds", wrap_negative_indices=False
        )
        return found.astype(jnp.int32)


@pytree
@dataclasses.dataclass(frozen=True)
class Possible:
    """Which private states are possible, where player 1 has one; indexed like an array.

    Made when it is read: it would be made anew, for all public states, whenever one of them is.

    Attributes:
        weight: float [Q, H], probability of those of player 0.
    """

    weight: Array

    def __getitem__(self, index: Any) -> Array:
        """Returns bool [..., 2, H]."""
        first = self.weight[index] > 0
        second = jnp.broadcast_to(jnp.arange(first.shape[-1]) == 0, first.shape)
        return jnp.stack([first, second], -2)

    def among(self, public: Array, numbers: Array) -> Array:
        """Returns bool [..., 2, N], of private states int32 [..., 2, N] of public states alone."""
        first = self.weight[public[..., None], numbers[..., 0, :]] > 0
        return jnp.stack([first, numbers[..., 1, :] == 0], -2)


def as_table(lists: Any) -> tuple[Array, Array]:
    """Returns one of the lists of `Transitions` as (a table [T, ...], int32 [K], row of each)."""
    if isinstance(lists, Lists):
        return lists.table, lists.kind
    return lists, jnp.arange(len(lists), dtype=jnp.int32)


class Tables(NamedTuple):
    """Lists of all kinds: those of the game, then one for each digit that is shown.

    Attributes:
        actor: int32 [T].
        child: int16 [T, A, H], -1 where there is no move.
        after: int16 [T, A, H].
        source: int16 [T, C, H, M], codes a H + h of the moves that lead to each number.
        parents_of: int16 [T, C, 2, H, M].
        child_of_action: int16 [T, A, H, 1].
        child_of_waiting: int16 [T, H, C].
    """

    actor: Array
    child: Array
    after: Array
    source: Array
    parents_of: Array
    child_of_action: Array
    child_of_waiting: Array


def move_tables(moves: MoveTables, children: int, digits: tuple[int, ...]) -> Tables:
    """Returns the lists of all kinds of public states."""
    kinds, slots, hands = moves.child.shape
    every = kinds + len(digits)
    actor = np.concatenate([moves.actor, np.zeros(len(digits), int)])
    child = np.full((every, slots, hands), -1)
    after = np.tile(np.arange(hands), (every, slots, 1))
    child[:kinds], after[:kinds] = moves.child, moves.after
    number = np.arange(hands)
    for k, base in enumerate(digits):
        above = digits[k - 1] if k else hands * children
        child[kinds + k, 0] = number % above // base
    lists: list[list[int]] = [[] for _ in range(every * children * hands)]
    for t, a, h in np.argwhere(child >= 0):
        lists[(t * children + child[t, a, h]) * hands + after[t, a, h]].append(a * hands + h)
    longest = max(len(x) for x in lists)
    pairs, codes = slots * hands, children * hands
    source = np.full((every, children, hands, longest), pairs)
    for row, found in zip(source.reshape(-1, longest), lists, strict=True):
        row[: len(found)] = found
    parents = np.full((every, children, 2, hands, longest), pairs)
    waits = actor == 1
    parents[:, :, 0] = source
    parents[waits, :, 0, :, 0], parents[waits, :, 0, :, 1:] = number, pairs
    parents[~waits, :, 1, 0, 0] = 0
    parents[waits, :, 1, 0, 0] = np.arange(children) * hands
    own = np.where(child >= 0, child * hands + after, codes)
    own[waits, :, 1:] = codes
    own[waits, :, 0] = np.where(child[waits, :, 0] >= 0, child[waits, :, 0] * hands, codes)
    waiting = np.full((every, hands, children), codes)
    waiting[~waits, 0] = np.arange(children) * hands
    waiting[waits] = np.arange(children) * hands + number[:, None]
    small = small_ints(max(pairs, codes))
    tables = (child, after, source, parents, own[..., None], waiting)
    arrays = (jnp.asarray(x, small) for x in tables)
    return Tables(jnp.asarray(actor, jnp.int32), *arrays)


def ranks(possible: Array, dtype: Any) -> tuple[Array, Array]:
    """Returns (int [H], numbers in order, those that are possible first; int32 [], how many)."""
    before = jnp.cumsum(possible, dtype=dtype)
    numbers = jnp.arange(len(possible), dtype=dtype)
    place = jnp.where(possible, before - 1, before[-1] + numbers - before)
    return jnp.zeros_like(place).at[place].set(numbers), before[-1].astype(jnp.int32)


def read_once(arrays: Any, at: Array) -> Any:
    """Returns the entries at an int32 [] of arrays that are changed in place afterwards.

    Compiled for a CPU, whatever uses an entry reads the array itself, and then the change is made
    to a copy of all of it. Out of a loop of one turn, nothing is read again.
    """

    def read() -> Any:
        return jax.tree.map(lambda x: x[at], arrays)

    def turn() -> Any:
        blank = jax.tree.map(lambda x: jnp.zeros(x.shape[1:], x.dtype), arrays)
        turns = 1 + jnp.minimum(shared_max(at), 0)  # the compiler would unroll a loop of 1
        return jax.lax.fori_loop(0, turns, lambda _, __: read(), blank)

    return by_platform(cpu=turn, default=read)


def small_ints(most: int) -> type[np.signedinteger[Any]]:
    """Returns the type of integers up to a number."""
    return np.int16 if most < 1 << 15 else np.int32

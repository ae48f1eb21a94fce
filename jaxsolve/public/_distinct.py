"""Distinct states, gathered chunk by chunk inside `jit`: a list with a hash table over it.

A state is known by 64 bits of its contents. States of one chunk look up their slots side by side:
who finds a slot free claims it, the first of several wins, and the others compare keys and go on to
the next slot. Whoever found an equal key before them is a duplicate; that the two states are equal
in full is checked once more at the end.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import State
from jaxsolve.types import Array

CHUNK = 4096
"""States that are added at a time; as many as there is room for, if that is less."""

FREE = np.int32(2**31 - 1)
CLAIMED = np.int32(2**30)
"""Slots hold the number of a state, CLAIMED + its place in a chunk meanwhile, or FREE."""


class Distinct(NamedTuple):
    """States without duplicates.

    Attributes:
        states: pytree with leaves [C + M, ...]: room for C, and for one chunk beyond.
        keys: uint32 [C + M, 2].
        table: int32 [2 (C + M)], slots.
        num_states: int32 [], how many there are.
        limit: uint32 [], states with a larger first key are left out.
        confused: bool [], whether two different states had one key, of which one is missing.
    """

    states: State
    keys: Array
    table: Array
    num_states: Array
    limit: Array
    confused: Array


def chunk_size(room: int) -> int:
    """Returns M, how many states are added at a time where there is room for so many."""
    return min(CHUNK, room)


def no_states(like: State, room: int) -> Distinct:
    """Returns an empty list for `room` states with leaves [N, ...] like those given."""
    rows = room + chunk_size(room)
    return Distinct(
        states=jax.tree.map(lambda x: jnp.zeros((rows, *x.shape[1:]), x.dtype), like),
        keys=jnp.zeros((rows, 2), jnp.uint32),
        table=jnp.full(2 * rows, FREE),
        num_states=jnp.int32(0),
        limit=jnp.uint32(0xFFFFFFFF),
        confused=jnp.asarray(False),
    )


def added(found: Distinct, states: State, valid: Array, seed: Array) -> Distinct:
    """Returns the list with those states of a chunk that are not in it.

    Args:
        found: with `num_states` at most C.
        states: pytree with leaves [M, ...].
        valid: bool [M], which of them count.
        seed: uint32 [], mixed into the keys.
    """
    flat = _flattened(states)
    keys = jnp.stack([_mixed(flat, seed, odd) for odd in (0x9E3779B1, 0x85EBCA77)], axis=-1)
    valid = valid & (keys[:, 0] <= found.limit)
    size, many = len(found.table), len(keys)
    place = jnp.arange(many, dtype=jnp.int32)

    def chunk(number: Array) -> Array:
        return jnp.clip(number - CLAIMED, 0, many - 1)

    def listed(number: Array) -> Array:
        return jnp.minimum(number, len(found.keys) - 1)

    def probe(carry: tuple) -> tuple:
        table, slot, twin, active = carry
        free = active & (table[slot] == FREE)
        table = table.at[jnp.where(free, slot, size)].min(CLAIMED + place, mode="drop")
        held = table[slot]
        theirs = jnp.where((held >= CLAIMED)[:, None], keys[chunk(held)], found.keys[listed(held)])
        same = jnp.all(theirs == keys, axis=-1)
        twin = jnp.where(active, held, twin)
        active = active & ~same
        return table, jnp.where(active, (slot + 1) % size, slot), twin, active

    slot = (keys[:, 1] % size).astype(jnp.int32)
    start = (found.table, slot, jnp.full(many, FREE), valid)
    table, slot, twin, _ = jax.lax.while_loop(lambda carry: carry[3].any(), probe, start)
    new = valid & (twin == CLAIMED + place)
    upto = jnp.cumsum(new.astype(jnp.int32))
    table = table.at[jnp.where(new, slot, size)].set(found.num_states + upto - 1, mode="drop")
    before = _flattened(jax.tree.map(lambda x: x[listed(twin)], found.states))
    equal = jnp.where((twin >= CLAIMED)[:, None], flat[chunk(twin)], before) == flat
    different = jnp.sum(valid & ~jnp.all(equal, axis=-1), dtype=jnp.int32)
    chosen = jnp.minimum(jnp.searchsorted(upto, place + 1), many - 1)
    # Rows are written in place only after those that were compared, so the sign, 0, is added.
    first = found.num_states + (different >> 31)

    def put(old: Array, rows: Array) -> Array:
        return jax.lax.dynamic_update_slice_in_dim(old, rows[chosen], first, 0)

    return Distinct(
        states=jax.tree.map(put, found.states, states),
        keys=put(found.keys, keys),
        table=table,
        num_states=found.num_states + upto[-1],
        limit=found.limit,
        confused=found.confused | (different > 0),
    )


@functools.partial(jax.jit, static_argnums=1)
def with_room(found: Distinct, room: int) -> Distinct:
    """Returns the same states with room for more."""
    rows = room + chunk_size(room)

    def padded(x: Array) -> Array:
        return jnp.zeros((rows, *x.shape[1:]), x.dtype).at[: len(x)].set(x)

    keys = padded(found.keys)
    table = _table_of(keys, found.num_states, 2 * rows)
    return found._replace(states=jax.tree.map(padded, found.states), keys=keys, table=table)


@jax.jit
def sampled(found: Distinct, most: Array) -> Distinct:
    """Returns the `most` states with the lowest first keys; higher ones are left out from now on.

    The keys do not depend on the order in which states come, so that the states of a whole list of
    which this was done in between are those of a list that was cut once at its end.

    Args:
        found: more states than `most`.
        most: int32 [].
    """
    place = jnp.arange(len(found.keys), dtype=jnp.int32)
    beyond = place >= found.num_states
    *_, order = jax.lax.sort((beyond, found.keys[:, 0], place), num_keys=3)
    keys = found.keys[order]
    return Distinct(
        states=jax.tree.map(lambda x: x[order], found.states),
        keys=keys,
        table=_table_of(keys, most, len(found.table)),
        num_states=most,
        limit=keys[most - 1, 0],
        confused=found.confused,
    )


def _table_of(keys: Array, count: Array, size: int) -> Array:
    """Returns the slots of different keys [N, 2]."""
    place = jnp.arange(len(keys), dtype=jnp.int32)

    def probe(carry: tuple) -> tuple:
        table, slot, active = carry
        free = active & (table[slot] == FREE)
        table = table.at[jnp.where(free, slot, size)].min(place, mode="drop")
        active = active & (table[slot] != place)
        return table, jnp.where(active, (slot + 1) % size, slot), active

    slot = (keys[:, 1] % size).astype(jnp.int32)
    start = (jnp.full(size, FREE), slot, place < count)
    table: Array = jax.lax.while_loop(lambda carry: carry[2].any(), probe, start)[0]
    return table


def _flattened(states: State) -> Array:
    """Returns uint32 [N, D], which are equal where states are."""
    leaves = [x.reshape(len(x), -1) for x in jax.tree.leaves(states)]
    words = []
    for leaf in leaves:
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            leaf = jax.lax.bitcast_convert_type(leaf.astype(jnp.float32), jnp.uint32)
        words.append(leaf.astype(jnp.uint32))
    return jnp.concatenate(words, axis=-1)


def _mixed(words: Array, seed: Array, odd: int) -> Array:
    """Returns uint32 [N]: a key of words [N, D]; another seed gives another order of the keys."""
    key = jnp.full(len(words), seed * jnp.uint32(2) + jnp.uint32(odd), jnp.uint32)
    for k in range(words.shape[1]):
        key = (key ^ words[:, k]) * jnp.uint32(odd)
        key = key ^ (key >> 15)
    key = key * jnp.uint32(0xC2B2AE3D)
    return key ^ (key >> 13)

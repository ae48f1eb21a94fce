"""Queries that wait for a solver: a ring, the oldest first."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.learn.sound._search import Queries
from jaxsolve.learn.sound._settings import SelfPlaySettings
from jaxsolve.types import Array, PRNGKey, PyTree


class Queue(NamedTuple):
    """Queries that wait, a ring (R at most).

    Attributes:
        root: public states, as searches may start from them, leading axis R.
        beliefs: float [R, 2, H].
        taken: int32 [], where the oldest is.
        waiting: int32 [], how many.
    """

    root: PyTree
    beliefs: Array
    taken: Array
    waiting: Array


def pop(queue: Queue, count: int) -> tuple[PyTree, Array, Array, Queue]:
    """Returns (public states [S], beliefs [S, 2, H], whether there is one [S], what waits)."""
    room, each = len(queue.beliefs), jnp.arange(count)
    at = (queue.taken + each) % room
    number = jnp.minimum(queue.waiting, count)
    left = queue._replace(taken=(queue.taken + number) % room, waiting=queue.waiting - number)
    roots = jax.tree.map(lambda x: x[at], queue.root)
    return roots, queue.beliefs[at], each < queue.waiting, left


def push(queue: Queue, queries: Queries, sends: Array) -> tuple[Queue, Array]:
    """Returns (what waits, how many were lost): the new ones [N, L] that are sent come last."""
    room, flat = len(queue.beliefs), sends.reshape(-1)
    rank = jnp.cumsum(flat) - flat
    at = jnp.where(flat, (queue.taken + queue.waiting + rank) % room, room)
    count = queue.waiting + flat.sum()
    over = jnp.maximum(count - room, 0)

    def put(ring: Array, new: Array) -> Array:
        return ring.at[at].set(new.reshape(flat.size, *ring.shape[1:]), mode="drop")

    return Queue(
        jax.tree.map(put, queue.root, queries.root),
        put(queue.beliefs, queries.beliefs),
        (queue.taken + over) % room,
        count - over,
    ), over


def sent(key: PRNGKey, settings: SelfPlaySettings, works: Array, lanes: int, slots: int) -> Array:
    """Returns bool [E + S, L], which picks of each search are sent to the queue."""
    mean = jnp.where(
        jnp.arange(lanes + len(works)) < lanes, settings.q_search, settings.q_recursive
    )
    draw = jax.random.uniform(key, mean.shape)
    count = jnp.floor(mean) + (draw < mean - jnp.floor(mean))
    active = jnp.concatenate([jnp.ones(lanes, bool), works])
    return (jnp.arange(slots) < count[:, None]) & active[:, None]

"""Moves of Scotland Yard in tables: slots at each station, what follows, who is caught or stuck."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import HiddenMoves, MoveTables
from jaxsolve.types import Array

from ._scotland_yard_maps import Map

EVADER, DETECTIVE = 0, 1
"""Kinds of public states."""


class Slots(NamedTuple):
    """Moves from each station, padded (S stations, A slots).

    Mr X has a slot for each ticket and connection, then one for a double move; detectives have the
    same connections, what can be gone first, and pass in the first slot if nothing can.

    Attributes:
        ticket: int [S, A], K (the number of kinds) where there is no connection.
        place: int [S, A], where it leads to, or the station itself.
        most: connections at most, A - 1.
    """

    ticket: np.ndarray
    place: np.ndarray
    most: int


@functools.cache
def slots_of(here: Map) -> Slots:
    """Returns the connections of a map, from each station in the order of tickets."""
    joined = here.joined()
    kinds, stations = joined.shape[:2]
    each = [np.argwhere(joined[:, s]) for s in range(stations)]
    most = max(len(x) for x in each)
    ticket = np.full((stations, most + 1), kinds, np.int32)
    place = np.repeat(np.arange(stations, dtype=np.int32)[:, None], most + 1, 1)
    for s, moves in enumerate(each):
        ticket[s, : len(moves)], place[s, : len(moves)] = moves.T
    return Slots(ticket, place, most)


def ways_of(here: Map, stations: Array, tickets: Array, mover: Array) -> tuple[Array, Array, Array]:
    """Returns (bool [A], can be gone, int32 [A], ticket, int32 [A], place) of the mover's slots.

    Args:
        here: the map.
        stations: int [1 + D], Mr X first.
        tickets: int [1 + D, K].
        mover: int [], who goes.
    """
    slots, at = slots_of(here), jnp.maximum(stations[mover], 0).astype(jnp.int32)
    ticket, place = jnp.asarray(slots.ticket)[at], jnp.asarray(slots.place)[at]
    held = jnp.append(tickets[mover] > 0, False)
    return held[ticket] & ~(place == stations[1:, None]).any(0), ticket, place


def tables_of(here: Map) -> MoveTables:
    """Returns what moves do to Mr X's station; a detective's slots are children of their own."""
    slots = slots_of(here)
    kinds, (stations, width) = len(here.kinds), slots.ticket.shape
    child = np.full((2, width, stations), -1, np.int32)
    after = np.tile(np.arange(stations, dtype=np.int32), (2, width, 1))
    child[EVADER] = np.where(slots.ticket < kinds, slots.ticket, -1).T
    child[EVADER, -1] = kinds if here.doubles else -1
    after[EVADER] = slots.place.T
    # Only tickets that detectives hold: black ones come last at each station.
    held = [k for k in range(kinds) if here.tickets[k] > 0]
    most = int(np.isin(slots.ticket, held).sum(1).max())
    child[DETECTIVE, : most + 1] = np.arange(most + 1)[:, None]
    return MoveTables(np.array([0, 1]), child, after)


def evader_moves(
    here: Map, stations: Array, tickets: Array, doubles: Array, phase: Array, moves: Array
) -> HiddenMoves:
    """Returns what Mr X may do at each station.

    Args:
        here: the map.
        stations: int [D], of the detectives.
        tickets: int [K], his.
        doubles: int [], double moves left.
        phase: int [], 0 for an ordinary move, 1 and 2 for those of a double one.
        moves: int [], made so far.
    """
    slots = slots_of(here)
    kinds, size = len(here.kinds), here.num_stations
    taken = (jnp.arange(size) == stations[:, None]).any(0)
    goes = _goes(slots, tickets, taken)
    double = (doubles > 0) & (moves + 2 <= here.rounds) & (phase == 0) & goes.any(1)
    legal = goes.at[:, -1].set(double & (here.doubles > 0))
    action = np.where(slots.ticket < kinds, slots.ticket * size + slots.place, 0)
    action[:, -1] = kinds * size + 1
    # Between the two moves of a double one he may find himself stuck, with one ticket less.
    spent = tickets - jnp.eye(kinds, dtype=tickets.dtype)
    joined = jnp.asarray(joined_counts(here))
    free = joined.sum(2) - joined[:, stations].sum(1)  # [K, S], exits that are left
    stuck = ((spent > 0).astype(jnp.float32) @ free) <= 0
    ends = stuck[np.minimum(slots.ticket, kinds - 1), slots.place] & (phase == 1)
    ends = ends.at[:, -1].set(False)
    return HiddenMoves(
        kind=jnp.int32(EVADER),
        legal=legal.T,
        action=jnp.asarray(action.T, jnp.int32),
        ends=ends.T,
        payoff=jnp.full(ends.T.shape, -1.0),
        shows=jnp.isin(moves + 1, jnp.array((-1, *here.reveals)))
        & (jnp.arange(slots.most + 1) < slots.most),
    )


def detective_moves(
    here: Map, stations: Array, tickets: Array, evader_tickets: Array, mover: Array, moves: Array
) -> HiddenMoves:
    """Returns what a detective may do, and how it ends for Mr X at each station.

    Args:
        here: the map.
        stations: int [D], of the detectives.
        tickets: int [K], of the one who moves.
        evader_tickets: int [K].
        mover: int [], 0 .. D - 1.
        moves: int [], of Mr X so far.
    """
    slots = slots_of(here)
    kinds, size, width = len(here.kinds), here.num_stations, slots.most + 1
    at = jnp.maximum(stations[mover], 0)
    ticket, place = jnp.asarray(slots.ticket)[at], jnp.asarray(slots.place)[at]
    taken = (jnp.arange(size) == stations[:, None]).any(0)
    goes = _goes(slots, tickets, taken)[at]
    most = int((tables_of(here).child[DETECTIVE, :, 0] >= 0).sum()) - 1
    order = jnp.argsort(~goes, stable=True)  # what can be gone comes first
    ticket, place, goes = ticket[order], place[order], goes[order]
    passes = (jnp.arange(width) == 0) & ~goes.any()
    legal = goes | passes
    place = jnp.where(passes, at, place)
    action = jnp.where(passes, kinds * size, ticket * size + place)
    numbers = jnp.arange(size)
    caught = ~passes[:, None] & (numbers == place[:, None])
    last = mover == len(here.detectives) - 1

    # After the last detective Mr X may be stuck: with the ticket that was used, beside new places.
    joined = jnp.asarray(joined_counts(here))
    others = jnp.arange(len(stations)) != mover
    blocked = (joined[:, stations] * others[:, None]).sum(1)
    free = joined.sum(2) - blocked  # [K, S], exits that the other detectives leave
    gains = (jnp.arange(kinds) == ticket[: most + 1, None]) & ~passes[: most + 1, None]
    held = ((evader_tickets + gains) > 0).astype(jnp.float32)
    exits = free[:, None] - joined[:, place[: most + 1]]  # [K, slots, S]
    stuck = (held.T[..., None] * exits).sum(0) <= 0
    stuck = jnp.pad(stuck, ((0, width - most - 1), (0, 0)))
    over = last & (moves >= here.rounds)
    shape = (width, size)
    return HiddenMoves(
        kind=jnp.int32(DETECTIVE),
        legal=jnp.broadcast_to(legal[:, None], shape),
        action=jnp.broadcast_to(action[:, None], shape).astype(jnp.int32),
        ends=caught | over | (last & stuck),
        payoff=jnp.where(over & ~caught, 1.0, -1.0),
        shows=jnp.zeros(width, bool),
    )


@functools.cache
def joined_counts(here: Map) -> np.ndarray:
    """Returns float32 [K, S, S], 1 where stations are joined."""
    return here.joined().astype(np.float32)


def _goes(slots: Slots, tickets: Array, taken: Array) -> Array:
    """Returns bool [S, A], connections that can be taken; the last slot is none."""
    held = jnp.append(tickets > 0, False)
    return held[slots.ticket] & ~taken[slots.place]

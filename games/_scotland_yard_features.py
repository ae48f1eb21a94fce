"""What networks are told of Scotland Yard: public states, and each station of Mr X."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.sparse.csgraph import shortest_path

from jaxsolve.types import Array

from ._scotland_yard_maps import Map
from ._scotland_yard_moves import joined_counts

FAR = 8
"""Moves beyond which a detective is as good as any farther away."""


def public_features(here: Map, state: Any) -> Array:
    """Returns float [F]; see `ScotlandYard.public_features`.

    Args:
        here: the map.
        state: of the game.
    """
    stations = jnp.arange(here.num_stations) == state.stations[1:, None]
    turn = jnp.arange(1 + len(here.detectives)) == state.turn
    held = np.array(here.tickets) * len(here.detectives)
    most = np.maximum(np.array(here.evader_tickets) + held, 1)
    numbers = jnp.stack([state.doubles / max(here.doubles, 1), state.moves / here.rounds])
    phase = jnp.arange(1, 3) == state.phase
    parts = (stations.reshape(-1), turn, (state.tickets / most).reshape(-1), numbers, phase)
    shown = jnp.asarray(reveal_waits(here))[state.moves]
    return jnp.concatenate([x.astype(float) for x in (*parts, shown)])


@functools.cache
def reveal_waits(here: Map) -> np.ndarray:
    """Returns bool [rounds + 1, 2 G], by Mr X's moves so far: how many until he shows himself, 1 ..
    G, the longest wait, and how many since he last did, 0 .. G - 1; none where he does not.
    """
    reveals = sorted(here.reveals)
    wait = max(np.diff([0, *reveals]), default=0)
    rows = []
    for moves in range(here.rounds + 1):
        until = min((at - moves for at in reveals if at > moves), default=0)
        since = min((moves - at for at in reveals if at <= moves), default=wait)
        rows.append([*(np.arange(1, wait + 1) == until), *(np.arange(wait) == since)])
    return np.array(rows, bool)


@functools.cache
def distances_of(here: Map) -> np.ndarray:
    """Returns int32 [S, S], moves of a detective between stations, tickets ignored; 99 for none."""
    ways = [k for k, kind in enumerate(here.kinds) if kind != "black"]
    distance = shortest_path(joined_counts(here)[ways].max(0), unweighted=True)
    return np.minimum(distance, 99).astype(np.int32)


def near_stations(here: Map, stations: Array) -> tuple[Array, Array, Array]:
    """Returns, of every station, how many neighbours no detective reaches in one move, on how many
    there is a detective, and how many there are; float [S] each.

    Args:
        here: the map.
        stations: int [D], of the detectives.
    """
    near = jnp.asarray(joined_counts(here).max(0), jnp.float32)
    reached = jnp.asarray(distances_of(here) <= 1)[jnp.maximum(stations, 0)].any(0)
    # No two detectives are on one station; those who are nowhere yet are on none.
    taken = (jnp.arange(here.num_stations) == stations[:, None]).any(0)
    away, beside = jnp.stack([~reached, taken]).astype(near.dtype) @ near
    return away, beside, near.sum(0)


def ways_out(here: Map, due: Array) -> tuple[Array, Array, Array]:
    """Returns what is left to Mr X at each station if all play on, tickets ignored; float [S] each.

    Ways of two and of three moves on which no detective can be where he is after any of them, and
    the sum over stations of the moves by which he is there before all detectives, at most 2 each.

    Args:
        here: the map.
        due: int [S], moves until the closest detective can be on a station, those not counted that
            they make before his next one.
    """
    near = jnp.asarray(joined_counts(here).max(0), jnp.float32)
    third, second, first = [(due > k).astype(near.dtype) for k in (3, 2, 1)]
    two = near @ (first * (near @ second))
    three = near @ (first * (near @ (second * (near @ third))))
    # Small whole numbers, summed down the columns: a fifth of the time of the plain way.
    ahead = due.astype(jnp.int8)[:, None] - jnp.asarray(distances_of(here).astype(np.int8))
    return two, three, jnp.clip(ahead, 0, 2).sum(0, dtype=jnp.int16).astype(near.dtype)


def station_features(here: Map, stations: Array, turn: Array, some: Array | None = None) -> Array:
    """Returns float [N, 2 D + 12], what some or all stations are like for Mr X, tickets ignored.

    exp(-moves) from each detective, the closest first, and from the one who moves next; moves by
    `FAR`; whether one of those who move before Mr X does can come in 1, 2 or 3 moves; neighbours
    that no detective reaches in one move, by 5, whether there are none, neighbours without a
    detective, by 5, and all of them, by 5; logarithms of 1 + the numbers of `ways_out`, by 4, and
    the last of these, by 50.

    Args:
        here: the map.
        stations: int [D], of the detectives.
        turn: int [], 0 for Mr X, 1..D.
        some: int [N], the stations; all if None.
    """
    away, beside, every = near_stations(here, stations)
    free, count = every - beside, len(stations)
    apart = jnp.asarray(distances_of(here))[jnp.maximum(stations, 0)]
    early = (turn > 0) & (jnp.arange(1, count + 1) >= turn)
    out = jnp.stack(ways_out(here, (apart - early[:, None]).min(0)))
    apart = jnp.minimum(apart, FAR)
    if some is not None:
        apart, out, away, free, every = (x[..., some] for x in (apart, out, away, free, every))
    ranked = list(apart)
    for last in range(count - 1, 0, -1):  # the closest first; `sort` takes longer for so few
        for k in range(last):
            low, high = ranked[k], ranked[k + 1]
            ranked[k], ranked[k + 1] = jnp.minimum(low, high), jnp.maximum(low, high)
    # Who moves before Mr X does; all of them at his turn.
    due = jnp.arange(1, count + 1) >= turn
    soon = jnp.where(due[:, None], apart, FAR + 1).min(0)
    mover = jnp.where(turn > 0, apart[jnp.maximum(turn - 1, 0)], FAR)
    parts = [jnp.exp(-x.astype(float)) for x in [*ranked, mover]] + [x / FAR for x in ranked]
    parts += [(soon == k).astype(float) for k in (1, 2, 3)]
    parts += [away / 5, (away == 0).astype(float), free / 5, every / 5]
    parts += [*(jnp.log1p(out) / 4), out[-1] / 50]
    return jnp.stack(parts, -1)

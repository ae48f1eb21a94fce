"""Parts of PimBot: where Mr X may be, categories of stations, move filters, rewards.

Source: Nijssen and Winands 2011 and 2012 (Monte-Carlo tree search for the hide-and-seek game
Scotland Yard), rebuilt from public codes that follow them, since the papers could not be had.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from games._scotland_yard_features import distances_of
from games._scotland_yard_moves import joined_counts, ways_of
from games.scotland_yard import CAUGHT, FREE, SINGLE, ScotlandYard
from jaxsolve.types import Array

WEIGHTS = (0.196, 0.671, 0.540, 0.384, 0.196)
"""Of stations that are 1, 2, 3, 4 and 5 or more moves from the nearest detective."""

REDUCTION = 0.25
"""What a capture by another detective is worth less than one's own."""


class Board(NamedTuple):
    """A map as arrays (S stations, K tickets).

    Attributes:
        joined: float [K, S, S].
        beside: uint8 [K, W, S], the stations that a ticket joins to each, as bits.
        distance: int32 [S, S], moves of a detective between stations, tickets ignored.
        black: int, number of the black ticket; -1 where there is none.
        taxi_only: bool [S], stations that a taxi alone leaves.
    """

    joined: Array
    beside: Array
    distance: Array
    black: int
    taxi_only: Array


def board_of(game: ScotlandYard) -> Board:
    """Returns the map of a game."""
    found = _board_of(game)
    return Board(
        joined=jnp.asarray(found.joined),
        beside=jnp.asarray(found.beside),
        distance=jnp.asarray(found.distance),
        black=found.black,
        taxi_only=jnp.asarray(found.taxi_only),
    )


@functools.cache
def _board_of(game: ScotlandYard) -> Board:
    """Returns the map with arrays of NumPy, which may be kept while a program is traced."""
    here = game.map
    joined = joined_counts(here)
    black = here.kinds.index("black") if "black" in here.kinds else -1
    ways = [k for k in range(len(here.kinds)) if k != black]
    near: np.ndarray = np.asarray(joined[ways].max(0) > 0)
    taxi_only: np.ndarray = np.zeros(len(near), np.bool_)
    if black >= 0:
        ferry = (joined[black] > near).any(1)
        taxi_only = ~joined[[k for k in ways if k]].any((0, 2)) & ~ferry
    beside: Any = np.packbits(joined > 0, axis=1)
    rest: Any = (joined, beside, distances_of(here), black, taxi_only)
    return Board(*rest)


def taken_by(state: Any, size: int) -> Array:
    """Returns bool [S], stations of detectives."""
    return (jnp.arange(size) == state.stations[1:, None]).any(0)


def start_possible(game: ScotlandYard) -> Array:
    """Returns bool [S]: the cards that the detectives have not drawn."""
    return jnp.zeros(game.map.num_stations, bool).at[jnp.array(game.map.evader) - 1].set(True)


def possible_after(board: Board, possible: Array, state: Any, shown: Array) -> Array:
    """Returns bool [S], where Mr X may be after a move.

    Args:
        board: the map.
        possible: bool [S], where he may have been before.
        state: before the move; Mr X's station is not looked at.
        shown: int32 [3], the public observation of the move.
    """
    kinds, size = board.joined.shape[:2]
    used, place = shown[0], shown[1]
    moved = (state.turn == 0) & (used < kinds)
    # Connections go both ways: those that lead to a station are those that leave it.
    bits = jnp.packbits(possible)[:, None] & board.beside[jnp.minimum(used, kinds - 1)]
    reached = (bits > 0).any(0) & ~taken_by(state, size)
    reached = jnp.where(place >= 0, jnp.arange(size) == place, reached)
    left = possible & (jnp.arange(size) != place)
    return jnp.where(moved, reached, jnp.where(state.turn > 0, left, possible))


def categories(board: Board, stations: Array) -> Array:
    """Returns int32 [S], moves from each station to the nearest detective, 1..5, less 1."""
    nearest = board.distance[stations.astype(jnp.int32)].min(0)
    return jnp.clip(nearest, 1, 5) - 1


def station_odds(board: Board, possible: Array, stations: Array, *, by_station: bool) -> Array:
    """Returns float [S], the probability of drawing each station.

    Args:
        board: the map.
        possible: bool [S].
        stations: int [D], of the detectives.
        by_station: each station has the weight of its category; otherwise a category that is not
            empty is drawn by weight, and then a station in it evenly.
    """
    group = categories(board, stations)
    each = jnp.asarray(WEIGHTS)[group] * possible
    if not by_station:
        count = jnp.stack([((group == k) & possible).sum() for k in range(len(WEIGHTS))])
        each = each / jnp.maximum(count[group], 1)
    return each / jnp.maximum(each.sum(), 1e-9)


def rewards(game: ScotlandYard, state: Any) -> Array:
    """Returns float [1 + D], of Mr X and each detective, at the end; 0.5 for all before it.

    A detective who makes the capture gets 1 and the others 1 less `REDUCTION`; where Mr X is stuck
    nobody makes it, and all get 1.
    """
    detectives = jnp.arange(1 + len(game.map.detectives))
    catcher = (detectives == state.mover) | (state.result != CAUGHT)
    won = jnp.where(catcher, 1.0, 1 - REDUCTION)
    won = jnp.where(detectives == 0, 0.0, won)
    free = (detectives == 0).astype(won.dtype)
    out = jnp.where(state.result == FREE, free, won)
    return jnp.where(state.result == 0, 0.5, out)


class Moves(NamedTuple):
    """What the mover may do, by slot (A slots); the last one is a double move or a pass.

    Attributes:
        legal: bool [A].
        action: int32 [A], the game's number.
        place: int32 [A], where it ends.
    """

    legal: Array
    action: Array
    place: Array


def moves_of(game: ScotlandYard, board: Board, state: Any) -> Moves:
    """Returns the legal moves of whoever is to move, Mr X's station known."""
    kinds, size = board.joined.shape[:2]
    mover = jnp.maximum(state.turn, 0)
    legal, ticket, place = ways_of(game.map, state.stations, state.tickets, mover)
    none = ~legal.any()
    double = (state.doubles > 0) & (state.phase == SINGLE) & ~none
    double &= state.moves + 2 <= game.map.rounds
    last = jnp.where(state.turn == 0, double & (game.map.doubles > 0), none)
    action = ticket * size + place
    action = action.at[-1].set(jnp.where(state.turn == 0, kinds * size + 1, kinds * size))
    return Moves(legal.at[-1].set(last), action, place)


def filtered(game: ScotlandYard, board: Board, state: Any, moves: Moves, possible: Array) -> Array:
    """Returns bool [A], the moves that Mr X considers; all legal ones if nothing is left.

    No black ticket in the first two rounds, on a move after which he shows himself, or where only
    taxis could be meant; a double move only if every single move ends where some detective can
    arrive next.
    """
    size = board.joined.shape[1]
    detectives = state.stations[1:].astype(jnp.int32)
    keep = moves.legal
    if board.black >= 0:
        black = moves.action // size == board.black
        shows = jnp.isin(state.moves + 1, jnp.array((-1, *game.map.reveals)))
        only_taxis = (~possible | board.taxi_only).all()
        keep &= ~(black & ((state.moves < 2) | shows | only_taxis))
    ways = jnp.asarray([k for k in range(board.joined.shape[0]) if k != board.black])
    held = (state.tickets[1:, ways] > 0).T[..., None]
    near = board.joined[ways[:, None, None], detectives[:, None], moves.place]  # [K, D, A]
    last = len(keep) - 1
    single = jnp.arange(len(keep)) < last
    unsafe = (~(moves.legal & single) | ((near > 0) & held).any((0, 1))).all()
    keep = keep.at[last].set(keep[last] & unsafe)
    keep = jnp.where(keep.any(), keep, moves.legal)
    return jnp.where(state.turn == 0, keep, moves.legal)

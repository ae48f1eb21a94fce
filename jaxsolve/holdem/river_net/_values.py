"""A river network as a plain function of boards and ranges over all 1,326 hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._operators import choose_operator
from jaxsolve.holdem.river_net._betting import Form
from jaxsolve.holdem.river_net._boards import river_board
from jaxsolve.holdem.river_net._network import buckets_of, decode, encode
from jaxsolve.nets import Net
from jaxsolve.types import Array


def river_values(
    net: Net,
    boards: Sequence[Sequence[int]] | np.ndarray,
    ranges: Any,
    pot: Any,
    stack: Any,
) -> np.ndarray:
    """Returns what hands are worth at the start of R rivers, float32 [R, 2, 1326], in chips.

    Values are counterfactual: a hand's is the sum, over the hands of the opponent that share no
    card with it, of their reach times chips won. Half of the pot counts as each player's own, as in
    a spot. Hands that meet the board have 0. Stacks beyond those of the training are at the
    caller's risk.

    Args:
        net: the network.
        boards: int [R, 5], cards.
        ranges: float [R, 2, 1326], own reaches of (oop, ip) in the order of `HANDS`; they need not
            sum to 1. A range without mass is taken to be even.
        pot: float [R] or one number, chips in the middle.
        stack: float [R] or one number, chips behind of the shorter stack.

    Raises:
        ValueError: an array has the wrong shape or numbers that make no sense; says which.
    """
    table = np.asarray(boards)
    if table.ndim != 2 or table.shape[1] != 5 or not np.issubdtype(table.dtype, np.integer):
        raise ValueError(f"boards: give whole numbers [R, 5], not {table.dtype} {table.shape}")
    if table.size and (table.min() < 0 or table.max() >= NUM_CARDS):
        raise ValueError(f"boards: cards are 0 to {NUM_CARDS - 1}")
    count = len(table)
    for k, board in enumerate(table):
        if len(set(board.tolist())) != 5:
            raise ValueError(f"boards: row {k} has a card twice: {board.tolist()}")
    reach = np.asarray(ranges, np.float32)
    if reach.shape != (count, 2, NUM_HANDS):
        raise ValueError(f"ranges: give [{count}, 2, {NUM_HANDS}], not {list(reach.shape)}")
    if not (np.isfinite(reach).all() and (reach >= 0).all()):
        raise ValueError("ranges: reaches are finite and not negative")
    chips = [_numbers(name, x, count) for name, x in (("pot", pot), ("stack", stack))]
    form: Form = "native" if choose_operator() == "native" else "dense"
    arrays = (jnp.asarray(table, jnp.int32), jnp.asarray(reach), *map(jnp.asarray, chips))
    return np.asarray(_values(net, *arrays, form=form))


@jax.jit(static_argnames="form")
def _values(
    net: Net, boards: Array, ranges: Array, pot: Array, stack: Array, *, form: Form
) -> Array:
    def one(river: tuple[Array, ...]) -> Array:
        cards, reach, pot, stack = river
        board = river_board(cards)
        mine = reach[:, board.hands]
        mass = mine.sum(-1)
        some = mass > 0
        even = jnp.full_like(mine, 1 / mine.shape[1])
        shares = jnp.where(some[:, None], mine / jnp.where(some, mass, 1)[:, None], even)
        seen = encode(board, shares, buckets_of(net), form)
        found = decode(net, seen, stack / pot) * mass[::-1, None] * pot
        return jnp.zeros_like(reach).at[:, board.hands].set(found)

    return jax.lax.map(one, (boards, ranges, pot, stack))


def _numbers(name: str, value: Any, count: int) -> np.ndarray:
    array = np.asarray(value, np.float32)
    if array.shape not in ((), (count,)):
        raise ValueError(f"{name}: give one number or [{count}], not {list(array.shape)}")
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise ValueError(f"{name}: chips are finite and positive")
    return np.broadcast_to(array, (count,))

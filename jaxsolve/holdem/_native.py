"""Payoffs in C++: the operator, and the tables of boards that all native code reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import native
from jaxsolve.holdem._boards import live_hands, strength_order
from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._payoffs import Pays, Placed
from jaxsolve.holdem._strength import strengths
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class NativeBoards:
    """Hands on B boards; see `jaxsolve/native/boards.h`.

    Attributes:
        place: int32 [B, H], place of each hand, by strength on a complete board; H for the hands
            that meet the board.
        pair: uint8 [B, H, 2], the cards of the hand at each place.
        high: int32 [B, H], by place: where its tie group ends.
        count: int32 [B], hands that do not meet the board.
        matrix: float32 [M, H, H], expected signs of all-ins.
    """

    place: Array
    pair: Array
    high: Array
    count: Array
    matrix: Array

    @property
    def arrays(self) -> tuple[Array, ...]:
        """In the order in which native operators take them."""
        return self.place, self.pair, self.high, self.count, self.matrix


@pytree
@dataclasses.dataclass(frozen=True)
class NativeSide:
    """What differs between the players (K tasks, L leaves).

    Attributes:
        task: int32 [K, 5]: kind, board or matrix, first leaf, last leaf, unit.
        own, other: int32 [L], public sequences.
        amount: float32 [L].
        size: S, static.
    """

    task: Array
    own: Array
    other: Array
    amount: Array
    size: int = dataclasses.field(metadata={"static": True})


@pytree
@dataclasses.dataclass(frozen=True)
class NativePayoffs:
    """The payoff operator in C++, see `jaxsolve/native/leaves.cc`.

    Attributes:
        boards: tables of hands.
        sides: leaves per player.
    """

    boards: NativeBoards
    sides: tuple[NativeSide, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        side = self.sides[player]
        native.available()  # a saved program may be all that has been loaded
        shape = jax.ShapeDtypeStruct((side.size, self.boards.place.shape[1]), jnp.float32)
        call = jax.ffi.ffi_call(native.LEAVES, shape, vmap_method="sequential")
        leaves = (side.task, side.own, side.other, side.amount)
        return call(reach[1 - player], *self.boards.arrays, *leaves)

    def with_scale(self, scale: Array) -> NativePayoffs:
        """See `LeafOperator`."""
        sides = tuple(dataclasses.replace(s, amount=s.amount * scale) for s in self.sides)
        return dataclasses.replace(self, sides=sides)


def native_payoffs(
    hands: np.ndarray, groups: Sequence[Placed], sizes: Sequence[int]
) -> NativePayoffs:
    """Returns the operator of a tree, in numpy arrays; arguments as of `payoffs`."""
    boards, numbers = _boards(hands, groups)
    sides = tuple(_side(groups, numbers, sizes[i], i) for i in range(2))
    return NativePayoffs(boards, sides)


def board_numbers(groups: Sequence[Placed]) -> list[np.ndarray]:
    """Returns, per group, int32 [B], the row of each board in `NativeBoards` (or its matrix)."""
    number: dict[tuple[int, ...], int] = {}
    out, matrices = [], 0
    for group in groups:
        if group.pays == Pays.ALL_IN:
            out.append(matrices + np.arange(len(group.boards), dtype=np.int32))
            matrices += len(group.boards)
            continue
        keys = [tuple(int(c) for c in b) for b in group.boards]
        out.append(np.asarray([number.setdefault(k, len(number)) for k in keys], np.int32))
    return out


def _boards(hands: np.ndarray, groups: Sequence[Placed]) -> tuple[NativeBoards, list[np.ndarray]]:
    numbers = board_numbers(groups)
    size = len(hands)
    count = 1 + max((int(n.max()) for n, g in zip(numbers, groups, strict=True)
                     if g.pays != Pays.ALL_IN), default=-1)  # fmt: skip
    # Without showdowns any order does, and nothing reads where tie groups end.
    order = np.zeros((count, size), np.int32)
    high = np.zeros((count, size), np.int32)
    live = np.zeros((count, size), bool)
    for group, number in zip(groups, numbers, strict=True):
        if group.pays == Pays.COMPATIBLE:
            live[number] = live_hands(hands, group.boards)
            order[number] = np.argsort(~live[number], axis=1, kind="stable")
    for group, number in zip(groups, numbers, strict=True):
        if group.pays == Pays.SHOWDOWN:
            ranked = strength_order(strengths(hands, group.boards))
            order[number], high[number], live[number] = ranked.order, ranked.high, ranked.live
    matrices = [g.matrix for g in groups if g.matrix is not None]
    place, pair, live_count = hand_places(hands, order, live)
    tables: list[Any] = [
        place,
        pair,
        high,
        live_count,
        np.concatenate([np.zeros((0, size, size), np.float32), *matrices]).astype(np.float32),
    ]
    return NativeBoards(*tables), numbers


def hand_places(
    hands: np.ndarray, order: np.ndarray, live: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns `place`, `pair` and `count` of `NativeBoards`.

    Args:
        hands: int [H], numbers of hands.
        order: int32 [B, H], hands by place; those that meet the board come last.
        live: bool [B, H], which do not.
    """
    place = np.empty(order.shape, np.int32)
    np.put_along_axis(place, order, np.arange(len(hands), dtype=np.int32)[None], 1)
    return (
        np.where(live, place, len(hands)).astype(np.int32),
        HANDS[hands][order].astype(np.uint8),
        live.sum(1).astype(np.int32),
    )


def _side(
    groups: Sequence[Placed], numbers: Sequence[np.ndarray], size: int, player: int
) -> NativeSide:
    tasks, own, other, amount = [], [], [], []
    used = 0
    for group, number in zip(groups, numbers, strict=True):
        boards, leaves = group.hangs[0].shape
        for b in range(boards):
            tasks.append((group.pays, number[b], used, used + leaves))
            used += leaves
        own.append(group.hangs[player].reshape(-1))
        other.append(group.hangs[1 - player].reshape(-1))
        amount.append(group.amount[..., player].reshape(-1))
    rows = np.concatenate(own)
    unit = _units(rows, tasks)
    everywhere: dict[str, Any] = {
        "task": np.asarray([(*t, u) for t, u in zip(tasks, unit, strict=True)], np.int32),
        "own": rows.astype(np.int32),
        "other": np.concatenate(other).astype(np.int32),
        "amount": np.concatenate(amount).astype(np.float32),
    }
    return NativeSide(**everywhere, size=size)


def _units(rows: np.ndarray, tasks: Sequence[tuple[Any, int, int, int]]) -> np.ndarray:
    """Returns int [K], the unit of each task: tasks that write a common row are in one unit."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    task_of = np.concatenate(
        [np.full(end - begin, k) for k, (_, _, begin, end) in enumerate(tasks)]
    )
    size = len(tasks) + int(rows.max()) + 1
    links = coo_array((np.ones(len(rows)), (task_of, rows + len(tasks))), (size, size))
    labels = connected_components(links, directed=False)[1][: len(tasks)]
    return np.unique(labels, return_inverse=True)[1]

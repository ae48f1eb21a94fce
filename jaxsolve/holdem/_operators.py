"""Choosing and assembling the payoff operator of a hold'em tree: plain JAX or native."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import native
from jaxsolve.holdem._boards import (
    Order,
    card_order,
    live_hands,
    showdown_matrix,
    strength_order,
    strengths,
)
from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._payoffs import (
    DenseShowdown,
    HoldemPayoffs,
    Leaves,
    compatible_form,
    prefix_form,
)
from jaxsolve.tree._gather import build, float_type
from jaxsolve.types import Array

OPERATORS = ("native", "prefix", "dense")
"""Forms of the payoff operator: C++ on a CPU, prefix sums, products with matrices."""


class Pays(enum.IntEnum):
    """What a leaf pays for; the numbers are those of `leaves.cc`."""

    COMPATIBLE = 0
    SHOWDOWN = 1
    ALL_IN = 2


class Placed(NamedTuple):
    """Leaves of one kind on the boards of a street (B boards, T leaves on each, H hands).

    Attributes:
        pays: for what.
        boards: cards of each board.
        hangs: per player, int32 [B, T], the public sequence each leaf hangs from.
        amount: float [B, T, 2], chips times chance of each player.
        matrix: float [B, H, H], expected sign of all-ins; None of other kinds.
    """

    pays: Pays
    boards: Sequence[Sequence[int]]
    hangs: list[np.ndarray]
    amount: np.ndarray
    matrix: np.ndarray | None


def choose_operator() -> str:
    """Returns the fastest form on this backend in this precision."""
    if jax.default_backend() != "cpu":
        return "dense"
    single = float_type() == np.float32
    return "native" if single and native.available() else "prefix"


def payoffs(hands: np.ndarray, groups: Sequence[Placed], sizes: Sequence[int], form: str) -> Any:
    """Returns the operator of a tree.

    Args:
        hands: int [H], rows of `HANDS`.
        groups: the leaves.
        sizes: length S of each player's sequence vector.
        form: one of `OPERATORS`.
    """
    if form not in OPERATORS:
        raise ValueError(f"unknown operator {form!r}: write one of {', '.join(OPERATORS)}")
    if form == "native":
        return _native(hands, groups, sizes)
    leaves = []
    for group in groups:
        amount: Any = [group.amount[..., i].astype(float_type()) for i in range(2)]
        hangs: Any = group.hangs
        leaves.append(Leaves(_form(hands, group, form), tuple(hangs), tuple(amount)))
    lists = []
    for i in range(2):
        own = np.concatenate([g.hangs[i].reshape(-1) for g in groups])
        lists.append(build(own, [np.arange(len(own))], sizes[i], pad=len(own)))
    return HoldemPayoffs(tuple(leaves), tuple(lists))


def _form(hands: np.ndarray, group: Placed, form: str) -> Any:
    if group.pays == Pays.COMPATIBLE:
        return compatible_form(HANDS[hands], live_hands(hands, group.boards))
    if group.pays == Pays.ALL_IN:
        matrix: Any = group.matrix
        return DenseShowdown(matrix)
    strength = strengths(hands, group.boards)
    if form == "prefix":
        order = strength_order(strength)
        return prefix_form(HANDS[hands], order, card_order(hands, order))
    signs: Any = np.stack([showdown_matrix(hands, s) for s in strength])
    exact = jnp.bfloat16 if jax.default_backend() != "cpu" else float_type()
    return DenseShowdown(signs.astype(exact))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NativeSide:
    """What differs between the players (K tasks, L leaves, Z rows without a leaf).

    Attributes:
        task: int32 [K, 5]: kind, board or matrix, first leaf, last leaf, unit.
        own, other: int32 [L], public sequences.
        first: uint8 [L], 1 where the leaf is the first of its own sequence.
        amount: float32 [L].
        zero: int32 [Z], own sequences without a leaf.
        size: S, static.
    """

    task: Array
    own: Array
    other: Array
    first: Array
    amount: Array
    zero: Array
    size: int = dataclasses.field(metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NativePayoffs:
    """The payoff operator in C++, see `jaxsolve/native/leaves.cc` for the arrays."""

    cards: Array
    live: Array
    order: Array
    low: Array
    high: Array
    matrix: Array
    sides: tuple[NativeSide, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        side = self.sides[player]
        native.available()  # a saved program may be all that has been loaded
        shape = jax.ShapeDtypeStruct((side.size, self.cards.shape[0]), jnp.float32)
        call = jax.ffi.ffi_call(native.LEAVES, shape, vmap_method="sequential")
        tables = (self.cards, self.live, self.order, self.low, self.high, self.matrix)
        leaves = (side.task, side.own, side.other, side.first, side.amount, side.zero)
        return call(reach[1 - player], *tables, *leaves)

    def with_scale(self, scale: Array) -> NativePayoffs:
        """See `LeafOperator`."""
        sides = [dataclasses.replace(s, amount=s.amount * scale) for s in self.sides]
        return dataclasses.replace(self, sides=tuple(sides))


def _native(hands: np.ndarray, groups: Sequence[Placed], sizes: Sequence[int]) -> NativePayoffs:
    live = np.concatenate(
        [live_hands(hands, g.boards) for g in groups if g.pays == Pays.COMPATIBLE]
        or [np.zeros((0, len(hands)), bool)]
    )
    shown = [strength_order(strengths(hands, g.boards)) for g in groups if g.pays == Pays.SHOWDOWN]
    none = np.zeros((0, len(hands)), np.int32)
    places = [(none, none, none), *(_places(t) for t in shown)]
    order, low, high = (np.concatenate(parts) for parts in zip(*places, strict=True))
    matrices = [g.matrix for g in groups if g.matrix is not None]
    matrix = np.concatenate([np.zeros((0, len(hands), len(hands)), np.float32), *matrices])
    arrays: list[Any] = [
        HANDS[hands].astype(np.int32),
        live.astype(np.uint8),
        order,
        low,
        high,
        matrix.astype(np.float32),
    ]
    cards, alive, *tables = arrays
    sides = tuple(_side(groups, sizes[i], i) for i in range(2))
    return NativePayoffs(cards, alive, tables[0], tables[1], tables[2], tables[3], sides)


def _places(by_strength: Order) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (order, low, high) [B, H] by place; -1 after the last live hand."""
    alive = np.take_along_axis(by_strength.live, by_strength.order, 1)
    return np.where(alive, by_strength.order, -1), by_strength.low, by_strength.high


def _side(groups: Sequence[Placed], size: int, player: int) -> NativeSide:
    tasks, own, other, amount = [], [], [], []
    used, boards_before = 0, dict.fromkeys(Pays, 0)
    for group in groups:
        boards, leaves = group.hangs[0].shape
        for b in range(boards):
            tasks.append((group.pays, boards_before[group.pays] + b, used, used + leaves))
            used += leaves
        boards_before[group.pays] += boards
        own.append(group.hangs[player].reshape(-1))
        other.append(group.hangs[1 - player].reshape(-1))
        amount.append(group.amount[..., player].reshape(-1))
    rows = np.concatenate(own)
    unit = _units(rows, tasks)
    order = np.argsort(unit, kind="stable")
    table = np.asarray([(*tasks[k], unit[k]) for k in order], np.int32)
    first = np.zeros(len(rows), np.uint8)
    seen: set[int] = set()
    for _, _, begin, end, _ in table:  # in the order in which a unit works through them
        for leaf in range(begin, end):
            first[leaf] = rows[leaf] not in seen
            seen.add(int(rows[leaf]))
    everywhere: dict[str, Any] = {
        "task": table,
        "own": rows.astype(np.int32),
        "other": np.concatenate(other).astype(np.int32),
        "first": first,
        "amount": np.concatenate(amount).astype(np.float32),
        "zero": np.setdiff1d(np.arange(size), rows).astype(np.int32),
    }
    return NativeSide(**everywhere, size=size)


def _units(rows: np.ndarray, tasks: Sequence[tuple[Any, int, int, int]]) -> np.ndarray:
    """Returns int [K], the unit of each task: tasks that write a common row are in one unit."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    task_of = np.concatenate(
        [np.full(end - begin, k) for k, (_, _, begin, end) in enumerate(tasks)]
    )
    links = coo_array((np.ones(len(rows)), (task_of, rows)))
    size = max(links.shape)
    square = coo_array((links.data, (links.row, links.col + len(tasks))), (len(tasks) + size,) * 2)
    labels = connected_components(square, directed=False)[1][: len(tasks)]
    return np.unique(labels, return_inverse=True)[1]

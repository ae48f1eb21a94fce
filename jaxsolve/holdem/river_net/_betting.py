"""River betting as one tree of fixed shape: stacks, boards and ranges are arguments.

Sizes are shares of the pot, so totals in pots are the same in every situation: 1, 4 and 13 for a
bet of the pot, a raise and another one. A stack only cuts them off. Where it does, two actions are
one and the same, or a raise adds nothing and can be folded to: that changes no value of the game,
so the tree of a deep stack serves all.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from jaxsolve import native
from jaxsolve.holdem._boards import CARDS
from jaxsolve.holdem._native import NativeBoards, NativePayoffs, NativeSide
from jaxsolve.holdem._operators import choose_operator
from jaxsolve.holdem._payoffs import Compatible, DenseShowdown, HoldemPayoffs, Pays
from jaxsolve.holdem._sizes import parse_sizes
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, spot_tree
from jaxsolve.holdem.river_net._boards import LIVE, RiverBoard
from jaxsolve.tree import PublicTree
from jaxsolve.types import Array

Form = Literal["native", "dense"]

_BOARD = (0, 5, 10, 15, 19)  # any

POT = 2000
"""Chips in the middle of a template, even and many."""


@dataclasses.dataclass(frozen=True)
class RiverMenu:
    """What may be bet on a river.

    Attributes:
        bet, raise_: sizes as in a spot, shares of the pot ("100%") and all-in ("a").
        raise_cap: raises, the first bet not counted.
        deepest: the largest stack in pots that the tree is right for.
    """

    bet: tuple[str, ...] = ("100%", "a")
    raise_: tuple[str, ...] = ("100%", "a")
    raise_cap: int = 2
    deepest: float = 64.0

    @property
    def sizes(self) -> dict[str, list[str]]:
        """The menu as `parse_sizes` reads it."""
        return {"bet": list(self.bet), "raise": list(self.raise_)}


def river_template(menu: RiverMenu, form: Form | None = None) -> RiverTemplate:
    """Returns the tree of a menu, to be filled with situations.

    Args:
        menu: the sizes.
        form: of the payoffs: C++ ("native") or products with matrices ("dense"); the fastest one
            by default.

    Raises:
        ValueError: a size that is no share of the pot; one that a stack of `deepest` cuts off; or
            "native" without a C++ compiler.
    """
    if form is None:
        form = "native" if choose_operator() == "native" else "dense"
    if form == "native" and not native.available():
        raise ValueError('there is no C++ compiler here; take form="dense"')
    full = np.ones(1326)
    sizes = parse_sizes({"river": menu.sizes}, ("river",))
    for size in (s for menus in sizes["river"] for s in (*menus.bet, *menus.raise_)):
        if size.kind not in ("pot", "all-in"):
            raise ValueError(f"{size} is not a share of the pot, and a network knows no chips")
    shares = [size.amount for menus in sizes["river"] for size in menus.raise_ + menus.bet
              if size.kind == "pot"]  # fmt: skip
    total = 0.0
    for _ in range(menu.raise_cap + 1 if shares else 0):
        total += max(shares) * (1 + 2 * total)
    if total >= menu.deepest:
        raise ValueError(
            f"{menu.raise_cap} raises come to {total:g} pots, and a stack of {menu.deepest:g} cuts "
            "them off: take a larger `deepest`, smaller sizes or fewer raises"
        )
    stack = int(menu.deepest * POT)
    spot = Spot(_BOARD, POT, (stack, stack), (full, full), sizes, raise_cap=menu.raise_cap)
    whole = spot_tree(spot, symmetric=False, operator=form, check=False)
    return RiverTemplate(whole.tree.replace(names=None), whole, form, spot.pairs)


@dataclasses.dataclass(frozen=True)
class RiverTemplate:
    """The tree of a menu.

    Attributes:
        tree: of some board, with full ranges.
        spot: where it comes from.
        form: of its payoffs.
        pairs: of hands, by which its payoffs are divided.
    """

    tree: PublicTree
    spot: SpotTree
    form: Form
    pairs: float

    def fill(self, board: RiverBoard, ranges: Array, stack: Array) -> PublicTree:
        """Returns the tree of one situation, whose payoffs are pots.

        Values are per product of the ranges: a hand's counterfactual value is the sum over the
        hands of the opponent that it can meet, weighed by their reach. Half of the pot is each
        player's, as in a spot.

        Args:
            board: the hands.
            ranges: float [2, H], in their order.
            stack: float [], in pots.
        """
        players = tuple(
            dataclasses.replace(p, root_reach=r[None])
            for p, r in zip(self.tree.players, ranges, strict=True)
        )
        return PublicTree(players, (self._payoffs(board, stack),))

    def _payoffs(self, board: RiverBoard, stack: Array) -> Any:
        old = self.tree.leaves[0]
        if self.form == "native":
            sides = tuple(
                dataclasses.replace(side, amount=self._amount(side.amount, stack))
                for side in old.sides
            )
            return NativePayoffs(_native_boards(board), sides)
        groups = []
        for group in old.groups:
            shown = isinstance(group.form, DenseShowdown)
            form = showdown_form(board) if shown else fold_form(board)
            amount = tuple(self._amount(a, stack) for a in group.amount)
            groups.append(dataclasses.replace(group, form=form, amount=amount))
        return HoldemPayoffs(tuple(groups), old.leaves)

    def _amount(self, chips: Array, stack: Array) -> Array:
        """Returns payoffs in pots of a stack, from those of the template."""
        pots = jnp.asarray(chips, jnp.float32) * (self.pairs / POT)
        return jnp.sign(pots) * (0.5 + jnp.minimum(jnp.abs(pots) - 0.5, stack))


def fold_form(board: RiverBoard) -> Compatible:
    """Returns sums over the hands that share no card with one's own, on one board."""
    cards = board.pair[:, :, None] == jnp.arange(CARDS, dtype=jnp.uint8)
    holds = cards.any(1).astype(jnp.float32)
    return Compatible(holds=holds, live=jnp.ones((1, LIVE), jnp.float32))


def showdown_form(board: RiverBoard) -> DenseShowdown:
    """Returns showdowns on one board as a product with a matrix."""
    return DenseShowdown(sign_matrix(board)[None])


def sign_matrix(board: RiverBoard) -> Array:
    """Returns float [H, H]: 1 where the row's hand beats the column's, 0 for shared cards."""
    rank = board.low
    signs = jnp.sign(rank[:, None] - rank[None]).astype(jnp.float32)
    pair = board.pair
    shared = (pair[:, None, :, None] == pair[None, :, None, :]).any((2, 3))
    return jnp.where(shared, 0, signs)


def check_down(board: RiverBoard, ranges: Array, form: Form) -> tuple[Array, Array]:
    """Returns what hands are worth if nobody bets, and whom they meet, on one board.

    Args:
        board: the hands.
        ranges: float [2, H], in their order.
        form: how it is computed.

    Returns:
        (float [2, H] in pots and per product of the ranges, half of the pot being each player's;
        float [2, H], the opponent's reach over the hands that share no card with one's own).
    """
    if form == "native":
        side = NativeSide(
            jnp.asarray([[Pays.SHOWDOWN, 0, 0, 1, 0], [Pays.COMPATIBLE, 0, 1, 2, 1]], jnp.int32),
            jnp.asarray([0, 1], jnp.int32),
            jnp.zeros(2, jnp.int32),
            jnp.asarray([0.5, 1.0], jnp.float32),
            size=2,
        )
        payoffs = NativePayoffs(_native_boards(board), (side, side))
        found = jnp.stack([payoffs(i, [r[None] for r in ranges]) for i in range(2)])
        return found[:, 0], found[:, 1]
    other = ranges[::-1]
    shown = jnp.matmul(other, sign_matrix(board).T, precision="highest") / 2
    return shown, fold_form(board)(other[None])[0]


def _native_boards(board: RiverBoard) -> NativeBoards:
    return NativeBoards(
        jnp.arange(LIVE, dtype=jnp.int32)[None],
        board.pair[None],
        board.high[None],
        jnp.full(1, LIVE, jnp.int32),
        jnp.zeros((0, LIVE, LIVE), jnp.float32),
    )

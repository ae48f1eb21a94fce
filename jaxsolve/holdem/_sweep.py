"""Whole iterations in C++.

See `jaxsolve/native/sweep.cc` for what the numbers mean: an item is the rows of one board of one
street, sequences of the last street are numbered within their item, those of earlier streets
("upper", 0 is the empty sequence) throughout. A place that may be either is a code: the number
within the item, or -1 - upper sequence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import native
from jaxsolve.holdem._native import NativeBoards
from jaxsolve.regret import Coefficients
from jaxsolve.tree import Blocks, PublicTree
from jaxsolve.types import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SweepSide:
    """The step of one player (R rows, I items, P parts, K tasks, L leaves, U upper sequences).

    Attributes:
        rows: int32 [R, 8], `Row` of sweep.cc; in order of items.
        items: int32 [I, 9], `Item`; in order of streets.
        parts: int32 [P, 2], first and last task.
        tasks: int32 [K, 4]: kind, board or matrix, first leaf, last leaf.
        leaf_own, leaf_other: int32 [L], codes.
        amount: float32 [L].
        slot_begin: int32 [U + 1], the slots of each upper sequence.
        room: most sequences of an item of the last street, static.
        slots: how many, static.
    """

    rows: Array
    items: Array
    parts: Array
    tasks: Array
    leaf_own: Array
    leaf_other: Array
    amount: Array
    slot_begin: Array
    room: int = dataclasses.field(metadata={"static": True})
    slots: int = dataclasses.field(metadata={"static": True})

    @property
    def arrays(self) -> tuple[Array, ...]:
        """In the order in which native operators take them."""
        return (
            *(self.rows, self.items, self.parts, self.tasks),
            *(self.leaf_own, self.leaf_other, self.amount, self.slot_begin),
        )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NativeSweep:
    """Iterations of both players.

    Attributes:
        boards: tables of hands.
        orbit: int32 [G, H], images of hands under symmetries, group after group.
        sides: per player.
        shapes: per player, (A, N) of each block, static.
        one_board: the last street has one, static.
    """

    boards: NativeBoards
    orbit: Array
    sides: tuple[SweepSide, ...]
    shapes: tuple[tuple[tuple[int, int], ...], ...] = dataclasses.field(metadata={"static": True})
    one_board: bool = dataclasses.field(metadata={"static": True})

    def fits(self, tree: PublicTree) -> bool:
        """Returns whether a tree is the one it was made for, with no locked strategy."""
        shapes = tuple(tuple(b.legal.shape[:2] for b in p.blocks) for p in tree.players)
        locked = any(b.locked is not None for p in tree.players for b in p.blocks)
        single = all(p.root_reach.dtype == jnp.float32 for p in tree.players)
        return shapes == self.shapes and single and not locked

    def with_scale(self, scale: Array) -> NativeSweep:
        """Returns the sweep with every payoff multiplied by `scale`."""
        sides = tuple(dataclasses.replace(s, amount=s.amount * scale) for s in self.sides)
        return dataclasses.replace(self, sides=sides)

    def __call__(
        self,
        tree: PublicTree,
        coefficients: Coefficients,
        share: Array,
        regrets: Sequence[Blocks],
        policies: Sequence[Blocks],
        averages: Sequence[tuple[Array, Array]],
    ) -> tuple[list[Blocks], list[Blocks], list[tuple[Array, Array]]]:
        """Does K iterations, in each of which player 0 updates first.

        Args:
            tree: one that it fits.
            coefficients: of the updates, each float [K].
            share: float [K], weight of each iteration in the average that it ends.
            regrets: per player, cumulative regrets by block.
            policies: per player.
            averages: per player, (mean, lost) of `Mean`.

        Returns:
            (regrets, policies, averages) after them.
        """
        native.available()  # a saved program may be all that has been loaded
        tables: list[Array] = [*self.boards.arrays, self.orbit]
        tables.append(jnp.stack([jnp.asarray(x, jnp.float32) for x in (*coefficients, share)], 1))
        state: list[Array] = []
        for i, side in enumerate(self.sides):
            tables += [tree.players[i].root_reach, *side.arrays]
            state += [*averages[i], *regrets[i], *policies[i]]
        scratch = self._scratch
        shapes = [*scratch, *(x.shape for x in state)]
        call = jax.ffi.ffi_call(
            native.SWEEP,
            [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes],
            input_output_aliases={len(tables) + k: len(scratch) + k for k in range(len(state))},
            vmap_method="sequential",
        )
        blocks = [len(r) for r in regrets]
        found = call(
            *tables,
            *state,
            blocks0=blocks[0],
            blocks1=blocks[1],
            room0=self.sides[0].room,
            room1=self.sides[1].room,
        )
        rest = list(found[len(scratch) :])
        new_regrets, new_policies, new_averages = [], [], []
        for count in blocks:
            mean, lost, *rest = rest
            new_averages.append((mean, lost))
            new_regrets.append(tuple(rest[:count]))
            new_policies.append(tuple(rest[count : 2 * count]))
            rest = rest[2 * count :]
        return new_regrets, new_policies, new_averages

    def payoffs(self, tree: PublicTree, means: Sequence[Array]) -> tuple[Array, Array]:
        """Measures average policies.

        Args:
            tree: one that it fits.
            means: per player, float32 [S, H], mean reach of each sequence.

        Returns:
            (payoffs float32 [2], what a best response of each player adds to them [2]).
        """
        native.available()
        tables: list[Array] = [*self.boards.arrays, self.orbit]
        for player, side, mean, shapes in zip(
            tree.players, self.sides, means, self.shapes, strict=True
        ):
            blocks = jnp.asarray(np.asarray(shapes, np.int32).reshape(-1, 2))
            tables += [player.root_reach, *side.arrays, mean, blocks]
        call = jax.ffi.ffi_call(
            native.MEASURE,
            [jax.ShapeDtypeStruct(s, jnp.float32) for s in (*self._scratch, (2, 2))],
            vmap_method="sequential",
        )
        found = call(*tables, room0=self.sides[0].room, room1=self.sides[1].room)[-1]
        return found[:, 0], found[:, 1]

    @property
    def _scratch(self) -> list[tuple[int, int]]:
        """Shapes of the memory that a call works in."""
        rooms = [side.room for side in self.sides]
        # One thread works on the last street of a player at a time, or all on its one board.
        rows = [2 * max(rooms) + min(rooms) if self.one_board else 0]
        for side in self.sides:
            upper = len(side.slot_begin) - 1
            rows += [upper, upper, max(side.slots, 1)]
        return [(n, self.boards.place.shape[1]) for n in rows]

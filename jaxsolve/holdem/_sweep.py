"""A player's whole step of an iteration in C++.

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

from jaxsolve import native
from jaxsolve.holdem._native import NativeBoards
from jaxsolve.regret import Coefficients
from jaxsolve.tree._public_tree import Blocks, PublicTree
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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NativeSweep:
    """The steps of both players; a `Sweep`.

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
        """Returns whether a tree is the one it was made for, with no strategy held fixed."""
        shapes = tuple(tuple(b.legal.shape[:2] for b in p.blocks) for p in tree.players)
        held = any(b.held is not None for p in tree.players for b in p.blocks)
        single = all(p.root_reach.dtype == jnp.float32 for p in tree.players)
        return shapes == self.shapes and single and not held

    def with_scale(self, scale: Array) -> NativeSweep:
        """Returns the sweep with every payoff multiplied by `scale`."""
        sides = tuple(dataclasses.replace(s, amount=s.amount * scale) for s in self.sides)
        return dataclasses.replace(self, sides=sides)

    def __call__(
        self,
        tree: PublicTree,
        player: int,
        coefficients: Coefficients,
        share: Array,
        regrets: Blocks,
        policies: Sequence[Blocks],
        average: tuple[Array, Array],
    ) -> tuple[Blocks, Blocks, tuple[Array, Array]]:
        """See `Sweep`."""
        native.available()  # a saved program may be all that has been loaded
        side, other = self.sides[player], self.sides[1 - player]
        root, other_root = (tree.players[i].root_reach for i in (player, 1 - player))
        hands = root.shape[-1]
        own = (*regrets, *policies[player])
        tables = (
            *self.boards.arrays,
            jnp.stack([jnp.asarray(x, root.dtype) for x in (*coefficients, share.ravel()[0])]),
            root,
            other_root,
            side.rows,
            other.rows,
            side.items,
            side.parts,
            side.tasks,
            side.leaf_own,
            side.leaf_other,
            side.amount,
            side.slot_begin,
            self.orbit,
        )
        upper, other_upper = len(side.slot_begin) - 1, len(other.slot_begin) - 1
        shared = 2 * side.room + other.room if self.one_board else 0
        scratch = (upper, other_upper, upper, max(side.slots, 1), shared)
        shapes = [x.shape for x in average]
        shapes += [(rows, hands) for rows in scratch]
        shapes += [x.shape for x in own]
        first = len(tables)
        aliases = {first + k: k for k in range(len(average))}
        for k in range(len(own)):
            aliases[first + len(average) + k] = len(average) + len(scratch) + k
        call = jax.ffi.ffi_call(
            native.SWEEP,
            [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes],
            input_output_aliases=aliases,
            vmap_method="sequential",
        )
        found = call(
            *tables,
            *average,
            *own,
            *policies[1 - player],
            num_blocks=len(regrets),
            own_room=side.room,
            other_room=other.room,
        )
        mean, lost, *rest = found
        updated = rest[len(scratch) :]
        count = len(regrets)
        return tuple(updated[:count]), tuple(updated[count:]), (mean, lost)

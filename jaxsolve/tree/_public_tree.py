"""PublicTree: a game as padded tensors, and its two sweeps.

Per player, decision rows are grouped by the player's own depth (how often they have acted):
Leduc has 12 game levels and 4 own ones. A level is one or more blocks of equal padded width, and
everything of a block is `[A, N]` or `[A, N, H]`: actions first, because sums over few actions then
run along full vector lanes; rows N; private states H last, shared by all rows. A tree compiled
from world states has one row per infoset and no hand axis (an axis of length 1 would cost a factor
of 40 in XLA's CPU reductions); a card game built as public tree x hands has one row per public
state and H hands. `[A, N, ...]` below stands for both.

Sequence vectors are `[S, ...]`: the empty sequences, then block after block, each `[A * N]`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from jaxsolve.devices import AXIS
from jaxsolve.plot import Svg
from jaxsolve.tree._gather import GatherSum, take
from jaxsolve.tree._info import TreeInfo, info_of, listed
from jaxsolve.tree._payoffs import SparsePayoffs, matrix_payoffs
from jaxsolve.tree._public_nodes import PublicNode, draw_public, public_node
from jaxsolve.tree._shared import Shared, total_over_devices
from jaxsolve.types import Array, pytree

MATRIX_CELLS = 1 << 24
"""Largest matrix of payoffs, 64 MB: a v5e reads it in .08 ms."""

Blocks = tuple[Array, ...]
"""One array [A, N, ...] per block of a player, in order."""


@pytree
@dataclasses.dataclass(frozen=True)
class Block:
    """Rows of one own level that are padded to one number of actions.

    Attributes:
        legal: bool [A, N] or [A, N, 1], False in padding (a padded row has no legal action).
        parent: int32 [N], the row's sequence, counted within the level above (or the empty ones).
        orbit: int32 [G, H] or None. Of several equivalent chance outcomes below these rows only one
            is in the tree, with the weight of all: the value of a hand is then the mean over its
            images under a group of G permutations of hands.
        locked: float [A, N, ...] or None, a strategy that is part of the game: where it is not 0
            everywhere, the player does not choose (a locked node).
    """

    legal: Array
    parent: Array
    orbit: Array | None = None
    locked: Array | None = None


@pytree
@dataclasses.dataclass(frozen=True)
class PlayerTree:
    """The sequences of one player.

    Attributes:
        levels: blocks by own depth.
        children: per level, adds the values of its rows to the sequences above them.
        root_reach: float [roots, ...], own reach at the empty sequences: 1, or a range.
        unpadded: there are hands, and no block has padding; solvers may then sweep whole levels.
        by_levels: solvers may sweep whole levels although there is padding (`laid_out`).
        one_hot: how they look entries up then, see `take`.
        shared: per level, what every device has where the tree is one of several parts; else None.
    """

    levels: tuple[tuple[Block, ...], ...]
    children: tuple[GatherSum, ...]
    root_reach: Array
    unpadded: bool = dataclasses.field(default=False, metadata={"static": True})
    by_levels: bool = dataclasses.field(default=False, metadata={"static": True})
    one_hot: bool = dataclasses.field(default=False, metadata={"static": True})
    shared: tuple[Shared, ...] | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, level after level."""
        return tuple(b for level in self.levels for b in level)

    @property
    def legal(self) -> Blocks:
        """Per block, bool [A, N] or [A, N, 1]."""
        return tuple(b.legal for b in self.blocks)

    @property
    def num_sequences(self) -> int:
        """S, empty sequences and padding included."""
        return self.root_reach.shape[0] + sum(
            b.legal.shape[0] * b.legal.shape[1] for b in self.blocks
        )

    @property
    def num_hands(self) -> int:
        """H, 1 where there is no hand axis."""
        return self.root_reach.shape[1] if self.root_reach.ndim > 1 else 1


class LeafOperator(Protocol):
    """Payoffs at the leaves. A pytree, so that payoffs can be swapped and vmapped."""

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """Returns [S, ...]: counterfactual value of each own sequence from the leaves on it.

        `reach[j]` is [S_j, ...], the own reach of player j; chance is part of the operator.
        """
        ...

    def with_scale(self, scale: Array) -> LeafOperator:
        """Returns the operator with every payoff multiplied by `scale`."""
        ...


@pytree
@dataclasses.dataclass(frozen=True)
class PublicTree:
    """A game as tensors; a pytree whose sizes are the shapes of its arrays.

    Attributes:
        players: sequences per player.
        leaves: operators whose values add up.
        names: names and counts for people, on the host. They do not travel through jit or vmap
            (they become None there), so trees of equal shape share one compiled program.
    """

    players: tuple[PlayerTree, ...]
    leaves: tuple[Any, ...]
    names: TreeInfo | None = dataclasses.field(default=None, metadata={"dropped": True})

    @property
    def info(self) -> TreeInfo:
        """Names and counts.

        Raises:
            ValueError: the tree came out of jit or vmap.
        """
        return info_of(self)

    @property
    def num_players(self) -> int:
        """n."""
        return len(self.players)

    def public(self, name: str = "start") -> PublicNode:
        """Returns the public state of a name such as "raise call / Kh"; see `PublicNode`.

        Raises:
            ValueError: there is none, and which there are; or the world states are not listed.
        """
        return public_node(listed(self), name)

    def public_nodes(self) -> tuple[PublicNode, ...]:
        """Returns every public state, in breadth-first order.

        Raises:
            ValueError: the world states are not listed.
        """
        return listed(self).public_nodes

    def draw(self, name: str = "start", *, depth: int | None = None, limit: int = 300) -> Svg:
        """Returns a picture of the public tree below a public state.

        Args:
            name: of the public state on top.
            depth: transitions that are shown below it, all by default.
            limit: of public states, since larger pictures are illegible.

        Raises:
            ValueError: there is no such public state, or there are too many below it.
        """
        return draw_public(listed(self), name, depth, limit)

    def replace(self, **changes: Any) -> PublicTree:
        """Returns a copy with some fields replaced."""
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        from jaxsolve.tree._display import text

        return text(self)

    def _repr_html_(self) -> str:
        from jaxsolve.tree._display import html

        return html(self)


def laid_out(tree: PublicTree, platform: str | None = None) -> PublicTree:
    """Returns a tree in the form that is fastest on a platform; policies keep their shapes.

    On a CPU an iteration goes block by block, elsewhere a whole own level at a time, in fewer
    kernels and without copies of the state. On a TPU entries of vectors are looked up by comparing,
    and payoffs of two players that fit `MATRIX_CELLS` are matrices.

    Args:
        tree: any.
        platform: "cpu", "gpu", "cuda" or "tpu"; that of this process by default.

    Nothing else chooses by platform how a tree is swept.
    """
    platform = platform or jax.default_backend()
    levels, one_hot = platform != "cpu", platform == "tpu"

    def looked_up(x: Any) -> Any:
        return dataclasses.replace(x, one_hot=one_hot) if isinstance(x, GatherSum) else x

    out = jax.tree.map(looked_up, tree, is_leaf=lambda x: isinstance(x, GatherSum))
    players = tuple(dataclasses.replace(p, by_levels=levels, one_hot=one_hot) for p in out.players)
    sizes = [p.num_sequences for p in players]
    small = one_hot and len(sizes) == 2 and sizes[0] * sizes[1] <= MATRIX_CELLS
    leaves = (
        matrix_payoffs(x, sizes) if small and isinstance(x, SparsePayoffs) else x
        for x in out.leaves
    )
    return PublicTree(players, tuple(leaves), tree.names)


def reach_of(player: PlayerTree, policy: Blocks) -> Array:
    """Returns [S, ...], own reach of every sequence under a policy (downward sweep)."""
    parts, above, k = [player.root_reach], player.root_reach, 0
    for level in player.levels:
        here = []
        for block in level:
            here.append(_flat(policy[k] * take(above, block.parent)))
            k += 1
        above = jnp.concatenate(here)
        parts.append(above)
    return jnp.concatenate(parts)


def values_of(
    player: PlayerTree, leaf_values: Array, row_value: Callable[[int, Array], Array]
) -> tuple[Blocks, Array]:
    """Sweeps values upward from the leaves.

    Args:
        player: whose sequences.
        leaf_values: [S, ...], sum of the leaf operators.
        row_value: (block number, action values [A, N, ...]) -> row values [N, ...]; a dot product
            with a policy for its value, a maximum for a best response.

    Returns:
        (action values per block [A, N, ...], values of the empty sequences [roots, ...]).
    """
    roots = player.root_reach.shape[0]
    stop, k = leaf_values.shape[0], len(player.blocks)
    below: Array | None = None
    out: list[Array] = []
    for depth in reversed(range(len(player.levels))):
        level = player.levels[depth]
        start = stop - sum(b.legal.shape[0] * b.legal.shape[1] for b in level)
        here = leaf_values[start:stop]
        if below is not None:
            here = here + player.children[depth + 1](below)
        if player.shared is not None:
            here = total_over_devices(here, player.shared[depth].sequence)
        values, low = [], 0
        k -= len(level)
        for j, block in enumerate(level):
            a, n = block.legal.shape[:2]
            q = here[low : low + a * n].reshape(a, n, *here.shape[1:])
            if block.orbit is not None:
                q = mean_over(block.orbit, q)
            out.insert(j, q)
            values.append(row_value(k + j, q))
            low += a * n
        rows = jnp.concatenate(values)
        if player.shared is not None:
            rows = player.shared[depth].counted(rows)
        below = jnp.concatenate([rows, jnp.zeros_like(rows[:1])])
        stop = start
    root = leaf_values[:roots]
    root = root if below is None else root + player.children[0](below)
    return tuple(out), root if player.shared is None else jax.lax.psum(root, AXIS)


def leaf_values(tree: PublicTree, player: int, reach: Sequence[Array]) -> Array:
    """Returns [S, ...], the sum of all leaf operators for each sequence of a player."""
    total = tree.leaves[0](player, reach)
    for operator in tree.leaves[1:]:
        total = total + operator(player, reach)
    return total


def split_blocks(player: PlayerTree, flat: Array) -> Blocks:
    """Returns a sequence vector [S, ...] as blocks [A, N, ...], without the empty sequences."""
    out, at = [], player.root_reach.shape[0]
    for block in player.blocks:
        a, n = block.legal.shape[:2]
        out.append(flat[at : at + a * n].reshape(a, n, *flat.shape[1:]))
        at += a * n
    return tuple(out)


def join_blocks(player: PlayerTree, blocks: Blocks, root: float = 1.0) -> Array:
    """Returns blocks [A, N, ...] as one sequence vector [S, ...], `root` at the empty sequences."""
    first = jnp.full_like(player.root_reach, root)
    return jnp.concatenate([first, *(_flat(b) for b in blocks)])


def uniform(player: PlayerTree) -> Blocks:
    """Returns the uniform policy over legal actions, per block [A, N, ...]; 0 in padding."""
    dtype = player.root_reach.dtype
    out = []
    for legal in player.legal:
        p = legal / jnp.maximum(legal.sum(0, keepdims=True), 1).astype(dtype)
        shape = (*legal.shape[:2], *player.root_reach.shape[1:])
        out.append(jnp.broadcast_to(p, shape).astype(dtype))
    return apply_locks(player, tuple(out))


def apply_locks(player: PlayerTree, policy: Blocks) -> Blocks:
    """Returns a policy in which locked nodes (`Block.locked`) play their locked strategies."""
    return tuple(
        p if b.locked is None else jnp.where((b.locked > 0).any(0), b.locked, p)
        for b, p in zip(player.blocks, policy, strict=True)
    )


def mean_over(orbit: Array, values: Array) -> Array:
    """Returns values [..., H] averaged over the images int32 [G, H] of each hand."""
    total = values
    for images in orbit[1:]:  # the first is the identity
        total = total + values[..., images]
    return total / orbit.shape[0]


def _flat(block: Array) -> Array:
    return block.reshape(-1, *block.shape[2:])

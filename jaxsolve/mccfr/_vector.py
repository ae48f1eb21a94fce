"""Vectors of hands on sampled boards: public chance sampling on tables [sequence, bucket], in JAX.

Johanson, Bard, Lanctot, Gibson & Bowling 2012, "Efficient Nash equilibrium approximation through
Monte Carlo counterfactual regret minimization" (public chance sampling). A board is what chance
shows to everybody. On each sampled board all hands of both players go down the public actions at
once, and values of all hands come back up; hands of one bucket share a policy and add up their
regrets. Boards are the only thing that is sampled.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxsolve.mccfr._options import Options
from jaxsolve.mccfr._tables import Tables, as_float
from jaxsolve.mccfr._tree import ActionTree
from jaxsolve.types import Array


class Boards(NamedTuple):
    """A batch of sampled boards (B boards, two players, G stages, H hands).

    Attributes:
        bucket: int32 [B, 2, G, H], what each hand of each player knows at each stage.
        live: float [B, 2, H], 1 for hands that the board allows, else 0.
        leaf: what `VectorGame.leaf_values` reads, leading axis B.
    """

    bucket: Array
    live: Array
    leaf: Any


LeafValues = Callable[[int, Array, Any], Array]
"""(player, reach of the other [T, H], leaf of a board) -> values [T, H]; see `VectorGame`."""


class VectorGame(Protocol):
    """A two-player game whose boards can be sampled apart from the hands."""

    @property
    def tree(self) -> ActionTree:
        """The public actions."""
        ...

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Buckets of each stage."""
        ...

    def boards(self, seed: int, first: int, count: int) -> Boards:
        """Returns boards number `first` to `first + count - 1`; equal arguments, equal boards."""
        ...

    def leaf_values(self, player: int, reach: Array, leaf: Any) -> Array:
        """Returns [T, H], what each hand of a player wins at each end, on one board.

        Args:
            player: 0 or 1, static.
            reach: [T, H], of the hands of the other player at each end.
            leaf: of the board.
        """
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Level:
    """The nodes of one depth (N nodes of P, A actions at most).

    Attributes:
        above: int32 [N], place of the parent in the level above.
        taken: int32 [N], which action of the parent led here.
        child: int32 [N, A], places of the children in the level below; padded with its size.
        legal: bool [N, A].
        row: int32 [N], where the entries of the node begin.
        count: int32 [N], actions.
        actor: int32 [N], -1 at ends.
        stage: int32 [N].
        end: int32 [N], number among the ends; T where the game goes on.
    """

    above: Array
    taken: Array
    child: Array
    legal: Array
    row: Array
    count: Array
    actor: Array
    stage: Array
    end: Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class VectorTree:
    """The public actions by depth.

    Attributes:
        levels: the first node, its children, and so on.
        ends: int32 [T], places of the ends among the nodes of all levels.
    """

    levels: tuple[Level, ...]
    ends: Array


def vector_tree(tree: ActionTree, num_buckets: Sequence[int]) -> VectorTree:
    """Returns the public actions as arrays of JAX.

    Raises:
        ValueError: the tables have 2**31 entries or more.
    """
    rows = tree.rows(num_buckets)
    if rows[-1] >= 2**31:
        raise ValueError(f"tables of {rows[-1]:,} entries; at most 2,147,483,647 are possible")
    depth = np.zeros(tree.num_nodes, int)
    for p in range(1, tree.num_nodes):
        depth[p] = depth[tree.parent[p]] + 1
    nodes = [np.flatnonzero(depth == d) for d in range(int(depth.max()) + 1)]
    place, overall = np.zeros((2, tree.num_nodes), int)
    for here in nodes:
        place[here] = np.arange(len(here))
    overall[np.concatenate(nodes)] = np.arange(tree.num_nodes)
    end_of = np.full(tree.num_nodes, len(tree.ends))
    end_of[tree.ends] = np.arange(len(tree.ends))
    number = np.arange(int(tree.count.max()))[None]
    levels = []
    for d, here in enumerate(nodes):
        below = len(nodes[d + 1]) if d + 1 < len(nodes) else 0
        decides = tree.count[here] > 0
        legal = number < tree.count[here][:, None]
        child = np.where(legal, tree.child[here][:, None] + number, 0)
        parent = np.maximum(tree.parent[here], 0)
        arrays = {
            "above": place[parent],
            "taken": here - tree.child[parent] if d else np.zeros(1),
            "child": np.where(legal, place[child], below),
            "row": rows[here],
            "count": tree.count[here],
            "actor": np.where(decides, tree.actor[here], -1),
            "stage": np.where(decides, tree.stage[here], 0),
            "end": end_of[here],
        }
        ints = {k: jnp.asarray(v.astype(np.int32)) for k, v in arrays.items()}
        levels.append(Level(legal=jnp.asarray(legal), **ints))
    return VectorTree(tuple(levels), jnp.asarray(overall[tree.ends].astype(np.int32)))


class VectorSampler:
    """Passes over the tables of one game; each updates both players, on a batch of boards each."""

    def __init__(self, game: VectorGame, options: Options, *, boards: int = 1) -> None:
        """Packs the game; `boards` is the size of a batch."""
        if game.tree.num_players != 2:
            raise ValueError("vectors of hands are for two players; use ExternalSampler")
        if boards < 1:
            raise ValueError(f"boards is 1 or more, not {boards}")
        self.game, self.options, self.size = game, options, boards
        self._tree = vector_tree(game.tree, game.num_buckets)

    def run(self, tables: Tables, count: int) -> tuple[Tables, int]:
        """Returns (tables after `count` more passes, boards seen)."""
        regret, average = (jnp.asarray(as_float(x)) for x in (tables.regret, tables.average))
        for k in range(tables.passes, tables.passes + count):
            for player in range(2):
                first = (2 * k + player) * self.size
                batch = self.game.boards(self.options.seed, first, self.size)
                weight = jnp.float32(self.options.weight(k) / self.size)
                regret, average = vector_pass(
                    self._tree, self.game.leaf_values, player, regret, average, batch, weight
                )
        after = Tables(tables.row, np.asarray(regret), np.asarray(average), tables.passes + count)
        return after, 2 * count * self.size


@functools.partial(jax.jit, static_argnames=("leaf_values", "player"))
def vector_pass(
    tree: VectorTree,
    leaf_values: LeafValues,
    player: int,
    regret: Array,
    average: Array,
    boards: Boards,
    weight: Array,
) -> tuple[Array, Array]:
    """Returns the tables after an update of one player on a batch of boards.

    Args:
        tree: the public actions.
        leaf_values: see `VectorGame`; static.
        player: who is updated; static.
        regret, average: float [E].
        boards: the batch.
        weight: float [], of this pass, divided by the size of the batch.
    """

    def add(sums: tuple[Array, Array], board: Boards) -> tuple[tuple[Array, Array], None]:
        return _on_board(tree, leaf_values, player, regret, sums, board), None

    zero = (jnp.zeros_like(regret), jnp.zeros_like(average))
    (steps, played), _ = lax.scan(add, zero, boards)
    return regret + weight * steps, average + weight * played


def _on_board(
    tree: VectorTree,
    leaf_values: LeafValues,
    player: int,
    regret: Array,
    sums: tuple[Array, Array],
    board: Boards,
) -> tuple[Array, Array]:
    """Returns sums of regrets, and of reach times policy, with one more board."""
    entries = [_entries(level, board.bucket) for level in tree.levels]
    policy = [_policy(x, at, regret) for x, at in zip(tree.levels, entries, strict=True)]
    reach = [board.live[:, None]]  # [2, N, H] by level
    for above, level, shares in zip(tree.levels, tree.levels[1:], policy, strict=False):
        before, taken = reach[-1][:, level.above], shares[level.above, level.taken]
        acts = above.actor[level.above] == jnp.arange(2)[:, None]
        reach.append(jnp.where(acts[..., None], before * taken, before))
    other = jnp.concatenate([r[1 - player] for r in reach])
    worth = _padded(leaf_values(player, other[tree.ends], board.leaf))
    steps, played = sums
    below = jnp.zeros_like(worth[:0])
    every = zip(tree.levels[::-1], entries[::-1], policy[::-1], reach[::-1], strict=True)
    for level, at, shares, here in every:
        after = _padded(below)[level.child]  # [N, A, H]
        own = (level.actor == player)[:, None]
        value = jnp.where(own, (shares * after).sum(1), after.sum(1))
        value = jnp.where((level.actor >= 0)[:, None], value, worth[level.end])
        at = jnp.where(level.legal[..., None] & own[..., None], at, len(steps))
        gain = (after - value[:, None]) * board.live[player]
        steps = steps.at[at].add(gain, mode="drop")
        played = played.at[at].add(here[player][:, None] * shares, mode="drop")
        below = value
    return steps, played


def _entries(level: Level, bucket: Array) -> Array:
    """Returns int32 [N, A, H], places in the tables; of padding, anything."""
    known = bucket[jnp.maximum(level.actor, 0), level.stage]  # [N, H]
    first = level.row[:, None] + known * level.count[:, None]
    return first[:, None] + jnp.arange(level.legal.shape[1])[:, None]


def _policy(level: Level, at: Array, regret: Array) -> Array:
    """Returns float [N, A, H] by regret matching; 0 in padding."""
    legal = level.legal[..., None]
    positive = jnp.where(legal, jnp.maximum(regret.at[at].get(mode="clip"), 0), 0)
    total = positive.sum(1, keepdims=True)
    even = legal / jnp.maximum(level.count, 1)[:, None, None]
    return jnp.where(total > 0, positive / jnp.where(total > 0, total, 1), even)


def _padded(rows: Array) -> Array:
    """Returns rows with one of zeros at the end."""
    return jnp.concatenate([rows, jnp.zeros_like(rows, shape=(1, rows.shape[1]))])

"""Vectors of hands on sampled boards: public chance sampling on tables [sequence, bucket], in JAX.

Johanson, Bard, Lanctot, Gibson & Bowling 2012, "Efficient Nash equilibrium approximation through
Monte Carlo counterfactual regret minimization" (public chance sampling). A board is what chance
shows to everybody. On each sampled board the reach of all hands of one player goes down the public
actions at once, and values of all hands of the other come back up; hands of one bucket share a
policy and add up their regrets. Boards are the only thing that is sampled.

A pass updates both players, each on a batch of boards, and averages the policy of the one whose
reach goes down. Everything is one program: boards are drawn on the device, and passes are a loop.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from jaxsolve import devices
from jaxsolve.mccfr._game import TabledGame
from jaxsolve.mccfr._options import Options
from jaxsolve.mccfr._tables import Tables, as_float
from jaxsolve.mccfr._tree import ActionTree
from jaxsolve.types import Array, pytree


class Board(NamedTuple):
    """A sampled board, or a batch of them with a leading axis (two players, G stages, H hands).

    Attributes:
        bucket: int32 [2, G, H], what each hand of each player knows at each stage.
        weight: float [2, H], how much each hand counts; 0 where the board does not allow it.
        leaf: what `VectorGame.leaf_values` reads.
    """

    bucket: Array
    weight: Array
    leaf: Any


class VectorGame(TabledGame, Protocol):
    """A two-player game whose boards can be sampled apart from the hands."""

    @property
    def data(self) -> Any:
        """A tree of arrays, an argument of the compiled program."""
        ...

    @staticmethod
    def sample(data: Any, key: Array) -> Board:
        """Returns a random board; traceable."""
        ...

    @staticmethod
    def leaf_values(data: Any, player: int, reach: Array, leaf: Any) -> Array:
        """Returns [T, H], what each hand of a player wins at each end on one board; traceable.

        Args:
            data: of the game.
            player: 0 or 1, static.
            reach: [T, H], of the hands of the other player at each end, `Board.weight` included.
            leaf: of the board.
        """
        ...


LeafValues = Callable[[Any, int, Array, Any], Array]
Sample = Callable[[Any, Array], Board]


@pytree
@dataclasses.dataclass(frozen=True)
class Level:
    """Decisions of one player at one depth of a stage (N nodes of P, A actions at most).

    Attributes:
        node: int32 [N].
        child: int32 [N, A]; P in padding.
        legal: bool [N, A].
        entry: int32 [N, A], where the entries of the actions of bucket 0 are.
        count: int32 [N], actions; the distance of the entries of two buckets.
        actor: 0 or 1, static.
        stage: static.
        buckets: of the stage, static.
    """

    node: Array
    child: Array
    legal: Array
    entry: Array
    count: Array
    actor: int = dataclasses.field(metadata={"static": True})
    stage: int = dataclasses.field(metadata={"static": True})
    buckets: int = dataclasses.field(metadata={"static": True})

    @property
    def entries(self) -> Array:
        """int32 [N, A, buckets], places in the tables; of padding, anything."""
        return self.entry[..., None] + self.count[:, None, None] * jnp.arange(self.buckets)

    def policy(self, regret: Array) -> Array:
        """Returns float [N, A, buckets] by regret matching; 0 in padding."""
        legal = self.legal[..., None]
        kept = regret.at[self.entries].get(mode="clip")
        positive = jnp.where(legal, jnp.maximum(kept, 0), 0)
        total = positive.sum(1, keepdims=True)
        even = legal / self.count[:, None, None]
        return jnp.where(total > 0, positive / jnp.where(total > 0, total, 1), even)

    def add(self, table: Array, steps: Array) -> Array:
        """Returns a table [E] with steps [N, A, buckets] added; padding is left out."""
        at = jnp.where(self.legal[..., None], self.entries, len(table))
        return table.at[at].add(steps, mode="drop", unique_indices=False)


@pytree
@dataclasses.dataclass(frozen=True)
class VectorTree:
    """The public actions by stage and by depth in it.

    Attributes:
        levels: parents before children.
        ends: int32 [T], the nodes at which the game is over.
        num_nodes: P, static.
    """

    levels: tuple[Level, ...]
    ends: Array
    num_nodes: int = dataclasses.field(metadata={"static": True})


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
        above = tree.parent[p]
        depth[p] = depth[above] + 1 if tree.stage[above] == tree.stage[p] else 0
    decisions = np.flatnonzero(tree.count)
    kinds = np.stack([tree.stage, depth, tree.actor], 1)[decisions]
    levels = []
    for kind in np.unique(kinds, axis=0):
        node = decisions[(kinds == kind).all(1)]
        number = np.arange(int(tree.count[node].max()))
        legal = number < tree.count[node][:, None]
        child = np.where(legal, tree.child[node][:, None] + number, tree.num_nodes)
        first = rows[node][:, None] + number
        arrays = (np.asarray(x, np.int32) for x in (node, child, first, tree.count[node]))
        places, below, entry, count = (jnp.asarray(x) for x in arrays)
        stage, _, actor = (int(x) for x in kind)
        more = {"actor": actor, "stage": stage, "buckets": int(num_buckets[stage])}
        levels.append(Level(places, below, jnp.asarray(legal), entry, count, **more))
    return VectorTree(tuple(levels), jnp.asarray(tree.ends), tree.num_nodes)


class VectorSampler:
    """Passes over the tables of one game; each updates both players on a batch of boards."""

    first_call = 4
    """Passes of the first call of `train`."""

    def __init__(self, game: VectorGame, options: Options, *, boards: int = 1) -> None:
        """Packs the game.

        Args:
            game: of two players.
            options: weights and the seed; `unit` is in passes, and nothing is pruned.
            boards: the size of a batch, shared by the devices of `devices.use`; all hold the
                tables.

        Raises:
            ValueError: more players, options that vectors have no use for, or boards that the
                devices cannot share.
        """
        if game.tree.num_players != 2:
            raise ValueError("vectors of hands are for two players; use ExternalSampler")
        if options.prune != np.inf or options.average_stages is not None:
            raise ValueError("vectors of hands neither prune nor take snapshots; leave both out")
        devices.check_divides("boards", boards)
        self.game, self.options, self.boards = game, options, boards
        self._tree = vector_tree(game.tree, game.num_buckets)
        self._weights = jnp.asarray([options.unit, options.power, options.until], jnp.float32)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What two runs must share to be one; see `train`."""
        return {
            "sampler": "vector",
            "boards": self.boards,
            **dataclasses.asdict(self.options),
        }

    def prepare(self, tables: Tables) -> None:
        """Compiles."""
        self.run(tables, 0)

    def run(self, tables: Tables, count: int) -> tuple[Tables, int]:
        """Returns (tables after `count` more passes, nodes seen).

        Raises:
            ValueError: entries of 16 bits, or boards that the devices cannot share.
        """
        devices.check_divides("boards", self.boards)
        if tables.bits != 32:
            raise ValueError("vectors of hands need tables of 32 bits")
        with devices.meshed():
            regret, average = vector_passes(
                self._tree,
                self.game.data,
                jnp.asarray(as_float(tables.regret)),
                jnp.asarray(as_float(tables.average)),
                jnp.uint32(self.options.seed % (1 << 32)),
                jnp.int32(tables.passes),
                jnp.int32(count),
                self._weights,
                sample=self.game.sample,
                leaf_values=self.game.leaf_values,
                boards=self.boards,
            )
        after = Tables(tables.row, np.array(regret), np.array(average), tables.passes + count)
        return after, 2 * count * self.boards * self.game.tree.num_nodes

    def add_snapshot(self, tables: Tables, weight: float) -> None:
        """Adds nothing: passes average all stages."""


@functools.partial(jax.jit, static_argnames=("sample", "leaf_values", "boards"))
def vector_passes(
    tree: VectorTree,
    data: Any,
    regret: Array,
    average: Array,
    seed: Array,
    first: Array,
    count: Array,
    weights: Array,
    *,
    sample: Sample,
    leaf_values: LeafValues,
    boards: int,
) -> tuple[Array, Array]:
    """Returns the tables float [E] after passes number `first` to `first + count - 1`.

    Args:
        tree: the public actions.
        data: of the game.
        regret, average: float [E].
        seed: uint32 [], of the boards; those of a pass depend on it and on the pass's number.
        first, count: int [].
        weights: float [3], `Options.unit`, `power` and `until`.
        sample, leaf_values: see `VectorGame`; static.
        boards: of a batch, static; the devices of the mesh share them.
    """
    shares = devices.num_shares()

    def on_batch(regret: Array, average: Array, keys: Array, weight: Array) -> tuple[Array, Array]:
        drawn = jax.vmap(lambda key: sample(data, key))(keys)
        for player in range(2):
            steps = vector_steps(tree, data, leaf_values, player, regret, drawn)
            gained, played = steps if shares == 1 else lax.psum(steps, devices.AXIS)
            regret, average = regret + weight * gained, average + weight * played
        return regret, average

    update = on_batch
    if shares > 1:
        whole, cut = PartitionSpec(), PartitionSpec(devices.AXIS)
        update = jax.shard_map(
            on_batch, in_specs=(whole, whole, cut, whole), out_specs=whole, check_vma=False
        )

    def one(k: Array, tables: tuple[Array, Array]) -> tuple[Array, Array]:
        unit, power, until = weights
        weight = (1 + jnp.minimum(first + k, until) / unit) ** power / boards
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), first + k), boards)
        return update(*tables, keys, weight)

    return lax.fori_loop(0, count, one, (regret, average))


def vector_steps(
    tree: VectorTree,
    data: Any,
    leaf_values: LeafValues,
    player: int,
    regret: Array,
    boards: Board,
) -> tuple[Array, Array]:
    """Returns (regrets of a player, policy of the other times its reach), summed over a batch.

    Args:
        tree: the public actions.
        data: of the game.
        leaf_values: see `VectorGame`.
        player: who is updated; static.
        regret: float [E].
        boards: the batch.

    Returns:
        float [E] each.
    """
    policy = [level.policy(regret) for level in tree.levels]

    def add(sums: list[Array], board: Board) -> tuple[list[Array], None]:
        steps = _on_board(tree, data, leaf_values, player, policy, board)
        return [a + b for a, b in zip(sums, steps, strict=True)], None

    sums, _ = lax.scan(add, [jnp.zeros_like(p) for p in policy], boards)
    gained, played = jnp.zeros_like(regret), jnp.zeros_like(regret)
    for level, steps in zip(tree.levels, sums, strict=True):
        if level.actor == player:
            gained = level.add(gained, steps)
        else:
            played = level.add(played, steps)
    return gained, played


def _on_board(
    tree: VectorTree,
    data: Any,
    leaf_values: LeafValues,
    player: int,
    policy: Sequence[Array],
    board: Board,
) -> list[Array]:
    """Returns what one board adds to each level, float [N, A, buckets]."""
    size, other = tree.num_nodes + 1, 1 - player
    start = board.weight[other]
    reach = jnp.zeros((size, len(start)), start.dtype).at[0].set(start)
    steps: list[Array] = []
    for level, shares in zip(tree.levels, policy, strict=True):
        here = reach[level.node]  # [N, H]
        below = jnp.broadcast_to(here[:, None], (*level.child.shape, here.shape[1]))
        if level.actor == other:
            below = below * shares[..., board.bucket[other, level.stage]]
            sums = _exact(here, _members(board, other, level))
            steps.append(shares * sums[:, None])
        else:
            steps.append(shares)
        reach = reach.at[level.child].set(below)
    value = jnp.zeros_like(reach)
    value = value.at[tree.ends].set(leaf_values(data, player, reach[tree.ends], board.leaf))
    for k in range(len(tree.levels))[::-1]:
        level, shares = tree.levels[k], policy[k]
        after = jnp.where(level.legal[..., None], value[level.child], 0)  # [N, A, H]
        if level.actor == player:
            counts = _members(board, player, level) * board.weight[player][:, None]
            won = _exact(after, counts)
            steps[k] = won - (shares * won).sum(1, keepdims=True)
            after = after * shares[..., board.bucket[player, level.stage]]
        value = value.at[level.node].set(after.sum(1))
    return steps


def _exact(rows: Array, columns: Array) -> Array:
    """Returns a product without the short floats of accelerators."""
    return jnp.matmul(rows, columns, precision=lax.Precision.HIGHEST)


def _members(board: Board, player: int, level: Level) -> Array:
    """Returns float [H, buckets], 1 where a hand is in a bucket."""
    return jax.nn.one_hot(board.bucket[player, level.stage], level.buckets)

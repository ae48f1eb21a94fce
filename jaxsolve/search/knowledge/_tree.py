"""A tree of positions: world states in insertion order, each with an infoset for either player.

Where public states say nothing there is nothing to hang beliefs on, so the nodes are world states.
They lie in arrays of a fixed length N, parents before children; a node that no child follows yet is
a leaf, with a value. Infosets are not stored: nodes belong together whose fingerprints of what a
player saw and did are equal, and whose player is to act.

Kuhn, after its root and the first deal have been opened (N = 8, six nodes; 3 cards to deal):

    node      0       1   2   3   4        5        6        7
    parent   -1       0   0   0   1        1        -1       -1
    action   -1       J   Q   K   Q        K        (padding)
    actor    chance   c   c   c   player 0, twice: one infoset, the jack

Source: the trees of Zhang & Sandholm 2021, section 7, and 2025 (arXiv 2506.01242).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.game import Game, State
from jaxsolve.public import ListedBits, words_of
from jaxsolve.search.ismcts import World, first_world, next_world
from jaxsolve.types import CHANCE, TERMINAL, Array

ValueFunction = Callable[[State], Array]
"""Maps one state to player 0's value, float [], in the game's units."""


class PositionTree(NamedTuple):
    """A tree of positions (N places, `num_nodes` of them used).

    Attributes:
        worlds: leaves [N, ...], states with fingerprints of both players' infostates.
        parent: int32 [N], -1 at roots and in unused places.
        action: int32 [N], that led here; -1 at roots and in unused places.
        actor: int32 [N], player, CHANCE or TERMINAL; TERMINAL in unused places.
        depth: int32 [N], edges above; 0 in unused places.
        odds: float [N], the chance probability of the edge above, 1 for a player's.
        value: float [N], player 0's payoff at terminals, or value of a leaf; 0 where not used.
        opened: bool [N], whether all children are in the tree.
        num_nodes: int32 [].
        full: bool [], whether a node was not opened for want of room.
    """

    worlds: World
    parent: Array
    action: Array
    actor: Array
    depth: Array
    odds: Array
    value: Array
    opened: Array
    num_nodes: Array
    full: Array


def start_tree(game: Game, capacity: int, value_fn: ValueFunction | None = None) -> PositionTree:
    """Returns the tree that holds the initial state alone.

    Args:
        game: the rules, of two players.
        capacity: N.
        value_fn: what leaves are worth; 0 by default.

    Raises:
        ValueError: the game is not of two players, or there is no room for a node.
    """
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; trees of positions take two")
    if capacity < 1:
        raise ValueError(f"capacity={capacity}: a tree needs room for at least 1 position")
    root = first_world(game)
    actor = jnp.asarray(game.actor(root.state), jnp.int32)
    value = _worth(game, value_fn, root.state, actor)

    def first(x: Array, rest: int | float | bool) -> Array:
        return jnp.full(capacity, rest, x.dtype).at[0].set(x)

    return PositionTree(
        worlds=jax.tree.map(lambda x: jnp.broadcast_to(x, (capacity, *jnp.shape(x))), root),
        parent=jnp.full(capacity, -1, jnp.int32),
        action=jnp.full(capacity, -1, jnp.int32),
        actor=first(actor, TERMINAL),
        depth=jnp.zeros(capacity, jnp.int32),
        odds=jnp.ones(capacity, value.dtype),
        value=first(value, 0),
        opened=jnp.zeros(capacity, bool),
        num_nodes=jnp.int32(1),
        full=jnp.asarray(False),
    )


def grown(
    game: Game,
    tree: PositionTree,
    nodes: Array,
    room: int,
    value_fn: ValueFunction | None = None,
) -> PositionTree:
    """Returns the tree with all children of some nodes.

    A node whose children do not fit all stays a leaf, and those after it do, too; `full` then says
    so where the tree has no room, and a later call opens them where only the call had none.

    Args:
        game: the rules.
        tree: to be grown.
        nodes: int32 [B], different nodes; those out of bounds, over or open already are skipped.
        room: children of one call, at least as many as a node has.
        value_fn: what leaves are worth; 0 by default.
    """
    size = len(tree.parent)
    at = jnp.clip(nodes, 0, size - 1)
    states = jax.tree.map(lambda x: x[at], tree.worlds.state)
    live = (nodes >= 0) & (nodes < tree.num_nodes) & ~tree.opened[at] & (tree.actor[at] != TERMINAL)
    chance = tree.actor[at] == CHANCE
    odds = jax.vmap(game.chance)(states)
    legal = jnp.where(chance[:, None], odds > 0, jax.vmap(game.legal)(states)) & live[:, None]
    ends = jnp.cumsum(legal.sum(1))
    fits = ends <= jnp.minimum(room, size - tree.num_nodes)
    full = tree.full | (live & (ends > size - tree.num_nodes)).any()
    legal &= fits[:, None]
    listed, place = ListedBits.of(words_of(legal)), jnp.arange(room, dtype=jnp.int32)
    used = place < listed.total
    which, action = (jnp.where(used, x, 0) for x in listed.find(place))
    above = jax.tree.map(lambda x: x[at[which]], tree.worlds)
    made = jax.vmap(functools.partial(next_world, game))(above, action)
    actor = jax.vmap(game.actor)(made.state).astype(jnp.int32)
    value = jax.vmap(functools.partial(_worth, game, value_fn))(made.state, actor)
    place = jnp.where(used, tree.num_nodes + jnp.arange(room), size)
    edge = jnp.where(chance[which], odds[which, action], 1.0)

    def put(x: Array, new: Array) -> Array:
        return x.at[place].set(new.astype(x.dtype), mode="drop")

    opens = jnp.where(live & fits, at, size)
    return PositionTree(
        worlds=jax.tree.map(put, tree.worlds, made),
        parent=put(tree.parent, at[which]),
        action=put(tree.action, action),
        actor=put(tree.actor, actor),
        depth=put(tree.depth, tree.depth[at[which]] + 1),
        odds=put(tree.odds, edge),
        value=put(tree.value, value).at[opens].set(0, mode="drop"),
        opened=tree.opened.at[opens].set(True, mode="drop"),
        num_nodes=tree.num_nodes + used.sum(dtype=jnp.int32),
        full=full,
    )


grow = jax.jit(grown, static_argnums=(0, 3, 4))
grow_in_place = jax.jit(grown, static_argnums=(0, 3, 4), donate_argnums=1)
"""`grow` that uses the memory of the tree it is given."""


def grow_breadth_first(
    game: Game,
    tree: PositionTree,
    *,
    batch: int = 64,
    room: int | None = None,
    value_fn: ValueFunction | None = None,
) -> PositionTree:
    """Returns the tree opened in insertion order, to its end or until it is full.

    Args:
        game: the rules.
        tree: to be grown.
        batch: nodes opened together.
        room: children made together; by default enough for every action of 4 nodes.
        value_fn: what leaves are worth; 0 by default.

    Raises:
        ValueError: `room` is less than a node may have children.
    """
    room = 4 * game.num_actions if room is None else room
    if room < game.num_actions:
        raise ValueError(
            f"room={room}: a node of {game.name} may have {game.num_actions} children; use as many"
        )
    return _grow_all(game, tree, batch, room, value_fn)


@functools.partial(jax.jit, static_argnums=(0, 2, 3, 4))
def _grow_all(
    game: Game, tree: PositionTree, batch: int, room: int, value_fn: ValueFunction | None
) -> PositionTree:
    def waiting(tree: PositionTree) -> Array:
        return ~tree.opened & (tree.actor != TERMINAL)

    def step(tree: PositionTree) -> PositionTree:
        (nodes,) = jnp.nonzero(waiting(tree), size=batch, fill_value=len(tree.parent))
        return grow(game, tree, nodes, room, value_fn)

    return jax.lax.while_loop(lambda t: waiting(t).any() & ~t.full, step, tree)


def _worth(game: Game, value_fn: ValueFunction | None, state: State, actor: Array) -> Array:
    """Returns float [], player 0's payoff where the game is over, elsewhere the value of a leaf."""
    over = jnp.asarray(game.utility(state), float)[0]
    leaf = jnp.zeros_like(over) if value_fn is None else value_fn(state)
    return jnp.where(actor == TERMINAL, over, leaf)

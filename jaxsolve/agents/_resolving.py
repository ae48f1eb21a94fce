"""Agents that search: continual re-solving as a state machine.

The state of a match is that of the last search: the public node it started from, the ranges and
values at its nodes. To act, the agent walks from there towards the current public state as far as
the last search went, re-solves from that node under the gadget, and plays what the new search says
where it is (Schmid et al. 2023, "Modified continual re-solving"). `search.compose` does the same at
all public states at once; the agent's policy is that table, and a test says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._fixed import decide
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.public import Limit, PublicGame, hands_of
from jaxsolve.search.fixed import Gadget, Search, at_nodes, solve_belief, subgames
from jaxsolve.tree import TreeInfo
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, check_value


class Memory(NamedTuple):
    """What the agent keeps of its last search (M nodes, H hands).

    Attributes:
        seat: int32 [], its own.
        searched: bool [], whether it has searched in this match.
        root: int32 [], public node at which the last search started.
        ranges: float [2, M, H], own reaches at the nodes of that search.
        values: float [2, M, H], counterfactual values there.
        seed: uint32 [], draws the policies that searches start from.
    """

    seat: Array
    searched: Array
    root: Array
    ranges: Array
    values: Array
    seed: Array


class _Map(NamedTuple):
    """Public nodes as arrays (P nodes, D longest path, I infosets).

    Attributes:
        subgame_class: int32 [P].
        depth: int32 [P].
        path: int32 [P, D], the place among its siblings of each node on the way; -1 after the last.
        node: int32 [2, I], public node of each player's infosets.
        hand: int32 [2, I].
    """

    subgame_class: Array
    depth: Array
    path: Array
    node: Array
    hand: Array


def resolving(
    search: Search,
    limit: Limit,
    value: ValueFunction | None,
    info: TreeInfo,
    *,
    random_start: bool = False,
    name: str = "resolving",
) -> Agent:
    """Returns the agent of a search.

    Args:
        search: how (`search.continual`), safe and re-solving at every decision.
        limit: the one that the search was made with.
        value: worth of leaves at the depth limit.
        info: of the tree on which matches are played.
        random_start: searches start from random policies, others in every match.
        name: for tables of results.

    Raises:
        ValueError: the search is not one that an agent can follow, or the network is of another
            game.
    """
    check_value(value, search.game)
    if not search.safe or not search.every:
        raise ValueError("an agent re-solves safely at every decision: safe=True, every=True")
    game = search.game
    games = subgames(game, limit)
    where = _map(game, info)
    size = games.content.nodes.actor.shape[-1]
    width = game.game.num_actions
    action = np.full((len(game.parent), max(map(len, game.children))), -1)
    for k, below in enumerate(game.children):
        action[k, : len(below)] = game.action[below]
    actions = jnp.asarray(action)

    def init(seat: Array, key: PRNGKey) -> Memory:
        blank = jnp.zeros((2, size, game.num_hands))
        return Memory(
            seat, jnp.zeros((), bool), jnp.int32(game.root), blank, blank, jax.random.bits(key)
        )

    def act(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        if seen.infoset is None:
            raise ValueError(
                f"the agent {name!r} needs the number of its infoset: play it in "
                "evaluate.arena(js.compile(game))"
            )
        node = where.node[seen.player, seen.infoset]
        hand = where.hand[seen.player, seen.infoset]
        last = games.at(where.subgame_class[memory.root])
        there, depth = _descend(where, last.nodes.child, memory.root, node)
        here = memory.searched
        root = jnp.where(here, _at_depth(where, game, node, depth), game.root)
        ranges = jnp.where(here, memory.ranges[:, there], 1.0)
        theirs = 1 - memory.seat
        on = here & (jnp.arange(2) == theirs)
        promised = jnp.where(on[:, None], memory.values[:, there], 0)
        gadget = Gadget(on, promised, jnp.asarray(search.alpha, ranges.dtype))
        found = solve_belief(
            games,
            value,
            search.solver,
            where.subgame_class[root],
            ranges,
            gadget,
            iterations=search.iterations,
            key=jax.random.fold_in(jax.random.key(memory.seed), root) if random_start else None,
            mean_values=search.mean_values,
        )
        policies, reached, values = at_nodes(found)
        local, _ = _descend(where, found.nodes.child, root, node)
        mine = policies[local, :, hand]
        slots = actions[node][: mine.shape[0]]
        spread = jnp.zeros(width, mine.dtype)
        spread = spread.at[jnp.where(slots >= 0, slots, width)].set(mine, mode="drop")
        after = Memory(memory.seat, jnp.ones((), bool), root, reached, values, memory.seed)
        return decide(spread, key), after

    return Agent(init, act, name, info.name)


def _map(game: PublicGame, info: TreeInfo) -> _Map:
    size = len(game.parent)
    depth, slot = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for k, below in enumerate(game.children):
        depth[below] = depth[k] + 1
        slot[below] = np.arange(len(below))
    path = np.full((size, int(depth.max()) + 1), -1)
    for k in range(1, size):
        up = game.parent[k]
        path[k] = path[up]
        path[k, depth[up]] = slot[k]
    places = [hands_of(game, info, i) for i in range(2)]
    most = max(len(node) for node, _ in places)
    node, hand = np.zeros((2, most), int), np.zeros((2, most), int)
    for i, (n, h) in enumerate(places):
        node[i, : len(n)], hand[i, : len(h)] = n, h
    arrays = (game.subgame_class, depth, path, node, hand)
    return _Map(*(jnp.asarray(x, jnp.int32) for x in arrays))


def _descend(where: _Map, child: Array, root: Array, node: Array) -> tuple[Array, Array]:
    """Returns (the local node that lies furthest on the way from a root to a node, its depth)."""

    def step(carry: tuple[Array, Array], depth: Array) -> tuple[tuple[Array, Array], None]:
        local, reached = carry
        slot = where.path[node, depth]
        below = child[local, slot.clip(0)]
        go = (depth == reached) & (slot >= 0) & (below >= 0)
        return (jnp.where(go, below, local), reached + go), None

    start = (jnp.int32(0), where.depth[root])
    return jax.lax.scan(step, start, jnp.arange(where.path.shape[1]))[0]


def _at_depth(where: _Map, game: PublicGame, node: Array, depth: Array) -> Array:
    """Returns the public node of that depth on the way to a node."""
    parent = jnp.asarray(game.parent, jnp.int32)

    def up(_: Any, k: Array) -> Array:
        return jnp.where(where.depth[k] > depth, parent[k], k)

    return jax.lax.fori_loop(0, where.path.shape[1], up, node)

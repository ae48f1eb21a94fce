"""Agents that search: continual re-solving in a match, over any search engine.

The agent steps the state machine of `search.resolving`: it advances to the public state of its
decision, searches, and plays what the search says for its private state. `search.resolve_game` does
the same at all public states at once; the agent's policy is that table, and tests say so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._fixed import decide
from jaxsolve.agents._track import follow as follow_infostate
from jaxsolve.agents._track import tracker
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.public import PublicTable
from jaxsolve.search.resolving import Resolver, ResolvingState, follow, init, search
from jaxsolve.tree import PublicTree
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, check_value


class Memory(NamedTuple):
    """What the agent keeps between its decisions.

    Attributes:
        seat: int32 [], its own.
        seed: uint32 [], of the searches of this match.
        decisions: int32 [], own ones so far.
        infostate: int32 [], of the last one; see `_track`.
        public: int32 [], its public state.
        state: of the machine.
        tree: of the last search.
    """

    seat: Array
    seed: Array
    decisions: Array
    infostate: Array
    public: Array
    state: ResolvingState
    tree: Any


class _Map(NamedTuple):
    """Public states as arrays (P of them, W the longest path, I infosets).

    Attributes:
        depth: int32 [P].
        path: int32 [P, W], children from the first public state to each, then -1.
        public: int32 [2, I], public state of each player's infosets.
        private: int32 [2, I], private state there.
    """

    depth: Array
    path: Array
    public: Array
    private: Array


def resolving(
    resolver: Resolver[Any],
    value: ValueFunction | None,
    tree: PublicTree,
    *,
    prior: Any = None,
    random_start: bool = False,
    name: str = "resolving",
) -> Agent:
    """Returns the agent of a search.

    Args:
        resolver: how (`search.growing_resolver`, or `search.fixed_resolver` with grouped=False),
            with a gadget.
        value: worth of leaves; None where searches go to the end of the game.
        tree: the game, compiled; it says which infosets observations lead to.
        prior: of actions, a `PriorFunction`; uniform by default.
        random_start: searches that need no key start from random policies, others in every match.
        name: for tables of results.

    Raises:
        ValueError: the search is not one that an agent can follow, or the value function or the
            tree is of another game.
    """
    table, engine, info = resolver.table, resolver.engine, tree.info
    if table is None:
        raise ValueError(f"{resolver.game}: give the resolver table=public.public_table(game)")
    check_value(value, table)
    if resolver.alpha is None:
        raise ValueError("an agent re-solves under a gadget: give the resolver alpha=0.5")
    where, infostates = _map(table, tree), tracker(info)
    keyed = engine.random or random_start

    def begin(seat: Array, key: PRNGKey) -> Memory:
        zero, root = jnp.zeros((), jnp.int32), resolver.root
        seat = jnp.asarray(seat, jnp.int32)
        seed = jax.random.bits(key)
        return Memory(seat, seed, zero, seat, zero, init(engine, root), engine.blank(root))

    def act(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        infoset, infostate = seen.infoset, memory.infostate
        if infoset is None:
            infostate = follow_infostate(infostates, infostate, seen)
            infoset = jnp.asarray(infostates.infoset)[infostate]
        public, hand = where.public[seen.player, infoset], where.private[seen.player, infoset]
        on = where.depth[memory.public] + jnp.arange(where.path.shape[1])
        path = where.path[public].at[on].get(mode="fill", fill_value=-1)
        state = follow(engine, memory.state, memory.tree, path)
        level = None
        if keyed:
            level = jax.random.fold_in(jax.random.key(memory.seed), memory.decisions)
        state, found = search(engine, state, memory.seat, value, prior, level, alpha=resolver.alpha)
        mine = engine.policy(found, state.at)[:, hand]
        place = jnp.cumsum(seen.legal) - 1
        policy = jnp.where(seen.legal, mine[jnp.clip(place, 0, len(mine) - 1)], 0)
        after = memory._replace(
            decisions=memory.decisions + 1,
            infostate=infostate,
            public=public,
            state=state,
            tree=engine.tree(found),
        )
        return decide(policy, key), after

    return Agent(begin, act, name, info.name)


def _map(table: PublicTable, tree: PublicTree) -> _Map:
    size = len(table.parent)
    depth = np.zeros(size, int)
    path = np.full((size, table.depth), -1)
    for here in range(1, size):
        up = table.parent[here]
        depth[here] = depth[up] + 1
        path[here] = path[up]
        path[here, depth[up]] = table.step[here]
    places = [table.places_of(tree.info, i) for i in range(2)]
    most = max(len(public) for public, _ in places)
    public, private = np.zeros((2, most), int), np.zeros((2, most), int)
    for i, (p, h) in enumerate(places):
        public[i, : len(p)], private[i, : len(h)] = p, h
    return _Map(*(jnp.asarray(x, jnp.int32) for x in (depth, path, public, private)))

"""IS-MCTS at every infostate of a game, each search on its own: a policy that can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.compiler import same
from jaxsolve.game import Game, OpenSpielGame
from jaxsolve.search.ismcts._ismcts import (
    Belief,
    IsmctsRoot,
    IsmctsTable,
    World,
    empty_table,
    first_world,
    ismcts,
    next_world,
)
from jaxsolve.tree import Policy, PublicTree, StateTable, listed, policy_from_probabilities
from jaxsolve.types import Array, PRNGKey

_CHUNK = 256
"""World states are followed so many at a time, so that a game is compiled once."""


class InfostateBeliefs(NamedTuple):
    """Every infostate at which somebody acts, player 0's first, in canonical order.

    Attributes:
        belief: leading axes [I, W]: world states with the probability of their chance moves, as
            if what players did said nothing about what they hold.
        steps: int64 [I], the most moves, chance included, until the game is over.
    """

    belief: Belief
    steps: np.ndarray


def infostate_beliefs(tree: PublicTree) -> InfostateBeliefs:
    """Returns what somebody believes who knows the rules and nothing of how others play.

    Raises:
        ValueError: the tree has no table of world states, or came from OpenSpiel without rules.
    """
    table = listed(tree).states
    if isinstance(table.game, OpenSpielGame):
        raise ValueError(f"{table.game.name} has no rules that a search could play by")
    number = _infosets(tree)
    here = np.flatnonzero(number >= 0)
    here = here[np.argsort(number[here], kind="stable")]
    row, count = number[here], np.bincount(number[here])
    start = count.cumsum() - count
    lane = np.arange(len(here)) - np.repeat(start, count)
    index = np.repeat(here[start][:, None], count.max(), 1)  # padding repeats the first
    index[row, lane] = here
    probability = np.zeros(index.shape)
    probability[row, lane] = table.chance[here]
    probability /= probability.sum(1, keepdims=True)
    worlds = jax.tree.map(lambda x: jnp.asarray(x[index]), _worlds(table))
    steps = np.maximum.reduceat(_heights(table)[here], start)
    return InfostateBeliefs(Belief(worlds, jnp.asarray(probability, float)), steps)


def ismcts_everywhere(
    tree: PublicTree,
    key: PRNGKey,
    *,
    simulations: Sequence[int],
    uct_c: float,
    beliefs: InfostateBeliefs | None = None,
) -> list[IsmctsRoot]:
    """Returns searches at all infostates of a compiled game, independent of each other.

    Args:
        tree: two players, compiled from rules.
        key: of everything random.
        simulations: of each search, ascending. Longer ones go on from shorter ones.
        uct_c: exploration constant, in the game's units.
        beliefs: of this tree, where they have been computed before.

    Returns:
        For each number of simulations, visits and values [I, A], player 0's infostates first, in
        canonical order.

    Raises:
        ValueError: numbers of simulations that do not ascend, and what `ismcts` refuses.
    """
    budgets = [int(s) for s in simulations]
    if not budgets or budgets[0] < 1 or budgets != sorted(set(budgets)):
        raise ValueError(f"simulations={budgets}; give numbers from 1 on, in ascending order")
    known = infostate_beliefs(tree) if beliefs is None else beliefs
    table = listed(tree).states
    keys = jax.random.split(key, len(known.steps))
    most = 2 * min(budgets[-1], len(known.steps))
    capacity = 1 << (most - 1).bit_length()
    found: list[list[IsmctsRoot]] = [[] for _ in budgets]
    groups, search = _groups(known.steps), _search(table.game)
    for group in groups:
        belief = jax.tree.map(lambda x, g=group: x[g], known.belief)
        steps = int(known.steps[group].max())
        empty = empty_table(table.game, capacity)
        after = jax.tree.map(lambda x, g=group: jnp.repeat(x[None], len(g), 0), empty)
        for k, more in enumerate(np.diff([0, *budgets])):
            root, after = search(belief, keys[group], int(more), uct_c, after, steps=steps)
            found[k].append(root)
    back = np.argsort(np.concatenate(groups))
    return [jax.tree.map(lambda *x: jnp.concatenate(x)[back], *parts) for parts in found]


def ismcts_policy(tree: PublicTree, root: IsmctsRoot, kind: str = "visits") -> Policy:
    """Returns the policy that plays at each infostate what the search there says.

    Args:
        tree: the game.
        root: of `ismcts_everywhere`.
        kind: as in `IsmctsRoot.policy`.

    Raises:
        ValueError: there is no such kind.
    """
    info = tree.info
    table = np.asarray(root.policy(kind), np.float64)
    parts, start = [], 0
    for player in info.players:
        row = np.repeat(np.arange(player.num_infosets), np.diff(player.offset))
        parts.append(table[start + row, player.action])
        start += player.num_infosets
    return policy_from_probabilities(tree, parts)


@same
def _search(game: Game) -> Any:
    """Returns (belief, key, simulations, uct_c, table, *, steps) -> (root, table), over a batch."""

    def batch(
        belief: Belief,
        key: PRNGKey,
        simulations: Array,
        uct_c: Array,
        table: IsmctsTable,
        *,
        steps: int,
    ) -> tuple[IsmctsRoot, IsmctsTable]:
        def one(belief: Belief, key: PRNGKey, table: IsmctsTable) -> tuple[IsmctsRoot, IsmctsTable]:
            return ismcts(
                game,
                belief,
                key,
                simulations=simulations,
                uct_c=uct_c,
                max_steps=steps,
                table=table,
            )

        return jax.vmap(one)(belief, key, table)

    return jax.jit(batch, donate_argnums=4, static_argnames="steps")


def _groups(steps: np.ndarray) -> list[np.ndarray]:
    """Splits infostates into at most two groups: a batch takes as long as its longest member.

    The split is the one with the least total of members times steps.
    """
    order = np.argsort(-steps, kind="stable")
    longest = steps[order]
    cost = np.arange(len(order)) * longest[0] + np.arange(len(order), 0, -1) * longest
    cut = int(np.argmin(cost))
    return [order[:cut], order[cut:]] if cut else [order]


def _infosets(tree: PublicTree) -> np.ndarray:
    """Returns int64 [X], the infostate in which somebody acts, -1 at chance and at the end."""
    info = listed(tree)
    table = info.states
    number = np.full(table.num_states, -1)
    start = 0
    for i, player in enumerate(info.players):
        place = np.full(int(table.infostate[:, i].max()) + 1, -1)
        place[player.infostate] = start + np.arange(player.num_infosets)
        acts = table.actor == i
        number[acts] = place[table.infostate[acts, i]]
        start += player.num_infosets
    return number


def _heights(table: StateTable) -> np.ndarray:
    """Returns int64 [X], the most moves from each state to the end."""
    height = np.zeros(table.num_states, np.int64)
    starts = table.depth_start
    for lo, hi in zip(starts[-2:0:-1], starts[:1:-1], strict=True):
        np.maximum.at(height, table.parent[lo:hi], height[lo:hi] + 1)
    return height


def _worlds(table: StateTable) -> World:
    """Returns every world state with its players' memories, leading axis [X], on the host."""
    before = jax.tree.map(lambda x: np.asarray(x)[None], first_world(table.game))
    parts, starts = [before], table.depth_start
    for depth in range(1, len(starts) - 1):
        lo, hi = starts[depth], starts[depth + 1]
        up = table.parent[lo:hi] - starts[depth - 1]
        before = _next_worlds(table.game, before, up, table.action[lo:hi].astype(np.int32))
        parts.append(before)
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)


def _next_worlds(game: Game, worlds: World, rows: np.ndarray, actions: np.ndarray) -> World:
    """Returns what follows actions in rows of some worlds, in padded chunks."""
    follow, parts, total = _follow(game), [], len(rows)
    for first in range(0, total, _CHUNK):
        take = np.minimum(np.arange(first, first + _CHUNK), total - 1)
        after = follow(jax.tree.map(lambda x, t=rows[take]: x[t], worlds), actions[take])
        parts.append(jax.tree.map(lambda x, k=total - first: np.asarray(x)[:k], after))
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)


@same
def _follow(game: Game) -> Any:
    return jax.jit(jax.vmap(lambda world, action: next_world(game, world, action)))

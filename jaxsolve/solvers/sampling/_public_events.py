"""Chance events that everybody sees, set apart from the private ones.

A *point* is a public state at one depth in which chance may move, with at least two public states
following: which of them comes is a public chance event (the board card), and everything else that
chance decides there stays enumerated (the hands). The *class* of a state is the list of public
chance events on its path; class 0 is the empty list. A point lies at one depth, so no path meets
it twice.

Fixing the event of every point picks some classes. An event is drawn with its probability under
chance alone, and a class counts with the inverse of the probability that it is picked, so payoffs
weighted by class are right in expectation (Johanson et al. 2012).
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from jaxsolve.tree import (
    GatherSum,
    PublicTree,
    StateTable,
    build,
    last_sequences,
    listed,
    merge_payoffs,
    once_per_tree,
    pick,
    take,
)
from jaxsolve.types import CHANCE, Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class PublicChance:
    """Public chance events of a game (K classes, P points of at most W events).

    Attributes:
        odds: float [P, W], probability of each event of a point.
        parent: int32 [K], the class before; 0 for class 0.
        point: int32 [K], where the class's last event happens.
        event: int32 [K], which event of the point it is; -1 for class 0, which always happens.
        size: int32 [K], number of world states of each class.
        lists: per player, own sequence <- (other players' sequences, class, payoff times chance).
        longest: most public chance events on one path.
    """

    odds: Array
    parent: Array
    point: Array
    event: Array
    size: Array
    lists: tuple[GatherSum, ...]
    longest: int = dataclasses.field(metadata={"static": True})

    def weights(self, uniform: Array) -> Array:
        """Returns float [K], 1 / probability of each class that is picked, 0 of the others.

        Args:
            uniform: float [P], numbers in [0, 1), one for each point.
        """
        if not self.longest:
            return jnp.ones(self.parent.shape, self.odds.dtype)
        chosen = pick(self.odds, uniform)  # [P]
        happens = take(chosen, self.point) == self.event
        odds = self.odds[self.point, jnp.maximum(self.event, 0)]
        weight = jnp.where(happens, 1 / odds, 0)
        own = jnp.where(self.event < 0, 1, weight)
        total = own
        for _ in range(self.longest - 1):
            total = own * take(total, self.parent)
        return total


@once_per_tree
def public_chance(tree: PublicTree) -> PublicChance:
    """Returns the public chance events of a compiled tree.

    Raises:
        ValueError: the tree has no table of states.
    """
    info = listed(tree)
    table = info.states
    classes = _classes(table)
    n = tree.num_players
    columns = []
    for i in range(n):
        place = info.players[i]
        position = np.concatenate([np.arange(place.roots), place.position])
        columns.append(position[last_sequences(table, i)])
    columns.append(classes.of_state[table.terminal])
    payoff = table.utility * table.chance[table.terminal][:, None]
    entries, payoff = merge_payoffs(np.stack(columns, 1), payoff)
    lists = []
    for i, player in enumerate(tree.players):
        some = payoff[:, i] != 0
        others = [entries[some, j] for j in range(n + 1) if j != i]
        size = player.num_sequences
        lists.append(build(entries[some, i], others, size, weight=payoff[some, i]))
    return PublicChance(
        odds=jnp.asarray(classes.odds, tree.players[0].root_reach.dtype),
        parent=jnp.asarray(classes.parent, jnp.int32),
        point=jnp.asarray(classes.point, jnp.int32),
        event=jnp.asarray(classes.event, jnp.int32),
        size=jnp.asarray(np.bincount(classes.of_state, minlength=len(classes.parent)), jnp.int32),
        lists=tuple(lists),
        longest=classes.longest,
    )


@dataclasses.dataclass
class _Classes:
    """The arrays of `PublicChance` on the host, and the class of each state [X]."""

    of_state: np.ndarray
    parent: np.ndarray
    point: np.ndarray
    event: np.ndarray
    odds: np.ndarray
    longest: int


def _classes(table: StateTable) -> _Classes:
    of_state = np.zeros(table.num_states, np.int64)
    length, parent, point, event = ([np.array([x])] for x in (0, 0, 0, -1))
    odds: list[np.ndarray] = []
    count = 1
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = table.parent[lo:hi]
        of_state[lo:hi] = of_state[up]
        child = np.flatnonzero(table.actor[up] == CHANCE)
        # Pairs of public states, before and after, lie sorted by the first.
        step = np.stack([table.public[up[child]], table.public[lo + child]], 1)
        pairs, pair = np.unique(step, axis=0, return_inverse=True)
        pair = pair.reshape(-1)
        likely = np.bincount(pair, table.chance[lo + child], len(pairs))
        _, start, events = np.unique(pairs[:, 0], return_index=True, return_counts=True)
        several = events > 1
        if not several.any():
            continue
        public = np.repeat(np.arange(len(start)), events)
        child, pair = child[several[public[pair]]], pair[several[public[pair]]]
        fresh, new = np.unique(
            np.stack([of_state[lo + child], pair], 1), axis=0, return_inverse=True
        )
        of_state[lo + child] = count + new.reshape(-1)
        at = public[fresh[:, 1]]
        parent.append(fresh[:, 0])
        point.append(len(odds) + (np.cumsum(several) - 1)[at])
        event.append(fresh[:, 1] - start[at])
        length.append(np.concatenate(length)[fresh[:, 0]] + 1)
        for first, size in zip(start[several], events[several], strict=True):
            weight = likely[first : first + size]
            odds.append(weight / weight.sum())
        count += len(fresh)
    padded = np.zeros((max(len(odds), 1), max((len(x) for x in odds), default=1)))
    for k, row in enumerate(odds):
        padded[k, : len(row)] = row
    return _Classes(
        of_state=of_state,
        parent=np.concatenate(parent),
        point=np.concatenate(point),
        event=np.concatenate(event),
        odds=padded,
        longest=int(np.concatenate(length).max()),
    )

"""Reach, values and neighbours of every world state, from which the viewer reads its positions."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from jaxsolve.evaluate import outcome_probabilities, state_values
from jaxsolve.tree import (
    Policy,
    PublicTree,
    infoset_values,
    listed,
    locked_sequences,
    state_entries,
)


@dataclasses.dataclass(frozen=True)
class Numbers:
    """What the positions of a game are read from (X world states, n players).

    Attributes:
        actor: int [X].
        states: per public state, its world states.
        below: int [X + 1], the world states that follow x are below[x]..below[x + 1] - 1.
        parents: int, the public state above each, sorted, with `order` the public states so.
        order: see `parents`.
        reach: float [X], probability of each world state.
        own: per player float [X], own reach.
        others: per player float [X], reach of chance and all others.
        values: per player float [X], expected payoff.
        row: per player int [X], the infoset in which the player acts, -1 elsewhere.
        probability: per player float [C], see `Policy.probabilities`.
        action_value: per player float [C].
        locked: per player bool [I].
    """

    actor: np.ndarray
    states: Sequence[np.ndarray]
    below: np.ndarray
    parents: np.ndarray
    order: np.ndarray
    reach: np.ndarray
    own: Sequence[np.ndarray]
    others: Sequence[np.ndarray]
    values: Sequence[np.ndarray]
    row: Sequence[np.ndarray]
    probability: Sequence[np.ndarray]
    action_value: Sequence[np.ndarray]
    locked: Sequence[np.ndarray]

    def children(self, public: int) -> np.ndarray:
        """Returns the public states that follow one."""
        lo, hi = np.searchsorted(self.parents, [public, public + 1])
        return np.sort(self.order[lo:hi])

    def after(self, states: np.ndarray) -> np.ndarray:
        """Returns the world states that follow any of some."""
        parts = [np.arange(self.below[x], self.below[x + 1]) for x in states]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    @classmethod
    def of(cls, tree: PublicTree, policy: Policy) -> Numbers:
        """Returns the numbers of a policy.

        Raises:
            ValueError: the tree's world states were not kept.
        """
        info = listed(policy)
        table = info.states
        n = tree.num_players
        by_public = np.argsort(table.public, kind="stable")
        cuts = np.searchsorted(table.public[by_public], np.arange(1, table.public.max() + 1))
        parents = table.public_states.parent
        order = np.argsort(parents, kind="stable")
        found = infoset_values(policy)
        probability = [policy.probabilities(i) for i in range(n)]
        own, rows, locked = [], [], []
        for i, entry in enumerate(state_entries(info, table)):
            odds = np.where(entry >= 0, probability[i][np.maximum(entry, 0)], 1.0)
            for lo, hi in list(itertools.pairwise(table.depth_start))[1:]:
                odds[lo:hi] *= odds[table.parent[lo:hi]]
            own.append(odds)
            p = info.players[i]
            infoset = np.full(int(table.infostate[:, i].max()) + 1, -1)
            infoset[p.infostate] = np.arange(p.num_infosets)
            rows.append(np.where(table.actor == i, infoset[table.infostate[:, i]], -1))
            flat = locked_sequences(tree.players[i]).reshape(-1)[p.position]
            some = np.add.reduceat(flat, p.offset[:-1]) if len(flat) else np.zeros(0)
            locked.append(some > 0)
        others = [table.chance * np.prod(np.delete(own, i, 0), axis=0) for i in range(n)]
        return cls(
            actor=table.actor,
            states=np.split(by_public, cuts),
            below=np.searchsorted(table.parent, np.arange(table.num_states + 1)),
            parents=parents[order],
            order=order,
            reach=outcome_probabilities(policy),
            own=own,
            others=others,
            values=[state_values(policy, i) for i in range(n)],
            row=rows,
            probability=probability,
            action_value=[f.action_value for f in found],
            locked=locked,
        )

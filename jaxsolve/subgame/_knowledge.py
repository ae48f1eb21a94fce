"""Who knows what of a state: knowledge sets, and which infosets re-solve without harm to others.

The infoset hypergraph joins states that some player cannot tell apart. I^k, the order-k knowledge
set of an infoset I, holds the states at most k - 1 steps away: P knows that the state is in I, P
knows that O knows that it is in I^2, and so on. For odd k it is a union of infostates of P.

Source: Zhang & Sandholm 2021, definitions 1 and 2, section 4.2 and table 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from jaxsolve.subgame._index import GameIndex, Lists, index_of
from jaxsolve.tree import PublicTree
from jaxsolve.types import TERMINAL, Array


def knowledge_set(index: GameIndex, player: int, infostate: int, k: int) -> np.ndarray:
    """Returns the infostates of a player that make up I^k of one of them, itself included.

    Args:
        index: the game.
        player: P.
        infostate: I.
        k: odd.
    """
    known = np.array([infostate], np.int64)
    if k == 1:
        return known
    links = _links(index)
    for _ in range((k - 1) // 2):
        _, theirs = links[player].pick(known)
        _, mine = links[1 - player].pick(np.unique(theirs))
        wider = np.unique(mine)
        if len(wider) == len(known):
            break
        known = wider
    return known


def knowledge_sizes(tree: PublicTree, orders: Sequence[float]) -> list[float]:
    """Returns the mean number of states in the order-k knowledge set of a decision state.

    The convention is that of the paper's table 2, found from its figures: the mean is over decision
    states, the set starts from the state alone and takes one step more than k - 1 (order 1 is the
    state with all that either player confuses with it), and a player who never acts again confuses
    nothing. Infinity takes all steps.

    Args:
        tree: a compiled game.
        orders: k, each a positive number or infinity.
    """
    index = index_of(tree)
    table = index.table
    states = np.flatnonzero(table.actor >= 0)
    groups = []
    for i, seat in enumerate(index.seats):
        ids = table.infostate[states, i].astype(np.int64)
        acts_again = _acts_below(seat.first, seat.last, seat.row_place)[ids]
        alone = ids.max(initial=0) + 1 + np.arange(len(states))
        groups.append(np.unique(np.where(acts_again, ids, alone), return_inverse=True)[1])
    from scipy.sparse import csr_matrix

    ones, me = np.ones(len(states), np.float32), np.arange(len(states))
    member = [csr_matrix((ones, (me, g.reshape(-1)))) for g in groups]
    near = csr_matrix((ones, (me, me)))
    out, size = {}, []
    largest = max(orders)
    step = 0
    while step < largest:
        spread = sum((m @ (m.T @ near)) for m in member)
        spread.data[:] = 1
        step += 1
        done = spread.nnz == near.nnz
        near = spread
        out[step] = near.nnz / len(states)
        if done:
            break
    for k in orders:
        size.append(out[int(min(k, step))])
    return size


def conflicts(index: GameIndex, player: int, rows: np.ndarray) -> list[set[int]]:
    """Returns, per infoset of P, the others that contain a state of the same infostate of O.

    This is the graph G' of section 4.2, restricted to `rows`; members are positions in `rows`.
    """
    table, seat = index.table, index.seats[player]
    which, states = seat.entries.pick(seat.rows.infostate[rows].astype(np.int64))
    theirs = table.infostate[states, 1 - player]
    _, group = np.unique(theirs, return_inverse=True)
    shared = Lists.of(group.reshape(-1), int(group.max(initial=-1)) + 1, which)
    out: list[set[int]] = [set() for _ in rows]
    for g in range(len(shared.start) - 1):
        members = set(shared[g].tolist())
        if len(members) > 1:
            for m in members:
                out[m] |= members
    for m, others in enumerate(out):
        others.discard(m)
    return out


def independent_set(tree: PublicTree, player: int, key: Array) -> np.ndarray:
    """Returns infosets of P at which 1-KLSS is safe together, closed under ancestors.

    No two of them contain states of one infostate of O, so the margin of each depends on one
    solution alone (theorem 5). The choice is random and looks at no infoset in particular.

    Args:
        tree: a compiled game.
        player: P.
        key: PRNG key.

    Returns:
        int64 [n], infosets in canonical order.
    """
    index = index_of(tree)
    rows = index.seats[player].rows
    above = np.where(rows.parent > 0, rows.row_of[np.maximum(rows.parent, 1) - 1], -1)
    clash = conflicts(index, player, np.arange(rows.num_rows))
    order = np.asarray(jax.random.permutation(key, rows.num_rows))
    order = order[np.argsort(rows.level[order], kind="stable")]
    chosen: set[int] = set()
    for r in order.tolist():
        free = above[r] < 0 or int(above[r]) in chosen
        if free and not (clash[r] & chosen):
            chosen.add(r)
    return np.array(sorted(chosen), np.int64)


def colours(index: GameIndex, player: int, rows: np.ndarray) -> list[np.ndarray]:
    """Splits infosets of one level into few sets in which no two are in conflict (greedily)."""
    clash = conflicts(index, player, rows)
    colour = np.full(len(rows), -1)
    for r in range(len(rows)):
        taken = {int(colour[o]) for o in clash[r]}
        colour[r] = next(c for c in range(len(rows)) if c not in taken)
    return [rows[colour == c] for c in range(int(colour.max(initial=-1)) + 1)]


def _links(index: GameIndex) -> tuple[Lists, Lists]:
    """Returns, by infostate of each player, the other player's infostates in the same states."""
    table = index.table
    alive = np.flatnonzero(table.actor != TERMINAL)
    pairs = np.unique(table.infostate[alive].astype(np.int64), axis=0)
    counts = [len(s.first) for s in index.seats]
    return (
        Lists.of(pairs[:, 0], counts[0], pairs[:, 1]),
        Lists.of(pairs[:, 1], counts[1], pairs[:, 0]),
    )


def _acts_below(first: np.ndarray, last: np.ndarray, row_place: np.ndarray) -> np.ndarray:
    """Returns bool [I], whether the player acts at or below each infostate."""
    return np.searchsorted(row_place, last) > np.searchsorted(row_place, first)

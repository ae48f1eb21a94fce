"""Transpositions: states whose futures look and pay the same to every player.

Two states are transpositions if every sequence of actions is legal from both or from neither, shows
the same to everybody, and pays the same. With k = 1, classes of O whose part of P's infoset looks
alike differ in the subgame by what stays fixed only, and one of them may stand for all.

Source: Zhang & Sandholm 2021, sections 2 and 4, and line 10 of the pseudocode.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxsolve.compiler import hash_columns
from jaxsolve.subgame._index import GameIndex
from jaxsolve.subgame._roots import SubgameRoots
from jaxsolve.tree import Infostates, StateTable
from jaxsolve.types import Array


def transpositions(table: StateTable) -> np.ndarray:
    """Returns int64 [X], a number for each world state; transpositions share theirs."""
    count = table.num_states
    worth = np.zeros(count, np.int64)
    _, kind = np.unique(table.utility.round(9), axis=0, return_inverse=True)
    worth[table.terminal] = 1 + kind.reshape(-1)
    shown = [_shown(table, i, states) for i, states in enumerate(table.infostates)]
    odds = np.zeros(count)
    odds[1:] = table.chance[1:] / table.chance[table.parent[1:]]
    chance = np.unique(odds.round(9), return_inverse=True)[1].reshape(-1)
    below = np.zeros(count, np.uint64)
    mark = np.zeros(count, np.uint64)
    for d in range(len(table.depth_start) - 2, -1, -1):
        lo, hi = int(table.depth_start[d]), int(table.depth_start[d + 1])
        mark[lo:hi] = hash_columns([table.actor[lo:hi], worth[lo:hi], below[lo:hi].view(np.int64)])
        if d:
            seen = [s[lo:hi] for s in shown]
            edge = hash_columns(
                [table.action[lo:hi], chance[lo:hi], *seen, mark[lo:hi].view(np.int64)]
            )
            np.add.at(below, table.parent[lo:hi], edge)
    return np.unique(mark, return_inverse=True)[1].reshape(-1)


def merged(index: GameIndex, where: SubgameRoots, key: Array | None = None) -> SubgameRoots:
    """Returns the subgames with one class for each of those whose futures look alike.

    Args:
        index: the game.
        where: subgames at single infosets.
        key: PRNG key of which class is kept; the first by default.

    Raises:
        ValueError: a subgame frees more than one infoset of P.
    """
    if (np.bincount(where.own_of, minlength=where.count) > 1).any():
        raise ValueError("merging transpositions is sound for k = 1 only (knowledge=1)")
    mark = transpositions(index.table)[where.top].astype(np.int64)
    reach = index.table.chance[where.top].round(12)
    piece = hash_columns([mark, np.unique(reach, return_inverse=True)[1].reshape(-1)])
    looks = np.zeros(len(where.classes), np.uint64)
    np.add.at(looks, where.top_class, piece)
    order = np.arange(len(where.classes))
    if key is not None:
        draw = jax.vmap(lambda c: jax.random.uniform(jax.random.fold_in(key, c)))
        order = np.argsort(np.asarray(draw(where.classes)))
    pairs = np.stack([where.class_of[order], looks[order].view(np.int64)], 1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    kept = np.sort(order[first])
    number = np.full(len(where.classes), -1)
    number[kept] = np.arange(len(kept))
    top = number[where.top_class] >= 0
    return dataclasses.replace(
        where,
        class_of=where.class_of[kept],
        classes=where.classes[kept],
        top=where.top[top],
        top_own=where.top_own[top],
        top_class=number[where.top_class[top]],
    )


def _shown(table: StateTable, player: int, states: Infostates) -> np.ndarray:
    """Returns int64 [X], a number of what the transition into each state showed a player."""
    here = table.infostate[:, player]
    _, kind = np.unique(states.observation, axis=0, return_inverse=True)
    if states.key is not None:  # an imported game: its strings are all there is
        kind = np.unique(np.array(states.key), return_inverse=True)[1]
    kind = kind.reshape(-1)
    quiet = np.zeros(len(here), bool)
    quiet[1:] = here[1:] == here[table.parent[1:]]
    return np.where(quiet, -1, kind[here])

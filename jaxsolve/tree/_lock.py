"""Locks: a strategy that becomes part of the game at chosen rows (`Block.locked`)."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from jaxsolve.tree._public_tree import PlayerTree, PublicTree, split_blocks


def locked_sequences(player: PlayerTree) -> np.ndarray:
    """Returns float64 [S, ...], the locked probability of each sequence, 0 where nothing is."""
    parts = [np.zeros(player.root_reach.shape)]
    for block in player.blocks:
        size = block.legal.shape[0] * block.legal.shape[1]
        shape = (size, *player.root_reach.shape[1:])
        parts.append(np.zeros(shape) if block.locked is None else _flat(block.locked, shape))
    return np.concatenate(parts)


def lock_sequences(tree: PublicTree, player: int, locked: np.ndarray) -> PublicTree:
    """Returns a tree in which a player's strategy is fixed, in place of earlier locks.

    Args:
        tree: the game.
        player: whose strategy.
        locked: float [S, ...], probability of each sequence. Rows that are 0 for all their actions
            stay free.
    """
    me = tree.players[player]
    blocks = iter(split_blocks(me, jnp.asarray(locked, me.root_reach.dtype)))
    levels = []
    for level in me.levels:
        here = []
        for block in level:
            values = next(blocks)
            held = values if bool((values > 0).any()) else None
            here.append(dataclasses.replace(block, locked=held))
        levels.append(tuple(here))
    players = list(tree.players)
    players[player] = dataclasses.replace(me, levels=tuple(levels))
    return tree.replace(players=tuple(players))


def _flat(locked: object, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(locked, np.float64).reshape(shape)

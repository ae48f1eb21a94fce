"""Node locking: a strategy that becomes part of the game at chosen decisions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._report import find, sequences
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.tree import split_blocks


def lock(
    spot: SpotTree,
    line: str,
    strategy: Mapping[str, float | np.ndarray],
    *,
    board: str | None = None,
) -> SpotTree:
    """Returns the spot in which a player's strategy at one decision is fixed.

    The solver works around it, and best responses and exploitability do not deviate there either.
    After new cards, a lock without a board holds on every board of the street.

    Args:
        spot: the tree; locks add up.
        line: actions that lead to the decision, "" for the root.
        strategy: {action: probability}, a number for all hands or float [1326]; actions that are
            left out have probability 0. Hands whose probabilities are all 0 stay free.
        board: cards on the table there.

    Raises:
        ValueError: an unknown line, board or action, or probabilities that do not sum to 1.
    """
    node = spot.betting.find(line)
    street = int(spot.betting.street[node])
    every = board is None and len(spot.streets[street].boards) > 1
    if not every:
        node, at = find(spot, line, board)
    words = [spot.betting.label[c] for c in spot.betting.children[node]]
    if not words:
        raise ValueError(f"{line!r}: the betting is over there, nobody acts")
    for name in strategy:
        if name not in words:
            raise ValueError(f"no action {name!r} after {line!r}; there are {', '.join(words)}")
    wanted = np.zeros((len(words), len(spot.hands)))
    for k, word in enumerate(words):
        share = np.broadcast_to(np.asarray(strategy.get(word, 0.0), float), (NUM_HANDS,))
        wanted[k] = share[spot.hands]
    total = wanted.sum(0)
    wrong = (np.abs(total - 1) > 1e-6) & (total != 0)
    if wrong.any() or (wanted < 0).any():
        worst = float(total[np.argmax(wrong)]) if wrong.any() else float(wanted.min())
        raise ValueError(
            f"probabilities after {line!r} must be 0 or more and sum to 1, not {worst}"
        )
    player = int(spot.betting.actor[node])
    me = spot.tree.players[player]
    locked = np.zeros((me.num_sequences, len(spot.hands)), np.float64)
    start = me.root_reach.shape[0]
    for block in me.blocks:  # locks so far
        size = block.legal.shape[0] * block.legal.shape[1]
        if block.locked is not None:
            locked[start : start + size] = np.asarray(block.locked).reshape(size, -1)
        start += size
    rows = spot.rows[player]
    for row in np.flatnonzero((rows.node == node) & (every | (rows.board == (0 if every else at)))):
        locked[sequences(spot, player, int(row))] = wanted
    blocks: list[Any] = list(split_blocks(me, jnp.asarray(locked, me.root_reach.dtype)))
    levels = []
    for level in me.levels:
        new = []
        for block in level:
            mine = blocks.pop(0)
            new.append(dataclasses.replace(block, locked=mine if bool((mine > 0).any()) else None))
        levels.append(tuple(new))
    players = list(spot.tree.players)
    players[player] = dataclasses.replace(me, levels=tuple(levels))
    return dataclasses.replace(spot, tree=spot.tree.replace(players=tuple(players)))

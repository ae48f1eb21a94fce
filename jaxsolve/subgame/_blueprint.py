"""Reading blueprints: what re-solving needs of a policy, checked."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxsolve.evaluate import realization
from jaxsolve.subgame._index import GameIndex
from jaxsolve.tree import Lifted, Policy

TOLERANCE = 1e-3
"""How far the probabilities of an infoset may be from 1 in sum: float32 policies are 1e-7 off."""


def probabilities(index: GameIndex, blueprint: Policy | Lifted, player: int) -> np.ndarray:
    """Returns float64 [C], the probabilities of one player, with sums of exactly 1.

    Infosets that the player never reaches may hold anything; they are made uniform where they
    hold no distribution.

    Args:
        index: the game.
        blueprint: a policy of it, or one lifted from a coarser game.
        player: whose.

    Raises:
        ValueError: the policy belongs to another game, or it does not cover an infoset that it
            comes to; the infoset is named.
    """
    missing: tuple[str, ...] = ()
    policy = blueprint
    if isinstance(blueprint, Lifted):
        policy, missing = blueprint.policy, blueprint.unmatched[player]
    assert isinstance(policy, Policy)
    rows = index.seats[player].rows
    given = _entries(index, policy, player)
    total = np.add.reduceat(given, rows.offset[:-1] - rows.roots) if rows.num_rows else given
    lowest = np.minimum.reduceat(given, rows.offset[:-1] - rows.roots) if rows.num_rows else given
    good = (np.abs(total - 1) <= TOLERANCE) & (lowest >= -TOLERANCE)  # False for NaN
    of_row = rows.row_of
    safe = np.where(good[of_row], np.maximum(given, 0), 1 / rows.width[of_row])
    sums = np.bincount(of_row, safe, rows.num_rows)
    safe = safe / sums[of_row]
    covered = good.copy()
    if missing:
        unknown = set(missing)
        labels = index.info.labels[player]
        covered &= np.array([name not in unknown for name in labels])
    if not covered.all():
        plan = realization(rows, safe)
        bad = ~covered & (plan[rows.parent] > 0)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            why = (
                "its probabilities there are "
                f"{given[rows.offset[row] - rows.roots : rows.offset[row + 1] - rows.roots]}"
                if not good[row]
                else "no infoset of the coarser game stands for it"
            )
            raise ValueError(
                f"the blueprint does not cover infoset {index.info.label(player, row)!r} of player "
                f"{player}, which it reaches: {why}"
            )
    return safe


def policy_of(index: GameIndex, blueprint: Policy | Lifted) -> Policy:
    """Returns the policy of a blueprint, with names."""
    policy = blueprint.policy if isinstance(blueprint, Lifted) else blueprint
    return policy if policy.names is not None else dataclasses.replace(policy, names=index.info)


def _entries(index: GameIndex, policy: Policy, player: int) -> np.ndarray:
    info = index.info
    other = policy.names
    if other is not None and (other.name, other.num_infosets) != (info.name, info.num_infosets):
        raise ValueError(
            f"the blueprint is a policy of {other.name}, not of {info.name}; js.lift takes a "
            "policy to another game"
        )
    if other is None and any(b.ndim > 2 for b in policy.players[player]):
        raise ValueError(
            "the blueprint has a hand axis and no names: "
            "dataclasses.replace(policy, names=tree.info)"
        )
    named = policy if other is not None else dataclasses.replace(policy, names=info)
    size = sum(b.size for b in named.players[player])
    need = int(info.players[player].position.max(initial=-1)) - info.players[player].roots
    if size <= need:
        raise ValueError(
            f"the blueprint has {size} entries of player {player}, too few for {info.name}"
        )
    return np.asarray(named.probabilities(player), np.float64)

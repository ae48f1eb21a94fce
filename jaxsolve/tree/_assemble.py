"""From the sequence form on the host to the padded tensors of a PublicTree."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.tree._form import DecisionRows, SequenceForm
from jaxsolve.tree._gather import Bucket, build, exact, float_type, split
from jaxsolve.tree._payoffs import sparse_payoffs
from jaxsolve.tree._public_tree import Block, PlayerTree, PublicTree


@dataclasses.dataclass
class SequenceLayout:
    """Where the rows and sequences of one player lie in the tensors.

    Attributes:
        sequence: int64 [S], position of each sequence of `DecisionRows` in the sequence vector.
        size: length of the sequence vector, padding included.
    """

    sequence: np.ndarray
    size: int


def assemble(
    form: SequenceForm, *, bucket: Bucket = exact
) -> tuple[PublicTree, tuple[SequenceLayout, ...]]:
    """Returns the tensors of a game in sequence form as numpy arrays, one row per infoset.

    Args:
        form: the game on the host.
        bucket: rounds block and list sizes up, so that similar trees share compiled programs.
    """
    players, layouts = zip(
        *(player_tree(rows, hands=None, bucket=bucket) for rows in form.rows), strict=True
    )
    sequence = np.stack([place.sequence[form.sequence[:, i]] for i, place in enumerate(layouts)], 1)
    payoffs = sparse_payoffs(sequence, form.payoff, [p.size for p in layouts], bucket=bucket)
    return PublicTree(players, (payoffs,)), layouts


def player_tree(
    rows: DecisionRows,
    *,
    hands: int | None,
    bucket: Bucket = exact,
    symmetry: tuple[np.ndarray, Sequence[np.ndarray | None]] | None = None,
    unpadded: bool = False,
) -> tuple[PlayerTree, SequenceLayout]:
    """Returns the numpy tensors of one player, and where each sequence went.

    Args:
        rows: decision rows; public states of the player where there are hands.
        hands: H of a tree with a hand axis, else None.
        bucket: rounds the rows of a block up.
        symmetry: (int [R], which of the groups each row belongs to, `Block.orbit` of each group).
        unpadded: a block for each number of actions instead of some padding; where there are hands.
    """
    kind, orbits = symmetry if symmetry is not None else (np.zeros(rows.num_rows, int), [None])
    place = np.zeros(rows.num_sequences, np.int64)
    place[: rows.roots] = np.arange(rows.roots)
    value_at = np.zeros(rows.num_rows, np.int64)  # position among the row values of a level
    width = rows.width
    levels, children = [], []
    start, above_start, above_size = rows.roots, 0, rows.roots
    for depth in range(int(rows.level.max(initial=-1)) + 1):
        members = np.flatnonzero(rows.level == depth)
        blocks, row_count, level_start = [], 0, start
        for group in _groups(members, width, kind, unpadded):
            longest, count = int(width[group].max()), bucket(len(group))
            legal = np.zeros((longest, count), bool)
            legal[:, : len(group)] = np.arange(longest)[:, None] < width[group]
            parent = np.zeros(count, np.int32)
            parent[: len(group)] = place[rows.parent[group]] - above_start
            mask: Any = legal if hands is None else legal[..., None]
            link: Any = parent
            orbit: Any = orbits[kind[group[0]]]
            blocks.append(Block(mask, link, orbit))
            value_at[group] = row_count + np.arange(len(group))
            for slot in range(longest):
                has = np.flatnonzero(width[group] > slot)
                place[rows.offset[group[has]] + slot] = start + slot * count + has
            start += longest * count
            row_count += count
        target = place[rows.parent[members]] - above_start
        children.append(
            build(target, [value_at[members]], above_size, pad=row_count, bucket=bucket)
        )
        levels.append(tuple(blocks))
        above_start, above_size = level_start, start - level_start
    reach: Any = np.asarray(rows.root_reach)
    if hands is not None:
        reach = np.broadcast_to(reach.reshape(rows.roots, -1), (rows.roots, hands))
    tree = PlayerTree(tuple(levels), tuple(children), reach.astype(float_type()), unpadded)
    return tree, SequenceLayout(place, start)


def _groups(
    members: np.ndarray, width: np.ndarray, kind: np.ndarray, unpadded: bool
) -> list[np.ndarray]:
    """Splits the rows of a level by kind and then by width."""
    kinds = [members[kind[members] == k] for k in np.unique(kind[members])]
    if unpadded:
        return [g[width[g] == w] for g in kinds for w in np.unique(width[g])]
    return [group for same in kinds for group in _width_groups(same, width)]


def _width_groups(members: np.ndarray, width: np.ndarray) -> Sequence[np.ndarray]:
    """Splits rows so that padded actions cost less than further kernels."""
    distinct, counts = np.unique(width[members], return_counts=True)
    ends, _ = split(np.cumsum(counts), distinct)
    groups, lowest = [], 0
    for end in ends:
        highest = distinct[end]
        groups.append(members[(width[members] > lowest) & (width[members] <= highest)])
        lowest = highest
    return groups

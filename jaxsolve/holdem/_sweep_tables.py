"""The tables of a player's step in C++: who is where, and how sequences are numbered."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._native import NativeBoards, board_numbers
from jaxsolve.holdem._payoffs import Placed
from jaxsolve.holdem._sweep import NativeSweep, SweepSide
from jaxsolve.tree import Block, DecisionRows

PARTS = 8
"""Most parts that the leaves of a street with one board are cut into, one per core."""


class Side(NamedTuple):
    """What the sweep needs to know of a player's public rows (R rows).

    Attributes:
        street, board: int [R], where each row is.
        rows: the rows and their public sequences.
        position: int [Q], of each public sequence in the sequence vector.
        blocks: of the tensors.
    """

    street: np.ndarray
    board: np.ndarray
    rows: DecisionRows
    position: np.ndarray
    blocks: tuple[Block, ...]


class _Numbers(NamedTuple):
    """How the sequences of a player are numbered.

    Attributes:
        order: int [R], rows in order of items.
        item: int [R], item of each row, in the rows' own order.
        begin: int [I + 1], where items begin in that order.
        code: int [Q], of each public sequence.
        owner: int [Q], item of each public sequence, -1 for the empty one.
        upper: U.
        room: most sequences of an item of the last street.
    """

    order: np.ndarray
    item: np.ndarray
    begin: np.ndarray
    code: np.ndarray
    owner: np.ndarray
    upper: int
    room: int


def native_sweep(
    boards: NativeBoards,
    groups: Sequence[Placed],
    players: Sequence[Side],
    counts: Sequence[int],
) -> NativeSweep | None:
    """Returns the sweep of a tree, or None if leaves of several boards hang from one sequence.

    Args:
        boards: tables of hands.
        groups: leaves.
        players: rows of each player.
        counts: boards of each street.
    """
    numbers = [_numbers(p, counts) for p in players]
    orbits: list[Any] = [np.zeros((0, boards.place.shape[1]), np.int32)]
    sides = []
    for i, player in enumerate(players):
        images = []  # per block, where its symmetries begin and end among all
        for block in player.blocks:
            begin = sum(len(o) for o in orbits)
            if block.orbit is not None:
                orbits.append(block.orbit)
            images.append((begin, sum(len(o) for o in orbits)))
        side = _side(players, numbers, i, groups, counts, np.asarray(images).reshape(-1, 2))
        if side is None:
            return None
        sides.append(side)
    images_of: Any = np.concatenate(orbits).astype(np.int32)
    return NativeSweep(
        boards=boards,
        orbit=images_of,
        sides=tuple(sides),
        shapes=tuple(tuple(b.legal.shape[:2] for b in p.blocks) for p in players),  # type: ignore[misc]
        one_board=counts[-1] == 1,
    )


def _numbers(player: Side, counts: Sequence[int]) -> _Numbers:
    base = np.concatenate([[0], np.cumsum(counts)])
    item = base[player.street] + player.board
    order = np.argsort(item, kind="stable")
    begin = np.searchsorted(item[order], np.arange(base[-1] + 1))
    offset, width = player.rows.offset, player.rows.width
    code = np.full(offset[-1], -1)
    owner = np.full(offset[-1], -1)
    upper, room, used, at = 1, 0, 0, -1
    for r in order:
        sequences = offset[r] + np.arange(width[r])
        owner[sequences] = item[r]
        if player.street[r] < len(counts) - 1:
            code[sequences] = -1 - upper - np.arange(width[r])
            upper += int(width[r])
            continue
        used = 0 if item[r] != at else used
        at = int(item[r])
        code[sequences] = used + np.arange(width[r])
        used += int(width[r])
        room = max(room, used)
    return _Numbers(order, item, begin, code, owner, upper, room)


def _side(
    players: Sequence[Side],
    numbers: Sequence[_Numbers],
    i: int,
    groups: Sequence[Placed],
    counts: Sequence[int],
    images: np.ndarray,
) -> SweepSide | None:
    player, mine, theirs = players[i], numbers[i], numbers[1 - i]
    leaves = _leaves(players, numbers, i, groups, counts)
    if leaves is None:
        return None
    parts_of, parts, tasks, own, other, amount = leaves
    width = player.rows.width
    parent = mine.code[player.rows.parent]
    above = mine.owner[player.rows.parent]  # its item
    elsewhere = np.flatnonzero((above != mine.item) & ((above >= 0) | (player.street > 0)))
    elsewhere = elsewhere[np.argsort(-1 - parent[elsewhere], kind="stable")]
    slot = np.full(len(parent), -1)
    slot[elsewhere] = np.arange(len(elsewhere))
    slot_begin: Any = np.searchsorted(-1 - parent[elsewhere], np.arange(mine.upper + 1))
    shapes = [b.legal.shape[:2] for b in player.blocks]
    start = 1 + np.concatenate([[0], np.cumsum([a * n for a, n in shapes])])
    position = player.position[player.rows.offset[:-1]]
    block = np.searchsorted(start, position, "right") - 1
    first = mine.code[player.rows.offset[:-1]]
    first = np.where(first < 0, -1 - first, first)
    rows = [block, position - start[block], width, first, parent, slot, *images[block].T]
    street = np.repeat(np.arange(len(counts)), counts)
    used = np.concatenate([[0], np.cumsum(width[mine.order])])[mine.begin]
    items = [
        street,
        *(mine.begin[:-1], mine.begin[1:]),
        *(theirs.begin[:-1], theirs.begin[1:]),
        *(parts_of[:-1], parts_of[1:]),
        np.where(street < len(counts) - 1, 1 + used[:-1], 0),
        np.diff(used),
    ]
    tables = (np.stack(rows, 1)[mine.order], np.stack(items, 1), parts, tasks, own, other)
    ints: list[Any] = [np.ascontiguousarray(x, np.int32) for x in tables]
    return SweepSide(
        rows=ints[0],
        items=ints[1],
        parts=ints[2],
        tasks=ints[3],
        leaf_own=ints[4],
        leaf_other=ints[5],
        amount=amount.astype(np.float32),  # type: ignore[arg-type]
        slot_begin=slot_begin.astype(np.int32),
        room=mine.room,
        slots=len(elsewhere),
    )


def _leaves(
    players: Sequence[Side],
    numbers: Sequence[_Numbers],
    i: int,
    groups: Sequence[Placed],
    counts: Sequence[int],
) -> tuple[np.ndarray, ...] | None:
    """Returns (first part of each item [I + 1], parts, tasks, own codes, other codes, amounts)."""
    mine, theirs = numbers[i], numbers[1 - i]
    sequence = []  # per player, which public sequence is at a place of the sequence vector
    for p in players:
        at = np.zeros(int(p.position.max()) + 1, np.int64)
        at[p.position] = np.arange(len(p.position))
        sequence.append(at)
    boards = board_numbers(groups)
    base = np.concatenate([[0], np.cumsum(counts)])
    parts: list[tuple[int, int]] = []
    tasks: list[tuple[int, ...]] = []
    parts_of, used = [0], 0
    leaves: list[np.ndarray] = []
    for street, count in enumerate(counts):
        here = [k for k, g in enumerate(groups) if g.street == street]
        for b in range(count):
            found = []  # per group, (own sequence, other sequence, amount) of each leaf
            for k in here:
                g = groups[k]
                own, other = (sequence[j][g.hangs[j][b]] for j in (i, 1 - i))
                found.append((own, other, g.amount[b, :, i]))
            own = np.concatenate([f[0] for f in found]) if found else np.zeros(0, np.int64)
            if count > 1 and (mine.owner[own] != base[street] + b).any():
                return None  # threads would write the same row
            distinct = np.unique(own)
            cut = min(PARTS, len(os.sched_getaffinity(0)), len(distinct)) if count == 1 else 1
            for part in range(cut):
                begin = len(tasks)
                members = distinct[part * len(distinct) // cut : (part + 1) * len(distinct) // cut]
                for k, (own, other, amount) in zip(here, found, strict=True):
                    some = np.isin(own, members)
                    if some.any():
                        chosen = (mine.code[own[some]], theirs.code[other[some]], amount[some])
                        leaves.append(np.stack(chosen))
                        tasks.append((groups[k].pays, boards[k][b], used, used + some.sum()))
                        used += int(some.sum())
                parts.append((begin, len(tasks)))
            parts_of.append(len(parts))
    table = np.concatenate(leaves, 1)
    return (np.asarray(parts_of), np.asarray(parts), np.asarray(tasks), *table)

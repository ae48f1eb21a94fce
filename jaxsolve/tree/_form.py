"""The sequence form of a game on the host: rows, sequences and payoffs as numpy arrays.

The exact linear program, policies on disk and gadgets speak this form; the padded device
tensors (`PublicTree`) are assembled from it. Sequence 0..roots-1 of a player are the empty ones
(one per root private state, usually just one); then come the actions of row 0, of row 1, ...
(von Stengel 1996).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxsolve.tree._states import StateTable


@dataclasses.dataclass
class DecisionRows:
    """Decision rows (infosets) of one player, parents before children (R rows, S sequences).

    Attributes:
        parent: int32 [R], the sequence that leads to the row.
        offset: int32 [R + 1], actions of row r are sequences offset[r]..offset[r + 1] - 1.
        action: int16 [S - roots], the game's action id of each such sequence.
        roots: number of empty sequences.
        root_reach: float64 [roots], the player's own reach there (1 for a whole game).
        infostate: int32 [R], the infostate of each row, -1 for rows that a gadget added.
        public: int32 [R], the public state of each row, -1 likewise.
        level: int32 [R], how often the player has acted before.
    """

    parent: np.ndarray
    offset: np.ndarray
    action: np.ndarray
    roots: int
    root_reach: np.ndarray
    infostate: np.ndarray
    public: np.ndarray
    level: np.ndarray

    @property
    def num_rows(self) -> int:
        """R."""
        return len(self.parent)

    @property
    def num_sequences(self) -> int:
        """S, the empty sequences included."""
        return int(self.offset[-1])

    @property
    def width(self) -> np.ndarray:
        """int32 [R], number of legal actions."""
        return np.diff(self.offset)

    @property
    def row_of(self) -> np.ndarray:
        """int32 [S - roots], the row that each non-empty sequence belongs to."""
        return np.repeat(np.arange(self.num_rows, dtype=np.int32), self.width)


@dataclasses.dataclass
class SequenceForm:
    """A whole game in sequence form (n players, E payoff entries).

    Attributes:
        rows: per player.
        sequence: int32 [E, n], the last sequence of each player.
        payoff: float64 [E, n], utility times chance, summed over the terminals that share all
            sequences.
    """

    rows: tuple[DecisionRows, ...]
    sequence: np.ndarray
    payoff: np.ndarray

    @property
    def num_players(self) -> int:
        """n."""
        return len(self.rows)


def sequence_form(table: StateTable) -> SequenceForm:
    """Returns the sequence form of an enumerated game."""
    n = table.game.num_players
    row_tables, sequence_columns = [], []
    for player in range(n):
        rows, sequence = _rows_of(table, player)
        row_tables.append(rows)
        sequence_columns.append(sequence)
    sequence = np.stack(sequence_columns, 1)
    payoff = table.utility * table.chance[table.terminal][:, None]
    return SequenceForm(tuple(row_tables), *merge_payoffs(sequence, payoff))


def last_sequences(table: StateTable, player: int) -> np.ndarray:
    """Returns int32 [Z], the last sequence of a player at each terminal state."""
    return _rows_of(table, player)[1]


def merge_payoffs(sequence: np.ndarray, payoff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (sequence, payoff) with equal sequences added up and zeros dropped."""
    if len(sequence):
        sizes = sequence.max(0).astype(np.int64) + 1
        if np.prod(sizes.astype(float)) < 2**62:
            key = np.ravel_multi_index(sequence.T.astype(np.int64), sizes)
            unique, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        else:
            unique, first, inverse = np.unique(
                sequence, axis=0, return_index=True, return_inverse=True
            )
        inverse = inverse.reshape(-1)
        columns = [np.bincount(inverse, p, len(unique)) for p in payoff.T]
        sequence, payoff = sequence[first], np.stack(columns, 1)
    keep = (payoff != 0).any(1)
    return sequence[keep].astype(np.int32), payoff[keep]


def _rows_of(table: StateTable, player: int) -> tuple[DecisionRows, np.ndarray]:
    """Returns (rows, sequence [Z] of each terminal state)."""
    acts = np.flatnonzero(table.actor == player)
    ids = table.infostate[acts, player]
    infosets, first = np.unique(ids, return_index=True)
    sample = acts[first]  # one state of each infoset
    order = np.argsort(sample, kind="stable")  # rows by first appearance: parents first
    infosets, sample = infosets[order], sample[order]
    row_of_infostate = np.full(len(table.infostates[player].parent), -1, np.int32)
    row_of_infostate[infosets] = np.arange(len(infosets), dtype=np.int32)

    # Children of the samples give the legal actions, in action order.
    is_sample = np.zeros(table.num_states + 1, bool)  # the last entry stands for "no parent"
    is_sample[sample] = True
    child = np.flatnonzero(is_sample[table.parent])
    row_of_child = row_of_infostate[table.infostate[table.parent[child], player]]
    order = np.argsort(row_of_child, kind="stable")
    action = table.action[child[order]]
    offset = np.zeros(len(infosets) + 1, np.int32)
    offset[1:] = np.cumsum(np.bincount(row_of_child, minlength=len(infosets)))
    offset += 1

    # The last own sequence of every infostate follows from its parent's.
    states = table.infostates[player]
    last = np.zeros(len(states.parent), np.int32)
    lookup = _SequenceLookup(offset, action)
    acted = states.action >= 0
    # Ids grow with depth: a parent's id is smaller than its children's, level by level.
    for lo, hi in _id_levels(states.parent):
        up = states.parent[lo:hi]
        inherited = np.where(up >= 0, last[np.maximum(up, 0)], 0)
        here = acted[lo:hi]
        own = lookup(row_of_infostate[up[here]], states.action[lo:hi][here])
        inherited[here] = own
        last[lo:hi] = inherited
    parent = last[infosets]
    rows = DecisionRows(
        parent=parent,
        offset=offset,
        action=action,
        roots=1,
        root_reach=np.ones(1),
        infostate=infosets.astype(np.int32),
        public=table.public[sample],
        level=row_levels(parent, offset, 1),
    )
    return rows, last[table.infostate[table.terminal, player]]


def row_levels(parent: np.ndarray, offset: np.ndarray, roots: int) -> np.ndarray:
    """Returns int32 [R], the number of own decisions above each row."""
    row_of = np.repeat(np.arange(len(parent), dtype=np.int64), np.diff(offset))
    level = np.zeros(len(parent), np.int32)
    above = np.full(len(parent), -1)
    inner = parent >= roots
    above[inner] = row_of[parent[inner] - roots]
    at = above
    while (todo := at >= 0).any():
        level += todo
        at = np.where(todo, above[np.maximum(at, 0)], -1)
    return level


class _SequenceLookup:
    """(row, action id) -> sequence, by binary search in the flat list of actions."""

    def __init__(self, offset: np.ndarray, action: np.ndarray):
        row = np.repeat(np.arange(len(offset) - 1, dtype=np.int64), np.diff(offset))
        self.base = int(action.max(initial=0)) + 1
        self.key = row * self.base + action
        self.start = int(offset[0])

    def __call__(self, row: np.ndarray, action: np.ndarray) -> np.ndarray:
        at = np.searchsorted(self.key, row.astype(np.int64) * self.base + action)
        return (self.start + at).astype(np.int32)


def _id_levels(parent: np.ndarray) -> list[tuple[int, int]]:
    """Splits 0..I-1 into runs whose parents all lie before the run."""
    runs, lo, size = [], 0, len(parent)
    highest = np.maximum.accumulate(parent) if size else parent
    while lo < size:
        hi = max(int(np.searchsorted(highest, lo)), lo + 1)
        runs.append((lo, hi))
        lo = hi
    return runs

"""What lies below what: the infostates of a game in depth-first order.

With perfect recall the terminals and the decision rows below an infostate of a player are those
whose own infostate descends from it. In depth-first order these are a slice, so every subgame is a
union of slices and a whole depth of subgames is cut in a few array operations.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxsolve.compiler import in_rows
from jaxsolve.tree import DecisionRows, ListedInfo, PublicTree, StateTable, last_sequences, listed


@dataclasses.dataclass(frozen=True)
class Lists:
    """Lists of numbers of different lengths, end to end.

    Attributes:
        start: int64 [K + 1], list k is items[start[k]:start[k + 1]].
        items: int64 [N].
    """

    start: np.ndarray
    items: np.ndarray

    @staticmethod
    def of(key: np.ndarray, count: int, items: np.ndarray | None = None) -> Lists:
        """Returns items (their positions by default) collected by a key in 0..count-1."""
        order = np.argsort(key, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=count))])
        return Lists(start, order if items is None else items[order])

    def pick(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns (which of `keys` each item came from, items) of the lists of some keys."""
        which, at = slices(self.start[keys], self.start[keys + 1])
        return which, self.items[at]

    def __getitem__(self, key: int) -> np.ndarray:
        return self.items[self.start[key] : self.start[key + 1]]


@dataclasses.dataclass(frozen=True)
class PlayerIndex:
    """One player's view of a game (I infostates, R rows, S sequences, Z terminals).

    Attributes:
        rows: decision rows of the sequence form.
        first: int64 [I], place of an infostate in depth-first order.
        last: int64 [I], one more than the last place below it.
        row_order: int64 [R], rows in that order.
        row_place: int64 [R], their places, ascending.
        terminal_order: int64 [Z], terminals (counted from 0) in that order.
        terminal_place: int64 [Z], their places, ascending.
        place: int64 [Z], the place of each terminal.
        sequence: int64 [Z], the last sequence at each terminal.
        before: int64 [I], the player's last sequence above each infostate.
        entries: states at which an infostate begins, by infostate.
        row_at: int64 [I], the row of an infostate where the player acts, else -1.
    """

    rows: DecisionRows
    first: np.ndarray
    last: np.ndarray
    row_order: np.ndarray
    row_place: np.ndarray
    terminal_order: np.ndarray
    terminal_place: np.ndarray
    place: np.ndarray
    sequence: np.ndarray
    before: np.ndarray
    entries: Lists
    row_at: np.ndarray

    def rows_below(self, infostates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns (which infostate, row) of every row at or below each, parents first."""
        which, at = slices(*self._bounds(self.row_place, infostates))
        return which, self.row_order[at]

    def terminals_below(self, infostates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns (which infostate, terminal) of every terminal below each."""
        which, at = slices(*self._bounds(self.terminal_place, infostates))
        return which, self.terminal_order[at]

    def highest(self, group: np.ndarray, infostates: np.ndarray) -> np.ndarray:
        """Returns bool [N], False where another of the same group lies above, or is the same."""
        order = np.lexsort((self.first[infostates], group))
        g, lo, hi = group[order], self.first[infostates[order]], self.last[infostates[order]]
        keep = np.ones(len(order), bool)
        reach = np.zeros(len(order), np.int64)  # how far the kept ones of the group extend
        for k in range(len(order)):
            inside = k > 0 and g[k] == g[k - 1] and lo[k] < reach[k - 1]
            keep[k] = not inside
            reach[k] = reach[k - 1] if inside else hi[k]
        out = np.empty(len(order), bool)
        out[order] = keep
        return out

    def _bounds(self, places: np.ndarray, infostates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (
            np.searchsorted(places, self.first[infostates]),
            np.searchsorted(places, self.last[infostates]),
        )


@dataclasses.dataclass(frozen=True)
class GameIndex:
    """A game of n players, ready to be cut.

    Attributes:
        table: world states.
        info: names.
        seats: per player.
        chance: float64 [Z], reach of chance at each terminal.
    """

    table: StateTable
    info: ListedInfo
    seats: tuple[PlayerIndex, ...]
    chance: np.ndarray

    @property
    def utility_sum(self) -> float:
        """The constant sum of two players' payoffs.

        Raises:
            ValueError: the game is not of two players and constant sum.
        """
        total = self.info.utility_sum
        if len(self.seats) != 2 or total is None:
            raise ValueError(
                f"{self.info.name} is not a two-player constant-sum game. Gadgets of subgame "
                "solving are for those only: they rest on the opponent's gain being the player's "
                "loss. js.solve and search.pluribus take games of more players"
            )
        return total

    def payoff(self, player: int) -> np.ndarray:
        """Returns float64 [Z], what each terminal pays a player above half of the constant sum."""
        first = self.table.utility[:, 0] - self.utility_sum / 2
        return first if player == 0 else -first


_RECENT: list[GameIndex] = []
"""The last few, most recent first; `StateTable` cannot be hashed."""

_KEPT = 4


def index_of(tree: PublicTree) -> GameIndex:
    """Returns the index of a two-player constant-sum game, which gadgets need.

    Raises:
        ValueError: the tree has no world states, or the game is not of two players and constant
            sum.
    """
    index = game_index(tree)
    _ = index.utility_sum
    return index


def game_index(tree: PublicTree) -> GameIndex:
    """Returns the index of a compiled tree of any number of players; it is made once per tree.

    Raises:
        ValueError: the tree has no world states.
    """
    info = listed(in_rows(tree))
    for found in _RECENT:
        if found.table is info.states:
            return found if found.info is info else dataclasses.replace(found, info=info)
    table = info.states
    made = GameIndex(
        table=table,
        info=info,
        seats=tuple(_seat(table, info, i) for i in range(tree.num_players)),
        chance=table.chance[table.terminal],
    )
    _RECENT.insert(0, made)
    del _RECENT[_KEPT:]
    return made


def slices(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (which slice, position) of every position in start[k]..stop[k]-1, slice by slice."""
    length = np.maximum(stop - start, 0)
    which = np.repeat(np.arange(len(length)), length)
    offset = np.cumsum(length) - length
    return which, np.arange(length.sum()) - np.repeat(offset - start, length)


def _seat(table: StateTable, info: ListedInfo, player: int) -> PlayerIndex:
    rows = info.form.rows[player]
    parent = table.infostates[player].parent.astype(np.int64)
    first, last = _depth_first(parent)
    here = table.infostate[:, player]
    place = first[here[table.terminal]]
    terminal_order = np.argsort(place, kind="stable")
    row_place = first[rows.infostate]
    row_order = np.argsort(row_place, kind="stable")
    starts = np.ones(len(here), bool)
    starts[1:] = here[1:] != here[table.parent[1:]]
    enters = np.flatnonzero(starts)
    row_at = np.full(len(parent), -1)
    row_at[rows.infostate] = np.arange(rows.num_rows)
    return PlayerIndex(
        rows=rows,
        first=first,
        last=last,
        row_order=row_order,
        row_place=row_place[row_order],
        terminal_order=terminal_order,
        terminal_place=place[terminal_order],
        place=place,
        sequence=last_sequences(table, player).astype(np.int64),
        before=_sequences_before(table, player, rows, row_at),
        entries=Lists.of(here[enters], len(parent), enters),
        row_at=row_at,
    )


def _depth_first(parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (place, one past the last place below) of each node of a forest [I]."""
    depth = depths(parent)
    size = np.ones(len(parent), np.int64)
    by_depth = Lists.of(depth, int(depth.max(initial=0)) + 1)
    deepest = len(by_depth.start) - 1
    for d in range(deepest - 1, 0, -1):
        nodes = by_depth[d]
        np.add.at(size, parent[nodes], size[nodes])
    place = np.zeros(len(parent), np.int64)
    for d in range(deepest):
        nodes = by_depth[d]
        nodes = nodes[np.argsort(parent[nodes], kind="stable")]
        before = np.cumsum(size[nodes]) - size[nodes]
        up = parent[nodes]
        start = np.concatenate([[True], up[1:] != up[:-1]])
        group = np.maximum.accumulate(np.where(start, np.arange(len(nodes)), 0))
        base = np.where(up >= 0, place[up] + 1, 0)
        place[nodes] = base + before - before[group]
    return place, place + size


def depths(parent: np.ndarray) -> np.ndarray:
    """Returns int64 [I], how many nodes lie above each node of a forest (parent -1 at roots)."""
    depth, at = np.zeros(len(parent), np.int64), parent
    while (todo := at >= 0).any():
        depth += todo
        at = np.where(todo, parent[np.maximum(at, 0)], -1)
    return depth


def _sequences_before(
    table: StateTable, player: int, rows: DecisionRows, row_at: np.ndarray
) -> np.ndarray:
    """Returns int64 [I], the player's last sequence above each infostate."""
    states = table.infostates[player]
    parent, action = states.parent.astype(np.int64), states.action
    depth = depths(parent)
    row = row_at[np.maximum(parent, 0)]
    acted = (action >= 0) & (parent >= 0)
    base = int(rows.action.max(initial=0)) + 1
    keys = rows.row_of.astype(np.int64) * base + rows.action
    own = np.searchsorted(keys, np.where(acted, row * base + action, 0)) + rows.roots
    out = np.zeros(len(parent), np.int64)
    for d in range(1, int(depth.max(initial=0)) + 1):
        nodes = np.flatnonzero(depth == d)
        out[nodes] = np.where(acted[nodes], own[nodes], out[parent[nodes]])
    return out

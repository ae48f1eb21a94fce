"""Subgames in sequence form, before any gadget: a forest with one tree for each class of O.

All subgames of a batch lie in one sequence form, as disjoint parts: P has one empty sequence for
each subgame, O one for each class. One compiled program then solves all of them without padding
them to a common shape, and what a subgame is worth is the value of its empty sequences. Payoffs are
those of P, weighted by chance and by P's own reach of the subgame; a gadget on top only has to say
how O gets to a class and what that costs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from jaxsolve.evaluate import realization, rows_by_level
from jaxsolve.subgame._index import GameIndex, PlayerIndex
from jaxsolve.subgame._roots import SubgameRoots, containing_place
from jaxsolve.tree import DecisionRows, row_levels


@dataclasses.dataclass(frozen=True)
class Core:
    """B subgames with M classes (E payoff entries, C entries of P's rows).

    Attributes:
        where: the subgames.
        rows: of P, with one empty sequence per subgame; of O, with one per class.
        source: per player (P, O), int64 [C], the entry of the whole game behind each entry.
        owner: int64 [C], the subgame of each of P's entries.
        copies: how many equal classes stand for each class of `where`; M counts all of them, the
            copies of one class in a row.
        mine: int64 [E], P's sequence; the empty one where P's strategy stays as it is.
        theirs: int64 [E], O's sequence.
        payoff: float64 [E], P's.
        inner: bool [E], below P's infostates.
        weight: float64 [M], reach of chance and P at the top states of a class.
        whole: float64 [M], the same for all states of the class's infostate.
    """

    where: SubgameRoots
    rows: tuple[DecisionRows, DecisionRows]
    source: tuple[np.ndarray, np.ndarray]
    owner: np.ndarray
    copies: int
    mine: np.ndarray
    theirs: np.ndarray
    payoff: np.ndarray
    inner: np.ndarray
    weight: np.ndarray
    whole: np.ndarray

    @property
    def class_of(self) -> np.ndarray:
        """int64 [M], the subgame of each class."""
        return np.repeat(self.where.class_of, self.copies)

    @property
    def total(self) -> np.ndarray:
        """float64 [B], reach of chance and P at each subgame."""
        return np.bincount(self.class_of, self.weight, self.where.count) / self.copies

    def class_values(self, behaviour: np.ndarray) -> np.ndarray:
        """Returns float64 [M], what each class is worth to P if O answers best.

        Args:
            behaviour: float64 [C], P's strategy in the forest.
        """
        return -sweep(self.rows[1], -self.gains(behaviour))[: len(self.weight)]

    def played_values(self, behaviour: np.ndarray, answer: np.ndarray) -> np.ndarray:
        """Returns float64 [M], what each class is worth to P if O plays `answer` (entries)."""
        gain = self.gains(behaviour)
        return sweep(self.rows[1], gain, answer)[: len(self.weight)]

    def gains(self, behaviour: np.ndarray) -> np.ndarray:
        """Returns float64 [S of O], P's payoffs on each sequence of O."""
        plan = realization(self.rows[0], behaviour)
        return np.bincount(self.theirs, self.payoff * plan[self.mine], self.rows[1].num_sequences)


def core(
    index: GameIndex,
    where: SubgameRoots,
    plan: np.ndarray,
    *,
    copies: int = 1,
    arrival: np.ndarray | None = None,
) -> Core:
    """Returns subgames in sequence form.

    Args:
        index: the game.
        where: B subgames, all of them reached.
        plan: float64 [S] or [B, S], P's realization plan in the whole game, one for each subgame.
        copies: of each class.
        arrival: float64 [N], P's own reach of its infostates; that of `plan` by default.
    """
    player = where.player
    mine, theirs = index.seats[player], index.seats[1 - player]
    classes, class_of = (np.repeat(x, copies) for x in (where.classes, where.class_of))

    which, row = mine.rows_below(where.own)
    p_owner = where.own_of[which]
    p_rows, p_source, p_find = gather_rows(mine, where.count, p_owner, row)
    which, row = theirs.rows_below(classes)
    o_rows, o_source, o_find = gather_rows(theirs, len(classes), which, row)

    klass, terminal = theirs.terminals_below(classes)
    owner = class_of[klass]
    root = containing_place(
        mine.first, mine.last, where.own_of, where.own, owner, mine.place[terminal]
    )
    inner = root >= 0
    if arrival is None:
        arrival = at_own(plan, where.own_of, mine.before[where.own])
    x = np.where(inner, arrival[root], at_own(plan, owner, mine.sequence[terminal]))
    payoff = index.payoff(player)[terminal] * index.chance[terminal] * x
    keep = payoff != 0
    klass, terminal, owner, inner = klass[keep], terminal[keep], owner[keep], inner[keep]
    own_sequence = np.where(inner, p_find(owner, mine.sequence[terminal]), owner)
    reach = index.table.chance[where.top] * arrival[where.top_own]
    return Core(
        where=where,
        rows=(p_rows, o_rows),
        source=(p_source, o_source),
        owner=np.repeat(p_owner, p_rows.width),
        copies=copies,
        mine=own_sequence,
        theirs=o_find(klass, theirs.sequence[terminal]),
        payoff=payoff[keep],
        inner=inner,
        weight=np.repeat(np.bincount(where.top_class, reach, len(where.classes)), copies),
        whole=np.repeat(_whole(index, where, plan), copies),
    )


def at_own(plan: np.ndarray, subgame: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """Returns what a plan [S], or one for each subgame [B, S], holds at some sequences."""
    return plan[sequence] if plan.ndim == 1 else plan[subgame, sequence]


def sweep(rows: DecisionRows, gain: np.ndarray, behaviour: np.ndarray | None = None) -> np.ndarray:
    """Returns float64 [S], what each sequence is worth, given gains [S] on the sequences.

    Args:
        rows: of the player whose gains these are.
        gain: payoffs on each sequence.
        behaviour: float64 [C], how the player goes on; at the best by default.
    """
    value = gain.astype(np.float64)
    for members, _ in reversed(rows_by_level(rows)):
        length = rows.width[members]
        first = np.cumsum(length) - length
        spots = np.arange(length.sum()) + np.repeat(rows.offset[members] - first, length)
        if behaviour is None:
            worth = np.maximum.reduceat(value[spots], first)
        else:
            worth = np.add.reduceat(value[spots] * behaviour[spots - rows.roots], first)
        np.add.at(value, rows.parent[members], worth)
    return value


def gather_rows(
    seat: PlayerIndex, count: int, owner: np.ndarray, row: np.ndarray
) -> tuple[DecisionRows, np.ndarray, Callable[[np.ndarray, np.ndarray], np.ndarray]]:
    """Returns (rows of a forest, their entries in the whole game, finder of sequences).

    Args:
        seat: the player.
        count: trees of the forest.
        owner: int64 [R'], the tree of each row, parents before children.
        row: int64 [R'], the row of the whole game.

    The finder maps (trees, sequences of the whole game) to sequences of the forest: the empty one
    of the tree where the sequence belongs to no row of the tree.
    """
    rows = seat.rows
    width = rows.width[row]
    offset = np.concatenate([[count], count + np.cumsum(width)])
    size = rows.num_rows + 1
    key = owner * size + row
    order = np.argsort(key)
    key = key[order]

    def find(tree: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        inner = sequence >= rows.roots
        if not len(key):
            return tree
        of = np.where(inner, rows.row_of[np.maximum(sequence - rows.roots, 0)], rows.num_rows)
        at = np.minimum(np.searchsorted(key, tree * size + of), len(key) - 1)
        found = inner & (key[at] == tree * size + of)
        local = order[at]
        return np.where(found, offset[local] + sequence - rows.offset[row[local]], tree)

    first = np.cumsum(width) - width
    source = np.arange(width.sum()) + np.repeat(rows.offset[row] - rows.roots - first, width)
    parent = find(owner, rows.parent[row].astype(np.int64))
    out = DecisionRows(
        parent=parent.astype(np.int32),
        offset=offset.astype(np.int32),
        action=rows.action[source],
        roots=count,
        root_reach=np.ones(count),
        infostate=rows.infostate[row],
        public=rows.public[row],
        level=row_levels(parent, offset, count),
    )
    return out, source, find


def _whole(index: GameIndex, where: SubgameRoots, plan: np.ndarray) -> np.ndarray:
    """Returns float64 [M], reach of chance and P at the infostate of each class."""
    mine, theirs = index.seats[where.player], index.seats[1 - where.player]
    which, state = theirs.entries.pick(where.classes)
    before = mine.before[index.table.infostate[state, where.player]]
    x = at_own(plan, where.class_of[which], before)
    return np.bincount(which, index.table.chance[state] * x, len(where.classes))

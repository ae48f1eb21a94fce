"""Where subgames begin: infostates of the player who re-solves, and classes of the opponent.

P is the player who re-solves, O the opponent. A subgame frees P's strategy below some infostates of
P, its *own infostates*. The world states at which these infostates begin are its *top states*. The
infostates of O at the top states are its *classes*. The subgame holds everything that O can still
reach from a class. What lies below a class, but not below P's own infostates, keeps P's strategy as
it is: it only adds a constant to what O's sequences pay (Zhang & Sandholm 2021, section 4). Where
P's own infostates make up a whole public state, there is nothing of that kind.

Example, Kuhn poker, P = player 0, at public state 6 (player 0 passed, player 1 bet). The six deals
are the top states 23, 27, 31, 35, 39, 43 (JQ, JK, QJ, QK, KJ, KQ). P's own infostates are 14, 18,
22 (P holds J, Q, K), O's classes are 12, 16, 20 (O holds Q, K, J):

    at         [6]                        top        [23, 27, 31, 35, 39, 43]
    own        [14, 18, 22]               top_own    [ 0,  0,  1,  1,  2,  2]
    classes    [12, 16, 20]               top_class  [ 0,  1,  2,  1,  2,  0]

`subgame_roots(index, 0, [6, 4], "common")` puts two subgames one after the other: `own_of` and
`class_of` are then [0, 0, 0, 1, 1, 1]. With `knowledge=1` a subgame begins at one infoset: at P's
first decision with J (infostate 4), `own` is [4], and `classes` are [2, 3] (O holds Q or K).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxsolve.subgame._index import GameIndex, depths, slices
from jaxsolve.subgame._knowledge import knowledge_set

LEAST_REACH = 1e-9
"""A subgame is skipped if the reach of chance and P there is less than this."""

Knowledge = int | str
"""Which states a subgame has: "common", or the order k of a k-KLSS, an odd positive number."""


@dataclasses.dataclass(frozen=True)
class SubgameRoots:
    """The roots of B subgames of one player (N own infostates, M classes, T top states).

    Attributes:
        player: P.
        name: per subgame, for people.
        at: int64 [B], the infoset (row of P) or the public state.
        own_of: int64 [N], the subgame of each own infostate, ascending.
        own: int64 [N], infostates of P, none below another of the same subgame.
        class_of: int64 [M], the subgame of each class, ascending.
        classes: int64 [M], infostates of O, none below another of the same subgame.
        top: int64 [T], states at which the own infostates begin.
        top_own: int64 [T], which own infostate.
        top_class: int64 [T], which class.
    """

    player: int
    name: tuple[str, ...]
    at: np.ndarray
    own_of: np.ndarray
    own: np.ndarray
    class_of: np.ndarray
    classes: np.ndarray
    top: np.ndarray
    top_own: np.ndarray
    top_class: np.ndarray

    @property
    def count(self) -> int:
        """B."""
        return len(self.at)


def subgame_roots(
    index: GameIndex, player: int, at: int | Sequence[int] | np.ndarray, knowledge: Knowledge
) -> SubgameRoots:
    """Returns the subgames at some infosets, or at public states where knowledge is "common".

    Args:
        index: the game.
        player: P.
        at: infosets of P in canonical order, or public states.
        knowledge: "common", or k of k-KLSS.

    Raises:
        ValueError: k is not an odd positive number, or there is no such infoset or public state.
    """
    numbers = np.atleast_1d(np.asarray(at, np.int64))
    check_knowledge(knowledge)
    seat = index.seats[player]
    if knowledge == "common":
        _check_range(index, numbers, len(index.table.public_states.parent), "public state")
        found = [public_roots(index, player, int(s)) for s in numbers]
        name = tuple(f"public state {s}" for s in numbers)
    else:
        _check_range(index, numbers, seat.rows.num_rows, f"infoset of player {player}")
        start = seat.rows.infostate[numbers]
        found = [knowledge_set(index, player, int(i), int(knowledge)) for i in start]
        name = tuple(index.info.label(player, int(r)) for r in numbers)
    own_of = np.repeat(np.arange(len(found)), [len(f) for f in found])
    own = np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)
    return with_roots(index, player, numbers, name, own_of, own)


def with_roots(
    index: GameIndex,
    player: int,
    at: np.ndarray,
    name: tuple[str, ...],
    own_of: np.ndarray,
    own: np.ndarray,
) -> SubgameRoots:
    """Returns the subgames below given infostates of P; `own_of` ascends."""
    mine, theirs = index.seats[player], index.seats[1 - player]
    keep = mine.highest(own_of, own)
    own_of, own = own_of[keep], own[keep]
    order = np.lexsort((mine.first[own], own_of))
    own_of, own = own_of[order], own[order]
    top_own, top = mine.entries.pick(own)
    key = index.table.infostate[top, 1 - player].astype(np.int64)
    pairs = np.unique(np.stack([own_of[top_own], theirs.first[key], key], 1), axis=0)
    keep = theirs.highest(pairs[:, 0], pairs[:, 2])
    class_of, classes = pairs[keep, 0], pairs[keep, 2]
    return SubgameRoots(
        player=player,
        name=name,
        at=at,
        own_of=own_of,
        own=own,
        class_of=class_of,
        classes=classes,
        top=top,
        top_own=top_own,
        top_class=containing(theirs.first, theirs.last, class_of, classes, own_of[top_own], key),
    )


def containing(
    first: np.ndarray,
    last: np.ndarray,
    group: np.ndarray,
    roots: np.ndarray,
    query_group: np.ndarray,
    query: np.ndarray,
) -> np.ndarray:
    """Returns int64 [Q], which root of its group each infostate lies at or below, -1 if none."""
    return containing_place(first, last, group, roots, query_group, first[query])


def containing_place(
    first: np.ndarray,
    last: np.ndarray,
    group: np.ndarray,
    roots: np.ndarray,
    query_group: np.ndarray,
    place: np.ndarray,
) -> np.ndarray:
    """Returns the same for places in depth-first order; roots are sorted by (group, place)."""
    if not len(roots):
        return np.full(len(place), -1)
    size = len(first) + 1
    keys = group * size + first[roots]
    at = np.searchsorted(keys, query_group * size + place, side="right") - 1
    safe = np.maximum(at, 0)
    inside = (at >= 0) & (group[safe] == query_group) & (place < last[roots[safe]])
    return np.where(inside, safe, -1)


def public_roots(index: GameIndex, player: int, public_state: int) -> np.ndarray:
    """Returns the infostates of a player with which a public state begins."""
    table = index.table
    members = np.flatnonzero(table.public == public_state)
    up = table.parent[members]
    begins = members[(up < 0) | (table.public[np.maximum(up, 0)] != public_state)]
    return np.unique(table.infostate[begins, player]).astype(np.int64)


def levels_of(index: GameIndex, player: int, knowledge: Knowledge) -> list[np.ndarray]:
    """Returns the roots of a player's subgames, level by level from the top.

    Infosets are grouped by how often the player has acted before; public states in which the
    player acts, by how many such states lie above them.

    Args:
        index: the game.
        player: P.
        knowledge: "common", or k of k-KLSS.
    """
    check_knowledge(knowledge)
    rows = index.seats[player].rows
    if knowledge != "common":
        count = int(rows.level.max(initial=-1)) + 1
        return [np.flatnonzero(rows.level == d) for d in range(count)]
    acts = np.unique(rows.public)
    depth = depths_among(index.table.public_states.parent.astype(np.int64), acts)
    return [acts[depth == d] for d in range(int(depth.max(initial=-1)) + 1)]


def depths_among(parent: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Returns how many of some nodes of a forest lie above each of them."""
    chosen = np.zeros(len(parent), bool)
    chosen[nodes] = True
    above = np.zeros(len(parent), np.int64)
    order = np.argsort(depths(parent), kind="stable")
    for node in order:
        up = parent[node]
        if up >= 0:
            above[node] = above[up] + chosen[up]
    return above[nodes]


def reached(
    index: GameIndex, where: SubgameRoots, plan: np.ndarray
) -> tuple[SubgameRoots, np.ndarray]:
    """Returns the subgames without own infostates that P does not reach, and which remain.

    Args:
        index: the game.
        where: B subgames.
        plan: float64 [S] or [B, S], P's realization plan (one for each subgame).

    Returns:
        (subgames, int64 [B'] which of the given ones they are).
    """
    mine = index.seats[where.player]
    before = mine.before[where.own]
    x = plan[before] if plan.ndim == 1 else plan[where.own_of, before]
    mass = np.bincount(where.top_own, index.table.chance[where.top], len(where.own)) * x
    live = mass > 0
    total = np.bincount(where.own_of, mass, where.count)
    kept = np.flatnonzero(total > LEAST_REACH)
    number = np.full(where.count, -1)
    number[kept] = np.arange(len(kept))
    live &= number[where.own_of] >= 0
    if live.all() and len(kept) == where.count:
        return where, kept
    names = tuple(where.name[k] for k in kept)
    own_of = number[where.own_of[live]]
    return with_roots(index, where.player, where.at[kept], names, own_of, where.own[live]), kept


def subset(index: GameIndex, where: SubgameRoots, members: np.ndarray) -> SubgameRoots:
    """Returns some of the subgames, in ascending order."""
    start = np.searchsorted(where.own_of, members)
    stop = np.searchsorted(where.own_of, members, side="right")
    own_of, at = slices(start, stop)
    names = tuple(where.name[k] for k in members)
    return with_roots(index, where.player, where.at[members], names, own_of, where.own[at])


def check_knowledge(knowledge: Knowledge) -> None:
    """Raises a ValueError where `knowledge` is neither "common" nor odd and positive."""
    if knowledge == "common":
        return
    if isinstance(knowledge, bool) or not isinstance(knowledge, int | np.integer):
        raise ValueError(f'knowledge must be "common" or an odd number, not {knowledge!r}')
    if knowledge < 1 or knowledge % 2 == 0:
        raise ValueError(
            f"k-KLSS needs an odd k (1, 3, 5, ...), not {knowledge}: states that P cannot tell "
            "apart are an odd number of steps of knowledge away"
        )


def _check_range(index: GameIndex, numbers: np.ndarray, size: int, what: str) -> None:
    bad = (numbers < 0) | (numbers >= size)
    if bad.any():
        raise ValueError(
            f"{index.info.name} has no {what} {numbers[bad][0]}; they are numbered 0 to {size - 1}"
        )

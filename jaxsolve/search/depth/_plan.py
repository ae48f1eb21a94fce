"""Where depth-limited searches begin, how far they look, and which actions they hold.

P, the player who searches, makes a search for every public state in which P acts. Its root is the
public state in which another player last acted, so that this action is part of the search; if
nobody has acted since the betting round began, the root is the start of the round. A search holds
the actions of a menu, and the one action of the other player that was taken, on the menu or not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.subgame import depths_among
from jaxsolve.tree import PublicTree, TreeInfo, listed
from jaxsolve.values import DepthLimit, after_actions, after_round, count_along, round_of


class Point(NamedTuple):
    """A search.

    Attributes:
        public: the public state in which P acts.
        root: the public state where the search begins.
        taken: the public state after an action of O that is not on the menu, -1 where it is.
    """

    public: int
    root: int
    taken: int


@dataclasses.dataclass(frozen=True)
class SearchPlan:
    """The public states of a game, as one player's searches see them (N public states).

    Attributes:
        tree: the whole game.
        player: P.
        parent: int64 [N], -1 for the first.
        off: bool [N], entered by an action that is not on the menu.
        actions: int64 [N], actions of players above.
        round: int64 [N], betting round, from 1.
        ends: bool [N], the round is over and chance opens the next.
        points: the searches, those above first.
        level: int64 [points], how many roots of searches lie above each root.
    """

    tree: PublicTree
    player: int
    parent: np.ndarray
    off: np.ndarray
    actions: np.ndarray
    round: np.ndarray
    ends: np.ndarray
    points: tuple[Point, ...]
    level: np.ndarray

    def below(self, roots: Sequence[int] | np.ndarray) -> np.ndarray:
        """Returns int64 [N], the nearest of some public states at or above each one, -1 if none."""
        out = np.full(len(self.parent), -1)
        out[np.asarray(roots, np.int64)] = roots
        for p in range(len(out)):  # parents come first
            if out[p] < 0 and self.parent[p] >= 0:
                out[p] = out[self.parent[p]]
        return out

    def keep(self, roots: Sequence[int], taken: Sequence[int]) -> np.ndarray:
        """Returns bool [N], what searches with these roots hold: the path to them, and the menu.

        Args:
            roots: where they begin.
            taken: public states after actions of O that are not on the menu.
        """
        keep = np.zeros(len(self.parent), bool)
        extra = {int(t) for t in taken}
        under = self.below(roots)
        for p in range(len(keep)):
            if p in roots:
                keep[p] = True
            elif under[p] >= 0:
                keep[p] = keep[self.parent[p]] and (not self.off[p] or p in extra)
        for root in roots:
            p = int(root)
            while p >= 0:
                keep[p] = True
                p = int(self.parent[p])
        return keep

    def limit(self, root: int, ahead: int | None, last_round: int) -> DepthLimit | None:
        """Returns the limit of a search, None where it ends with the game.

        Args:
            root: where it begins.
            ahead: actions of players that it looks ahead; None for the end of the betting round.
            last_round: number of the game's last round.
        """
        if ahead is not None:
            found = after_actions(self.tree, int(self.actions[root]) + ahead)
            return found if found.num_leaves else None
        number = self.horizon(root)
        return None if number >= last_round else after_round(self.tree, number)

    def horizon(self, root: int) -> int:
        """Returns the round in which a search ends that looks to the end of a round."""
        return int(self.round[root]) + int(self.ends[root])


def plan_of(tree: PublicTree, player: int, menu: Collection[str] | None) -> SearchPlan:
    """Returns the searches of one player in a game.

    Args:
        tree: a compiled game.
        player: P.
        menu: names of the actions that searches hold; all of them by default.

    Raises:
        ValueError: an action of the menu does not exist, or some public state has an action of
            players before it that others of its states have not.
    """
    info = listed(tree)
    table = info.states
    parent, n = table.public_states.parent.astype(np.int64), len(info.players)
    count = count_along(table, table.actor >= 0)
    actions = np.zeros(len(parent), np.int64)
    np.maximum.at(actions, table.public, count)
    off = np.zeros(len(parent), bool)
    if menu is not None:
        words = {(i, int(a)): info.action_name(i, int(a)) for i in range(n) for a in _used(info, i)}
        unknown = set(menu) - set(words.values())
        if unknown:
            raise ValueError(
                f"{info.name} has no action {sorted(unknown)[0]!r}; its actions are "
                f"{', '.join(sorted(set(words.values())))}"
            )
        up = np.maximum(table.parent, 0)
        moved = (table.parent >= 0) & (table.actor[up] >= 0)
        for (i, action), word in words.items():
            if word not in menu:
                off[table.public[moved & (table.actor[up] == i) & (table.action == action)]] = True
    rounds = round_of(tree)
    acts = [np.isin(np.arange(len(parent)), p.public) for p in info.players]
    others = np.any([a for i, a in enumerate(acts) if i != player], axis=0)
    ends = np.zeros(len(parent), bool)
    child = np.flatnonzero(parent >= 0)
    ends[parent[child][rounds[child] > rounds[parent[child]]]] = True
    points = []
    for s in np.flatnonzero(acts[player]):
        points.append(_point(int(s), parent, off, others | ends))
    roots = np.unique([p.root for p in points])
    depth = dict(zip(roots.tolist(), depths_among(parent, roots).tolist(), strict=True))
    level = np.array([depth[p.root] for p in points])
    order = np.argsort(level, kind="stable")
    return SearchPlan(
        tree,
        player,
        parent,
        off,
        actions,
        rounds,
        ends,
        tuple(points[k] for k in order),
        level[order],
    )


def _point(state: int, parent: np.ndarray, off: np.ndarray, stops: np.ndarray) -> Point:
    """Returns the search for a public state: up to the first that stops it, or to the top."""
    below, at = state, int(parent[state])
    while at >= 0 and not stops[at]:
        below, at = at, int(parent[at])
    if at < 0:
        return Point(state, below, -1)
    return Point(state, at, below if off[below] else -1)


def _used(info: TreeInfo, player: int) -> np.ndarray:
    return np.unique(info.players[player].action)

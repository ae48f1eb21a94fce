"""The searches on the way to one decision: what an agent makes, and no others.

`depth_limited` and `pluribus` make every search of a game. These make the ones on the path to a
decision when it is reached, and come to the same strategy there.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxsolve.compiler import in_rows
from jaxsolve.search.depth._nested import search_at
from jaxsolve.search.depth._plan import Point, plan_of
from jaxsolve.search.depth._pluribus import Group, Played, groups_of, load_cfr, search_group
from jaxsolve.search.depth._search import Beliefs, DepthSearch, Searcher, composed, in_rows_search
from jaxsolve.subgame import index_of
from jaxsolve.tree import ListedInfo, PublicTree, listed


class ModicumPath(NamedTuple):
    """What a player of `depth_limited` has searched in a match.

    Attributes:
        who: the player's searches.
        beliefs: from the searches so far.
        done: searches that were made.
    """

    who: Searcher
    beliefs: Beliefs
    done: frozenset[Point]


class PluribusPath(NamedTuple):
    """What a player of `pluribus` has searched in a match.

    Attributes:
        who: the player's searches.
        groups: those of the whole game, in order.
        played: strategies after the searches so far.
        done: searches that were made.
    """

    who: Searcher
    groups: tuple[Group, ...]
    played: Played
    done: frozenset[tuple[int, tuple[int, ...]]]


@dataclasses.dataclass(frozen=True)
class ModicumSearch:
    """Searches of `depth_limited` on the way to a decision.

    Attributes:
        tree: a compiled two-player constant-sum game, actions off the menu included.
        search: how searches are made.
    """

    tree: PublicTree
    search: DepthSearch

    def __post_init__(self) -> None:
        self.search.check()
        index_of(self.tree)

    @property
    def info(self) -> ListedInfo:
        """Names of the game."""
        return listed(in_rows(self.tree))

    def start(self, player: int) -> ModicumPath:
        """Returns what a player knows before anything is searched."""
        tree, search = in_rows_search(self.tree, self.search)
        who = Searcher(plan_of(tree, player, search.menu), search, {})
        start = Beliefs.start(tree, search.policies[0], player)
        return ModicumPath(who, start, frozenset())

    def decide(self, state: ModicumPath, infoset: int) -> tuple[np.ndarray, ModicumPath]:
        """Returns (float64 [a] probabilities of an infoset's actions, what is known then)."""
        plan = state.who.plan
        mine = self.info.players[plan.player]
        above = _path(plan.parent, int(mine.public[infoset]))
        beliefs, done = state.beliefs, set(state.done)
        for public in above:
            for point in plan.points:
                if point.public != public:
                    continue
                menu = [p for p in plan.points if p.root == point.root and p.taken < 0]
                # The search of the menu comes before that of an action off it.
                for one in [*menu[:1], point] if point.taken >= 0 else [point]:
                    if one not in done:
                        beliefs, _ = search_at(state.who, beliefs, [one])
                        done.add(one)
        odds = composed(self.info, beliefs, plan.player)
        found = odds[slice(*mine.offset[infoset : infoset + 2])]
        return found, ModicumPath(state.who, beliefs, frozenset(done))


@dataclasses.dataclass(frozen=True)
class PluribusSearch:
    """Searches of `pluribus` on the way to a decision.

    Attributes:
        tree: a compiled game of any number of players, actions off the menu included.
        search: how searches are made.
        every_decision: see `pluribus`.
        frozen: likewise.
        final: likewise.
    """

    tree: PublicTree
    search: DepthSearch
    every_decision: bool = False
    frozen: bool = True
    final: bool = True

    def __post_init__(self) -> None:
        load_cfr(self.search)
        listed(in_rows(self.tree))

    @property
    def info(self) -> ListedInfo:
        """Names of the game."""
        return listed(in_rows(self.tree))

    def start(self, player: int) -> PluribusPath:
        """Returns what a player knows before anything is searched."""
        tree, search = in_rows_search(self.tree, self.search)
        who = Searcher(plan_of(tree, player, search.menu), search, {})
        start = Beliefs.start(tree, search.policies[0], player)
        groups = groups_of(who.plan, self.every_decision, self.frozen)
        return PluribusPath(who, groups, Played.start(start, player), frozenset())

    def decide(self, state: PluribusPath, infoset: int) -> tuple[np.ndarray, PluribusPath]:
        """Returns (float64 [a] probabilities of an infoset's actions, what is known then)."""
        plan = state.who.plan
        mine = self.info.players[plan.player]
        above = set(_path(plan.parent, int(mine.public[infoset])))
        solver, played, done = load_cfr(self.search), state.played, set(state.done)
        for group in state.groups:
            name = (group.root, group.taken)
            if name not in done and {group.root, *group.taken} <= above:
                played, _ = search_group(state.who, solver, played, group, self.final)
                done.add(name)
        odds = played.policy(plan)[slice(*mine.offset[infoset : infoset + 2])]
        return odds, PluribusPath(state.who, state.groups, played, frozenset(done))


def _path(parent: np.ndarray, public: int) -> list[int]:
    """Returns the public states from the first to a given one."""
    path = [public]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[::-1]

"""A player who searches at each of their turns, and only there.

`search.depth_limited` makes every search of a game; this makes the ones on the way to a decision,
and plays what that composed policy plays. Searches are built on the host, so `act` cannot be
jitted; for many matches play the composed policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxsolve.search.depth._nested import search_at
from jaxsolve.search.depth._plan import Point, plan_of
from jaxsolve.search.depth._search import Beliefs, DepthSearch, Searcher, composed
from jaxsolve.subgame import index_of
from jaxsolve.tree import PublicTree
from jaxsolve.types import PRNGKey


class SearchState(NamedTuple):
    """What a searching player remembers.

    Attributes:
        beliefs: from the searches so far.
        done: searches that were made.
    """

    beliefs: Beliefs
    done: frozenset[Point]


class DepthAgent(NamedTuple):
    """A player of one seat.

    Attributes:
        init: (key) -> state, before a hand.
        act: (state, infoset, key) -> (action, probabilities [A] over the game's actions, state);
            the infoset is a number in canonical order (`PlayerInfo.offset`).
        name: for tables of results.
    """

    init: Callable[[PRNGKey], SearchState]
    act: Callable[[SearchState, int, PRNGKey], tuple[int, np.ndarray, SearchState]]
    name: str


def depth_agent(
    tree: PublicTree, search: DepthSearch, player: int, *, name: str = "depth-limited"
) -> DepthAgent:
    """Returns a player who searches when it is their turn.

    Args:
        tree: a compiled two-player constant-sum game, actions off the menu included.
        search: how searches are made; the first continuation is the blueprint.
        player: the seat.
        name: for tables of results.

    Raises:
        ValueError: an option makes no sense.
    """
    search.check()
    index = index_of(tree)
    who = Searcher(plan_of(tree, player, search.menu), search, {})
    info, plan = index.info, who.plan
    mine = info.players[player]
    point_at = {p.public: p for p in plan.points}
    width = int(info.game.num_actions)

    def init(key: PRNGKey) -> SearchState:
        return SearchState(Beliefs.start(tree, search.policies[0], player), frozenset())

    def act(state: SearchState, infoset: int, key: PRNGKey) -> tuple[int, np.ndarray, SearchState]:
        if not 0 <= infoset < mine.num_infosets:
            raise ValueError(
                f"player {player} has infosets 0 to {mine.num_infosets - 1} in {info.name}, not "
                f"{infoset}"
            )
        path, at = [], int(mine.public[infoset])
        while at >= 0:
            if at in point_at:
                path.append(point_at[at])
            at = int(plan.parent[at])
        for point in reversed(path):
            state = _searched(who, state, point)
        odds = composed(info, state.beliefs, player)[slice(*mine.offset[infoset : infoset + 2])]
        actions = mine.action[slice(*mine.offset[infoset : infoset + 2])]
        chosen = int(jax.random.choice(key, len(odds), p=np.asarray(odds)))
        policy = np.zeros(width)
        policy[actions] = odds
        return int(actions[chosen]), policy, state

    return DepthAgent(init, act, name)


def _searched(who: Searcher, state: SearchState, point: Point) -> SearchState:
    """Returns the state after a search; the menu's comes before that of an action off it."""
    todo: list[Any] = [point]
    if point.taken >= 0:
        menu = [p for p in who.plan.points if p.root == point.root and p.taken < 0]
        todo = [*menu[:1], point]
    for one in todo:
        if one not in state.done:
            beliefs, _ = search_at(who, state.beliefs, [one])
            state = SearchState(beliefs, state.done | {one})
    return state

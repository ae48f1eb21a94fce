"""Continual re-solving with growing trees, composed into one policy of exact exploitability.

Source: Schmid et al. 2023 (Student of Games), "Modified continual re-solving". The public state at
which a player has to act need not be in the tree of their last search. The next search then
starts from the closest one that is, under the gadget; its tree opens the single branch that leads
to where they are, and grows below that only. What the opponent was promised is the mean of their
counterfactual values over the iterations of the last search.

A search depends on public information only (its simulations on a key as well), so searching at
every public state gives one policy. All searches after equally many own decisions are a batch.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.leaf._value_net import ValueFunction
from jaxsolve.search._belief_solve import Gadget
from jaxsolve.search._beliefs import nodes_below
from jaxsolve.search._growing_solve import (
    GrowingSearch,
    PriorFunction,
    growing_search,
    gt_cfr,
)
from jaxsolve.search._growing_tree import Grounds, grounds
from jaxsolve.solve import Solver
from jaxsolve.tree._public_game import PublicGame
from jaxsolve.types import Array, PRNGKey

BATCHES = (4, 16, 64)
"""Sizes of batches that are compiled; a level of searches is cut into the largest."""


class GrowingResolver(NamedTuple):
    """How to search a whole game, but for the value function.

    Attributes:
        game: the public nodes.
        places: what trees grow into, in groups of similar size.
        searches: options for each group.
        alpha: share of the gadget in the opponent's range.
    """

    game: PublicGame
    places: tuple[Grounds, ...]
    searches: tuple[GrowingSearch, ...]
    alpha: float


def growing_resolver(
    game: PublicGame, solver: Solver, *, simulations: int, alpha: float = 0.5, **options: Any
) -> GrowingResolver:
    """Returns a search of a whole game by growing trees.

    Args:
        game: the public nodes.
        solver: variant of CFR.
        simulations: s, of each search.
        alpha: share of the gadget in the opponent's range, 0.5 in the paper.
        **options: further options of `growing_search`.

    Raises:
        ValueError: alpha is not in 0..1, or `growing_search` refuses an option.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is a share between 0 and 1, not {alpha}")
    below = np.ones(len(game.parent), int)
    for node in reversed(range(1, len(below))):
        below[game.parent[node]] += below[node]
    size = np.array([int(n).bit_length() for n in below[game.representative]])
    places = tuple(grounds(game, kinds=np.flatnonzero(size == x)) for x in np.unique(size))
    searches = tuple(
        growing_search(p, solver, simulations=simulations, focused=True, **options) for p in places
    )
    return GrowingResolver(game, places, searches, alpha)


def compose_growing(
    resolver: GrowingResolver,
    value: ValueFunction,
    key: PRNGKey,
    *,
    prior: PriorFunction | None = None,
) -> np.ndarray:
    """Returns float64 [P, A, H], what whoever acts at each public node plays with each hand.

    `search.policy_of` makes it a policy. Actions are numbered by their place among the legal ones.

    Args:
        resolver: how.
        value: worth of public states on the frontier.
        key: draws all simulations.
        prior: of actions; uniform by default.
    """
    game = resolver.game
    table = np.zeros((len(game.parent), max(map(len, game.children)), game.num_hands))
    hands = game.num_hands
    waiting = [
        _Task(seat, game.root, node, np.ones((2, hands)), None)
        for seat in (0, 1)
        for node in _next_decisions(game, game.root, seat)
    ]
    depth = 0
    while waiting:
        found = _search_level(resolver, value, prior, waiting, jax.random.fold_in(key, depth))
        following = []
        for task, (policy, ranges, values, inside, where) in zip(waiting, found, strict=True):
            count = len(game.children[task.node])
            table[task.node, :count] = policy[:count]
            local = {int(node): m for m, node in enumerate(where) if node >= 0}
            for child in game.children[task.node]:
                for node in _next_decisions(game, int(child), task.seat):
                    root = node
                    while game.actor[root] < 0 or not inside[local[root]]:
                        root = int(game.parent[root])
                    m = local[root]
                    promised = values[m, 1 - task.seat]
                    following.append(_Task(task.seat, root, node, ranges[:, m], promised))
        waiting, depth = following, depth + 1
    return table


class _Task(NamedTuple):
    """A search for a player at `node`, from `root` at or above it; `promised` is None at first."""

    seat: int
    root: int
    node: int
    ranges: np.ndarray
    promised: np.ndarray | None


def _next_decisions(game: PublicGame, node: int, seat: int) -> list[int]:
    """Returns the first public nodes at or below `node` at which a player acts."""
    out, todo = [], [node]
    while todo:
        here = todo.pop()
        if game.actor[here] == seat:
            out.append(here)
        else:
            todo += game.children[here].tolist()
    return sorted(out)


def _search_level(
    resolver: GrowingResolver,
    value: ValueFunction,
    prior: PriorFunction | None,
    tasks: list[_Task],
    key: PRNGKey,
) -> list[Any]:
    """Returns policy [A, H], ranges [2, M, H], values [M, 2, H], inside [M], nodes [M] of each."""
    game = resolver.game
    found: list[Any] = [None] * len(tasks)
    kinds = np.array([game.kind[t.root] for t in tasks], np.int32)
    hands = game.num_hands
    for places, search in zip(resolver.places, resolver.searches, strict=True):
        mine = np.flatnonzero(np.asarray(places.games.row)[kinds] >= 0)
        batch = next((b for b in BATCHES if len(mine) <= b), BATCHES[-1])
        child_of = functools.lru_cache(None)(functools.partial(_child, places))
        for low in range(0, len(mine), batch):
            some = mine[low : low + batch]
            pick = np.concatenate([some, np.repeat(some[-1:], batch - len(some))])
            where = {int(k): nodes_below(game, tasks[k].root, child_of(kinds[k])) for k in some}
            focus = {k: int(np.flatnonzero(w == tasks[k].node)[0]) for k, w in where.items()}
            promised = np.zeros((batch, 2, hands))
            on = np.zeros((batch, 2), bool)
            for j, k in enumerate(pick):
                given = tasks[k].promised
                if given is not None:
                    on[j, 1 - tasks[k].seat], promised[j, 1 - tasks[k].seat] = True, given
            part = _search_batch(
                places,
                value,
                search,
                prior,
                jnp.asarray(kinds[pick]),
                jnp.asarray(np.stack([tasks[k].ranges for k in pick]), float),
                Gadget(
                    jnp.asarray(on),
                    jnp.asarray(promised, float),
                    jnp.full(batch, resolver.alpha, float),
                ),
                jnp.asarray([focus[int(k)] for k in pick], jnp.int32),
                key,
                jnp.asarray(pick),
            )
            arrays = [np.asarray(x) for x in part]
            for j, k in enumerate(some):
                found[k] = (*(x[j] for x in arrays), where[int(k)])
    return found


def _child(places: Grounds, kind: int) -> np.ndarray:
    """Returns int [M, A], `Nodes.child` of a kind."""
    return np.asarray(places.games.at(jnp.int32(kind)).nodes.child)


@jax.jit
def _search_batch(
    places: Grounds,
    value: ValueFunction,
    search: GrowingSearch,
    prior: PriorFunction | None,
    kind: Array,
    ranges: Array,
    gadget: Gadget,
    focus: Array,
    key: PRNGKey,
    number: Array,
) -> tuple[Array, Array, Array, Array]:
    def one(kind: Array, ranges: Array, gadget: Gadget, focus: Array, number: Array) -> Any:
        mine = jax.random.fold_in(key, number)
        grown = gt_cfr(
            places, value, search, kind, ranges, mine, gadget=gadget, focus=focus, prior=prior
        )
        at = grown.ground.game.nodes.at
        reached = jnp.stack([grown.reach[i][at[i]] for i in range(2)])
        return grown.policy(focus), reached, grown.values, grown.growth.inside

    return jax.vmap(one)(kind, ranges, gadget, focus, number)

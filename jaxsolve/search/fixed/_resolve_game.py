"""The search of a whole game, composed into one policy whose exploitability is exact.

Continual re-solving (Moravcik et al. 2017; Schmid et al. 2023): a player keeps their own range and
the opponent's counterfactual values at the public states of their last search. To act, they
re-solve from the closest public state on the way to the current one that the last search contains,
under the gadget. Recursive evaluation (Brown et al. 2020, ReBeL) has no constraint: both ranges
come from the search before. A search depends on public information only, so searching at every
public state gives one policy. All searches of one depth are a batch.

Differs from Student of Games: a re-solve from an earlier public state keeps the branches that were
not taken with all that is above the depth limit, where the paper makes leaves of them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.public import Limit, PublicGame, no_limit
from jaxsolve.search.fixed._outlines import nodes_below, size_of
from jaxsolve.search.fixed._solve import Gadget, Solution, policy_at, solve_belief
from jaxsolve.search.fixed._subgames import Subgames, subgames
from jaxsolve.solvers import Solver
from jaxsolve.types import CHANCE, TERMINAL, Array, PRNGKey
from jaxsolve.values import Oracle, ValueFunction, check_value

BATCHES = (4, 16, 64, 256)
"""Sizes of batches that are compiled; a level of searches is cut into these."""


class Search(NamedTuple):
    """How to search, but for the value function.

    Attributes:
        game: the public nodes.
        games: depth-limited subgames, in groups of similar size.
        solver: variant of CFR.
        iterations: of each search.
        alpha: share of the gadget in the opponent's range.
        every: re-solve at each decision; otherwise only where the last search ends.
        safe: continual re-solving; otherwise both ranges are those of the search before.
        mean_values: the opponent is promised the mean of their values over the iterations, which
            the regrets of the search bound; otherwise what the average policies are worth, where
            values at the limit of hands that the opponent does not bring there are arbitrary.
        sampled: play and beliefs come from one random iteration, as in ReBeL; an iteration t is
            drawn with a chance in proportion to t.
    """

    game: PublicGame
    games: tuple[Subgames, ...]
    solver: Solver
    iterations: int
    alpha: float = 0.5
    every: bool = True
    safe: bool = True
    mean_values: bool = True
    sampled: bool = False


def continual(
    game: PublicGame,
    limit: Limit,
    solver: Solver,
    *,
    iterations: int,
    alpha: float = 0.5,
    every: bool = True,
    safe: bool = True,
    mean_values: bool = True,
    sampled: bool = False,
) -> Search:
    """Returns a search to a depth limit, from every public state.

    Args:
        game: the public nodes.
        limit: where searches end, counted from where they start.
        solver: variant of CFR.
        iterations: of each search.
        alpha: share of the gadget in the opponent's range, 0.5 in the papers.
        every: re-solve at each decision, or only where the last search ends.
        safe: under a gadget.
        mean_values: see `Search`; of safe search.
        sampled: see `Search`; for unsafe search.

    Raises:
        ValueError: alpha is not in 0..1, or a safe search is to play random iterations.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is a share between 0 and 1, not {alpha}")
    if iterations < 1:
        raise ValueError(f"iterations must be positive, not {iterations}")
    if safe and sampled:
        raise ValueError("a gadget constrains the average policy: use sampled=True with safe=False")
    # Each group is a program to compile, so sizes within one differ by up to a factor of four.
    size = np.array([size_of(game, int(r), limit).bit_length() // 2 for r in game.representative])
    games = tuple(subgames(game, limit, classes=np.flatnonzero(size == x)) for x in np.unique(size))
    return Search(
        game, games, solver, iterations, alpha, every, safe, mean_values and safe, sampled
    )


def oracle(
    game: PublicGame,
    solver: Solver,
    *,
    iterations: int,
    classes: Any = None,
    limit: Limit = no_limit,
    value: ValueFunction | None = None,
) -> Oracle:
    """Returns the value function that solves each subgame to the end.

    Args:
        game: the public nodes.
        solver: variant of CFR.
        iterations: of each subgame, from scratch at every call.
        classes: those that occur at leaves; all by default.
        limit: of the inner search, with `value` below it.
        value: worth of the inner search's leaves.
    """
    inner = subgames(game, limit, classes=classes)
    solve = functools.partial(_root_values, iterations=iterations)
    return Oracle(
        jax.tree_util.Partial(solve, inner, value, solver), game.game.name, game.num_classes
    )


def compose(search: Search, value: ValueFunction | None, key: PRNGKey | None = None) -> np.ndarray:
    """Returns float64 [P, A, H], what whoever acts at each public node plays with each hand.

    Actions are numbered by their place among the legal ones. Where play never comes under the
    player's own policy, the search still happens, from a uniform range.

    Args:
        search: how.
        value: worth of leaves at the depth limit.
        key: draws the policies that searches start from, and sampled iterations; uniform starts
            without one.

    Raises:
        ValueError: `sampled` without a key, a network of another game, or no value function where
            searches end at a depth limit.
    """
    game = search.game
    check_value(value, game)
    if search.sampled and key is None:
        raise ValueError("a sampled search needs a key")
    hands = game.num_hands
    width = max(len(c) for c in game.children)
    table = np.zeros((len(game.parent), width, hands))
    seats = (0, 1) if search.safe else (-1,)
    start = _Root(game.root, np.ones((2, hands)), np.zeros(hands))
    waiting = [(seat, start, False) for seat in seats]
    child_of = functools.lru_cache(None)(lambda subgame_class: _child(search.games, subgame_class))
    depth = 0
    while waiting:
        level_key = None if key is None else jax.random.fold_in(key, depth)
        policies, ranges, values = _solve_level(search, value, waiting, level_key)
        following = []
        for k, (seat, root, _) in enumerate(waiting):
            below = child_of(int(game.subgame_class[root.node]))
            where = nodes_below(game, root.node, below)
            for m, record in _visits(search, seat, where, below):
                node = int(where[m])
                if record:
                    played = policies[k][m]
                    table[node, : len(played)] = played
                    continue
                promised = values[k][1 - seat, m] if seat >= 0 else np.zeros(hands)
                following.append((seat, _Root(node, ranges[k][:, m], promised), seat >= 0))
        waiting, depth = following, depth + 1
    return table


class _Root(NamedTuple):
    """Where a search starts: the node, both ranges [2, H], what the opponent was promised [H]."""

    node: int
    ranges: np.ndarray
    promised: np.ndarray


def _visits(
    search: Search, seat: int, where: np.ndarray, child: np.ndarray
) -> list[tuple[int, bool]]:
    """Returns (local node, whether this search's policy is played there or another starts)."""
    out, todo = [], [(0, False)]
    actor = search.game.actor
    while todo:
        m, acted = todo.pop()
        subgame_class = actor[where[m]]
        below = child[m][child[m] >= 0]
        if subgame_class == TERMINAL:
            continue
        if subgame_class != CHANCE:
            if not len(below):
                out.append((m, False))  # the depth limit
                continue
            if seat in (-1, subgame_class):
                if acted and search.every:
                    out.append((m, False))
                    continue
                out.append((m, True))
                acted = True
        todo += [(int(c), acted) for c in below]
    return out


def _solve_level(
    search: Search, value: ValueFunction | None, waiting: list[Any], key: PRNGKey | None
) -> tuple[Any, Any, Any]:
    """Returns policies [M, A, H], ranges [2, M, H] and values [2, M, H] of each search."""
    game, size = search.game, len(waiting)
    subgame_class = np.array([game.subgame_class[root.node] for _, root, _ in waiting], np.int32)
    ranges = np.stack([root.ranges for _, root, _ in waiting])
    on = np.zeros((size, 2), bool)
    alternative = np.zeros((size, 2, game.num_hands))
    for k, (seat, root, constrained) in enumerate(waiting):
        if constrained:
            on[k, 1 - seat], alternative[k, 1 - seat] = True, root.promised
    stop = np.full(size, search.iterations, np.int32)
    if search.sampled:
        assert key is not None
        u = np.asarray(jax.random.uniform(jax.random.fold_in(key, 1), (size,)))
        stop = np.ceil(np.sqrt(u) * search.iterations).clip(1).astype(np.int32)
    start = None if key is None else jax.random.fold_in(key, 0)
    found: list[Any] = [None] * size
    for games in search.games:
        mine = np.flatnonzero(np.asarray(games.row)[subgame_class] >= 0)
        for low, batch in _cut(len(mine)):
            some = mine[low : low + batch]
            pick = np.concatenate([some, np.repeat(some[-1:], batch - len(some))])
            part = _solve_batch(
                games,
                value,
                search.solver,
                jnp.asarray(subgame_class[pick]),
                jnp.asarray(ranges[pick], float),
                Gadget(
                    jnp.asarray(on[pick]),
                    jnp.asarray(alternative[pick], float),
                    jnp.full(batch, search.alpha, float),
                ),
                jnp.asarray(stop[pick]),
                start,
                jnp.asarray(pick),
                iterations=search.iterations,
                sampled=search.sampled,
                mean_values=search.mean_values,
            )
            arrays = [np.asarray(x, np.float64) for x in part]
            for j, k in enumerate(some):
                found[k] = [x[j] for x in arrays]
    policies, reached, worth = zip(*found, strict=True)
    return policies, reached, worth


def _cut(size: int) -> list[tuple[int, int]]:
    """Returns (start, length) of batches of searches, at least half full but the smallest."""
    cut, low = [], 0
    while low < size:
        left = size - low
        batch = next((b for b in BATCHES if left <= b <= 2 * left), 0)
        batch = batch or max((b for b in BATCHES if b <= left), default=BATCHES[0])
        cut.append((low, batch))
        low += batch
    return cut


def _child(games: tuple[Subgames, ...], subgame_class: int) -> np.ndarray:
    """Returns int [M, A], `Nodes.child` of a class."""
    for group in games:
        if int(group.row[subgame_class]) >= 0:
            return np.asarray(group.at(jnp.int32(subgame_class)).nodes.child)
    raise AssertionError(subgame_class)


@functools.partial(jax.jit, static_argnames=("iterations", "sampled", "mean_values"))
def _solve_batch(
    games: Subgames,
    value: ValueFunction | None,
    solver: Solver,
    subgame_class: Array,
    ranges: Array,
    gadget: Gadget,
    stop: Array,
    key: PRNGKey | None,
    number: Array,
    *,
    iterations: int,
    sampled: bool,
    mean_values: bool,
) -> tuple[Array, Array, Array]:
    def one(subgame_class: Array, ranges: Array, gadget: Gadget, stop: Array, number: Array) -> Any:
        mine = None if key is None else jax.random.fold_in(key, number)
        found = solve_belief(
            games,
            value,
            solver,
            subgame_class,
            ranges,
            gadget,
            iterations=iterations,
            key=mine,
            stop=stop,
            mean_values=mean_values,
        )
        return at_nodes(found, sampled=sampled)

    return jax.vmap(one)(subgame_class, ranges, gadget, stop, number)


def at_nodes(found: Solution, *, sampled: bool = False) -> tuple[Array, Array, Array]:
    """Returns policies [M, A, H], ranges [2, M, H] and values [2, M, H] at all public nodes."""
    reach = found.sampled if sampled else found.reach
    local = jnp.arange(found.nodes.actor.shape[0])
    policies = jax.vmap(lambda m: policy_at(found.nodes, reach, m))(local)
    ranges = jnp.stack([reach[i][found.nodes.at[i]] for i in range(2)])
    values = jnp.stack([jax.vmap(lambda m, i=i: found.value_at(i, m))(local) for i in range(2)])
    return policies, ranges, values


def _root_values(
    games: Subgames,
    value: ValueFunction | None,
    solver: Solver,
    subgame_class: Array,
    beliefs: Array,
    *,
    iterations: int,
) -> Array:
    """Returns float [2, H], counterfactual values at the root of a subgame."""
    found = solve_belief(games, value, solver, subgame_class, beliefs, iterations=iterations)
    return jnp.stack([found.value_at(i, jnp.int32(0)) for i in range(2)])

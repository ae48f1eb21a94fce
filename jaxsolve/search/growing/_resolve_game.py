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

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from jaxsolve.public import PublicTable
from jaxsolve.search.fixed import Gadget
from jaxsolve.search.growing._solve import Grown, growing_search, gt_cfr
from jaxsolve.search.growing._state import GrowingSearch, PriorFunction
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, check_value


class GrowingResolver(NamedTuple):
    """How to search a whole game, but for the value function.

    Attributes:
        table: the public states.
        search: options of each search.
        alpha: share of the gadget in the opponent's range.
        batch: searches side by side.
        way: longest way from the root of a search to its focus.
    """

    table: PublicTable
    search: GrowingSearch
    alpha: float
    batch: int
    way: int


def growing_resolver(
    table: PublicTable,
    solver: Solver,
    *,
    simulations: int,
    alpha: float = 0.5,
    batch: int = 16,
    **options: Any,
) -> GrowingResolver:
    """Returns a search of a whole game by growing trees.

    Args:
        table: the public states.
        solver: variant of CFR.
        simulations: s, of each search.
        alpha: share of the gadget in the opponent's range, 0.5 in the paper.
        batch: searches side by side; 1 where the value function solves subgames.
        **options: further options of `growing_search`.

    Raises:
        ValueError: alpha is not in 0..1, or `growing_search` refuses an option.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is a share between 0 and 1, not {alpha}")
    if batch < 1:
        raise ValueError(f"batch must be positive, not {batch}")
    way = max(len(_steps(table, 0, p)) for p in range(len(table.parent)))
    search = growing_search(table, solver, simulations=simulations, longest_path=way, **options)
    return GrowingResolver(table, search, alpha, batch, way)


def compose_growing(
    resolver: GrowingResolver,
    value: ValueFunction,
    key: PRNGKey,
    *,
    prior: PriorFunction | None = None,
    every: bool = False,
    progress: bool = False,
) -> np.ndarray:
    """Returns float64 [P, A, H], what whoever acts at each public state plays.

    `evaluate.respond` says how much it can be exploited; `PublicTable.policy_of` makes it a policy
    of a compiled tree.

    Args:
        resolver: how.
        value: worth of leaves.
        key: draws all simulations.
        prior: of actions; uniform by default.
        every: each search goes on from that of the public state before, whoever acted there, as
            the paper measures exploitability; by default each player re-solves at their own
            decisions, from their own last search, as they would in a match.
        progress: show a bar on standard error.

    Raises:
        ValueError: a network of another game.
    """
    table = resolver.table
    check_value(value, table)
    policy = np.zeros((len(table.parent), table.transitions.num_actions, table.num_hands))
    fair = np.ones((2, table.num_hands))
    waiting = [Task(int(table.actor[0]), 0, 0, fair, None)]
    if not every:
        waiting = [
            Task(seat, 0, node, fair, None)
            for seat in (0, 1)
            for node in next_decisions(table, 0, seat)
        ]
    depth = 0
    with tqdm(total=len(table.parent), disable=not progress, unit="search") as bar:
        while waiting:
            found = _search_level(resolver, value, prior, waiting, jax.random.fold_in(key, depth))
            following = []
            for task, grown in zip(waiting, found, strict=True):
                focus = int(grown.focus)
                policy[task.node] = grown.average[focus]
                for child in table.children[task.node][table.children[task.node] >= 0].tolist():
                    if every:
                        seat = int(table.actor[child])
                        following.append(next_task(table, grown, task._replace(seat=seat), child))
                        continue
                    for node in next_decisions(table, child, task.seat):
                        following.append(next_task(table, grown, task, node))
            bar.update(len(waiting))
            waiting, depth = following, depth + 1
    return policy


class Task(NamedTuple):
    """A search for a player at `node`, from `root` at or above it; `promised` is None at first."""

    seat: int
    root: int
    node: int
    ranges: np.ndarray
    promised: np.ndarray | None


def next_decisions(table: PublicTable, node: int, seat: int) -> list[int]:
    """Returns the first public states at or below `node` at which a player acts."""
    out, todo, actor = [], [node], table.actor
    while todo:
        here = todo.pop()
        if actor[here] == seat:
            out.append(here)
        else:
            todo += [int(c) for c in table.children[here] if c >= 0]
    return sorted(out)


def next_task(table: PublicTable, grown: Grown, task: Task, node: int) -> Task:
    """Returns the search for the same player at `node`, from the closest state in the tree.

    Args:
        table: the public states.
        grown: the last search, in numpy arrays.
        task: what it was about; its seat is the one that searches next.
        node: a public state below its focus.
    """
    growth, hands = grown.growth, table.num_hands
    up, step, here, root = -1, -1, 0, task.root
    for k in _steps(table, task.root, node):
        if here < 0 or not growth.inside[here, k]:
            break
        up, step, root = here, k, int(table.children[root, k])
        here = int(growth.opened[here, k])
    other = 1 - task.seat
    if up < 0:
        flow = grown.action_reach[0]
        acts = (table.actor[root] == np.arange(2))[:, None]
        ranges = np.where(acts, flow.sum(1), flow[:, 0])
        return Task(task.seat, root, node, ranges, np.asarray(grown.root_values[other]))
    source = table.transitions.parents_of[growth.row[up], step]
    flat = grown.action_reach[up].reshape(2, 1, -1)
    ranges = np.take_along_axis(flat, source.reshape(2, 1, -1), 2)
    ranges = ranges.reshape(2, hands, -1).sum(-1)
    promised = np.asarray(grown.child_values[up, other, step])
    return Task(task.seat, root, node, ranges, promised)


def _steps(table: PublicTable, root: int, node: int) -> list[int]:
    """Returns the children to go to from one public state to another below it."""
    out = []
    while node != root:
        out.append(int(table.step[node]))
        node = int(table.parent[node])
    return out[::-1]


def _search_level(
    resolver: GrowingResolver,
    value: ValueFunction,
    prior: PriorFunction | None,
    tasks: list[Task],
    key: PRNGKey,
) -> list[Grown]:
    """Returns the outcome of each search, in numpy arrays."""
    table, size, hands = resolver.table, resolver.batch, resolver.table.num_hands
    found: list[Any] = [None] * len(tasks)
    # A batch takes as long as its largest tree.
    order = sorted(range(len(tasks)), key=lambda t: -int(table.below[tasks[t].node]))
    for low in range(0, len(tasks), size):
        some = order[low : low + size]
        pick = some + [some[-1]] * (size - len(some))
        promised, on = np.zeros((size, 2, hands)), np.zeros((size, 2), bool)
        path = np.full((size, max(resolver.way, 1)), -1, np.int32)
        for j, t in enumerate(pick):
            task = tasks[t]
            steps = _steps(table, task.root, task.node)
            path[j, : len(steps)] = steps
            if task.promised is not None:
                on[j, 1 - task.seat], promised[j, 1 - task.seat] = True, task.promised
        alpha = jnp.full(size, resolver.alpha, float)
        part = search_batch(
            resolver.search,
            value,
            prior,
            jnp.asarray(table.subgame_class[[tasks[t].root for t in pick]], jnp.int32),
            jnp.asarray(np.stack([tasks[t].ranges for t in pick]), float),
            Gadget(jnp.asarray(on), jnp.asarray(promised, float), alpha),
            jnp.asarray(path),
            key,
            jnp.asarray(pick),
        )
        arrays = jax.device_get(part)
        for j, t in enumerate(some):
            found[t] = jax.tree.map(lambda x, j=j: x[j], arrays)
    return found


@jax.jit
def search_batch(
    search: GrowingSearch,
    value: ValueFunction,
    prior: PriorFunction | None,
    subgame_class: Array,
    ranges: Array,
    gadget: Gadget,
    path: Array,
    key: PRNGKey,
    number: Array,
) -> Grown:
    """Returns a batch of searches; the key of each is made of `number` [B]."""

    def one(
        subgame_class: Array, ranges: Array, gadget: Gadget, path: Array, number: Array
    ) -> Grown:
        mine = jax.random.fold_in(key, number)
        return gt_cfr(
            search,
            value,
            subgame_class,
            ranges,
            mine,
            gadget=gadget,
            path_to_focus=path,
            prior=prior,
        )

    return jax.vmap(one)(subgame_class, ranges, gadget, path, number)

"""The searches of a whole game, composed into one policy whose exploitability is exact.

A search depends on public information only (and on a key), so searching at every public state gives
one policy. Searches that come after equally many others are a level, and a level is searched in
batches, which the devices of `devices.use` share. What is stepped is the state machine of agents
and self-play, for all public states at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from jaxsolve import devices
from jaxsolve.public import PublicTable
from jaxsolve.search.resolving._machine import (
    ResolvingState,
    SearchEngine,
    at_root,
    follow,
    init,
    subgame_of,
)
from jaxsolve.search.resolving._resolver import Resolver
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, check_value

WHEN = ("own", "every", "end")
"""When searches happen; see `resolve_game`."""


class Task(NamedTuple):
    """One search.

    Attributes:
        seat: the player who re-solves; -1 for whoever acts at the focus.
        root: the public state at which it starts.
        state: of the machine, in numpy arrays.
        foci: public states that it is for.
    """

    seat: int
    root: int
    state: ResolvingState
    foci: list[int]


Places = dict[int, tuple[ResolvingState, np.ndarray]]
"""Public state -> (the machine's state there after a search, policy [A, H] found there)."""


def resolve_game(
    resolver: Resolver[Any],
    value: ValueFunction | None,
    key: PRNGKey | None = None,
    *,
    prior: Any = None,
    when: str = "own",
    progress: bool = False,
) -> np.ndarray:
    """Returns float64 [P, A, H], what whoever acts at each public state plays.

    `evaluate.respond` says how much it can be exploited; `PublicTable.policy_of` makes it a policy
    of a compiled tree. Where a player's own policy never leads, the search still happens, from a
    uniform range.

    Args:
        resolver: how; its table lists the public states.
        value: worth of leaves; None where searches go to the end of the game.
        key: draws what is random in searches; None where nothing is.
        prior: of actions, a `PriorFunction`; uniform by default.
        when: "own": each player re-solves at their own decisions, from their own last search, as
            they would in a match that leaves no time for more. "every": each player searches at
            every decision, the opponent's included, and goes on from there; Student of Games
            measures exploitability that way. "end": only where the tree of the last search ends,
            for engines whose trees do not depend on the focus. Without a gadget ("every", "end")
            both players share the searches, as in ReBeL.
        progress: show a bar on standard error.

    Raises:
        ValueError: the public states are not listed, a value function of another game, an unknown
            `when`, or a search without room for all it needed.
    """
    table, engine = resolver.table, resolver.engines[0]
    if table is None:
        raise ValueError(
            f"{resolver.game}: this resolver has no list of public states to go through; give it "
            "table=public.public_table(game)"
        )
    if when not in WHEN:
        raise ValueError(f"unknown when={when!r}; choose one of {', '.join(WHEN)}")
    if engine.random and key is None:
        raise ValueError("these searches draw random numbers: resolve_game needs a key")
    if when == "end" and engine.grows_at_focus:
        raise ValueError('a tree that grows at the focus has no end: use when="own" or "every"')
    check_value(value, resolver.states)
    check_value(prior, resolver.states)
    policy = np.zeros((len(table.parent), table.transitions.num_actions, table.num_hands))
    start = jax.device_get(init(engine, resolver.root))
    if when != "own" and resolver.alpha is None:
        waiting = [Task(-1, 0, start, [0])]
    elif when == "every":
        waiting = [Task(seat, 0, start, [0]) for seat in (0, 1)]
    else:
        waiting = [
            Task(seat, 0, _moved(start, table, 0, p), [p])
            for seat in (0, 1)
            for p in _in_order(engine, [next_decisions(table, 0, seat)])
        ]
    waiting, depth = _merged(engine, waiting), 0
    with tqdm(total=len(table.parent), disable=not progress, unit="state") as bar:
        while waiting:
            level = None if key is None else jax.random.fold_in(key, depth)
            found = _search_level(resolver, table, value, prior, waiting, level, when)
            following: list[Task] = []
            for task, places in zip(waiting, found, strict=True):
                if when == "end":
                    following += _from_end(table, task, places, policy)
                else:
                    following += _from_foci(engine, table, task, places, policy, when)
            bar.update(len(waiting))
            waiting, depth = _merged(engine, following), depth + 1
    return policy


def _from_foci(
    engine: SearchEngine,
    table: PublicTable,
    task: Task,
    places: Places,
    policy: np.ndarray,
    when: str,
) -> list[Task]:
    """Writes the policy at the foci, and returns the searches at the decisions that come next."""
    out = []
    for p in task.foci:
        state, found = places[p]
        if state.at < 0:  # the tree ends before the focus: another search, from where it ends
            out.append(Task(task.seat, _root_of(table, state, p), state, [p]))
            continue
        if task.seat in (-1, table.actor[p]):
            _put(table, policy, p, found)
        for q in _following(engine, table, task.seat, p, when):
            state = places[q][0]
            out.append(Task(task.seat, _root_of(table, state, q), state, [q]))
    return out


def _from_end(table: PublicTable, task: Task, places: Places, policy: np.ndarray) -> list[Task]:
    """Writes the policy in all of the tree, and returns the searches that start where it ends."""
    out, todo = [], [task.root]
    while todo:
        p = todo.pop()
        state, found = places[p]
        if state.at < 0:
            out.append(Task(task.seat, p, state, [p]))
            continue
        if task.seat in (-1, table.actor[p]):
            _put(table, policy, p, found)
        todo += _children(table, p)
    return out


def _put(table: PublicTable, policy: np.ndarray, p: int, found: np.ndarray) -> None:
    """Writes what a search found, float [A, H], into the policy of the whole game."""
    legal = table.transitions.legal[table.subgame_class[p]]
    actions, hands = (min(x) for x in zip(legal.shape, found.shape, strict=True))
    policy[p, :actions, :hands] = found[:actions, :hands]
    held = legal.any(0)
    if (np.abs(np.where(legal, policy[p], 0).sum(0) - 1) > 1e-3)[held].any():
        raise ValueError(
            f"{table.game.name}: private states of public state {p} have other numbers in the "
            "table than where searches come from; give the rules a method private_states"
        )


def _merged(engine: SearchEngine, tasks: list[Task]) -> list[Task]:
    """Returns tasks, one for all that need the same search."""
    if engine.grows_at_focus:
        return tasks
    merged: dict[tuple[int, int], Task] = {}
    for task in tasks:
        merged.setdefault(task[:2], task._replace(foci=[])).foci.extend(task.foci)
    return list(merged.values())


def _root_of(table: PublicTable, state: ResolvingState, p: int) -> int:
    """Returns the public state at which the next search of a state at `p` starts."""
    for _ in range(int(state.length)):
        p = int(table.parent[p])
    return p


def _moved(state: ResolvingState, table: PublicTable, root: int, p: int) -> ResolvingState:
    """Returns the state before any search after the game has gone from its root to `p`."""
    path, steps = state.path_to_focus.copy(), steps_between(table, root, p)
    path[: len(steps)] = steps
    return state._replace(path_to_focus=path, length=state.length + len(steps))


def steps_between(table: PublicTable, root: int, p: int) -> list[int]:
    """Returns which children to go to from one public state to another below it."""
    out = []
    while p != root:
        out.append(int(table.step[p]))
        p = int(table.parent[p])
    return out[::-1]


def next_decisions(table: PublicTable, p: int, seat: int) -> list[int]:
    """Returns the first public states at or below `p` at which a player acts, the last first."""
    out, todo, actor = [], [p], table.actor
    while todo:
        here = todo.pop()
        if actor[here] == seat:
            out.append(here)
        else:
            todo += _children(table, here)
    return out


def _children(table: PublicTable, p: int) -> list[int]:
    return [int(c) for c in table.children[p] if c >= 0]


def _following(engine: SearchEngine, table: PublicTable, seat: int, p: int, when: str) -> list[int]:
    """Returns the public states below `p` at which the next searches are due."""
    below = _children(table, p)
    if when == "every":
        return _in_order(engine, [[c] for c in below])
    return _in_order(engine, [next_decisions(table, c, seat) for c in below])


def _in_order(engine: SearchEngine, found: list[list[int]]) -> list[int]:
    """Returns public states (a list per child) in the order in which searches are numbered."""
    if engine.grows_at_focus:
        return [p for some in found for p in sorted(some)]
    return [p for some in reversed(found) for p in some]


def _below(table: PublicTable, p: int, depth: int) -> list[int]:
    """Returns the public states at most so many decisions below `p`, itself included."""
    out = level = [p]
    for _ in range(depth):
        level = [c for q in level for c in _children(table, q)]
        out = out + level
    return out


def _search_level(
    resolver: Resolver[Any],
    table: PublicTable,
    value: ValueFunction | None,
    prior: Any,
    tasks: list[Task],
    key: PRNGKey | None,
    when: str,
) -> list[Places]:
    """Returns what each search found, at its foci and where the next searches may be due."""
    found: list[Places] = [{} for _ in tasks]
    kinds = resolver.engine_of[table.subgame_class[[task.root for task in tasks]]]
    for number, engine in enumerate(resolver.engines):
        # A batch takes as long as its largest tree.
        mine = np.flatnonzero(kinds == number).tolist()
        mine.sort(key=lambda t: -int(table.below[tasks[t].foci[0]]))
        for low, size in cut(len(mine), resolver.batches):
            some = mine[low : low + size]
            pick = some + [some[-1]] * (size - len(some))
            states = jax.tree.map(lambda *x: np.stack(x), *(tasks[t].state for t in pick))
            seats = [_seat(table, tasks[t]) for t in pick]
            with devices.meshed():
                outcome = search_batch(
                    engine,
                    value,
                    prior,
                    states,
                    np.array(seats, np.int32),
                    resolver.alpha,
                    key,
                    np.array(pick, np.int32),
                )
            wanted = [_wanted(engine, table, tasks[t], when) for t in some]
            room = 4 ** int(np.ceil(np.log(max(map(len, wanted))) / np.log(4)))
            paths = np.full((size, room, engine.longest_path), -1, np.int32)
            for j, t in enumerate(some):
                for k, p in enumerate(wanted[j]):
                    steps = steps_between(table, tasks[t].root, p)[: engine.longest_path]
                    paths[j, k, : len(steps)] = steps
            with devices.meshed():
                followed = follow_batch(engine, outcome, states, paths)
            after, policies, status = jax.device_get(devices.fetch(followed))
            _check_status(resolver, status)
            for j, t in enumerate(some):
                for k, p in enumerate(wanted[j]):
                    state = jax.tree.map(lambda x, at=(j, k): x[at], after)
                    found[t][p] = (state, policies[j, k])
    return found


def _seat(table: PublicTable, task: Task) -> int:
    """Returns the player who re-solves."""
    return int(table.actor[task.foci[0]]) if task.seat < 0 else task.seat


def _wanted(engine: SearchEngine, table: PublicTable, task: Task, when: str) -> list[int]:
    """Returns the public states at which the outcome of a search is looked at."""
    if when == "end":
        return _below(table, task.root, engine.tree_depth)
    return [q for p in task.foci for q in (p, *_following(engine, table, task.seat, p, when))]


def _check_status(resolver: Resolver[Any], status: np.ndarray) -> None:
    if status.any():
        raise ValueError(
            f"{resolver.game}: the model had no room for all that a search opened "
            f"(status {int(np.bitwise_or.reduce(status.ravel()))})"
        )


def cut(size: int, batches: tuple[int, ...]) -> list[tuple[int, int]]:
    """Returns (start, length) of batches of searches, at least half full but the smallest."""
    out, low = [], 0
    while low < size:
        left = size - low
        batch = next((b for b in batches if left <= b <= 2 * left), 0)
        batch = batch or max((b for b in batches if b <= left), default=batches[0])
        out.append((low, batch))
        low += batch
    return out


@jax.jit
def search_batch(
    engine: SearchEngine,
    value: ValueFunction | None,
    prior: Any,
    states: ResolvingState,
    seats: Array,
    alpha: Any,
    key: PRNGKey | None,
    numbers: Array,
) -> Any:
    """Returns the outcomes of a batch of searches; what is random in each depends on its number."""

    def one(state: ResolvingState, seat: Array, number: Array) -> Any:
        mine = None if key is None else engine.key_of(key, number)
        return engine.search(value, prior, subgame_of(state, seat, alpha), mine)

    return devices.vmap(one)(states, seats, numbers)


@jax.jit
def follow_batch(
    engine: SearchEngine, outcome: Any, states: ResolvingState, paths: Array
) -> tuple[ResolvingState, Array, Array]:
    """Returns the states [B, K], policies [B, K, A, H] and statuses [B] after paths [B, K, W]."""

    def one(found: Any, state: ResolvingState, paths: Array) -> Any:
        tree, start = engine.tree(found), at_root(state)

        def after(path: Array) -> tuple[ResolvingState, Array]:
            state = follow(engine, start, tree, path)
            return state, engine.policy(found, jnp.maximum(state.at, 0))

        return *jax.vmap(after)(paths), engine.status(found)

    return devices.vmap(one)(outcome, states, paths)

"""Depth-limited search of one street of hold'em, with a blueprint's continuations at its end."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._bet_menu import BetMenu
from jaxsolve.holdem._betting import BetState
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem.limited._game import LimitedHoldem, usable
from jaxsolve.holdem.limited._tree import Beyond, subgame_tree
from jaxsolve.mccfr import (
    ExternalSampler,
    Options,
    Role,
    Sampler,
    Tables,
    entries_of,
    make_tables,
    matched,
)

CALL = 0.1
"""Seconds of one call of the sampler, so that a limit of time is kept."""

FROZEN = 1e20
"""Regret of an action that is certain and frozen."""

VECTOR_UNIT, EXTERNAL_UNIT = 2.0, 250.0
"""Passes after which weights have doubled, see `Options.unit`."""


class SearchBegin(NamedTuple):
    """Where a search begins (n players).

    Attributes:
        state: of the betting where a street begins.
        board: cards so far.
        ranges: float [n, 1326], how likely each player came here with each hand.
        node: of the blueprint's menu there; `LEFT` if the hand has left it.
    """

    state: BetState
    board: tuple[int, ...]
    ranges: np.ndarray
    node: int


@dataclasses.dataclass(frozen=True)
class LimitedResult:
    """What a search found.

    Attributes:
        game: that was solved.
        tables: of regrets and of the average policy.
        seconds: that it took.
    """

    game: LimitedHoldem
    tables: Tables
    seconds: float

    def totals(self, node: int) -> np.ndarray:
        """Returns int64 [A], FOLD or totals of the actions at a decision."""
        first = int(self.game.tree.child[node])
        found = self.game.tree.action[first : first + int(self.game.tree.count[node])]
        return found.astype(np.int64)

    def policy(self, node: int, *, current: bool = False) -> np.ndarray:
        """Returns float64 [1326, A], what the player does at a decision with each hand.

        Args:
            node: of the street that was solved.
            current: the last iterate in place of the average.
        """
        tree, tables = self.game.tree, self.tables
        rows = matched(entries_of(tree, tables, tables.regret, node))
        if not current:
            sums = entries_of(tree, tables, tables.average, node)
            rows = np.where(sums.any(1, keepdims=True), matched(sums), rows)
        policy = rows[self.game.bucket]
        return np.where(possible(self.game.board)[:, None], policy, 0.0)


def search(
    game: LimitedHoldem,
    *,
    sampler: str | None = None,
    passes: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    threads: int = 1,
    frozen: Mapping[int, np.ndarray] | None = None,
) -> LimitedResult:
    """Returns a solution of one street, after which players choose among continuations.

    Args:
        game: see `limited_game`.
        sampler: "vector" (two players; its default) or "external".
        passes: at most so many; with these, one thread and no limit of time, equal seeds give
            equal results.
        seconds: at most so long.
        seed: of boards and choices.
        threads: they share the tables.
        frozen: {decision: float [1326, A]}, policies that stay as they are.

    Raises:
        ValueError: no limit, an unknown sampler, or ranges that leave no deal.
        MemoryError: the tables do not fit; says how much they need.
    """
    started = time.perf_counter()
    made = _sampler(game, sampler, seed, threads)
    if passes is None and seconds is None:
        raise ValueError("say how many passes or seconds a search may take")
    tables = make_tables(game)
    for node, policy in (frozen or {}).items():
        _freeze(game, tables, node, policy)
    limit = np.inf if seconds is None else started + seconds
    most = np.inf if passes is None else passes
    size = made.first_call
    while tables.passes < most and (not tables.passes or time.perf_counter() < limit):
        before = time.perf_counter()
        tables, _ = made.run(tables, int(min(size, most - tables.passes)))
        now = time.perf_counter()
        wish = min(CALL, max(limit - now, 1e-3))
        n = game.tree.num_players
        size = max(n, int(size * min(4.0, wish / max(now - before, 1e-6))) // n * n)
    return LimitedResult(game, tables, time.perf_counter() - started)


def _freeze(game: LimitedHoldem, tables: Tables, node: int, policy: np.ndarray) -> None:
    """Gives a decision regrets so large that what passes add is lost in rounding."""
    rows = entries_of(game.tree, tables, tables.regret, node)
    sums = np.zeros_like(rows)
    live = possible(game.board)
    np.add.at(sums, game.bucket[live], policy[live])
    first, last = tables.row[node : node + 2]
    tables.regret[first:last] = (FROZEN * matched(sums)).reshape(-1)


def limited_game(
    begin: SearchBegin,
    menu: BetMenu,
    after: Beyond,
    choosers: Sequence[int] | None = None,
    buckets: Abstraction | None = None,
) -> LimitedHoldem:
    """Returns the game of a search.

    Args:
        begin: where the street begins.
        menu: what may be bet on it.
        after: the blueprint and its continuations.
        choosers: seats that choose among them; everybody by default. A seat that does not choose
            plays the first one, the blueprint.
        buckets: of the street that is solved. By default every hand is its own there; before the
            flop hands are in the blueprint's.

    Raises:
        ValueError: ranges or seats that make no sense.
    """
    n = len(begin.state.stack)
    seats = range(n) if choosers is None else choosers
    if not all(0 <= seat < n for seat in seats):
        raise ValueError(f"seats are 0 to {n - 1}, not {sorted(seats)}")
    chooses = np.isin(np.arange(n), list(seats))
    ranges = usable(begin.ranges, begin.board)
    tree, payoffs = subgame_tree(begin.state, begin.node, menu, after, chooses)
    street, blueprint = int(begin.state.street), after.game.abstraction
    bucket = np.arange(NUM_HANDS)
    if buckets is not None or street == 0:
        of = (blueprint if buckets is None else buckets).bucket(begin.board)
        known = np.unique(of[possible(begin.board)])
        bucket = np.searchsorted(known, of).clip(0, len(known) - 1)
    return LimitedHoldem(blueprint, tree, payoffs, street, begin.board, ranges, bucket)


def _sampler(game: LimitedHoldem, name: str | None, seed: int, threads: int) -> Sampler:
    from jaxsolve.holdem._vector_sampler import HandVectorSampler  # which knows `LimitedHoldem`

    known = ("vector", "external")
    if name is None:
        name = "vector" if game.tree.num_players == 2 else "external"
    if name not in known:
        raise ValueError(f"unknown sampler {name!r}; known are {', '.join(known)}")
    if name == "vector":
        return HandVectorSampler(game, Options(seed=seed, unit=VECTOR_UNIT), threads=threads)
    tree = game.tree
    decides = tree.role != Role.FIXED
    seats = np.unique(tree.actor[decides & (tree.count > 0)]).tolist()
    options = Options(seed=seed, unit=EXTERNAL_UNIT * len(seats))
    return ExternalSampler(game, options, threads=threads, seats=seats)

"""A flop solved to its end with a leaf network, by CFR+ over vectors of hands.

The network is asked once, before the first iteration, for every end of the street. Iterations are
Modicum's (Brown, Sandholm and Amos 2018, appendix): regrets are not negative and are multiplied by
sqrt(t) / (sqrt(t) + 1) in the first 30 iterations, and the average leaves out the first half.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem.leaf_net._features import FLOP
from jaxsolve.holdem.leaf_net._network import LeafNet
from jaxsolve.holdem.leaf_net._solver import StreetSolver
from jaxsolve.holdem.leaf_net._street import leaves_of, street_of
from jaxsolve.holdem.limited import Beyond, LimitedHoldem, LimitedResult, SearchBegin
from jaxsolve.mccfr import entries_of, make_tables


def search_street(
    game: LimitedHoldem,
    begin: SearchBegin,
    after: Beyond,
    net: LeafNet,
    *,
    iterations: int = 200,
    seconds: float | None = None,
) -> LimitedResult:
    """Returns a solution of a flop whose later streets are a network's.

    Args:
        game: see `limited.limited_game`; at most one of the players chooses.
        begin: where it begins.
        after: the blueprint and the continuations that the network was trained on.
        net: of leaf values.
        iterations: at most so many, both players in each.
        seconds: at most so long, but for one iteration and what comes before it, two or three
            seconds of showdowns where the flop is new; the average then has all iterations.

    Raises:
        ValueError: not a flop of two players with a row for each hand, both choose, or the network
            is another blueprint's.
    """
    if game.tree.num_players != 2 or len(game.board) != FLOP:
        raise ValueError("a leaf network is for the flop of two players")
    if not np.array_equal(game.bucket, np.arange(NUM_HANDS)):
        raise ValueError("with a leaf network every hand is its own row; leave out buckets")
    net.check(after)
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}, but must be positive")
    started = time.perf_counter()
    limit = np.inf if seconds is None else started + seconds
    street = street_of(game)
    solver = StreetSolver(game, street, leaves_of(game, begin, after, net, street))
    # Nobody knows how many iterations a limit of time leaves, so all of them count then.
    skipped = iterations // 2 if seconds is None else 0
    done = 0
    while done < iterations and (not done or time.perf_counter() < limit):
        done += 1
        solver.iterate(done, float(done) if done > skipped else 0.0)
    tables = make_tables(game)
    for row in np.flatnonzero(street.acts):
        node, count = int(street.node[row]), int(street.count[row])
        for table, found in ((tables.regret, solver.regret), (tables.average, solver.average)):
            entries_of(game.tree, tables, table, node)[:] = found[row, :count].T
    tables = dataclasses.replace(tables, passes=done)
    return LimitedResult(game, tables, time.perf_counter() - started)

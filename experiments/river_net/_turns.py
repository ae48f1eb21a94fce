"""Turns: random ones, solved with a network and exactly, and judged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import holdem
from jaxsolve.holdem import river_net
from jaxsolve.nets import Net
from jaxsolve.solvers import dcfr

POT = 1000
"""Chips in the middle of every turn."""

Strategy = Mapping[str, Mapping[str, np.ndarray]]
"""{line: {action: float [1326]}} of a turn."""


class Found(NamedTuple):
    """A turn's strategy and what it took.

    Attributes:
        strategy: of both players.
        seconds: of iterations, by the clock.
        processor_seconds: the same on all processors together.
        whole: exploitability with the rivers that came with it, share of the pot, or None.
    """

    strategy: Strategy
    seconds: float
    processor_seconds: float
    whole: float | None


def random_turn(
    seed: int, menu: river_net.RiverMenu, *, hands: int = 1128, least: float, most: float
) -> holdem.Spot:
    """Returns a random turn of all hands; its ranges are made as those of the training.

    Args:
        seed: of everything.
        menu: of the river.
        hands: that a range has, the strongest of them; 1,128 for all.
        least, most: stack in pots; its logarithm is even between the two.
    """
    board_key, stack_key, *range_keys = jax.random.split(jax.random.key(seed), 4)
    board = tuple(int(c) for c in jax.random.choice(board_key, 52, (4,), replace=False))
    live = np.flatnonzero(~np.isin(holdem.HANDS, board).any(1))
    order = live[np.argsort(_mean_place(board)[live], kind="stable")]
    ranges = []
    for key in range_keys:
        weights = np.zeros(len(holdem.HANDS))
        found = np.asarray(river_net.random_range(key, hands=len(order)), float)
        weights[order[-hands:]] = found[-hands:]
        ranges.append(weights / weights.max())
    stack = least * (most / least) ** float(jax.random.uniform(stack_key))
    sizes = holdem.parse_sizes(
        {"turn": {"bet": ["50%", "100%", "a"], "raise": ["100%", "a"]}, "river": menu.sizes},
        ("turn", "river"),
    )
    chips = round(stack * POT)
    return holdem.Spot(
        board, POT, (chips, chips), (ranges[0], ranges[1]), sizes, raise_cap=menu.raise_cap
    )


def with_network(spot: holdem.Spot, net: Net, iterations: int) -> Found:
    """Returns the turn solved with a network at its end, after so many iterations of dcfr."""
    result = river_net.solve_turn(river_net.turn_tree(spot, net), iterations=iterations)
    return Found(result.strategy, result.seconds, result.processor_seconds, None)


def exactly(spot: holdem.Spot, iterations: int) -> Found:
    """Returns the turn of the whole spot after so many iterations of dcfr in C++."""
    tree = holdem.spot_tree(spot, symmetric=False)
    engine = _engine(tree)
    state = engine.fresh()
    assert tree.tables.nbytes  # made before the clock starts
    engine.prepare(state, iterations)
    begin, processor = time.perf_counter(), time.process_time()
    state = engine.advance(state, iterations, iterations)
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    gap, _ = engine.measure(state)
    rows, strategy = tree.numbers.streets[0], {}
    for i in range(2):
        mean = state.mean[i]
        for node, first, width in zip(rows.node[i], rows.first[i], rows.width[i], strict=True):
            total = mean[first : first + width].sum(0)
            share = mean[first : first + width] / np.where(total > 0, total, 1)
            share = np.where(total > 0, share, 1 / width)
            every = np.zeros((width, len(holdem.HANDS)))
            every[:, tree.tables.hands[i]] = share
            words = [str(tree.betting.label[c]) for c in tree.betting.children(int(node))]
            strategy[tree.betting.line(int(node))] = dict(zip(words, every, strict=True))
    return Found(strategy, seconds, processor, gap / spot.pot)


def exploitability(spot: holdem.Spot, strategy: Strategy, iterations: int) -> float:
    """Returns how exploitable the turn of a strategy is, as a share of the pot.

    One player's turn is fixed, and all else solved: their own rivers, and everything of the
    opponent. What the player is then sure of against a best response, an exact number, is what
    their turn is worth with rivers that are played well; half of what both miss is returned. It
    holds what the solving of the rivers leaves open, so it is an upper bound.

    Args:
        spot: the whole spot.
        strategy: of both players on the turn.
        iterations: of dcfr for all else.
    """
    sure = 0.0
    for player in range(2):
        tree = holdem.spot_tree(spot, symmetric=False)
        for line, shares in strategy.items():
            if tree.betting.actor[tree.betting.find(line)] == player:
                tree = holdem.lock(tree, line, _exact_shares(shares))
        engine = _engine(tree)
        state = engine.advance(engine.fresh(), iterations, iterations)
        payoffs, gains = engine.payoffs(state)
        sure += payoffs[player] - gains[1 - player]
    return float(-sure / 2 / spot.pot)


def _engine(tree: holdem.SpotTree) -> holdem.SpotEngine:
    engine = holdem.spot_engine(tree, dcfr())
    if engine is None:
        raise ValueError("this study solves turns in C++, and there is no compiler here")
    return engine


def _exact_shares(shares: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Returns probabilities that add up to 1 in double precision."""
    total = np.sum(list(shares.values()), 0)
    safe = np.where(total > 0, total, 1)
    return {action: np.where(total > 0, x / safe, 0) for action, x in shares.items()}


def _mean_place(board: tuple[int, ...]) -> np.ndarray:
    """Returns float [1326], the mean place of each hand in the order of strength on rivers."""
    rivers = [c for c in range(52) if c not in board]
    table = jnp.asarray([[*board, c] for c in rivers], jnp.int32)
    boards = jax.lax.map(river_net.river_board, table)
    total, count = np.zeros(len(holdem.HANDS)), np.zeros(len(holdem.HANDS))
    np.add.at(total, np.asarray(boards.hands), np.asarray(boards.place))
    np.add.at(count, np.asarray(boards.hands), 1)
    return total / np.maximum(count, 1)

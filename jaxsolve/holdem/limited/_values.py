"""What hands win if everybody plays a blueprint from a street on, exactly on given boards."""

from __future__ import annotations

import numpy as np

from jaxsolve.holdem.limited._game import LimitedHoldem
from jaxsolve.holdem.limited._search import SearchBegin
from jaxsolve.holdem.limited._tree import Beyond, tree_beyond
from jaxsolve.mccfr import Options, make_tables


def blueprint_values(begin: SearchBegin, after: Beyond, boards: np.ndarray) -> np.ndarray:
    """Returns float64 [2, 1326], chips that hands win, heads-up.

    They are sums over the other player's hands that share no card with the own one, weighted by the
    other player's range as it is given (it need not sum to 1), and means over the boards.

    Args:
        begin: where a street begins, with its node on the blueprint's menu.
        after: the blueprint.
        boards: uint8 [N, 5], complete boards that begin with the cards there are.
    """
    return _passes(begin, after, boards, None)[0]


def continuation_values(
    begin: SearchBegin, after: Beyond, boards: np.ndarray, player: int
) -> np.ndarray:
    """Returns float64 [k, 1326], what hands win with each continuation, heads-up.

    The other player plays the blueprint. Units and arguments are those of `blueprint_values`.
    """
    won, regret = _passes(begin, after, boards, player)
    return won[player] + regret.reshape(-1, after.continuations.count).T


def _passes(
    begin: SearchBegin, after: Beyond, boards: np.ndarray, chooser: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (won float64 [2, 1326], regrets of a choice before the street [1326 k], or [0])."""
    from jaxsolve.holdem._vector_sampler import HandVectorSampler  # which knows `LimitedHoldem`

    ranges = np.asarray(begin.ranges, np.float64)
    every = np.arange(ranges.shape[1])
    chooses = np.isin(np.arange(2), [] if chooser is None else [chooser])
    tree, payoffs = tree_beyond(begin.state, begin.node, after, chooses)
    # The choice is made with every hand on the street before; without one no street is solved.
    street = -1 if chooser is None else int(begin.state.street) - 1
    bucket = 0 * every if chooser is None else every
    game = LimitedHoldem(after.game.abstraction, tree, payoffs, street, begin.board, ranges, bucket)
    sampler = HandVectorSampler(game, Options(power=0), roulette=0)
    won, tables = np.zeros(ranges.shape, np.float32), make_tables(game)
    sampler.on(tables, boards, won=won)
    share = 990 / 1081 / len(boards)
    return won.astype(np.float64) * share, tables.regret.astype(np.float64) * share

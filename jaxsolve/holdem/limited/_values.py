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
    from jaxsolve.holdem._vector_sampler import HandVectorSampler  # which knows `LimitedHoldem`

    tree, payoffs = tree_beyond(begin.state, begin.node, after)
    ranges = np.asarray(begin.ranges, np.float64)
    bucket = np.zeros(ranges.shape[1], np.int64)  # no street is solved
    game = LimitedHoldem(after.game.abstraction, tree, payoffs, -1, begin.board, ranges, bucket)
    sampler = HandVectorSampler(game, Options(), roulette=0)
    won = np.zeros(ranges.shape, np.float32)
    sampler.on(make_tables(game), boards, won=won)
    return won.astype(np.float64) / len(boards) * (990 / 1081)

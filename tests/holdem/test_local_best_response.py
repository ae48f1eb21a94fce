"""Local best responses: between what calling wins and what a responder who knows the board wins."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from few import few
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import BetMenu
from jaxsolve.holdem._range_match import hands_by_strength

STREETS = ("preflop", "flop", "turn", "river")


@functools.cache
def game() -> holdem.HoldemGame:
    street = {"sizes": [["100%", "a"]]}
    return holdem.holdem_game(
        BetMenu.parse({"stack": "5bb", **dict.fromkeys(STREETS, street)}), made_buckets(3)
    )


@functools.cache
def strategies() -> dict[str, np.ndarray]:
    here = game()
    tables, _ = mccfr.ExternalSampler(here, mccfr.Options()).run(mccfr.make_tables(here), 30_000)
    return {
        "trained": tables.average,
        "uniform": holdem.uniform_sums(here),
        "all-in": holdem.always(here, "a"),
    }


def knows_the_board(sums: np.ndarray, board: np.ndarray) -> float:
    """What a best response wins that knows all five cards, the mean of both seats."""
    here, tree = game(), game().tree
    hands, strength, bucket = hands_by_strength([here, here], board)
    cards = holdem.HANDS[hands]
    fits = (~(cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))).astype(float)
    signs = np.sign(strength[:, None] - strength[None]) * fits
    rows, end_of = tree.rows(here.num_buckets), {int(p): k for k, p in enumerate(tree.ends)}

    def walk(node: int, seat: int, other: np.ndarray) -> np.ndarray:
        if not (count := int(tree.count[node])):
            spent, folded = (x[end_of[node]] for x in (here.payoffs.spent, here.payoffs.folded))
            if folded.any():
                won = -spent[seat] if folded[seat] else spent[1 - seat]
                return np.asarray(won * (fits @ other))
            return np.asarray(spent.min() * (signs @ other))
        first = int(tree.child[node])
        if tree.actor[node] == seat:
            return np.max([walk(first + a, seat, other) for a in range(count)], 0)
        policy = mccfr.matched(sums[rows[node] : rows[node + 1]].reshape(-1, count))
        policy = policy[bucket[0, int(tree.stage[node])]]
        return np.sum([walk(first + a, seat, other * policy[:, a]) for a in range(count)], 0)

    won = [walk(0, seat, np.ones(len(hands))).sum() / fits.sum() for seat in range(2)]
    return float(np.mean(won))


@pytest.mark.parametrize("name", few(["trained", "uniform", "all-in"], "trained".__eq__))
def test_it_wins_less_than_who_knows_the_board(name: str) -> None:
    sums = strategies()[name]
    found = holdem.local_best_response((game(), sums), boards=1, runouts=4, seed=3)
    assert found.chips[0] < knows_the_board(sums, found.boards[0].astype(int))


@pytest.mark.slow
def test_training_leaves_it_less() -> None:
    found = {
        name: holdem.local_best_response((game(), sums), boards=12, runouts=16)
        for name, sums in strategies().items()
    }
    assert found["uniform"].low > found["trained"].high
    assert found["all-in"].low > found["trained"].high


@pytest.mark.slow
def test_calling_wins_nothing_from_who_never_bets() -> None:
    """Both check and call, and seats change: no more than equity is won."""
    here = game()
    passive = (here, holdem.always(here, "c"))
    found = holdem.local_best_response(passive, boards=2, runouts=64, raises=False)
    assert np.abs(found.chips).max() < 1e-2


def test_what_is_refused() -> None:
    here = game()
    sums = holdem.uniform_sums(here)
    with pytest.raises(ValueError, match="entries is not of"):
        holdem.local_best_response((here, sums[1:]))
    with pytest.raises(ValueError, match="are 1 or more, not 0"):
        holdem.local_best_response((here, sums), boards=0)

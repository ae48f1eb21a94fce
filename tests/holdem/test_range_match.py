"""Matches over ranges: beside matrices of pairs of hands, and what must hold of any match."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr, native
from jaxsolve.holdem import BetMenu

STREETS = ("preflop", "flop", "turn", "river")


@functools.cache
def game(buckets: int = 5, stack: str = "5bb", players: int = 2) -> holdem.HoldemGame:
    street = {"sizes": [["100%", "a"]]}
    table = {"stack": stack, "players": players, **dict.fromkeys(STREETS, street)}
    return holdem.holdem_game(BetMenu.parse(table), made_buckets(buckets))


@functools.cache
def trained(buckets: int, passes: int) -> tuple[holdem.HoldemGame, np.ndarray]:
    here = game(buckets)
    tables, _ = mccfr.ExternalSampler(here, mccfr.Options()).run(mccfr.make_tables(here), passes)
    return here, tables.average


@pytest.mark.skipif(native.host_library("mccfr") is None, reason="needs a C++ compiler")
def test_native_matches_are_the_plain_ones() -> None:
    """Players of other buckets, in both seats."""
    one, two = trained(5, 3_000), trained(3, 1_000)
    found = holdem.range_match(one, two, boards=1, seed=4)
    for board, chips in zip(found.boards, found.chips, strict=True):
        first, second = (holdem.match_plain(seats, board) for seats in ((one, two), (two, one)))
        assert chips == pytest.approx((first - second) / 2, abs=1e-3)


def test_a_match_is_a_zero_sum_game() -> None:
    one, two = trained(5, 3_000), trained(3, 1_000)
    there = holdem.range_match(one, two, boards=3, seed=1)
    back = holdem.range_match(two, one, boards=3, seed=1, threads=2)
    np.testing.assert_allclose(there.chips, -back.chips, atol=1e-3)
    assert np.abs(holdem.range_match(one, one, boards=2).chips).max() < 1e-3
    assert there.low < there.mbb < there.high


def test_training_beats_uniform_play_and_all_in() -> None:
    here = game(5)
    one = trained(5, 100_000)
    for other in (holdem.uniform_sums(here), holdem.always(here, "a")):
        assert holdem.range_match(one, (here, other), boards=12).low > 0


def test_one_who_calls_meets_all_in_at_the_showdown() -> None:
    """Nobody folds, so that both win their equity: nothing on average over seats."""
    here = game(5)
    calls, raises = ((here, holdem.always(here, x)) for x in ("c", "a"))
    assert np.abs(holdem.range_match(calls, raises, boards=3).chips).max() < 1e-3


def test_what_is_refused() -> None:
    one = trained(5, 1_000)
    with pytest.raises(ValueError, match="one menu of bets"):
        holdem.range_match(one, (game(5, "6bb"), one[1]))
    with pytest.raises(ValueError, match="for two players"):
        holdem.range_match(one, (game(5, "5bb", 3), one[1]))
    with pytest.raises(ValueError, match="entries is not of"):
        holdem.range_match(one, (one[0], one[1][:-1]))
    with pytest.raises(ValueError, match="fewer than the 3 boards"):
        holdem.range_match(one, one, boards=3, skip=3)
    with pytest.raises(ValueError, match="boards is 1 or more"):
        holdem.range_match(one, one, boards=0)

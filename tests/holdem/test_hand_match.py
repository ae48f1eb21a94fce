"""Matches hand by hand: the mean is that of the table, and the spread is smaller."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from few import few
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import BetMenu
from jaxsolve.holdem._hand_values import DealtHands

STREETS = ("preflop", "flop", "turn", "river")
Strategy = tuple[holdem.HoldemGame, np.ndarray]


@functools.cache
def game(players: int = 2, buckets: int = 5) -> holdem.HoldemGame:
    street = {"sizes": [["100%", "a"]]}
    table = {"stack": "20bb", "players": players, **dict.fromkeys(STREETS, street)}
    return holdem.holdem_game(BetMenu.parse(table), made_buckets(buckets))


@functools.cache
def trained(players: int, buckets: int = 5) -> Strategy:
    here = game(players, buckets)
    tables, _ = mccfr.ExternalSampler(here, mccfr.Options()).run(mccfr.make_tables(here), 50_000)
    return here, tables.average


@functools.cache
def values(players: int) -> holdem.HandValues:
    return holdem.hand_values(trained(players), hands=50_000)


@pytest.mark.parametrize("players", few([2, 3], (2).__eq__))
def test_the_mean_is_that_of_the_table(players: int) -> None:
    """Against a player of other buckets; values by chance are as good as learned ones for that."""
    others = [(game(players, 3), holdem.uniform_sums(game(players, 3)))] * (players - 1)
    learned, rng = values(players), np.random.default_rng(0)
    wild = dataclasses.replace(
        learned,
        mean=rng.normal(0, 800, learned.mean.shape).astype(np.float32),
        worth=rng.normal(0, 800, learned.worth.shape).astype(np.float32),
    )
    for value in (learned, wild):
        found = holdem.hand_match([trained(players), *others], hands=20_000, values=value)
        added = (found.chips - found.plain)[:, 0]
        assert np.abs(added.mean()) < 4 * added.std() / np.sqrt(len(added))
        assert added.std() > 100
        np.testing.assert_allclose(found.plain.sum(1), 0, atol=1e-2)
        if value is learned:
            assert found.low > 0
            assert found.p_value < 1e-6
            assert found.standard_error**2 < found.plain_error**2 / 1.5
            np.testing.assert_allclose(found.chips.sum(1), 0, atol=1e-2)


@pytest.mark.slow
def test_it_agrees_with_the_match_over_ranges() -> None:
    one, two = trained(2), (game(), holdem.uniform_sums(game()))
    by_hand = holdem.hand_match([one, two], hands=200_000, values=values(2))
    by_range = holdem.range_match(one, two, boards=200)
    error = np.hypot(by_hand.standard_error, by_range.margin / 1.96)
    assert abs(by_hand.mbb - by_range.mbb) < 4 * error
    assert by_hand.mbb > 10 * error  # so that a wrong sign would be found


def test_what_is_expected_of_a_card_is_the_mean_over_all() -> None:
    """Beside every turn card, looked up one by one, with four buckets on the turn by chance."""
    few_buckets = made_buckets(3)
    turn = np.random.default_rng(1).integers(0, 4, few_buckets.turn.shape, np.uint16)
    here = dataclasses.replace(
        game(2, 3),
        abstraction=dataclasses.replace(few_buckets, turn=turn, buckets=(169, 3, 4, 1)),
    )
    made = holdem.hand_values((here, holdem.uniform_sums(here)), hands=20_000)
    deals, cards = here.deal_cards(0, 0, 3)
    dealt = DealtHands(made, deals, cards, np.random.default_rng(2))
    node = here.tree.find("c x x x")
    assert here.tree.stage[node] == 2
    found = dealt.expected(np.full(3, node), np.arange(3))
    for k in range(3):
        left = [c for c in range(52) if c not in cards[k, :7]]
        each = []
        for card in left:
            after = here.abstraction.bucket([*cards[k, 4:7].tolist(), card])
            bucket = deals.bucket[k : k + 1].copy()
            bucket[0, :, 2] = after[dealt.hands[k]]
            each.append(made.at(np.array([node]), True, bucket)[0])
        assert len(left) == 45
        assert np.ptp(each, 0).min() > 0
        np.testing.assert_allclose(found[k], np.mean(each, 0), atol=1e-3)


def test_cards_are_drawn_without_favour() -> None:
    here = values(2)
    deals, cards = here.game.deal_cards(0, 0, 1)
    dealt = DealtHands(here, deals, cards, np.random.default_rng(3))
    drawn = dealt._drawn(np.arange(10, 15)[None], 60_000, 3)[0]
    orders, count = np.unique(drawn, axis=0, return_counts=True)
    assert set(map(tuple, orders.tolist())) == set(itertools.permutations(range(10, 15), 3))
    assert np.abs(count - 1_000).max() < 5 * np.sqrt(1_000)


def test_all_ins_pay_their_equity() -> None:
    """On the flop, on average over what is drawn: the share of the pot of `equity`."""
    here = values(2)
    _, cards = here.game.deal_cards(5, 0, 1)
    deals = here.game.deal(5, 0, 1)
    many = mccfr.Deals(np.repeat(deals.bucket, 400, 0), np.repeat(deals.outcome, 400, 0))
    dealt = DealtHands(here, many, np.repeat(cards, 400, 0), np.random.default_rng(4))
    end = np.full(400, here.game.tree.find("c x a c"))
    tree = here.game.tree
    won = dealt.settle(here.game.payoffs, tree.end_number[end], tree.stage[end])
    hands, board = dealt.hands[0], cards[0, 4:7].tolist()
    against = np.zeros(holdem.NUM_HANDS)
    against[hands[1]] = 1
    share = holdem.equity(against, board, hands=hands)[hands[0]]
    error = won[:, 0].std() / np.sqrt(len(won))
    assert abs(won[:, 0].mean() - 2_000 * (2 * share - 1)) < 4 * error
    assert 0 < error < 40


def test_what_is_refused() -> None:
    one = trained(2)
    deeper = dataclasses.replace(one[0], menu=dataclasses.replace(one[0].menu, stack=2_100))
    with pytest.raises(ValueError, match="other tables or stacks"):
        holdem.hand_match([one, (deeper, one[1])])
    with pytest.raises(ValueError, match="give one for each seat"):
        holdem.hand_match([one] * 3)
    with pytest.raises(ValueError, match="entries is not of"):
        holdem.hand_match([one, (one[0], one[1][1:])])
    with pytest.raises(ValueError, match="whole steps of 4096 deals, fewer than all"):
        holdem.hand_match([one, one], hands=20_000, skip=4_095)
    with pytest.raises(ValueError, match="two deals"):
        holdem.hand_match([one, one], hands=2)
    with pytest.raises(ValueError, match="entries is not of"):
        holdem.hand_values((one[0], one[1][1:]))

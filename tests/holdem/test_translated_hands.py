"""Hands between strategies of different menus: real chips, translated bets, an unbiased mean."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from few import few
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import BetMenu
from jaxsolve.holdem._hand_values import DealtHands
from jaxsolve.holdem._menu_view import LEFT, MenuView, Table
from jaxsolve.holdem._translated_hands import play_translated

STREETS = ("preflop", "flop", "turn", "river")
Strategy = tuple[holdem.HoldemGame, np.ndarray]
POT, OTHER = (("100%", "a"),), (("50%", "120%"), ("80%",))


@functools.cache
def game(sizes: tuple[tuple[str, ...], ...], players: int = 2) -> holdem.HoldemGame:
    street = {"sizes": [list(x) for x in sizes]}
    table = {"stack": "20bb", "players": players, **dict.fromkeys(STREETS, street)}
    return holdem.holdem_game(BetMenu.parse(table), made_buckets(3))


def chance_strategy(sizes: tuple[tuple[str, ...], ...], players: int = 2) -> Strategy:
    here = game(sizes, players)
    sums = np.random.default_rng(2).exponential(size=len(holdem.uniform_sums(here)))
    return here, sums.astype(np.float32)


def one_hand(here: holdem.HoldemGame, line: str) -> tuple[MenuView, np.ndarray, Table]:
    """Returns (view, node, the real table) after a line of a game."""
    view, node = MenuView(here), here.tree.find(line)
    spent = view.spent[[node]]
    actor = here.tree.actor[[node]].astype(int)
    bet = spent.max(1)
    high = np.array([here.menu.stack])
    fold = spent[0, actor] < bet
    stage = here.tree.stage[[node]]
    return view, np.array([node]), Table(actor, stage, spent, fold, bet, bet + 100, high)


def test_a_bet_between_two_sizes_is_taken_for_both() -> None:
    """After limp and check the pot is 200: 150 is 3/4 of it, between 1/2 and 6/5."""
    view, node, table = one_hand(game(OTHER), "c x")
    assert table.pot == 200
    smaller, larger, share = view.seen_as(node, table, np.array([100 + 150]))
    labels = [view.tree.label[int(x[0])] for x in (smaller, larger)]
    assert labels == ["b100", "b240"]
    assert share[0] == pytest.approx((1.2 - 0.75) * 1.5 / ((1.2 - 0.5) * 1.75))
    for to, label in ((100 + 20, "b100"), (100 + 900, "b240"), (100 + 240, "b240")):
        smaller, larger, share = view.seen_as(node, table, np.array([to]))
        assert smaller == larger
        assert (view.tree.label[int(smaller[0])], share[0]) == (label, 1)


def test_what_a_menu_lacks_leaves_it() -> None:
    """A raise of its last raise; a call is one of any menu."""
    view, node, table = one_hand(game(POT), "a")
    smaller, _, _ = view.seen_as(node, table, table.bet + 1)
    assert smaller == LEFT
    smaller, _, _ = view.seen_as(node, table, table.call)
    assert view.tree.label[int(smaller[0])] == "c"


def test_own_bets_are_fractions_of_the_real_pot() -> None:
    """The menu bets 1/2 and 6/5 of 200; the real pot is 600."""
    view, node, table = one_hand(game(OTHER), "c x")
    spent = np.full((1, 2), 300)
    real = table._replace(spent=spent, call=np.array([300]), low=np.array([400]))
    assert view.real_totals(node, real).tolist() == [[300, 600, 1020]]
    short = real._replace(low=np.array([310]), high=np.array([310]))
    assert view.real_totals(node, short).tolist() == [[300, 310, 310]]
    none = real._replace(low=np.array([301]), high=np.array([300]))
    assert view.real_totals(node, none).tolist() == [[300, 300, 300]]


@pytest.mark.parametrize("players", few([2, 3], (2).__eq__))
def test_one_menu_plays_on_its_own_tree(players: int) -> None:
    """Nothing is translated then: means are those of the walk on the tree."""
    here, sums = chance_strategy(OTHER, players)
    values = holdem.hand_values((here, sums), hands=20_000)
    deals, cards = here.deal_cards(0, 0, 4_000)
    view, rng = MenuView(here), np.random.default_rng(1)
    table = mccfr.SeatTable(here.tree.rows(here.num_buckets), sums)
    seats = [table] * players
    dealt = DealtHands(values, deals, cards, rng)
    chips, plain = play_translated([view] * players, seats, deals.bucket, dealt, view, rng)
    tree = mccfr.play_hands(here, sums, deals, np.random.default_rng(3))
    error = np.hypot(plain.std(0), tree.std(0)) / np.sqrt(len(tree))
    assert (np.abs(plain.mean(0) - tree.mean(0)) < 4 * error).all()
    if players == 2:
        stakes = np.unique([0, *here.payoffs.spent.min(1)])
        assert np.isin(np.abs(plain), stakes).all()
        assert len(np.unique(np.abs(plain))) > 10
    np.testing.assert_allclose(chips.sum(1), 0, atol=1e-2)


def test_who_folds_to_every_bet_loses_the_blinds() -> None:
    """To a player of another menu who moves in: 50 chips as small blind and 100 as big blind."""
    raises, folds = game(POT), game(OTHER)
    sums = np.zeros_like(holdem.uniform_sums(folds))
    rows = folds.tree.rows(folds.num_buckets)
    for p in np.flatnonzero(folds.tree.count):
        sums[rows[p] : rows[p + 1]].reshape(-1, int(folds.tree.count[p]))[:, 0] = 1
    moves_in = raises, holdem.always(raises, "a")
    found = holdem.hand_match([moves_in, (folds, sums)], hands=2_000)
    np.testing.assert_array_equal(found.plain, [[75, -75]] * 1_000)
    assert abs(found.mbb - 750) < 4 * found.standard_error + 1e-6


@pytest.mark.parametrize("players", few([2, 3], (2).__eq__))
def test_corrections_leave_the_mean_alone(players: int) -> None:
    one, two = chance_strategy(POT, players), chance_strategy(OTHER, players)
    learned, rng = holdem.hand_values(one, hands=20_000), np.random.default_rng(0)
    wild = dataclasses.replace(
        learned,
        mean=rng.normal(0, 2_000, learned.mean.shape).astype(np.float32),
        worth=rng.normal(0, 800, learned.worth.shape).astype(np.float32),
    )
    for values in (learned, wild):
        found = holdem.hand_match([one, *[two] * (players - 1)], hands=30_000, values=values)
        added = (found.chips - found.plain)[:, 0]
        assert np.abs(added.mean()) < 4 * added.std() / np.sqrt(len(added))
        assert added.std() > 100
        np.testing.assert_allclose(found.plain.sum(1), 0, atol=1e-2)
        if values is learned:
            assert found.standard_error < found.plain_error

"""Features of hands on a few boards: C++ against NumPy, and both against `holdem.equity`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from few import few

from jaxsolve import holdem
from jaxsolve.holdem import _features as features
from jaxsolve.holdem._build_abstraction import nearest_buckets, sample_hands

BINS = 50


def boards(*names: str) -> np.ndarray:
    return np.array([sorted(holdem.parse_cards(name)) for name in names], np.uint8)


RIVERS = boards("Td9d6hQc2s", "AhKhQhJhTh", "2c2d2h2s3c", "5h6h7h8h2c", "AcAdKcKd7s")


def random_rivers(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sort(rng.permuted(np.tile(np.arange(52), (count, 1)), axis=1)[:, :5], 1).astype(
        np.uint8
    )


def groups() -> np.ndarray:
    """Three groups of hands: pairs, suited, offsuit."""
    low, high = holdem.HANDS.T
    return np.where(low // 4 == high // 4, 0, np.where(low % 4 == high % 4, 1, 2)).astype(np.uint8)


def bins_of(equity: np.ndarray) -> np.ndarray:
    """Returns the bin of an equity, from the whole number of half wins among 990 hands."""
    return (
        np.round(equity * 2 * features.OPPONENTS).astype(int) * BINS // (2 * features.OPPONENTS + 1)
    )


def test_strengths_in_cpp_are_those_in_jax() -> None:
    rivers = np.concatenate([RIVERS, random_rivers(60, seed=0)])
    native = features.river_strengths_native(rivers)
    if native is None:
        pytest.skip("no compiler, or native code is turned off")
    np.testing.assert_array_equal(native, features.river_strengths(rivers))


def test_river_features_in_cpp_are_those_in_numpy() -> None:
    rivers = np.concatenate([RIVERS, random_rivers(3, seed=1)])
    many = (np.arange(holdem.NUM_HANDS) * 7 % 21).astype(np.uint8)  # more groups than lanes
    for group in (groups(), many):
        native = features.river_features(rivers, group)
        plain = features.river_features_numpy(rivers, group)
        np.testing.assert_array_equal(native[0], plain[0])
        np.testing.assert_allclose(native[1], plain[1], atol=1e-6)


@pytest.mark.parametrize("row", range(len(RIVERS)))
def test_river_features_are_equities(row: int) -> None:
    board = RIVERS[row]
    (bin_of,), (equity,) = features.river_features(board[None], groups())
    live = holdem.possible(board)
    overall = holdem.equity(np.ones(holdem.NUM_HANDS), board.tolist())
    np.testing.assert_array_equal(bin_of[live], bins_of(overall[live]))
    assert (bin_of[~live] == BINS).all()
    for g in range(3):
        against = holdem.equity((groups() == g).astype(float), board.tolist())
        expected = np.where(np.isnan(against), 0.5, against)
        np.testing.assert_allclose(equity[live, g], expected[live], atol=1e-6)


@pytest.mark.parametrize("name", ["Td9d6hQc", "AhAdAcKs"])
def test_turn_histograms_are_those_of_equities(name: str) -> None:
    (turn,) = boards(name)
    counts = np.zeros((holdem.NUM_HANDS, BINS))
    for card in set(range(52)) - set(turn.tolist()):
        equity = holdem.equity(np.ones(holdem.NUM_HANDS), [*turn.tolist(), card])
        (live,) = np.nonzero(~np.isnan(equity))
        counts[live, bins_of(equity[live])] += 1
    assert set(counts.sum(1)) == {0, 46}
    expected = (counts.cumsum(1) / 46)[:, :-1]
    found = features.equity_histograms(turn[None], _bins(turn))
    np.testing.assert_allclose(found[0], expected, atol=1e-6)


@pytest.mark.parametrize("name", few(["Td9d6hQc", "AhAdAc"], lambda name: len(name) == 8))
def test_histograms_in_cpp_are_those_in_numpy(name: str) -> None:
    (board,) = boards(name)
    bin_of = _bins(board)
    native = features.equity_histograms(board[None], bin_of)
    plain = features.equity_histograms_numpy(board[None], bin_of)
    np.testing.assert_allclose(native, plain, atol=1e-6)
    live = holdem.possible(board)
    assert not native[0, ~live].any()
    mean = features.mean_of_histogram(native[0, live])
    equity = holdem.equity(np.ones(holdem.NUM_HANDS), board.tolist())[live]
    assert np.abs(mean - equity).max() < 0.6 / BINS


def test_groups_before_the_flop_are_in_order_and_know_no_suits() -> None:
    found = features.hand_groups(seed=0)
    assert sorted(set(found.tolist())) == list(range(features.GROUPS))
    for suits in holdem.hand_after():
        np.testing.assert_array_equal(found[suits], found)
    number = {
        name: int(found[holdem.hand_index(*holdem.parse_cards(name))])
        for name in ("AhAd", "KhKd", "AhKd", "7h2d", "3h2d")
    }
    assert number["AhAd"] == number["KhKd"] == features.GROUPS - 1
    assert number["7h2d"] < number["AhKd"] < number["KhKd"]
    assert number["3h2d"] == 0


def test_equal_hands_have_equal_buckets() -> None:
    """On a board of two suits the other two are the same."""
    board = boards("TdTh6h9d2h")
    equity = features.river_features(board, groups())[1]
    centres = equity[0][holdem.possible(board[0])][::40]
    found = nearest_buckets(board, equity, centres)
    assert ((found[0] == 65_535) == ~holdem.possible(board[0])).all()
    assert found[0][holdem.possible(board[0])].max() < len(centres)
    exchanged = 4 * (holdem.HANDS // 4) + np.array([3, 1, 2, 0])[holdem.HANDS % 4]
    other = holdem.hand_index(exchanged[:, 0], exchanged[:, 1])
    np.testing.assert_array_equal(found[0][other], found[0])
    exact = np.square(equity[0][:, None].astype(float) - centres[None]).sum(2)
    own = np.take_along_axis(exact, np.minimum(found[0], len(centres) - 1)[:, None], 1)[:, 0]
    assert (own <= exact.min(1) + 1e-6)[holdem.possible(board[0])].all()


@pytest.mark.parametrize(("street", "cards"), [("flop", 3), ("turn", 4), ("river", 5)])
def test_samples_are_of_hands_that_are_possible(street: str, cards: int) -> None:
    """Features that say which hand and board they are of."""
    seen = []

    def tell(some: np.ndarray) -> np.ndarray:
        seen.extend(some.tolist())
        out = np.empty((len(some), holdem.NUM_HANDS, 1 + cards), np.float32)
        out[:, :, 0] = np.arange(holdem.NUM_HANDS)
        out[:, :, 1:] = some[:, None]
        return out

    sample = sample_hands(street, tell, 330, np.random.default_rng(0)).astype(int)
    assert (len(sample), len(seen)) == (350, 7)
    hands = holdem.HANDS[sample[:, 0]]
    assert not (hands[:, :, None] == sample[:, None, 1:]).any()
    assert len(np.unique(sample, axis=0)) == len(sample)
    again = sample_hands(street, tell, 330, np.random.default_rng(0))
    np.testing.assert_array_equal(again, sample)


def _bins(board: np.ndarray) -> np.ndarray:
    """Returns the table of all rivers, filled where a river follows the board."""
    left = sorted(set(range(52)) - set(board.tolist()))
    rivers = holdem.canonical_boards(5)
    rest = itertools.combinations(left, 5 - len(board))
    rows = np.unique(rivers.find([[*board.tolist(), *cards] for cards in rest])[0])
    table = np.zeros((len(rivers.boards), holdem.NUM_HANDS), np.uint8)
    one = np.zeros(holdem.NUM_HANDS, np.uint8)
    table[rows] = features.river_features(rivers.boards[rows], one)[0]
    return table

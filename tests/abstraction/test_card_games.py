"""Buckets of small card games: lossless ones are those by suits, k-means of features is coarser."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve.abstraction import (
    CardRows,
    card_rows,
    cluster_hands,
    lossless,
    showdown_histograms,
)
from jaxsolve.public import PublicGame, public_game
from jaxsolve.types import CHANCE, TERMINAL

LEDUC = few(["toy", "leduc", "leduc(ranks=4,suits=2)", "nolimit_leduc"], lambda name: name == "toy")


@functools.cache
def public(name: str) -> PublicGame:
    return toy(3, 2) if name == "toy" else public_game(games.load(name))


class Named(NamedTuple):
    name: str


def toy(ranks: int, suits: int) -> PublicGame:
    """Leduc with little betting: one plays on or folds, a board card, the other does the same."""
    cards = ranks * suits
    card, pair = np.arange(cards), 1 / (cards * (cards - 1))
    parent, action, actor = [-1, 0, 0], [-1, 0, 1], [0, TERMINAL, CHANCE]
    weight = [pair * (1 - np.eye(cards))] * 3
    payoff = [np.zeros((cards, cards)), np.full((cards, cards), -1.0), np.zeros((cards, cards))]
    for board in card:
        strength = card // suits + ranks * (card // suits == board // suits)
        sign = np.sign(strength[:, None] - strength)
        there = (card != board) / (cards - 2)
        here = weight[0] * there[:, None] * (card != board)
        node = len(parent)
        parent += [2, node, node]
        action += [int(board), 0, 1]
        actor += [1, TERMINAL, TERMINAL]
        weight += [here] * 3
        payoff += [0.0 * sign, np.ones_like(here), 2.0 * sign]
    children = tuple(np.flatnonzero(np.array(parent) == k) for k in range(len(parent)))
    first = np.stack(payoff) * (np.stack(weight) > 0)
    return PublicGame(
        game=Named("toy"),  # type: ignore[arg-type]
        parent=np.array(parent),
        action=np.array(action),
        actor=np.array(actor),
        children=children,
        weight=np.stack(weight),
        payoff=np.stack([first, -first], 1),
        possible=np.stack([(np.stack(weight) > 0).any(2 - i) for i in range(2)], 1),
        subgame_class=np.zeros(len(parent), np.int64),
        representative=np.zeros(1, np.int64),
        scale=np.ones(1),
        features=np.zeros((1, 0)),
        root=0,
    )


def cards_of(rows: CardRows, player: int) -> np.ndarray:
    """Returns the card of each hand in Leduc: the board card with which it is impossible."""
    gone = rows.mass[player][1:] == 0
    assert (gone.sum(0) == 1).all()
    return np.array([path[0] for path in rows.outcomes[1:]])[gone.argmax(0)]


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("name", LEDUC)
def test_lossless_buckets_of_leduc_are_ranks(name: str) -> None:
    """Ranks of the hand, and of the board: suits say nothing."""
    found = lossless(public(name))
    ranks = 4 if "ranks=4" in name else 3
    assert found.num_buckets == (ranks, ranks**2)
    assert (
        repr(found) == f"CardBuckets({ranks} / {ranks**2} buckets by stage, {2 * ranks + 1} rows)"
    )
    for player in range(2):
        rank = cards_of(found.rows, player) // 2
        assert same_partition(found.bucket[player, 0], rank)
        board = np.array([path[0] // 2 for path in found.rows.outcomes[1:]])
        expected = 10 * board[:, None] + rank
        there = found.rows.mass[player, 1:] > 0
        assert same_partition(found.bucket[player, 1:][there], expected[there])
        assert (found.bucket[player, 1:][~there] == -1).all()


@pytest.mark.parametrize(
    ("name", "buckets"), few([("kuhn", 3), ("liars_dice", 6)], lambda row: row[0] == "kuhn")
)
def test_hands_that_differ_are_told_apart(name: str, buckets: int) -> None:
    found = lossless(public(name))
    assert found.num_buckets == (buckets,)
    assert (np.sort(found.bucket[:, 0], 1) == np.arange(buckets)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc", "nolimit_leduc"])
def test_cfr_never_tells_lossless_buckets_apart(name: str) -> None:
    """It starts from the uniform policy, so hands that are equal stay equal; others do not."""
    game = public(name)
    found = lossless(game)
    result = js.solve(js.compile(game.game), js.cfr_plus(), iterations=30)
    table = game.table_of(result.average)
    for player in range(2):
        nodes = np.flatnonzero(game.actor == player)
        for row in range(len(found.rows.outcomes)):
            policy = table[nodes[found.rows.row[nodes] == row]].reshape(-1, game.num_hands).T
            bucket = found.bucket[player, row]
            means = []
            for one in set(bucket.tolist()) - {-1}:
                mine = policy[bucket == one]
                np.testing.assert_allclose(mine, np.broadcast_to(mine[0], mine.shape), atol=1e-4)
                means.append(mine[0])
            for k, mean in enumerate(means):
                assert all(np.abs(mean - other).max() > 1e-3 for other in means[:k])


@pytest.mark.parametrize("name", LEDUC[:2])
def test_equities_of_three_ranks_and_two_suits(name: str) -> None:
    """By hand: of the five boards that a hand leaves, one makes a pair with it."""
    rows, table = card_rows(public(name)), showdown_histograms(public(name), bins=8)
    rank = cards_of(rows, 0) // 2
    first = table[0, 0] / table[0, 0].sum(1, keepdims=True)
    # Without a pair there are four hands to meet: one ties, one makes the pair, two are of the
    # third rank. So a king has 5/8, a queen 5/8 or 1/8, a jack 1/8; a pair always wins.
    king = np.array([0, 0, 0, 0, 0, 4, 0, 1]) / 5
    queen = np.array([0, 2, 0, 0, 0, 2, 0, 1]) / 5
    jack = np.array([0, 4, 0, 0, 0, 0, 0, 1]) / 5
    for hand in range(6):
        np.testing.assert_allclose(first[hand], (jack, queen, king)[rank[hand]], atol=1e-12)
    assert rows.mass.sum() == pytest.approx(2 * (1 + 1))
    np.testing.assert_allclose(table.sum(3), np.where(rows.mass > 0, rows.mass, 0), atol=1e-12)


@pytest.mark.parametrize("name", [pytest.param("kuhn", marks=pytest.mark.slow), *LEDUC])
def test_clusters_never_split_what_is_equal(name: str) -> None:
    game = public(name)
    fine = lossless(game)
    for clusters in (1, 2, 3):
        found = cluster_hands(game, clusters)
        assert found.num_buckets == (clusters,) * len(fine.num_buckets)
        for player in range(2):
            there = found.rows.mass[player] > 0
            assert set(np.unique(found.bucket[player][there])) == set(range(clusters))
            assert (found.bucket[player][~there] == -1).all()
            for stage in range(len(fine.num_buckets)):
                here = there & (found.rows.stage == stage)[:, None]
                pairs = {*zip(fine.bucket[player][here], found.bucket[player][here], strict=True)}
                assert len(pairs) == len(np.unique(fine.bucket[player][here]))


@pytest.mark.parametrize("name", LEDUC[:2])
def test_clusters_are_in_order_of_strength(name: str) -> None:
    """A pair is stronger than a hand with equity 5/8, and that stronger than one with 1/8."""
    game = public(name)
    found = cluster_hands(game, [3, 3], bins=40)
    assert found.num_buckets == (3, 3)
    for player in range(2):
        rank = cards_of(found.rows, player) // 2
        assert found.bucket[player, 0].tolist() == rank.tolist()
        for row, path in enumerate(found.rows.outcomes[1:], 1):
            there, board = found.bucket[player, row] >= 0, path[0] // 2
            rest = [one for one in range(3) if one != board]
            expected = np.where(rank == board, 2, np.where(rank == rest[1], 1, 0))
            assert found.bucket[player, row][there].tolist() == expected[there].tolist()
    node = int(np.flatnonzero(game.actor == 1)[0])
    np.testing.assert_array_equal(found.at(node, 1), found.bucket[1, found.rows.row[node]])


@pytest.mark.parametrize(
    ("name", "clusters", "bins", "words"),
    [
        ("toy", [2], 50, "toy has 2 stages: give one number of clusters, or 2; not 1"),
        ("toy", 4, 50, "toy, stage 0: there are only 3 different points"),
        ("toy", 2, 1, "two or more bins, not 1"),
        pytest.param("liars_dice", 2, 50, "who wins with given hands", marks=pytest.mark.slow),
    ],
)
def test_what_cannot_be_clustered(name: str, clusters: object, bins: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cluster_hands(public(name), clusters, bins=bins)  # type: ignore[arg-type]

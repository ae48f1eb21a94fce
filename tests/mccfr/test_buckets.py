"""Sampled CFR with the buckets of small card games, beside other ways to the same buckets."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import abstraction, mccfr
from jaxsolve.public import PublicGame, hands_of, public_game


@functools.cache
def leduc() -> tuple[js.PublicTree, PublicGame]:
    return js.compile(games.load("leduc")), public_game(games.load("leduc"))


def _ranks(player: int, stage: int, shown: np.ndarray) -> int:
    """Of the own card and of the board; shown is that a card is dealt, then the own card."""
    return 10 * (int(shown[1 + player]) // 2) + (int(shown[3]) // 2 if stage else 0)


@pytest.mark.slow
def test_lossless_buckets_of_leduc_are_ranks() -> None:
    tree, public = leduc()
    found = mccfr.listed_game(tree, buckets=abstraction.lossless(public))
    want = mccfr.listed_game(tree, merge=_ranks)
    assert found.num_buckets == want.num_buckets == (3, 9)
    decides = found.node[(found.known >= 0).all(1)]
    for stage in range(2):
        at = np.flatnonzero((found.known >= 0).all(1))[found.tree.stage[decides] == stage]
        for player in range(2):
            pairs = np.unique([found.known[at, player], want.known[at, player]], axis=1)
            assert pairs.shape[1] == len(np.unique(pairs[0])) == found.num_buckets[stage]


def test_buckets_are_those_of_public_nodes_and_hands() -> None:
    tree, public = leduc()
    buckets = abstraction.cluster_hands(public, [2, 3])
    game = mccfr.listed_game(tree, buckets=buckets)
    assert game.num_buckets == (2, 3)
    states = tree.info.states
    for player in range(2):
        node, hand = hands_of(public, tree.info, player)
        for row, infoset in enumerate(tree.info.players[player].infostate):
            mine = (states.actor == player) & (states.infostate[:, player] == infoset)
            want = buckets.at(int(node[row]), player)[hand[row]]
            assert set(game.known[mine, player]) == {want}


@pytest.mark.slow
def test_lossless_buckets_cost_nothing_and_rough_ones_do() -> None:
    tree, public = leduc()
    gaps = []
    for buckets in (abstraction.lossless(public), abstraction.cluster_hands(public, [1, 2])):
        game = mccfr.listed_game(tree, buckets=buckets)
        sampler = mccfr.ExternalSampler(game, mccfr.Options(unit=1_000))
        tables, _ = sampler.run(mccfr.make_tables(game), 600_000)
        gaps.append(float(js.exploitability(tree, game.policy_of(tables))))
    assert gaps[0] < 0.03
    assert gaps[1] > 0.3


def test_wrong_buckets_are_refused() -> None:
    tree, public = leduc()
    buckets = abstraction.lossless(public)
    with pytest.raises(ValueError, match="merge or buckets"):
        mccfr.listed_game(tree, merge=_ranks, buckets=buckets)
    with pytest.raises(ValueError, match=r"is not of leduc\(players=3\)|is not of kuhn"):
        mccfr.listed_game(js.compile(games.load("kuhn(players=3)")), buckets=buckets)
    other = abstraction.lossless(public_game(games.load("kuhn")))
    with pytest.raises(ValueError, match="is not of leduc"):
        mccfr.listed_game(tree, buckets=other)

"""Buckets of hands by strength on a flop, against phevaluator."""

from __future__ import annotations

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from phevaluator import evaluate_cards

import games
from experiments.safe_subgames._abstraction import CoarseHands
from experiments.safe_subgames._study import NLFH
from jaxsolve.holdem import card_name
from jaxsolve.types import NOTHING


def test_buckets_order_hands_as_phevaluator_does():
    game = games.load(NLFH)
    coarse = CoarseHands(game, 3)
    names = [card_name(game._card(c)) for c in range(game.deck)]
    for flop in itertools.islice(itertools.combinations(range(8), 3), 0, 56, 5):
        hands = list(itertools.combinations(sorted({*range(8)} - {*flop}), 2))
        bucket = np.array([coarse.table[(*hand, *flop)] for hand in hands])
        rank = np.array([-evaluate_cards(*(names[c] for c in (*hand, *flop))) for hand in hands])
        assert set(bucket) <= {0, 1, 2}
        # A stronger hand is never in a lower bucket, equal hands are in the same one.
        for low, high in itertools.pairwise(np.argsort(rank)):
            assert bucket[low] <= bucket[high]
            assert bucket[low] == bucket[high] or rank[low] < rank[high]
        assert bucket[np.argmax(rank)] > bucket[np.argmin(rank)]


@pytest.mark.slow  # seconds of compilation
def test_players_see_their_bucket_and_nobody_the_flop():
    game = games.load(NLFH)
    coarse = CoarseHands(game, 2)
    state = game.init()
    for card in (0, 6, 1, 7):
        state = game.step(state, jnp.int32(card))
    assert (coarse.observe(state)[1] == game.observe(state)[1]).all()
    for action in (1, 1):  # call, check
        state = game.step(state, jnp.int32(action))
    for card in (2, 3, 4):
        state = game.step(state, jnp.int32(card))
    public, private = coarse.observe(state)
    assert public.tolist() == [NOTHING, 0, NOTHING, NOTHING]
    assert game.observe(state)[0].tolist() == [NOTHING, 2, 3, 4]
    expected = [coarse.table[0, 6, 2, 3, 4], coarse.table[1, 7, 2, 3, 4]]
    assert private.tolist() == [[e, NOTHING] for e in expected]

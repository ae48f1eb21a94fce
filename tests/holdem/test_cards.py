"""Numbers and names of cards and hands."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsolve import holdem


def test_names_of_all_cards_read_back():
    text = "".join(holdem.card_name(card) for card in range(52))
    assert text.startswith("2c2d2h2s3c")
    assert text.endswith("AcAdAhAs")
    assert holdem.parse_cards(text) == tuple(range(52))
    assert holdem.cards_name(range(52)) == text
    assert holdem.parse_cards(" Td 9d\n6h") == (33, 29, 18)
    assert holdem.parse_cards("") == ()


def test_hands_are_all_pairs_in_order():
    assert holdem.HANDS.shape == (holdem.NUM_HANDS, 2)
    assert holdem.HANDS.tolist() == [list(pair) for pair in itertools.combinations(range(52), 2)]
    assert holdem.HANDS.dtype == np.int32


def test_hand_index_is_the_row_in_either_order():
    low, high = holdem.HANDS.T
    rows = np.arange(holdem.NUM_HANDS)
    for kind in (np.int32, np.int8):
        a, b = low.astype(kind), high.astype(kind)
        np.testing.assert_array_equal(holdem.hand_index(a, b), rows)
        np.testing.assert_array_equal(holdem.hand_index(b, a), rows)
        np.testing.assert_array_equal(
            jax.jit(holdem.hand_index)(jnp.asarray(b), jnp.asarray(a)), rows
        )
    assert holdem.hand_index(51, 0) == 50


def test_hand_name_has_the_higher_card_first():
    ace, king = holdem.parse_cards("AhKd")
    assert holdem.hand_name(holdem.hand_index(king, ace)) == "AhKd"
    names = {holdem.hand_name(hand) for hand in range(holdem.NUM_HANDS)}
    assert len(names) == holdem.NUM_HANDS
    for hand, name in ((0, "2d2c"), (1325, "AsAh")):
        assert holdem.hand_name(hand) == name


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("Td9x6h", "expected a suit, one of cdhs", 4),
        ("Td9", "expected a suit", 4),
        ("Td1d", "expected a rank, one of 23456789TJQKA", 3),
        ("td", "expected a rank", 1),
        ("AhKd Ah", "Ah is there twice", 6),
    ],
)
def test_errors_point_at_the_character(text: str, message: str, column: int):
    with pytest.raises(ValueError, match=message) as error:
        holdem.parse_cards(text)
    assert f"at character {column}:" in str(error.value)
    assert str(error.value).endswith("\n  " + " " * (column - 1) + "^")

"""Range notation: what each form names, what comes back, and where wrong strings are pointed at."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxsolve.holdem import (
    HANDS,
    RANKS,
    Range,
    format_range,
    hand_index,
    hand_name,
    parse_range,
)
from jaxsolve.holdem import parse_cards as cards

OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"


def classes(weights: np.ndarray) -> set[str]:
    """The classes of all hands with weight, by an independent way to name them."""
    out = set()
    for h in np.flatnonzero(weights):
        a, b = sorted((divmod(int(c), 4) for c in HANDS[h]), reverse=True)
        name = RANKS[a[0]] + RANKS[b[0]]
        out.add(name if a[0] == b[0] else name + ("s" if a[1] == b[1] else "o"))
    return out


@pytest.mark.parametrize(
    ("text", "names", "hands"),
    [
        ("QQ", "QQ", 6),
        ("JJ+", "JJ QQ KK AA", 24),
        ("AA+", "AA", 6),
        ("44-22", "44 33 22", 18),
        ("AKs", "AKs", 4),
        ("AKo", "AKo", 12),
        ("AK", "AKs AKo", 16),
        ("ATs+", "ATs AJs AQs AKs", 16),
        ("KTo+", "KTo KJo KQo", 36),
        ("QT+", "QTs QTo QJs QJo", 32),
        ("T8s+", "T8s T9s", 8),
        ("JTs+", "JTs QJs KQs AKs", 16),
        ("A5s-A4s", "A5s A4s", 8),
        ("A5s-A5s", "A5s", 4),
        ("JTs-87s", "JTs T9s 98s 87s", 16),
        ("97o-75o", "97o 86o 75o", 36),
        ("AhKd", "AKo", 1),
        ("KdAh", "AKo", 1),
        ("AhTh+", "ATs AJs AQs AKs", 4),
        ("AhKh-AhTh", "ATs AJs AQs AKs", 4),
        ("QsQh-TsTh", "QQ JJ TT", 3),
    ],
)
def test_forms(text: str, names: str, hands: int) -> None:
    weights = parse_range(text)
    assert weights.dtype == np.float64
    assert weights.shape == (1326,)
    assert classes(weights) == set(names.split())
    assert weights.sum() == np.count_nonzero(weights) == hands


def test_every_class_has_its_hands() -> None:
    total = np.zeros(1326)
    for high, low in itertools.combinations(RANKS[::-1], 2):
        for suits, size in (("s", 4), ("o", 12)):
            weights = parse_range(high + low + suits)
            assert classes(weights) == {high + low + suits}
            assert weights.sum() == size
            total += weights
    for rank in RANKS:
        assert parse_range(rank + rank).sum() == 6
        total += parse_range(rank + rank)
    np.testing.assert_array_equal(total, 1)
    np.testing.assert_array_equal(parse_range("full"), 1)
    np.testing.assert_array_equal(parse_range("random:0.25"), 0.25)


def test_reference_ranges() -> None:
    # Counted by hand from the classes: pairs 6, suited 4, offsuit 12.
    assert parse_range(OOP).sum() == 9 * 6 + 4 * (6 + 2 + 4 + 2 + 1 + 3 + 3 + 2 + 1 + 1) + 12 * 4
    assert format_range(parse_range(OOP)) == OOP
    assert format_range(parse_range(IP)) == IP


def test_weights_and_separators() -> None:
    expected = parse_range("QQ+:0.25,AhKd:0.5,54s")
    for text in (
        "QQ+:.25, AhKd:0.5, 54s",
        " QQ+ : 0.25\nAhKd:5e-1 54s ",
        "54s,AhKd:0.50,AA-QQ:0.25",
        "54s,AhKd:0.50,AA – QQ:0.25",
        "QQ+:0.25,KK:0.25,AhKd:0.5,54s:1",
    ):
        np.testing.assert_array_equal(parse_range(text), expected)
    index = next(h for h in range(1326) if set(HANDS[h]) == set(cards("AhKd")))
    assert expected[index] == 0.5
    assert expected.sum() == 18 * 0.25 + 0.5 + 4


def test_a_more_specific_item_overrides() -> None:
    weights = parse_range("AhKd:0.5,AJo+,QQ:0.25,66+,full:0.1")
    assert weights[hand_index(*cards("AhKd"))] == 0.5
    assert weights[hand_index(*cards("AhKc"))] == 1
    assert weights[hand_index(*cards("QhQc"))] == 0.25
    assert weights[hand_index(*cards("6h6c"))] == 1
    assert weights[hand_index(*cards("AhKh"))] == 0.1
    np.testing.assert_array_equal(weights, parse_range("full:0.1,66+,QQ:0.25,AJo+,AhKd:0.5"))


@pytest.mark.parametrize(
    ("text", "character", "words"),
    [
        ("AA,Xs", 4, "unknown rank 'X'"),
        ("aKs", 1, "write 'A'"),
        ("10s", 1, 'write "T" for 10'),
        ("AA,AX", 5, "unknown rank 'X'"),
        ("AKS", 3, "write 'AKs'"),
        ("AKx", 3, "unknown 'x'"),
        ("8A+", 1, r"write 'A8\+'"),
        ("66s+", 3, r"write '66\+'"),
        ("AhKz", 4, "expected a suit"),
        ("AhKD", 4, "write 'AhKd'"),
        ("KK,AhAh", 6, "the card Ah is there twice"),
        ("Ah", 3, "expected a second card"),
        ("AhKdQs", 5, "unknown 'Qs'"),
        ("A", 2, "expected a second rank or a suit"),
        ("QQ-A2s", 1, "of different kind"),
        ("A5s-A2o", 1, "of different kind"),
        ("A5s-A2", 1, "of different kind"),
        ("AhKh-AdTd", 1, "of different kind"),
        ("A5s-K2s", 1, "nothing leads from A5s to K2s"),
        ("A5s+-A2s", 4, r'write "\+" or a span'),
        ("AA-", 4, "expected a hand"),
        ("AA:0", 4, "leave these hands out"),
        ("AA:1.5", 4, "at most 1"),
        ("AA:50", 4, "write 0.5 for 50%"),
        ("AA:50%", 4, "write 0.5 for 50%"),
        ("AA:-1", 4, "expected a weight"),
        ("AA:nan", 4, "expected a weight"),
        ("AA:", 4, "expected a weight"),
        ("AA:0.5:1", 4, "expected a weight"),
        ("AA,,KK", 3, "an empty item"),
        ("AA,", 3, "an empty item"),
        (" ,AA", 2, "an empty item"),
        ("QQ:0.5, QQ", 9, "QdQc has weight 1 in 'QQ', but 0.5 in 'QQ:0.5' at character 1:"),
        ("JJ+:0.5, QQ-22", 10, r"JdJc has weight 1 in 'QQ-22', but 0.5 in 'JJ\+:0.5' at character"),
    ],
)
def test_errors_point_at_the_place(text: str, character: int, words: str) -> None:
    with pytest.raises(ValueError, match=f"character {character}: .*{words}") as error:
        parse_range(text)
    _, shown, arrow = str(error.value).split("\n")
    assert shown == f"  {text}".rstrip()
    assert arrow == " " * (1 + character) + "^"


def test_errors_in_long_strings_show_only_the_place() -> None:
    with pytest.raises(ValueError, match="line 3, character 6") as error:
        parse_range(",\n".join([OOP, IP, "AA, K!"]))
    _, shown, arrow = str(error.value).split("\n")
    assert shown[arrow.index("^") :] == "!"
    assert len(shown) < 80


@pytest.mark.parametrize("text", ["", "  \n", 5, None])
def test_nothing_is_not_a_range(text: str) -> None:
    with pytest.raises(ValueError, match="range is"):
        parse_range(text)


CELLS = st.sampled_from(["22", "77+", "QQ-99", "A2s+", "K9o+", "T9s", "AK", "J8s-J7s", "AhKd"])
WEIGHTS = st.one_of(
    st.sampled_from([0.25, 0.5, 1.0]), st.floats(0, 1, exclude_min=True, allow_subnormal=True)
)


@given(st.lists(st.tuples(CELLS, WEIGHTS)), st.dictionaries(st.integers(0, 1325), WEIGHTS))
def test_what_is_written_reads_back_the_same(
    items: list[tuple[str, float]], single: dict[int, float]
) -> None:
    weights = np.zeros(1326)
    for text, value in items:
        weights[parse_range(text) > 0] = value
    for hand, value in single.items():
        weights[hand] = value
    text = format_range(weights)
    if not weights.any():
        assert text == ""
        return
    np.testing.assert_array_equal(parse_range(text), weights)
    assert format_range(parse_range(text)) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("AA,KK,QQ", "QQ+"),
        ("AKs,AKo", "AK"),
        ("A2s+,AKo", "A2s+,AKo"),
        ("KJ,KQs,KQo", "KJ+"),
        ("98s,T9s", "T9s,98s"),
        ("QQ:0.5,KK,AA", "KK+,QQ:0.5"),
        ("random:0.3", "full:0.3"),
        ("KdAh,AcAd", "AdAc,AhKd"),
    ],
)
def test_short_notation(text: str, short: str) -> None:
    assert sorted(format_range(parse_range(text)).split(",")) == sorted(short.split(","))


def test_hands_on_the_board_do_not_split_classes() -> None:
    board = cards("Td9d6hQc")
    weights = parse_range("JJ-22:0.5,AT+,T9o,AhAd")
    weights[np.isin(HANDS, board).any(1)] = 0.0
    assert format_range(weights, board) == "JJ-22:0.5,AT+,T9o,AhAd"
    assert format_range(parse_range("full"), board) == "full"
    # No hand of the class is left: it is not there.
    assert format_range(parse_range("KK-JJ"), cards("QdQhQc")) == "KK,JJ"


def test_wrong_weights_are_refused() -> None:
    weights = np.zeros(1326)
    weights[7] = 1.5
    with pytest.raises(ValueError, match=f"weight of {hand_name(7)} is 1.5"):
        format_range(weights)
    weights[7] = np.nan
    with pytest.raises(ValueError, match="is nan"):
        format_range(weights)
    with pytest.raises(ValueError, match="one weight for each of 1326 hands"):
        format_range(np.zeros(169))


def test_a_range_shows_itself() -> None:
    one = Range.parse("QQ+:0.5,AK")
    assert repr(one) == "Range('QQ+:0.5,AK')"
    assert one.combinations == 25
    np.testing.assert_array_equal(np.asarray(one), one.weights)
    html = one._repr_html_()
    assert html.count("<td") == 169
    assert "title='QQ: 0.500'" in html
    assert "25.0 combinations" in html


@pytest.mark.parametrize("span", ["QQ-22", "A5s-A2s", "JTs-54s"])
def test_spans_are_read_from_either_end(span: str) -> None:
    first, second = span.split("-")
    np.testing.assert_array_equal(parse_range(f"{second}-{first}"), parse_range(span))

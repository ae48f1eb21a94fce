"""Spots from TOML and dicts: what they hold, and that wrong ones are refused with the place."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxsolve.holdem import HANDS, Size, Spot, hand_name, parse_cards, parse_range, totals
from jaxsolve.holdem import parse_sizes as read_sizes

EXAMPLES = Path(__file__).parents[2] / "examples"

RIVER: dict[str, Any] = {
    "board": "Td9d6hQc2s",
    "pot": 200,
    "stack": 900,
    "oop": "66+,AK",
    "ip": "QQ-22",
    "sizes": {"bet": ["50%", "a"], "raise": ["3x", "a"]},
}


def spot(**changes: Any) -> Spot:
    return Spot.parse({k: v for k, v in {**RIVER, **changes}.items() if v is not None})


def menu(*words: str) -> tuple[Size, ...]:
    return tuple(Size.parse(word) for word in words)


def test_reference_spots() -> None:
    river, turn = (Spot.load(EXAMPLES / f"{name}.toml") for name in ("river", "turn"))
    assert river.board == parse_cards("Td9d6hQc2s")
    assert turn.board == parse_cards("Td9d6hQc")
    assert (river.pot, river.stack, river.effective_stack) == (200, (900, 900), 900)
    assert (len(river.hands), len(turn.hands)) == (1081, 1128)
    assert (river.streets, turn.streets) == (("river",), ("turn", "river"))
    for street in turn.streets:
        for menus in turn.sizes[street]:
            assert menus.bet == menus.raise_ == menu("50%", "100%", "a")
            assert menus.donk is None
    for one in (river, turn):
        blocked = np.isin(HANDS, one.board).any(1)
        for weights in one.ranges:
            assert not weights[blocked].any()
        np.testing.assert_array_equal(np.flatnonzero(~blocked), one.hands)
        # Pairs of hands counted one by one.
        pairs = sum(
            not set(HANDS[a]) & set(HANDS[b])
            for a in np.flatnonzero(one.ranges[0])
            for b in np.flatnonzero(one.ranges[1])
        )
        assert one.pairs == pairs
        assert Spot.parse(one.as_dict()).as_dict() == one.as_dict()
    assert river.as_dict()["oop"].startswith("66+,A8s+,A5s-A4s,AJo+")


def test_everything_survives_as_dict() -> None:
    one = spot(
        stack=[900, 1000],
        oop="AhKd:0.25,QQ+:0.125",
        rake=0.05,
        rake_cap=3,
        raise_cap=2,
        allin_threshold=0.7,
        big_blind=10,
        sizes={"bet": "33%, 1.1%, 120c", "raise": [2.5, "2.2x"], "donk": ["a"]},
    )
    again = Spot.parse(one.as_dict())
    for field in dataclasses.fields(Spot):
        if field.name != "ranges":
            assert getattr(again, field.name) == getattr(one, field.name)
    np.testing.assert_array_equal(again.ranges, one.ranges)
    assert one.stack == (900, 1000)
    assert one.effective_stack == 900


def test_sizes_are_looked_up_from_the_street_outward() -> None:
    sizes = read_sizes(
        {
            "bet": ["50%"],
            "raise": [],
            "ip_bet": ["75%"],
            "turn": {"bet": ["100%"], "oop_raise": ["3x"], "donk": ["25%"]},
            "river": {"ip_bet": ["a"], "donk": []},
        }
    )
    assert sizes["flop"] == ((menu("50%"), (), None), (menu("75%"), (), None))
    assert sizes["turn"] == ((menu("100%"), menu("3x"), menu("25%")), (menu("100%"), (), None))
    assert sizes["river"] == ((menu("50%"), (), ()), (menu("a"), (), None))
    # Only the streets that are played need menus.
    only = read_sizes({"river": {"bet": ["a"], "raise": ["a"]}}, ["river"])
    assert list(only) == ["river"]


@pytest.mark.parametrize(
    ("word", "size", "text"),
    [
        ("50%", Size("pot", 0.5), "50%"),
        (0.5, Size("pot", 0.5), "50%"),
        (1, Size("pot", 1.0), "100%"),
        (".75", Size("pot", 0.75), "75%"),
        ("1.1%", Size("pot", 0.011), "1.1%"),
        ("2000%", Size("pot", 20.0), "2000%"),
        (1 / 3, Size("pot", 1 / 3), repr(1 / 3)),
        ("2.5x", Size("multiple", 2.5), "2.5x"),
        ("1234567c", Size("chips", 1234567.0), "1234567c"),
        (" a ", Size("all-in"), "a"),
        ("all-in", Size("all-in"), "a"),
    ],
)
def test_sizes_read_and_written(word: str | float, size: Size, text: str) -> None:
    assert Size.parse(word) == size
    assert str(size) == text
    assert Size.parse(text) == size


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (0, "above 0"),
        ("0%", "above 0"),
        (-0.5, "above 0"),
        ("-50%", "above 0"),
        (50, r"write '50%' \(of the pot\), '50c' \(chips\), or '5000%' if it is meant"),
        ("1x", "above 1"),
        ("0c", "1 or more"),
        ("1.5c", "whole number"),
        ("half", "not a size: write"),
        ("", "not a size"),
        (True, "not a size"),
        ("nan", "not a size"),
        (float("inf"), "not a size"),
    ],
)
def test_sizes_that_are_none(word: str | float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Size.parse(word)


def test_sizes_made_by_hand_are_checked() -> None:
    for kind, amount in (("pot", 0), ("pot", -1), ("pot", np.nan), ("multiple", 1), ("chips", 0)):
        with pytest.raises(ValueError, match="no bet"):
            Size(kind, amount)
    with pytest.raises(ValueError, match="unknown kind of size 'share'"):
        Size("share", 1)


def test_totals_of_sizes() -> None:
    spec = menu("50%", "100%", "a")
    assert totals(spec, own=0, facing=0, pot=200, high=900) == [100, 200, 900]
    # Pot 200, bet 100, call would make it 400.
    assert totals(spec, own=0, facing=100, pot=300, high=900) == [300, 500, 900]
    # Bet 100, raise to 300: pot after calling 800; 300 + 400, 300 + 800 is more than the stack.
    assert totals(spec, own=100, facing=300, pot=600, high=900) == [700, 900]
    # At least the last raise once more: 300 + 200, and all-in if that is not left.
    assert totals(menu("10%"), own=100, facing=300, pot=600, high=900) == [500]
    assert totals(menu("10%"), own=100, facing=300, pot=600, high=400) == [400]
    assert totals(spec, own=0, facing=900, pot=1100, high=900) == []
    assert totals((), own=0, facing=0, pot=200, high=900) == []
    # Halves are rounded up, in decimals and not in binary.
    assert totals(menu("50%"), own=0, facing=0, pot=25, high=900) == [13]
    assert totals(menu("115%"), own=0, facing=0, pot=50, high=900) == [58]
    assert totals(menu("2.5x", "120c"), own=0, facing=100, pot=300, high=900) == [220, 250]
    assert totals(menu("40c"), own=0, facing=0, pot=200, high=900) == [40]
    options = {"own": 0, "facing": 0, "pot": 200, "high": 250}
    assert totals(menu("100%"), **options, allin_threshold=0.8) == [200, 250]
    assert totals(menu("50%"), **options, allin_threshold=0.8) == [100]


def test_ranges_from_files(tmp_path: Path) -> None:
    (tmp_path / "ranges").mkdir()
    (tmp_path / "ranges" / "oop.txt").write_text("# pairs, all\n66+ # and\nAK:0.5\n")
    text = """
        board = "Td9d6hQc2s"
        pot = 200
        stack = [900, 800]
        oop = "@ranges/oop.txt"
        ip = "full"
        [sizes]
        bet = ["a"]
        raise = []
    """
    (tmp_path / "spot.toml").write_text(text)
    one = Spot.load(tmp_path / "spot.toml")
    expected = parse_range("66+,AK:0.5")
    expected[np.isin(HANDS, one.board).any(1)] = 0
    np.testing.assert_array_equal(one.ranges[0], expected)
    assert one.ranges[1].sum() == 1081
    (tmp_path / "ranges" / "oop.txt").write_text("66+\nAX\n")
    with pytest.raises(ValueError, match=r"spot\.toml: oop, .*oop\.txt: .* line 2, character 2"):
        Spot.load(tmp_path / "spot.toml")
    (tmp_path / "ranges" / "oop.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"oop: .*oop\.txt"):
        Spot.load(tmp_path / "spot.toml")


def test_files_that_are_not_toml(tmp_path: Path) -> None:
    (tmp_path / "spot.toml").write_text("board = Td9d6h")
    with pytest.raises(ValueError, match=r"spot\.toml: .*line 1"):
        Spot.load(tmp_path / "spot.toml")
    (tmp_path / "spot.toml").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"spot\.toml: "):
        Spot.load(tmp_path / "spot.toml")


def test_cards_of_the_board_in_ranges() -> None:
    # Of a class they are left out ...
    one = spot(oop="TT,AhTh-Ah8h,AcAs")
    names = {hand_name(h) for h in np.flatnonzero(one.ranges[0])}
    assert names == {"TsTh", "TsTc", "ThTc", "AhTh", "Ah9h", "Ah8h", "AsAc"}
    # ... but a hand that is named is a mistake.
    with pytest.raises(ValueError, match=r"oop: .*character 4: TdTc holds Td, .* Td9d6hQc2s") as e:
        spot(oop="AA,TdTc")
    assert str(e.value).endswith("  AA,TdTc\n     ^")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": "Td9d6hQcTd"}, r"board: .*character 9: Td is there twice"),
        ({"board": "Td9d6hQx2s"}, r"board: .*character 8"),
        ({"board": "Td9d"}, r"board: Td9d has 2 cards; write 3"),
        ({"board": "Td9d6hQc2s3s"}, r"board: .* has 6 cards"),
        ({"board": 5}, r'board: write a string such as "Td9d6hQc2s"'),
        ({"pot": 0}, "pot is 0, but must be positive"),
        ({"pot": -3}, "pot is -3, but must be positive"),
        ({"pot": "200"}, "pot: write a number of chips, not '200'"),
        ({"pot": 6.5}, "pot is 6.5; bets are rounded to whole chips"),
        ({"pot": float("nan")}, "pot is nan"),
        ({"stack": 0}, "stack of oop is 0"),
        ({"stack": [900, -1]}, "stack of ip is -1"),
        ({"stack": [1, 2, 3]}, "not 3 numbers"),
        ({"big_blind": 1000}, "stack of oop is 900, below the big blind of 1000"),
        ({"stack": [90, 20], "big_blind": 50}, "stack of ip is 20, below the big blind of 50"),
        ({"pots": 3}, "unknown spot key 'pots'. Did you mean 'pot'.* Known spot keys: board, pot"),
        ({"ip": None}, "ip is missing; a spot has board, pot, stack, oop, ip, sizes"),
        ({"oop": "AX"}, r"oop: wrong range at character 2"),
        ({"oop": ""}, "oop: the range is empty"),
        ({"oop": 7}, "oop: a range is a string"),
        ({"board": "2c2d2h2s3c", "ip": "22"}, "ip: each of the 6 hands of 22 holds a card of the"),
        ({"oop": "AhAs", "ip": "AsAh"}, "oop and ip: .* AsAh shares a card .* nothing to play"),
        ({"sizes": {"bet": ["0%"], "raise": []}}, r"sizes\.bet: '0%' is no bet"),
        ({"sizes": {"bet": ["0.1%"], "raise": []}}, "0.1% is no bet: .*0 chips in a pot of 200"),
        ({"sizes": {"bet": ["3x"], "raise": []}}, r"sizes\.bet: '3x' is a multiple of the bet"),
        ({"sizes": {"bet": ["a"]}}, "oop has no raise on the river"),
        ({"sizes": {"oop_bet": ["a"], "raise": []}}, "ip has no bet on the river"),
        ({"sizes": {"bets": ["a"]}}, "unknown size key 'bets'. Did you mean 'bet'"),
        ({"sizes": {"river": {"rise": []}}}, "unknown river size key 'rise'. Did you mean"),
        ({"sizes": {"turn": ["a"]}}, r"sizes\.turn is a table"),
        ({"sizes": ["a"]}, "sizes is a table"),
        ({"sizes": {"bet": True, "raise": []}}, "a menu is a list"),
        ({"rake": 5}, r"rake is 5.* write 0.05 for 5%"),
        ({"rake": "5%"}, "rake: write a number"),
        ({"rake_cap": -1}, "rake_cap is -1"),
        ({"raise_cap": 1.5}, "raise_cap is 1.5"),
        ({"allin_threshold": 0}, "allin_threshold is 0"),
    ],
)
def test_wrong_spots_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spot(**changes)


def test_spots_made_of_arrays() -> None:
    one = spot()
    again = dataclasses.replace(one, pot=300, ranges=(np.ones(1326), one.ranges[1]))
    assert again.ranges[0].sum() == 1081
    with pytest.raises(ValueError, match="read-only"):
        again.ranges[0][0] = 1
    with pytest.raises(ValueError, match="ip: a range has one weight for each of 1326 hands"):
        dataclasses.replace(one, ranges=(one.ranges[0], np.ones(169)))
    with pytest.raises(ValueError, match="oop: the range is empty"):
        dataclasses.replace(one, ranges=(np.zeros(1326), one.ranges[1]))
    with pytest.raises(ValueError, match="52 is not a card"):
        dataclasses.replace(one, board=(0, 1, 52))


def test_pairs_count_weights() -> None:
    one = spot(oop="AhAs:0.5,KhKs", ip="AsAd:0.25,KcKd", board="2c7d9h")
    # AhAs meets KcKd, KhKs meets both.
    assert one.pairs == 0.5 + 0.25 + 1


def test_a_spot_shows_itself() -> None:
    one = spot(rake=0.05, rake_cap=30, raise_cap=2, sizes={"bet": [], "raise": "a", "donk": "20%"})
    # oop: 5 pairs of six hands, 66, 99, TT and QQ of three, 16 AK; ip: 6 of six and 5 of three.
    assert repr(one) == "Spot(Td9d6hQc2s, pot 200, stack 900, oop 58.0 combinations, ip 51.0)"
    html = one._repr_html_()
    for words in ("T♦", "Q♣", "pot <b>200</b>", "5.00% up to 30", "none", "20%", "oop: 58.0"):
        assert words in html
    assert html.count("<td title") == 2 * 169

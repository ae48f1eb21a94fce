"""Range files and tree configurations of another solver: read, written, and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jaxsolve import holdem as he

TREE = """
#Type#NoLimit
#Range0#AA,KK:0.5,22:0,AKo:0.486
#Range1#QQ,JJ:0.25,AhKh
#Rake.Enabled#True
#Rake.Fraction#0.05
#Rake.Cap#20
#ICM.ICMFormat#Pio ICM structure
#Board#Td 9d 6h
#Pot#200
#EffectiveStacks#900
#AllinThreshold#100
#AddAllinOnlyIfLessThanThisTimesThePot#500
#MergeSimilarBets#False
#FlopConfig.BetSize#52
#FlopConfig.RaiseSize#2.5x
#FlopConfig.AddAllin#True
#TurnConfig.BetSize#30, 66
#TurnConfig.DonkBetSize#25
#FlopConfigIP.BetSize#33
#FlopConfigIP.RaiseSize#a
#TurnConfigIP.BetSize#50 20c
#RiverConfigIP.BetSize#75
"""


def menu(*words: str) -> tuple[he.Size, ...]:
    return tuple(he.Size.parse(word) for word in words)


def test_a_tree_is_read_and_written():
    spot = he.parse_pio_tree(TREE)
    assert (spot.pot, spot.stack, spot.rake, spot.rake_cap) == (200, (900, 900), 0.05, 20)
    assert he.cards_name(spot.board) == "Td9d6h"
    np.testing.assert_array_equal(spot.ranges[0], he.parse_range("AA,KK:0.5,AKo:0.486"))
    assert spot.sizes["flop"] == (
        (menu("52%", "a"), menu("2.5x", "a"), None),
        (menu("33%"), menu("a"), None),
    )
    assert spot.sizes["turn"] == (
        (menu("30%", "66%"), (), menu("25%")),
        (menu("50%", "20c"), (), None),
    )
    assert spot.sizes["river"] == (((), (), ()), (menu("75%"), (), None))
    assert he.parse_pio_tree(he.format_pio_tree(spot)).as_dict() == spot.as_dict()


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        ("#AllinThreshold#100", "#AllinThreshold#67", "#AllinThreshold#67.*ignore AllinThreshold"),
        ("ThePot#500", "ThePot#250", "#AddAllinOnlyIfLess.*#250"),
        ("#MergeSimilarBets#False", "#MergeSimilarBets#True", "#MergeSimilarBets#True"),
        ("#ICM.ICMFormat#", "#ICM.Enabled#True\n#ICM.ICMFormat#", "#ICM.Enabled#True"),
        ("#Pot#200\n", "", "no line #Pot#"),
        ("#Pot#200", "#Pot#20.5", "whole chips"),
        ("BetSize#52", "BetSize#big", "#FlopConfig.BetSize#: 'big%' is not a size"),
        ("#Board#Td 9d 6h", "#Board#Td 9d 6x", "expected a suit"),
        ("#Type#NoLimit", "#Type#Limit", "#Type#Limit"),
        ("#Type#NoLimit", "#Strange#1", "#Strange#1"),
    ],
)
def test_what_a_spot_cannot_say_is_refused(line: str, instead: str, message: str):
    text = TREE.replace(line, instead)
    assert text != TREE
    with pytest.raises(ValueError, match=message):
        he.parse_pio_tree(text)


def test_lines_are_left_out_when_named():
    text = TREE.replace("#AllinThreshold#100", "#AllinThreshold#67\n#CapEnabled#True")
    spot = he.parse_pio_tree(text, ignore=("AllinThreshold", "CapEnabled"))
    assert spot.as_dict() == he.parse_pio_tree(TREE).as_dict()


def test_range_files(tmp_path: Path):
    weights = he.parse_range("AA,KK:0.5,T9s,2d2c:0.25")
    text = he.format_range_file(weights)
    assert text.split()[0] == "0.25"  # 2d2c
    np.testing.assert_array_equal(he.parse_range_file(text), weights)
    table = np.zeros((13, 13))
    table[0, 1], table[1, 0], table[12, 12] = 1, 0.5, 0.125
    read = he.parse_range_file(" ".join(map(str, table.ravel())))
    np.testing.assert_array_equal(read, he.parse_range("AKs,AKo:0.5,22:0.125"))
    np.testing.assert_array_equal(he.parse_range_file("AA:1,KK:0"), he.parse_range("AA"))
    with pytest.raises(ValueError, match="a range of 3 numbers"):
        he.parse_range_file("1 0 1")
    with pytest.raises(ValueError, match="not in"):
        he.parse_range_file(" ".join(["2"] * 169))
    # A spot takes such a file for a range.
    (tmp_path / "oop.txt").write_text(text)
    spot = he.parse_pio_tree(TREE)
    spot.save(tmp_path / "spot.toml")
    assert he.Spot.load(tmp_path / "spot.toml").as_dict() == spot.as_dict()
    again = he.Spot.parse(spot.as_dict() | {"oop": "@oop.txt"}, directory=tmp_path)
    np.testing.assert_array_equal(again.ranges[0], np.where(he.possible(spot.board), weights, 0))

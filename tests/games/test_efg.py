"""Gambit's extensive form: read, written, and read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jaxsolve as js
from jaxsolve.game import load, load_efg
from jaxsolve.testing import check_game

FILE = Path(__file__).parents[2] / "examples" / "myerson.efg"


def test_a_file_of_gambit_is_solved() -> None:
    """Myerson: Alice raises a black card one time in three, and Bob meets two times in three."""
    game = load(str(FILE))
    assert check_game(game, episodes=4).zero_sum
    tree = js.compile(str(FILE))
    assert tree.info.num_infosets == (2, 1)
    exact = js.solve_lp(tree)
    np.testing.assert_allclose(exact.value, 1 / 3, atol=1e-9)
    odds = {name: actions for _, name, actions in exact.policy.rows()}
    np.testing.assert_allclose(odds["black"]["raise"], 1 / 3, atol=1e-6)
    np.testing.assert_allclose(odds["raised"]["meet"], 2 / 3, atol=1e-6)


@pytest.mark.parametrize("name", ["kuhn", "leduc(suits=1)", "goofspiel(cards=3)", "coin_toss"])
def test_what_is_written_is_the_same_game(name: str, tmp_path: Path) -> None:
    tree = js.compile(name)
    js.save_efg(tree, tmp_path / "game.efg")
    back = js.compile(str(tmp_path / "game.efg"))
    assert back.info.num_states == tree.info.num_states
    assert back.info.num_infosets == tree.info.num_infosets
    np.testing.assert_allclose(js.solve_lp(back).value, js.solve_lp(tree).value, atol=1e-9)


def test_three_players(tmp_path: Path) -> None:
    tree = js.compile("kuhn(players=3)")
    js.save_efg(tree, tmp_path / "game.efg")
    back = js.compile(str(tmp_path / "game.efg"))
    np.testing.assert_allclose(
        js.expected_values(tree, js.uniform_policy(tree)),
        js.expected_values(back, js.uniform_policy(back)),
        atol=1e-6,
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EFG 2", "NFG 1", "line 1: a file of Gambit's extensive form begins with EFG 2"),
        ('"red" 1/2', '"red" 1/3', "line 4: odds of chance sum to 0.833333333, not to 1"),
        ("{ 1, -1 }", "{ 1 }", "line 8: 1 payoffs for 2 players"),
        ('t "" 3', 't "" 2 "" { 1 -1 } t "" 3', "more nodes|does not|begins with|ends in"),
        ('p "" 2 1\n', 'p "" 3 1\n', "player 3 of 2"),
        ("{ -1, 1 }", "{ -1, x }", "x is no number"),
        ('p "" 1 2 "black"', 'p "" 1 1 "black"', None),
        ('t "" 4 "Bob wins" { -1, 1 }', "", "the file ends in the middle of the game"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(
    old: str, new: str, message: str | None, tmp_path: Path
) -> None:
    text = FILE.read_text()
    assert old in text
    file = tmp_path / "wrong.efg"
    file.write_text(text.replace(old, new))
    if message is None:  # Alice does not see the card: another game, but a game
        assert js.compile(load_efg(file)).info.num_infosets == (1, 1)
        return
    with pytest.raises(ValueError, match=message):
        load_efg(file)


def test_imperfect_recall_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "forgets.efg"
    file.write_text(
        'EFG 2 R "" { "A" "B" } p "" 1 1 "" { "l" "r" } 0 '
        + 'p "" 1 2 "" { "l" "r" } 0 t "" 1 "" { 1 -1 } t "" 1 ' * 2
    )
    with pytest.raises(ValueError, match="player 1 does not remember"):
        load_efg(file)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"there is no file nowhere\.efg"):
        load("nowhere.efg")

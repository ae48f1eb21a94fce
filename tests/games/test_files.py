"""Games in files of the user's: "my_game.py:MyGame"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jaxsolve as js
from jaxsolve.game import load
from jaxsolve.testing import check_game

FILE = Path(__file__).parents[2] / "examples" / "my_game.py"


def test_a_game_in_a_file_is_solved() -> None:
    game = load(f"{FILE}:MyGame(stake=3)")
    assert game.name == "my_game(stake=3)"
    assert game == load(f"{FILE}:MyGame(stake=3)")
    check_game(game, episodes=4)
    tree = js.compile(f"{FILE}:MyGame(stake=3)")
    exact = js.solve_lp(tree)
    np.testing.assert_allclose(exact.value, 0, atol=1e-9)
    (_, _, odds), *_ = exact.policy.rows()
    np.testing.assert_allclose([*odds.values()], [0.2, 0.6, 0.2], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.py:MyGame", "there is no file nowhere.py"),
        (f"{FILE}:MyGam", r"unknown game 'MyGam'. Did you mean 'MyGame'"),
        (f"{FILE}:MyGame(steak=3)", "does not take the parameters .*steak"),
        (f"{FILE}:MyGame(3)", "expected key=value"),
        (f"{FILE}:NAMES", "tuple lacks init, actor"),
        (f"{FILE}:", "expected a game name such as MyGame"),
    ],
)
def test_what_is_no_game_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(name)


BROKEN = """
import sys
sys.path.insert(0, {folder!r})
from my_game import MyGame as Good

class MyGame(Good):
    def {method}:
        {body}
"""


@pytest.mark.parametrize(
    ("method", "body", "message"),
    [
        (
            "utility(self, state)",
            "return (1.0, -1.0) if state.chosen[0] > state.chosen[1] else (0.0, 0.0)",
            r"utility\(\) cannot be traced.*Use jnp.where",
        ),
        (
            "legal(self, state)",
            "return [True] * int(state.chosen[0] + 4)",
            "legal.. cannot be traced",
        ),
        ("utility(self, state)", "return 1.0", r"utility\(\) must be float\[2\]"),
    ],
)
def test_compile_says_what_check_game_says(
    tmp_path: Path, method: str, body: str, message: str
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN.format(folder=str(FILE.parent), method=method, body=body))
    with pytest.raises(ValueError, match=message) as said:
        js.compile(f"{file}:MyGame")
    with pytest.raises(ValueError, match=message) as checked:
        check_game(load(f"{file}:MyGame"))
    assert str(said.value) == str(checked.value)


def test_what_is_no_game_is_not_compiled() -> None:
    with pytest.raises(ValueError, match="int lacks init, actor"):
        js.compile(42)

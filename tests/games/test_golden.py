"""Every reference of every game has a golden playthrough, and the rules still play it.

`python tests/games/test_golden.py` writes the files anew after rules were changed on purpose.
"""

from __future__ import annotations

import pathlib
import re

import pytest

import games
from jaxsolve.game import Game
from jaxsolve.testing import playthrough

GOLDEN = pathlib.Path(__file__).parent / "golden"


def reference_games() -> dict[str, Game]:
    """Every parameter setting with a reference row, by the name of its golden file."""
    table = {}
    for name, entry in games.GAMES.items():
        for reference in entry.references:
            game = games.load(f"{name}({reference.params})")
            table[re.sub(r"[^\w=.-]+", "_", game.name).strip("_") + ".txt"] = game
    return table


@pytest.mark.parametrize("name", games.GAMES)
def test_has_a_reference(name: str):
    assert games.GAMES[name].references, f"{name} has no row in ENTRY.references"
    assert games.GAMES[name].summary


@pytest.mark.parametrize(("file", "game"), reference_games().items())
def test_playthrough(file: str, game: Game):
    golden = GOLDEN / file
    assert golden.exists(), f"{game.name} lacks {golden.name}: run python {__file__}"
    assert playthrough(game) == golden.read_text()


def test_no_stray_file():
    assert {path.name for path in GOLDEN.iterdir()} == set(reference_games())


if __name__ == "__main__":
    for old in GOLDEN.iterdir():
        old.unlink()
    for file, game in reference_games().items():
        (GOLDEN / file).write_text(playthrough(game))

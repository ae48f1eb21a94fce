"""What the table of games says of sizes is what the compiler finds."""

from __future__ import annotations

import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve.game import Reference

LARGEST = 10_000
"""World states above which a setting is left to the slower tests against OpenSpiel."""

ROWS = [
    (f"{name}({row.params})" if row.params else name, row)
    for name, entry in games.GAMES.items()
    for row in entry.references
]


@pytest.mark.parametrize(
    ("text", "row"),
    few([(text, row) for text, row in ROWS if row.states <= LARGEST], lambda r: r[1].states < 1000),
)
def test_sizes_are_those_of_the_compiled_game(text: str, row: Reference) -> None:
    info = js.compile(games.load(text)).info
    assert info.num_states == row.states
    assert info.num_infosets == row.infosets
    assert info.num_public_states == row.public_states


def test_every_setting_has_its_public_states() -> None:
    assert all(row.public_states for _, row in ROWS)

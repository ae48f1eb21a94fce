"""A human's match, typed by a list."""

from __future__ import annotations

import pytest

import games
import jaxsolve as js
from jaxsolve import agents
from jaxsolve.cli._play import one_match, play


def test_a_match_is_played_to_its_end(capsys: pytest.CaptureFixture[str]):
    tree = js.compile(games.load("kuhn"))
    asked: list[str] = []
    answers = iter(["what?", "1", "b", "0", "0"])

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return next(answers)

    won = one_match(tree, agents.uniform(), 0, 3, ask)
    shown = capsys.readouterr().out
    assert abs(won) in (1, 2)
    assert "'what?' is none of" in shown
    assert "you know: " in shown
    assert f"{abs(won):g}" in shown.splitlines()[-1]
    assert len(asked) >= 2


def test_bad_input():
    with pytest.raises(ValueError, match="unknown agent"):
        play("kuhn", agent="clever")
    with pytest.raises(ValueError, match="--seat"):
        play("kuhn", agent="uniform", seat=2)

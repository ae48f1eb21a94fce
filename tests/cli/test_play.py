"""A human's match, typed by a list."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.cli._play import one_match, play
from jaxsolve.game import Agent


def typing(answers: list[str], asked: list[str]) -> Callable[[str], str]:
    """Returns what answers each prompt, and keeps the prompts."""
    waiting = iter(answers)

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return next(waiting)

    return ask


@pytest.mark.parametrize("on_rules", [False, True])
def test_a_match_is_played_to_its_end(on_rules: bool, capsys: pytest.CaptureFixture[str]):
    rules = games.load("kuhn")
    tree = js.compile(rules)
    asked: list[str] = []
    ask = typing(["what?", "1", "b", "0", "0"], asked)
    human: Agent
    if on_rules:
        arena: evaluate.Arena = evaluate.rules_arena(rules)
        human = agents.person(rules, ask, print)
    else:
        arena = evaluate.arena(tree)
        human = agents.person(rules, ask, print, label=tree.info.label)
    won = one_match(arena, rules, human, agents.uniform(), 0, 3)
    shown = capsys.readouterr().out
    assert abs(won) in (1, 2)
    assert "'what?' is none of: 0 pass, 1 bet" in shown
    assert "you know: " in shown
    assert f"{abs(won):g}" in shown.splitlines()[-1]
    assert len(asked) >= 2


def test_a_person_reads_the_label_of_the_infoset():
    """Put together from observations, what a person knows is the label of the compiled tree."""
    rules = games.load("leduc")
    tree = js.compile(rules)
    shown: list[list[str]] = [[], []]
    for k, label in enumerate((tree.info.label, None)):
        human = agents.person(rules, lambda _: "0", shown[k].append, label=label)
        for seed in range(4):
            one_match(evaluate.arena(tree), rules, human, agents.uniform(), seed % 2, seed)
    assert shown[0] == shown[1]
    assert len(set(shown[0])) == 6


def test_a_game_that_is_not_compiled_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is compiled")

    monkeypatch.setattr(js, "compile", refuse)
    monkeypatch.setattr("builtins.input", typing(["0"] * 20, []))
    play("kuhn(players=3)", agent="uniform", matches=2, seat=2)
    assert "after 2" in capsys.readouterr().out


def test_hidden_moves_stay_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The second to bid in goofspiel is not told the first bid."""
    monkeypatch.setattr("builtins.input", typing(["0"], []))
    play("goofspiel(cards=2,order=descending)", agent="uniform", matches=1, seat=1)
    first = capsys.readouterr().out.splitlines()[0]
    told = [js.compile("goofspiel(cards=2,order=descending)").info.label(1, 0)]
    assert first == f"you know: {told[0]}"


def test_bad_input():
    with pytest.raises(ValueError, match="unknown agent"):
        play("kuhn", agent="clever")
    with pytest.raises(ValueError, match="--seat must be below 2"):
        play("kuhn", agent="uniform", seat=2)
    with pytest.raises(ValueError, match="searches are for 2"):
        play("kuhn(players=3)")

"""A person at the table: what is told, what is understood, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hand_agents import STACK, blueprint

from jaxsolve import holdem
from jaxsolve.cli import main
from jaxsolve.holdem import play


def typed(*words: str):
    """Returns (a way to ask that types words one after the other, what was told)."""
    left, told = list(words), []

    def ask(prompt: str) -> str:
        if not left:
            raise EOFError
        return left.pop(0)

    return ask, told


def hand_with(*words: str, opponent: play.HandAgent | None = None) -> tuple[list[str], object]:
    """Plays a hand as the button against always-call; returns (what was told, the hand)."""
    ask, told = typed(*words)
    other = opponent or play.AlwaysCall()
    seats = [other, play.Person(ask, told.append, opponent=other)]
    cards = [*holdem.parse_cards("2c7dAsAh"), *holdem.parse_cards("KdKh3c4s9h")]
    return told, play.play_hand(seats, holdem.no_limit(), STACK, cards, keys=[0, 1])


def test_words_are_totals_on_the_street():
    """A raise to 300, a bet of 250 on the flop, checks, and all-in on the river."""
    told, played = hand_with("r300", "b250", "c", "a")
    assert played.hand.betting == (
        ("r300", "c"),
        ("c", "r550", "c"),
        ("c", "c"),
        ("c", "r2000", "c"),
    )
    assert played.chips.tolist() == [-2000, 2000]
    text = "\n".join(told)
    assert "your cards AsAh, pot 150, 50 to call, 1,950 behind" in text
    assert "seat 0 calls" in text
    assert "dealt KdKh3c" in text
    assert "seat 0 shows 2c7d on KdKh3c4s9h" in text


def test_what_is_not_understood_or_allowed_is_asked_again():
    told, played = hand_with("hello", "r150", "?", "f")
    assert played.hand.betting == (("f",),)
    text = "\n".join(told)
    assert "'hello' is no move" in text
    assert "'r150' is not allowed here: f, c, r200 to r2000, a" in text
    assert "bets or raises to 300 chips on this street" in text


def test_ranges_are_drawn_of_agents_that_tell():
    told, _ = hand_with("range", "f")
    assert "its range" in told[1]
    assert len(told[1].splitlines()) == 15
    weights = np.zeros(1326)
    weights[holdem.hand_index(*holdem.parse_cards("AsKs"))] = 1
    lines = play.range_text([weights], ["one"], ()).splitlines()
    assert lines[1].split() == list("AKQJT98765432")
    assert lines[2].rstrip() == "  A   @"


def test_the_command_line_plays_and_says_what_there_is(monkeypatch, capsys):
    command = ["jaxsolve", "play", "holdem", "--agent", "always-call", "--matches", "1"]
    monkeypatch.setattr("sys.argv", [*command, "--stack", "20bb", "--seat", "1"])
    monkeypatch.setattr("builtins.input", lambda prompt: "f")
    with pytest.raises(SystemExit):
        main()
    assert "you win -50; total -50 after 1" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["jaxsolve", "play", "holdem", "--agent", "modicum:"])
    with pytest.raises(SystemExit):
        main()
    assert "there is no agent 'modicum:'; there are: blueprint:DIR" in capsys.readouterr().err


def test_a_table_of_six_has_names_and_the_ranges_of_all_who_are_in(monkeypatch, capsys):
    command = ["jaxsolve", "play", "holdem", "--agent", "always-call", "--matches", "1"]
    monkeypatch.setattr("sys.argv", [*command, "--players", "6", "--seat", "2"])
    words = iter(["f"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(words))
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert "you are UTG" in out
    assert "you win +0; total +0 after 1" in out
    monkeypatch.setattr("sys.argv", [*command, "--players", "3", "--seat", "3"])
    with pytest.raises(SystemExit):
        main()
    assert "--seat must be less than 3" in capsys.readouterr().err
    ask, told = typed("range", "f")
    three = blueprint(players=3)
    cards = holdem.parse_cards("2c7dAsAh9c9d" + "KdKh3c4s9h")
    seats = [play.Person(ask, told.append, opponent=three), three, three]
    play.play_hand(seats, holdem.no_limit(3), STACK, cards, keys=[0, 1, 2])
    (drawn,) = [text for text in told if "what it takes yours for" in text]
    assert "the range of seat 1 (BB)" in drawn

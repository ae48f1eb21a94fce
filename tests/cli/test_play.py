"""A human's match, typed by a list."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import agents, evaluate
from jaxsolve.cli._play import _fitting, one_match, play
from jaxsolve.game import Agent, Observation
from jaxsolve.types import CHANCE, TERMINAL


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
    ask = typing(["what?", "?", "2", "b", "1", "1"], asked)
    human: Agent
    if on_rules:
        arena: evaluate.Arena = evaluate.rules_arena(rules)
        human = agents.person(rules, ask, print)
    else:
        arena = evaluate.arena(tree)
        human = agents.person(rules, ask, print, label=tree.info.label)
    won, actions = one_match(arena, rules, human, agents.uniform(), 0, 3)
    shown = capsys.readouterr().out
    assert abs(won) in (1, 2)
    assert len(actions) >= 4  # two cards, and what was done with them
    assert "'what?' is none of: 1 pass, 2 bet; ? for help" in shown
    assert ("pot 2: you paid 1, player 1 paid 1" if on_rules else "you know: J") in shown
    assert "you are player 0; so far: " in shown
    assert f"{abs(won):g}" in shown.splitlines()[-1]
    assert len(asked) >= 2


def test_a_person_reads_the_label_of_the_infoset():
    """Put together from observations, what a person knows is the label of the compiled tree."""
    rules = games.load("coin_toss")
    tree = js.compile(rules)
    shown: list[list[str]] = [[], []]
    for k, label in enumerate((tree.info.label, None)):
        human = agents.person(rules, lambda _: "1", shown[k].append, label=label)
        for seed in range(4):
            one_match(evaluate.arena(tree), rules, human, agents.uniform(), seed % 2, seed)
    assert shown[0] == shown[1]
    assert len(set(shown[0])) >= 2


def test_a_game_that_is_not_compiled_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is compiled")

    monkeypatch.setattr(js, "compile", refuse)
    monkeypatch.setattr("builtins.input", typing(["pass"] * 20, []))
    play("kuhn(players=3)", agent="uniform", matches=2, seat=2)
    assert "after 2" in capsys.readouterr().out


def test_a_person_plays_dark_chess_and_the_game_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    """White may take the king in two moves, whatever the agent does."""
    monkeypatch.setattr("builtins.input", typing(["a1a4"], []))
    file = tmp_path / "games.pgn"
    name = "dark_chess(fen=k3/4/4/R2K_w,plies=4)"
    play(name, agent="determinized", matches=1, seat=0, pgn=file)
    shown = capsys.readouterr().out
    assert "you win 1" in shown
    assert "squares that you do not see are ?" in shown
    assert file.read_text().endswith("1. Rxa4 1-0\n\n")
    with pytest.raises(ValueError, match="not written as PGN"):
        play("kuhn", agent="uniform", pgn=file)
    with pytest.raises(ValueError, match="without chance"):
        play("kuhn", agent="obscuro")


@pytest.mark.slow  # compiles a search
def test_sog_tells_what_all_may_believe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """On a square without reveals; the move itself, which would give Mr X away, is not told."""
    monkeypatch.setattr("builtins.input", typing(["1"] * 4, []))
    square = "edges=[[1,2],[2,3],[3,4],[4,1]],evader=[1,4],detectives=[3],rounds=2"
    play(f"scotland_yard({square})", agent="sog", iterations=4, matches=1, seat=1)
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"sog searched: \d+ public states opened, \d+ decisions deep", lines[0])
    assert re.match(r"where Mr X is, for all who saw the same \(\d possible\):", lines[1])
    assert sum(int(x) for x in lines[3].split()[1:]) in range(98, 103)
    assert "taxi" not in "".join(lines[:4])


def test_hidden_moves_stay_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The second to bid in goofspiel is not told the first bid, and "2" is the card."""
    monkeypatch.setattr("builtins.input", typing(["2"], []))
    play("goofspiel(cards=2,order=descending)", agent="uniform", matches=1, seat=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "trick 1 of 2 for prize 2, your cards 1 2"
    assert lines[1] == "you have 0 points, player 0 has 0"
    assert re.match(r"[12] 2( [12])*: you", lines[2])


def test_bad_input():
    with pytest.raises(ValueError, match="unknown agent"):
        play("kuhn", agent="clever")
    with pytest.raises(ValueError, match="--seat must be below 2"):
        play("kuhn", agent="uniform", seat=2)
    with pytest.raises(ValueError, match="searches are for 2"):
        play("kuhn(players=3)", agent="resolving")


@pytest.mark.parametrize(
    ("names", "answers", "place"),
    [
        (["1", "3", "12"], ["2", "1"], 0),
        (["1", "3", "12"], ["12"], 2),
        (["3", "12"], ["1", "12"], 1),  # is no beginning of 12
        (["fold", "call", "raise 1"], ["3"], 2),
        (["fold", "call", "raise 0.5", "raise 1"], ["raise", "raise 1"], 3),
    ],
)
def test_what_is_typed_means_one_thing(names: list[str], answers: list[str], place: int) -> None:
    @dataclasses.dataclass(frozen=True)
    class Rules:
        name = "rules"
        num_players = 2

        def action_name(self, actor: int, action: int) -> str:
            return names[action]

        def init(self) -> int:
            return 0

        def observe(self, state: int) -> tuple[np.ndarray, np.ndarray]:
            return np.full(1, -1), np.full((2, 0), -1)

    asked: list[str] = []
    human = agents.person(Rules(), typing(answers, asked), lambda _: None)  # type: ignore[arg-type]
    known = human.init(np.int32(0), jax.random.key(0))  # type: ignore[arg-type]
    nothing = np.full((1, 1), -1), np.full((1, 0), -1)
    seen: Any = Observation(
        np.int32(0), *nothing, np.int32(0), np.int32(-1), np.ones(len(names), bool), None
    )
    decision, _ = human.act(known, seen, jax.random.key(0))
    assert int(decision.action) == place
    assert len(asked) == len(answers)


@pytest.mark.parametrize(
    "name",
    few(["leduc", "nolimit_leduc", "holdem(stack=1000)"], "leduc".__eq__),
)
def test_situations_show_what_is_in_the_pot(name: str) -> None:
    """What is put together from observations is what the world state says."""
    rules: Any = games.load(name)
    arena = evaluate.rules_arena(rules)
    shown: list[str] = []
    rng = np.random.default_rng(0)
    human = agents.person(
        rules, lambda prompt: rng.choice(re.findall(r"\d+ ([\w. -]+)", prompt)), shown.append
    )
    key, position = jax.random.key(0), arena.start()
    minds = [human.init(jnp.int32(i), key) for i in range(2)]
    step, look, turn = map(jax.jit, (arena.step, arena.observation, arena.turn))
    while (actor := int((now := turn(position)).actor)) != TERMINAL:
        if actor == CHANCE:
            action = int(rng.choice(np.flatnonzero(now.chance > 0)))
        else:
            decision, minds[actor] = human.act(minds[actor], look(position, actor), key)
            action = int(decision.action)
            state = position.state
            paid = state.betting.spent if name.startswith("holdem") else state.paid
            assert f"pot {int(paid.sum())}" in shown[-1]
            assert f"to call {int(paid.max() - paid[actor])}" in shown[-1]
        position = step(position, jnp.int32(action))
    assert len(shown) >= 2


def test_agents_fit_the_game() -> None:
    chosen = {
        name: _fitting(games.load(name))[0]
        for name in ("kuhn", "kuhn(players=3)", "goofspiel(cards=2)", "dark_hex")
    }
    assert chosen == {
        "kuhn": "equilibrium",
        "kuhn(players=3)": "equilibrium",
        "goofspiel(cards=2)": "equilibrium",
        "dark_hex": "uniform",
    }

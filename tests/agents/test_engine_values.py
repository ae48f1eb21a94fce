"""Leaves valued by a chess program: what it is asked, in whose favour, and what it never sees."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
from jaxsolve import agents, evaluate
from jaxsolve.search.knowledge import Effort

UCI = """
import sys
worth = dict(zip("pnbrq", (1, 3, 3, 5, 9)))
asked = ""
for line in sys.stdin:
    words = line.split()
    with open({log!r}, "a") as log:
        log.write(line)
    if words[0] == "uci":
        print("id name fake\\nuciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "position":
        asked = words
    elif words[0] == "go" and {silent}:
        print("bestmove a1a1", flush=True)
    elif words[0] == "go":
        pawns = sum(worth.get(c.lower(), 0) * (1 if c.isupper() else -1) for c in asked[2])
        own = pawns if asked[3] == "w" else -pawns
        score = "mate 1" if own > 20 else "mate 0" if own < -20 else f"cp {{100 * own}}"
        print(f"info depth 1 score {{score}} nodes 1\\nbestmove a1a1", flush=True)
"""


def fake(tmp_path: Path, *, silent: bool = False) -> tuple[str, Path]:
    """The command of a program that counts material, and the file of what it was told."""
    path, log = tmp_path / "fake.py", tmp_path / "log"
    path.write_text(UCI.format(log=str(log), silent=silent))
    return f"{sys.executable} {path}", log


def test_values_are_the_programs_to_white_and_kings_that_can_be_taken_are_not_asked(tmp_path: Path):
    command, log = fake(tmp_path)
    game = games.load("dark_chess").positions
    values = agents.EngineValues(game, command)
    boards = {
        "4k3/8/8/8/8/8/8/R3K3 w - -": np.tanh(5 / 6),
        "4k3/8/8/8/8/8/8/R3K3 b - -": np.tanh(5 / 6),
        "4k3/p7/8/8/8/8/8/4K3 b - -": np.tanh(-1 / 6),
        "4k3/8/8/8/8/8/8/QQQ1K3 b - -": 0.999,
        "4k3/8/8/8/4R3/8/8/4K3 w - -": 0.999,  # takes the king
        "4k3/8/8/8/4q3/8/8/4K3 b - -": -0.999,
    }
    states = [game.state_of(games.DarkChess(fen=fen).setup) for fen in boards]
    batch = jax.tree.map(lambda *x: jnp.stack(x), *states)
    found = jax.jit(jax.vmap(values))(batch)
    np.testing.assert_allclose(found, list(boards.values()), atol=1e-6)
    jax.jit(jax.vmap(values))(jax.tree.map(lambda x: jnp.concatenate([x, x]), batch))
    assert float(jax.jit(values)(states[0])) == pytest.approx(np.tanh(5 / 6))
    told = [line for line in log.read_text().splitlines() if line.startswith("position")]
    assert len(told) == 4  # each once
    values.close()


@pytest.mark.slow  # programs of a search
def test_an_agent_searches_with_a_program(tmp_path: Path):
    command, log = fake(tmp_path)
    game = games.load("dark_chess(fen=q3k3/8/8/8/8/8/8/Q3K3_w,plies=1)")
    values = agents.EngineValues(game, command)
    work = Effort(seconds=None, rounds=1, iterations=2, batch=16)
    white = agents.obscuro(game, effort=work, capacity=8192, positions=1, value_fn=values)
    match = evaluate.play_matches(
        evaluate.rules_arena(game), [white, agents.uniform()], 1, jax.random.key(0), mirror=False
    )
    assert game.action_name(0, int(match.actions[0, 0])) == "a1a8"
    told = [line.split()[2] for line in log.read_text().splitlines() if "fen" in line]
    assert len(told) > 20
    assert all(board.count("K") == board.count("k") == 1 for board in told)
    values.close()


def test_what_values_nothing_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="chess on 8 x 8"):
        agents.EngineValues(games.load("dark_chess(size=4)"), "true")
    with pytest.raises(ValueError, match="does not speak UCI"):
        agents.EngineValues(games.load("dark_chess"), "true")
    command, _ = fake(tmp_path, silent=True)
    values = agents.EngineValues(games.load("dark_chess"), command)
    with pytest.raises(agents.EngineError, match="said no score of '8/"):
        values.engine.pawns("8/8/8/8/8/8/8/8 w")
    values.close()

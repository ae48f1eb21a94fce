"""A quick form of each part of the reliability figures, and that each can find a fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jaxsolve as js
from experiments.reliability import (
    _inputs,
    _kills,
    _program,
    _random_games,
    _sanitizers,
    _server,
    main,
)
from jaxsolve.holdem import play
from jaxsolve.testing import random_game


def test_the_program_of_the_tables_agrees_with_ours() -> None:
    game = random_game(7, depth=4, numbers=1)
    walked = _program.walk(game.tables)
    tree = js.compile(game)
    exact = js.solve_lp(tree)
    assert _program.value(walked) == pytest.approx(exact.value, abs=1e-6)
    uniform = js.uniform_policy(tree)
    played = [np.asarray(uniform.probabilities(i), float) for i in range(2)]
    gap = float(js.exploitability(tree, uniform))
    assert _program.exploitability(walked, played) == pytest.approx(gap, abs=1e-5)
    assert gap > 0.1


@pytest.mark.slow
def test_random_games_agree_and_wrong_values_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    row = _random_games.random_games(1, count=4, batch=4)
    assert (row["count"], row["faults"]) == (4, 0)
    monkeypatch.setattr(_program, "value", lambda game: 0.1)
    assert _random_games.random_games(1, count=4, batch=4)["faults"] == 4


@pytest.mark.slow
def test_inputs_end_in_a_sentence() -> None:
    row = _inputs.inputs(1, count=3)
    assert (row["count"], row["faults"]) == (3, 0)


@pytest.mark.long
@pytest.mark.parametrize("name", ["blueprint", "match"])
def test_killed_blueprints_and_matches_are_not_lost(name: str) -> None:
    """Tables are written all the time, so that some kills hit a file that is half written."""
    row = _kills.kills(name, 2, count=3)
    assert row["count"] >= 3
    assert row["faults"] == 0


@pytest.mark.slow
def test_killed_runs_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    row = _kills.kills("solve", 1, count=1)
    assert row["count"] >= 1
    assert row["faults"] == 0
    # Runs that end in other bits each time are found.
    other = "import os, sys; os.makedirs(sys.argv[1]); open(sys.argv[1] + '/end.npz', 'wb').write"
    monkeypatch.setitem(_kills.PROGRAMS, "solve", f"{other}(os.urandom(8))")
    assert _kills.kills("solve", 1, count=1)["faults"] >= 1


@pytest.mark.slow
def test_bad_clients_leave_the_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    row = _server.server(1, count=12)
    assert (row["count"], row["faults"]) == (12, 0), row
    monkeypatch.setattr(play.AcpcAgent, "act", lambda *_: 1 / 0)  # a fault of ours is found
    assert _server.server(1, count=6)["faults"] >= 1


@pytest.mark.long
def test_operators_are_clean_under_sanitizers() -> None:
    row = _sanitizers.sanitizers(5)
    assert row["faults"] == 0, row["detail"]


def test_parts_are_known(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown parts"):
        main(True, tmp_path, parts=("nothing",))

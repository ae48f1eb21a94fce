"""The match study of dark chess: rows, and games that are kept."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from experiments.dark_chess_match import Match, main

PLAN = (Match("klss", "random", 1, 0.05), Match("obscuro", "greedy", 1, 0.05))
SMALL = "dark_chess(size=4,plies=20)"


@pytest.mark.slow  # each process compiles its own programs
def test_games_are_played_once_and_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    report = main(True, tmp_path, plan=PLAN, game=SMALL)
    assert [(row["agent"], row["opponent"], row["games"]) for row in report.rows] == [
        ("klss", "random", 1),
        ("obscuro", "greedy", 1),
    ]
    for row in report.rows:
        assert row["points"] in (0, 50, 100)
        assert 0 <= row["low"] <= row["points"] <= row["high"] <= 100
        assert row["nodes"] > 0
        assert row["positions_mean"] >= 1
    lines = [json.loads(x) for x in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert all(line["plies"] == len(line["moves"].split()) > 2 for line in lines)
    assert (tmp_path / "dark_chess_match.png").exists()
    capfd.readouterr()
    plan = tuple(dataclasses.replace(m, paper=50.0) for m in PLAN)
    again = main(True, tmp_path, plan=plan, game=SMALL)
    assert "games, " not in capfd.readouterr().out  # nothing was left to play
    assert [row["points"] for row in again.rows] == [row["points"] for row in report.rows]

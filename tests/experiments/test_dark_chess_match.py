"""The match study of dark chess: rows, and games that are kept."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
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


PARENT = """
import os
import time

from experiments._workers import results_of


def sleep(number):
    print(os.getpid(), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    list(results_of(sleep, [(0,)], 1))
"""


def test_a_killed_match_leaves_no_worker_behind(tmp_path: Path):
    (tmp_path / "parent.py").write_text(PARENT)
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(tmp_path / "parent.py")]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(worker, 0)  # it is there
        parent.kill()
    until = time.monotonic() + 30
    while _runs(worker):
        assert time.monotonic() < until
        time.sleep(0.1)


def _runs(process: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for is still listed."""
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

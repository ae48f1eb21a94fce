"""`jaxsolve holdem match`, `serve`, `join` and `replay` from the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jaxsolve.cli import main

ROOT = Path(__file__).parent.parent.parent


def run(monkeypatch: pytest.MonkeyPatch, *words: Any) -> int:
    """Runs a command in this process and returns its exit status."""
    monkeypatch.setattr(sys, "argv", ["jaxsolve", "holdem", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_a_match_is_kept_resumed_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["match", "random", "always-call", "--stack", "20bb", "--out", tmp_path]
    assert run(monkeypatch, *words, "--hands", 20, "--json") == 0
    row = json.loads(capsys.readouterr().out)
    assert row["hands"] == 20
    assert row["low"] < row["mbb"] < row["high"]
    assert run(monkeypatch, *words, "--hands", 20) == 2
    assert "--resume goes on" in capsys.readouterr().err
    assert run(monkeypatch, *words, "--hands", 30, "--resume") == 0
    (kept,) = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert (kept["agent"], kept["opponent"], kept["hands"]) == ("random", "always-call", 30)
    assert set(kept) == {
        *("agent", "opponent", "hands", "mbb", "low", "high", "estimator", "seconds_per_hand"),
        *("seed", "p_value"),
    }
    capsys.readouterr()
    assert run(monkeypatch, "replay", tmp_path, "--json") == 0
    totals = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    mbb = {x["name"]: x["mbb"] for x in totals}
    assert mbb["random"] == pytest.approx(kept["mbb"], abs=1e-6)
    assert run(monkeypatch, "replay", tmp_path) == 0
    assert "always-call" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["match", "random", "nobody"], "there is no agent 'nobody'; there are: blueprint:DIR"),
        (["match", "random", "uniform"], "'uniform' plays on the menu of a blueprint"),
        (["match", "random", "acpc:somewhere"], "an address is HOST:PORT"),
        (["match", "random", "random", "--resume"], "--resume needs --out"),
        (["match", "random", "random", "--hands", "2"], "two deals"),
        (["match", "random", "random", "--hands", "9", "--boards", "9"], "--boards, to play over"),
        (["match", "random", "random", "--stack", "many"], 'a stack is "100bb"'),
        (["match", "random", "listen:nowhere"], "an address is HOST:PORT"),
        (["match", "random", "acpc:127.0.0.1:1"], "127.0.0.1:1: "),
        (["join", "127.0.0.1:1", "--agent", "random"], "127.0.0.1:1: "),
        (["serve", "--agent", "listen:127.0.0.1:x"], "an address is HOST:PORT"),
        (["serve", "--agent", "nobody"], "there is no agent"),
        (["replay", "/nowhere.log"], "No such file"),
    ],
)
def test_bad_words(
    words: list[str],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *words) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.startswith("jaxsolve: ")


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "jaxsolve", "holdem", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )


@pytest.mark.slow
def test_serve_join_and_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server of its own process, an agent that joins it, a match with it, and Ctrl-C."""
    log = tmp_path / "hands.log"
    server = start("serve", "--agent", "always-call", "--hands", "30", "--log", str(log))
    try:
        assert server.stderr is not None
        found = re.search(r"always-call is at (127\.0\.0\.1:\d+)", server.stderr.readline())
        assert found
        join = ["join", found[1], "--agent", "random", "--json"]
        assert run(monkeypatch, *join) == 0
        row = json.loads(capsys.readouterr().out)
        assert row["hands"] == 30
        words = ["match", "random", f"acpc:{found[1]}", "--hands", "10", "--json"]
        assert run(monkeypatch, *words) == 0
        assert json.loads(capsys.readouterr().out)["hands"] == 10
    finally:
        server.send_signal(signal.SIGINT)
        _, error = server.communicate(timeout=120)
    assert server.returncode == 0, error
    assert "client 1 left: all 30 hands are played" in error
    assert run(monkeypatch, "replay", log, "--json") == 0
    totals = {x["name"]: x for x in map(json.loads, capsys.readouterr().out.splitlines())}
    assert totals["client 1"]["mbb"] == pytest.approx(row["mbb"])


@pytest.mark.slow
def test_a_kill_loses_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """SIGKILL and Ctrl-C between two checkpoints; rows and log as without."""
    words = ["match", "random", "always-call", "--hands", "600", "--every", "40", "--out"]
    assert run(monkeypatch, *words, tmp_path / "whole") == 0
    out = tmp_path / "out"
    for how, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        process = start(*words, str(out), "--resume")
        before = checkpoint(out)
        while checkpoint(out) == before and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(how)
        process.communicate(timeout=120)
        assert process.returncode == code
    assert run(monkeypatch, *words, out, "--resume") == 0
    logs = [next(folder.glob("*.log")).read_bytes() for folder in (out, tmp_path / "whole")]
    assert logs[0] == logs[1]
    rows = [json.loads((f / "result.json").read_text())["rows"] for f in (out, tmp_path / "whole")]
    for row in (*rows[0], *rows[1]):
        del row["seconds_per_hand"]
    assert rows[0] == rows[1]


def checkpoint(out: Path) -> int:
    return max((file.stat().st_mtime_ns for file in out.glob("match-*.npz")), default=0)

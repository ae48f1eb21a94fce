"""The study of river networks, so small that it only shows that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import river_net
from jaxsolve import native
from jaxsolve.nets import load_net


@pytest.mark.long  # compiles training and a turn
@pytest.mark.skipif(not native.available(), reason="no C++ compiler here")
def test_river_net(tmp_path: Path) -> None:
    settings = river_net.Settings(
        steps=2,
        batch=4,
        updates=1,
        minibatch=4,
        solver_iterations=4,
        buckets=8,
        width=8,
        depth=2,
        held_out=4,
        held_out_iterations=20,
        log_every=1,
        spots=1,
        iterations=4,
        curve_spots=1,
        curve=(),
        judge=20,
        hands=60,
        most=1.0,
    )
    said: list[str] = []
    report = river_net.main(True, tmp_path, settings=settings, say=said.append)
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["complete"]
    assert found["rows"][1:] == report.rows[1:]
    assert [r["leaf"] for r in report.rows] == ["errors", "network", "solved", "no river bets"]
    for row in report.rows[1:]:
        assert 0 < row["exploitability_percent"] < 200
    # With rivers that were solved for longer, an exact turn is worth more than with its own.
    assert report.rows[2]["exploitability_percent"] < report.rows[2]["whole_percent"]
    assert (tmp_path / "river_net.png").stat().st_size > 1000
    assert load_net(tmp_path / "river_net.npz").format.hands == (8, 8)
    # A study that was stopped after its first turn does the rest alone.
    found |= {"complete": False, "rows": found["rows"][:2]}
    (tmp_path / "result.json").write_text(json.dumps(found))
    said.clear()
    again = river_net.main(True, tmp_path, settings=settings, say=said.append)
    assert [line.split(",")[0] for line in said[1:]] == ["solved", "no river bets"]
    assert again.rows[0] == report.rows[0]
    assert again.rows[1] == found["rows"][1]

"""The study of river networks, so small that it only shows that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import river_net
from jaxsolve import native
from jaxsolve.nets import load_net


@pytest.mark.slow  # compiles training and a turn
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
    report = river_net.main(True, tmp_path, settings=settings, say=len)
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["complete"]
    assert found["rows"][1:] == report.rows[1:]
    assert [r["leaf"] for r in report.rows] == ["errors", "network", "solved", "no river bets"]
    for row in report.rows[1:]:
        assert 0 < row["exploitability_percent"] < 200
    # What an exact turn can be exploited for with other rivers is no more than with its own.
    solved = report.rows[2]
    assert solved["exploitability_percent"] < solved["whole_percent"] + 1
    assert (tmp_path / "river_net.png").stat().st_size > 1000
    assert load_net(tmp_path / "river_net.npz").format.hands == (8, 8)
    again = river_net.main(True, tmp_path, settings=settings, say=len)
    assert [r["leaf"] for r in again.rows] == [r["leaf"] for r in report.rows]

"""The study of six players with buckets that cost nothing: its rows, and that it goes on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from made_buckets import save_made_buckets

from experiments import pluribus_six
from experiments.pluribus_six import Plan

PLAN = Plan(
    menu="six20.toml",
    buckets=3,
    bits=32,
    minutes=0.02,
    deals=60,
    one=90,
    five=12,
    alone=4,
    step=6,
    paced=1,
    value_hands=2_000,
)


@pytest.mark.long
def test_the_study_has_rows_of_tables_and_positions_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "buckets").mkdir()
    save_made_buckets(tmp_path / "buckets", 3)
    plan = dataclasses.replace(PLAN, folder=tmp_path / "buckets")
    said: list[str] = []
    report = pluribus_six.main(True, tmp_path / "out", plan=plan, say=said.append)
    kinds = [r["seat_type"] for r in report.rows]
    assert kinds[:3] == ["1 searcher, 5 blueprints"] * 3
    assert kinds[3:7] == ["control"] * 2 + ["5 searchers, 1 blueprint"] * 2
    assert kinds[7:] == [f"searcher, {x}" for x in ("SB", "BB", "UTG", "HJ", "CO", "BTN")]
    score, _, duplicate = report.rows[:3]
    assert 0 < score["se"] < duplicate["se"]
    assert all(abs(r["mbb"]) < 1e-3 for r in report.rows[3:5])  # a blueprint among its copies
    assert sum(r["mbb"] for r in report.rows[7:]) == pytest.approx(0, abs=1)
    assert (tmp_path / "out" / "pluribus_six.png").exists()
    kept = {f: f.stat().st_mtime_ns for f in (tmp_path / "out" / "matches").glob("*.npz")}
    scores = (tmp_path / "out" / "deviations.npz").stat().st_mtime_ns
    again = pluribus_six.main(True, tmp_path / "out", plan=plan, say=said.append)
    assert [r["mbb"] for r in again.rows] == [r["mbb"] for r in report.rows]
    assert kept == {f: f.stat().st_mtime_ns for f in (tmp_path / "out" / "matches").glob("*.npz")}
    assert scores == (tmp_path / "out" / "deviations.npz").stat().st_mtime_ns

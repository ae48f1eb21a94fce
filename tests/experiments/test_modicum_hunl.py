"""The study of heads-up agents with buckets that cost nothing: its rows, and that it goes on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from made_buckets import save_made_buckets

from experiments import modicum_hunl
from experiments.modicum_hunl import Plan

PLAN = Plan(
    agents=("blueprint", "one value", "multi-valued"),
    menu="hu20.toml",
    other="hu20_other.toml",
    buckets=3,
    minutes=0.01,
    boards=2,
    strangers=("blueprint", "multi-valued"),
    other_boards=2,
    runouts=2,
    lbr={"multi-valued": 2},
    hands=4,
    passes=4,
    iterations={2: 2, 3: 2},
    sizes={
        "turn": {"bet": ["a"], "raise": ["a"]},
        "river": {"bet": ["a"], "raise": ["a"]},
    },
)


@pytest.mark.long
def test_the_study_has_a_row_for_each_match_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "buckets").mkdir()
    save_made_buckets(tmp_path / "buckets", 3)
    plan = dataclasses.replace(PLAN, folder=tmp_path / "buckets")
    said: list[str] = []
    report = modicum_hunl.main(True, tmp_path / "out", plan=plan, say=said.append)
    one, several, less, worst, *strangers = report.rows
    assert [(r["agent"], r["hands"]) for r in (one, several, worst, *strangers)] == [
        ("one value", 2),
        *[("multi-valued", 2)] * 2,
        ("blueprint", 2),
        ("multi-valued", 2),
    ]
    assert less["agent"] == "multi-valued, less one value"
    assert less["mbb"] == pytest.approx(several["mbb"] - one["mbb"])
    assert all(r["low"] <= r["mbb"] <= r["high"] for r in report.rows)
    assert len(said) == 6
    assert (tmp_path / "out" / "modicum_hunl.png").exists()
    before = {f: f.stat().st_mtime_ns for f in (tmp_path / "out" / "matches").iterdir()}
    again = modicum_hunl.main(True, tmp_path / "out", plan=plan, say=said.append)
    assert [r["mbb"] for r in again.rows] == [r["mbb"] for r in report.rows]
    assert before == {f: f.stat().st_mtime_ns for f in (tmp_path / "out" / "matches").iterdir()}
    longer = modicum_hunl.main(
        True, tmp_path / "out", plan=dataclasses.replace(plan, boards=4, lbr={}), say=said.append
    )
    assert [r["hands"] for r in longer.rows] == [4, 4, 4, 2, 2]

"""The study of leaves, with settings so small that they only show that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import gtcfr_leaves


@pytest.mark.long  # a minute of compiling
def test_gtcfr_leaves(tmp_path: Path):
    settings = gtcfr_leaves.Settings(
        games=("kuhn",),
        zero=(5,),
        zero_seeds=2,
        solved=(50,),
        solved_seeds=2,
        iterations=20,
        updates=("paper", "alternating"),
    )
    report = gtcfr_leaves.main(True, tmp_path, settings=settings, say=len)
    assert [(r["leaves"], r["updates"], r["leaf_passes"]) for r in report.rows] == [
        ("zero", "paper", 1),
        ("zero", "alternating", 2),
        ("solved", "paper", 1),
        ("solved", "alternating", 2),
    ]
    assert all(r["exploitability_paper"] is None for r in report.rows)
    for row in report.rows:
        low, mean, high = (row[f"exploitability_{k}"] for k in ("min", "mean", "max"))
        assert 0 < low <= mean <= high
    zero, solved = report.rows[1], report.rows[3]
    assert solved["exploitability_max"] < zero["exploitability_min"]
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == report.rows
    assert (tmp_path / "gtcfr_leaves.png").stat().st_size > 1000

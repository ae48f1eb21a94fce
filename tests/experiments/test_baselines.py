"""The studies of baselines, with settings so small that they only show that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import ismcts_leduc


def quiet(line: str) -> None:
    assert line


@pytest.mark.slow  # seconds of compilation
def test_ismcts_leduc(tmp_path: Path):
    settings = ismcts_leduc.Settings(
        (10, 100), (10.0, 11.0), constructions=2, game="leduc(suits=1)"
    )
    report = ismcts_leduc.main(True, tmp_path, settings=settings, say=quiet)
    assert [(r["sims"], r["uct_c"]) for r in report.rows[::3]] == [
        (10, 10),
        (10, 11),
        (100, 10),
        (100, 11),
    ]
    assert [r["exploitability_paper"] for r in report.rows[:6]] == [1738, 2555, 2360] + [None] * 3
    assert all(r["least"] <= r["exploitability_mbb"] <= r["most"] for r in report.rows)
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == report.rows
    assert (tmp_path / "ismcts_leduc.png").stat().st_size > 1000

"""The study of growing trees, with settings so small that they only show that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import sog_figure3_leduc


@pytest.mark.slow  # minutes of compiling
def test_sog_figure3_leduc(tmp_path: Path):
    settings = sog_figure3_leduc.Settings(
        simulations=(33,),
        seeds=1,
        steps=4,
        batch=4,
        solver_iterations=5,
        width=8,
        updates=("paper",),
        game="leduc(suits=1,raises=1)",
    )
    report = sog_figure3_leduc.main(True, tmp_path, settings=settings, say=len)
    assert [r["network"] for r in report.rows] == ["untrained", "trained"]
    assert [r["mbb_paper"] for r in report.rows] == [854.0, 202.0]
    assert all(r["least"] <= r["mbb"] <= r["most"] for r in report.rows)
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == report.rows
    assert (tmp_path / "sog_figure3_leduc.png").stat().st_size > 1000

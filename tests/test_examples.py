"""Scripts of examples/ that belong to no one package; others are run beside what they show."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow  # compiles training
def test_a_logger_gets_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(EXAMPLES / "logger.py"))
    shown = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in shown] == [
        *("step 5", "step 10", "step 15", "step 20"),
        *("iteration 50", "iteration 100"),
    ]
    with (tmp_path / "train.csv").open() as file:
        written = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    assert written == names["rows"]


@pytest.mark.slow  # compiles two games
def test_nash_conv_tells_where_general_sum_is_solved(capsys: pytest.CaptureFixture[str]):
    names = runpy.run_path(str(EXAMPLES / "general_sum.py"))
    assert names["before"] > 1
    assert names["after"] < 1e-3
    assert names["smuggler"] == pytest.approx(2 / 3, abs=1e-3)
    assert names["gaps"][-1] >= min(names["gaps"]) > 0.05  # no equilibrium, by far
    assert len(capsys.readouterr().out.splitlines()) == 3

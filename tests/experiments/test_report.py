"""What studies leave: files, and rows for a run that goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments._report import Report, cell

ROWS = [{"x": 1, "y": 0.5}]


def report(name: str = "study", quick: bool = True, **extra: object) -> Report:
    return Report(name, quick, 2.0, list(ROWS), {"settings": "a", "complete": False} | extra)


def test_a_stopped_run_leaves_its_rows(tmp_path: Path):
    assert report().earlier(tmp_path, same=("settings",)) == ([], 0.0)
    report().save(tmp_path)
    assert report().earlier(tmp_path, same=("settings",)) == (ROWS, 2.0)


@pytest.mark.parametrize(
    "other", [report("another"), report(quick=False), report(settings="b"), report(complete=True)]
)
def test_other_runs_and_finished_ones_leave_none(tmp_path: Path, other: Report):
    other.save(tmp_path)
    assert report().earlier(tmp_path, same=("settings",)) == ([], 0.0)


def test_cells_have_four_digits():
    assert [cell(x) for x in (None, 12345, 1 / 3, (0.4, 2 / 3))] == [
        "",
        "12,345",
        "0.3333",
        "0.4, 0.6667",
    ]

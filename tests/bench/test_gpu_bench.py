"""The benchmark for a machine with a GPU, on the CPU with tiny sizes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.bench import gpu


@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param(("self-play", "rivers"), marks=pytest.mark.slow),
        pytest.param((), marks=pytest.mark.long),
    ],
)
def test_every_part_leaves_a_row(left_out: tuple[str, ...], tmp_path: Path) -> None:
    """A part without time says so."""
    report = gpu.main(True, tmp_path, dict.fromkeys(left_out, 0.0))
    found = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert [row["part"] for row in found] == [row["part"] for row in report.rows]
    assert {row["part"] for row in found} == set(gpu.PARTS)
    for row in found:
        if row["part"] == "openspiel" and "skipped" in row:
            continue  # not installed
        if row["part"] in left_out:
            assert row["skipped"] == "after 0 s"
        else:
            assert row["ms"] > 0
    (loop,) = (row for row in found if row["part"] == "loops")
    assert loop["h100_floor_ms"] == pytest.approx(
        max(loop["h100_launches_ms"], loop["h100_bytes_ms"])
    )


def test_budgets_fit_into_nine_minutes() -> None:
    assert sum(gpu.SECONDS.values()) < 540
    assert set(gpu.SECONDS) == set(gpu.PARTS)

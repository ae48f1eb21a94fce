"""The study of the bars of blueprints: its rows, and that it goes on where it was stopped."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from made_buckets import save_made_buckets

from experiments import blueprint_bars
from jaxsolve import holdem


@pytest.mark.slow
def test_rows_and_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "buckets"
    folder.mkdir()
    save_made_buckets(folder, 6)
    plan = blueprint_bars.Plan(
        menu="hu20.toml",
        buckets=6,
        seconds=(0.2, 0.5),
        minutes=(0.01, 0.02),
        pass_seconds=0.2,
        boards=4,
        call_boards=2,
        raise_boards=2,
        checkpoint_seconds=1,
        folder=folder,
    )
    quick = functools.partial(holdem.local_best_response, runouts=2)
    monkeypatch.setattr(holdem, "local_best_response", quick)
    said: list[str] = []

    def stop_at_four(line: str) -> None:
        said.append(line)
        if len(said) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        blueprint_bars.main(True, tmp_path, plan=plan, say=stop_at_four)
    before = json.loads((tmp_path / "result.json").read_text())["rows"]
    report = blueprint_bars.main(True, tmp_path, plan=plan, say=said.append)
    assert report.rows[: len(before)] == before
    assert 3 <= len(before) < len(report.rows) == 14
    assert json.loads((tmp_path / "result.json").read_text())["complete"]
    for row in report.rows:
        assert set(row) == set(blueprint_bars.COLUMNS)
        least, most, value = row["least"], row["most"], row["value"]
        if least is None and most is None:
            assert row["reached"] is None
        else:
            assert row["reached"] == ((least or -1e9) <= value <= (most or 1e9))
        if row["unit"] == "mbb/h" and "all-in first" not in row["bar"]:
            assert row["low"] < value < row["high"]
    uniform = next(r for r in report.rows if "uniform" in r["bar"])
    assert uniform["value"] > 0

"""The script of examples/ for hold'em."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow  # solves four rivers
def test_river_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(EXAMPLES / "river_report.py"))
    assert sum(names["result"].ev) == pytest.approx(200, abs=0.01)
    assert names["calling"].ev[0] > names["result"].ev[0]  # a fixed mistake is worth something
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3 + 1 + 2

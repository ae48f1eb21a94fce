"""The experiments on multi-valued states; the larger one with the smallest settings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments import modicum_figure1, modicum_rps
from experiments.modicum_figure1._response import Settings
from experiments.modicum_figure1._spot import Rules
from experiments.modicum_figure1._study import EXACT, Plan


def test_modicum_rps(tmp_path: Path):
    report = modicum_rps.main(True, tmp_path)
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["rows"] == report.rows
    one, _, three = report.rows
    assert [r["values"] for r in report.rows] == [1, 2, 3]
    assert one["exploitability"] >= 0.2
    np.testing.assert_allclose(three["strategy"], [0.4, 0.4, 0.2], atol=1e-3)
    assert three["exploitability"] < 5e-3
    assert (tmp_path / "modicum_rps.png").stat().st_size > 1000


@pytest.mark.long  # every line compiles programs of its own
def test_modicum_figure1(tmp_path: Path):
    """Figure 1's order: one value is worse than translation, four are better, the bet is best."""
    rules = Rules("small", "nolimit_leduc(ranks=5,suits=1,stack=20,ante=2,raises=1,", "bet", 2.0)
    others = ("exact_game_root", "rollout", "network", "exact_with_bet")
    lines = (EXACT[0], EXACT[3], *(("self_generated", "opponent", v) for v in others))
    settings = Settings(search=300, resolve=300, target=1e-2, drawn=50, rollouts=1, steps=20)
    plan = Plan(rules, (1, 4), lines, settings, generate=100)
    report = modicum_figure1.main(True, tmp_path, plans=[plan])
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["rows"] == report.rows
    keys = {"game", "method", "choosers", "leaf", "values", "exploitability_mbb", "seconds"}
    assert all(set(r) == keys for r in report.rows)
    assert len(report.rows) == 3 + 2 * len(lines)
    gaps = {(r["method"], r["values"]): r["exploitability_mbb"] for r in report.rows[:3]}
    exact = {r["values"]: r["exploitability_mbb"] for r in report.rows[3:5]}
    prepared, translation = gaps["in_abstraction", None], gaps["translation_random", None]
    assert -0.1 < prepared < 1  # the solver's own distance
    assert exact[1] > 2 * translation
    assert translation > 2 * exact[4]
    assert exact[4] > 2 * prepared
    assert gaps["translation_deterministic", None] > 2 * translation
    assert all(r["exploitability_mbb"] > -1 for r in report.rows)
    assert (tmp_path / "modicum_figure1.png").stat().st_size > 1000

    found |= {"complete": False, "rows": found["rows"][:-1]}  # as a run leaves it that is stopped
    (tmp_path / "result.json").write_text(json.dumps(found))
    again = modicum_figure1.main(True, tmp_path, plans=[plan])
    assert again.rows[3:-1] == report.rows[3:-1]  # seconds too
    assert again.rows[-1]["exploitability_mbb"] == report.rows[-1]["exploitability_mbb"]
    assert json.loads((tmp_path / "result.json").read_text())["complete"]

"""The studies with settings so small that they only show that every step runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from experiments import batch, convergence, discount_sweep, memory, precision
from experiments._report import Report
from experiments.convergence import Cell, Part
from experiments.convergence._conventions import CONVENTIONS, conventions


def result(folder: Path, name: str, picture: str | None = None) -> dict[str, Any]:
    assert (folder / f"{picture or name}.png").stat().st_size > 1000
    assert (folder / f"{name}.md").read_text().startswith("| ")
    return json.loads((folder / "result.json").read_text())


def quiet(line: str) -> None:
    assert line


@pytest.mark.slow  # seconds of compilation
def test_convergence(tmp_path: Path):
    parts = (Part("kuhn", (("alternating", "float32"),), (1.0, 10.0), (10, 20)),)
    solvers = ("hs-dcfr(15)",)
    report = convergence.main(True, tmp_path, parts=parts, solvers=solvers, say=quiet)
    found = result(tmp_path, "convergence", "convergence_1")
    assert found["rows"] == report.rows
    assert set(found["rows"][0]) >= {
        *("game", "solver", "updates", "dtype", "payoff_scale"),
        *("iterations", "exploitability", "seconds"),
    }
    assert len(report.rows) == 2 * (2 + 2)  # two scales, and misled in both directions
    one, ten = (
        [
            r["exploitability"]
            for r in report.rows
            if r["payoff_scale"] == s and r["solver"] == "cfr+"
        ]
        for s in (1.0, 10.0)
    )
    assert ten == pytest.approx(one, rel=1e-4)  # in the game's own units
    assert {r["planned"] / r["iterations"] for r in report.rows} == {0.5, 1, 2}


@pytest.mark.slow  # seconds of compilation
def test_a_stopped_study_goes_on(tmp_path: Path):
    parts = (Part("kuhn", (("alternating", "float32"),), (1.0, 10.0), (10, 20)),)
    solvers = ("cfr", "hs-dcfr(15)")
    once = convergence.main(True, tmp_path, parts=parts, solvers=solvers, say=quiet)
    cut = json.loads((tmp_path / "result.json").read_text())
    assert cut["complete"]
    assert len(cut["rows"]) == 4 + 8
    cut["rows"] = cut["rows"][:4]  # those of the first solver
    cut["rows"][0]["exploitability"] = 7.0
    (tmp_path / "result.json").write_text(json.dumps(cut | {"complete": False}))
    again = convergence.main(True, tmp_path, parts=parts, solvers=solvers, say=quiet)
    assert again.extra["complete"]
    gaps, before = ([r["exploitability"] for r in x.rows] for x in (again, once))
    assert gaps == [7.0, *before[1:]]
    anew = convergence.main(True, tmp_path, parts=parts, solvers=solvers, say=quiet)
    assert [r["exploitability"] for r in anew.rows] == before


@pytest.mark.slow
def test_conventions_agree_with_the_library():
    rows = conventions(starts=1, iterations=10, game="kuhn", published=[("dcfr", 1.0)])
    gaps = {r["convention"]: r["median"] for r in rows}
    assert list(gaps) == list(CONVENTIONS)
    assert len(set(gaps.values())) == len(gaps)
    (ours,) = convergence.measure(Cell("kuhn", "dcfr", dtype="float64", iterations=(10,)))
    assert gaps["ours"] == pytest.approx(ours["exploitability"], rel=1e-9)


@pytest.mark.slow
def test_discount_sweep(tmp_path: Path):
    grid = discount_sweep.Grid((1.0, 1.5), (0.0,), (1.0, 2.0), iterations=20)
    report = discount_sweep.main(True, tmp_path, names=("kuhn",), grid=grid, say=quiet)
    found = result(tmp_path, "discount_sweep")
    assert found["rows"] == report.rows
    keys = {"game", "alpha", "beta", "gamma", "iterations", "exploitability"}
    assert {frozenset(r) for r in report.rows} == {frozenset(keys)}
    assert len(report.rows) == len(grid.settings) == 4
    assert found["calls"][0]["members"] == 4


def test_the_full_sweep_is_large_enough_and_holds_the_published_setting():
    settings = discount_sweep.Grid().settings
    assert len(set(settings)) >= 500
    assert (1.5, 0.0, 2.0) in settings


@pytest.mark.slow  # seconds of compilation
def test_precision(tmp_path: Path):
    plan = precision.Plan(("kuhn",), ("pcfr+", "mmd"), (20,), 1, (), (5, 1))
    report = precision.main(True, tmp_path, plan=plan, say=quiet)
    found = result(tmp_path, "precision")
    assert found["rows"] == report.rows
    for row in report.rows:
        assert row["float64_lowest"] <= row["float64"] <= row["float64_highest"]
        assert row["float32"] == pytest.approx(row["float64"], rel=1e-3)
    predictive, mirror = report.rows
    assert predictive["float32_plain_average"] == pytest.approx(predictive["float32"], rel=1e-3)
    assert mirror["float32_plain_average"] is None
    assert {c["average"] for c in found["costs"]} == {"compensated", "plain", "wide"}


@pytest.mark.slow
def test_batch(tmp_path: Path):
    report = batch.main(True, tmp_path, game="kuhn", sizes=(2,), say=quiet)
    assert [r["differ in"] for r in report.rows] == ["payoffs", "discounts"]
    for row in report.rows:
        assert row["ratio"] > 0
        assert row["one_ms_per_iteration"] > 0


@pytest.mark.slow  # six processes that each import JAX
def test_memory(tmp_path: Path):
    (row,) = memory.main(True, tmp_path, say=quiet).rows
    assert row["states"] == 9457
    assert row["ratio"] == pytest.approx(1, abs=0.1)
    assert row["cached_ratio"] == pytest.approx(1, abs=0.1)


def test_a_recorded_result_is_short(tmp_path: Path):
    rows = [{"game": "kuhn", "gap": 1 / 3, "none": None}, {"game": "leduc", "gap": math.nan}]
    path = Report("name", False, 1.0, rows, {"calls": [{"seconds": 2 / 3}]}).record(tmp_path)
    assert path.read_text().splitlines()[2] == "| kuhn | 0.3333 |  |"
    text = path.with_suffix(".json").read_text()
    assert '{"game": "kuhn", "gap": 0.333333, "none": null},\n' in text
    content = json.loads(text)
    assert content["rows"][1] == {"game": "leduc", "gap": None}
    assert content["calls"] == [{"seconds": 0.666667}]

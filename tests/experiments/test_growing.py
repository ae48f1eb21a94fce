"""The studies of growing trees: that every step runs, and the order of figure 3 after seconds."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from experiments import sog_figure3_glasses, sog_figure3_leduc
from experiments._sog import COLUMNS, OURS, OURS_PLAIN, QUICK

SMALL = {
    "leduc": "leduc(suits=1,raises=1)",
    "glasses": "scotland_yard(edges=[[1,2],[2,3],[3,4],[4,1],[3,5]],evader=[3],detectives=[1],"
    "rounds=2)",
}


@pytest.mark.slow  # minutes of compiling
@pytest.mark.parametrize("name", ["leduc", pytest.param("glasses", marks=pytest.mark.long)])
def test_sog_figure3(tmp_path: Path, name: str):
    study = {"leduc": sog_figure3_leduc, "glasses": sog_figure3_glasses}[name]
    settings = study.Settings(
        recipes=(dataclasses.replace(OURS, simulations=3, steps=(0, 4)),),
        simulations=(33,),
        seeds=(2,),
        curve_seeds=1,
        log_every=2,
        episodes=8,
        solvers=8,
        width=8,
        game=SMALL[name],
    )
    report = study.main(True, tmp_path, settings=settings, say=len)
    assert [tuple(row) for row in report.rows] == [COLUMNS] * 2
    assert [row["train_steps"] for row in report.rows] == [0, 4]
    assert [row["seeds"] for row in report.rows] == [1, 2]
    paper = {"leduc": [854, 202], "glasses": [0.413, 0.131]}[name]
    assert [row["exploitability_paper"] for row in report.rows] == paper
    for row in report.rows:
        low, mean, high = (row[f"exploitability_{k}"] for k in ("min", "mean", "max"))
        assert 0 <= low <= mean <= high
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == report.rows
    assert (tmp_path / f"sog_figure3_{name}.png").stat().st_size > 1000
    curve = (tmp_path / "ours" / "curve.csv").read_text()
    for column in ("value_loss", "policy_loss", "age", "searches_per_second", "episodes"):
        assert column in curve.splitlines()[0]
    again = study.main(True, tmp_path, settings=settings, say=len)  # resumes: trains no further
    assert again.rows == report.rows


@pytest.mark.long  # a minute of training and searches
@pytest.mark.timeout(600)
def test_the_order_of_figure_3(tmp_path: Path):
    """Of every seed: more simulations are better, and a trained network than a fresh one."""
    recipe = dataclasses.replace(OURS_PLAIN, simulations=10, steps=(0, 60))
    settings = dataclasses.replace(QUICK, recipes=(recipe,), seeds=(3, 3), curve_seeds=3)
    report = sog_figure3_leduc.main(True, tmp_path, settings=settings, say=len)
    least, most = (
        {(r["sims"], r["train_steps"] > 0): r[f"exploitability_{k}"] for r in report.rows}
        for k in ("min", "max")
    )
    for trained in (False, True):
        assert most[100, trained] < least[33, trained]
    for simulations in (33, 100):
        assert most[simulations, True] < least[simulations, False]

"""The two studies of value networks, so small that they only show that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import rebel_liars_dice, value_net_leduc


@pytest.mark.long  # compiles a dozen searches
def test_value_net_leduc(tmp_path: Path):
    settings = value_net_leduc.Settings(
        steps=4,
        measure=(1e-9,),
        iterations=(4,),
        oracle=((2, 2),),
        seeds=2,
        width=8,
        batch=16,
        solver_iterations=4,
        updates=2,
    )
    report = value_net_leduc.main(True, tmp_path, settings=settings, say=len)
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["rows"] == report.rows
    assert {r["leaf"] for r in report.rows} == {"net", "oracle", "none"}
    for row in report.rows:
        assert set(row) == {
            *("leaf", "train_seconds", "iterations", "seeds"),
            *(f"exploitability_mbb_{x}" for x in ("mean", "min", "max")),
        }
        low, high = row["exploitability_mbb_min"], row["exploitability_mbb_max"]
        assert 0 < low <= row["exploitability_mbb_mean"] <= high
    assert (tmp_path / "value_net_leduc.png").stat().st_size > 1000


TRAINED = ("continual", "average", "random iteration, 2 mixed")


@pytest.mark.long  # compiles several searches
@pytest.mark.parametrize(
    ("source", "exact", "repeats"),
    [("rebel", ("1x4",), 0), ("deepstack", (), 2)],
)
def test_rebel_liars_dice(source: str, exact: tuple[str, ...], repeats: int, tmp_path: Path):
    settings = rebel_liars_dice.Settings(
        parts=(rebel_liars_dice.Part("1x4", source, steps=2),),
        exact=exact,
        exact_iterations=4,
        batch=12,
        updates=1,
        solver_iterations=2,
        iterations=4,
        repeats=repeats,
        width=8,
    )
    report = rebel_liars_dice.main(True, tmp_path, settings=settings, say=len)
    assert [(r["data"], r["policy"]) for r in report.rows] == [
        *[("exact", name) for name in TRAINED[:2] if exact],
        *[(source, name) for name in TRAINED[: 3 if repeats else 2]],
    ]
    for row in report.rows:
        assert row["size"] == "1x4"
        assert row["exploitability_paper"] == 0.017
        assert 0 < row["exploitability"] < 1
        assert (row["examples"] > 0) == (row["data"] != "exact")
    assert json.loads((tmp_path / "result.json").read_text())["complete"]
    assert (tmp_path / "rebel_liars_dice.png").stat().st_size > 1000

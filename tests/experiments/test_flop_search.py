"""The study of searched flops, with ranges of few hands and buckets that cost nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_buckets import save_made_buckets

from experiments import flop_search
from experiments.flop_search import Plan


@pytest.mark.long
def test_a_search_loses_less_than_a_made_up_blueprint_and_the_solution_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "buckets").mkdir()
    save_made_buckets(tmp_path / "buckets", 3)
    plan = Plan(
        flops=("Td9d6h",),
        buckets=3,
        minutes=0.01,
        passes=(60,),
        continuations=(4,),
        iterations=(150, 80),
        ranges=("AA,99,AKs,76s", "KK,TT,AQs,J8s"),
        folder=tmp_path / "buckets",
    )
    report = flop_search.main(True, tmp_path / "out", plan=plan, say=lambda line: None)
    lost = {r["search"]: r["exploitability_pot_percent"] for r in report.rows}
    searches = ["4 values, the opponent chooses", "4 values by a network"]
    assert list(lost) == ["to the end", "blueprint", *searches]
    assert lost["to the end"] < 2
    assert all(-1 < lost[name] < lost["blueprint"] for name in searches)
    assert (tmp_path / "out" / "flop_search.png").exists()
    path = tmp_path / "out" / "result.json"
    path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
    again = flop_search.main(True, tmp_path / "out", plan=plan, say=lambda line: None)
    assert again.rows == json.loads(path.read_text())["rows"]

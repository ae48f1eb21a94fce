"""The study of Pluribus's parts on small games and buckets that cost nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from made_buckets import save_made_buckets

from experiments import pluribus_parts
from experiments.pluribus_parts import Plan, _holdem, _leduc

PLAN = Plan(
    passes=(),
    search_seeds=0,
    menu="six20.toml",
    buckets=3,
    bits=32,
    base_minutes=0.03,
    minutes=(0.01, 0.02),
    deals=4,
    search_deals=3,
    sampled=60,
    search_buckets=3,
    samples=16,
    step=2,
)


@pytest.mark.slow
def test_hands_are_scored_and_a_study_goes_on(tmp_path: Path) -> None:
    (tmp_path / "buckets").mkdir()
    save_made_buckets(tmp_path / "buckets", 3)
    plan = dataclasses.replace(PLAN, folder=tmp_path / "buckets")
    said: list[str] = []
    report = pluribus_parts.main(True, tmp_path / "out", plan=plan, say=said.append)
    trained = [r for r in report.rows if r.get("minutes")]
    assert [r["part"] for r in trained] == [x for x in _holdem.WAYS for _ in plan.minutes]
    assert all(r["hands"] == 24 and r["se"] > 0 and r["nodes"] > 0 for r in trained)
    few, many = (r for r in trained if r["part"] == "no weights")
    assert few["passes"] < many["passes"]
    searched = {r["part"]: r for r in report.rows if r["stage"].startswith("search,")}
    assert set(searched) >= set(_holdem.SEARCHERS)
    less = [x for x in searched.values() if "less" in x["part"]]
    assert len(less) == len(_holdem.SEARCHERS) - 1
    for row in less:
        first = searched[row["part"].split(", less")[0]]
        assert row["mbb"] == pytest.approx(first["mbb"] - searched[_holdem.BASE]["mbb"])
    assert (tmp_path / "out" / "pluribus_parts.png").exists()
    path = tmp_path / "out" / "result.json"
    stopped = json.loads(path.read_text())
    stopped["rows"], stopped["complete"] = stopped["rows"][:-2], False
    path.write_text(json.dumps(stopped))
    again = pluribus_parts.main(True, tmp_path / "out", plan=plan, say=said.append)
    assert again.rows == report.rows
    less = dataclasses.replace(plan, minutes=(0.005,))
    with pytest.raises(ValueError, match=r"longer than 0\.005 minutes"):
        pluribus_parts.main(True, tmp_path / "out", plan=less, say=said.append)


@pytest.mark.long
def test_parts_of_listed_games(monkeypatch: pytest.MonkeyPatch) -> None:
    small = "leduc(players=3,ranks=4,suits=1,raises=1)"
    monkeypatch.setattr(_leduc, "WEIGHTED", small)
    monkeypatch.setattr(_leduc, "SEARCHED", small)
    ways = ("round's start, final", "each decision, frozen, average")
    monkeypatch.setattr(_leduc, "SEARCHES", {k: _leduc.SEARCHES[k] for k in ways})
    rows = _leduc.weights_and_pruning((1_000, 3_000), 2, lambda _: None)
    assert [r["part"] for r in rows] == [name for name in _leduc.WAYS for _ in range(2)]
    assert rows[1]["nash_conv"] < rows[0]["nash_conv"]
    assert all(r["se"] > 0 for r in rows)
    found = {r["part"]: r for r in _leduc.searches(1_000, 20, 1, lambda _: None)}
    assert set(found) == {"blueprint", *ways}
    assert all(r["nash_conv"] >= 0 and r["seeds"] == 1 for r in found.values())
    assert len({r["nash_conv"] for r in found.values()}) == 3

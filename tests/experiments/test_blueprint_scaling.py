"""The study of blueprints with buckets that cost nothing: its rows, and that it goes on."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_buckets import save_made_buckets

from experiments import blueprint_scaling
from experiments.blueprint_scaling import Plan
from jaxsolve import holdem


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folders = {n: tmp_path_factory.mktemp(f"buckets{n}") for n in (3, 6)}
    for buckets, folder in folders.items():
        save_made_buckets(folder, buckets)
    return Plan(
        samplers=("external",),
        buckets=(3, 6),
        minutes=(0.01, 0.03),
        seeds=2,
        reference=("external", 6),
        menu="hu20.toml",
        boards=4,
        lbr_boards=0,
        response_boards=None,
        threads=1,
        folders=folders,
    )


def quiet(line: str) -> None:
    assert line


@pytest.mark.long
def test_rows_and_files(tmp_path: Path, plan: Plan) -> None:
    both = ("external", "vector")
    one = dataclasses.replace(
        plan, samplers=both, buckets=(6,), lbr_boards=2, response_boards=(1, 1)
    )
    report = blueprint_scaling.main(True, tmp_path, plan=one, say=quiet)
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["rows"] == report.rows
    assert found["complete"]
    assert [(r["sampler"], r["minutes"], r["seed"]) for r in report.rows] == [
        (sampler, *point) for sampler in both for point in ((0.01, 0), (0.03, 0), (0.01, 1))
    ]
    first, reference, other, *vector = report.rows
    assert all(np.isfinite(r["mbb"]) for r in vector)
    assert len({r["mbb"] for r in report.rows}) == 6
    assert set(first) >= {
        *("sampler", "buckets", "minutes", "nodes_per_second", "against"),
        *("mbb", "low", "high", "best_response_mbb"),
    }
    assert reference["mbb"] == pytest.approx(0, abs=1e-3)  # against itself
    assert first["low"] < first["mbb"] < first["high"]
    assert first["mbb"] != other["mbb"]
    assert first["lbr_call_low"] < first["lbr_call_mbb"] < first["lbr_call_high"]
    assert first["best_response_mbb"] > 0
    assert other["lbr_call_mbb"] is None
    assert other["best_response_mbb"] is None
    assert 0 < first["passes"] < reference["passes"]
    assert (tmp_path / "blueprint_scaling.png").stat().st_size > 10_000
    assert (tmp_path / "blueprint_scaling.md").read_text().startswith("| sampler |")


@pytest.mark.slow
def test_a_stopped_study_goes_on(tmp_path: Path, plan: Plan, monkeypatch: Any) -> None:
    """Stopped in the fourth match and in a training: nothing that is finished is done again."""
    trained: list[tuple[str, float]] = []
    played: list[int] = []
    stop: list[str] = []
    train, match = holdem.train_blueprint, holdem.range_match

    def count_train(*args: Any, **options: Any) -> Any:
        if len(trained) == 5 and stop == ["training"]:
            raise KeyboardInterrupt
        made = train(*args, **options, progress=False)
        trained.append((options["out"].name, options["minutes"]))
        return made

    def count_match(*args: Any, **options: Any) -> Any:
        if len(played) == 3 and stop == ["match"]:
            raise KeyboardInterrupt
        played.append(1)
        return match(*args, **options)

    monkeypatch.setattr(holdem, "train_blueprint", count_train)
    monkeypatch.setattr(holdem, "range_match", count_match)
    for word in ("match", "training"):
        stop[:] = [word]
        with pytest.raises(KeyboardInterrupt):
            blueprint_scaling.main(True, tmp_path, plan=plan, say=quiet)
        before = json.loads((tmp_path / "result.json").read_text())["rows"]
        assert not json.loads((tmp_path / "result.json").read_text())["complete"]
    stop.clear()
    report = blueprint_scaling.main(True, tmp_path, plan=plan, say=quiet)
    assert report.rows[: len(before)] == before
    assert len(report.rows) == len(played) == len(set(trained)) == len(trained) == 6


def test_wrong_plans() -> None:
    with pytest.raises(ValueError, match="minutes ascend"):
        Plan(minutes=(2, 1))
    with pytest.raises(ValueError, match="is none of the strategies"):
        Plan(reference=("external", 5))
    assert [len(run.minutes) for run in Plan().runs] == [5, 1, 1] * 6
    assert (Plan().runs[0].sampler, Plan().runs[0].buckets) == Plan().reference

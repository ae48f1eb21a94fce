"""Committed results have the shapes of the figures that they reproduce, on every device."""

from __future__ import annotations

import collections
import json
from pathlib import Path
from typing import Any

import pytest

import experiments
from experiments._report import markdown
from experiments.bench import holdem as bench_holdem

FOLDER = Path(experiments.__file__).parent


def recorded(name: str) -> list[Any]:
    """Returns parameters: the rows of each result that a study has committed."""
    files = sorted((FOLDER / name / "results").glob("*.json"))
    assert files, f"{name} has no committed result"
    return [pytest.param(json.loads(f.read_text())["rows"], id=f"{name}-{f.stem}") for f in files]


@pytest.mark.parametrize("rows", recorded("modicum_figure1"))
def test_figure_1_of_depth_limited_solving(rows: list[dict[str, Any]]):
    """Having had the bet in the abstraction is best, and one value is worse than translation.

    In flop hold'em with eight cards one value is better than translation already, and many values
    are as near to an equilibrium as the solver itself.
    """
    for game in {r["game"] for r in rows}:
        # Continuations of the game with the bet are an upper bound that nobody has, and networks
        # and rollouts estimate: the curves are those of exact values.
        mine = [r for r in rows if r["game"] == game and r["leaf"] in (None, "exact")]
        gaps = {(r["method"], r["choosers"], r["values"]): r["exploitability_mbb"] for r in mine}
        prepared = gaps.pop(("in_abstraction", None, None))
        translation = gaps.pop(("translation_random", None, None))
        assert translation < gaps.pop(("translation_deterministic", None, None))
        assert prepared < translation
        one = {k: gap for k, gap in gaps.items() if k[-1] == 1}
        best = min(gaps.values())
        assert len(one) == 4
        assert prepared < min(one.values())
        assert best < translation
        if "leduc" in game:
            assert prepared < best
            assert min(one.values()) > 2 * translation
            for who in ("opponent", "all"):
                assert gaps["self_generated", who, 16] < 0.6 * translation


@pytest.mark.parametrize("rows", [*recorded("sog_figure3_leduc"), *recorded("sog_figure3_glasses")])
def test_figure_3_of_student_of_games(rows: list[dict[str, Any]]):
    """More simulations are better, and a trained network is better than a fresh one."""
    curves: Any = collections.defaultdict(lambda: collections.defaultdict(dict))
    for r in rows:
        key = r["settings"], r.get("searches")
        curves[key][r["train_steps"]][r["sims"]] = r["exploitability_mean"]
    assert {settings for settings, _ in curves} >= {"paper", "ours"}
    compared = 0
    for networks in curves.values():
        trained = networks[max(networks)]
        falling = [trained[s] for s in (33, 100, 300, 1000)]
        assert falling == sorted(falling, reverse=True)
        if fresh := networks.get(0):
            assert fresh[1000] < fresh[33]
            assert all(trained[s] < 0.75 * fresh[s] for s in (33, 100))
            compared += 1
    assert compared >= 2


def test_the_table_of_spots_in_the_documentation_is_the_recorded_one():
    (file,) = (FOLDER / "bench" / "results").glob("holdem-cpu-*.json")
    found = json.loads(file.read_text())
    assert found["quiet"]
    text = (FOLDER.parent / "docs" / "holdem.md").read_text()
    assert markdown(bench_holdem.table(found["rows"])) in text


@pytest.mark.parametrize("rows", recorded("connect_four_searches"))
def test_warm_searches_of_connect_four_are_not_behind_those_of_mctx(rows: list[dict[str, Any]]):
    """Beyond the interval, on positions that no option was chosen on; .95 with 64 simulations."""
    mine = [r for r in rows if r["search"] == "sog, warm" and r["sims"] >= 16]
    assert {(r["positions"], r["sims"]) for r in mine} == {
        (kind, s) for kind in ("random", "self-play") for s in (16, 64, 256)
    }
    for row in mine:
        assert row["count"] == 4000
        for peer in ("muzero", "gumbel"):
            assert row[f"ahead_{peer}"] + row[f"error_{peer}"] >= 0
    shares = {(r["positions"], r["search"], r["sims"]): r["optimal_share"] for r in rows}
    assert shares["random", "sog", 64] >= 0.95

"""The benchmark of dark chess: its rows, and what it says of a cap."""

from __future__ import annotations

from pathlib import Path

import pytest

import games
from experiments.bench._belief import followed, make_rules
from experiments.bench.dark_chess import main

SMALL = games.load("dark_chess(fen=3k/2pp/PP2/K3_w)").positions


@pytest.mark.slow
def test_rows_of_the_benchmark(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is measured beside ours")
    rows = main(["--quick", "--out", str(tmp_path)]).rows
    kinds = [(row["what"], row.get("program")) for row in rows]
    ours = [(what, "jaxsolve") for what in ("moves", "mask", "step", "views")]
    theirs = [(what, "OpenSpiel") for what in ("moves", "step", "views")]
    assert kinds == [*ours, *theirs, ("belief", None)]
    assert all(row["positions_per_core_second"] > 0 for row in rows)
    assert rows[-1]["candidates"] >= rows[-1]["found"] > 0
    assert (tmp_path / "result.json").exists()


@pytest.mark.slow
def test_a_cap_of_one_position_loses_the_true_one_and_says_so() -> None:
    rules = make_rules(SMALL)
    whole = [followed(rules, seed, 12, 100_000) for seed in range(0, 8, 2)]
    capped = [followed(rules, seed, 12, 1) for seed in range(0, 8, 2)]
    for row in whole:
        assert row["exact_plies"] == row["plies"] == row["plies_with_true_position"]
    assert any(row["plies_with_true_position"] < row["plies"] for row in capped)
    for row in capped:
        assert row["exact_plies"] <= row["plies_with_true_position"]
        assert row["most_positions"] <= 1

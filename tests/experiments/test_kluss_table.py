"""The table of KLSS beside KLUSS: resumed runs, and positions that look ahead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import pytest

import jaxsolve as js
from experiments.kluss_table import _table, main
from experiments.kluss_table._positions import POSITIONS, re_solved, rules, whole_tree


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[Any, int | None]] = []

    def measured(game: Any, plies: int | None) -> dict[str, Any]:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append((game, plies))
        name = game if isinstance(game, str) else _table.named(game)
        return {"game": name, "look_ahead": plies, "klss": 0.0, "kluss": 0.0, "seconds": 0.0}

    monkeypatch.setattr(_table, "measure", measured)
    with pytest.raises(KeyboardInterrupt):
        main(True, tmp_path)
    first = list(asked)
    kept = json.loads((tmp_path / "result.json").read_text())
    assert len(kept["rows"]) == 2
    assert not kept["complete"]
    asked.clear()
    with pytest.raises(KeyboardInterrupt):
        main(True, tmp_path)
    assert len(asked) == 2
    assert not set(map(str, asked)) & set(map(str, first))
    asked.clear()
    done = main(True, tmp_path)
    assert len(asked) == 1
    assert len(done.rows) == 5
    assert json.loads((tmp_path / "result.json").read_text())["complete"]


@pytest.mark.slow  # two programs for games of chess
def test_a_search_that_sees_the_end_is_exact_where_nothing_is_free():
    position = POSITIONS[0]
    with jax.enable_x64(True):
        value = js.solve_lp(js.compile(rules(position))).value
        whole = whole_tree(rules(position))
        far, near = re_solved(whole, position.plies), re_solved(whole, 2)
    assert far["blueprint"] == pytest.approx(value, abs=1e-3)
    assert far["klss"] == pytest.approx(value, abs=1e-3)
    for worth in (near, far):
        assert max(worth[key] for key in ("blueprint", "unsafe", "klss", "kluss")) < value + 1e-6
    assert near["blueprint"] < value - 0.1
    assert near["klss"] > near["blueprint"] + 0.1
    assert far["searches"] > 3

"""The loop: when it stops, what it keeps, and that a resumed run is the same run."""

from __future__ import annotations

import functools
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import mccfr


@functools.cache
def kuhn() -> mccfr.ListedGame:
    return mccfr.listed_game(js.compile(games.load("kuhn")))


def sampler(**options: Any) -> mccfr.ExternalSampler:
    return mccfr.ExternalSampler(kuhn(), mccfr.Options(**options))


def test_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    quiet: dict[str, Any] = {"snapshot_every": 700, "progress": False}
    options: dict[str, Any] = {"seed": 2, "average_stages": 0}
    whole = mccfr.train(sampler(**options), passes=2_000, **quiet)
    mccfr.train(sampler(**options), passes=900, out=tmp_path, **quiet)
    again = mccfr.train(sampler(**options), passes=2_000, out=tmp_path, resume=True, **quiet)
    np.testing.assert_array_equal(again.tables.regret, whole.tables.regret)
    np.testing.assert_array_equal(again.tables.average, whole.tables.average)
    assert whole.tables.average.any()
    assert again.seconds > 0
    assert again.nodes == whole.nodes > 2_000


def test_rows_are_kept_and_go_on(tmp_path: Path) -> None:
    def measure(tables: mccfr.Tables) -> dict[str, float]:
        return {
            "exploitability": float(js.exploitability(kuhn().compiled, kuhn().policy_of(tables)))
        }

    first = mccfr.train(
        sampler(unit=1_000), passes=1_000, out=tmp_path, measure=measure, progress=False
    )
    found = mccfr.train(
        sampler(unit=1_000),
        passes=40_000,
        out=tmp_path,
        resume=True,
        measure=measure,
        measure_seconds=0.01,
        progress=False,
    )
    assert found.rows[: len(first.rows)] == first.rows
    assert [r["passes"] for r in found.rows] == sorted(r["passes"] for r in found.rows)
    assert found.rows[-1]["passes"] == 40_000
    assert found.rows[-1]["exploitability"] < found.rows[0]["exploitability"]


def test_minutes_stop_it() -> None:
    found = mccfr.train(sampler(), minutes=0.01, progress=False)
    assert found.finished
    assert 0.6 <= found.seconds < 3


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    def interrupt(tables: mccfr.Tables) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGINT)
        return {}

    found = mccfr.train(
        sampler(), minutes=5, out=tmp_path, measure=interrupt, measure_seconds=0.05, progress=False
    )
    assert not found.finished
    tables, _ = mccfr.load_tables(tmp_path / mccfr.CHECKPOINT, kuhn())
    assert tables.passes == found.tables.passes > 0


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="passes or minutes"):
        mccfr.train(sampler())
    with pytest.raises(ValueError, match="directory of the run"):
        mccfr.train(sampler(), passes=10, resume=True)
    mccfr.train(sampler(), passes=10, resume=True, out=tmp_path, progress=False)  # begins
    with pytest.raises(ValueError, match="holds an earlier run"):
        mccfr.train(sampler(), passes=20, out=tmp_path, progress=False)
    for other, words in (
        ({"seed": 1}, "seed: 0 instead of 1"),
        ({"power": 0}, "power: 1.0 instead"),
    ):
        with pytest.raises(ValueError, match=words):
            mccfr.train(sampler(**other), passes=20, resume=True, out=tmp_path, progress=False)


def test_a_full_disk_is_found_before_work_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    with pytest.raises(OSError, match="two checkpoints need"):
        mccfr.train(sampler(), passes=10, out=tmp_path, progress=False)
    assert not (tmp_path / mccfr.CHECKPOINT).exists()

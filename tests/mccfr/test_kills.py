"""A process that is killed while it writes its tables: what it leaves is whole, and goes on."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import mccfr

PASSES, EVERY = 30_000, 7_000

CHILD = """
import os, signal, sys
from pathlib import Path
import games, jaxsolve as js
from jaxsolve import mccfr

out, moment, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sync, replace = os.fsync, os.replace

def die(when):
    global left
    if when == moment:
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

def half(file):
    if moment == "half" and left == 1:
        os.ftruncate(file, os.fstat(file).st_size // 2)
    die("half")
    sync(file)

def move(here, there):
    die("before the move")
    replace(here, there)
    die("after the move")

os.fsync, os.replace = half, move
game = mccfr.listed_game(js.compile(games.load("leduc")))
sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=3, average_stages=1))
mccfr.train(sampler, passes=PASSES, snapshot_every=EVERY, checkpoint_seconds=0, out=out,
            progress=False)
"""


@functools.cache
def sampler() -> mccfr.ExternalSampler:
    game = mccfr.listed_game(js.compile(games.load("leduc")))
    return mccfr.ExternalSampler(game, mccfr.Options(seed=3, average_stages=1))


@functools.cache
def whole() -> mccfr.Tables:
    """The tables of a run left alone."""
    return mccfr.train(sampler(), passes=PASSES, snapshot_every=EVERY, progress=False).tables


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "number"),
    [("half", 3), ("half", 1), ("before the move", 2), ("after the move", 2)],
)
def test_killed_while_writing(tmp_path: Path, moment: str, number: int) -> None:
    """It dies at its `number`-th checkpoint."""
    words = [
        sys.executable,
        "-c",
        CHILD.replace("PASSES", str(PASSES)).replace("EVERY", str(EVERY)),
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    found = subprocess.run([*words, str(tmp_path), moment, str(number)], env=environment)
    assert found.returncode == -signal.SIGKILL
    kept, beside = tmp_path / mccfr.CHECKPOINT, tmp_path / f"{mccfr.CHECKPOINT}.tmp"
    assert beside.exists() == (moment != "after the move")
    if moment == "half":
        with pytest.raises(ValueError, match="is damaged"):
            mccfr.load_tables(beside, sampler().game)
    assert kept.exists() == (number > 1)
    if kept.exists():
        tables, _ = mccfr.load_tables(kept, sampler().game)
        assert 0 < tables.passes < PASSES
    again = mccfr.train(
        sampler(), passes=PASSES, snapshot_every=EVERY, out=tmp_path, resume=True, progress=False
    )
    np.testing.assert_array_equal(again.tables.regret, whole().regret)
    np.testing.assert_array_equal(again.tables.average, whole().average)
    assert again.tables.passes == PASSES

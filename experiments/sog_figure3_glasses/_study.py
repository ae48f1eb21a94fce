"""Scotland Yard on the map "glasses", payoffs -1 and 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from experiments._report import Report
from experiments._sog import OURS, OURS_PLAIN, PAPER, Settings, Study, run

STUDY = Study(
    name="sog_figure3_glasses",
    game="scotland_yard",
    preset="glasses",
    unit="reward",
    scale=1.0,
    paper={
        33: {0: 0.413, 5_000: 0.111, 10_000: 0.108, 20_000: 0.115, 50_000: 0.131},
        100: {0: 0.188, 5_000: 0.057, 10_000: 0.050, 20_000: 0.053, 50_000: 0.051},
        300: {0: 0.164, 5_000: 0.038, 10_000: 0.029, 20_000: 0.031, 50_000: 0.031},
        1000: {0: 0.045, 5_000: 0.021, 10_000: 0.015, 20_000: 0.017, 50_000: 0.016},
    },
    results=Path(__file__).parent / "results",
    full=Settings(
        recipes=(
            dataclasses.replace(PAPER, steps=(0, 100, 200)),
            dataclasses.replace(OURS, steps=(0, 100, 200)),
            dataclasses.replace(OURS_PLAIN, steps=(0, 100, 200)),
        ),
        seeds=(20, 10, 5, 3),
        curve_seeds=1,
    ),
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per recipe, network and number of simulations; see `_sog.run`."""
    return run(STUDY, quick, out, settings=settings, record=record, say=say)

"""Leduc poker, in mbb/h: thousandths of a chip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from experiments._report import Report
from experiments._sog import Settings, Study, run

STUDY = Study(
    name="sog_figure3_leduc",
    game="leduc",
    preset="leduc",
    unit="mbb/h",
    scale=1000.0,
    paper={
        33: {0: 854, 25_000: 208, 50_000: 201, 100_000: 198, 150_000: 202},
        100: {0: 774, 25_000: 112, 50_000: 110, 100_000: 96, 150_000: 109},
        300: {0: 540, 25_000: 67, 50_000: 68, 100_000: 48, 150_000: 61},
        1000: {0: 145, 25_000: 23, 50_000: 26, 100_000: 18.7, 150_000: 24},
    },
    results=Path(__file__).parent / "results",
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

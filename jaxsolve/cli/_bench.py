"""`jaxsolve bench`: speed against other solvers, in one run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jaxsolve.cli import _reproduce, _setup
from jaxsolve.waiting import say, waiting


def bench(
    against: Annotated[
        str, typer.Option(help="peers with commas between: openspiel, liteefg, or none")
    ] = "openspiel,liteefg",
    games: Annotated[
        str | None, typer.Option(help="games with commas between; those of the table by default")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="two small games, few repeats")] = False,
    large: Annotated[
        bool, typer.Option("--large", help="goofspiel 6 and 7 too (two minutes, 11 GiB)")
    ] = False,
    solver: Annotated[str, typer.Option(help="ours; peers run cfr+")] = "cfr+",
    record: Annotated[
        bool, typer.Option("--record", help="write experiments/bench/results of this clone, too")
    ] = False,
    out: Annotated[Path, typer.Option(help="folder for result.json, bench.md and bench.png")] = (
        Path("runs/bench")
    ),
    x64: _setup.X64 = False,
) -> None:
    """Measure build, compilation, iterations, memory and time to 1e-3, beside other solvers."""
    _setup.start_jax(x64=x64)
    with waiting("importing the contestants"):
        benchmark = _reproduce.experiments().load("bench")
    with waiting("measuring"):
        report = benchmark.main(
            quick,
            out,
            games=games,
            against=against,
            large=large,
            solver=solver,
            record=record,
            say=say,
        )
    _reproduce.show(report)
    for peer, mean in report.extra["geometric_mean"].items():
        print(
            f"{peer} takes {mean['ratio']:.4g} times as long in the geometric mean of "
            f"{mean['games']} larger games, at least {mean['smallest']:.4g} times"
        )
    kernels = {r["game"]: r["kernels"] for r in report.rows if "kernels" in r}
    print("kernels an iteration: " + ", ".join(f"{game} {k}" for game, k in kernels.items()))
    print(f"written to {out}", file=sys.stderr)

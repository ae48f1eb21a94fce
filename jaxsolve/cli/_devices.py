"""`jaxsolve devices`: what main programs compile to, for devices that are not here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jaxsolve.cli import _reproduce, _setup
from jaxsolve.waiting import say, waiting


def devices(
    only: Annotated[str, typer.Option(help="devices with commas between")] = "h100,v5e,cpu",
    quick: Annotated[bool, typer.Option("--quick", help="Kuhn and the rivers")] = False,
    large: Annotated[
        bool, typer.Option("--large", help="and goofspiel with 7 cards, 11 GB")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="write experiments/devices/results of this clone, too")
    ] = False,
    out: Annotated[Path, typer.Option(help="folder for result.json and devices.md")] = (
        Path("runs/devices")
    ),
) -> None:
    """Compile main programs for devices that are not here: kernels, bytes, flops, memory, floor."""
    _setup.start_jax()
    study = _reproduce.experiments().load("devices")
    names = [name.strip() for name in only.split(",")]
    with waiting("compiling"):
        report = study.main(quick, out, devices=names, large=large, record=record, say=say)
    _reproduce.show(report)
    print(f"written to {out}", file=sys.stderr)

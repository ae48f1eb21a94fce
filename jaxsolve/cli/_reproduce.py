"""`jaxsolve reproduce`: a figure or table of the experiments folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.files import claim
from jaxsolve.waiting import printing_above, waiting


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="an experiment; without one, they are listed")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="reduced settings")] = False,
    out: Annotated[Path | None, typer.Option(help="folder; runs/NAME by default")] = None,
    devices: _setup.Devices = None,
) -> None:
    """Run an experiment: result.json, a Markdown table and a picture."""
    found = experiments()
    if name is None:
        for known in found.names():
            print(f"{known:20s} {found.summary(known)}")
        return
    _setup.start_jax(devices=devices)
    with waiting(f"importing {name}"):
        experiment = found.load(name)
        importlib.import_module("matplotlib")  # for the picture, which comes after hours of work
    out = Path("runs") / name if out is None else out
    with claim(out), waiting(f"running {name}"), printing_above():
        report = experiment.main(quick, out)
    show(report)
    print(f"written to {out}", file=sys.stderr)


def experiments() -> ModuleType:
    """Returns the package of experiments.

    Raises:
        ImportError: it is not installed beside this package.
    """
    try:
        return importlib.import_module("experiments")
    except ModuleNotFoundError as error:
        if error.name != "experiments":
            raise
        raise ImportError(
            "the experiments are not installed; run this in a clone of the repository that was "
            "installed with pip install --editable"
        ) from error


def show(report: Any) -> None:
    """Prints a report's table, as wide as its numbers need even where the terminal is narrower."""
    import rich.console
    import rich.measure

    drawn = table(report)
    console = rich.console.Console()
    roomy = console.options.update(max_width=10_000)
    need = rich.measure.Measurement.get(console, roomy, drawn).minimum
    rich.console.Console(width=max(console.width, need)).print(drawn)


def table(report: Any) -> Any:
    """Returns a report as a table for the terminal; titles and words wrap, numbers do not."""
    import rich.table

    from experiments import cell, columns

    lines = report.table
    keys = columns(lines)
    drawn = rich.table.Table(title=report.name)
    for key in keys:
        words = not all(isinstance(line.get(key), int | float | None) for line in lines)
        drawn.add_column(
            key.replace("_", " "),
            justify="left" if words else "right",
            min_width=0 if words else max(len(cell(line.get(key))) for line in lines),
            overflow="fold",
        )
    for line in lines:
        drawn.add_row(*(cell(line.get(k)) for k in keys))
    return drawn

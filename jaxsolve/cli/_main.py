"""`jaxsolve`: the commands, and what happens to errors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jaxsolve.cli import (
    _bench,
    _compare,
    _devices,
    _games,
    _holdem,
    _play,
    _reproduce,
    _solve,
    _tournament,
    _train,
    _view,
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("games")(_games.games)
app.command("solvers")(_games.solvers)
app.command("solve")(_solve.solve)
app.command("compare")(_compare.compare)
app.command("bench")(_bench.bench)
app.command("devices")(_devices.devices)
app.command("play")(_play.play)
app.command("train")(_train.train)
app.command("tournament")(_tournament.tournament)
app.command("view")(_view.view)
app.command("reproduce")(_reproduce.reproduce)
app.add_typer(_holdem.app, name="holdem")

EXTRAS = {
    "flax": "learn",
    "optax": "learn",
    "orbax": "learn",
    "matplotlib": "plot",
    "pandas": "plot",
    "pyspiel": "openspiel",
    "open_spiel": "openspiel",
    "pgx": "pgx",
    "mctx": "boards",
    "bitbully": "boards",
}
"""Which extra of this package brings a package."""


def _version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        import jaxsolve

        print(f"jaxsolve {jaxsolve.__version__}, JAX {importlib.metadata.version('jax')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="print the version"),
    ] = False,
) -> None:
    """Solve imperfect-information games."""


def main() -> None:
    """Runs the command line; bad input is one message on standard error and exit status 2."""
    try:
        app()
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"jaxsolve: {error}{_missing(error)}", file=sys.stderr)
        sys.exit(2)


def _missing(error: Exception) -> str:
    """Returns how to install the package that an import did not find, "" for other errors."""
    package = (getattr(error, "name", None) or "").partition(".")[0]
    extra = EXTRAS.get(package) if isinstance(error, ModuleNotFoundError) else None
    return f'; to install it: pip install "jaxsolve[{extra}]"' if extra else ""

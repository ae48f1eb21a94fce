"""`jaxsolve compare`: one game, several solvers."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._foreign import check_game
from jaxsolve.cli._games import show
from jaxsolve.compiler import MAX_SECONDS
from jaxsolve.files import claim
from jaxsolve.waiting import waiting

if TYPE_CHECKING:
    from jaxsolve.solvers import Result


def compare(
    game: _setup.Game,
    solvers: Annotated[str, typer.Option(help="names with commas between, or all")] = "all",
    iterations: _setup.Iterations = 1000,
    out: _setup.Out = None,
    measure_every: _setup.MeasureEvery = None,
    simultaneous: _setup.Simultaneous = False,
    x64: _setup.X64 = False,
    max_states: _setup.MaxStates = None,
    max_seconds: _setup.MaxSeconds = MAX_SECONDS,
) -> None:
    """Solve a game with several solvers: compare.csv, compare.png and result.json in --out."""
    _setup.check_out(out)
    check_game(game)
    _setup.start_jax(x64=x64)
    import rich.table

    import jaxsolve as js
    from jaxsolve.files import uninterrupted
    from jaxsolve.solvers import load_solver
    from jaxsolve.solvers.variants import SOLVERS

    names = list(SOLVERS) if solvers == "all" else split_names(solvers)
    variants = {name: load_solver(name, simultaneous=simultaneous) for name in names}
    with waiting(f"listing the states of {game}"):
        tree = js.compile(game, max_states=max_states, max_seconds=max_seconds)
    print(tree, file=sys.stderr)
    with claim(out):
        results: dict[str, Result] = {}
        try:
            for name, variant in variants.items():
                result = js.solve(tree, variant, iterations=iterations, measure_every=measure_every)
                results[name] = result
                if result.status == "interrupted":
                    break
        except KeyboardInterrupt:  # while something is compiled
            pass
        with uninterrupted():
            title = f"{tree.info.name}, {iterations:,} iterations"
            table = rich.table.Table(
                "solver", "exploitability", "ms / iteration", "compiling s", title=title
            )
            for name, r in sorted(results.items(), key=lambda item: item[1].exploitability):
                pace = f"{1e3 * r.seconds / max(r.iterations, 1):.4f}"
                note = f" ({r.status} at {r.iterations:,})" if r.iterations < iterations else ""
                table.add_row(
                    name, f"{r.exploitability:.6g}{note}", pace, f"{r.compile_seconds:.2f}"
                )
            show(table)
            if out is not None and results:
                with waiting(f"writing {out}"):
                    _write(results, out, game, title)
                print(f"written to {out}", file=sys.stderr)
    left = [n for n in names if n not in results or results[n].status == "interrupted"]
    if left:
        print(f"stopped; not finished: {', '.join(left)}", file=sys.stderr)
        raise typer.Exit(130)


def _write(results: dict[str, Result], out: Path, game: str, title: str) -> None:
    """Writes compare.csv, result.json and compare.png."""
    import jax

    from jaxsolve.files import write_atomic, write_figure

    rows: list[dict[str, Any]] = [
        {"game": game, "solver": name, "iteration": i, "seconds": s, "exploitability": e}
        for name, r in results.items()
        for i, s, e in r.curve.rows()
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomic(out / "compare.csv", text.getvalue().encode())
    content = {
        "name": "compare",
        "quick": False,
        "device": str(jax.devices()[0].device_kind),
        "jax": jax.__version__,
        "seconds": sum(r.seconds + r.compile_seconds for r in results.values()),
        "rows": rows,
    }
    write_atomic(out / "result.json", (json.dumps(content, indent=1) + "\n").encode())
    try:
        from jaxsolve.plot import curve

        figure = curve({name: r.curve for name, r in results.items()}, title=title)
        write_figure(out / "compare.png", figure)
    except ImportError as error:
        print(f"compare.png was not drawn: {error}", file=sys.stderr)


def split_names(text: str) -> list[str]:
    """Returns the names between the commas that are not inside brackets.

    Raises:
        ValueError: there is none, or one comes twice.
    """
    from jaxsolve.game import split

    names = [part.strip() for part in split(text)]
    if not names:
        raise ValueError("--solvers names none; write names with commas between, or all")
    if twice := [n for n in names if names.count(n) > 1]:
        raise ValueError(f"--solvers names {twice[0]!r} twice")
    return names

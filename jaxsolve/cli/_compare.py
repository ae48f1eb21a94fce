"""`jaxsolve compare`: one game, several solvers."""

from __future__ import annotations

import csv
import json
import sys
from typing import Annotated

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._games import show


def compare(
    game: _setup.Game,
    solvers: Annotated[str, typer.Option(help="names with commas between, or all")] = "all",
    iterations: _setup.Iterations = 1000,
    out: _setup.Out = None,
    measure_every: _setup.MeasureEvery = None,
    simultaneous: _setup.Simultaneous = False,
    x64: _setup.X64 = False,
    max_states: _setup.MaxStates = 20_000_000,
) -> None:
    """Solve a game with several solvers: compare.csv, compare.png and result.json in --out."""
    _setup.start_jax(x64=x64)
    import jax
    import rich.table

    import jaxsolve as js
    from jaxsolve.solve import SOLVERS, load_solver

    names = list(SOLVERS) if solvers == "all" else split_names(solvers)
    variants = {name: load_solver(name, simultaneous=simultaneous) for name in names}
    if iterations <= 0:
        raise ValueError(f"--iterations must be positive, not {iterations}")
    tree = js.compile(game, max_states=max_states)
    print(tree, file=sys.stderr)
    results = {
        name: js.solve(tree, variant, iterations=iterations, measure_every=measure_every)
        for name, variant in variants.items()
    }
    title = f"{tree.info.name if tree.info else game}, {iterations:,} iterations"
    table = rich.table.Table(
        "solver", "exploitability", "ms / iteration", "compiling s", title=title
    )
    for name, r in sorted(results.items(), key=lambda item: item[1].exploitability):
        pace = f"{1e3 * r.seconds / max(r.iterations, 1):.4f}"
        table.add_row(name, f"{r.exploitability:.6g}", pace, f"{r.compile_seconds:.2f}")
    show(table)
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    rows = [
        {"game": game, "solver": name, "iteration": i, "seconds": s, "exploitability": e}
        for name, r in results.items()
        for i, s, e in r.curve.rows()
    ]
    with (out / "compare.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    content = {
        "name": "compare",
        "quick": False,
        "device": str(jax.devices()[0].device_kind),
        "jax": jax.__version__,
        "seconds": sum(r.seconds + r.compile_seconds for r in results.values()),
        "rows": rows,
    }
    (out / "result.json").write_text(json.dumps(content, indent=1) + "\n")
    try:
        from jaxsolve.plot import curve

        figure = curve({name: r.curve for name, r in results.items()}, title=title)
        figure.savefig(out / "compare.png")
    except ImportError as error:
        print(f"compare.png was not drawn: {error}", file=sys.stderr)
    print(f"written to {out}", file=sys.stderr)


def split_names(text: str) -> list[str]:
    """Splits at commas outside brackets."""
    from jaxsolve.game._strings import split

    return [part.strip() for part in split(text)]

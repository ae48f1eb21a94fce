"""`jaxsolve holdem`: spots of hold'em."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaxsolve.cli import _setup

if TYPE_CHECKING:
    from jaxsolve.holdem import SpotResult

app = typer.Typer(no_args_is_help=True, help="Hold'em at full width.")


@app.callback()
def holdem() -> None:
    """Hold'em at full width."""


@app.command("solve")
def solve(
    spot: Annotated[Path, typer.Argument(help="a SPOT.toml, see docs/holdem.md")],
    out: _setup.Out = None,
    target: Annotated[str, typer.Option(help='"0.1%" of the pot, chips, or "none"')] = "0.1%",
    solver: Annotated[str, typer.Option(help="such as dcfr or pcfr+")] = "dcfr",
    iterations: Annotated[int, typer.Option(help="at most")] = 10_000,
    as_json: Annotated[
        bool, typer.Option("--json", help="one JSON object per measurement on standard output")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the checkpoint")] = False,
    time_limit: Annotated[float | None, typer.Option(help="stop after so many seconds")] = None,
    measure_every: _setup.MeasureEvery = None,
    operator: Annotated[
        str | None, typer.Option(help="native, prefix or dense; the fastest by default")
    ] = None,
    symmetric: Annotated[
        bool, typer.Option(help="put runouts together that are equal up to names of suits")
    ] = True,
    x64: _setup.X64 = False,
) -> None:
    """Solve a spot: result.json, root.csv, root.png, ranges.png, curve.csv, policy.npz in --out."""
    _setup.check(iterations, out)
    if resume and out is None:
        raise ValueError("--resume needs --out, the directory of the run to continue")
    _setup.start_jax(x64=x64)
    import logging

    from jaxsolve import holdem as he

    logging.basicConfig(format="%(message)s", level=logging.INFO)
    logging.getLogger("jax").setLevel(logging.WARNING)
    where = he.Spot.load(spot)
    tree = he.spot_tree(where, operator=operator, symmetric=symmetric)
    print(repr(tree), file=sys.stderr)

    def report(iteration: int, seconds: float, chips: float) -> None:
        if as_json:
            row = {"iteration": iteration, "seconds": seconds, "exploitability": chips}
            print(json.dumps(row), flush=True)

    result = he.solve(
        tree,
        target=None if target.lower() == "none" else target,
        solver=solver,
        iterations=iterations,
        measure_every=measure_every,
        time_limit=time_limit,
        out=out,
        resume=resume,
        callback=report,
    )
    if not as_json:
        print(result.node().summary().to_string(index=False, float_format="{:.4f}".format))
    print(repr(result), file=sys.stderr)
    if out is not None:
        _write(result, out)
        print(f"written to {out}", file=sys.stderr)
    if result.result.status == "interrupted":
        raise typer.Exit(130)
    if result.result.status == "non-finite":
        print("jaxsolve: the exploitability is not finite; the run stopped", file=sys.stderr)
        raise typer.Exit(1)


def _write(result: SpotResult, out: Path) -> None:
    """Writes the files of a run."""
    import jax

    import jaxsolve as js
    from jaxsolve.files import write_atomic

    facts = result.facts() | {"device": jax.devices()[0].device_kind, "jax": jax.__version__}
    write_atomic(out / "result.json", (json.dumps(facts, indent=1) + "\n").encode())
    root = result.node()
    write_atomic(out / "root.csv", root.table().to_csv(index=False).encode())
    result.result.curve.save(out / "curve.csv")
    js.save_policy(result.policy, out / "policy.npz")
    try:
        from jaxsolve.holdem import range_grid

        root.plot().savefig(out / "root.png", dpi=110, bbox_inches="tight")
        for player, weights in zip(("oop", "ip"), result.spot.spot.ranges, strict=True):
            figure = range_grid(weights, title=f"Range of {player}")
            figure.savefig(out / f"range_{player}.png", dpi=110, bbox_inches="tight")
        result.result.plot().savefig(out / "curve.png")
    except ImportError as error:
        print(f"no pictures: {error}", file=sys.stderr)

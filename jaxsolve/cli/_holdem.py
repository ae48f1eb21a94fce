"""`jaxsolve holdem`: spots of hold'em."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaxsolve.cli import (
    _holdem_abstraction,
    _holdem_blueprint,
    _holdem_judging,
    _holdem_play,
    _holdem_results,
    _setup,
)
from jaxsolve.files import claim
from jaxsolve.waiting import waiting

if TYPE_CHECKING:
    from jaxsolve.holdem import SpotResult

app = typer.Typer(no_args_is_help=True, help="Hold'em at full width.")
app.command("lines")(_holdem_results.lines)
app.command("show")(_holdem_results.show)
app.command("export")(_holdem_results.export)
app.command("batch")(_holdem_results.batch)
app.command("convert")(_holdem_results.convert)
app.command("abstraction")(_holdem_abstraction.abstraction)
app.command("buckets")(_holdem_abstraction.buckets)
app.command("blueprint")(_holdem_blueprint.blueprint)
app.command("positions")(_holdem_blueprint.positions)
app.command("match")(_holdem_play.match)
app.command("serve")(_holdem_play.serve)
app.command("join")(_holdem_play.join)
app.command("replay")(_holdem_play.replay)
app.command("lbr")(_holdem_judging.lbr)
app.command("best-response")(_holdem_judging.best_response)


@app.callback()
def holdem() -> None:
    """Hold'em at full width."""


@app.command("solve")
def solve(
    spot: Annotated[Path, typer.Argument(help="a SPOT.toml, see docs/holdem.md")],
    out: _setup.Out = None,
    target: Annotated[str, typer.Option(help='"0.1%" of the pot, chips, or "none"')] = "0.1%",
    solver: Annotated[str, typer.Option(help="such as dcfr or pcfr+")] = "dcfr",
    iterations: Annotated[int, typer.Option(help="at most", min=1, max=2**31 - 1)] = 10_000,
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
    bits: Annotated[
        int | None, typer.Option(help="of each number that is kept, 32 or 16; what fits by default")
    ] = None,
    threads: _setup.Threads = None,
    devices: _setup.Devices = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="root.png, range_oop.png, range_ip.png, curve.png")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="print sizes and memory, and solve nothing")
    ] = False,
    x64: _setup.X64 = False,
) -> None:
    """Solve a spot, into --out: result.json, root.csv, curve.csv, policy.npz and a checkpoint.

    With --pictures (and matplotlib) also the root, both ranges and the curve as PNG.
    """
    _setup.check_out(out)
    if resume and out is None:
        raise ValueError("--resume needs --out, the directory of the run to continue")
    _setup.start_jax(x64=x64, devices=devices)
    import logging

    from jaxsolve import holdem as he
    from jaxsolve.files import uninterrupted

    logging.basicConfig(format="%(message)s", level=logging.INFO)
    logging.getLogger("jax").setLevel(logging.WARNING)
    where = he.Spot.load(spot)
    with waiting("building the tree"):
        tree = he.spot_tree(where, operator=operator, symmetric=symmetric, check=not dry_run)
    if dry_run:
        _holdem_results.show_memory(tree)
        return
    print(repr(tree), file=sys.stderr)

    def report(iteration: int, seconds: float, chips: float) -> None:
        if as_json:
            row = {"iteration": iteration, "seconds": seconds, "exploitability": chips}
            print(json.dumps(row), flush=True)

    with claim(out):
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
            bits=bits,
            threads=threads,
        )
        with uninterrupted():
            if out is not None:
                with waiting(f"writing {out}"):
                    _write(result, out, pictures=pictures)
            if not as_json:
                with waiting("computing values"):
                    rows = result.node().summary_rows()
                _holdem_results.show_rows(rows)
            print(repr(result), file=sys.stderr)
            if out is not None:
                print(f"written to {out}", file=sys.stderr)
    if result.status == "interrupted":
        raise typer.Exit(130)
    if result.status == "non-finite":
        print("jaxsolve: the exploitability is not finite; the run stopped", file=sys.stderr)
        raise typer.Exit(1)


def _write(result: SpotResult, out: Path, *, pictures: bool) -> None:
    """Writes the files of a run."""
    import jax

    from jaxsolve.files import write_atomic, write_figure

    result.save(out, device=jax.devices()[0].device_kind, jax=jax.__version__)
    root = result.node()
    write_atomic(out / "root.csv", _holdem_results.csv_text(root.rows()).encode())
    if not pictures:
        return
    try:
        from jaxsolve.holdem import range_grid

        write_figure(out / "root.png", root.plot(), dpi=110, bbox_inches="tight")
        for player, weights in zip(("oop", "ip"), result.spot.spot.ranges, strict=True):
            figure = range_grid(weights, title=f"Range of {player}")
            write_figure(out / f"range_{player}.png", figure, dpi=110, bbox_inches="tight")
        write_figure(out / "curve.png", result.plot())
    except ImportError as error:
        print(f"no pictures: {error}", file=sys.stderr)

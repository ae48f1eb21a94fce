"""`jaxsolve solve`: one game, one solver."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaxsolve.cli import _dry_run, _setup
from jaxsolve.cli._foreign import check_game
from jaxsolve.compiler import MAX_SECONDS
from jaxsolve.files import claim
from jaxsolve.waiting import waiting

if TYPE_CHECKING:
    from jaxsolve.solvers import Result


def solve(
    game: _setup.Game,
    solver: Annotated[str, typer.Option(help='such as cfr+ or "dcfr(alpha=1.5)"')] = "pcfr+",
    iterations: _setup.Iterations = 1000,
    out: _setup.Out = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="one JSON object per measurement on standard output")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the checkpoint")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only say how large it is and what memory it takes")
    ] = False,
    target: Annotated[float | None, typer.Option(help="stop at this exploitability")] = None,
    time_limit: Annotated[float | None, typer.Option(help="stop after so many seconds")] = None,
    measure_every: _setup.MeasureEvery = None,
    checkpoint_seconds: Annotated[
        float, typer.Option(help="longest work that a killed process can lose")
    ] = 2.0,
    simultaneous: _setup.Simultaneous = False,
    x64: _setup.X64 = False,
    max_states: _setup.MaxStates = None,
    max_seconds: _setup.MaxSeconds = MAX_SECONDS,
) -> None:
    """Solve a game: curve.csv, curve.png, policy.npz, config.json and a checkpoint in --out."""
    config = {
        k: str(v) if isinstance(v, Path) else v for k, v in locals().items() if k != "dry_run"
    }
    _setup.check_out(out)
    check_game(game)
    if resume and out is None:
        raise ValueError("--resume needs --out, the directory of the run to continue")
    _setup.start_jax(x64=x64)
    import jaxsolve as js
    from jaxsolve.files import uninterrupted
    from jaxsolve.solvers import load_solver

    variant = load_solver(solver, simultaneous=simultaneous)
    with waiting(f"listing the states of {game}"):
        tree = js.compile(game, max_states=max_states, max_seconds=max_seconds)
    print(tree, file=sys.stderr)
    if dry_run:
        _dry_run.show(tree, variant, as_json=as_json)
        return

    if resume and out is not None and not (out / "checkpoint.npz").exists():
        print(f"no checkpoint in {out}, so the run starts from the beginning", file=sys.stderr)

    def report(iteration: int, seconds: float, exploitability: float) -> None:
        if as_json:
            row = {"iteration": iteration, "seconds": seconds, "exploitability": exploitability}
            print(json.dumps(row), flush=True)

    with claim(out):
        result = js.solve(
            tree,
            variant,
            iterations=iterations,
            measure_every=measure_every,
            target=target,
            time_limit=time_limit,
            out=out,
            resume=resume,
            checkpoint_seconds=checkpoint_seconds,
            callback=report,
        )
        with uninterrupted():
            if out is not None:
                with waiting(f"writing {out}"):
                    _write(result, out, config)
            if not as_json:
                print(result.curve)
                print(f"values: {', '.join(f'{x:.7g}' for x in result.values)}")
            print(result, file=sys.stderr)
            if out is not None:
                print(f"written to {out}", file=sys.stderr)
    if result.status == "interrupted":
        kept = f"; add --resume to go on from {out}" if out is not None else ""
        print(f"stopped at iteration {result.iterations:,}{kept}", file=sys.stderr)
        raise typer.Exit(130)
    if result.status == "non-finite":
        print("jaxsolve: the exploitability is not finite; the run stopped", file=sys.stderr)
        raise typer.Exit(1)


def _write(result: Result, out: Path, config: dict[str, object]) -> None:
    """Writes the files of a run."""
    import jax

    import jaxsolve as js
    from jaxsolve.files import write_atomic, write_figure

    result.curve.save(out / "curve.csv")
    js.save_policy(result.policy, out / "policy.npz")
    facts = {
        "config": config,
        "device": str(jax.devices()[0].device_kind),
        "jax": jax.__version__,
        "jaxsolve": js.__version__,
        "status": result.status,
        "iterations": result.iterations,
        "exploitability": result.exploitability,
        "values": result.values.tolist(),
        "seconds": result.seconds,
        "compile_seconds": result.compile_seconds,
    }
    write_atomic(out / "config.json", (json.dumps(facts, indent=2) + "\n").encode())
    try:
        write_figure(out / "curve.png", result.plot())
    except ImportError as error:
        print(f"curve.png was not drawn: {error}", file=sys.stderr)

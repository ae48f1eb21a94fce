"""`jaxsolve games` and `jaxsolve solvers`: what there is."""

from __future__ import annotations

import inspect
import json
from typing import Annotated, Any

import typer

from jaxsolve.cli import _setup


def games(
    lp: Annotated[
        bool, typer.Option("--lp", help="solve each by linear programming, beside its known value")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object per row")] = False,
    max_states: Annotated[
        int, typer.Option(help="with --lp, leave out settings with more world states")
    ] = 60_000,
) -> None:
    """List games: parameters, states, infosets, known value."""
    import rich.table

    from jaxsolve.game import registered

    if lp:
        _setup.start_jax()
    titles = ["game", "states", "infosets", "known value"]
    titles += ["LP value", "difference"] if lp else ["parameters", "what"]
    table = rich.table.Table(*titles)
    for name, entry in registered().items():
        parameters = ", ".join(f"{k}={v}" for k, v in entry.parameters.items())
        for reference in entry.references:
            text = f"{name}({reference.params})" if reference.params else name
            known = "" if reference.value is None else f"{reference.value:.7g}"
            infosets = " + ".join(f"{k:,}" for k in reference.infosets)
            value, difference = _exact(text, reference.states, max_states) if lp else (None, "")
            row = {
                "game": text,
                "states": reference.states,
                "infosets": list(reference.infosets),
                "value": reference.value,
                "source": reference.source,
                "lp_value": value,
            }
            if as_json:
                print(json.dumps(row), flush=True)
                continue
            if not lp:
                extra = [parameters, entry.summary]
            elif value is None:
                extra = ["", difference]
            else:
                off = "" if reference.value is None else f"{abs(value - reference.value):.1e}"
                extra = [f"{value + 0.0 if abs(value) > 1e-12 else 0.0:.7g}", off]
            table.add_row(text, f"{reference.states:,}", infosets, known, *extra)
            parameters = ""
    if not as_json:
        show(table)


def _exact(text: str, states: int, max_states: int) -> tuple[float | None, str]:
    """Returns (value by linear programming, "") or (None, why not)."""
    import jaxsolve as js

    if states > max_states:
        return None, "over --max-states"
    tree = js.compile(text)
    if tree.num_players != 2 or tree.info is None or tree.info.utility_sum is None:
        return None, "not two-player zero-sum"
    return js.solve_lp(tree).value, ""


def solvers() -> None:
    """List solvers: hyper-parameters, what they are, source."""
    import rich.table

    from jaxsolve.solve import SAMPLERS, SOLVERS

    table = rich.table.Table("solver", "hyper-parameters", "what", "source")
    for name, variant in (SOLVERS | SAMPLERS).items():
        parameters = inspect.signature(variant.build).parameters.values()
        values = ", ".join(f"{p.name}={p.default}" for p in parameters)
        table.add_row(name, values, variant.summary, variant.source)
    show(table)


def show(table: Any) -> None:
    """Prints a table: as wide as the terminal, or uncut where the output is not one."""
    import rich.console

    console = rich.console.Console()
    if not console.is_terminal:
        console = rich.console.Console(width=240)
    console.print(table)

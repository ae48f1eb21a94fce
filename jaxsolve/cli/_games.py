"""`jaxsolve games` and `jaxsolve solvers`: what there is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup

if TYPE_CHECKING:
    from jaxsolve.game import Entry


def games(
    lp: Annotated[
        bool, typer.Option("--lp", help="solve each by linear programming, beside its known value")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object per row")] = False,
    max_states: Annotated[
        int, typer.Option(help="with --lp, leave out settings with more world states")
    ] = 60_000,
) -> None:
    """List games: parameters, public states, infosets, known value."""
    from tqdm import tqdm

    from jaxsolve.game import registered

    table = registered()
    rows = [row for name, entry in table.items() for row in _facts(name, entry)]
    if lp:
        _setup.start_jax()
        for row in (bar := tqdm(rows, desc="LP", unit="game")):
            bar.set_postfix_str(row["game"])
            row.update(_exact(row, max_states))
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    _list(rows, lp)
    if not lp:
        _describe(table)


def _facts(name: str, entry: Entry) -> list[dict[str, Any]]:
    """Returns what is known of a game, one row per parameter setting."""
    parameters = {key: str(value) for key, value in entry.parameters.items()}
    return [
        {
            "game": f"{name}({r.params})" if r.params else name,
            "states": r.states,
            "public_states": r.public_states,
            "infosets": list(r.infosets),
            "value": r.value,
            "source": r.source,
            "parameters": parameters,
            "summary": entry.summary,
            "defaults_listed": not entry.instead,
        }
        for r in entry.references
    ]


def _exact(row: dict[str, Any], max_states: int) -> dict[str, Any]:
    """Returns the exact value of a setting and its distance from the known one, or why not."""
    import jaxsolve as js

    none = {"lp_value": None, "lp_gap": None, "difference": None}
    if row["states"] > max_states:
        return {**none, "lp_skipped": "over --max-states"}
    tree = js.compile(row["game"])
    if tree.num_players != 2 or tree.info.utility_sum is None:
        return {**none, "lp_skipped": "not two-player zero-sum"}
    result = js.solve_lp(tree)
    off = None if row["value"] is None else abs(result.value - row["value"])
    return {"lp_value": result.value, "lp_gap": result.gap, "difference": off, "lp_skipped": ""}


def _list(rows: list[dict[str, Any]], lp: bool) -> None:
    """Prints the table of settings."""
    import rich.table

    more = ["LP value", "difference"] if lp else ["source"]
    titles = ["game", "states", "public states", "infosets", "known value", *more]
    table = rich.table.Table(*titles)
    table.columns[0].overflow = "fold"
    for row in rows:
        public = "" if row["public_states"] is None else f"{row['public_states']:,}"
        infosets = " + ".join(f"{k:,}" for k in row["infosets"])
        known = [f"{row['states']:,}", public, infosets, _number(row["value"])]
        extra = [row["source"]]
        if lp:
            value = _number(row["lp_value"]) or row["lp_skipped"]
            extra = [value, "" if row["difference"] is None else f"{row['difference']:.1e}"]
        table.add_row(row["game"], *known, *extra)
    show(table)


def _describe(entries: Mapping[str, Entry]) -> None:
    """Prints the table of parameters."""
    import rich.table

    table = rich.table.Table("game", "parameters and their defaults", "what")
    for name, entry in entries.items():
        parameters = ", ".join(f"{k}={v}" for k, v in entry.parameters.items())
        limit = "; these defaults cannot be listed as a whole" if entry.instead else ""
        table.add_row(name, parameters, entry.summary + limit)
    show(table)


def _number(value: float | None) -> str:
    """Returns seven digits of a value, "" of none; what rounding leaves of a zero is a zero."""
    if value is None:
        return ""
    return f"{0.0 if abs(value) < 1e-12 else value:.7g}"


def solvers() -> None:
    """List solvers: hyper-parameters, what they are, source."""
    import rich.table

    from jaxsolve.solvers.variants import SAMPLERS, SOLVERS

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

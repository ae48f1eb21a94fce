"""`jaxsolve solve --dry-run`: sizes, and the memory that the run would take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxsolve.solvers import Solver
    from jaxsolve.tree import PublicTree


def show(tree: PublicTree, solver: Solver, *, as_json: bool) -> None:
    """Prints the sizes of a game and the memory of a run, as a table or as one JSON object."""
    import rich
    import rich.table

    from jaxsolve.solvers import memory

    needed = memory(tree, solver)
    info = tree.info
    if as_json:
        content = {
            "game": info.name,
            "states": info.num_states,
            "public_states": info.num_public_states,
            "infosets": list(info.num_infosets),
            "sequences": [p.num_sequences * p.num_hands for p in tree.players],
            "bytes": {f"{where}: {part}": size for where, part, size in needed.rows()},
        }
        print(json.dumps(content))
        return
    states = "not enumerated" if info.num_states is None else f"{info.num_states:,}"
    sequences = " + ".join(f"{p.num_sequences * p.num_hands:,}" for p in tree.players)
    print(f"world states   {states}")
    print(f"public states  {info.num_public_states:,}")
    print(f"infosets       {' + '.join(f'{k:,}' for k in info.num_infosets)}")
    print(f"sequences      {sequences}")
    table = rich.table.Table("where", "what", title=f"{info.name}, {solver.name}")
    table.add_column("MiB", justify="right")
    for where, part, size in needed.rows():
        style = "bold" if where == "peak" else None
        table.add_row(where, part, f"{size / 2**20:,.3f}", style=style, end_section=where == "peak")
    rich.print(table)

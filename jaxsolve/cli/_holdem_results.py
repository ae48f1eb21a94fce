"""`jaxsolve holdem lines`, `show`, `export` and `batch`: what solved spots say."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._games import show as show_table
from jaxsolve.files import write_atomic, write_figure
from jaxsolve.view import document
from jaxsolve.waiting import waiting

if TYPE_CHECKING:
    from jaxsolve.holdem import SpotTree

Folder = Annotated[
    Path, typer.Argument(help="a folder of jaxsolve holdem solve --out", metavar="DIR")
]
Line = Annotated[str, typer.Argument(help='such as "x b100"; the root by default')]


def lines(folder: Folder) -> None:
    """List every line of play that leads to a decision."""
    import rich.table

    table = rich.table.Table("line", "street", "player", "actions", "boards")
    for one in _load(folder).lines():
        words = [one.line or '""', one.street, one.player, ", ".join(one.actions)]
        table.add_row(*words, str(one.num_boards))
    show_table(table)


def show(
    folder: Folder,
    line: Line = "",
    hand: Annotated[str | None, typer.Option(help='hands, such as AhKd or "QQ+,AKs"')] = None,
    board: Annotated[str | None, typer.Option(help="cards on the table, after new cards")] = None,
    png: Annotated[Path | None, typer.Option(help="draw it to this picture, 13 x 13 hands")] = None,
    html: Annotated[Path | None, typer.Option(help="the same as a page for the browser")] = None,
) -> None:
    """Show one decision: each action, and with --hand the strategy and values of hands."""
    for file in filter(None, (png, html)):
        if not file.parent.is_dir():
            raise ValueError(f"{file}: there is no directory {file.parent}")
    if (folder / "blueprint.json").is_file():
        from jaxsolve.cli._holdem_blueprint import show_blueprint
        from jaxsolve.holdem import Blueprint

        show_blueprint(Blueprint.load(folder), line, hand, board, png, html)
        return
    result = _load(folder)
    with waiting("computing values"):
        node = result.node(line, board)
        rows = node.summary_rows() if hand is None else node.rows(hand)
    if png is not None:
        write_figure(png, node.plot(), dpi=110, bbox_inches="tight")
    if html is not None:
        write_atomic(html, document(node.title, node._repr_html_()).encode())
    print(node.title)
    show_rows(rows)


def export(
    folder: Folder,
    csv_file: Annotated[Path, typer.Option("--csv", help="the file to write")],
    line: Annotated[str | None, typer.Option(help="only this line; all by default")] = None,
) -> None:
    """Write every decision on every board as CSV: a row for each action of each hand."""
    from jaxsolve.holdem import export_csv

    count = export_csv(_load(folder), csv_file, line=line)
    print(f"{count:,} rows written to {csv_file}", file=sys.stderr)


def batch(
    spot: Annotated[Path, typer.Argument(help="a SPOT.toml, whose own board does not count")],
    boards: Annotated[
        str,
        typer.Option(
            help='such as "Td9d6h,AhKh2c", a file of them, "flops" (all 1,755) or "flops:95"'
        ),
    ],
    out: Annotated[Path, typer.Option(help="folder: one for each board, and report.csv")],
    target: Annotated[str, typer.Option(help='"0.5%" of the pot, or chips')] = "0.5%",
    solver: Annotated[str, typer.Option(help="such as dcfr or pcfr+")] = "dcfr",
    iterations: Annotated[int, typer.Option(help="at most, of each board", min=1)] = 10_000,
    devices: _setup.Devices = None,
    keep: Annotated[bool, typer.Option(help="the solutions, too")] = True,
    picture: Annotated[bool, typer.Option("--picture", help="draw report.png")] = False,
) -> None:
    """Solve a spot on many boards. Boards that are in --out already are not solved again."""
    _setup.check_out(out)
    _setup.start_jax(devices=devices)
    from jaxsolve import holdem as he

    chosen = _boards(boards)
    try:
        rows = he.solve_boards(
            spot,
            chosen,
            out,
            target=target,
            solver=solver,
            iterations=iterations,
            keep=keep,
        )
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on from {out}", file=sys.stderr)
        raise typer.Exit(130) from None
    shown = [*rows, he.mean_row(rows)] if len(rows) <= 40 else [he.mean_row(rows)]
    show_rows(
        [
            {
                **{k: v for k, v in row._asdict().items() if k != "weight"},
                **{f"frequency {a}": s for a, s in row.frequency.items()},
            }
            for row in shown
        ]
    )
    if picture:
        write_figure(out / "report.png", he.boards_figure(rows, title=spot.stem), dpi=110)
    print(f"written to {out}", file=sys.stderr)


def _boards(words: str) -> list[str] | dict[str, float]:
    """Returns the boards that an option names."""
    from jaxsolve.holdem import flop_sample

    kind, _, count = words.partition(":")
    if kind == "flops":
        if count and not count.isdecimal():
            raise ValueError(f'--boards is {words!r}; write "flops" or such as "flops:95"')
        return flop_sample(int(count) if count else None)
    path = Path(words)
    text = path.read_text(encoding="utf-8") if path.is_file() else words
    return [name.strip() for name in text.replace(",", "\n").split("\n") if name.strip()]


def convert(
    source: Annotated[Path, typer.Argument(help="a SPOT.toml, or a tree configuration (.txt)")],
    to: Annotated[Path, typer.Argument(help="the other: .txt or .toml")],
    ignore: Annotated[
        str, typer.Option(help="keys of a configuration to leave out, with commas between")
    ] = "",
) -> None:
    """Turn a tree configuration of PioSOLVER into a spot, or a spot into one."""
    from jaxsolve.files import write_atomic
    from jaxsolve.holdem import Spot, format_pio_tree, parse_pio_tree

    if {source.suffix, to.suffix} != {".toml", ".txt"}:
        raise ValueError(f"{source} to {to}: one ends in .toml, the other in .txt")
    if source.suffix == ".toml":
        write_atomic(to, format_pio_tree(Spot.load(source)).encode())
        return
    keys = [key.strip() for key in ignore.split(",") if key.strip()]
    try:
        parse_pio_tree(source.read_text(encoding="utf-8-sig"), ignore=keys).save(to)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def show_rows(rows: list[dict[str, Any]]) -> None:
    """Prints rows as a table; numbers to four places."""
    import rich.table

    table = rich.table.Table()
    keys = [key for key in _columns(rows) if key != "frequency"]
    for key in keys:
        words = any(isinstance(row.get(key), str) for row in rows)
        table.add_column(key, justify="left" if words else "right")
    for row in rows:
        cells = (row.get(key, "") for key in keys)
        table.add_row(*(v if isinstance(v, str) else f"{v:.4f}" for v in cells))
    show_table(table)


def show_memory(tree: SpotTree) -> None:
    """Prints the sizes of a spot, and the memory that solving it takes."""
    import rich.table

    from jaxsolve import holdem as he
    from jaxsolve.tree import free_bytes

    print(repr(tree))
    free = free_bytes()
    table = rich.table.Table("bits of a number")
    for name in ("numbers", "state", "tables", "scratch", "total", "fits"):
        table.add_column(name, justify="right")
    for bits in (32, 16):
        need = he.spot_bytes(tree, bits)
        sizes = (need.state, need.tables, need.scratch, need.total)
        fits = "" if free is None else "yes" if need.total <= free else "no"
        mib = (f"{size / 2**20:,.1f} MiB" for size in sizes)
        table.add_row(str(bits), f"{2 * need.entries:,}", *mib, fits)
    show_table(table)
    if free is not None:
        print(f"{free / 2**20:,.1f} MiB are free; Python and JAX take about 215 MiB besides")


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Returns rows as CSV; the columns are all keys, in the order of their first appearance."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _load(folder: Path) -> Any:
    _setup.start_jax()
    from jaxsolve.holdem import load_result

    with waiting(f"reading {folder}"):
        return load_result(folder)

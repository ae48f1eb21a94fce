"""`jaxsolve holdem abstraction` and `buckets`: card abstractions, built and looked at."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._games import show as show_table

FLOP = "Td9d6h"
"""The board of the picture that a new abstraction gets."""


def abstraction(
    out: Annotated[Path, typer.Option(help="directory for the tables, 0.4 GB")],
    buckets: Annotated[
        str, typer.Option(help="of each street, or of flop, turn and river: 200,200,200")
    ] = "200",
    seed: Annotated[int, _setup.seed("of the samples and of k-means")] = 0,
) -> None:
    """Build a card abstraction: the bucket of every hand on every flop, turn and river.

    Leaves flop.npy, turn.npy, river.npy, abstraction.json and, with matplotlib, a picture of the
    buckets of one flop in --out. The same command finds them there afterwards.
    """
    _setup.check_out(out)
    from jaxsolve.holdem import abstraction_needs, build_abstraction

    counts = _counts(buckets)
    print(f"needs {abstraction_needs(counts)}", file=sys.stderr)
    start = time.perf_counter()
    try:
        made = build_abstraction(counts, out=out, seed=seed)
    except KeyboardInterrupt:
        print(f"stopped; nothing new is in {out}", file=sys.stderr)
        raise typer.Exit(130) from None
    seconds = time.perf_counter() - start
    print(f"{made}\n{seconds:.1f} s{_peak()}, written to {out}", file=sys.stderr)
    _draw(out, FLOP, out / f"{FLOP}.png")


def buckets(
    folder: Annotated[
        Path,
        typer.Argument(help="a directory of jaxsolve holdem abstraction --out", metavar="DIR"),
    ],
    board: Annotated[str, typer.Argument(help="three to five cards, such as Td9d6h")],
    hand: Annotated[str | None, typer.Option(help='hands, such as AhKd or "QQ+,AKs"')] = None,
    out: Annotated[Path | None, typer.Option(help="PNG of all buckets, 13 x 13 hands")] = None,
) -> None:
    """Show the buckets of hands on a board, and draw all of them with --out."""
    import numpy as np
    import rich.table

    from jaxsolve.holdem import Abstraction, hand_name, parse_cards, parse_range

    cards = parse_cards(board)
    made = Abstraction.load(folder, verify=False)
    bucket, strength = made.bucket(cards), made.strength(cards)
    live = bucket < len(strength)
    if hand is not None:
        table = rich.table.Table("hand", "bucket", "mean equity of the bucket")
        for h in np.flatnonzero((parse_range(hand) > 0) & live):
            table.add_row(hand_name(int(h)), str(bucket[h]), f"{strength[bucket[h]]:.4f}")
    else:
        table = rich.table.Table("bucket", "hands", "mean equity")
        for one, count in zip(*np.unique(bucket[live], return_counts=True), strict=True):
            table.add_row(str(one), str(count), f"{strength[one]:.4f}")
    show_table(table)
    if out is not None:
        _draw(folder, board, out)


def _draw(folder: Path, board: str, path: Path) -> None:
    from jaxsolve.files import write_figure
    from jaxsolve.holdem import Abstraction, bucket_grid, parse_cards

    try:
        figure = bucket_grid(Abstraction.load(folder, verify=False), parse_cards(board))
    except ImportError as error:
        print(f"no picture: {error}", file=sys.stderr)
        return
    write_figure(path, figure, dpi=110, bbox_inches="tight")
    print(f"picture of {board} in {path}", file=sys.stderr)


def _counts(text: str) -> list[int]:
    """Returns the numbers of buckets that a text names.

    Raises:
        ValueError: not one number or three.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--buckets {text}: write one number, or three with commas between: 200,200,200"
        ) from None


def _peak() -> str:
    """Returns the most memory that this process has had, in words; "" where it cannot be told."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f", {peak * (1 if sys.platform == 'darwin' else 1024) / 1e6:,.0f} MB at most"

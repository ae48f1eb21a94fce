"""`jaxsolve holdem blueprint` and `positions`: strategies of the whole game, trained and shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._games import show as show_table

if TYPE_CHECKING:
    from jaxsolve.holdem import Blueprint

Folder = Annotated[Path, typer.Argument(help="a directory of jaxsolve holdem blueprint --out")]


def blueprint(
    menu: Annotated[Path, typer.Argument(help="a MENU.toml of bet sizes, see docs/blueprints.md")],
    out: Annotated[Path, typer.Option(help="directory for the tables, charts and result.json")],
    abstraction: Annotated[
        Path | None,
        typer.Option(help="a directory of jaxsolve holdem abstraction; by default one is built"),
    ] = None,
    buckets: Annotated[
        str, typer.Option(help="of the abstraction that is built: 200, or 200,200,200")
    ] = "200",
    players: Annotated[int | None, typer.Option(help="instead of the menu's", min=2, max=9)] = None,
    stack: Annotated[
        str | None, typer.Option(help='instead of the menu\'s, such as "100bb"')
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="of training, in all", min=0)] = None,
    passes: Annotated[int | None, typer.Option(help="traversals, in all", min=1)] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="external: a deal a pass; vector: all hands of a board, the default heads-up"
        ),
    ] = None,
    threads: _setup.Threads = None,
    devices: _setup.Devices = None,
    bits: Annotated[int, typer.Option(help="of a table's entry, 32 or 16")] = 32,
    seed: Annotated[int, _setup.seed("of deals and choices")] = 0,
    boards: Annotated[int, typer.Option(help="of a measurement, 0 for none", min=0)] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="one JSON object per measurement on standard output")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="go on in --out")] = False,
) -> None:
    """Train a strategy of the whole game by sampled CFR.

    Leaves tables.npz, blueprint.json, result.json and charts of the preflop lines that are played
    most, preflop.html, in --out; with matplotlib also curve.png and the first decision,
    preflop.png. Ctrl-C keeps what there is; --resume goes on.
    """
    _setup.check_out(out)
    if minutes is None and passes is None:
        raise ValueError("say when to stop: --minutes 20, or --passes 10000000")
    _setup.start_jax(devices=devices)
    import logging
    import os

    from jaxsolve import holdem as he

    logging.basicConfig(format="%(message)s", level=logging.INFO)
    logging.getLogger("jax").setLevel(logging.WARNING)
    read = he.BetMenu.load(menu, players=players, stack=stack)
    if abstraction is None:
        counts = _counts(buckets)
        he.check_blueprint(read, counts, out=out, bits=bits)
        found = he.kept_abstraction(counts, instead=out)
    else:
        found = he.Abstraction.load(abstraction)

    def report(row: dict[str, Any]) -> None:
        if as_json:
            print(json.dumps(row), flush=True)

    made = he.train_blueprint(
        read,
        found,
        out=out,
        minutes=minutes,
        passes=passes,
        sampler=sampler,
        seed=seed,
        threads=threads or os.cpu_count() or 1,
        bits=bits,
        resume=resume,
        boards=boards,
        measure_seconds=60 if minutes is None else min(60.0, 15 * minutes),
        report=report,
    )
    he.write_blueprint_report(made, out)
    print(f"{made}\nwritten to {out}", file=sys.stderr)


def positions(
    folder: Folder,
    hands: Annotated[int, typer.Option(help="that are played", min=2)] = 500_000,
    seed: Annotated[int, _setup.seed("of deals and actions")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object per position")] = False,
) -> None:
    """Show what each position of a blueprint wins from itself, and how often it opens."""
    import rich.table

    from jaxsolve import holdem as he

    found = he.position_reports(he.Blueprint.load(folder), hands=hands, seed=seed, progress=True)
    if as_json:
        for one in found:
            print(json.dumps(one._asdict()))
        return
    table = rich.table.Table("position", "mbb/h", "95 %", "first in: fold", "call", "raise")
    for p in found:
        shares = ("" if x is None else f"{100 * x:.1f}%" for x in (p.fold, p.call, p.bet))
        table.add_row(p.position, f"{p.mbb:+.0f}", f"+- {p.high - p.mbb:.0f}", *shares)
    show_table(table)


def show_blueprint(
    made: Blueprint,
    line: str,
    hand: str | None,
    board: str | None,
    png: Path | None = None,
    page: Path | None = None,
) -> None:
    """Prints the strategy after a line, by action or of some hands, and draws it to files."""
    import numpy as np
    import rich.table

    from jaxsolve import holdem as he
    from jaxsolve.files import write_atomic, write_figure

    cards = he.parse_cards(board) if board else ()
    policy, reach = made.policy(line, cards), made.reach(line, cards)
    actions = made.actions(line)
    if png is not None:
        write_figure(png, he.blueprint_chart(made, line, cards), dpi=110, bbox_inches="tight")
    if page is not None:
        write_atomic(page, he.node_page(made, line, cards).encode())
    if hand is None:
        often = (policy * reach[:, None]).sum(0) / max(reach.sum(), 1e-300)
        table = rich.table.Table("action", "frequency")
        for word, share in zip(actions, often, strict=True):
            table.add_row(word, f"{100 * share:.1f}%")
        print(f"{line or 'first decision'}: {reach.sum():.0f} of 1,326 hands reach it")
    else:
        table = rich.table.Table("hand", "reach", *actions)
        for h in np.flatnonzero((he.parse_range(hand) > 0) & (policy.sum(1) > 0)):
            cells = [f"{100 * p:.1f}%" for p in policy[h]]
            table.add_row(he.hand_name(int(h)), f"{reach[h]:.3f}", *cells)
    show_table(table)


def _counts(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) not in (1, 3):
        raise ValueError(f"--buckets {text}: write one number, or three: 200,200,200")
    return found * (3 if len(found) == 1 else 1)

"""What a trained blueprint leaves behind to look at: result.json, a curve and charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from jaxsolve.files import write_atomic, write_figure
from jaxsolve.holdem._blueprint import Blueprint
from jaxsolve.holdem._blueprint_page import preflop_page
from jaxsolve.holdem._cards import cards_name
from jaxsolve.holdem._positions import position_reports
from jaxsolve.holdem._range_figure import range_strategy
from jaxsolve.plot import new_figure


def write_blueprint_report(made: Blueprint, out: Path) -> None:
    """Writes result.json, preflop.html, and with matplotlib curve.png and preflop.png."""
    tree = made.game.tree
    positions = position_reports(made)
    row = {
        "sampler": made.sampler,
        "players": tree.num_players,
        "buckets": made.game.num_buckets[-1],
        "sequences": tree.num_sequences,
        "bits": made.tables.bits,
        "minutes": made.seconds / 60,
        "passes": made.tables.passes,
        "passes_per_second": made.tables.passes / max(made.seconds, 1e-9),
        "nodes_per_second": made.nodes / max(made.seconds, 1e-9),
    }
    result = {
        "name": "blueprint",
        "device": jax.local_devices()[0].device_kind,
        "jax": jax.__version__,
        "rows": [row, *made.rows],
        "positions": [p._asdict() for p in positions],
    }
    write_atomic(out / "result.json", json.dumps(result, indent=1).encode())
    write_atomic(out / "preflop.html", preflop_page(made, positions=positions).encode())
    try:
        figures = {"preflop.png": blueprint_chart(made)}
        if any("mbb" in r for r in made.rows):
            figures["curve.png"] = progress_figure(made.rows)
    except ImportError:
        return
    for name, figure in figures.items():
        write_figure(out / name, figure, dpi=110, bbox_inches="tight")


def add_to_report(out: Path, more: Mapping[str, Any]) -> bool:
    """Adds numbers to the first row of a directory's result.json; returns whether there is one."""
    path = out / "result.json"
    if not path.is_file():
        return False
    result = json.loads(path.read_text())
    result["rows"][0] |= more
    write_atomic(path, json.dumps(result, indent=1).encode())
    return True


def blueprint_chart(
    made: Blueprint, line: str = "", board: Sequence[int] = (), *, title: str | None = None
) -> Any:
    """Returns a matplotlib figure of the strategy after a line, 13 x 13 hands.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
        ValueError: there is no such line, or the board is not of its street.
    """
    policy = made.policy(line, board)
    strategy = {word: policy[:, a] for a, word in enumerate(made.actions(line))}
    words = title or f"{line or 'first decision'} {cards_name(board)}".strip()
    return range_strategy(strategy, made.reach(line, board), board=board, title=words)


def progress_figure(rows: Sequence[dict[str, Any]]) -> Any:
    """Returns a matplotlib figure: what each measurement won from the one before.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
    """
    found = [r for r in rows if "mbb" in r]
    figure = new_figure()
    axes = figure.subplots()
    x, y = [r["seconds"] / 60 for r in found], [r["mbb"] for r in found]
    spread = [r["high"] - r["mbb"] for r in found]
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.errorbar(x, y, yerr=spread, marker="o", markersize=4, capsize=3, linewidth=1.2)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("won from the snapshot before, mbb/h")
    axes.set_title("Progress of the blueprint, with 95 % intervals")
    return figure

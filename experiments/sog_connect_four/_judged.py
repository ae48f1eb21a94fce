"""Moves against exact values, and searches against those of others on the same positions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments._report import wilson
from experiments.sog_connect_four._positions import known_values
from experiments.sog_connect_four._searches import PEERS, SEARCHES, best_moves
from jaxsolve import nets

COLUMNS_SHOWN = (
    "positions",
    "search",
    "sims",
    "optimal_share",
    "low",
    "high",
    "value_loss",
    "count",
    "ahead_muzero",
    "error_muzero",
    "ahead_gumbel",
    "error_gumbel",
    "seconds",
)
"""What tables show of a row."""

UNIFORM = "uniform"
"""Any legal move, for comparison."""


def judge_searches(
    rows: list[dict[str, Any]],
    net: nets.Net,
    kinds: Mapping[str, Callable[[], np.ndarray]],
    simulations: Sequence[int],
    batch: int,
    out: Path,
    *,
    earlier: Sequence[dict[str, Any]],
    after: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Adds the rows of all searches.

    Args:
        rows: none yet.
        net: what searches ask, both ways.
        kinds: makes the positions of each kind, int32 [P, 42].
        simulations: s of the points.
        batch: searches side by side.
        out: folder that exact values are kept in.
        earlier: rows of a run that was stopped.
        after: called when a search has new rows.
        say: receives progress, a line at a time.
    """
    known = {(row["positions"], row["search"], row["sims"]): row for row in earlier}
    for kind, made in kinds.items():
        positions = made()
        values = known_values(positions, out / f"{kind}.npz")
        for search, s in [(UNIFORM, 0), *((x, s) for s in simulations for x in SEARCHES)]:
            names = SEARCHES.get(search, (search,))
            if all((kind, name, s) in known for name in names):
                rows.extend(known[kind, name, s] for name in names)
                continue
            if search != UNIFORM:
                best_moves(search, net, s, positions[:1], batch)  # compiles
            start = time.perf_counter()
            if search == UNIFORM:
                rng = np.random.default_rng(2)
                moves = np.array([[rng.choice(np.flatnonzero(v < 9)) for v in values]])
            else:
                moves = best_moves(search, net, s, positions, batch)
            seconds = round(time.perf_counter() - start, 2)
            for name, played in zip(names, moves, strict=True):
                row = {"positions": kind, "search": name, "sims": s, "seconds": seconds}
                rows.append(judged(values, played) | row)
                say(f"{kind}, {name}, s = {s}: {rows[-1]['optimal_share']:.3f} optimal")
            compare(rows)
            after()


def judged(values: np.ndarray, moves: np.ndarray) -> dict[str, Any]:
    """Returns the entries of a row.

    Args:
        values: int8 [P, 7], exact values of moves to the mover, 9 where not legal.
        moves: int [P].

    Raises:
        ValueError: a move is not legal.
    """
    got = values[np.arange(len(moves)), moves].astype(int)
    if (got == 9).any():
        raise ValueError(f"{(got == 9).sum()} moves are not legal")
    best = np.where(values == 9, -9, values).max(1).astype(int)
    hits = got == best
    low, high = wilson(int(hits.sum()), len(moves))
    return {
        "optimal_share": float(hits.mean()),
        "low": low,
        "high": high,
        "value_loss": float((best - got).mean()),
        "count": len(moves),
        "hits": np.packbits(hits).tobytes().hex(),
    }


def compare(rows: list[dict[str, Any]]) -> None:
    """Adds how many points of optimal moves each search is ahead of each peer, 95 % intervals too.

    Positions are the same, so that the difference has a narrower interval than either share.

    Args:
        rows: of all searches.
    """
    kinds = {(row["positions"], row["search"], row["sims"]): row for row in rows}
    for (positions, search, sims), row in kinds.items():
        for peer in PEERS:
            other = kinds.get((positions, peer, sims))
            if other is None or search in PEERS:
                continue
            better = _hits(row) - _hits(other)
            short = peer.split()[-1]
            row[f"ahead_{short}"] = round(100 * float(better.mean()), 2)
            row[f"error_{short}"] = round(196 * float(better.std()) / len(better) ** 0.5, 2)


def _hits(row: dict[str, Any]) -> np.ndarray:
    """Returns float [P], 1 where the move was optimal."""
    packed = np.frombuffer(bytes.fromhex(row["hits"]), np.uint8)
    return np.unpackbits(packed)[: row["count"]].astype(float)

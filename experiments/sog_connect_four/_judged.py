"""Moves against exact values, and searches against those of others on the same positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments._report import wilson
from experiments.sog_connect_four._searches import PEERS


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

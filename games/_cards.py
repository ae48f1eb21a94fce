"""Names of playing cards."""

from __future__ import annotations

RANKS = "A23456789TJQK"
"""Ranks, lowest first. A game with k ranks uses the last k, so three are J, Q and K."""

SUITS = "shdc"


def rank_name(rank: int, ranks: int) -> str:
    """Returns the letter of a rank, 0 the lowest, in a deck of `ranks` ranks."""
    return RANKS[len(RANKS) - ranks + rank]

"""Positions at the table: how often each opens, and what it wins when all play one blueprint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from jaxsolve.holdem._bet_menu import BIG_BLIND
from jaxsolve.holdem._blueprint import Blueprint
from jaxsolve.mccfr import ActionTree, Deals, play_hands

_CHUNK = 1 << 14
"""Deals that are played at a time."""

_MIDDLE = ("UTG", "UTG+1", "UTG+2", "LJ", "HJ", "CO")
"""Before the button at a table of nine; at smaller ones those after UTG are left out first."""


def position_names(players: int) -> tuple[str, ...]:
    """Returns the name of each seat, in the order in which they act after the flop.

    Six players: SB, BB, UTG, HJ, CO, BTN. Heads-up the button posts the small blind: BB, BTN.

    Raises:
        ValueError: fewer than two players or more than nine.
    """
    if not 2 <= players <= 9:
        raise ValueError(f"positions have names at tables of 2 to 9, not {players}")
    if players == 2:
        return "BB", "BTN"
    many = players - 3  # between the big blind and the button
    middle = (_MIDDLE[0], *_MIDDLE[len(_MIDDLE) - many + 1 :]) if many else ()
    return "SB", "BB", *middle, "BTN"


def opening_lines(tree: ActionTree) -> dict[int, str]:
    """Returns the line to the first decision of each seat when all before it fold: {seat: line}.

    In the order in which they act. The last seat has none, as the hand is over then.
    """
    found: dict[int, str] = {}
    node = 0
    while tree.count[node] and tree.stage[node] == 0 and int(tree.actor[node]) not in found:
        found[int(tree.actor[node])] = tree.line(node)
        first = int(tree.child[node])
        if tree.label[first] != "f":
            break
        node = first
    return found


class PositionReport(NamedTuple):
    """One position of a blueprint that plays against itself.

    Attributes:
        position: its name, see `position_names`.
        seat: its number.
        mbb: milli-big-blinds a hand that it wins.
        low, high: 95 % interval of `mbb`.
        fold, call, bet: how often it folds, calls and raises (all sizes) when everybody before it
            has folded, exact over all hands, the cards of the others left out of it; None for the
            big blind, who then has won.
    """

    position: str
    seat: int
    mbb: float
    low: float
    high: float
    fold: float | None
    call: float | None
    bet: float | None


def position_reports(
    made: Blueprint, *, hands: int = 100_000, seed: int = 0, progress: bool = False
) -> tuple[PositionReport, ...]:
    """Returns a report per position, in the order in which they act before the flop.

    Every deal is played once by each rotation of its cards around the table, so that much of the
    luck of the cards cancels; the interval is that of the means over rotations. What positions win
    sums to zero.

    Args:
        made: the blueprint; all seats play its average strategy.
        hands: how many are played.
        seed: of deals and actions.
        progress: show a bar.

    Raises:
        ValueError: fewer than two deals.
    """
    game, n = made.game, made.game.menu.players
    deals = -(-hands // n)
    if deals < 2:
        raise ValueError(f"hands is {n + 1} or more, not {hands}: two deals of {n} rotations")
    rng, means = np.random.default_rng(seed), []
    with tqdm(total=deals * n, disable=not progress, unit="hand") as bar:
        for first in range(0, deals, _CHUNK):
            dealt = game.deal(seed, first, min(_CHUNK, deals - first))
            total = np.zeros((len(dealt.bucket), n))
            for turn in range(n):
                turned = Deals(np.roll(dealt.bucket, turn, 1), np.roll(dealt.outcome, turn, 1))
                total += play_hands(game, made.tables.average, turned, rng)
                bar.update(len(total))
            means.append(total / n)
    won = 1000 / BIG_BLIND * np.concatenate(means)
    mean, margin = won.mean(0), 1.96 * won.std(0, ddof=1) / np.sqrt(len(won))
    names, opened = position_names(n), opening_frequencies(made)
    order = [*opened, *(seat for seat in range(n) if seat not in opened)]
    return tuple(
        PositionReport(
            names[k],
            k,
            *(float(x) for x in (mean[k], mean[k] - margin[k], mean[k] + margin[k])),
            *opened.get(k, (None, None, None)),
        )
        for k in order
    )


def opening_frequencies(made: Blueprint) -> dict[int, tuple[float, float, float]]:
    """Returns how often each seat (folds, calls, raises) when all before it have folded.

    {seat: frequencies}, in the order in which they act; see `PositionReport`.
    """
    found = {}
    for seat, line in opening_lines(made.game.tree).items():
        often = dict(zip(made.actions(line), made.policy(line).mean(0), strict=True))
        fold, call = (float(often.pop(word, 0.0)) for word in ("f", "c"))
        found[seat] = fold, call, float(sum(often.values()))
    return found

"""Matches hand by hand between strategies, any number of players, with AIVAT.

Every deal is played once in every rotation of the strategies around the table. What a strategy
wins from a deal is the mean of these hands with the corrections of `mccfr.aivat_corrections`;
all-ins pay their mean over drawn runouts. Strategies of other menus see each other's bets by the
pseudo-harmonic mapping, see `play_translated`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from jaxsolve.holdem._bet_menu import BIG_BLIND
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._hand_values import DealtHands, HandValues, hand_values
from jaxsolve.holdem._menu_view import MenuView
from jaxsolve.holdem._translated_hands import play_translated
from jaxsolve.mccfr import (
    Deals,
    SeatTable,
    aivat_corrections,
    payoffs_at,
    play_to_ends,
)

STEP = 1 << 12
"""Deals that are played at a time."""

_ACTIONS = 0xAC7
"""Keeps the numbers of actions apart from those of values."""


@dataclasses.dataclass(frozen=True)
class HandMatch:
    """What strategies win hand by hand (D deals, n strategies).

    Attributes:
        chips: float64 [D, n], estimates with AIVAT, the mean over rotations of a deal.
        plain: float64 [D, n], what was won at the table.
    """

    chips: np.ndarray
    plain: np.ndarray

    @property
    def hands(self) -> int:
        """Hands that were played."""
        return self.chips.size

    @property
    def mbb(self) -> float:
        """Milli-big-blinds a hand that the first strategy wins."""
        return float(1000 / BIG_BLIND * self.chips[:, 0].mean())

    @property
    def standard_error(self) -> float:
        """Of `mbb`; deals are independent."""
        return _error(self.chips[:, 0])

    @property
    def plain_error(self) -> float:
        """What the standard error would be without AIVAT."""
        return _error(self.plain[:, 0])

    @property
    def low(self) -> float:
        """Where the 95 % interval of `mbb` begins."""
        return self.mbb - 1.96 * self.standard_error

    @property
    def high(self) -> float:
        """Where it ends."""
        return self.mbb + 1.96 * self.standard_error

    @property
    def p_value(self) -> float:
        """One-tailed: the chance of so much or more for a first strategy that wins nothing."""
        return math.erfc(self.mbb / max(self.standard_error, 1e-300) / math.sqrt(2)) / 2

    def __repr__(self) -> str:
        return (
            f"{self.mbb:+.1f} +- {1.96 * self.standard_error:.1f} mbb/h in {self.hands:,} hands "
            f"(p = {self.p_value:.2g}; +- {1.96 * self.plain_error:.1f} without AIVAT)"
        )


def hand_match(
    strategies: Sequence[tuple[HoldemGame, np.ndarray]],
    *,
    hands: int = 100_000,
    skip: int = 0,
    seed: int = 0,
    values: HandValues | None = None,
    progress: bool = False,
) -> HandMatch:
    """Returns what strategies win from each other, one in each seat, in all rotations.

    Args:
        strategies: for each player, a game and sums of its policy, as `range_match` takes it. All
            of one stack; menus and buckets may differ.
        hands: how many are played, rounded up to whole rotations.
        skip: leave out so many of the first deals, whole steps of `STEP`, of a match that is played
            in parts.
        seed: of deals and actions.
        values: of AIVAT, which change the spread and not the mean; by default
            `hand_values(strategies[0], seed=seed)`.
        progress: show a bar.

    Raises:
        ValueError: another number of strategies than of players, other stacks, a table of another
            size, fewer than two deals, or a skip that is not whole steps.
    """
    games = [game for game, _ in strategies]
    n, menus = games[0].menu.players, [game.menu for game in games]
    _check(strategies, hands, skip)
    if values is None:
        values = hand_values(strategies[0], seed=seed)
    elif values.game.menu not in menus:
        raise ValueError(f"the values are of {values.game!r}, a menu that nobody in the match has")
    translated = any(menu != values.game.menu for menu in menus)
    distinct = {id(g): g for g in (*games, values.game)} if translated else {}
    views = {k: MenuView(g) for k, g in distinct.items()}
    seats = [SeatTable(g.tree.rows(g.num_buckets), sums) for g, sums in strategies]
    deals, parts = -(-hands // n), []
    own = {id(g): g for g in games}
    with tqdm(total=(deals - skip) * n, disable=not progress, unit="hand") as bar:
        for first in range(skip, deals, STEP):
            count = min(STEP, deals - first)
            rng = np.random.default_rng([seed, _ACTIONS, first])
            shown, cards = values.game.deal_cards(seed, first, count)
            found = {k: g.deal(seed, first, count).bucket for k, g in own.items()}
            dealt = DealtHands(values, shown, cards, rng)
            total = np.zeros((2, count, n))
            for turn in range(n):
                order = [(s + turn) % n for s in range(n)]  # the strategy in each seat
                bucket = np.stack([found[id(games[k])][:, s] for s, k in enumerate(order)], 1)
                tables = [seats[k] for k in order]
                if translated:
                    seen = [views[id(games[k])] for k in order]
                    won = play_translated(seen, tables, bucket, dealt, views[id(values.game)], rng)
                else:
                    won = _play(dealt, shown, tables, bucket, rng)
                total[:, :, order] += won
                bar.update(count)
            parts.append(total / n)
    chips, plain = np.concatenate(parts, 1)
    return HandMatch(chips, plain)


def _play(
    dealt: DealtHands,
    deals: Deals,
    seats: Sequence[SeatTable],
    bucket: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Returns float64 [2, D, n], what the seats win by AIVAT and at the table."""
    game = dealt.values.game
    end = play_to_ends(game.tree, seats, bucket, rng)
    number = game.tree.end_number[end]
    plain = payoffs_at(game.payoffs, number, deals.outcome)
    more = aivat_corrections(game.tree, seats, bucket, end, dealt)
    return np.stack([dealt.settle(game.payoffs, number, game.tree.stage[end]) + more, plain])


def _check(strategies: Sequence[tuple[HoldemGame, np.ndarray]], hands: int, skip: int) -> None:
    menu = strategies[0][0].menu
    if len(strategies) != menu.players:
        raise ValueError(
            f"{len(strategies)} strategies for a table of {menu.players}; give one for each seat"
        )
    for game, sums in strategies:
        if (game.menu.players, game.menu.stack) != (menu.players, menu.stack):
            raise ValueError(
                f"strategies of other tables or stacks cannot meet: {game!r} and "
                f"{strategies[0][0]!r}"
            )
        if len(sums) != int(game.tree.rows(game.num_buckets)[-1]):
            raise ValueError(f"a table of {len(sums):,} entries is not of {game!r}")
    if hands <= menu.players:
        raise ValueError(f"hands is {menu.players + 1} or more, not {hands}: two deals")
    if skip % STEP or not 0 <= skip < -(-hands // menu.players):
        raise ValueError(f"skip is whole steps of {STEP} deals, fewer than all, not {skip}")


def _error(chips: np.ndarray) -> float:
    """Returns the standard error of a mean over deals, mbb/h."""
    return float(1000 / BIG_BLIND * chips.std(ddof=1) / np.sqrt(len(chips)))

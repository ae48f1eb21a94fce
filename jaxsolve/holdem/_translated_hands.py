"""Hands between strategies of different menus: real chips, and each seat sees them by its own menu.

A seat whose menu the hand has left checks and calls to the end. AIVAT corrects moves by the values
of one more menu that follows the hand: a player's move with all actions that were possible and all
that they might have been taken for, cards while the hand is on that menu.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import jax
import numpy as np

from jaxsolve.holdem._action_tree import act_on, options_of
from jaxsolve.holdem._betting import start
from jaxsolve.holdem._hand_values import DealtHands
from jaxsolve.holdem._menu_view import LEFT, MenuView, Table
from jaxsolve.mccfr import PotPayoffs, SeatTable, payoffs_at, policies_at


class Players(Protocol):
    """Who plays some deals (n players)."""

    def choose(self, hands: np.ndarray, table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the moves of those who act.

        Args:
            hands: int [K], which deals these are.
            table: of them.

        Returns:
            (float64 [K, A] probabilities, int [K, A] totals or FOLD, int [K] the column played).
        """
        ...

    def moved(self, hands: np.ndarray, table: Table, chosen: np.ndarray, to: np.ndarray) -> None:
        """Tells what was played: columns int [K] of `choose`, and totals int [K]."""
        ...


def play_translated(
    views: Sequence[MenuView],
    tables: Sequence[SeatTable],
    bucket: np.ndarray,
    dealt: DealtHands,
    values_view: MenuView,
    rng: np.random.Generator,
) -> np.ndarray:
    """Returns float64 [2, D, n], what the seats win by AIVAT and at the table.

    Args:
        views: the menu of each seat, all of one stack.
        tables: what each seat plays by.
        bucket: uint16 [D, n, G], of each seat in the buckets of its own table.
        dealt: values and cards of the D deals.
        values_view: the menu of the values.
        rng: draws actions and translations.
    """
    return play_corrected(_Tables(views, tables, bucket, rng), dealt, values_view, rng)


def play_corrected(
    players: Players, dealt: DealtHands, values_view: MenuView, rng: np.random.Generator
) -> np.ndarray:
    """Returns float64 [2, D, n], what the seats win by AIVAT and at the table.

    Args:
        players: what they play. Where one does not tell its probabilities, they are 1 for the move
            that it made, and nothing corrects that.
        dealt: values and cards of the D deals.
        values_view: the menu of the values.
        rng: draws translations.
    """
    count, n = dealt.hands.shape
    menu = values_view.game.menu
    first = start(menu.rules, menu.stack)
    states: Any = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], count, 0), first)
    node = np.zeros(count, np.int64)  # on the menu of the values
    hands = np.arange(count)
    spent, folded = np.zeros((count, n), np.int32), np.zeros((count, n), bool)
    street = np.zeros(count, np.int32)
    more = dealt.expected(node, hands) - dealt.value(node, hands, True)
    while len(hands):
        table = _table(menu.rules, states)
        ways, totals, chosen = players.choose(hands, table)
        to = totals[np.arange(len(hands)), chosen]
        before = node[hands]
        players.moved(hands, table, chosen, to)
        node[hands] = values_view.follow(before, table, to, rng)
        more[hands] += _corrections(
            dealt, values_view, hands, before, node[hands], table, ways, totals
        )
        states = act_on(menu.rules, states, to)
        here = node[hands]
        came = (states.actor >= 0) & (states.street > table.street)
        came &= values_view.follows(here, states.actor, states.street)
        rows = np.flatnonzero(came)
        more[hands[rows]] += dealt.expected(here[rows], hands[rows])
        more[hands[rows]] -= dealt.value(here[rows], hands[rows], True)
        over = states.actor < 0
        done = hands[over]
        spent[done], folded[done] = states.spent[over], states.folded[over]
        street[done] = states.street[over]
        hands = hands[~over]
        states = jax.tree.map(lambda x, over=over: x[~over], states)
    payoffs = PotPayoffs(spent, folded)
    end = np.arange(count)
    plain = payoffs_at(payoffs, end, dealt.deals.outcome)
    return np.stack([dealt.settle(payoffs, end, street) + more, plain])


class _Tables:
    """Players who play by tables, each on its own menu."""

    def __init__(
        self,
        views: Sequence[MenuView],
        tables: Sequence[SeatTable],
        bucket: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self.views, self.tables, self.bucket, self.rng = views, tables, bucket, rng
        self.node = np.zeros(bucket.shape[:2], np.int64)

    def choose(self, hands: np.ndarray, table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `Players`."""
        ways, totals = _choices(
            self.views, self.tables, self.bucket[hands], self.node[hands], table
        )
        return ways, totals, _draw(ways, self.rng)

    def moved(self, hands: np.ndarray, table: Table, chosen: np.ndarray, to: np.ndarray) -> None:
        """See `Players`."""
        for j, view in enumerate(self.views):
            here = self.node[hands, j]
            after = view.follow(here, table, to, self.rng)
            own = np.flatnonzero((table.actor == j) & view.follows(here, table.actor, table.street))
            after[own] = view.tree.child[here[own]] + chosen[own]
            self.node[hands, j] = after


def _table(rules: Any, states: Any) -> Table:
    fold, low, high = options_of(rules, states)
    own = np.take_along_axis(states.stack, states.actor[:, None], 1)[:, 0]
    high = np.where(high > 0, high, low - 1)
    return Table(
        states.actor,
        states.street,
        states.spent,
        fold,
        np.minimum(states.bet, own),
        low,
        high,
    )


def _choices(
    views: Sequence[MenuView],
    tables: Sequence[SeatTable],
    bucket: np.ndarray,
    node: np.ndarray,
    table: Table,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (probabilities float64 [K, A], real totals int [K, A]) of who acts.

    Without a node that follows the hand, the first action checks or calls and is the only one.
    """
    width = max(int(view.tree.count.max()) for view in views)
    ways, totals = np.zeros((len(node), width)), np.repeat(table.call[:, None], width, 1)
    ways[:, 0] = 1
    for j, view in enumerate(views):
        mine = np.flatnonzero(table.actor == j)
        mine = mine[view.follows(node[mine, j], table.actor[mine], table.street[mine])]
        if not len(mine):
            continue
        policy = policies_at(view.tree, [tables[j]] * len(views), node[mine, j], bucket[mine])
        real = view.real_totals(node[mine, j], table.rows(mine))
        ways[mine] = np.pad(policy, ((0, 0), (0, width - policy.shape[1])))
        totals[mine, : real.shape[1]] = real
    return ways, totals


def _draw(ways: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns int [K], actions; the last that is possible takes what rounding leaves."""
    below = (ways.cumsum(1) <= rng.random(len(ways))[:, None]).sum(1)
    last = ways.shape[1] - 1 - (ways[:, ::-1] > 0).argmax(1)
    return np.asarray(np.minimum(below, last))


def _corrections(
    dealt: DealtHands,
    view: MenuView,
    hands: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    table: Table,
    ways: np.ndarray,
    totals: np.ndarray,
) -> np.ndarray:
    """Returns float64 [K, n], what the values expected of a move less what they say after it.

    An outcome that leaves the menu of the values is worth what its node was.
    """
    n = table.spent.shape[1]
    out = np.zeros((len(hands), n))
    on = np.flatnonzero(view.follows(before, table.actor, table.street))
    if not len(on):
        return out

    def worth(node: np.ndarray, row: np.ndarray) -> np.ndarray:
        left = node == LEFT
        found = dealt.value(np.where(left, 0, node), hands[row], False)
        found[left] = dealt.value(before[row[left]], hands[row[left]], True)
        return found

    row, action = np.nonzero(ways[on] > 0)
    row = on[row]
    smaller, larger, share = view.seen_as(before[row], table.rows(row), totals[row, action])
    mean = share[:, None] * worth(smaller, row) + (1 - share[:, None]) * worth(larger, row)
    np.add.at(out, row, ways[row, action][:, None] * mean)
    out[on] -= worth(after[on], on)
    return out

"""Hands between strategies of different menus: real chips, and each seat sees them by its own menu.

A seat whose menu the hand has left checks and calls to the end. AIVAT corrects moves by the values
of one more menu that follows the hand: a player's move with all actions that were possible and all
that they might have been taken for, cards while the hand is on that menu.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxsolve.holdem._action_tree import act_on, options_of
from jaxsolve.holdem._betting import start
from jaxsolve.holdem._hand_values import DealtHands
from jaxsolve.holdem._menu_view import LEFT, MenuView, Table
from jaxsolve.mccfr import PotPayoffs, SeatTable, payoffs_at, policies_at


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
    count, n = bucket.shape[:2]
    menu = values_view.game.menu
    first = start(menu.rules, menu.stack)
    states: Any = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], count, 0), first)
    node = np.zeros((count, n + 1), np.int64)  # of each seat, and of the values
    every = [*views, values_view]
    hands = np.arange(count)
    spent, folded = np.zeros((count, n), np.int32), np.zeros((count, n), bool)
    street = np.zeros(count, np.int32)
    root = np.zeros(count, np.int64)
    more = dealt.expected(root, hands) - dealt.value(root, hands, True)
    while len(hands):
        table = _table(menu.rules, states)
        ways, totals = _choices(views, tables, bucket[hands], node[hands], table)
        chosen = _draw(ways, rng)
        to = totals[np.arange(len(hands)), chosen]
        before = node[hands, n]
        for j, view in enumerate(every):
            here = node[hands, j]
            on = np.flatnonzero(view.follows(here, table.actor, table.street))
            after = np.full(len(hands), LEFT, np.int64)
            smaller, larger, share = view.seen_as(here[on], table.rows(on), to[on])
            after[on] = np.where(rng.random(len(on)) < share, smaller, larger)
            own = on[table.actor[on] == j]
            after[own] = view.tree.child[here[own]] + chosen[own]
            node[hands, j] = after
        more[hands] += _corrections(
            dealt, values_view, hands, before, node[hands, n], table, ways, totals
        )
        states = act_on(menu.rules, states, to)
        here = node[hands, n]
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


def _table(rules: Any, states: Any) -> Table:
    fold, low, high = options_of(rules, states)
    own = np.take_along_axis(states.stack, states.actor[:, None], 1)[:, 0]
    high = np.where(high > 0, high, low - 1)
    return Table(
        *(states.actor, states.street, states.spent, fold),
        *(np.minimum(states.bet, own), low, high),
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

"""A blueprint as an agent in hands with bets of any size.

Its menu sees the real hand by the pseudo-harmonic mapping (Ganzfried & Sandholm 2013). A bet
between two sizes is taken for either by chance, so after it the hand may stand at several nodes of
the menu. The agent follows all of them, each with how likely it is with every hand. What it plays
with a hand is the mean over the nodes by these weights: the same play as drawing one node at each
bet, and a policy that depends on nothing but the public history.

Where the hand has left the menu at a node, the agent checks and calls from there on.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._menu_view import LEFT, MenuView, Table
from jaxsolve.holdem._range_strategy import TableStrategy
from jaxsolve.holdem.play._agent import Move, RangePolicy, drawn
from jaxsolve.holdem.play._public_hand import PublicHand


class MenuState(NamedTuple):
    """Where a hand stands on a menu (B nodes that it may stand at).

    Attributes:
        seat: of the agent.
        key: of the hand.
        hand: the public hand that this is about.
        node: int64 [B], nodes of the menu, or LEFT.
        share: float64 [B], how likely the translations of the others' bets are.
        reach: float64 [B, 1326], the same times the probability of the agent's own moves.
        played: what `_policies` says of this hand; None before the first decision.
    """

    seat: int
    key: int
    hand: PublicHand
    node: np.ndarray
    share: np.ndarray
    reach: np.ndarray
    played: tuple[np.ndarray, np.ndarray] | None = None


class BlueprintAgent:
    """Plays the average strategy of a blueprint, or any table of sums."""

    def __init__(self, game: HoldemGame, sums: np.ndarray, *, name: str = "blueprint") -> None:
        """Takes a strategy as `range_match` does.

        Raises:
            ValueError: the table is of another size.
        """
        self.name, self.game, self.sums = name, game, sums
        self.strategy = TableStrategy(game, sums)
        self.view = MenuView(game)
        self.checksum = zlib.crc32(np.ascontiguousarray(sums).data)

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> MenuState:
        """See `HandAgent`."""
        menu = self.game.menu
        want = (menu.stack,) * menu.players
        if (hand.rules, hand.stacks) != (menu.rules, want):
            raise ValueError(
                f"{self.name} plays {menu.players} stacks of {menu.stack} with blinds "
                f"{menu.rules.blinds}, not {hand.stacks} with {hand.rules.blinds}"
            )
        ones = np.ones((1, NUM_HANDS))
        return MenuState(seat, key, hand, np.zeros(1, np.int64), np.ones(1), ones)

    def act(
        self, state: MenuState, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, MenuState]:
        """See `HandAgent`."""
        told, state = self.policy(state, hand)
        return drawn(told, hand, cards, state.key), state

    def end(self, state: MenuState, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """See `HandAgent`."""

    def policy(
        self, state: MenuState, hand: PublicHand, seconds: float | None = None
    ) -> tuple[RangePolicy, MenuState]:
        """See `RangeAgent`."""
        for after in hand.path(state.hand):
            before = after.before
            if before is not None and after.move is not None:
                follow = self._own if before.actor == state.seat else self._other
                state = follow(state, before, after.move)
        totals, policies = self._policies(state.node, hand)
        state = state._replace(hand=hand, played=(totals, policies))
        reach = state.reach.sum(0)
        weight = np.where(reach > 0, state.reach, state.share[:, None])
        weight = weight / np.maximum(weight.sum(0), 1e-300)
        every = np.unique(totals)
        policy = np.zeros((NUM_HANDS, len(every)))
        for b in range(len(totals)):
            at = np.searchsorted(every, totals[b])
            for a, column in enumerate(at):
                policy[:, column] += weight[b] * policies[b, :, a]
        policy[~possible(hand.board)] = 0
        used = policy.any(0)
        return RangePolicy(every[used], policy[:, used], reach), state

    def _own(self, state: MenuState, hand: PublicHand, to: int) -> MenuState:
        """Returns the state after an own move."""
        played = state.played if hand == state.hand else None
        totals, policies = played or self._policies(state.node, hand)
        tree, node = self.view.tree, state.node
        follows = self._follows(node, hand)
        count = np.where(follows, tree.count[np.maximum(node, 0)], 1)
        there = np.arange(totals.shape[1]) < count[:, None]
        branch, action = np.nonzero((totals == to) & there)
        child = tree.child[np.maximum(node[branch], 0)] + action
        child = np.where(follows[branch], child, LEFT)
        reach = state.reach[branch] * policies[branch, :, action]
        return _merged(state, child, state.share[branch], reach)

    def _other(self, state: MenuState, hand: PublicHand, to: int) -> MenuState:
        """Returns the state after somebody else's move."""
        on = np.flatnonzero(self._follows(state.node, hand))
        off = np.setdiff1d(np.arange(len(state.node)), on)
        small, large, part = self.view.seen_as(
            state.node[on], table_of(hand, len(on)), np.full(len(on), to)
        )
        node = np.concatenate([small, large, np.full(len(off), LEFT)])
        branch = np.concatenate([on, on, off])
        times = np.concatenate([part, 1 - part, np.ones(len(off))])
        kept = times > 0
        node, branch, times = node[kept], branch[kept], times[kept]
        reach = state.reach[branch] * times[:, None]
        return _merged(state, node, state.share[branch] * times, reach)

    def _policies(self, node: np.ndarray, hand: PublicHand) -> tuple[np.ndarray, np.ndarray]:
        """Returns (int64 [B, A] real totals, float64 [B, 1326, A]); padding calls with 0.

        Without a node that follows the hand, the first move checks or calls and is the only one.
        """
        on = np.flatnonzero(self._follows(node, hand))
        real = self.view.real_totals(node[on], table_of(hand, len(on)))
        width = max(real.shape[1], 1)
        totals = np.full((len(node), width), hand.can.call, np.int64)
        policies = np.zeros((len(node), NUM_HANDS, width))
        policies[:, :, 0] = 1
        totals[on] = real
        for b in on:
            found = self.strategy.policy_at(int(node[b]), hand.board)
            policies[b] = np.pad(found, ((0, 0), (0, width - found.shape[1])))
        return totals, policies

    def _follows(self, node: np.ndarray, hand: PublicHand) -> np.ndarray:
        """Returns bool [B], whether nodes are decisions of the seat that really acts."""
        same = np.full(len(node), hand.actor), np.full(len(node), hand.street)
        return self.view.follows(node, *same)


def _merged(state: MenuState, node: np.ndarray, share: np.ndarray, reach: np.ndarray) -> MenuState:
    """Returns the state with every node once; LEFT where the agent would never have come."""
    state = state._replace(played=None)
    if not len(node):
        nothing = np.zeros((1, NUM_HANDS))
        return state._replace(node=np.array([LEFT]), share=np.ones(1), reach=nothing)
    found, at = np.unique(node, return_inverse=True)
    shares, reaches = np.zeros(len(found)), np.zeros((len(found), NUM_HANDS))
    np.add.at(shares, at, share)
    np.add.at(reaches, at, reach)
    return state._replace(node=found, share=shares, reach=reaches)


def table_of(hand: PublicHand, count: int) -> Table:
    """Returns the real table, once for each of some nodes."""
    can, n = hand.can, hand.num_players
    others = np.delete(np.where(hand.state.folded, 0, hand.state.stack), hand.actor)
    # More than anybody can answer is no other bet.
    high = min(can.high, max(int(others.max()), can.low)) if can.low <= can.high else can.low - 1
    one = [hand.actor, hand.street, can.fold, can.call, can.low, high]
    actor, street, fold, call, low, high_ = (np.full(count, x) for x in one)
    spent = np.broadcast_to(hand.state.spent, (count, n))
    return Table(actor, street, spent, fold, call, low, high_)

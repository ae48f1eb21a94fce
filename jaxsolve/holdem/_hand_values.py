"""A value function of hands of hold'em, from a blueprint that plays itself: for AIVAT.

What a seat is thought to win at a public node is a mean over all hands that came there, plus what
its own bucket is worth there, less a share of what the buckets of the other seats still in are
worth. All of it is estimated from played hands and shrunk towards nothing where they are few; a
node that few hands came to has the values of the node before it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import numpy as np

from jaxsolve.holdem._bet_menu import BOARD_CARDS
from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._blueprint_game import HoldemGame, buckets_on
from jaxsolve.holdem._cards import NUM_CARDS, hand_index
from jaxsolve.holdem._strength import strength
from jaxsolve.mccfr import (
    ActionTree,
    Deals,
    PotPayoffs,
    SeatTable,
    payoffs_at,
    play_to_ends,
)

_GROUPS = 25
"""Groups of buckets after the flop; buckets are in order of strength."""

_FEWEST = 30
"""Hands that have to come to a node for values of its own."""

_SHRINK = 20.0
"""Hands without effect that every group of buckets is given."""

_FLOPS, _RUNOUTS = 24, 24
"""Drawn to know what is expected of a flop, and of the cards after an all-in."""

_CHUNK = 1 << 13
_LEARNING = 0x7A1
"""Keeps the deals of learning apart from those of the match."""


@dataclasses.dataclass(frozen=True, repr=False)
class HandValues:
    """What seats are thought to win (P nodes, S of them with values, n seats).

    A node that begins a street has two points, without and with the cards of the street.

    Attributes:
        game: whose buckets and nodes these are.
        slot: int32 [2, P], which values hold at a node before and after its cards.
        stage: uint8 [S], whose buckets the values are of.
        begin: int64 [S], where the groups of each begin.
        mean: float32 [S, n], chips.
        worth: float32 [E, n], what a group of buckets of a seat adds.
        alive: bool [P, n], who has not folded.
    """

    game: HoldemGame
    slot: np.ndarray
    stage: np.ndarray
    begin: np.ndarray
    mean: np.ndarray
    worth: np.ndarray
    alive: np.ndarray

    def at(self, node: np.ndarray, seen: bool, bucket: np.ndarray) -> np.ndarray:
        """Returns float [K, n], chips that the seats are thought to win.

        Args:
            node: int [K].
            seen: whether the cards of a node's own street are out.
            bucket: uint16 [K, n, G], of all seats by street.
        """
        slot = self.slot[int(seen), node]
        stage = self.stage[slot].astype(np.int64)
        known = bucket[np.arange(len(node)), :, stage].astype(np.int64)
        group = _group(known, stage[:, None], self.game.num_buckets)
        alive = self.alive[node]
        own = self.worth[self.begin[slot][:, None] + group, np.arange(alive.shape[1])] * alive
        others = np.maximum(alive.sum(1, keepdims=True) - 1, 1)
        shared = (own.sum(1, keepdims=True) - own) / others
        return np.asarray(self.mean[slot] + np.where(alive, own - shared, 0))

    @functools.cached_property
    def first(self) -> np.ndarray:
        """float64 [n], what is expected before the cards, all hands equally likely."""
        hands = np.repeat(self.game.abstraction.preflop[:, None], self.alive.shape[1], 1)
        every = np.zeros((*hands.shape, len(self.game.num_buckets)), np.uint16)
        every[..., 0] = hands
        return np.asarray(self.at(np.zeros(len(hands), int), True, every).mean(0))

    def __repr__(self) -> str:
        return f"HandValues({len(self.begin):,} points, {self.game!r})"


def hand_values(
    strategy: tuple[HoldemGame, np.ndarray], *, hands: int = 100_000, seed: int = 0
) -> HandValues:
    """Returns a value function from hands that a strategy plays against itself in all seats.

    Args:
        strategy: a game and sums of its policy, as `range_match` takes it.
        hands: how many are played.
        seed: of deals and actions; other deals than those of a match with the same seed.

    Raises:
        ValueError: the table is of another size, or there are no hands.
    """
    game, sums = strategy
    tree, n = game.tree, game.menu.players
    row = tree.rows(game.num_buckets)
    if len(sums) != int(row[-1]):
        raise ValueError(f"a table of {len(sums):,} entries is not of {game!r}")
    if hands < 1:
        raise ValueError(f"hands is 1 or more, not {hands}")
    rng = np.random.default_rng([seed, _LEARNING])
    parts = []
    for first in range(0, hands, _CHUNK):
        deals = game.deal(seed ^ _LEARNING << 40, first, min(_CHUNK, hands - first))
        end = play_to_ends(tree, [SeatTable(row, sums)] * n, deals.bucket, rng)
        won = payoffs_at(game.payoffs, tree.end_number[end], deals.outcome)
        parts.append((end, deals.bucket, won))
    end, bucket, won = (np.concatenate(x) for x in zip(*parts, strict=True))
    return _learned(game, end, bucket, won)


def _learned(game: HoldemGame, end: np.ndarray, bucket: np.ndarray, won: np.ndarray) -> HandValues:
    """Returns values from hands played to ends int [H]: buckets [H, n, G], payoffs [H, n]."""
    tree, n = game.tree, game.menu.players
    visits = np.zeros((2, tree.num_nodes), np.int64)
    for seen, node, _ in _points(tree, end):
        visits[seen] += np.bincount(node, minlength=tree.num_nodes)
    visits[1, 0] = max(visits[1, 0], _FEWEST)  # the first node has values always
    has = visits >= _FEWEST
    slot = np.full(has.shape, -1, np.int32)
    slot[has] = np.arange(has.sum())
    dealt, first = np.nonzero(has)
    above = np.maximum(tree.parent[first], 0)
    stage = np.where(dealt == 1, tree.stage[first], tree.stage[above]).astype(np.uint8)
    stage = np.minimum(stage, tree.num_stages - 1)
    width = np.array([min(b, _GROUPS) if s else b for s, b in enumerate(game.num_buckets)])[stage]
    begin = np.cumsum(width) - width
    size = int(width.sum())
    number, total = np.zeros((size, n)), np.zeros((size, n))
    for after, here, hand in _points(tree, end):
        at = slot[after, here]
        kept = at >= 0
        at, hand = at[kept], hand[kept]
        known = bucket[hand, :, stage[at]].astype(np.int64)
        place = begin[at][:, None] + _group(known, stage[at][:, None], game.num_buckets)
        for i in range(n):
            number[:, i] += np.bincount(place[:, i], minlength=size)
            total[:, i] += np.bincount(place[:, i], won[hand, i], minlength=size)
    of = np.repeat(np.arange(len(begin)), width)
    count = np.maximum(np.add.reduceat(number[:, 0], begin), 1)
    mean = np.add.reduceat(total, begin) / count[:, None]
    worth = (total - number * mean[of]) / (number + _SHRINK)
    alive = np.ones((tree.num_nodes, n), bool)
    for below in levels(tree):
        above = tree.parent[below]
        alive[below] = alive[above]
        folded = tree.action[below] == FOLD
        alive[below[folded], tree.actor[above[folded]]] = False
        slot[0, below] = np.where(slot[0, below] < 0, slot[1, above], slot[0, below])
        slot[1, below] = np.where(slot[1, below] < 0, slot[0, below], slot[1, below])
        same = tree.stage[below] == tree.stage[above]
        slot[0, below[same]] = slot[1, below[same]]
    slot[0, 0] = slot[1, 0]
    return HandValues(
        game, slot, stage, begin, mean.astype(np.float32), worth.astype(np.float32), alive
    )


class DealtHands:
    """`HandValues` on some deals, and what they expect of the next cards; see `mccfr.DealValues`.

    Ends at which all but one have folded, and showdowns on the river, have what they pay.
    """

    def __init__(
        self, values: HandValues, deals: Deals, cards: np.ndarray, rng: np.random.Generator
    ) -> None:
        """Takes deals in the buckets of the values, their cards uint8 [D, 2n + 5], and chance."""
        self.values, self.deals, self.rng = values, deals, rng
        n = values.game.menu.players
        self.cards = cards.astype(np.int32)
        pairs = self.cards[:, : 2 * n].reshape(-1, n, 2)
        self.hands, self.board = hand_index(pairs[..., 0], pairs[..., 1]), self.cards[:, 2 * n :]

    def value(self, node: np.ndarray, deal: np.ndarray, seen: bool) -> np.ndarray:
        """See `mccfr.DealValues`."""
        tree, pays = self.values.game.tree, self.values.game.payoffs
        out = self.values.at(node, seen, self.deals.bucket[deal])
        over = np.flatnonzero((tree.count[node] == 0) & self._known(node))
        out[over] = payoffs_at(
            pays, self.values.game.tree.end_number[node[over]], self.deals.outcome[deal[over]]
        )
        return out

    def expected(self, node: np.ndarray, deal: np.ndarray) -> np.ndarray:
        """See `mccfr.DealValues`: exact for the hands, turns and rivers, drawn for flops."""
        tree, values = self.values.game.tree, self.values
        out = np.zeros((len(node), tree.num_players))
        street = tree.stage[node]
        out[street == 0] = values.first
        for k in range(1, tree.num_stages):
            at = np.flatnonzero(street == k)
            if len(at):
                out[at] = self._after(node[at], deal[at], k)
        return out

    def settle(self, payoffs: PotPayoffs, end: np.ndarray, street: np.ndarray) -> np.ndarray:
        """Returns float64 [D, n], payoffs of hands that are over.

        After an all-in before the river they are means over runouts that are drawn.

        Args:
            payoffs: of the ends.
            end: int [D], their numbers.
            street: int [D], on which the betting was over.
        """
        out = payoffs_at(payoffs, end, self.deals.outcome).astype(np.float64)
        shown = (~payoffs.folded[end]).sum(1) > 1
        for k, size in enumerate(BOARD_CARDS[:-1]):
            at = np.flatnonzero(shown & (street == k))
            for first in range(0, len(at), _CHUNK):
                some = at[first : first + _CHUNK]
                out[some] = self._run_out(payoffs, end[some], some, size)
        return out

    def _known(self, node: np.ndarray) -> np.ndarray:
        """Returns bool [K], whether nothing that is still to come matters at an end."""
        river = self.values.game.tree.stage[node] == len(BOARD_CARDS) - 1
        return np.asarray((self.values.alive[node].sum(1) == 1) | river)

    def _after(self, node: np.ndarray, deal: np.ndarray, street: int) -> np.ndarray:
        """Returns float [K, n], mean values over the cards of one street."""
        size = BOARD_CARDS[street]
        before = size - 1 if street > 1 else 0
        unseen = self._unseen(deal, before)
        if street == 1:
            drawn = self._drawn(unseen, _FLOPS, 3)
        else:
            drawn = unseen[..., None]
        shown = np.broadcast_to(
            self.board[deal, None, :before], (len(deal), drawn.shape[1], before)
        )
        boards = np.concatenate([shown, drawn], 2)
        found = buckets_on(
            self.values.game.abstraction, boards, self.hands[deal][:, None, :]
        )  # [K, C, n]
        count = drawn.shape[1]
        bucket = np.repeat(self.deals.bucket[deal], count, 0)
        bucket[..., street] = found.reshape(len(bucket), -1)
        worth = self.values.at(np.repeat(node, count), True, bucket)
        return np.asarray(worth.reshape(len(node), count, -1).mean(1))

    def _run_out(
        self, payoffs: PotPayoffs, end: np.ndarray, deal: np.ndarray, size: int
    ) -> np.ndarray:
        """Returns float [K, n], mean payoffs over drawn cards after the first `size`."""
        n = self.hands.shape[1]
        drawn = self._drawn(self._unseen(deal, size), _RUNOUTS, BOARD_CARDS[-1] - size)
        shown = np.broadcast_to(self.board[deal, None, :size], (len(deal), _RUNOUTS, size))
        boards = np.concatenate([shown, drawn], 2)[:, :, None]
        hands = self.cards[deal, None, : 2 * n].reshape(len(deal), 1, n, 2)
        full = (len(deal), _RUNOUTS, n)
        seven = np.concatenate(
            [np.broadcast_to(hands, (*full, 2)), np.broadcast_to(boards, (*full, 5))], 3
        )
        rank = _ranks(seven.reshape(-1, 7)).reshape(-1, n)
        won = payoffs_at(payoffs, np.repeat(end, _RUNOUTS), rank)
        return np.asarray(won.reshape(len(end), _RUNOUTS, n).mean(1))

    def _unseen(self, deal: np.ndarray, size: int) -> np.ndarray:
        """Returns int [K, C], what is neither in a hand nor among the first `size` on the board."""
        n = self.hands.shape[1]
        gone = np.zeros((len(deal), NUM_CARDS), bool)
        np.put_along_axis(gone, self.cards[deal, : 2 * n + size], True, 1)
        left = NUM_CARDS - 2 * n - size
        return np.nonzero(~gone)[1].reshape(-1, left)

    def _drawn(self, unseen: np.ndarray, times: int, cards: int) -> np.ndarray:
        """Returns int [K, times, cards], some of the unseen cards, each draw without repeats."""
        left = unseen.shape[1]
        place = np.empty((len(unseen), times, cards), np.int64)
        for k in range(cards):
            # Among those that are left, counted past the places that are taken, in rising order.
            at = self.rng.integers(0, left - k, place.shape[:2])
            for taken in np.moveaxis(np.sort(place[..., :k], -1), -1, 0):
                at += at >= taken
            place[..., k] = at
        return np.asarray(unseen[np.arange(len(unseen))[:, None, None], place])


def _ranks(cards: np.ndarray) -> np.ndarray:
    """Returns int32 [K], strengths of seven cards; in chunks, so that one program does."""
    padded = np.concatenate([cards, np.repeat(cards[:1], -len(cards) % _CHUNK, 0)])
    parts = [np.asarray(strength(x)) for x in padded.reshape(-1, _CHUNK, 7)]
    return np.concatenate(parts)[: len(cards)]


def _group(bucket: np.ndarray, stage: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Returns the groups of buckets; before the flop each bucket is one."""
    width = np.array(sizes)[stage]
    held = np.minimum(bucket, width - 1)
    return np.where(stage == 0, held, held * np.minimum(width, _GROUPS) // width)


def _points(tree: ActionTree, end: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yields (whether the street's cards are out, nodes, hands) up from the ends of hands."""
    node, hand = end, np.arange(len(end))
    while len(node):
        yield 1, node, hand
        up = tree.parent[node]
        inner = up >= 0
        node, hand, up = node[inner], hand[inner], up[inner]
        dealt = tree.stage[node] > tree.stage[up]
        if dealt.any():
            yield 0, node[dealt], hand[dealt]
        node = up


def levels(tree: ActionTree) -> Iterator[np.ndarray]:
    """Yields the nodes of each depth below the first; nodes are in breadth-first order."""
    first, last = 0, 1
    while last < tree.num_nodes:
        first, last = last, last + int(tree.count[first:last].sum())
        yield np.arange(first, last)

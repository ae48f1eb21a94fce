"""A flop solved to its end with a leaf network, by CFR+ over vectors of hands.

The network is asked once, before the first iteration, for every end of the street. Iterations are
Modicum's (Brown, Sandholm and Amos 2018, appendix): regrets are not negative and are multiplied by
sqrt(t) / (sqrt(t) + 1) in the first 30 iterations, and the average leaves out the first half.

An iteration of a flop with E ends (folds, showdowns, ends of the street) costs about 2 E 1326^2
multiplications, those of showdowns; the network's part is 2 E (k + 1) r 1326.
"""

from __future__ import annotations

import dataclasses
import functools
import time

import numpy as np

from jaxsolve.holdem._cards import HANDS, NUM_CARDS, NUM_HANDS
from jaxsolve.holdem.leaf_net._features import FLOP, betting_features, hand_features
from jaxsolve.holdem.leaf_net._network import LeafNet
from jaxsolve.holdem.leaf_net._showdowns import mean_signs
from jaxsolve.holdem.limited import Beyond, LimitedHoldem, LimitedResult, SearchBegin
from jaxsolve.mccfr import Role, entries_of, make_tables

DISCOUNTED = 30
"""First iterations, in which regrets are discounted."""


def search_street(
    game: LimitedHoldem,
    begin: SearchBegin,
    after: Beyond,
    net: LeafNet,
    *,
    iterations: int = 200,
    seconds: float | None = None,
) -> LimitedResult:
    """Returns a solution of a flop whose later streets are a network's.

    Args:
        game: see `limited.limited_game`; at most one of the players chooses.
        begin: where it begins.
        after: the blueprint and the continuations that the network was trained on.
        net: of leaf values.
        iterations: at most so many, both players in each.
        seconds: at most so long, once the network was asked.

    Raises:
        ValueError: not a flop of two players with a row for each hand, both choose, or the network
            is another blueprint's.
    """
    if game.tree.num_players != 2 or len(game.board) != FLOP:
        raise ValueError("a leaf network is for the flop of two players")
    if not np.array_equal(game.bucket, np.arange(NUM_HANDS)):
        raise ValueError("with a leaf network every hand is its own row; leave out buckets")
    net.check(after)
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}, but must be positive")
    started = time.perf_counter()
    street = _street(game)
    leaves = _leaves(game, begin, after, net, street)
    solver = _Solver(game, street, leaves)
    limit = np.inf if seconds is None else time.perf_counter() + seconds
    done = 0
    for t in range(1, iterations + 1):
        solver.iterate(t, iterations if seconds is None else 0)
        done = t
        if time.perf_counter() >= limit:
            break
    tables = make_tables(game)
    for row, node in enumerate(street.node):
        if street.acts[row]:
            count = int(game.tree.count[node])
            for table, found in ((tables.regret, solver.regret), (tables.average, solver.average)):
                entries_of(game.tree, tables, table, int(node))[:] = found[row, :count].T
    tables = dataclasses.replace(tables, passes=done)
    return LimitedResult(game, tables, time.perf_counter() - started)


@dataclasses.dataclass(frozen=True)
class _Street:
    """The nodes of a street and its ends, breadth first (N of them).

    Attributes:
        node: int [N], of the game's tree.
        parent: int [N], -1 for the first.
        slot: int [N], the action that led here.
        depth: int [N].
        actor: int [N]; -1 at ends, and where the street ends without a choice.
        count: int [N], actions.
        leaf: bool [N], whether the street ends here and the hand goes on.
        acts: bool [N], whether somebody decides or chooses here.
    """

    node: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    depth: np.ndarray
    actor: np.ndarray
    count: np.ndarray
    leaf: np.ndarray
    acts: np.ndarray


def _street(game: LimitedHoldem) -> _Street:
    tree = game.tree
    plays = (tree.role == Role.PLAY) & (tree.count > 0)
    kept = np.flatnonzero((tree.parent < 0) | plays[np.maximum(tree.parent, 0)])
    number = np.full(tree.num_nodes, -1)
    number[kept] = np.arange(len(kept))
    parent = np.where(tree.parent[kept] >= 0, number[np.maximum(tree.parent[kept], 0)], -1)
    depth = np.zeros(len(kept), int)
    for row in range(1, len(kept)):
        depth[row] = depth[parent[row]] + 1
    leaf = ~plays[kept] & (tree.count[kept] > 0)
    chooses = tree.role[kept] == Role.CHOICE
    twice = tree.role[np.maximum(tree.child[kept], 0)] == Role.CHOICE
    if (chooses & twice).any():
        raise ValueError("a leaf network knows the choice of one player, and here both choose")
    acts = plays[kept] | chooses
    return _Street(
        node=kept,
        parent=parent,
        slot=np.where(parent >= 0, kept - tree.child[tree.parent[kept]], 0),
        depth=depth,
        actor=np.where(acts, tree.actor[kept], -1),
        count=np.where(acts, tree.count[kept], 0),
        leaf=leaf,
        acts=acts,
    )


@dataclasses.dataclass(frozen=True)
class _Leaves:
    """Ends of the street with chips behind (L of them).

    Attributes:
        row: int [L], of `_Street`.
        chooser: int [L], who chooses, or would.
        pot: float32 [L], chips.
        first: float32 [L, k, 1326, r], of the chooser's hands.
        second: float32 [L, 1326, r], of the other's.
    """

    row: np.ndarray
    chooser: np.ndarray
    pot: np.ndarray
    first: np.ndarray
    second: np.ndarray


def _leaves(
    game: LimitedHoldem, begin: SearchBegin, after: Beyond, net: LeafNet, street: _Street
) -> _Leaves:
    tree = game.tree
    row = np.flatnonzero(street.leaf)
    node = street.node[row]
    seats = tree.actor[node[tree.role[node] == Role.CHOICE]]
    chooser = np.full(len(row), int(seats[0]) if len(seats) else 0)
    fixed = np.where(tree.role[node] == Role.CHOICE, tree.child[node], node)
    mapped = np.searchsorted(after.row, tree.source[fixed], "right") - 1
    spent = np.repeat(tree.action[node].astype(float)[:, None], 2, 1)
    stack = float(np.min(begin.state.stack))
    seat = int(chooser[0]) if len(row) else 0
    betting = betting_features(after.view, mapped, spent, stack, seat)
    found = net.factors(hand_features(game.board), betting)
    first = np.ascontiguousarray(np.moveaxis(found.chooser, 2, 1))
    return _Leaves(row, chooser, spent.sum(1).astype(np.float32), first, found.other)


class _Solver:
    """CFR+ on a street (H = 1326 hands, A actions at most)."""

    def __init__(self, game: LimitedHoldem, street: _Street, leaves: _Leaves) -> None:
        self.street, self.leaves = street, leaves
        width = max(int(street.count.max()), leaves.first.shape[1] if len(leaves.row) else 1)
        size = (len(street.node), width, NUM_HANDS)
        self.legal = np.arange(width) < street.count[:, None]
        self.regret, self.average = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.policy = np.repeat(self._even()[..., None], NUM_HANDS, 2)
        self.ranges = game.ranges.astype(np.float32)
        self.signs = mean_signs(game.board)
        ends = ~street.acts & ~street.leaf
        number = game.tree.end_number[street.node[ends]]
        spent, folded = game.payoffs.spent[number], game.payoffs.folded[number]
        rows = np.flatnonzero(ends)
        over = folded.any(1)
        matched = spent.min(1).astype(np.float32)
        self.folds, self.shown = rows[over], np.concatenate([rows[~over], leaves.row])
        sign = np.where(folded[over], -1, 1)
        self.gain = sign * matched[over, None]
        self.stake = np.concatenate([matched[~over], leaves.pot / 2])
        self.levels = [
            np.flatnonzero(street.depth == d) for d in range(1, 1 + int(street.depth.max()))
        ]

    def iterate(self, t: int, iterations: int) -> None:
        """Updates both players; `iterations` is 0 where nobody knows how many there will be."""
        street = self.street
        weight = float(t) if 2 * t > iterations else 0.0
        kept = np.float32(np.sqrt(t) / (np.sqrt(t) + 1)) if t <= DISCOUNTED else np.float32(1)
        for player in range(2):
            mine, child = self._decisions(player)
            reach = [self._reach(i) for i in range(2)]
            value = self._values(player, reach)
            if weight:
                # of the policy that the values are of
                self.average[mine] += weight * self.policy[mine] * reach[player][mine, None]
            gains = np.where(self.legal[mine][..., None], value[child], 0) - value[mine, None]
            choice = mine[street.leaf[mine]]
            if len(choice):
                gains[street.leaf[mine]] = self._choices(reach[1 - player]) - value[choice, None]
            grown = kept * self.regret[mine] + gains
            self.regret[mine] = np.where(self.legal[mine][..., None], np.maximum(grown, 0), 0)
            total = self.regret[mine].sum(1, keepdims=True)
            even = self._even()[mine][..., None]
            self.policy[mine] = np.where(
                total > 0, self.regret[mine] / np.maximum(total, 1e-30), even
            )

    def _even(self) -> np.ndarray:
        shares = self.legal / np.maximum(self.legal.sum(1, keepdims=True), 1)
        return shares.astype(np.float32)

    @functools.cache  # noqa: B019
    def _decisions(self, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (rows at which a player acts, int [D, A] the rows after each of its actions)."""
        street = self.street
        mine = np.flatnonzero(street.actor == player)
        child = np.zeros((len(street.node), self.legal.shape[1]), int)
        child[street.parent[1:], street.slot[1:]] = np.arange(1, len(street.node))
        return mine, child[mine]

    def _reach(self, player: int) -> np.ndarray:
        """Returns float32 [N, H], a player's range times its own policy on the way."""
        street = self.street
        reach = np.empty((len(street.node), NUM_HANDS), np.float32)
        reach[0] = self.ranges[player]
        for rows in self.levels:
            above = street.parent[rows]
            own = (street.actor[above] == player)[:, None]
            reach[rows] = reach[above] * np.where(own, self.policy[above, street.slot[rows]], 1)
        return reach

    def _values(self, player: int, reach: list[np.ndarray]) -> np.ndarray:
        """Returns float32 [N, H], what a player's hands win below each node."""
        street, other = self.street, reach[1 - player]
        value = np.zeros_like(other)
        value[self.folds] = self.gain[:, player, None] * _fit(other[self.folds])
        value[self.shown] = self.stake[:, None] * (other[self.shown] @ self.signs.T)
        self.base = value[self.leaves.row].copy()
        value[self.leaves.row] += self._added(player, reach)
        for rows in reversed(self.levels):
            above = street.parent[rows]
            own = (street.actor[above] == player)[:, None]
            part = value[rows] * np.where(own, self.policy[above, street.slot[rows]], 1)
            starts = np.flatnonzero(np.r_[True, above[1:] != above[:-1]])
            value[above[starts]] = np.add.reduceat(part, starts)
        return value

    def _added(self, player: int, reach: list[np.ndarray]) -> np.ndarray:
        """Returns float32 [L, H], what later betting adds at ends of the street."""
        leaves = self.leaves
        if not len(leaves.row):
            return np.zeros((0, NUM_HANDS), np.float32)
        shares = self.policy[leaves.row, : leaves.first.shape[1]]
        fixed = ~self.street.acts[leaves.row]
        blueprint = np.eye(1, shares.shape[1], dtype=np.float32)[0][:, None]
        shares = np.where(fixed[:, None, None], blueprint, shares)
        mixed = np.einsum("lkh,lkhr->lhr", shares, leaves.first)
        seat = int(leaves.chooser[0])
        if player == seat:
            met = _fit_columns(leaves.second * reach[1 - player][leaves.row][..., None])
            return leaves.pot[:, None] * (mixed * met).sum(-1)
        met = _fit_columns(mixed * reach[seat][leaves.row][..., None])
        return -leaves.pot[:, None] * (leaves.second * met).sum(-1)

    def _choices(self, other: np.ndarray) -> np.ndarray:
        """Returns float32 [L, A, H], what each continuation wins where somebody chooses."""
        leaves = self.leaves
        chosen = self.street.acts[leaves.row]
        met = _fit_columns(leaves.second[chosen] * other[leaves.row[chosen]][..., None])
        added = np.einsum("lkhr,lhr->lkh", leaves.first[chosen], met)
        found = self.base[chosen][:, None] + leaves.pot[chosen][:, None, None] * added
        out = np.zeros((len(found), self.legal.shape[1], NUM_HANDS), np.float32)
        out[:, : found.shape[1]] = found
        return out


@functools.cache
def _cards_of_hands() -> np.ndarray:
    """Returns float32 [52, 1326], 1 where a hand holds a card."""
    out = np.zeros((NUM_CARDS, NUM_HANDS), np.float32)
    out[HANDS.T, np.arange(NUM_HANDS)] = 1
    return out


def _fit(reach: np.ndarray) -> np.ndarray:
    """Returns float32 [N, H], sums over hands that share no card with each hand."""
    held = _cards_of_hands()
    return reach.sum(1, keepdims=True) - (reach @ held.T) @ held + reach


def _fit_columns(reach: np.ndarray) -> np.ndarray:
    """Returns the same of float32 [L, H, r]."""
    count, hands, rank = reach.shape
    flat = np.moveaxis(reach, 2, 1).reshape(count * rank, hands)
    return np.moveaxis(_fit(flat).reshape(count, rank, hands), 1, 2)

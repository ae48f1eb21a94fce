"""CFR+ over vectors of hands on one street whose ends are a network's.

An iteration of a flop with E ends (folds, showdowns, ends of the street) costs about 2 E 1326^2
multiplications, those of showdowns; the network's part is 2 E (k + 1) r 1326.
"""

from __future__ import annotations

import numpy as np

from jaxsolve.holdem._boards import compatible_reach
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem.leaf_net._showdowns import mean_signs
from jaxsolve.holdem.leaf_net._street import Leaves, Street
from jaxsolve.holdem.limited import LimitedHoldem

DISCOUNTED = 30
"""First iterations, in which regrets are discounted."""


class StreetSolver:
    """CFR+ on a street (N nodes, A actions at most, H = 1326 hands).

    Attributes:
        regret: float32 [N, A, H].
        average: float32 [N, A, H], sums of policies.
    """

    def __init__(self, game: LimitedHoldem, street: Street, leaves: Leaves) -> None:
        """Starts from uniform play."""
        self._street, self._leaves = street, leaves
        width = max(int(street.count.max()), leaves.first.shape[1])
        size = (len(street.node), width, NUM_HANDS)
        self._legal = np.arange(width) < street.count[:, None]
        shares = self._legal / np.maximum(self._legal.sum(1, keepdims=True), 1)
        self._even = shares.astype(np.float32)[..., None]
        self.regret, self.average = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self._policy = np.repeat(self._even, NUM_HANDS, 2)
        self._ranges = game.ranges.astype(np.float32)
        self._signs = mean_signs(game.board)
        rows = np.flatnonzero(~street.acts & ~street.leaf)
        number = game.tree.end_number[street.node[rows]]
        spent, folded = game.payoffs.spent[number], game.payoffs.folded[number]
        over, matched = folded.any(1), spent.min(1).astype(np.float32)
        self._folds, self._shown = rows[over], np.concatenate([rows[~over], leaves.row])
        self._gain = np.where(folded[over], -1, 1) * matched[over, None]
        self._stake = np.concatenate([matched[~over], leaves.spent])
        self._levels = [
            np.flatnonzero(street.depth == d) for d in range(1, 1 + int(street.depth.max()))
        ]
        self._mine = [np.flatnonzero(street.actor == player) for player in range(2)]
        self._child = np.zeros(self._legal.shape, int)
        self._child[street.parent[1:], street.slot[1:]] = np.arange(1, len(street.node))

    def iterate(self, t: int, weight: float) -> None:
        """Updates both players.

        Args:
            t: number of the iteration, 1 for the first.
            weight: of its policies in the average.
        """
        leaf = self._street.leaf
        root = np.sqrt(t)
        kept = np.float32(root / (root + 1) if t <= DISCOUNTED else 1)
        for player in range(2):
            mine = self._mine[player]
            own, other = self._reach(player), self._reach(1 - player)
            self.average[mine] += np.float32(weight) * self._policy[mine] * own[mine, None]
            value, choices = self._values(player, other)
            each = np.where(self._legal[mine][..., None], value[self._child[mine]], 0)
            if choices is not None:
                each[leaf[mine], : choices.shape[1]] = choices
            grown = kept * self.regret[mine] + each - value[mine, None]
            grown = np.where(self._legal[mine][..., None], np.maximum(grown, 0), 0)
            total = grown.sum(1, keepdims=True)
            self.regret[mine] = grown
            even = self._even[mine]
            self._policy[mine] = np.where(total > 0, grown / np.maximum(total, 1e-30), even)

    def _reach(self, player: int) -> np.ndarray:
        """Returns float32 [N, H], a player's range times its own policy on the way."""
        reach = np.empty((len(self._street.node), NUM_HANDS), np.float32)
        reach[0] = self._ranges[player]
        for rows in self._levels:
            reach[rows] = reach[self._street.parent[rows]] * self._shares(player, rows)
        return reach

    def _shares(self, player: int, rows: np.ndarray) -> np.ndarray:
        """Returns float32 [K, H], a player's share of what led to some nodes; else 1."""
        above = self._street.parent[rows]
        own = (self._street.actor[above] == player)[:, None]
        return np.where(own, self._policy[above, self._street.slot[rows]], np.float32(1))

    def _values(self, player: int, other: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Returns (what hands win below each node, and by each continuation at choices).

        Args:
            player: whose hands.
            other: float32 [N, H], the other player's reach.

        Returns:
            float32 [N, H]; float32 [C, k, H] for the player who chooses, else None.
        """
        leaves, value = self._leaves, np.zeros_like(other)
        value[self._folds] = self._gain[:, player, None] * compatible_reach(other[self._folds])
        value[self._shown] = self._stake[:, None] * (other[self._shown] @ self._signs.T)
        shares = self._policy[leaves.row, : leaves.first.shape[1]].copy()
        chooses = self._street.acts[leaves.row]
        shares[~chooses] = np.eye(1, shares.shape[1], dtype=np.float32)[0][:, None]
        choices = None
        pot = 2 * leaves.spent[:, None]
        if player == leaves.chooser:
            met = _met(leaves.second * other[leaves.row][..., None])
            added = pot[..., None] * np.einsum("lkhr,lhr->lkh", leaves.first, met)
            choices = (value[leaves.row][:, None] + added)[chooses]
            value[leaves.row] += (shares * added).sum(1)
        else:
            mixed = np.einsum("lkh,lkhr->lhr", shares, leaves.first)
            met = _met(mixed * other[leaves.row][..., None])
            value[leaves.row] -= pot * (leaves.second * met).sum(-1)
        for rows in reversed(self._levels):
            above = self._street.parent[rows]
            part = value[rows] * self._shares(player, rows)
            starts = np.flatnonzero(np.r_[True, above[1:] != above[:-1]])
            value[above[starts]] = np.add.reduceat(part, starts)
        return value, choices


def _met(reach: np.ndarray) -> np.ndarray:
    """Returns float32 [L, H, r], `compatible_reach` of each of r columns."""
    return np.moveaxis(compatible_reach(np.moveaxis(reach, 2, 1)), 1, 2)

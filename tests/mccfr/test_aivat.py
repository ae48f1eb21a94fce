"""AIVAT on games whose deals are listed: the mean is exact, whatever the value function is."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import mccfr


class Listed:
    """Values of a listed game by node and by the buckets that are out, and their exact means."""

    def __init__(self, game: mccfr.ListedGame, after: np.ndarray, before: np.ndarray) -> None:
        """after, before: float [D, P, n], with and without the cards of a node's own stage."""
        self.game = game
        tree, bucket = game.tree, game.deals.bucket.astype(np.int64)
        self.group = []  # of deals that are alike up to a stage
        for stage in range(tree.num_stages):
            flat = bucket[:, :, : stage + 1].reshape(len(bucket), -1)
            self.group.append(np.unique(flat, axis=0, return_inverse=True)[1].reshape(-1))
        stage = np.minimum(tree.stage.astype(int), tree.num_stages - 1)
        first = np.maximum(stage[np.maximum(tree.parent, 0)], 0)
        moved = (stage > first) | (tree.parent < 0)
        self.after = self.mean(after, stage)
        start = self.mean(before, np.where(tree.parent < 0, -1, first))
        self.before = np.where(moved[:, None], start, self.after)
        self.over = self.mean(self.after, np.where(tree.parent < 0, -1, first))

    def mean(self, of: np.ndarray, stage: np.ndarray) -> np.ndarray:
        """Averages over all deals that are alike up to the stage of each node; -1 for all."""
        out = np.empty_like(of)
        for p, s in enumerate(stage):
            group = self.group[s] if s >= 0 else np.zeros(len(of), int)
            weight = np.bincount(group, self.game.chance)
            for i in range(of.shape[2]):
                total = np.bincount(group, self.game.chance * of[:, p, i])
                out[:, p, i] = (total / weight)[group]
        return out

    def value(self, node: np.ndarray, deal: np.ndarray, seen: bool) -> np.ndarray:
        return (self.after if seen else self.before)[deal, node]

    def expected(self, node: np.ndarray, deal: np.ndarray) -> np.ndarray:
        return self.over[deal, node]


@functools.cache
def played(name: str) -> tuple[mccfr.ListedGame, mccfr.SeatTable, np.ndarray, np.ndarray]:
    """Returns (game, a random strategy, chances [D, T] of each deal and end, payoffs [D, P, n])."""
    game = mccfr.listed_game(js.compile(games.load(name)))
    tree, deals = game.tree, len(game.chance)
    row = tree.rows(game.num_buckets)
    sums = np.random.default_rng(5).exponential(size=int(row[-1])) - 0.4
    table = mccfr.SeatTable(row, sums.astype(np.float32))
    reach = np.zeros((deals, tree.num_nodes))
    reach[:, 0] = game.chance
    shares = {}
    for p in np.flatnonzero(tree.count):
        seats = [table] * tree.num_players
        shares[p] = mccfr.policies_at(tree, seats, np.full(deals, p), game.deals.bucket)
        below = tree.child[p] + np.arange(tree.count[p])
        reach[:, below] = reach[:, [p]] * shares[p]
    worth = np.zeros((deals, tree.num_nodes, tree.num_players))
    worth[:, tree.ends] = game.payoffs.table[game.deals.outcome[:, 0]]
    for p in reversed(np.flatnonzero(tree.count)):
        below = tree.child[p] + np.arange(tree.count[p])
        worth[:, p] = (shares[p][..., None] * worth[:, below]).sum(1)
    return game, table, reach[:, tree.ends], worth


def estimates(name: str, values: Listed) -> np.ndarray:
    """Returns float [D, T, n], payoffs with corrections at every end of every deal."""
    game, table, chances, worth = played(name)
    tree, (deals, ends) = game.tree, chances.shape
    at, over = np.repeat(np.arange(deals), ends), np.tile(tree.ends, deals)

    class Rows:
        def value(self, node: np.ndarray, deal: np.ndarray, seen: bool) -> np.ndarray:
            return values.value(node, at[deal], seen)

        def expected(self, node: np.ndarray, deal: np.ndarray) -> np.ndarray:
            return values.expected(node, at[deal])

    seats = [table] * tree.num_players
    more = mccfr.aivat_corrections(tree, seats, game.deals.bucket[at], over, Rows())
    return worth[:, tree.ends] + more.reshape(deals, ends, -1)


@pytest.mark.parametrize("name", few(["kuhn", "kuhn(players=3)", "leduc"], "kuhn".__eq__))
def test_any_value_function_leaves_the_mean_alone(name: str) -> None:
    """Summed over all deals and actions; the values are numbers by chance."""
    game, _, chances, worth = played(name)
    rng = np.random.default_rng(7)
    values = Listed(game, *(10 * rng.normal(size=worth.shape) for _ in range(2)))
    found = estimates(name, values)
    plain = (chances[..., None] * worth[:, game.tree.ends]).sum((0, 1))
    np.testing.assert_allclose((chances[..., None] * found).sum((0, 1)), plain, atol=1e-9)
    assert np.abs(found - worth[:, game.tree.ends])[chances > 0].max() > 1


@pytest.mark.parametrize("name", few(["kuhn(players=3)", "leduc"], "kuhn(players=3)".__eq__))
def test_exact_values_leave_no_luck(name: str) -> None:
    """Every hand that can be played then has the same estimate, the expected payoff."""
    game, _, chances, worth = played(name)
    found = estimates(name, Listed(game, worth, worth))
    mean = (game.chance[:, None] * worth[:, 0]).sum(0)
    np.testing.assert_allclose(found[chances > 0] - mean, 0, atol=1e-6)

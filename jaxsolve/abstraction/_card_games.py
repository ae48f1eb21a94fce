"""Buckets of hands in small card games: by k-means of features, or without any loss.

A *row* is what public chance has shown so far: the empty row after the deal, then one for each
board. Both players' hands have a bucket in each row. Leduc poker has 7 rows (none, and six board
cards), 6 hands, and without loss 3 buckets before the board (ranks) and 9 after it (ranks of hand
and board), out of 6 and 30.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.abstraction._features import emd_features
from jaxsolve.abstraction._kmeans import assign, kmeans
from jaxsolve.public import PublicGame
from jaxsolve.types import CHANCE, TERMINAL

BINS = 50
"""Bins of equity."""


@dataclasses.dataclass(frozen=True, repr=False)
class CardRows:
    """What public chance can show in a card game (P public nodes, R rows, H hands).

    Attributes:
        row: int64 [P], of each public node.
        outcomes: per row, the outcomes of the public chance moves so far; () is the first.
        parent: int64 [R], the row before the last outcome, -1 of the first.
        weight: float64 [R, H, H], chance probability of each pair of hands with these outcomes.
    """

    row: np.ndarray
    outcomes: tuple[tuple[int, ...], ...]
    parent: np.ndarray
    weight: np.ndarray

    @property
    def stage(self) -> np.ndarray:
        """int64 [R], public chance moves so far."""
        return np.array([len(path) for path in self.outcomes])

    @property
    def mass(self) -> np.ndarray:
        """float64 [2, R, H], chance probability of each player's hands."""
        return np.stack([self.weight.sum(2), self.weight.sum(1)])

    def __repr__(self) -> str:
        return f"CardRows({np.bincount(self.stage).tolist()} rows by stage)"


@dataclasses.dataclass(frozen=True, repr=False)
class CardBuckets:
    """Buckets of a card game's hands.

    Attributes:
        rows: what public chance can show (R rows).
        bucket: int32 [2, R, H], of each player, 0..K - 1 with the K of the row's stage; -1 where a
            hand is impossible.
        num_buckets: K by stage.
    """

    rows: CardRows
    bucket: np.ndarray
    num_buckets: tuple[int, ...]

    def at(self, node: int, player: int) -> np.ndarray:
        """Returns the buckets of a player's hands at a public node, int32 [H]."""
        return np.asarray(self.bucket[player, self.rows.row[node]])

    def __repr__(self) -> str:
        counts = " / ".join(map(str, self.num_buckets))
        return f"CardBuckets({counts} buckets by stage, {len(self.rows.outcomes)} rows)"


def card_rows(game: PublicGame) -> CardRows:
    """Returns the rows of a card game, in the order of its public nodes."""
    row = np.zeros(len(game.parent), np.int64)
    outcomes: dict[tuple[int, ...], int] = {(): 0}
    paths, parent, first = [()], [-1], [game.root]
    for node in range(1, len(row)):
        up = int(game.parent[node])
        row[node] = row[up]
        if game.actor[up] == CHANCE:
            path = (*paths[row[up]], int(game.action[node]))
            if path not in outcomes:
                outcomes[path] = len(paths)
                paths.append(path)
                parent.append(int(row[up]))
                first.append(node)
            row[node] = outcomes[path]
    return CardRows(row, tuple(paths), np.array(parent), game.weight[first])


def showdown_histograms(game: PublicGame, *, bins: int = BINS) -> np.ndarray:
    """Returns histograms of each hand's equity at showdown, float64 [2, R, H, bins].

    Equity is the chance to have the better hand against a random one, ties as half; a histogram is
    over the rows in which play may end with a showdown, and 0 where a hand is impossible.

    Args:
        game: its public nodes. A showdown is a terminal node at which the payoff depends on hands.
        bins: of equity in [0, 1].

    Raises:
        ValueError: there is no showdown, or who wins it depends on the actions before (liar's
            dice); fewer than two bins.
    """
    if bins < 2:
        raise ValueError(f"a histogram of equity has two or more bins, not {bins}")
    rows = card_rows(game)
    histograms = np.zeros((2, *rows.weight.shape[:2], bins))
    signs = _showdowns(game, rows)
    if not signs:
        raise ValueError(
            f"{game.game.name}: no terminal node pays by hands, so there is no showdown to count "
            "equities at; give features of your own to kmeans"
        )
    hands = np.arange(rows.weight.shape[1])
    for row, sign in signs.items():
        above = [row]
        while rows.parent[above[-1]] >= 0:
            above.append(int(rows.parent[above[-1]]))
        for player in range(2):
            weight = rows.weight[row] if player == 0 else rows.weight[row].T
            mass = weight.sum(1)
            won = (weight * (sign if player == 0 else -sign.T)).sum(1)
            equity = 0.5 + 0.5 * won / np.maximum(mass, 1e-300)
            # Equal equities stay equal where rounding puts one of them just below an edge.
            bin_of = np.clip((equity * bins + 1e-9).astype(int), 0, bins - 1)
            for up in above:
                histograms[player, up, hands, bin_of] += mass
    return histograms


def cluster_hands(
    game: PublicGame, clusters: int | Sequence[int], *, bins: int = BINS, seed: int = 0
) -> CardBuckets:
    """Returns buckets by k-means of the cumulative `showdown_histograms`.

    Args:
        game: its public nodes.
        clusters: of each player at each stage: one number, or one for each stage.
        bins: of equity.
        seed: of k-means.

    Raises:
        ValueError: see `showdown_histograms`; another number of stages, or more clusters than there
            are different hands.
    """
    rows = card_rows(game)
    stages = int(rows.stage.max()) + 1
    counts = [clusters] * stages if isinstance(clusters, int) else list(clusters)
    if len(counts) != stages:
        raise ValueError(
            f"{game.game.name} has {stages} stages: give one number of clusters, or {stages}; not "
            f"{len(counts)}"
        )
    features, possible = emd_features(showdown_histograms(game, bins=bins)), rows.mass > 0
    bucket = np.full(possible.shape, -1, np.int32)
    for stage, count in enumerate(counts):
        for player in range(2):
            here = possible[player] & (rows.stage == stage)[:, None]
            points = features[player][here]
            try:
                centres = kmeans(points, count, seed=seed)
            except ValueError as error:
                raise ValueError(f"{game.game.name}, stage {stage}: {error}") from None
            weakest_first = np.argsort(-centres.sum(1, dtype=np.float64), kind="stable")
            bucket[player][here] = assign(points, centres[weakest_first])
    return CardBuckets(rows, bucket, tuple(counts))


def lossless(game: PublicGame) -> CardBuckets:
    """Returns the coarsest buckets that lose nothing: equilibria of the buckets are the game's.

    Two hands share a bucket if every pair of them with an opponent's bucket is equally likely and
    pays the same at every end of the game, in rows that follow equally often; so hands that are
    equal up to suits share one, and no others do. Found by splitting buckets until that holds.
    A bucket remembers the bucket of the row before.

    Args:
        game: its public nodes.

    Source: the aim is that of Gilpin & Sandholm 2007, "Lossless abstraction of imperfect
    information games"; they merge from the bottom up, here buckets are split from the top down.
    """
    rows = card_rows(game)
    kind = _pair_kinds(game, rows)
    possible = rows.mass > 0
    children = [np.flatnonzero(rows.parent == r) for r in range(len(rows.parent))]
    colour = np.where(possible, rows.stage[:, None], -1)
    while True:
        numbers: dict[Any, int] = {}
        after = np.full_like(colour, -1)
        for player, row, hand in np.argwhere(possible).tolist():
            pairs = kind[row, hand] if player == 0 else kind[row, :, hand]
            met = pairs >= 0
            up = int(rows.parent[row])
            key = (
                player,
                colour[player, row, hand],
                colour[player, up, hand] if up >= 0 else -1,
                tuple(sorted(zip(pairs[met], colour[1 - player, row][met], strict=True))),
                tuple(sorted(colour[player, children[row], hand])),
            )
            after[player, row, hand] = numbers.setdefault(key, len(numbers))
        if len(numbers) == len(np.unique(colour[possible])):
            break
        colour = after
    bucket = np.full(colour.shape, -1, np.int32)
    counts = []
    for stage in range(int(rows.stage.max()) + 1):
        most = 0
        for player in range(2):
            here = possible[player] & (rows.stage == stage)[:, None]
            found = np.unique(colour[player][here], return_inverse=True)[1]
            bucket[player][here] = found
            most = max(most, int(found.max()) + 1)
        counts.append(most)
    return CardBuckets(rows, bucket, tuple(counts))


def _showdowns(game: PublicGame, rows: CardRows) -> dict[int, np.ndarray]:
    """Returns for each row with a showdown the sign of player 0's payoff, float64 [H, H]."""
    signs: dict[int, np.ndarray] = {}
    for node in np.flatnonzero(game.actor == TERMINAL).tolist():
        row = int(rows.row[node])
        there = rows.weight[row] > 0
        payoff = game.payoff[node, 0]
        if np.ptp(payoff[there]) < 1e-9:
            continue
        sign = np.sign(np.where(there, payoff, 0))
        if not np.array_equal(signs.setdefault(row, sign), sign):
            raise ValueError(
                f"{game.game.name}: who wins with given hands depends on the actions, so hands "
                "have no equity; give features of your own to kmeans"
            )
    return signs


def _pair_kinds(game: PublicGame, rows: CardRows) -> np.ndarray:
    """Returns int64 [R, H, H], equal where two pairs are equally likely and paid; -1 impossible.

    Public nodes of different rows are compared by the actions of the players that led to them.
    """
    acts: list[tuple[int, ...]] = [()]
    for node in range(1, len(game.parent)):
        up = int(game.parent[node])
        own = () if game.actor[up] == CHANCE else (int(game.action[node]),)
        acts.append((*acts[up], *own))
    ends: list[list[int]] = [[] for _ in rows.outcomes]
    for end in np.flatnonzero(game.actor == TERMINAL).tolist():
        ends[rows.row[end]].append(end)
    kind = np.full(rows.weight.shape, -1)
    numbers: dict[Any, int] = {}
    for row, nodes in enumerate(ends):
        nodes.sort(key=lambda node: acts[node])
        paths = tuple(acts[node] for node in nodes)
        for a, b in np.argwhere(rows.weight[row] > 0).tolist():
            paid = np.round(game.payoff[nodes, :, a, b], 9) + 0.0  # no negative zero
            key = (round(float(rows.weight[row, a, b]), 12), paths, paid.tobytes())
            kind[row, a, b] = numbers.setdefault(key, len(numbers))
    return kind

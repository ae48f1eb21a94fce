"""Small games for sampled CFR, from the list of their world states: the oracle of the sampler."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from jaxsolve.abstraction import CardBuckets
from jaxsolve.game import action_name
from jaxsolve.mccfr._game import Deals, TablePayoffs
from jaxsolve.mccfr._random import pass_key, uniform
from jaxsolve.mccfr._tables import Tables, entries_of, matched
from jaxsolve.mccfr._tree import ActionTree
from jaxsolve.tree import ListedInfo, Policy, PublicTree, StateTable, policy_from_probabilities
from jaxsolve.types import CHANCE, TERMINAL

_DEALS = 0xDEA1
"""Keeps the numbers of deals apart from those of choices."""


@dataclasses.dataclass(frozen=True, repr=False)
class ListedGame:
    """A game whose deals are listed (D deals, n players, G stages); see `listed_game`.

    Attributes:
        name: of the game.
        tree: the public actions.
        num_buckets: by stage.
        payoffs: by deal.
        deals: all of them.
        chance: float64 [D], their probabilities.
        compiled: the tree that it was made from.
        node: int32 [X], the public node of each world state.
        known: int64 [X, n], the bucket of each player in each world state; -1 before the deal.
    """

    name: str
    tree: ActionTree
    num_buckets: tuple[int, ...]
    payoffs: TablePayoffs
    deals: Deals
    chance: np.ndarray
    compiled: PublicTree
    node: np.ndarray
    known: np.ndarray

    def __repr__(self) -> str:
        return f"ListedGame({self.name}, {self.tree!r}, {len(self.chance):,} deals)"

    def deal(self, seed: int, first: int, count: int) -> Deals:
        """See `SampledGame`."""
        drawn = np.array([uniform(pass_key(seed ^ _DEALS, first + k), 0) for k in range(count)])
        rows = np.searchsorted(np.cumsum(self.chance), drawn, "right").clip(0, len(self.chance) - 1)
        return Deals(self.deals.bucket[rows], self.deals.outcome[rows])

    def policy_of(self, tables: Tables, *, current: bool = False) -> Policy:
        """Returns the average policy of tables, or the current one, on the compiled tree."""
        states = _states(self.compiled)
        sums = tables.regret if current else tables.average
        rows: dict[int, np.ndarray] = {
            int(p): matched(entries_of(self.tree, tables, sums, int(p)))
            for p in np.flatnonzero(self.tree.count)
        }
        out = []
        for i, own in enumerate(self.compiled.info.players):
            acts = np.flatnonzero(states.actor == i)
            first = np.zeros(int(states.infostate[:, i].max()) + 1, np.int64)
            first[states.infostate[acts, i]] = acts
            at = first[own.infostate]
            parts = [rows[int(self.node[x])][int(self.known[x, i])] for x in at]
            out.append(np.concatenate(parts) if parts else np.zeros(0))
        return policy_from_probabilities(self.compiled, out)


def listed_game(
    tree: PublicTree,
    merge: Callable[[int, int, np.ndarray], int] | None = None,
    *,
    buckets: CardBuckets | None = None,
) -> ListedGame:
    """Returns the public actions, deals and buckets of a compiled game.

    By default a bucket is all that a player was shown of chance, so nothing is lost.

    Args:
        tree: compiled with `layout="rows"`, of a game whose chance moves do not depend on
            actions.
        merge: (player, stage, what they were shown, int [k]) -> a number; those with equal
            numbers share a bucket.
        buckets: of the same card game, by `abstraction.lossless` or `cluster_hands`; in place of
            `merge`.

    Raises:
        ValueError: chance depends on actions, actions on the deal, or some actions are hidden;
            the buckets are of another game; both `merge` and `buckets` are given.
    """
    if merge is not None and buckets is not None:
        raise ValueError("give merge or buckets, not both")
    states = _states(tree)
    node, actions = _nodes(states)
    dealt = _dealt(states)
    last = _full_deals(dealt)
    _check(states, node, dealt, actions)
    likely = _chance(states, dealt)
    chance = np.array([likely[d] for d in last])
    if buckets is None:
        known, numbers = _known(states, node, dealt, actions, merge)
    else:
        known, numbers = _looked_up(states, node, dealt, actions, buckets)
    n, stages = actions.num_players, actions.num_stages
    bucket = np.zeros((len(last), n, stages), np.uint16)
    payoff = np.zeros((len(last), len(actions.ends), n), np.float32)
    utility = np.zeros((states.num_states, n))
    utility[states.terminal] = states.utility
    prefixes = [d[:k] for d in last for k in range(len(d) + 1)]
    by_prefix: dict[tuple[int, ...], list[int]] = {p: [] for p in prefixes}
    for row, d in enumerate(last):
        for k in range(len(d) + 1):
            by_prefix[d[:k]].append(row)
    for x in range(states.num_states):
        rows = by_prefix[dealt[x]]
        if states.actor[x] == TERMINAL:
            payoff[rows, actions.end_number[node[x]]] = utility[x]
        elif states.actor[x] != CHANCE:
            bucket[rows, :, actions.stage[node[x]]] = known[x]
    outcome = np.repeat(np.arange(len(last), dtype=np.int32)[:, None], n, 1)
    return ListedGame(
        name=tree.info.name,
        tree=actions,
        num_buckets=numbers,
        payoffs=TablePayoffs(payoff),
        deals=Deals(bucket, outcome),
        chance=chance / chance.sum(),
        compiled=tree,
        node=node,
        known=known,
    )


def _states(tree: PublicTree) -> StateTable:
    if not isinstance(tree.info, ListedInfo):
        raise ValueError(f'{tree.info.name}: compile it with layout="rows"')
    return tree.info.states


def _nodes(states: StateTable) -> tuple[np.ndarray, ActionTree]:
    """Returns (public node of each world state, the nodes): chance moves stay at a node."""
    size = states.num_states
    line: list[tuple[int, ...]] = [()] * size
    moves = np.zeros(size, int)
    for x in range(1, size):
        up = int(states.parent[x])
        chance = states.actor[up] == CHANCE
        line[x] = line[up] if chance else (*line[up], int(states.action[x]))
        moves[x] = moves[up] + chance
    acts = states.actor != CHANCE
    # Breadth first, so that parents come before children and siblings lie together.
    lines = sorted({line[x] for x in np.flatnonzero(acts)}, key=lambda w: (len(w), w))
    number = {w: k for k, w in enumerate(lines)}
    node = np.array([number.get(w, -1) for w in line], np.int32)
    actor = np.full(len(lines), TERMINAL, np.int8)
    actor[node[acts]] = states.actor[acts]
    depth = np.zeros(len(lines), int)
    depth[node[acts]] = moves[acts]
    playing = np.unique(depth[actor != TERMINAL])
    stage = np.searchsorted(playing, depth).clip(0, len(playing) - 1)
    parent = np.array([number[w[:-1]] if w else -1 for w in lines], np.int32)
    count = np.bincount(parent[1:], minlength=len(lines)).astype(np.int32)
    above = [-1 if p < 0 else int(actor[p]) for p in parent]
    label = tuple(
        action_name(states.game, who, w[-1]) if w else ""
        for who, w in zip(above, lines, strict=True)
    )
    action = np.array([w[-1] if w else -1 for w in lines], np.int32)
    made = ActionTree(
        num_players=states.infostate.shape[1],
        parent=parent,
        action=action,
        actor=actor,
        stage=stage.astype(np.uint8),
        count=count,
        label=label,
    )
    return node, made


def _dealt(states: StateTable) -> list[tuple[int, ...]]:
    """Returns the outcomes of chance that lead to each world state."""
    out: list[tuple[int, ...]] = [()]
    for x in range(1, states.num_states):
        up = int(states.parent[x])
        more = (int(states.action[x]),) if states.actor[up] == CHANCE else ()
        out.append(out[up] + more)
    return out


def _full_deals(dealt: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Returns the deals that no other goes on from."""
    every = set(dealt)
    inner = {d[:k] for d in every for k in range(len(d))}
    return sorted(every - inner)


def _check(
    states: StateTable, node: np.ndarray, dealt: Sequence[tuple[int, ...]], tree: ActionTree
) -> None:
    acts = states.actor >= 0
    legal = np.bincount(states.parent[1:], minlength=states.num_states)
    same = (states.actor[acts] == tree.actor[node[acts]]).all()
    if not same or (legal[acts] != tree.count[node[acts]]).any():
        raise ValueError(
            f"{states.game.name}: who acts and what is legal depends on the deal; sampled CFR on "
            "tables [sequence, bucket] is for games in which it does not"
        )
    for i in range(tree.num_players):
        own = np.flatnonzero(states.actor == i)
        pairs = np.unique(np.stack([states.infostate[own, i], node[own]]), axis=1)
        if len(np.unique(pairs[0])) < pairs.shape[1]:
            raise ValueError(
                f"{states.game.name}: a player cannot see every action of the others; sampled CFR "
                "on tables [sequence, bucket] is for games with public actions"
            )
    odds: dict[tuple[int, ...], float] = {}
    for x in range(1, states.num_states):
        up = int(states.parent[x])
        if states.actor[up] == CHANCE:
            p = states.chance[x] / states.chance[up]
            if abs(odds.setdefault(dealt[x], p) - p) > 1e-9:
                raise ValueError(f"{states.game.name}: chance depends on what was played")


def _chance(states: StateTable, dealt: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """Returns the probability of each sequence of outcomes."""
    found: dict[tuple[int, ...], float] = {}
    for deal, chance in zip(dealt, states.chance.tolist(), strict=True):
        found[deal] = max(chance, found.get(deal, 0.0))
    return found


def _known(
    states: StateTable,
    node: np.ndarray,
    dealt: Sequence[tuple[int, ...]],
    tree: ActionTree,
    merge: Callable[[int, int, np.ndarray], int] | None,
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Returns (bucket of each player in each world state, buckets of each stage)."""
    n = tree.num_players
    known = np.full((states.num_states, n), -1, np.int64)
    # What a player knows of a deal at a stage is the same at every node of it: read at one of them.
    seen: list[list[dict[tuple[int, ...], int]]] = [
        [{} for _ in range(tree.num_stages)] for _ in range(n)
    ]
    sample = {int(tree.stage[p]): int(p) for p in np.flatnonzero(tree.count)[::-1]}
    numbers = [0] * tree.num_stages
    for stage, p in sample.items():
        here = np.flatnonzero((node == p) & (states.actor >= 0))
        for i in range(n):
            keys = states.infostate[here, i]
            if merge is not None:
                shown = [_shown(states, int(x), i) for x in here]
                keys = np.array([merge(i, stage, s) for s in shown])
            bucket = np.unique(keys, return_inverse=True)[1].reshape(-1)
            numbers[stage] = max(numbers[stage], int(bucket.max()) + 1)
            seen[i][stage] = {dealt[int(x)]: int(b) for x, b in zip(here, bucket, strict=True)}
    for x in np.flatnonzero(states.actor >= 0):
        stage = int(tree.stage[node[x]])
        known[x] = [seen[i][stage][dealt[int(x)]] for i in range(n)]
    return known, tuple(numbers)


def _looked_up(
    states: StateTable,
    node: np.ndarray,
    dealt: Sequence[tuple[int, ...]],
    tree: ActionTree,
    buckets: CardBuckets,
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Returns what `_known` does, with the buckets of a card game."""
    wrong = ValueError(f"{buckets!r} is not of {states.game.name}")
    after = np.flatnonzero((node == 0) & (states.actor >= 0))  # the private deal is over
    private = len(dealt[int(after[0])])
    if tree.num_players != 2 or any(len(dealt[int(x)]) != private for x in after):
        raise wrong
    # Hands are numbered by their infostates there, as in `jaxsolve.public`.
    hand = np.stack(
        [np.unique(states.infostate[after, i], return_inverse=True)[1].ravel() for i in range(2)], 1
    )
    held = {dealt[int(x)]: h for x, h in zip(after, hand, strict=True)}
    row = {path: k for k, path in enumerate(buckets.rows.outcomes)}
    if hand.max() >= buckets.bucket.shape[2]:
        raise wrong
    known = np.full((states.num_states, 2), -1, np.int64)
    numbers = [0] * tree.num_stages
    for x in np.flatnonzero(states.actor >= 0):
        path = dealt[int(x)][private:]
        if path not in row:
            raise wrong
        hands = held[dealt[int(x)][:private]]
        known[x] = buckets.bucket[np.arange(2), row[path], hands]
        stage = int(tree.stage[node[x]])
        numbers[stage] = buckets.num_buckets[len(path)]
    if (known[states.actor >= 0] < 0).any():
        raise wrong
    return known, tuple(numbers)


def _shown(states: StateTable, x: int, player: int) -> np.ndarray:
    """Returns what chance showed a player on the path to a world state, int [k]."""
    out: list[int] = []
    while (up := int(states.parent[x])) >= 0:
        if states.actor[up] == CHANCE:
            out = [*_observed(states, x, player), *out]
        x = up
    return np.array(out, int)


def _observed(states: StateTable, x: int, player: int) -> list[int]:
    found = states.infostates[player].observation[states.infostate[x, player]]
    return [int(v) for v in found if v >= 0]

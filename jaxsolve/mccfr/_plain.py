"""External sampling in Python: the numbers of `jaxsolve/native/mccfr.cc`, slowly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxsolve.mccfr._game import Deals, SampledGame
from jaxsolve.mccfr._limited import LimitedTree, Role
from jaxsolve.mccfr._options import Options
from jaxsolve.mccfr._random import pass_key, uniform
from jaxsolve.mccfr._tables import Tables, entries_of, matched

_PRUNED = (1 << 64) - 1


def external_pass(
    game: SampledGame,
    options: Options,
    tables: Tables,
    number: int,
    deal: Deals,
    seats: Sequence[int],
) -> int:
    """Does one pass with one deal ([n, G] and [n]), into the tables; returns the nodes visited."""
    tree, n = game.tree, game.tree.num_players
    traverser, averaged = (seats[(number + k) % len(seats)] for k in range(2))
    key = pass_key(options.seed, number)
    weight = np.float32(options.weight(number))
    largest = game.payoffs.largest
    low = np.float32(-options.prune * largest) * weight
    floor = np.float32(-options.floor * largest) * weight
    prunes = number >= options.warm_up and uniform(key, _PRUNED) < options.prune_share
    prunable = tree.prunable() if prunes and np.isfinite(low) else np.zeros(tree.num_nodes, int)
    stages = tree.num_stages if options.average_stages is None else options.average_stages
    choice = [0] * n  # continuation of each player
    visited = 0

    def draw(policy: np.ndarray, node: int) -> int:
        drawn = uniform(key, node)
        chosen = min(int(np.searchsorted(np.cumsum(policy), drawn, "right")), len(policy) - 1)
        while policy[chosen] == 0:  # rounding
            chosen -= 1
        return chosen

    def step(node: int, action: int) -> np.float32:
        first = int(tree.child[node])
        if not isinstance(tree, LimitedTree) or tree.role[node] != Role.CHOICE:
            return walk(first + action)
        choice[tree.actor[node]] = action
        won = walk(first)
        choice[tree.actor[node]] = 0
        return won

    def walk(node: int) -> np.float32:
        nonlocal visited
        visited += 1
        if not (count := int(tree.count[node])):
            return np.float32(game.payoffs(int(tree.end_number[node]), deal.outcome)[traverser])
        actor, stage = int(tree.actor[node]), int(tree.stage[node])
        bucket = int(deal.bucket[actor, stage])
        if isinstance(tree, LimitedTree) and tree.role[node] == Role.FIXED:
            beyond = tree.policy_beyond(node, bucket, choice[actor])
            return walk(int(tree.child[node]) + draw(beyond, node))
        at = int(tables.row[node]) + bucket * count
        entries = slice(at, at + count)
        regret = tables.regret[entries]
        policy = matched(regret).astype(np.float32)
        if actor != traverser:
            if actor == averaged and stage < stages:
                tables.average[entries] += weight * policy
            return step(node, draw(policy, node))
        skipped = (int(prunable[node]) >> np.arange(count) & 1).astype(bool) & (regret < low)
        skipped[8:] = False
        value = np.zeros(count, np.float32)
        for a in np.flatnonzero(~skipped):
            value[a] = step(node, int(a))
        mean = np.float32((policy * value)[~skipped].sum())
        after = np.maximum(regret + weight * (value - mean), floor)
        tables.regret[entries] = np.where(skipped, regret, after)
        return mean

    walk(0)
    return visited


def snapshot(game: SampledGame, tables: Tables, first: int, weight: float) -> None:
    """Adds the current policy of the stages from `first` on to the average."""
    for node in np.flatnonzero((game.tree.count > 0) & (game.tree.stage >= first)):
        policy = matched(entries_of(game.tree, tables, tables.regret, int(node)))
        begin, end = tables.row[node : node + 2]
        tables.average[begin:end] += np.float32(weight) * policy.astype(np.float32).reshape(-1)

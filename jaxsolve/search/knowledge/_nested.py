"""Composed play: P re-solves at every infoset of a tree of positions, each from the one above.

This measures what a search on trees of positions plays, as `search.nested` does on compiled games:
an infoset plays the solution of its own subgame, whose blueprint is the strategy that the subgame
at P's decision above it left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from jaxsolve.search.knowledge._host import Positions, best_response, positions_of, values_of
from jaxsolve.search.knowledge._root import single_root
from jaxsolve.search.knowledge._solver import growing_solver
from jaxsolve.search.knowledge._subgame import PositionSubgame, knowledge_subgame
from jaxsolve.search.knowledge._tree import PositionTree
from jaxsolve.types import TERMINAL


class NestedPositions(NamedTuple):
    """What re-solving made of a blueprint on a tree of N nodes.

    Attributes:
        edge: float64 [N], the blueprint with P's part re-solved.
        worst_case: what P's part is worth against a best response, in the game's units.
        blueprint_worst_case: the same of the blueprint.
        solved: subgames.
        skipped: infosets that are not reached.
    """

    edge: np.ndarray
    worst_case: float
    blueprint_worst_case: float
    solved: int
    skipped: int


def nested_positions(
    tree: PositionTree,
    edge: np.ndarray,
    player: int,
    *,
    iterations: int = 1000,
    look_ahead: int | None = None,
    leaf: np.ndarray | None = None,
    **options: Any,
) -> NestedPositions:
    """Returns what a player's re-solving at every infoset makes of a blueprint.

    With `look_ahead` every search sees a beginning of the tree: so many edges below its infoset,
    leaves there. It starts from what the search above it found, the blueprint beyond, and has its
    alternative values from what that search saw.

    Args:
        tree: of positions, grown as far as play shall be measured; with `look_ahead` breadth first.
        edge: float64 [N], the blueprint: the probability of the action above each used node, odds
            of chance included.
        player: P.
        iterations: of PCFR+ in each subgame. Of its average and its last strategy, the one that is
            worth more against a best response is played.
        look_ahead: edges; None looks to the end.
        leaf: float64 [N], what nodes are worth to player 0 where a search stops; needed with
            `look_ahead`.
        **options: of `knowledge_subgame`.

    Raises:
        ValueError: as `knowledge_subgame`; `look_ahead` is below 1 or without `leaf`; or the tree
            has not been grown breadth first.
    """
    nodes = positions_of(tree)
    known = nodes.memory[:, player]
    row_of, rows = _decisions(nodes, player)
    if look_ahead is not None:
        _check(nodes, look_ahead, leaf)
        tree = jax.tree.map(np.asarray, tree)
    final, solved, skipped = np.array(edge, np.float64), 0, 0
    first: tuple[np.ndarray, PositionTree | None] = final.copy(), None
    waiting = [(name, *first) for name in rows.get(None, [])]
    while waiting:
        name, base, before = waiting.pop()
        seen = tree
        if look_ahead is not None and leaf is not None:
            ends = nodes.depth[(known == name) & (nodes.actor == player)].max() + look_ahead
            seen = beginning(tree, nodes, int(ends), leaf)
        size = int(seen.num_nodes)
        found = knowledge_subgame(seen, base[:size], player, name, before=before, **options)
        if found is None:
            skipped += 1
        else:
            solved += 1
            part = resolved(base[:size], player, found, iterations)
            base = np.concatenate([part, base[size:]])
        chosen = row_of & (nodes.above(known) == name)
        final[chosen] = base[chosen]
        below = None if look_ahead is None else seen
        waiting += [(name, base, below) for name in rows.get(int(name), [])]
    return NestedPositions(
        final, worst_case(nodes, final, player), worst_case(nodes, edge, player), solved, skipped
    )


def beginning(tree: PositionTree, nodes: Positions, depth: int, leaf: np.ndarray) -> PositionTree:
    """Returns the nodes of a tree down to a depth, where those that are not over become leaves.

    Args:
        tree: grown breadth first.
        nodes: the same on the host.
        depth: edges below the root.
        leaf: float64 [N], what nodes are worth to player 0 as leaves.
    """
    size = int(np.searchsorted(nodes.depth, depth, side="right"))
    last = (nodes.depth[:size] == depth) & (nodes.actor[:size] != TERMINAL)
    cut = jax.tree.map(lambda x: x[:size] if np.ndim(x) else x, tree)
    return cut._replace(
        value=np.where(last, leaf[:size], cut.value).astype(cut.value.dtype),
        opened=cut.opened & ~last,
        num_nodes=np.asarray(size, np.int32),
    )


def resolved(edge: np.ndarray, player: int, found: PositionSubgame, iterations: int) -> np.ndarray:
    """Returns a blueprint's edges [N] with P's free part from the solution of a subgame."""
    inner = positions_of(found.tree)
    solver, size = growing_solver(found.tree, single_root()), len(inner.parent)
    width = np.bincount(inner.parent[inner.parent >= 0], minlength=size)
    solver.restore(np.zeros(size), 1 / np.maximum(inner.above(width), 1))  # from uniform play
    solver.iterate(iterations)
    read, best = solver.read(), None
    for play in (read.average, read.current):
        worth = worst_case(inner, play, player)
        if best is None or worth > best[0]:
            best = worth, play
    assert best is not None
    at = np.flatnonzero((found.source >= 0) & (inner.chooser == player))
    out = edge.copy()
    out[found.source[at]] = best[1][at]
    return out


def _check(nodes: Positions, look_ahead: int, leaf: np.ndarray | None) -> None:
    if look_ahead < 1:
        raise ValueError(f"look_ahead={look_ahead}: a search sees at least 1 edge")
    if leaf is None or np.shape(leaf) != nodes.parent.shape:
        raise ValueError(f"look_ahead needs a leaf value for each of {len(nodes.parent)} nodes")
    if (np.diff(nodes.depth) < 0).any():
        raise ValueError("look_ahead needs a tree that was grown breadth first")


def worst_case(nodes: Positions, edge: np.ndarray, player: int) -> float:
    """Returns what a player's strategy is worth to them against a best response."""
    value = values_of(nodes, best_response(nodes, edge, 1 - player))
    return float((1 - 2 * player) * value[0])


def _decisions(
    nodes: Positions, player: int
) -> tuple[np.ndarray, dict[int | None, list[np.uint64]]]:
    """Returns (bool [N], edges that P chose; P's infosets by the one above, None at the top)."""
    last = np.full(len(nodes.parent), -1)  # P's last decision above
    for level in nodes.levels[1:]:
        up = nodes.parent[level]
        last[level] = np.where(nodes.actor[up] == player, up, last[up])
    acts = np.flatnonzero(nodes.actor == player)
    known = nodes.memory[:, player]
    names, first = np.unique(known[acts], return_index=True)
    rows: dict[int | None, list[np.uint64]] = {}
    for name, node in zip(names, acts[first], strict=True):
        up = last[node]
        rows.setdefault(None if up < 0 else int(known[up]), []).append(name)
    return nodes.chooser == player, rows

"""Composed play: P re-solves at every infoset of a tree of positions, each from the one above.

This measures what a search on trees of positions plays, as `search.nested` does on compiled games:
an infoset plays the solution of its own subgame, whose blueprint is the strategy that the subgame
at P's decision above it left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxsolve.search.knowledge._host import Positions, best_response, positions_of, values_of
from jaxsolve.search.knowledge._solve import PositionSolution, solve_positions
from jaxsolve.search.knowledge._subgame import PositionSubgame, knowledge_subgame
from jaxsolve.search.knowledge._tree import PositionTree


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
    **options: Any,
) -> NestedPositions:
    """Returns what a player's re-solving at every infoset makes of a blueprint.

    Args:
        tree: of positions, grown as far as play shall be measured.
        edge: float64 [N], the blueprint: the probability of the action above each used node, odds
            of chance included.
        player: P.
        iterations: of PCFR+ in each subgame. Of its average and its last strategy, the one that is
            worth more against a best response is played.
        **options: of `knowledge_subgame`.

    Raises:
        ValueError: as `knowledge_subgame`.
    """
    nodes = positions_of(tree)
    known = nodes.memory[:, player]
    row_of, rows = _decisions(nodes, player)
    final, solved, skipped = np.array(edge, np.float64), 0, 0
    waiting = [(name, final.copy()) for name in rows.get(None, [])]
    while waiting:
        name, base = waiting.pop()
        found = knowledge_subgame(tree, base, player, name, **options)
        if found is None:
            skipped += 1
        else:
            solved += 1
            base = resolved(nodes, base, player, found, iterations)
        chosen = row_of & (nodes.above(known) == name)
        final[chosen] = base[chosen]
        waiting += [(below, base) for below in rows.get(int(name), [])]
    return NestedPositions(
        final, worst_case(nodes, final, player), worst_case(nodes, edge, player), solved, skipped
    )


def resolved(
    nodes: Positions, edge: np.ndarray, player: int, found: PositionSubgame, iterations: int
) -> np.ndarray:
    """Returns a blueprint's edges [N] with P's free part from the solution of a subgame."""
    solution: PositionSolution = solve_positions(found.tree, iterations)
    inner = positions_of(found.tree)
    size, best = len(inner.parent), None
    for strategy in (solution.average, solution.current):
        play = np.asarray(strategy, np.float64)[:size]
        play = np.where(inner.chooser >= 0, play, inner.odds)
        worth = worst_case(inner, play, player)
        if best is None or worth > best[0]:
            best = worth, play
    assert best is not None
    at = np.flatnonzero((found.source >= 0) & (inner.chooser == player))
    out = edge.copy()
    out[found.source[at]] = best[1][at]
    return out


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

"""Small positions of dark chess, and searches of their trees that look some plies ahead."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

import games
from jaxsolve.search import knowledge


class Position(NamedTuple):
    """One small board, with White to move.

    Attributes:
        fen: the board.
        plies: the game ends after these.
        at_cap: what it then pays, "draw" or "material".
    """

    fen: str
    plies: int
    at_cap: str


POSITIONS = (
    Position("k3/4/2K1/4 w", 4, "draw"),
    Position("3k/2pp/PP2/K3 w", 4, "material"),
    Position("k3/4/4/K2R w", 4, "material"),
    Position("k3/4/4/KN2 w", 4, "material"),
    Position("k3/4/4/KB2 w", 4, "material"),
    Position("kn2/4/4/K2R w", 3, "material"),
    Position("3k/3p/P3/K3 w", 4, "material"),
    Position("k3/p3/3P/3K w", 5, "material"),
    Position("k3/3p/P3/3K w", 4, "material"),
    Position("1k2/2p1/1P2/2K1 w", 4, "material"),
    Position("3k/4/PP2/K3 w", 4, "material"),
    Position("k2b/4/4/K2N w", 3, "material"),
    Position("k3/4/2K1/4 w", 6, "draw"),
    Position("3k/2pp/PP2/K3 w", 6, "material"),
    Position("3k1/5/5/5/1K2R w", 5, "draw"),
)
"""Small ones first; the last three are those of which the documentation gives the values."""


CAPACITY = 1 << 16
"""Nodes of a tree; the largest has 49,771."""

ITERATIONS = 2_000
"""Iterations of PCFR+ in each search."""

SEARCHES: dict[str, dict[str, Any]] = {
    "unsafe": {"gadget": "unsafe"},
    "klss": {},
    "kluss": {"frozen": False},
}
"""Searches at every infoset, as options of `knowledge_subgame`."""


class Tree(NamedTuple):
    """A position's whole tree.

    Attributes:
        tree: all N nodes.
        nodes: the same on the host.
        leaf: float64 [N], what nodes are worth by material.
    """

    tree: knowledge.PositionTree
    nodes: knowledge.Positions
    leaf: np.ndarray


def rules(position: Position) -> games.DarkChess:
    """Returns the rules of a position."""
    whole: Any = games.load(
        f"dark_chess(fen={position.fen.replace(' ', '_')},plies={position.plies})"
    )
    return dataclasses.replace(whole, at_cap=position.at_cap)


def whole_tree(game: games.DarkChess) -> Tree:
    """Returns all nodes of a small game of dark chess.

    Raises:
        ValueError: they do not fit.
    """
    tree = knowledge.grow_breadth_first(game, knowledge.start_tree(game, CAPACITY))
    if bool(tree.full):
        raise ValueError(f"{game.name} has more than {CAPACITY} nodes")
    nodes = knowledge.positions_of(tree)
    leaf = jax.jit(jax.vmap(game.material))(tree.worlds.state)
    return Tree(tree, nodes, np.asarray(leaf, np.float64)[: len(nodes.parent)])


def blueprint(whole: Tree, plies: int) -> np.ndarray:
    """Returns float64 [N], edges of the equilibrium of the first plies, valued by material there.

    Beyond it both players are uniform.
    """
    near = knowledge.beginning(whole.tree, whole.nodes, plies, whole.leaf)
    solver = knowledge.growing_solver(near, knowledge.single_root())
    solver.iterate(ITERATIONS)
    nodes, known = whole.nodes, solver.read().average
    width = np.bincount(nodes.parent[1:], minlength=len(nodes.parent))
    edge = np.where(nodes.chooser >= 0, 1 / np.maximum(nodes.above(width), 1), nodes.odds)
    edge[: len(known)] = known
    return edge


def re_solved(whole: Tree, plies: int) -> dict[str, float]:
    """Returns what White's strategies are worth against a best response, by name.

    Args:
        whole: the tree on which play is measured.
        plies: seen by each search, the first one's strategy being the blueprint.
    """
    edge, worth = blueprint(whole, plies), dict[str, float]()
    for name, options in SEARCHES.items():
        found = knowledge.nested_positions(
            whole.tree,
            edge,
            0,
            look_ahead=plies,
            leaf=whole.leaf,
            iterations=ITERATIONS,
            **options,
        )
        worth |= {"blueprint": found.blueprint_worst_case, name: found.worst_case}
        worth["searches"] = found.solved
    return worth

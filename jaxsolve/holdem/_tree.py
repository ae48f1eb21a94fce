"""From betting and boards to the tensors of a PublicTree: rows are (betting node, board).

The hand axis is the hands that do not meet the root board. Ranges are the reaches at the root;
every payoff is divided by the number of compatible pairs of hands, so that values are chips a deal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._betting_tree import BettingTree, Kind
from jaxsolve.holdem._boards import compatible, showdown_signs
from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._leaf_groups import Rake, leaf_groups
from jaxsolve.holdem._operators import DENSE, payoffs
from jaxsolve.holdem._payoffs import Pays, Placed
from jaxsolve.holdem._runouts import Runouts, permuted_hands
from jaxsolve.holdem._strength import strengths
from jaxsolve.tree import (
    DecisionRows,
    PlayerTree,
    PublicTree,
    SequenceLayout,
    float_type,
    player_tree,
    shared_levels,
)


@dataclasses.dataclass(frozen=True)
class PlayerRows:
    """Where the public rows of one player come from (R rows, in order of betting nodes).

    Attributes:
        node: int32 [R], betting node.
        board: int32 [R], board of that node's street.
        rows: the same as rows of a sequence form.
        place: where each public sequence lies in the tensors.
        last: per betting node, int32 [B], the last own sequence on each board of its street.
    """

    node: np.ndarray
    board: np.ndarray
    rows: DecisionRows
    place: SequenceLayout
    last: list[np.ndarray]


def public_tree(
    betting: BettingTree,
    streets: Sequence[Runouts],
    hands: np.ndarray,
    ranges: np.ndarray,
    *,
    rake: Rake = Rake(),  # noqa: B008
    operator: str = "prefix",
    parts: int = 1,
) -> tuple[PublicTree, tuple[PlayerRows, PlayerRows]]:
    """Returns numpy tensors of a spot, and where its rows lie.

    Args:
        betting: the betting tree.
        streets: boards of each of its streets.
        hands: int32 [H], rows of `HANDS`.
        ranges: float [2, H], weights of each player's hands.
        rake: taken from the winner.
        operator: one of `OPERATORS`; the dense forms, made for accelerators, have no padding.
        parts: how many trees the boards after the first street are cut into, of which this is one.
    """
    pairs = float(ranges[0] @ compatible(hands) @ ranges[1])
    players, tables = zip(
        *(
            _player(betting, streets, hands, ranges[i], i, unpadded=operator in DENSE)
            for i in range(2)
        ),
        strict=True,
    )
    if parts > 1:
        pairs_of = zip(players, tables, strict=True)
        players = tuple(_sharing(betting, player, rows, parts) for player, rows in pairs_of)
    placed = []
    for group in leaf_groups(betting, len(streets), rake):
        outs = streets[group.street]
        chance = outs.weight[:, None, None] / pairs
        hangs = [
            t.place.sequence[np.stack([t.last[n] for n in group.nodes], 1)].astype(np.int32)
            for t in tables
        ]
        boards = outs.boards
        matrix = _mean_matrices(hands, streets, group.street) if group.pays == Pays.ALL_IN else None
        amount = group.amount[None] * chance
        if group.street == 0 and group.pays != Pays.ALL_IN:  # a part has its share of runouts
            amount = amount / parts
        placed.append(Placed(group.pays, boards, hangs, amount, matrix, group.street))
    leaves = payoffs(hands, placed, [t.place.size for t in tables], operator)
    return PublicTree(players, (leaves,)), tables


def _player(
    betting: BettingTree,
    streets: Sequence[Runouts],
    hands: np.ndarray,
    reach: np.ndarray,
    player: int,
    *,
    unpadded: bool,
) -> tuple[PlayerTree, PlayerRows]:
    nodes, boards, parents, widths, actions, levels = [], [], [], [], [], []
    last: list[np.ndarray] = []
    depth = np.zeros(betting.num_nodes, np.int32)  # own actions before the node
    first = np.zeros(betting.num_nodes, np.int64)  # first own sequence of the node's first row
    used = 1
    for node in range(betting.num_nodes):
        up, street = int(betting.parent[node]), int(betting.street[node])
        count = len(streets[street].boards)
        if up < 0:
            here = np.zeros(count, np.int64)
        else:
            if betting.actor[up] == player:
                above = np.arange(len(streets[betting.street[up]].boards))
                slot = node - int(betting.first_child[up])
                here = first[up] + above * int(betting.num_children[up]) + slot
            else:
                here = last[up]
            depth[node] = depth[up] + (betting.actor[up] == player)
            if street > betting.street[up]:
                here = here[streets[street].parent]
        last.append(here)
        if betting.kind[node] == Kind.DECISION and betting.actor[node] == player:
            width = int(betting.num_children[node])
            first[node] = used
            used += width * count
            nodes.append(np.full(count, node))
            boards.append(np.arange(count))
            parents.append(here)
            widths.append(np.full(count, width))
            actions.append(np.tile(betting.action[list(betting.children(node))], count))
            levels.append(np.full(count, depth[node]))
    at, board = _join(nodes), _join(boards)
    rows = DecisionRows(
        parent=_join(parents),
        offset=np.concatenate([[1], 1 + np.cumsum(_join(widths))]).astype(np.int32),
        action=_join(actions),
        roots=1,
        root_reach=np.asarray(reach)[None],
        infostate=np.full(len(at), -1, np.int32),
        public=np.arange(len(at), dtype=np.int32),
        level=_join(levels),
    )
    symmetry = _symmetry(betting, streets, hands, at, board)
    tree, place = player_tree(rows, hands=len(hands), symmetry=symmetry, unpadded=unpadded)
    return tree, PlayerRows(at, board, rows, place, last)


def _sharing(betting: BettingTree, player: PlayerTree, rows: PlayerRows, parts: int) -> PlayerTree:
    """Returns a player's sequences, those of the first street marked: every part has them."""
    form = rows.rows
    first = (betting.street[rows.node] == 0)[form.row_of]
    on_all = np.zeros(rows.place.size, bool)
    on_all[rows.place.sequence[form.roots :][first]] = True
    return dataclasses.replace(player, shared=shared_levels(player, on_all, parts))


def _symmetry(
    betting: BettingTree,
    streets: Sequence[Runouts],
    hands: np.ndarray,
    node: np.ndarray,
    board: np.ndarray,
) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """Returns the group of each row, and the images of all hands under each group.

    Rows of the last street have nothing below that was put together.
    """
    number: dict[Any, int] = {}
    orbits: list[np.ndarray | None] = []
    kind = np.zeros(len(node), np.int64)
    where = np.full(len(HANDS), -1, np.int32)
    where[hands] = np.arange(len(hands))
    for row, (n, b) in enumerate(zip(node, board, strict=True)):
        street = int(betting.street[n])
        group = streets[street].group[b] if street + 1 < len(streets) else ()
        group = group if len(group) > 1 else ()
        if group not in number:
            number[group] = len(orbits)
            images = [where[permuted_hands(p)[hands]] for p in group]
            orbits.append(np.stack(images) if images else None)
        kind[row] = number[group]
    return kind, orbits


def _mean_matrices(hands: np.ndarray, streets: Sequence[Runouts], street: int) -> Any:
    """Returns float [B, H, H], the expected sign of a showdown over the cards to come.

    Equivalent runouts were put together, so each matrix is averaged over the images of both hands.
    """
    size = len(hands)
    where = np.full(len(HANDS), -1)
    where[hands] = np.arange(size)
    below = [streets[-1].weight[b] for b in range(len(streets[-1].boards))]
    ranked = strengths(hands, streets[-1].boards)
    sums: Any = None
    for at in range(len(streets) - 2, street - 1, -1):
        upper, lower = streets[at], streets[at + 1]
        means = np.zeros((len(upper.boards), size, size), float_type())
        for b, top in enumerate(lower.parent):
            matrix = showdown_signs(ranked[b]) if sums is None else sums[b]
            means[top] += matrix * means.dtype.type(below[b] if sums is None else 1)
        for top, group in enumerate(upper.group):
            if len(group) > 1:
                images = [where[permuted_hands(p)[hands]] for p in group]
                means[top] = np.mean([means[top][np.ix_(i, i)] for i in images], 0)
        sums = means
    sums = sums * compatible(hands)
    weight = streets[street].weight
    return (sums / np.where(weight > 0, weight, 1)[:, None, None]).astype(float_type())


def _join(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, np.int32)

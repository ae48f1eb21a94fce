"""The public actions of a game whose chance moves do not depend on them.

Poker is such a game: cards come between rounds, and what can be bet does not depend on them. A
node is a sequence of actions of all players; a *stage* is the number of chance moves before it (a
street). What a player knows of the cards at a stage is a *bucket*. An infoset is a node and a
bucket, and its entries in a table lie together, at `row[node] + bucket * count[node]`.

Example: Kuhn poker has one stage and nine nodes, four of them decisions; with three buckets, the
cards, its tables have 4 * 3 * 2 = 24 entries:

    node      0      1      2      3        4          5         6         7         8
    history   -      p      b      pp       pb         bp        bb        pbp       pbb
    actor     0      1      1      end      0          end       end       end       end
    child     1      3      5      -        7          -         -         -         -
    row       0      6      12     -        18         -         -         -         -
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from jaxsolve.mccfr._lines import find_line, line_to
from jaxsolve.types import TERMINAL

MOST_ACTIONS, MOST_PLAYERS = 32, 10
"""Of one node, and of a game."""

NODE = np.dtype(
    [
        ("row", np.int64),
        ("child", np.int32),
        ("end", np.int32),
        ("count", np.uint8),
        ("actor", np.int8),
        ("stage", np.uint8),
        ("prunable", np.uint8),
        ("role", np.uint8),
        ("kind", np.uint8),
        ("padding", np.uint16),
    ]
)
"""A node in `jaxsolve/native/mccfr.cc`."""


@dataclasses.dataclass(frozen=True)
class ActionTree:
    """Nodes, parents before children, children of one node one after another (P nodes, n players).

    Attributes:
        num_players: n.
        parent: int32 [P], -1 for the first.
        action: int32 [P], the action that led here, in the numbers of the game; -1 for the first.
        actor: int8 [P], player or TERMINAL.
        stage: uint8 [P].
        count: int32 [P], actions; 0 at an end.
        label: the action that led here in words; names lines. May be empty.
    """

    num_players: int
    parent: np.ndarray
    action: np.ndarray
    actor: np.ndarray
    stage: np.ndarray
    count: np.ndarray
    label: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 2 <= self.num_players <= MOST_PLAYERS:
            raise ValueError(f"2 to {MOST_PLAYERS} players, not {self.num_players}")
        if (most := int(self.count.max(initial=0))) > MOST_ACTIONS:
            raise ValueError(f"a node has {most} actions; at most {MOST_ACTIONS} are possible")
        ends = self.actor == TERMINAL
        if (ends != (self.count == 0)).any():
            raise ValueError("nodes without actions are the ends of the game, and only these")

    @property
    def num_nodes(self) -> int:
        """P."""
        return len(self.parent)

    @functools.cached_property
    def num_stages(self) -> int:
        """Stages on which somebody acts."""
        return 1 + int(self.stage[self.count > 0].max(initial=0))

    @property
    def num_sequences(self) -> int:
        """Pairs of a decision and an action."""
        return int(self.count.sum())

    @functools.cached_property
    def child(self) -> np.ndarray:
        """int32 [P], the first child; -1 at an end."""
        first = np.full(self.num_nodes, -1, np.int32)
        below = np.arange(1, self.num_nodes, dtype=np.int32)[::-1]
        first[self.parent[below]] = below
        return first

    @functools.cached_property
    def ends(self) -> np.ndarray:
        """int32 [T], the nodes at which the game is over."""
        return np.flatnonzero(self.count == 0).astype(np.int32)

    @functools.cached_property
    def end_number(self) -> np.ndarray:
        """int32 [P], the number of each node among the ends; -1 where the game goes on."""
        out = np.full(self.num_nodes, -1, np.int32)
        out[self.ends] = np.arange(len(self.ends))
        return out

    def rows(self, num_buckets: Sequence[int]) -> np.ndarray:
        """Returns int64 [P + 1], where the entries of each node begin, and how many there are."""
        width = np.asarray(num_buckets, np.int64)[np.where(self.count > 0, self.stage, 0)]
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(width * self.count)])

    def line(self, node: int) -> str:
        """Returns the actions that lead to a node, as in "x b50 c / x"; "/" is a new stage."""
        return line_to(node, self.parent, self.stage, self.label)

    def find(self, line: str) -> int:
        """Returns the node that a line leads to, see `line`; the first node for "".

        Raises:
            ValueError: there is no such line; says what can be done where it leaves the tree.
        """
        return find_line(line, self._children, self.label, self.line)

    def _children(self, node: int) -> range:
        first = int(self.child[node])
        return range(first, first + int(self.count[node]))

    def prunable(self) -> np.ndarray:
        """uint8 [P], a bit for each of the first eight actions that pruning may skip.

        Not on the last stage, and not where the action ends the game (Brown & Sandholm 2019).
        """
        out = np.zeros(self.num_nodes, np.uint8)
        place = np.arange(self.num_nodes) - self.child[self.parent]
        inner = (self.count > 0) & (self.parent >= 0)
        inner &= self.stage[self.parent] < self.num_stages - 1
        for a in range(8):
            out[self.parent[inner & (place == a)]] |= np.uint8(1 << a)
        return out

    def packed(self, num_buckets: Sequence[int]) -> np.ndarray:
        """Returns the nodes as native code reads them, `NODE` [P]."""
        out = np.zeros(self.num_nodes, NODE)
        out["row"] = self.rows(num_buckets)[:-1]
        out["child"] = self.child
        out["end"] = -1
        out["end"][self.ends] = np.arange(len(self.ends))
        for name in ("count", "actor", "stage"):
            out[name] = getattr(self, name)
        out["prunable"] = self.prunable()
        return out

    def __repr__(self) -> str:
        decisions = int((self.count > 0).sum())
        return (
            f"ActionTree({self.num_players} players, {decisions:,} decisions, "
            f"{self.num_sequences:,} sequences, {self.num_stages} stages)"
        )

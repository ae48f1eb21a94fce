"""Public actions up to a depth limit, where players choose how a blueprint goes on.

At each leaf every player who may choose takes one of k *continuations* for the rest of the game,
in secret: the blueprint, or the blueprint with folds, calls or raises made more likely. The choice
is a decision with regrets of its own, and all its actions lead to the same node. Beyond it the
players follow what they chose: these decisions are *fixed*, have no entries in the tables and take
their policy from the blueprint's.

So one more kind of game for the samplers: a pass that comes to a leaf plays on to the end of the
game, which is a rollout of the leaf.

Source: Brown, Sandholm and Amos 2018, "Depth-limited solving for imperfect-information games"
(multi-valued states; the opponent chooses), and Brown and Sandholm 2019, "Superhuman AI for
multiplayer poker" (everybody chooses; the four continuations of `BIAS`).
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.mccfr._tree import ActionTree


class Role(enum.IntEnum):
    """What a node is; the numbers are those of `jaxsolve/native/action_tree.h`."""

    PLAY = 0
    CHOICE = 1
    FIXED = 2


class Kind(enum.IntEnum):
    """Kinds of actions that a continuation makes more likely."""

    FOLD = 0
    CALL = 1
    RAISE = 2


@dataclasses.dataclass(frozen=True)
class Continuations:
    """What players do beyond a depth limit (E entries, k continuations).

    Attributes:
        sums: float32 or uint16 [E], of the blueprint's average policy, see `Tables`.
        factor: float32 [k, 3], what the probabilities of folds, of checks and calls, and of bets
            and raises are multiplied with before they are made to sum to 1 again.
    """

    sums: np.ndarray
    factor: np.ndarray

    def __post_init__(self) -> None:
        factor = np.asarray(self.factor)
        if factor.ndim != 2 or factor.shape[1] != len(Kind) or not len(factor):
            raise ValueError(f"factors are [k, {len(Kind)}], not {list(factor.shape)}")
        if not (np.isfinite(factor) & (factor > 0)).all():
            raise ValueError("factors of continuations are positive")
        if self.sums.dtype not in (np.float32, np.uint16):
            raise ValueError(f"a blueprint has sums of 32 or 16 bits, not {self.sums.dtype}")

    @property
    def count(self) -> int:
        """k."""
        return len(self.factor)


def bias(strength: float = 5.0, count: int = 4) -> np.ndarray:
    """Returns float32 [count, 3], factors: the blueprint, then folds, calls and raises favoured.

    Args:
        strength: of the favoured kind; 5 is Pluribus's and 10 Modicum's.
        count: 1 is the blueprint alone, 4 all.

    Raises:
        ValueError: fewer than 1 or more than 4, or a strength that is not positive.
    """
    if not 1 <= count <= 1 + len(Kind):
        raise ValueError(f"there are 1 to {1 + len(Kind)} continuations, not {count}")
    if not 0 < strength < np.inf:
        raise ValueError(f"strength is positive, not {strength}")
    out = np.ones((1 + len(Kind), len(Kind)), np.float32)
    for kind in Kind:
        out[1 + kind, kind] = strength
    return out[:count]


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LimitedTree(ActionTree):
    """Public actions of a search, the choices at its leaves, and what comes after them (P nodes).

    Attributes:
        role: uint8 [P], `Role`. A choice has k actions and one child.
        kind: uint8 [P], `Kind` of the action that led here.
        source: int64 [P], where the blueprint has its entries of a fixed node; else -1.
        beyond: the continuations.
    """

    role: np.ndarray
    kind: np.ndarray
    source: np.ndarray
    beyond: Continuations

    def __post_init__(self) -> None:
        super().__post_init__()
        chooses = self.role == Role.CHOICE
        if (self.count[chooses] != self.beyond.count).any():
            raise ValueError(f"a choice has {self.beyond.count} actions, one a continuation")

    def rows(self, num_buckets: Sequence[int]) -> np.ndarray:
        """Returns int64 [P + 1], see `ActionTree.rows`; fixed nodes have no entries."""
        width = np.asarray(num_buckets, np.int64)[np.where(self.count > 0, self.stage, 0)]
        entries = np.where(self.role == Role.FIXED, 0, width * self.count)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(entries)])

    def packed(self, num_buckets: Sequence[int]) -> np.ndarray:
        """Returns the nodes as native code reads them, `NODE` [P]."""
        out = super().packed(num_buckets)
        fixed = self.role == Role.FIXED
        out["row"][fixed] = self.source[fixed]
        out["role"], out["kind"] = self.role, self.kind
        return out

    def __repr__(self) -> str:
        roles = np.bincount(self.role[self.count > 0], minlength=len(Role))
        return (
            f"LimitedTree({self.num_players} players, {roles[Role.PLAY]:,} decisions, "
            f"{roles[Role.CHOICE]:,} choices of {self.beyond.count}, {roles[Role.FIXED]:,} fixed)"
        )

    def policy_beyond(self, node: int, bucket: int, chosen: int) -> np.ndarray:
        """Returns float32 [A], what a continuation does at a fixed node with a bucket."""
        from jaxsolve.mccfr._tables import as_float, matched

        count, first = int(self.count[node]), int(self.child[node])
        at = int(self.source[node]) + bucket * count
        base = matched(as_float(self.beyond.sums[at : at + count]))
        policy = base * self.beyond.factor[chosen][self.kind[first : first + count]]
        return (policy / policy.sum()).astype(np.float32)


class _Labels(Sequence[str]):
    """Names of actions, those of a tree in another order; "*" is a choice."""

    def __init__(self, label: Sequence[str], at: np.ndarray) -> None:
        self._label, self._at = label, at

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, node: Any) -> Any:
        at = int(self._at[node])
        return "*" if at < 0 else self._label[at]


def limited_tree(
    tree: ActionTree,
    last: int,
    *,
    source: np.ndarray,
    kind: np.ndarray,
    beyond: Continuations,
    choosers: np.ndarray,
) -> tuple[LimitedTree, np.ndarray]:
    """Returns (the tree with choices where a stage ends, the old number of each of its nodes).

    Args:
        tree: whole (P nodes, n players).
        last: the last stage that is played; all later decisions are fixed.
        source: int64 [P], where the blueprint has its entries of the decisions after that.
        kind: uint8 [P], `Kind` of the action that led to each node.
        beyond: the continuations.
        choosers: bool [P, n], who chooses at each first decision after the stage.

    Returns:
        Choices have the old number -1. They come before the decision at which they are made, in
        the order of the seats.
    """
    inner = tree.count > 0
    leaf = inner & (tree.stage > last)
    leaf[1:] &= tree.stage[tree.parent[1:]] <= last
    wide = np.flatnonzero(leaf)
    at, who = np.nonzero(choosers[wide])
    place = np.flatnonzero(np.r_[True, at[1:] != at[:-1]]) if len(at) else np.zeros(0, int)
    # Choices are numbered after the old nodes; `first` and `after` say what comes before and below.
    old, extra = tree.num_nodes, len(at)
    first = np.arange(old)
    first[wide[at[place]]] = old + place
    after = np.r_[old + 1 + np.arange(extra), 0][:extra]
    ends = np.r_[place[1:], extra] - 1 if extra else place
    after[ends] = wide[at[ends]]
    count = np.r_[np.where(inner, tree.count, 0), np.ones(extra, int)]
    below = np.r_[tree.child, after]
    order, parent = [first[:1]], [np.array([-1])]
    size = 0
    while len(level := order[-1]):
        up = np.repeat(np.arange(len(level)), count[level])
        rank = np.arange(len(up)) - np.repeat(np.cumsum(count[level]) - count[level], count[level])
        child = below[level[up]] + rank
        made = level[up] >= old
        order.append(np.where(made, child, first[np.minimum(child, old - 1)]))
        parent.append(size + up)
        size += len(level)
    node, above = np.concatenate(order), np.concatenate(parent)
    chosen = node >= old
    origin = np.where(chosen, -1, node)
    of = np.where(chosen, 0, node)
    fixed = ~chosen & inner[of] & (tree.stage[of] > last)
    seat = np.r_[tree.actor, who.astype(np.int8)][node]
    # The first choice stands where its decision stood: what led there leads to the choice now.
    came = np.r_[np.arange(old), np.full(extra, -1)]
    came[old + place] = wide[at[place]]
    came[wide[at[place]]] = -1
    came = came[node]
    led = np.maximum(came, 0)
    out = LimitedTree(
        num_players=tree.num_players,
        parent=above.astype(np.int32),
        action=np.where(came < 0, -1, tree.action[led]).astype(np.int32),
        actor=seat.astype(np.int8),
        stage=np.where(chosen, last, tree.stage[of]).astype(np.uint8),
        count=np.where(chosen, beyond.count, tree.count[of]).astype(np.int32),
        label=_Labels(tree.label, came) if len(tree.label) else (),
        role=np.where(chosen, Role.CHOICE, np.where(fixed, Role.FIXED, Role.PLAY)).astype(np.uint8),
        kind=np.where(came < 0, Kind.CALL, kind[led]).astype(np.uint8),
        source=np.where(fixed, source[of], -1),
        beyond=beyond,
    )
    return out, origin

"""Depth-limited subgames of a card game, all of one shape, to be solved from any beliefs.

Every class of subgame becomes a `PublicTree` with hands; trees are padded to common sizes and
stacked, so that subgame, ranges and constraints are arguments of one compiled program and a batch
of them is a `vmap`. Arrays that are equal for all classes are stored once, and stay unbatched.

Above its first row each tree has a gadget for either player: follow, or terminate for a value per
hand (Burch, Johanson & Bowling 2014). Where nobody may terminate it does nothing. Inside, every
player has a sequence that leads to each public node alone (a row with one action is added where the
other player moved last), so that ranges and values at a node are entries of sequence vectors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.public import Limit, PublicGame, PublicState
from jaxsolve.search.fixed._outlines import Outline, Seat, next_decisions, outline
from jaxsolve.tree import Block, BlockPayoffs, GatherSum, PlayerTree, PublicTree, float_type, take
from jaxsolve.types import TERMINAL, Array, pytree
from jaxsolve.values import ValueFunction, ValueLeaf

FOLLOW, TERMINATE = 1, 2
"""Positions of the gadget's sequences, after the empty one."""

PADDING = -3
"""`Nodes.actor` of entries that stand for nothing."""


class Nodes(NamedTuple):
    """The public nodes of a subgame, breadth first (M nodes, A actions; local numbers).

    Attributes:
        actor: int32 [M], player, CHANCE, TERMINAL or PADDING.
        subgame_class: int32 [M], of the subgame from there; -1 at chance and terminal nodes.
        frontier: bool [M], at the depth limit.
        child: int32 [M, A], -1 where there is none.
        decision: int32 [M, C], of inner nodes at which a player acts: the next nodes at which a
            player acts, in the order of the children of a `PublicTable`; -1 where there is none.
        own: int32 [M, A], the actor's sequence of each action; 0 where there is none.
        at: int32 [2, M], the sequence of each player that leads to the node; shared with others at
            chance and terminal nodes only.
        factor: float [M], probability of chance since the root.
    """

    actor: Array
    subgame_class: Array
    frontier: Array
    child: Array
    decision: Array
    own: Array
    at: Array
    factor: Array


@pytree
@dataclasses.dataclass(frozen=True)
class GadgetLeaf:
    """What a player gets who terminates: a counterfactual value per hand, [2, H]."""

    alternative: Array

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        return jnp.zeros_like(reach[player]).at[TERMINATE].set(self.alternative[player])

    def with_scale(self, scale: Array) -> GadgetLeaf:
        """See `LeafOperator`."""
        return GadgetLeaf(self.alternative * scale)


class Subgame(NamedTuple):
    """One subgame.

    Attributes:
        tree: leaves are payoffs, gadget and, below a depth limit, `ValueLeaf` without a function.
        nodes: its public nodes.
        possible: bool [2, H], hands that can be held at the root.
    """

    tree: PublicTree
    nodes: Nodes
    possible: Array


@pytree
@dataclasses.dataclass(frozen=True)
class Subgames:
    """Subgames of several classes, stacked.

    Attributes:
        content: a `Subgame` whose arrays have a leading axis where classes differ.
        row: int32 [K], the place of each class on that axis; -1 for classes that are not here.
        stacked: which leaves of `content` have that axis.
        depth: longest path of public nodes.
        states: what value functions are given of each class, leading axis K; None without leaves at
            a depth limit.
    """

    content: Subgame
    row: Array
    states: PublicState | None
    stacked: tuple[bool, ...] = dataclasses.field(metadata={"static": True})
    depth: int = dataclasses.field(metadata={"static": True})

    def at(self, subgame_class: Array) -> Subgame:
        """Returns the subgame of a class (int32 [], traced)."""
        leaves, structure = jax.tree.flatten(self.content)
        place = self.row[subgame_class]
        picked = [take(x, place) if s else x for x, s in zip(leaves, self.stacked, strict=True)]
        return jax.tree.unflatten(structure, picked)


def with_value(
    tree: PublicTree, value: ValueFunction | None, states: PublicState | None
) -> PublicTree:
    """Returns a tree of `Subgame` whose leaves at the limit use a value function.

    Args:
        tree: of a subgame.
        value: worth of leaves.
        states: `Subgames.states`.
    """
    leaves = tuple(
        dataclasses.replace(leaf, value=value, states=states)
        if isinstance(leaf, ValueLeaf)
        else leaf
        for leaf in tree.leaves
    )
    return tree.replace(leaves=leaves)


def subgames(
    game: PublicGame, limit: Limit, *, classes: Sequence[int] | np.ndarray | None = None
) -> Subgames:
    """Returns the depth-limited subgames of some classes.

    Args:
        game: the public nodes.
        limit: where to cut, counted from each subgame's root.
        classes: all by default.
    """
    chosen = np.arange(game.num_classes) if classes is None else np.unique(np.asarray(classes))
    outlines = [outline(game, int(game.representative[k]), limit) for k in chosen]
    sizes = _Sizes.of(outlines, game)
    made = [_assemble(game, outline, sizes) for outline in outlines]
    columns = list(zip(*(jax.tree.leaves(m) for m in made), strict=True))
    stacked = tuple(any(not np.array_equal(c[0], x) for x in c[1:]) for c in columns)
    leaves = [np.stack(c) if s else c[0] for c, s in zip(columns, stacked, strict=True)]
    content = jax.tree.unflatten(jax.tree.structure(made[0]), [jnp.asarray(x) for x in leaves])
    row = np.full(game.num_classes, -1, np.int32)
    row[chosen] = np.arange(len(chosen))
    depth = max(int(o.depth.max()) for o in outlines)
    states = game.states if sizes.frontier else None
    return Subgames(content, jnp.asarray(row), states, stacked, depth)


@dataclasses.dataclass
class _Sizes:
    """Common sizes: per player and level, rows and actions; lists; nodes."""

    rows: list[list[int]]
    actions: list[list[int]]
    fan: list[list[int]]
    terminals: int
    fan_terminal: list[int]
    frontier: int
    nodes: int
    actions_all: int
    decisions: int

    @staticmethod
    def of(outlines: list[Outline], game: PublicGame) -> _Sizes:
        rows, actions, fan, fan_terminal = [], [], [], []
        for i in range(2):
            levels = max(max(o.seats[i].level, default=0) for o in outlines) + 1
            rows.append([1] + [0] * (levels - 1))
            actions.append([2] + [1] * (levels - 1))
            fan.append([1] * levels)
            fan_terminal.append(1)
            for o in outlines:
                seat = o.seats[i]
                count = np.bincount(seat.level, minlength=levels)
                for level in range(1, levels):
                    mine = [r for r in range(len(seat.level)) if seat.level[r] == level]
                    rows[i][level] = max(rows[i][level], int(count[level]), 1)
                    widths = [seat.width[r] for r in mine]
                    actions[i][level] = max([actions[i][level], *widths])
                    fan[i][level] = max(fan[i][level], _most([seat.parent[r] for r in mine]))
                ends = [seat.at[k] for k in range(len(o.node)) if game.actor[o.node[k]] == TERMINAL]
                fan_terminal[i] = max(fan_terminal[i], _most(ends))
        return _Sizes(
            rows=rows,
            actions=actions,
            fan=fan,
            terminals=max(1, *(int((game.actor[o.node] == TERMINAL).sum()) for o in outlines)),
            fan_terminal=fan_terminal,
            frontier=max(int(o.frontier.sum()) for o in outlines),
            nodes=max(len(o.node) for o in outlines),
            actions_all=max(len(c) for o in outlines for c in o.child),
            decisions=max(1, *(len(d) for o in outlines for d in next_decisions(game, o))),
        )


def _most(items: list[Any]) -> int:
    """Returns how often the most frequent item occurs."""
    counts: dict[Any, int] = {}
    for x in items:
        counts[x] = counts.get(x, 0) + 1
    return max(counts.values(), default=0)


def _assemble(game: PublicGame, outline: Outline, sizes: _Sizes) -> Subgame:
    """Returns a subgame in padded numpy arrays."""
    hands, root = game.num_hands, int(outline.node[0])
    players, places = zip(
        *(_player(outline.seats[i], sizes, i, hands) for i in range(2)), strict=True
    )
    at = [np.array([places[i][s] for s in outline.seats[i].at], np.int32) for i in range(2)]
    mass = np.maximum(game.mass, 1e-300)
    unit = mass[outline.node] / mass[root]
    size = [p.num_sequences for p in players]

    ends = np.flatnonzero(game.actor[outline.node] == TERMINAL)
    weight = game.weight[outline.node[ends]] / mass[root]
    payoff = np.zeros((sizes.terminals, 2, hands, hands))
    payoff[: len(ends)] = game.payoff[outline.node[ends]] * weight[:, None]
    hangs = [_pad(a[ends], sizes.terminals, 0) for a in at]
    lists = [_lists(at[i][ends], size[i], sizes.fan_terminal[i], sizes.terminals) for i in range(2)]
    leaves: list[Any] = [
        BlockPayoffs(
            (_floats(payoff[:, 0]), _floats(payoff[:, 1].swapaxes(1, 2))),
            tuple(hangs),
            tuple(lists),
        ),
        GadgetLeaf(_floats(np.zeros((2, hands)))),
    ]
    if sizes.frontier:
        cut = np.flatnonzero(outline.frontier)
        leaves.append(
            ValueLeaf(
                value=None,
                states=None,
                subgame_class=_pad(game.subgame_class[outline.node[cut]], sizes.frontier, 0),
                factor=_floats(_pad(unit[cut], sizes.frontier, 0.0)),
                sequence=tuple(_pad(a[cut], sizes.frontier, 0) for a in at),
                leaves=tuple(_lists(at[i][cut], size[i], 1, sizes.frontier) for i in range(2)),
            )
        )
    tree = PublicTree(players, tuple(leaves))
    nodes = _nodes(game, outline, sizes, places, at, unit)
    return Subgame(tree, nodes, game.possible[root])


def _player(
    seat: Seat, sizes: _Sizes, player: int, hands: int
) -> tuple[PlayerTree, dict[tuple[int, int], int]]:
    """Returns the padded rows of a player, and the position of each sequence."""
    place: dict[tuple[int, int], int] = {(-1, 0): FOLLOW}
    gadget: Any = (np.ones((2, 1, 1), bool), np.zeros(1, np.int32))
    levels, children = [(Block(*gadget),)], [_lists(np.zeros(1, int), 1, 1, 1)]
    start, above_start, above_size = FOLLOW + 2, FOLLOW, 2
    for level in range(1, len(sizes.rows[player])):
        count, width = sizes.rows[player][level], sizes.actions[player][level]
        mine = [r for r in range(len(seat.level)) if seat.level[r] == level]
        legal, parent = np.zeros((width, count, 1), bool), np.zeros(count, np.int32)
        for n, r in enumerate(mine):
            legal[: seat.width[r], n] = True
            parent[n] = place[seat.parent[r]] - above_start
            for a in range(seat.width[r]):
                place[(r, a)] = start + a * count + n
        target = parent[: len(mine)]
        block: Any = (legal, parent)
        levels.append((Block(*block),))
        children.append(_lists(target, above_size, sizes.fan[player][level], count))
        above_start, above_size = start, width * count
        start += width * count
    reach: Any = _floats(np.ones((1, hands)))
    return PlayerTree(tuple(levels), tuple(children), reach), place


def _nodes(
    game: PublicGame,
    outline: Outline,
    sizes: _Sizes,
    places: Any,
    at: list[np.ndarray],
    unit: np.ndarray,
) -> Nodes:
    count, width = len(outline.node), sizes.actions_all
    child = np.full((sizes.nodes, width), -1, np.int32)
    own = np.zeros((sizes.nodes, width), np.int32)
    decision = np.full((sizes.nodes, sizes.decisions), -1, np.int32)
    for k, after in enumerate(next_decisions(game, outline)):
        decision[k, : len(after)] = after
    for k in range(count):
        child[k, : len(outline.child[k])] = outline.child[k]
        actor = game.actor[outline.node[k]]
        if actor >= 0 and not outline.frontier[k]:
            row = int(outline.row[k])
            own[k, : len(outline.child[k])] = [
                places[actor][(row, a)] for a in range(len(outline.child[k]))
            ]
    arrays: dict[str, Any] = {
        "actor": _pad(game.actor[outline.node], sizes.nodes, PADDING),
        "subgame_class": _pad(game.subgame_class[outline.node], sizes.nodes, -1),
        "frontier": _pad(outline.frontier, sizes.nodes, False),
        "child": child,
        "decision": decision,
        "own": own,
        "at": np.stack([_pad(a, sizes.nodes, 0) for a in at]),
        "factor": _floats(_pad(unit, sizes.nodes, 0.0)),
    }
    return Nodes(**arrays)


def _lists(target: np.ndarray, size: int, longest: int, pad: int) -> GatherSum:
    """Returns the sum over sources 0, 1, ... with the same target, in lists of a given length."""
    index = np.full((1, size, longest), pad, np.int32)
    used = np.zeros(size, int)
    for source, t in enumerate(target):
        index[0, t, used[t]] = source
        used[t] += 1
    made: Any = (index,)
    return GatherSum(made, None, None)


def _pad(values: np.ndarray, size: int, fill: Any) -> Any:
    """Returns values with `fill` up to a size; integers as int32."""
    subgame_class = np.int32 if np.issubdtype(values.dtype, np.integer) else values.dtype
    out = np.full(size, fill, subgame_class)
    out[: len(values)] = values
    return out


def _floats(values: np.ndarray) -> Any:
    return values.astype(float_type())

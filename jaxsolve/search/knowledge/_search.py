"""The search of one turn: a tree of positions grows while PCFR+ runs on it, until time is up.

`growth="one_sided"`: players take turns in exploring; leaves are drawn where the explorer looks
around and the other plays as it does now (Zhang & Sandholm 2025, arXiv 2506.01242).
`growth="deepening"`: leaves above depth d open that both players come to as they play now, and
those above d - 1 that one of them does; then d grows (after Zhang & Sandholm 2021, appendix D,
which opens one child where one player comes; here all children of a node open together).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxsolve.game import Game
from jaxsolve.search.knowledge._charge import Charges
from jaxsolve.search.knowledge._host import positions_of, reach_of
from jaxsolve.search.knowledge._solver import GrowingSolver, growing_solver
from jaxsolve.search.knowledge._tree import PositionTree, ValueFunction, grow_in_place
from jaxsolve.search.knowledge._turn import Before, Turn
from jaxsolve.types import TERMINAL

GROWTH = ("one_sided", "deepening")
TRUNKS = ("cfr", "lp")


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long a turn is searched.

    Attributes:
        seconds: until the answer; None for `rounds` alone.
        rounds: of growth, at most.
        iterations: of PCFR+ after each; with `seconds`, more where growth takes longer.
        last: share of the seconds, or of all iterations, that come after growth has ended.
        batch: leaves opened together.
        discount: of regrets (`growing_solver`).
        clock: that counts the seconds; `time.process_time` for those of the processor, which do not
            depend on what else a machine does.
    """

    seconds: float | None = 1.0
    rounds: int = 10_000
    iterations: int = 2
    last: float = 0.2
    batch: int = 128
    discount: float = 2.0
    clock: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds must be positive, not {self.seconds}")
        if min(self.rounds, self.iterations, self.batch) < 1 or not 0 <= self.last < 1:
            raise ValueError("rounds, iterations and batch are 1 or more, last is in [0, 1)")


class Searched(NamedTuple):
    """What a search found (A actions at P's infoset).

    Attributes:
        actions: int64 [A], of the game.
        policy: float64 [A], the last strategy.
        average: float64 [A].
        support: float64 [A], the strategy when growth ended.
        safe: whether the opponent stays out of every class.
        value: to P.
        before: for the next turn.
        nodes, infosets, positions, depth, iterations: how much was searched.
        carried: nodes of the last turn's tree.
        seconds: it took.
    """

    actions: np.ndarray
    policy: np.ndarray
    average: np.ndarray
    support: np.ndarray
    safe: bool
    value: float
    before: Before
    nodes: int
    infosets: int
    positions: int
    carried: int
    depth: int
    iterations: int
    seconds: float


class _Clock:
    """When to stop: a share of the seconds, or never."""

    def __init__(self, effort: Effort):
        self.begin, self.effort = effort.clock(), effort

    def spent(self) -> float:
        return self.effort.clock() - self.begin

    def over(self, share: float = 1.0) -> bool:
        return self.effort.seconds is not None and self.spent() >= share * self.effort.seconds


def search_turn(
    game: Game,
    turn: Turn,
    value_fn: ValueFunction,
    *,
    effort: Effort | None = None,
    growth: str = "one_sided",
    charge: float = 0.0,
    trunk: str = "cfr",
    seed: int = 0,
) -> Searched:
    """Returns what P should play at a turn.

    Args:
        game: the rules.
        turn: where the search begins (`begin_turn`).
        value_fn: what leaves are worth.
        effort: how long.
        growth: one of `GROWTH`.
        charge: what an action costs P that finds nothing out (`Charges`).
        trunk: one of `TRUNKS`; a linear program is solved to its end, however long that takes.
        seed: of the leaves that are drawn.

    Raises:
        ValueError: an unknown growth or trunk, linear programs without deepening, or there is no
            room for the children of P's positions.
    """
    if growth not in GROWTH:
        raise ValueError(f"growth must be one of {', '.join(GROWTH)}, not {growth!r}")
    if trunk not in TRUNKS or (trunk == "lp" and growth != "deepening"):
        raise ValueError(
            f"trunk must be one of {', '.join(TRUNKS)}, the latter with growth='deepening', "
            f"not {trunk!r} with {growth!r}"
        )
    effort = effort or Effort()
    grower = _Grower(game, turn, value_fn, effort, charge, trunk)
    grown = _one_sided if growth == "one_sided" else _deepening
    grown(grower, seed)
    support = grower.solver.read()
    grower.finish()
    read, tree, roots = grower.solver.read(), grower.tree, grower.roots
    nodes = positions_of(tree)
    opened = turn.own[np.asarray(tree.opened)[turn.own]]
    if not len(opened):
        size = len(tree.parent)
        raise ValueError(f"capacity={size} has no room for the moves of one position")
    below = np.flatnonzero(nodes.parent == opened[0])
    order = np.argsort(nodes.action[below])
    below = below[order]
    worth = -(read.gain + roots.alternative)
    edge = read.current if growth == "one_sided" else read.average
    return Searched(
        actions=nodes.action[below],
        policy=read.current[below],
        average=read.average[below],
        support=support.current[below],
        safe=float(read.enter.max()) == 0,
        value=float(roots.share @ worth),
        before=Before(grower.uncharged(), roots, read, edge, float(roots.share @ worth)),
        nodes=len(nodes.parent),
        infosets=grower.solver.num_infosets,
        positions=len(turn.own),
        carried=turn.carried,
        depth=len(nodes.levels) - 1,
        iterations=grower.iterations,
        seconds=grower.clock.spent(),
    )


class _Grower:
    """A tree with its solver."""

    def __init__(
        self,
        game: Game,
        turn: Turn,
        value_fn: ValueFunction,
        effort: Effort,
        charge: float,
        trunk: str,
    ):
        self.game, self.value_fn, self.effort, self.roots = game, value_fn, effort, turn.roots
        self.clock, self.tree, self.iterations = _Clock(effort), turn.tree, 0
        self.room = max(game.num_actions, 32 * effort.batch)
        self.charges: Charges | None = None
        own = turn.own[~np.asarray(turn.tree.opened)[turn.own]]
        restored = [turn.regret, turn.strategy]
        if charge:  # the solver reads values once, so costs have to be there before
            self._grow(own)
            self.charges = Charges(self.tree, turn.own, turn.roots.player, charge)
            self.tree = self.charges.added(self.tree)
            more = np.full(int(self.tree.num_nodes) - len(turn.regret), np.nan)
            restored = [np.concatenate([x, more]) for x in restored]
        self.solver: GrowingSolver = growing_solver(
            self.tree, turn.roots, discount=effort.discount, trunk=trunk
        )
        self.solver.restore(*restored)
        if not charge:
            self.open(own)

    def open(self, leaves: np.ndarray) -> None:
        """Opens leaves, all of them unless the tree is full."""
        begin, count = self.effort.clock(), int(self.tree.num_nodes)
        self._grow(leaves)
        if self.charges is not None:
            self.tree = self.charges.added(self.tree, count)
        self.solver.extend(self.tree)
        self.growing = self.effort.clock() - begin

    def uncharged(self) -> PositionTree:
        """Returns the tree without costs of actions."""
        return self.tree if self.charges is None else self.charges.removed(self.tree)

    def _grow(self, leaves: np.ndarray) -> None:
        batch = self.effort.batch
        for first in range(0, len(leaves), batch):
            some = np.full(batch, len(self.tree.parent), np.int32)
            some[: len(leaves[first : first + batch])] = leaves[first : first + batch]
            self.tree = grow_in_place(self.game, self.tree, some, self.room, self.value_fn)
            if bool(self.tree.full):
                break

    def iterate(self, iterations: int) -> None:
        """Does some iterations of PCFR+."""
        self.solver.iterate(iterations)
        self.iterations += iterations

    def balanced(self, share: float) -> None:
        """Iterates as long as growth took, a few times at least."""
        begin = self.effort.clock()
        self.iterate(self.effort.iterations)
        while self.timed and not self.clock.over(share):
            if self.effort.clock() - begin >= self.growing:
                break
            self.iterate(1)

    def finish(self) -> None:
        """Iterates on until time is up, or in proportion."""
        if self.effort.seconds is None:
            share = self.effort.last / (1 - self.effort.last)
            self.iterate(max(1, round(share * self.iterations)))
        while self.timed and not self.clock.over():
            self.iterate(1)

    @property
    def timed(self) -> bool:
        """Whether iterations go on until time is up: not of what is solved exactly at once."""
        return self.effort.seconds is not None and not self.solver.exact

    @property
    def full(self) -> bool:
        return bool(self.tree.full)


def _one_sided(grower: _Grower, seed: int) -> None:
    """Grows where one player explores and the other plays, in turns."""
    effort, idle, share = grower.effort, 0, 1 - grower.effort.last
    grower.iterate(effort.iterations)
    for k in range(effort.rounds):
        if grower.full or grower.clock.over(share) or idle == 2:
            return
        leaves = grower.solver.leaves(k % 2, effort.batch, (seed << 20) + k)
        idle = 0 if len(leaves) else idle + 1
        if len(leaves):
            grower.open(leaves)
        grower.balanced(share)


def _deepening(grower: _Grower, seed: int) -> None:
    """Grows where players come to, one ply deeper whenever nothing is left above."""
    share, depth = 1 - grower.effort.last, 2
    grower.iterate(grower.effort.iterations)
    for _ in range(grower.effort.rounds):
        if grower.full or grower.clock.over(share):
            return
        read = grower.solver.read()
        nodes = positions_of(grower.tree)
        wait = ~np.asarray(grower.tree.opened)[: len(nodes.parent)] & (nodes.actor != TERMINAL)
        if not wait.any():
            return
        start = np.zeros(len(nodes.parent))
        start[grower.roots.node] = grower.roots.weight
        comes = [reach_of(nodes, read.current, i, start=start) > 0 for i in (0, 1)]
        level = np.asarray(grower.tree.depth)[: len(nodes.parent)]
        both, one = comes[0] & comes[1], comes[0] | comes[1]
        leaves = np.flatnonzero(wait & (both & (level < depth) | one & (level < depth - 1)))
        if not len(leaves):
            leaves, depth = np.flatnonzero(wait & both & (level <= depth)), depth + 1
        if not len(leaves):
            leaves = np.flatnonzero(wait & one)
        if len(leaves):
            grower.open(leaves[: 8 * grower.effort.batch])
        grower.balanced(share)

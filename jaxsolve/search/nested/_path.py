"""The re-solving on the way to one decision: what an agent makes, and no other."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.search.nested._nested import Resolver, Totals
from jaxsolve.solvers import Solver
from jaxsolve.subgame import (
    GadgetOptions,
    GameIndex,
    Knowledge,
    index_of,
    levels_of,
    probabilities,
)
from jaxsolve.tree import Lifted, ListedInfo, Policy, PublicTree


class NestedPath(NamedTuple):
    """What a player has re-solved in a match.

    Attributes:
        player: who re-solves.
        strategy: float64 [C], their strategy so far: the blueprint, then the solutions.
        done: infosets or public states at which a subgame was solved.
    """

    player: int
    strategy: np.ndarray
    done: frozenset[int]


@dataclasses.dataclass(frozen=True)
class NestedSearch:
    """Safe re-solving on the way to a decision, as `nested(..., safety="everywhere")` does it.

    Attributes:
        tree: a compiled two-player constant-sum game.
        blueprint: policies of both players.
        gadget: "unsafe", "resolve" or "maxmargin".
        knowledge: "common", at every public state; or an odd k, k-KLSS at every infoset.
        solver: "lp", or a variant of CFR or its name.
        settings: of `solve_forest`, such as the iterations of CFR.
    """

    tree: PublicTree
    blueprint: Policy | Lifted
    gadget: str = "maxmargin"
    knowledge: Knowledge = 1
    solver: str | Solver = "lp"
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        GadgetOptions(self.gadget).check()
        levels_of(self._index, 0, self.knowledge)

    @property
    def info(self) -> ListedInfo:
        """Names of the game."""
        return self._index.info

    def start(self, player: int) -> NestedPath:
        """Returns what a player knows before anything is solved."""
        return NestedPath(player, probabilities(self._index, self.blueprint, player), frozenset())

    def decide(self, state: NestedPath, infoset: int) -> tuple[np.ndarray, NestedPath]:
        """Returns (float64 [a] probabilities of an infoset's actions, what is known then)."""
        index, player = self._index, state.player
        rows = index.seats[player].rows
        theirs = probabilities(index, self.blueprint, 1 - player)
        run = Resolver(
            index,
            player,
            self.knowledge,
            True,
            GadgetOptions(self.gadget),
            self.solver,
            None,
            self.settings,
            theirs,
            Totals(),
        )
        above = [infoset]
        while (up := int(rows.parent[above[-1]])) >= rows.roots:
            above.append(int(rows.row_of[up - rows.roots]))
        if self.knowledge == "common":
            above = list(dict.fromkeys(int(rows.public[r]) for r in above))
        strategy, done = state.strategy.copy(), set(state.done)
        for at in reversed(above):
            if at not in done:
                for built, solution, _ in run.solve(np.array([at]), run.base(strategy)):
                    strategy[built.core.source[0]] = solution.behaviour
                done.add(at)
        odds = strategy[rows.offset[infoset] - rows.roots : rows.offset[infoset + 1] - rows.roots]
        return odds, NestedPath(player, strategy, frozenset(done))

    @property
    def _index(self) -> GameIndex:
        return index_of(self.tree)

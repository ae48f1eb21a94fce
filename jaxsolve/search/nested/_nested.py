"""Nested re-solving of a whole game, composed into one policy whose exploitability is exact.

On the way down, P re-solves at every infoset (or public state) from what it has solved so far.
Which of these solutions make up the policy is a matter of safety (Zhang & Sandholm 2021, sec. 4):

"everywhere": an infoset plays the solution of the nearest subgame above it. With common knowledge
this is safe (Burch, Johanson & Bowling 2014; Moravcik et al. 2016). With limited knowledge each
solution takes P's strategy elsewhere as given while it changes, too: nothing is guaranteed
(proposition 3), unless the blueprint is an equilibrium (theorem 9).

"write-back": each becomes part of the blueprint before the next is found, and the blueprint never
gets more exploitable (theorem 4). Infosets that have no infostate of O in common do not touch each
other's margins and are solved together.

"independent": only at infosets of a set that is closed under ancestors and in which no two have an
infostate of O in common (theorem 5).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.evaluate import seen_from, worst_case
from jaxsolve.solvers import Solver
from jaxsolve.subgame import (
    Base,
    Built,
    ForestSolution,
    GadgetOptions,
    GameIndex,
    Knowledge,
    Noise,
    SubgameRoots,
    base_of,
    build,
    colours,
    index_of,
    levels_of,
    policy_of,
    probabilities,
    reached,
    solve_forest,
    subgame_roots,
    unfrozen,
)
from jaxsolve.tree import Lifted, Policy, PublicTree, with_probabilities

SAFETY = ("everywhere", "write-back", "independent")


class Nested(NamedTuple):
    """What re-solving made of a blueprint.

    Attributes:
        policy: re-solved for the players asked for, the blueprint for the other.
        worst_case: per player, what the policy's part is worth against a best response, in the
            game's units; exact.
        blueprint_worst_case: the same of the blueprint.
        exploitability: NashConv / 2 of the policy, in the game's units.
        history: per player who re-solves, the worst case after each write-back.
        solved: subgames.
        skipped: subgames that are never reached.
        gap: the largest distance of a subgame's solution from its equilibrium, in the game's units.
        iterations: of CFR, over all levels.
        seconds: everything, compilation included.
        solver_seconds: spent in the solver, compilation included.
    """

    policy: Policy
    worst_case: tuple[float, float]
    blueprint_worst_case: tuple[float, float]
    exploitability: float
    history: tuple[tuple[float, ...], ...]
    solved: int
    skipped: int
    gap: float
    iterations: int
    seconds: float
    solver_seconds: float

    def __repr__(self) -> str:
        return (
            f"Nested({self.policy!r}, exploitability {self.exploitability:.6g}, worst case "
            f"{self.blueprint_worst_case[0]:.6g} -> {self.worst_case[0]:.6g} and "
            f"{self.blueprint_worst_case[1]:.6g} -> {self.worst_case[1]:.6g}, {self.solved} "
            f"subgames and {self.skipped} never reached, {self.seconds:.1f} s)"
        )


def nested(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    *,
    gadget: str = "maxmargin",
    knowledge: Knowledge = 1,
    frozen: bool = True,
    solver: str | Solver = "lp",
    players: int | Sequence[int] = (0, 1),
    safety: str = "everywhere",
    infosets: Iterable[int] | None = None,
    alternative: str = "exact",
    reach: str | None = None,
    noise: Noise | None = None,
    merge_transpositions: bool = False,
    floor: np.ndarray | Sequence[np.ndarray | None] | None = None,
    target: float = 1e-6,
    iterations: int = 20_000,
    measure_every: int = 200,
    rng: np.random.Generator | None = None,
    method: str = "highs",
) -> Nested:
    """Returns what nested re-solving makes of a blueprint, with its exact exploitability.

    Args:
        tree: a compiled two-player constant-sum game.
        blueprint: policies of both players.
        gadget: "unsafe", "resolve" or "maxmargin".
        knowledge: "common", at every public state; or an odd k, k-KLSS at every infoset.
        frozen: False for KLUSS: P's strategy is free in all states of a subgame, also in those that
            only O confuses with P's (`subgame.unfrozen`). For `safety="everywhere"` and no `reach`.
        solver: "lp", one linear program a subgame; or a variant of CFR, all subgames of a level in
            one run.
        players: who re-solves, each against the other's blueprint where that matters.
        safety: "everywhere", "write-back" or "independent".
        infosets: where to re-solve if `safety` is "independent" (`subgame.independent_set`); of the
            one player who re-solves.
        alternative: "exact" or "estimate".
        reach: None, "exact" or "estimate".
        noise: distributional alternative values.
        merge_transpositions: see `subgame.maxmargin`.
        floor: float64 [C], least probabilities of the one player's actions below the infosets at
            which a subgame begins, or one such array (or None) per player.
        target: CFR stops once all subgames of a level are within this of their equilibria.
        iterations: at most so many of CFR a level.
        measure_every: iterations between two looks at the gaps.
        rng: shuffles the linear programs, so that other vertices may be found.
        method: of the linear program.

    Raises:
        ValueError: an option is not one of the choices, k is even, the blueprint does not cover a
            reachable infoset, or the game is not of two players and constant sum.
    """
    begin = time.perf_counter()
    index = index_of(tree)
    who = [players] if isinstance(players, int) else list(players)
    options = GadgetOptions(gadget, alternative, reach, noise, merge_transpositions)
    _check(index, who, safety, infosets, options, knowledge)
    _check_frozen(frozen, safety, options, knowledge)
    start = [probabilities(index, blueprint, i) for i in range(2)]
    settings: dict[str, Any] = {
        "target": target,
        "iterations": iterations,
        "measure_every": measure_every,
        "rng": rng,
        "method": method,
    }
    after, history, totals = list(start), [], Totals()
    for i in who:
        low = _floor_of(floor, i, who)
        run = Resolver(
            index, i, knowledge, frozen, options, solver, low, settings, start[1 - i], totals
        )
        if safety == "write-back":
            after[i], worths = run.write_back(start[i])
            history.append(tuple(worths))
        else:
            chosen = None if infosets is None else np.asarray(list(infosets), np.int64)
            after[i] = run.everywhere(start[i], chosen)
            history.append(())
    before_worth = (_worst(index, 0, start[0]), _worst(index, 1, start[1]))
    worth = (_worst(index, 0, after[0]), _worst(index, 1, after[1]))
    return Nested(
        policy=with_probabilities(policy_of(index, blueprint), after),
        worst_case=worth,
        blueprint_worst_case=before_worth,
        exploitability=(index.utility_sum - worth[0] - worth[1]) / 2,
        history=tuple(history),
        solved=totals.solved,
        skipped=totals.skipped,
        gap=totals.gap,
        iterations=totals.iterations,
        seconds=time.perf_counter() - begin,
        solver_seconds=totals.seconds,
    )


class Totals:
    """Counts over all levels."""

    def __init__(self) -> None:
        self.solved = self.skipped = self.iterations = 0
        self.gap = self.seconds = 0.0

    def add(self, solution: ForestSolution) -> None:
        self.solved += len(solution.gap)
        self.gap = max(self.gap, float(solution.gap.max(initial=0)))
        self.iterations += solution.iterations
        self.seconds += solution.seconds


class Resolver(NamedTuple):
    """One player's re-solving."""

    game: GameIndex
    player: int
    knowledge: Knowledge
    frozen: bool
    options: GadgetOptions
    solver: str | Solver
    floor: np.ndarray | None
    settings: dict[str, Any]
    theirs: np.ndarray
    totals: Totals

    def everywhere(self, start: np.ndarray, chosen: np.ndarray | None) -> np.ndarray:
        """Returns float64 [C], at each infoset the solution of the nearest subgame above it.

        Args:
            start: float64 [C], the blueprint.
            chosen: infosets at which to re-solve; all by default.
        """
        if self.knowledge == "common":
            latest = start.copy()
            for level in levels_of(self.game, self.player, self.knowledge):
                for built, solution, _ in self.solve(level, self.base(latest)):
                    latest[built.core.source[0]] = solution.behaviour
            return latest
        rows = self.game.seats[self.player].rows
        final, position = start.copy(), np.zeros(rows.num_rows, np.int64)
        above = start[None]  # strategies after the level above, one for each of its infosets
        for depth, level in enumerate(levels_of(self.game, self.player, self.knowledge)):
            parent = rows.row_of[rows.parent[level] - rows.roots] if depth else level * 0
            mine = above[position[parent] if depth else parent].copy()
            live = np.arange(len(level))
            if chosen is not None:
                live = np.flatnonzero(np.isin(level, chosen))
            base = base_of(self.game, self.player, mine[live], self.theirs)
            for built, solution, kept in self.solve(level[live], base):
                core = built.core
                mine[live[kept][core.owner], core.source[0]] = solution.behaviour
            entries = np.flatnonzero(rows.level[rows.row_of] == depth)
            position[level] = np.arange(len(level))
            final[entries] = mine[position[rows.row_of[entries]], entries]
            above = mine
        return final

    def write_back(self, start: np.ndarray) -> tuple[np.ndarray, list[float]]:
        """Returns (float64 [C], the worst case after each write-back)."""
        latest, worths = start.copy(), []
        for level in levels_of(self.game, self.player, self.knowledge):
            for group in self._groups(level):
                for built, solution, _ in self.solve(group, self.base(latest)):
                    latest[built.core.source[0]] = solution.behaviour
                    worths.append(_worst(self.game, self.player, latest))
        return latest, worths

    def _groups(self, level: np.ndarray) -> list[np.ndarray]:
        """Splits a level into places that do not touch each other's margins."""
        if self.knowledge == "common":
            return [level]
        if self.knowledge == 1:
            return colours(self.game, self.player, level)
        return [level[k : k + 1] for k in range(len(level))]

    def base(self, mine: np.ndarray) -> Base:
        """Returns the strategies that subgames start from."""
        return base_of(self.game, self.player, mine, self.theirs)

    def solve(
        self, at: np.ndarray, base: Base
    ) -> Iterable[tuple[Built, ForestSolution, np.ndarray]]:
        """Yields (subgames, their solutions, which of `at` they are), if any is reached."""
        if not len(at):
            return
        asked = subgame_roots(self.game, self.player, at, self.knowledge)
        where, kept = reached(self.game, asked, base.plan)
        self.totals.skipped += asked.count - where.count
        if not where.count:
            return
        if not self.frozen:
            where = unfrozen(self.game, where)
        built = build(self.game, where, base.take(kept), self.options)
        low = None if self.floor is None else self._below(built, where, self.floor)
        solution = solve_forest(
            built.gadget.form, self.solver, floor=low, unit=built.unit, **self.settings
        )
        self.totals.add(solution)
        yield built, solution, kept

    def _below(self, built: Built, where: SubgameRoots, floor: np.ndarray) -> np.ndarray:
        """Returns float64 [C], the floor of the entries below where a subgame begins."""
        rows, core = built.core.rows[0], built.core
        if self.knowledge == "common":
            begins = rows.public[rows.row_of] == where.at[core.owner]
        else:
            begins = (rows.parent < rows.roots)[rows.row_of]
        return np.where(begins, 0.0, floor[core.source[0]])


def _worst(index: GameIndex, player: int, mine: np.ndarray) -> float:
    """Returns what a strategy is worth to its player against a best response."""
    return worst_case(seen_from(index.info.form, player), mine)


def _floor_of(
    floor: np.ndarray | Sequence[np.ndarray | None] | None, player: int, who: list[int]
) -> np.ndarray | None:
    if floor is None:
        return None
    if isinstance(floor, np.ndarray):
        if len(who) != 1:
            raise ValueError("one floor for two players; give a pair, (floor of 0, floor of 1)")
        return floor
    return floor[player]


def _check(
    index: GameIndex,
    who: list[int],
    safety: str,
    infosets: Iterable[int] | None,
    options: GadgetOptions,
    knowledge: Knowledge,
) -> None:
    options.check()
    levels_of(index, 0, knowledge)
    if not who or len(set(who)) < len(who) or not set(who) <= {0, 1}:
        raise ValueError(f"players must be 0, 1 or both, not {who}")
    if safety not in SAFETY:
        raise ValueError(f"safety must be one of {', '.join(SAFETY)}; got {safety!r}")
    if (safety == "independent") != (infosets is not None):
        raise ValueError(
            'safety="independent" and infosets= go together; subgame.independent_set(tree, player, '
            "key) chooses such infosets"
        )
    if safety == "independent" and (knowledge != 1 or len(who) != 1):
        raise ValueError('safety="independent" is for knowledge=1 and one player (players=0)')


def _check_frozen(frozen: bool, safety: str, options: GadgetOptions, knowledge: Knowledge) -> None:
    if frozen:
        return
    if knowledge == "common":
        raise ValueError(
            'frozen=False needs knowledge=1, 3, ...; with knowledge="common" nothing is frozen'
        )
    if safety != "everywhere":
        raise ValueError(
            f'frozen=False goes with safety="everywhere", not {safety!r}: such subgames change '
            "P's strategy outside of its infoset, for themselves only"
        )
    if options.reach is not None or options.merge_transpositions:
        raise ValueError("frozen=False goes with neither reach= nor merge_transpositions=")

"""Nested depth-limited solving: a search at every decision, composed into one policy.

After each action of O a subgame is made from the state before it, with the actions of a menu and
the one that was taken. It is solved to the depth limit; its solution says how P goes on, and what O
is believed to hold (Brown, Sandholm and Amos 2018, section 5). All searches of a depth that share
a limit are one forest. What they make of a whole game is a policy whose exploitability is exact.

With a safe gadget the alternative values are those of O's best response to P's last strategy, in
the game with the menu and the limit of the search.
"""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve import leaf
from jaxsolve.evaluate._max_min import seen_from, worst_case
from jaxsolve.leaf import DepthLimit, LimitedInfo
from jaxsolve.leaf._continuations import named
from jaxsolve.search._depth_generate import solution_of
from jaxsolve.search._depth_plan import Plan, Point, plan_of
from jaxsolve.solve._solver import Solver
from jaxsolve.subgame._alternative import base_of
from jaxsolve.subgame._build import Built, Options, build
from jaxsolve.subgame._gadgets import GADGETS
from jaxsolve.subgame._index import GameIndex, index_of
from jaxsolve.subgame._places import Places, places, reached
from jaxsolve.subgame._trees import _tree as tree_of
from jaxsolve.subgame._trees import with_probabilities
from jaxsolve.tree._form import SequenceForm
from jaxsolve.tree._info import TreeInfo
from jaxsolve.tree._policy import Policy
from jaxsolve.tree._public_tree import PublicTree

LEAST_BELIEF = 1e-6
"""Share of a uniform O in beliefs, so that no action of O's is a surprise to all beliefs."""


@dataclasses.dataclass(frozen=True)
class DepthSearch:
    """How depth-limited searches are made.

    Attributes:
        policies: continuations, policies of the whole game; the first is the blueprint.
        ahead: actions of players that a search looks ahead from its root; None for the end of the
            betting round.
        choosers: "opponent" or "all".
        gadget: what its root is: "unsafe", "resolve" or "maxmargin"; where nobody has acted yet it
            makes no difference, and is "unsafe".
        menu: names of the actions in the abstraction; every action by default.
        solver: "lp", or a variant of CFR or its name.
        iterations: of CFR.
        weakened: see `leaf.continuations`.
    """

    policies: Sequence[Policy]
    ahead: int | None = None
    choosers: str = "opponent"
    gadget: str = "unsafe"
    menu: Collection[str] | None = None
    solver: str | Solver = "lp"
    iterations: int = 1000
    weakened: bool = False

    def check(self) -> None:
        """Raises a ValueError where an option is not one of the choices."""
        if self.gadget not in GADGETS:
            raise ValueError(f"gadget must be one of {', '.join(GADGETS)}; got {self.gadget!r}")
        if self.ahead is not None and self.ahead < 1:
            raise ValueError(f"a search must look at least 1 action ahead, not {self.ahead}")
        if not self.policies:
            raise ValueError("no continuations; give at least the blueprint")


class DepthLimited(NamedTuple):
    """What depth-limited searches made of a blueprint.

    Attributes:
        policy: searched for the players asked for, the blueprint for the other.
        worst_case: per player, what their part is worth against a best response, in the game's
            units; exact.
        blueprint_worst_case: the same of the blueprint.
        exploitability: NashConv / 2 of the policy, in the game's units.
        searches: subgames solved.
        seconds: everything, compilation included.
    """

    policy: Policy
    worst_case: tuple[float, float]
    blueprint_worst_case: tuple[float, float]
    exploitability: float
    searches: int
    seconds: float


class Searcher(NamedTuple):
    """One player's searches of a game.

    Attributes:
        plan: where they are.
        search: how they are made.
        known: limits of the whole game and values there, by horizon; filled on the way.
    """

    plan: Plan
    search: DepthSearch
    known: dict[int, tuple[DepthLimit, np.ndarray] | None]

    def gadget(self, root: int) -> str:
        """Returns the gadget of a search; nobody can have deviated before the first action."""
        return self.search.gadget if self.plan.actions[root] else "unsafe"

    def leaves(self, root: int) -> tuple[DepthLimit, np.ndarray] | None:
        """Returns (limit, values [L, k_0, k_1]) of searches with a root, None to the game's end."""
        plan, search = self.plan, self.search
        ahead = search.ahead
        horizon = plan.horizon(root) if ahead is None else int(plan.actions[root]) + ahead
        if horizon not in self.known:
            limit = plan.limit(root, ahead, int(plan.round.max()))
            found = None
            if limit is not None:
                values = leaf.leaf_values(
                    plan.tree,
                    limit,
                    search.policies,
                    player=plan.player,
                    choosers=search.choosers,
                    weakened=search.weakened,
                )
                found = limit, np.asarray(values, np.float64)
            self.known[horizon] = found
        return self.known[horizon]


class Beliefs(NamedTuple):
    """Strategies as far as searches have come (C entries of each player, of the whole game).

    O's entries at an infoset need not sum to 1: an action off the menu has its probability from a
    search of its own.

    Attributes:
        odds: per player, float64 [C].
        searched: bool [C of P], entries that a search has set.
    """

    odds: tuple[np.ndarray, np.ndarray]
    searched: np.ndarray

    @staticmethod
    def start(tree: PublicTree, blueprint: Policy, player: int) -> Beliefs:
        """Returns the blueprint as beliefs."""
        assert tree.info is not None
        policy = named(blueprint, tree.info)
        odds = [policy.probabilities(i).astype(np.float64) for i in range(2)]
        return Beliefs((odds[0], odds[1]), np.zeros(len(odds[player]), bool))


def depth_limited(
    tree: PublicTree,
    search: DepthSearch,
    *,
    players: int | Sequence[int] = (0, 1),
) -> DepthLimited:
    """Returns what depth-limited searches at every decision make of a blueprint.

    Args:
        tree: a compiled two-player constant-sum game, actions off the menu included.
        search: how searches are made.
        players: who searches.

    Raises:
        ValueError: an option makes no sense, or the game is not of two players and constant sum.
    """
    begin = time.perf_counter()
    search.check()
    index = index_of(tree)
    blueprint = named(search.policies[0], index.info)
    before = [blueprint.probabilities(i).astype(np.float64) for i in range(2)]
    after, count = list(before), 0
    for i in [players] if isinstance(players, int) else players:
        plan = plan_of(tree, i, search.menu)
        beliefs = Beliefs.start(tree, blueprint, i)
        searcher = Searcher(plan, search, {})
        for batch in batches(plan):
            beliefs, solved = search_at(searcher, beliefs, batch)
            count += solved
        after[i] = composed(index.info, beliefs, i)
    worth = [worst_case(seen_from(_form(index), i), after[i]) for i in range(2)]
    was = [worst_case(seen_from(_form(index), i), before[i]) for i in range(2)]
    assert index.info.utility_sum is not None
    return DepthLimited(
        policy=with_probabilities(blueprint, after),
        worst_case=(worth[0], worth[1]),
        blueprint_worst_case=(was[0], was[1]),
        exploitability=(index.info.utility_sum - sum(worth)) / 2,
        searches=count,
        seconds=time.perf_counter() - begin,
    )


def batches(plan: Plan) -> Iterator[list[Point]]:
    """Yields searches that can be solved together, those above first.

    Together are roots of one level with one horizon, all with the menu alone, or each with one more
    action of O.
    """
    groups: dict[tuple[int, ...], list[Point]] = defaultdict(list)
    rank: dict[tuple[int, int], int] = {}
    for point, level in zip(plan.points, plan.level, strict=True):
        action = (point.root, point.taken)
        if point.taken >= 0 and action not in rank:
            rank[action] = 1 + sum(1 for root, _ in rank if root == point.root)
        order = rank.get(action, 0)
        horizon = (plan.horizon(point.root), int(plan.actions[point.root]))
        groups[(int(level), *horizon, order)].append(point)
    for key in sorted(groups):
        yield groups[key]


def search_at(who: Searcher, beliefs: Beliefs, points: Sequence[Point]) -> tuple[Beliefs, int]:
    """Returns beliefs after some searches with one horizon, and how many subgames these were."""
    roots = sorted({p.root for p in points})
    taken = sorted({p.taken for p in points if p.taken >= 0})
    part = limited_part(who, roots, taken)
    alternative = None
    if taken and who.gadget(roots[0]) != "unsafe":  # O must not gain by leaving the menu
        menu = limited_part(who, roots, [])
        alternative = _class_values(who, beliefs, menu, roots)
    found = _solve(who, beliefs, part, roots, alternative)
    if found is None:
        return beliefs, 0
    solution, where = found
    return _written(who, beliefs, part, solution, points), where.count


def limited_part(who: Searcher, roots: Sequence[int], taken: Sequence[int]) -> PublicTree:
    """Returns the game that searches with one horizon take place in."""
    keep = who.plan.keep(roots, taken)
    found = who.leaves(int(roots[0]))
    if found is not None:
        limit, values = found
        table = index_of(who.plan.tree).table
        here = keep & leaf.public_below(table, np.asarray(roots))
        inside = here[table.public[limit.leaf]]
        if inside.any():
            return leaf.continuations(
                who.plan.tree,
                dataclasses.replace(limit, leaf=limit.leaf[inside]),
                who.search.policies,
                player=who.plan.player,
                choosers=who.search.choosers,
                values=values[inside],
                keep=keep,
            )
    return leaf.pruned(who.plan.tree, keep)


def composed(info: TreeInfo, beliefs: Beliefs, player: int) -> np.ndarray:
    """Returns float64 [C], the policy of who searched, a distribution at each infoset."""
    p = info.players[player]
    odds = np.maximum(beliefs.odds[player], 0)
    row = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
    total = np.bincount(row, odds, p.num_infosets)
    even = 1 / np.diff(p.offset)[row]
    return np.where(total[row] > 0, odds / np.where(total > 0, total, 1)[row], even)


def subgame_of(
    who: Searcher,
    beliefs: Beliefs,
    part: PublicTree,
    roots: Sequence[int],
    alternative: dict[tuple[int, int], float] | None,
) -> tuple[PublicTree, Built, Places] | None:
    """Returns (searches as one tree, how it was built, where they begin); None if P never comes.

    Args:
        who: searches.
        beliefs: so far.
        part: the game that the searches take place in.
        roots: where they begin.
        alternative: O's alternative values by (root, infostate); exact ones by default.
    """
    index = index_of(part)
    player = who.plan.player
    mine, theirs = (_local(part, who, beliefs, i) for i in (player, 1 - player))
    base = base_of(index, player, mine, theirs)
    asked = places(index, player, np.asarray(roots), "common")
    where, _ = reached(index, asked, base.plan)
    if not where.count:
        return None
    gadget = who.gadget(int(roots[0]))
    options = Options(gadget)
    if alternative is not None:
        value = np.array(
            [
                alternative[int(where.at[b]), int(c)]
                for b, c in zip(where.class_of, where.classes, strict=True)
            ]
        )
        options = dataclasses.replace(options, alternative=value)
    built = build(index, where, base, options)
    return tree_of(index, built, gadget, 0), built, where


def _solve(
    who: Searcher,
    beliefs: Beliefs,
    part: PublicTree,
    roots: Sequence[int],
    alternative: dict[tuple[int, int], float] | None,
) -> tuple[list[np.ndarray], Places] | None:
    """Returns (per player float64 [C of `part`], NaN where nothing was solved; the places)."""
    made = subgame_of(who, beliefs, part, roots, alternative)
    if made is None:
        return None
    tree, built, where = made
    assert part.info is not None
    player = who.plan.player
    policy = solution_of(tree, who.search.solver, who.search.iterations)
    out = [np.full(len(p.action), np.nan) for p in part.info.players]
    core = built.core
    out[player][core.source[0]] = policy.probabilities(player)
    answer = policy.probabilities(1 - player)
    out[1 - player][core.source[1]] = answer[len(answer) - len(core.source[1]) :]
    return out, where


def _class_values(
    who: Searcher, beliefs: Beliefs, part: PublicTree, roots: Sequence[int]
) -> dict[tuple[int, int], float]:
    """Returns what each class of O is worth to O with the menu alone, by (root, infostate)."""
    index = index_of(part)
    mine, theirs = (_local(part, who, beliefs, i) for i in (who.plan.player, 1 - who.plan.player))
    base = base_of(index, who.plan.player, mine, theirs)
    where, _ = reached(
        index, places(index, who.plan.player, np.asarray(roots), "common"), base.plan
    )
    built = build(index, where, base, Options(who.gadget(int(roots[0]))))
    value = -built.alternative / built.core.weight
    return {
        (int(where.at[b]), int(c)): float(v)
        for b, c, v in zip(where.class_of, where.classes, value, strict=True)
    }


def _local(part: PublicTree, who: Searcher, beliefs: Beliefs, player: int) -> np.ndarray:
    """Returns float64 [C of `part`], beliefs there; the first continuation is chosen."""
    info, whole = part.info, who.plan.tree.info
    assert info is not None
    assert whole is not None
    p = info.players[player]
    source = leaf.entries_of(info, whole, player)
    odds = np.where(source >= 0, beliefs.odds[player][np.maximum(source, 0)], 0.0)
    if isinstance(info, LimitedInfo):
        odds[p.offset[:-1][info.chooses(player)]] = 1.0
    if player != who.plan.player:
        even = np.repeat(1 / np.diff(p.offset), np.diff(p.offset))
        odds = (1 - LEAST_BELIEF) * odds + LEAST_BELIEF * even
    return odds


def _written(
    who: Searcher,
    beliefs: Beliefs,
    part: PublicTree,
    solution: Sequence[np.ndarray],
    points: Sequence[Point],
) -> Beliefs:
    """Returns beliefs with P's strategy at the points, and O's at the roots."""
    info, whole = part.info, who.plan.tree.info
    assert info is not None
    assert whole is not None
    plan = who.plan
    odds = [o.copy() for o in beliefs.odds]
    searched = beliefs.searched.copy()
    taken = sorted({p.taken for p in points if p.taken >= 0})
    roots = sorted({p.root for p in points})
    here = leaf.public_below(index_of(plan.tree).table, np.asarray(taken or roots))
    decided = np.isin(np.arange(len(here)), [p.public for p in points])
    for i in range(2):
        p, q = info.players[i], whole.players[i]
        source = leaf.entries_of(info, whole, i)
        public = np.repeat(p.public, np.diff(p.offset))
        solved = (source >= 0) & np.isfinite(solution[i])
        if i == plan.player:
            # All of the solution, so that the next search starts from it.
            fresh = solved & here[public]
            target = source[fresh]
            row = np.repeat(np.arange(q.num_infosets), np.diff(q.offset))
            touched = np.zeros(q.num_infosets, bool)
            touched[row[target]] = True
            odds[i][touched[row]] = 0.0  # actions that the search does not hold
            odds[i][target] = solution[i][fresh]
            searched[source[fresh & decided[public]]] = True
            if isinstance(info, LimitedInfo) and i in info.choosers:
                mixed, below = leaf.chosen_below(
                    info, i, np.nan_to_num(solution[i]), who.search.policies
                )
                odds[i][below] = mixed[below]
        else:
            fresh = solved & np.isin(public, roots)
            target = source[fresh]
            # The search for an action off the menu sets that action alone.
            write = _leaves_menu(who, i)[target] == bool(taken)
            odds[i][target[write]] = solution[i][fresh][write]
    return Beliefs((odds[0], odds[1]), searched)


def _leaves_menu(who: Searcher, player: int) -> np.ndarray:
    """Returns bool [C], entries of a player whose action is not on the menu."""
    index = index_of(who.plan.tree)
    table = index.table
    step = leaf.entry_of_state(table, index.info)
    up = np.maximum(table.parent, 0)
    moved = (table.parent >= 0) & (table.actor[up] == player)
    out = np.zeros(len(index.info.players[player].action), bool)
    out[step[moved & who.plan.off[table.public]]] = True
    return out


def _form(index: GameIndex) -> SequenceForm:
    assert index.info.form is not None
    return index.info.form

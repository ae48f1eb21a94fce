"""Nested depth-limited solving: a search at every decision, composed into one policy.

After each action of O a subgame is made from the state before it, with the actions of a menu and
the one that was taken. It is solved to the depth limit; its solution says how P goes on, and what O
is believed to hold (Brown, Sandholm and Amos 2018, section 5). All searches of a depth that share
a limit are one forest. What they make of a whole game is a policy whose exploitability is exact.

With a safe gadget the alternative values are those of O's best response to P's last strategy, in
the game with the menu and the limit of the search.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from jaxsolve.search.depth._generate import solution_of
from jaxsolve.search.depth._plan import Point, SearchPlan, plan_of
from jaxsolve.search.depth._search import (
    Beliefs,
    DepthLimited,
    DepthSearch,
    Searcher,
    composed,
    in_rows_search,
    limited_part,
    local_odds,
    measured,
    subgame_of,
)
from jaxsolve.subgame import (
    GadgetOptions,
    SubgameRoots,
    base_of,
    build,
    index_of,
    reached,
    subgame_roots,
)
from jaxsolve.tree import PublicTree, relaid
from jaxsolve.values import (
    LimitedInfo,
    chosen_below,
    entries_of,
    entry_of_state,
    named,
    public_below,
)


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
    given = tree
    tree, search = in_rows_search(tree, search)
    info = index_of(tree).info
    blueprint = named(search.policies[0], info)
    after, count = [blueprint.probabilities(i).astype(np.float64) for i in range(2)], 0
    for i in [players] if isinstance(players, int) else players:
        plan = plan_of(tree, i, search.menu)
        beliefs = Beliefs.start(tree, blueprint, i)
        searcher = Searcher(plan, search, {})
        for batch in batches(plan):
            beliefs, solved = search_at(searcher, beliefs, batch)
            count += solved
        after[i] = composed(info, beliefs, i)
    found = measured(tree, blueprint, after, count, begin)
    return found._replace(policy=relaid(found.policy, given))


def batches(plan: SearchPlan) -> Iterator[list[Point]]:
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


def _solve(
    who: Searcher,
    beliefs: Beliefs,
    part: PublicTree,
    roots: Sequence[int],
    alternative: dict[tuple[int, int], float] | None,
) -> tuple[list[np.ndarray], SubgameRoots] | None:
    """Returns (per player float64 [C of `part`], NaN where nothing was solved; the places)."""
    made = subgame_of(who, beliefs, part, roots, alternative)
    if made is None:
        return None
    tree, built, where = made
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
    mine, theirs = (
        local_odds(part, who, beliefs, i) for i in (who.plan.player, 1 - who.plan.player)
    )
    base = base_of(index, who.plan.player, mine, theirs)
    where, _ = reached(
        index, subgame_roots(index, who.plan.player, np.asarray(roots), "common"), base.plan
    )
    built = build(index, where, base, GadgetOptions(who.gadget(int(roots[0]))))
    value = -built.alternative / built.core.weight
    return {
        (int(where.at[b]), int(c)): float(v)
        for b, c, v in zip(where.class_of, where.classes, value, strict=True)
    }


def _written(
    who: Searcher,
    beliefs: Beliefs,
    part: PublicTree,
    solution: Sequence[np.ndarray],
    points: Sequence[Point],
) -> Beliefs:
    """Returns beliefs with P's strategy at the points, and O's at the roots."""
    info, whole = part.info, who.plan.tree.info
    plan = who.plan
    odds = [o.copy() for o in beliefs.odds]
    searched = beliefs.searched.copy()
    taken = sorted({p.taken for p in points if p.taken >= 0})
    roots = sorted({p.root for p in points})
    here = public_below(index_of(plan.tree).table, np.asarray(taken or roots))
    decided = np.isin(np.arange(len(here)), [p.public for p in points])
    for i in range(2):
        p, q = info.players[i], whole.players[i]
        source = entries_of(info, whole, i)
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
                mixed, below = chosen_below(
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
    step = entry_of_state(table, index.info)
    up = np.maximum(table.parent, 0)
    moved = (table.parent >= 0) & (table.actor[up] == player)
    out = np.zeros(len(index.info.players[player].action), bool)
    out[step[moved & who.plan.off[table.public]]] = True
    return out

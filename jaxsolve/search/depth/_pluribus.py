"""Depth-limited search as Pluribus does it, composed into one policy.

A search is always rooted at the start of the betting round, so that the other players' strategies
above the decision are free to change. P, the player who searches, makes one search when a round
begins and another one each time that somebody has taken an action that is not on the menu; between
these P follows the last one. P's own actions of the round so far are frozen, at the probabilities
with which they were played, for the hand that P holds and for no other. P plays the final iterate;
what the players believe at the start of the next round follows the average (Brown and Sandholm
2019, supplementary material). Any number of players may sit at the table. Differs from Pluribus in
that these beliefs come from the round's first search alone, which has frozen nothing, so that they
are the same for every hand P may hold.

Hands that have acted alike in a round share everything but what is frozen: their searches are one
vmapped program.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.search.depth._plan import SearchPlan, plan_of
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
)
from jaxsolve.solvers import (
    Solver,
    average_policy,
    current_policy,
    init_state,
    iterate,
    load_solver,
)
from jaxsolve.subgame import game_index, joint_subgame
from jaxsolve.tree import Blocks, Policy, PublicTree, listed, relaid, split_blocks
from jaxsolve.types import Array
from jaxsolve.values import entries_of, entry_of_state, named, public_below


class _Case(NamedTuple):
    """Infosets of P that one search decides.

    Attributes:
        root: public state in which the round begins.
        taken: public states after actions of the round that are not on the menu.
        past: P's frozen infosets (rows) above, in the round.
    """

    root: int
    taken: tuple[int, ...]
    past: tuple[int, ...]


def pluribus(
    tree: PublicTree,
    search: DepthSearch,
    *,
    players: int | Sequence[int] | None = None,
    every_decision: bool = False,
    frozen: bool = True,
    final: bool = True,
) -> DepthLimited:
    """Returns what searches from the start of each betting round make of a blueprint.

    Args:
        tree: a compiled game of any number of players, actions off the menu included.
        search: how searches are made; to the end of the round, by CFR, with an unsafe root.
        players: who searches; everybody by default.
        every_decision: search again at each decision of P, not only where a round begins and after
            actions that are not on the menu.
        frozen: keep P's own actions of the round in a later search, for the hand that P holds.
        final: play the last iterate of a search; else the average.

    Raises:
        ValueError: the solver is the linear program, which has no iterates, the search looks a
            number of actions ahead, or another option makes no sense.
    """
    begin = time.perf_counter()
    solver, given = load_cfr(search), tree
    tree, search = in_rows_search(tree, search)
    blueprint = named(search.policies[0], tree.info)
    n = tree.num_players
    after, count = [blueprint.probabilities(i).astype(np.float64) for i in range(n)], 0
    for i in range(n) if players is None else np.atleast_1d(players).tolist():
        who = Searcher(plan_of(tree, i, search.menu), search, {})
        played = Played.start(Beliefs.start(tree, blueprint, i), i)
        for group in groups_of(who.plan, every_decision, frozen):
            played, solved = search_group(who, solver, played, group, final)
            count += solved
        after[i] = played.policy(who.plan)
    found = measured(tree, blueprint, after, count, begin)
    return found._replace(policy=relaid(found.policy, given))


class _Round(NamedTuple):
    """The searches of a round with one set of actions off the menu.

    Attributes:
        tree: the subgame, without a gadget.
        part: the game that it was cut from.
        source: per player, int64 [C of `tree`], entries of the whole game, -1 at choices.
    """

    tree: PublicTree
    part: PublicTree
    source: tuple[np.ndarray, ...]

    def frozen(
        self, player: int, rows: Sequence[int], played: np.ndarray, plan: SearchPlan
    ) -> np.ndarray:
        """Returns float64 [S], what P's sequences are locked at, 0 where nothing is."""
        whole = plan.tree.info
        p, q = self.tree.info.players[player], whole.players[player]
        row = np.repeat(np.arange(q.num_infosets), np.diff(q.offset))
        source = self.source[player]
        locked = np.isin(row[np.maximum(source, 0)], list(rows)) & (source >= 0)
        out = np.zeros(self.tree.players[player].num_sequences)
        out[p.position[locked]] = played[source[locked]]
        return out


def load_cfr(search: DepthSearch) -> Solver:
    """Returns the solver of Pluribus's searches.

    Raises:
        ValueError: the linear program, which has no iterates, or another option makes no sense.
    """
    search.check()
    if search.solver == "lp":
        raise ValueError('the linear program has no final iterate to play; choose solver="lcfr"')
    if search.ahead is not None or search.gadget != "unsafe":
        raise ValueError('Pluribus searches have ahead=None and gadget="unsafe"')
    return load_solver(search.solver) if isinstance(search.solver, str) else search.solver


class Group(NamedTuple):
    """The searches of a round after the same actions off the menu.

    Attributes:
        root: public state in which the round begins.
        taken: public states after actions of the round that are not on the menu.
        cases: P's infosets (rows) that a search decides, by P's frozen infosets of the round.
    """

    root: int
    taken: tuple[int, ...]
    cases: dict[tuple[int, ...], list[int]]


class Played(NamedTuple):
    """Strategies as far as searches have come.

    Attributes:
        beliefs: what the players believe.
        odds: float64 [C], what P plays.
    """

    beliefs: Beliefs
    odds: np.ndarray

    @staticmethod
    def start(beliefs: Beliefs, player: int) -> Played:
        """Returns the blueprint."""
        return Played(beliefs, beliefs.odds[player].copy())

    def policy(self, plan: SearchPlan) -> np.ndarray:
        """Returns float64 [C], what P plays, a distribution at each infoset."""
        odds = list(self.beliefs.odds)
        odds[plan.player] = self.odds
        return composed(plan.tree.info, Beliefs(tuple(odds), self.beliefs.searched), plan.player)


def groups_of(plan: SearchPlan, every_decision: bool, frozen: bool) -> tuple[Group, ...]:
    """Returns the searches of a game in the order in which they are made.

    Rounds come from the first on. Within a round the menu comes first, whose first search makes the
    beliefs.
    """
    found: dict[tuple[int, tuple[int, ...]], dict[tuple[int, ...], list[int]]] = {}
    for row in range(plan.tree.info.players[plan.player].num_infosets):
        case = _case(plan, row, every_decision)
        members = found.setdefault((case.root, case.taken), defaultdict(list))
        members[case.past if frozen else ()].append(row)
    order = sorted(found, key=lambda g: (plan.round[g[0]] + plan.ends[g[0]], len(g[1]), g))
    return tuple(Group(*name, found[name]) for name in order)


def search_group(
    who: Searcher, solver: Solver, before: Played, group: Group, final: bool
) -> tuple[Played, int]:
    """Returns strategies after the searches of a group, and how many searches these were."""
    plan = who.plan
    found = _round(who, before.beliefs, group.root, group.taken)
    if found is None:
        return before, 0
    mine = plan.tree.info.players[plan.player]
    beliefs, played, count = before.beliefs, before.odds.copy(), 0
    for length in sorted({len(past) for past in group.cases}):
        now = sorted(past for past in group.cases if len(past) == length)
        locked = np.stack([found.frozen(plan.player, past, played, plan) for past in now])
        average, current = _solved(found.tree, solver, who.search.iterations, locked, plan.player)
        count += len(now)
        for k, past in enumerate(now):
            odds = _entries(found, plan, current if final else average, k, plan.player)
            for row in group.cases[past]:
                at = slice(mine.offset[row], mine.offset[row + 1])
                if np.isfinite(odds[at]).any():
                    played[at] = np.nan_to_num(odds[at])
        if length == 0:
            beliefs = _believed(plan, beliefs, found, average, group.taken)
    return Played(beliefs, played), count


def _case(plan: SearchPlan, row: int, every_decision: bool) -> _Case:
    """Returns what search decides an infoset of P.

    Args:
        plan: P's view of the game.
        row: the infoset.
        every_decision: P's own actions since the last action off the menu, or since the round
            began, are frozen, too.
    """
    info = listed(plan.tree)
    mine = info.players[plan.player]
    taken, at = [], int(mine.public[row])
    while plan.parent[at] >= 0:
        if plan.off[at]:
            taken.append(at)
        if plan.ends[plan.parent[at]]:
            at = int(plan.parent[at])
            break
        at = int(plan.parent[at])
    rows = info.form.rows[plan.player]
    past, up = [], int(rows.parent[row])
    below = public_below(info.states, np.array([at]))
    after = public_below(info.states, np.array(taken[:1], np.int64))
    while up >= rows.roots:
        above = int(rows.row_of[up - rows.roots])
        if not below[mine.public[above]]:
            break
        if every_decision or (taken and not after[mine.public[above]]):
            past.append(above)
        up = int(rows.parent[above])
    return _Case(at, tuple(sorted(taken)), tuple(sorted(past)))


def _round(who: Searcher, beliefs: Beliefs, root: int, taken: tuple[int, ...]) -> _Round | None:
    """Returns the subgame of a round, None where P does not reach it."""
    part = limited_part(who, [root], taken)
    odds = [local_odds(part, who, beliefs, i) for i in range(part.num_players)]
    made = joint_subgame(game_index(part), who.plan.player, root, odds)
    if made is None:
        return None
    whole = [entries_of(part.info, who.plan.tree.info, i) for i in range(part.num_players)]
    source = tuple(w[s] for w, s in zip(whole, made.source, strict=True))
    return _Round(made.tree, part, source)


def _solved(
    tree: PublicTree, solver: Solver, iterations: int, locked: np.ndarray, player: int
) -> tuple[tuple[Blocks, ...], tuple[Blocks, ...]]:
    """Returns (average, current) policies of one search for each strategy that is locked [M, S]."""
    sequences = jnp.asarray(locked, tree.players[player].root_reach.dtype)
    return _run(tree.replace(names=None), solver, jnp.asarray(iterations), sequences, player)


@functools.partial(jax.jit, static_argnames="player")
def _run(
    tree: PublicTree, solver: Solver, iterations: Array, locked: Array, player: int
) -> tuple[tuple[Blocks, ...], tuple[Blocks, ...]]:
    def one(sequences: Array) -> tuple[tuple[Blocks, ...], tuple[Blocks, ...]]:
        mine = tree.players[player]
        blocks = iter(split_blocks(mine, sequences))
        levels = tuple(
            tuple(dataclasses.replace(b, locked=next(blocks)) for b in level)
            for level in mine.levels
        )
        players = list(tree.players)
        players[player] = dataclasses.replace(mine, levels=levels)
        game = tree.replace(players=tuple(players))
        state = jax.lax.fori_loop(
            0,
            iterations,
            lambda _, s: iterate(game, solver, s, iterations),
            init_state(game, solver),
        )
        return average_policy(game, state).players, current_policy(game, state).players

    return jax.vmap(one)(locked)


def _entries(
    found: _Round, plan: SearchPlan, policies: tuple[Blocks, ...], member: int, player: int
) -> np.ndarray:
    """Returns float64 [C of the whole game], one member's policy, NaN outside the search."""
    info, whole = found.tree.info, plan.tree.info
    policy = Policy(jax.tree.map(lambda x: x[member], policies), info)
    source = found.source[player]
    mine = policy.probabilities(player)
    mine = mine[len(mine) - len(source) :].astype(np.float64)
    q = whole.players[player]
    row = np.repeat(np.arange(q.num_infosets), np.diff(q.offset))
    out = np.full(len(q.action), np.nan)
    some = source >= 0
    touched = np.zeros(q.num_infosets, bool)
    touched[row[source[some]]] = True
    out[touched[row]] = 0.0  # actions that the search does not hold
    out[source[some]] = mine[some]
    return out


def _believed(
    plan: SearchPlan,
    beliefs: Beliefs,
    found: _Round,
    average: tuple[Blocks, ...],
    taken: tuple[int, ...],
) -> Beliefs:
    """Returns beliefs after a round's first search: its average, below the actions it adds."""
    info = plan.tree.info
    table = listed(plan.tree).states
    odds = []
    for i in range(len(beliefs.odds)):
        new = _entries(found, plan, average, 0, i)
        fresh = np.isfinite(new)
        if taken:  # the menu's own search says the rest
            p = info.players[i]
            step = entry_of_state(table, info)
            up = np.maximum(table.parent, 0)
            moved = (table.parent >= 0) & (table.actor[up] == i)
            at_taken = np.zeros(len(new), bool)
            at_taken[step[moved & np.isin(table.public, taken)]] = True
            below = public_below(table, np.array(taken))
            fresh &= at_taken | below[np.repeat(p.public, np.diff(p.offset))]
        odds.append(np.where(fresh, np.nan_to_num(new), beliefs.odds[i]))
    return Beliefs(tuple(odds), beliefs.searched)

"""One depth-limited search: its settings, the game it takes place in, and what is believed.

Searches of one horizon are made together; `_nested` and `_pluribus` say which.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.compiler import in_rows
from jaxsolve.evaluate import nash_conv, seen_from, worst_case
from jaxsolve.search.depth._plan import SearchPlan
from jaxsolve.solvers import Solver
from jaxsolve.subgame import (
    GADGETS,
    Built,
    GadgetOptions,
    SubgameRoots,
    base_of,
    build,
    index_of,
    reached,
    subgame_roots,
    tree_of,
)
from jaxsolve.tree import (
    Policy,
    PublicTree,
    TreeInfo,
    compiled,
    listed,
    relaid,
    with_probabilities,
)
from jaxsolve.values import (
    DepthLimit,
    LimitedInfo,
    continuations,
    entries_of,
    leaf_values,
    named,
    pruned,
    public_below,
)

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
        weakened: see `continuations`.
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
        policy: searched for the players asked for, the blueprint for the others.
        worst_case: per player, what their part is worth against a best response, in the game's
            units; exact. Empty unless the game is of two players and constant sum: only there is
            what one player gains the other's loss.
        blueprint_worst_case: the same of the blueprint.
        exploitability: NashConv / players of the policy, in the game's units.
        searches: subgames solved.
        seconds: everything, compilation included.
    """

    policy: Policy
    worst_case: tuple[float, ...]
    blueprint_worst_case: tuple[float, ...]
    exploitability: float
    searches: int
    seconds: float


class Searcher(NamedTuple):
    """One player's searches of a game.

    Attributes:
        plan: where they are.
        search: how they are made.
        known: limits of the whole game and values there, by horizon; filled when needed.
    """

    plan: SearchPlan
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
                values = leaf_values(
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

    Entries of the other players at an infoset need not sum to 1: an action off the menu has its
    probability from a search of its own.

    Attributes:
        odds: per player, float64 [C].
        searched: bool [C of P], entries that a search has set.
    """

    odds: tuple[np.ndarray, ...]
    searched: np.ndarray

    @staticmethod
    def start(tree: PublicTree, blueprint: Policy, player: int) -> Beliefs:
        """Returns the blueprint as beliefs."""
        policy = named(blueprint, tree.info)
        odds = tuple(policy.probabilities(i).astype(np.float64) for i in range(tree.num_players))
        return Beliefs(odds, np.zeros(len(odds[player]), bool))


def in_rows_search(tree: PublicTree, search: DepthSearch) -> tuple[PublicTree, DepthSearch]:
    """Returns a tree with one row for each infoset, and a search with policies in its layout."""
    rows = in_rows(tree)
    policies = [relaid(policy, rows) for policy in search.policies]
    return rows, dataclasses.replace(search, policies=policies)


def measured(
    tree: PublicTree, blueprint: Policy, after: Sequence[np.ndarray], searches: int, begin: float
) -> DepthLimited:
    """Returns what searches made of a blueprint, measured exactly.

    Args:
        tree: the whole game.
        blueprint: of it.
        after: per player, float64 [C], the composed policy.
        searches: how many were made.
        begin: when.
    """
    info, n = compiled(tree), tree.num_players
    policy = with_probabilities(blueprint, after)
    worth: list[float] = []
    was: list[float] = []
    if n == 2 and info.utility_sum is not None:
        forms = [seen_from(info.form, i) for i in range(2)]
        worth = [worst_case(forms[i], after[i]) for i in range(2)]
        was = [worst_case(forms[i], blueprint.probabilities(i).astype(float)) for i in range(2)]
        exploitability = (info.utility_sum - sum(worth)) / 2
    else:
        exploitability = float(nash_conv(tree, policy)) / n
    return DepthLimited(
        policy=policy,
        worst_case=tuple(worth),
        blueprint_worst_case=tuple(was),
        exploitability=exploitability,
        searches=searches,
        seconds=time.perf_counter() - begin,
    )


def limited_part(who: Searcher, roots: Sequence[int], taken: Sequence[int]) -> PublicTree:
    """Returns the game that searches with one horizon take place in."""
    keep = who.plan.keep(roots, taken)
    found = who.leaves(int(roots[0]))
    if found is not None:
        limit, values = found
        table = listed(who.plan.tree).states
        here = keep & public_below(table, np.asarray(roots))
        inside = here[table.public[limit.leaf]]
        if inside.any():
            return continuations(
                who.plan.tree,
                dataclasses.replace(limit, leaf=limit.leaf[inside]),
                who.search.policies,
                player=who.plan.player,
                choosers=who.search.choosers,
                values=values[inside],
                keep=keep,
            )
    return pruned(who.plan.tree, keep)


def subgame_of(
    who: Searcher,
    beliefs: Beliefs,
    part: PublicTree,
    roots: Sequence[int],
    alternative: dict[tuple[int, int], float] | None,
) -> tuple[PublicTree, Built, SubgameRoots] | None:
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
    mine, theirs = (local_odds(part, who, beliefs, i) for i in (player, 1 - player))
    base = base_of(index, player, mine, theirs)
    asked = subgame_roots(index, player, np.asarray(roots), "common")
    where, _ = reached(index, asked, base.plan)
    if not where.count:
        return None
    gadget = who.gadget(int(roots[0]))
    options = GadgetOptions(gadget)
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


def local_odds(part: PublicTree, who: Searcher, beliefs: Beliefs, player: int) -> np.ndarray:
    """Returns float64 [C of `part`], beliefs there; the first continuation is chosen."""
    info, whole = part.info, who.plan.tree.info
    p = info.players[player]
    source = entries_of(info, whole, player)
    odds = np.where(source >= 0, beliefs.odds[player][np.maximum(source, 0)], 0.0)
    if isinstance(info, LimitedInfo):
        odds[p.offset[:-1][info.chooses(player)]] = 1.0
    if player != who.plan.player:
        even = np.repeat(1 / np.diff(p.offset), np.diff(p.offset))
        odds = (1 - LEAST_BELIEF) * odds + LEAST_BELIEF * even
    return odds


def composed(info: TreeInfo, beliefs: Beliefs, player: int) -> np.ndarray:
    """Returns float64 [C], the policy of who searched, a distribution at each infoset."""
    p = info.players[player]
    odds = np.maximum(beliefs.odds[player], 0)
    row = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
    total = np.bincount(row, odds, p.num_infosets)
    even = 1 / np.diff(p.offset)[row]
    return np.where(total[row] > 0, odds / np.where(total > 0, total, 1)[row], even)

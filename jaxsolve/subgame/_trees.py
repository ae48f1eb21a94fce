"""Subgames as ordinary trees: everything that solves, evaluates or saves a tree works on them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from jaxsolve.evaluate import seen_from
from jaxsolve.solvers import Solver
from jaxsolve.subgame._alternative import base_of
from jaxsolve.subgame._blueprint import probabilities
from jaxsolve.subgame._build import Built, GadgetOptions, Noise, build
from jaxsolve.subgame._core import Core, core
from jaxsolve.subgame._forest import join
from jaxsolve.subgame._gadgets import unsafe as unsafe_gadget
from jaxsolve.subgame._index import GameIndex, index_of
from jaxsolve.subgame._joint import player_infos
from jaxsolve.subgame._roots import (
    Knowledge,
    SubgameRoots,
    levels_of,
    public_roots,
    reached,
    subgame_roots,
)
from jaxsolve.subgame._solve import ForestSolution, solve_forest
from jaxsolve.tree import (
    CompiledInfo,
    Lifted,
    Policy,
    PublicTree,
    assemble,
    to_device,
    with_probabilities,
)


@dataclasses.dataclass(frozen=True)
class SubgameInfo(CompiledInfo):
    """What a tree of subgames is a tree of (B subgames, M classes of the opponent).

    Attributes:
        player: P, who re-solves; the seats are those of the game.
        roots: where the subgames begin.
        skipped: subgames that were asked for but are never reached, and are not in the tree.
        weight: float64 [M], reach of chance and P at each class.
        alternative: float64 [M], O's alternative value of each class per unit of that, in the
            game's units; 0 in unsafe subgames, which have none.
        unit: float64 [B], how much larger payoffs of each subgame are than those of the game.
        core: the subgames without the gadget.
    """

    player: int
    roots: SubgameRoots
    skipped: int
    weight: np.ndarray
    alternative: np.ndarray
    unit: np.ndarray
    core: Core

    @property
    def num_subgames(self) -> int:
        """B."""
        return self.roots.count

    @property
    def classes(self) -> tuple[str, ...]:
        """Readable names of the classes: what O has seen and done."""
        other = 1 - self.player
        seats = list(self.players)
        seats[other] = dataclasses.replace(seats[other], infostate=self.roots.classes)
        names = dataclasses.replace(self, players=tuple(seats))
        return tuple(names.label(other, k) for k in range(len(self.roots.classes)))

    def margins(self, policy: Policy) -> np.ndarray:
        """Returns float64 [M], what P gains on the alternative value of each class.

        O answers best. In the game's units, per unit of the reach of chance and P; a solution of a
        safe gadget leaves none of them negative.

        Args:
            policy: of this tree.
        """
        mine = policy.probabilities(self.player).astype(np.float64)
        value = self.core.class_values(mine)
        return (value / self.core.weight + np.repeat(self.alternative, self.core.copies))[
            :: self.core.copies
        ]


def cut(
    tree: PublicTree,
    public_state: int,
    ranges: Policy | Lifted | Sequence[np.ndarray],
) -> PublicTree:
    """Returns the subgame that begins at a public state, chance weights being the players' ranges.

    Args:
        tree: a compiled game.
        public_state: number of the public state.
        ranges: a policy, whose reaches are the ranges; or per player float [n], the reach of each
            of the infostates with which the public state begins (`root_infostates`).

    Raises:
        ValueError: there is no such public state, ranges have the wrong shape, or nothing in it is
            reached.
    """
    index = index_of(tree)
    where = subgame_roots(index, 0, public_state, "common")
    if isinstance(ranges, Policy | Lifted):
        return unsafe(tree, ranges, public_state)
    reach = []
    for i, given in enumerate(ranges):
        roots = public_roots(index, i, public_state)
        values = np.asarray(given, np.float64)
        if values.shape != roots.shape or not (values >= 0).all():
            raise ValueError(
                f"the range of player {i} at public state {public_state} must be {len(roots)} "
                f"numbers of at least 0, not {values.tolist()}"
            )
        by_infostate = np.zeros(len(index.seats[i].first))
        by_infostate[roots] = values
        reach.append(by_infostate)
    plan = np.zeros(index.seats[0].rows.num_sequences)  # nothing stays fixed in a public state
    made = core(index, where, plan, arrival=reach[0][where.own])
    arrival = reach[1][where.classes]
    if not (arrival * made.weight).sum() > 0:
        raise ValueError(f"public state {public_state} is never reached with these ranges")
    built = Built(made, unsafe_gadget(made, arrival), np.zeros(len(made.weight)))
    return tree_of(index, built, "cut", 0)


def unsafe(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    at: int | Sequence[int] | np.ndarray,
    *,
    player: int = 0,
    knowledge: Knowledge = "common",
) -> PublicTree:
    """Returns subgames with the blueprint's ranges at their roots; their solution need not be safe.

    Args:
        tree: a compiled game.
        blueprint: policies of both players.
        at: public states where knowledge is "common", else infosets of `player`.
        player: P, who re-solves.
        knowledge: "common", or an odd k.

    Raises:
        ValueError: see `maxmargin`.
    """
    return _subgames(tree, blueprint, at, player, knowledge, GadgetOptions("unsafe"))


def resolve(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    at: int | Sequence[int] | np.ndarray,
    *,
    player: int = 0,
    knowledge: Knowledge = "common",
    alternative: str | np.ndarray = "exact",
    reach: str | None = None,
    noise: Noise | None = None,
    merge_transpositions: bool = False,
) -> PublicTree:
    """Returns subgames in which O may take an alternative value at each class instead of playing.

    Its value is at most what the alternatives are worth, and a solution that reaches it leaves O
    nowhere better off than against the blueprint (Burch, Johanson & Bowling 2014).

    Args and Raises: as of `maxmargin`.
    """
    options = GadgetOptions("resolve", alternative, reach, noise, merge_transpositions)
    return _subgames(tree, blueprint, at, player, knowledge, options)


def maxmargin(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    at: int | Sequence[int] | np.ndarray,
    *,
    player: int = 0,
    knowledge: Knowledge = "common",
    alternative: str | np.ndarray = "exact",
    reach: str | None = None,
    noise: Noise | None = None,
    merge_transpositions: bool = False,
) -> PublicTree:
    """Returns subgames in which O chooses the class to begin with and P maximises the least margin.

    All subgames asked for lie in one tree, as disjoint parts, so one run solves all of them.

    Args:
        tree: a compiled game.
        blueprint: P's policy; O's matters to estimates only.
        at: public states where knowledge is "common", else infosets of `player`, in canonical
            order; `levels` lists those of each depth.
        player: P, who re-solves.
        knowledge: "common", or an odd k: k-KLSS, which frees P's strategy where the order-k
            knowledge set leads and fixes it elsewhere.
        alternative: "exact", "estimate", or float [M]; see `GadgetOptions`.
        reach: None, "exact" or "estimate": the reach variant (Brown & Sandholm 2017).
        noise: distributional alternative values.
        merge_transpositions: keep one of several classes whose futures look alike (k = 1).

    Returns:
        A tree whose `info` is a `SubgameInfo`. Subgames that are never reached are left out and
        counted in `info.skipped`.

    Raises:
        ValueError: k is even, there is no such public state or infoset, the blueprint does not
            cover a reachable infoset, alternative values have the wrong shape, or nothing is
            reached.

    Source: Moravcik et al. 2016; Zhang & Sandholm 2021.
    """
    options = GadgetOptions("maxmargin", alternative, reach, noise, merge_transpositions)
    return _subgames(tree, blueprint, at, player, knowledge, options)


def klss(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    at: int | Sequence[int] | np.ndarray,
    *,
    k: int = 1,
    player: int = 0,
    gadget: str = "maxmargin",
    reach: str | None = None,
    merge_transpositions: bool = False,
) -> PublicTree:
    """Returns the knowledge-limited subgames of order k at some infosets of P.

    Args: as of `maxmargin`; `gadget` is "maxmargin" or "resolve".

    Source: Zhang & Sandholm 2021, section 4.
    """
    options = GadgetOptions(gadget, reach=reach, merge_transpositions=merge_transpositions)
    return _subgames(tree, blueprint, at, player, k, options)


def levels(tree: PublicTree, *, player: int = 0, knowledge: Knowledge = 1) -> list[np.ndarray]:
    """Returns the roots of a player's subgames, level by level from the top.

    Args:
        tree: a compiled game.
        player: P.
        knowledge: an odd k: infosets, by how often P has acted before; "common": public states in
            which P acts, by how many of these lie above.
    """
    return levels_of(index_of(tree), player, knowledge)


def solve_subgames(
    trees: PublicTree | Sequence[PublicTree],
    solver: str | Solver = "pcfr+",
    *,
    target: float = 1e-6,
    iterations: int = 20_000,
    measure_every: int = 200,
) -> list[ForestSolution]:
    """Returns the solutions of subgames: all in one compiled run, or one LP at a time.

    Args:
        trees: subgames, from one or several calls of the gadgets.
        solver: "lp", or a variant of CFR or its name.
        target: CFR stops once every subgame is within this of its equilibrium, in the game's units.
        iterations: at most so many of CFR.
        measure_every: iterations between two looks at the gaps.

    Returns:
        One solution per tree; `iterations` and `seconds` are those of all.
    """
    many = [trees] if isinstance(trees, PublicTree) else list(trees)
    forms, units = [], []
    for tree in many:
        info = _subgame_info(tree)
        forms.append(seen_from(info.form, info.player))
        units.append(info.unit)
    found = solve_forest(
        join(forms),
        solver,
        unit=np.concatenate(units),
        target=target,
        iterations=iterations,
        measure_every=measure_every,
    )
    entries = np.cumsum([0, *(len(f.rows[0].action) for f in forms)])
    parts = np.cumsum([0, *(f.rows[0].roots for f in forms)])
    return [
        ForestSolution(
            found.behaviour[entries[k] : entries[k + 1]],
            found.gap[parts[k] : parts[k + 1]],
            found.iterations,
            found.seconds,
        )
        for k in range(len(forms))
    ]


def root_infostates(tree: PublicTree, public_state: int, player: int) -> np.ndarray:
    """Returns the infostates with which a public state begins, in the order of `cut`'s ranges."""
    index = index_of(tree)
    subgame_roots(index, 0, public_state, "common")
    return public_roots(index, player, public_state)


def write(blueprint: Policy, tree: PublicTree, solution: Policy) -> Policy:
    """Returns a blueprint with the solution of subgames put in its place.

    Args:
        blueprint: of the whole game.
        tree: subgames of that game.
        solution: of `tree`; only P's part is taken.

    Raises:
        ValueError: `tree` is not a tree of subgames, or two of them free the same infoset.
    """
    info = _subgame_info(tree)
    source = info.core.source[0]
    if len(np.unique(source)) < len(source):
        raise ValueError(
            "two of these subgames free the same infoset; write them back one after the other"
        )
    parts = [blueprint.probabilities(i).astype(np.float64) for i in range(2)]
    parts[info.player][source] = solution.probabilities(info.player)
    return with_probabilities(blueprint, parts)


def _subgame_info(tree: PublicTree) -> SubgameInfo:
    info = tree.info
    if not isinstance(info, SubgameInfo):
        raise ValueError("this tree is not one of subgames; see jaxsolve.subgame.maxmargin")
    return info


def _subgames(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    at: int | Sequence[int] | np.ndarray,
    player: int,
    knowledge: Knowledge,
    options: GadgetOptions,
) -> PublicTree:
    index = index_of(tree)
    if player not in (0, 1):
        raise ValueError(f"player must be 0 or 1, not {player!r}")
    options.check()
    asked = subgame_roots(index, player, at, knowledge)
    mine = probabilities(index, blueprint, player)
    theirs = probabilities(index, blueprint, 1 - player) if options.needs_opponent else None
    base = base_of(index, player, mine, theirs)
    where, kept = reached(index, asked, base.plan)
    if not where.count:
        raise ValueError(f"with this blueprint play never reaches {', '.join(asked.name[:3])}")
    built = build(index, where, base, options)
    return tree_of(index, built, options.gadget, asked.count - len(kept))


def tree_of(index: GameIndex, built: Built, gadget: str, skipped: int) -> PublicTree:
    """Returns subgames as a tree on the device, in the seats of the game."""
    begin = time.perf_counter()
    made = built.core
    where = made.where
    form = seen_from(built.gadget.form, where.player)
    host, layouts = assemble(form)
    players = player_infos(index, form, layouts)
    one = slice(None, None, made.copies)
    what = where.name[0] if where.count == 1 else f"{where.count} places"
    name = f"{gadget} of {index.info.name} at {what}"
    info = SubgameInfo(
        game=index.info.game,
        name=name,
        players=players,
        num_states=None,
        num_public_states=len(np.unique(np.concatenate([p.public for p in players]))),
        utility_sum=0.0,
        build_seconds=time.perf_counter() - begin,
        form=form,
        player=where.player,
        roots=where,
        skipped=skipped,
        weight=made.weight[one],
        alternative=(-built.alternative / made.weight)[one],
        unit=built.unit,
        core=made,
    )
    return to_device(host, name).replace(names=info)

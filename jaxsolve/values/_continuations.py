"""Multi-valued states: at a depth limit players choose how the game goes on.

At each of their infostates at the limit a chooser picks one of k continuation strategies, the same
at all states that they cannot tell apart. The choices pay the expected payoffs of the state when
the choosers play theirs and every other player plays the blueprint. So a searcher cannot rely on
the opponents' not adapting (Brown, Sandholm and Amos 2018; all players choose in Brown and Sandholm
2019, with any number of players).

The outcome is an ordinary compiled tree: one decision level per chooser and one payoff operator.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.compiler import in_rows, player_info
from jaxsolve.tree import (
    Lifted,
    ListedInfo,
    Policy,
    PublicTree,
    SequenceForm,
    assemble,
    float_type,
    last_sequences,
    listed,
    merge_payoffs,
    relaid,
    sequence_form,
    sparse_payoffs,
    to_device,
)
from jaxsolve.types import Array
from jaxsolve.values._info import LeafStates, LimitedInfo, entry_of_state, leaf_states, named
from jaxsolve.values._limit import DepthLimit, describe_public
from jaxsolve.values._operator import MultiValued, multi_valued
from jaxsolve.values._table import limit_table
from jaxsolve.values._values import Below, values_at, weaken

CHOOSERS = ("opponent", "all")

TOLERANCE = 1e-3
"""How far the probabilities of an infoset may be from 1 in sum."""


LeafValues = Array | np.ndarray | Callable[[LeafStates], Array | np.ndarray]
"""Values [L, k_0, ..., k_{n-1}, n], or what makes them.

Of two players with a constant sum player 0's payoffs are enough: [L, k_0, k_1], or [L, k] where
one player chooses.
"""


def continuations(
    tree: PublicTree,
    limit: DepthLimit,
    policies: Sequence[Policy | Lifted],
    *,
    player: int = 0,
    choosers: str = "opponent",
    values: LeafValues | None = None,
    weakened: bool = False,
    keep: np.ndarray | None = None,
) -> PublicTree:
    """Returns a game cut at a depth limit, where continuations are chosen.

    Gadgets of subgame solving take the outcome as they take the whole game: public states and
    infostates keep their numbers (`restrict` takes a blueprint to it, `extend` a solution back).

    Args:
        tree: a compiled game.
        limit: where it is cut.
        policies: k continuations, policies of the whole game or lifted to it from a coarser one
            (`js.lift`). The first is the blueprint: players who do not choose play it below
            the limit.
        player: the searcher.
        choosers: "opponent", everybody but the searcher; or "all". No chooser sees what the others
            choose.
        values: payoffs in the game's units, float [L, k_0, ..., k_{n-1}, n] with k_i = 1 for who
            does not choose, or a function that makes them; by default the exact ones. See
            `LeafValues` for shorter forms.
        weakened: lower the values of continuations that are better against the blueprint than the
            blueprint is (section 4); of two players and constant sum.
        keep: bool [N], public states that remain; the others are left out with all below them.

    Returns:
        A tree whose `info` is a `LimitedInfo`; its last leaf operator is a `MultiValued`.

    Raises:
        ValueError: values of another shape, a policy without a distribution at an infoset below the
            limit (the public state is named), or nothing at the limit.
    """
    begin = time.perf_counter()
    tree, policies = _in_rows(tree, policies)
    info = listed(tree)
    table = info.states
    limit = limit if keep is None else _kept(table, limit, keep)
    who = _choosers(info, limit, policies, player, choosers)
    choices = tuple(len(policies) if i in who else 1 for i in range(len(info.players)))
    leaves = leaf_states(tree, limit)
    numbers: Any
    if values is None:
        numbers = leaf_values(
            tree, limit, policies, player=player, choosers=choosers, weakened=weakened
        )
    else:
        given = jnp.asarray(
            _shaped(values(leaves) if callable(values) else values, choices, leaves, info),
            tree.players[0].root_reach.dtype,
        )
        first = policies[0].policy if isinstance(policies[0], Lifted) else policies[0]
        numbers = _weakened(tree, limit, given, first, who) if weakened else given
    numbers = np.asarray(numbers, np.float64)
    cut = limit_table(table, limit, choices, who, keep)
    made = LimitedInfo(
        game=cut.table.game,
        name=cut.table.game.name,
        players=(),
        num_states=cut.table.num_states,
        num_public_states=len(np.unique(cut.table.public)),
        utility_sum=info.utility_sum,
        build_seconds=0.0,
        form=sequence_form(cut.table),
        states=cut.table,
        whole=info,
        limit=limit,
        leaves=leaves,
        choosers=who,
        values=numbers,
        value_of=cut.value,
    )
    return _assembled(made, begin)


def leaf_values(
    tree: PublicTree,
    limit: DepthLimit,
    policies: Sequence[Policy | Lifted],
    *,
    player: int = 0,
    choosers: str = "opponent",
    weakened: bool = False,
    part: Below | None = None,
) -> Array:
    """Returns float [L, k_0, ..., k_{n-1}, n], exact values, which `continuations` takes.

    Args: as of `continuations`; `part` is `below(tree, limit)`, for callers who need it often.

    Raises:
        ValueError: as of `continuations`.
    """
    tree, policies = _in_rows(tree, policies)
    info = listed(tree)
    who = _choosers(info, limit, policies, player, choosers)
    plain = [p.policy if isinstance(p, Lifted) else p for p in policies]
    n = len(info.players)
    given = [tuple(plain) if i in who else (plain[0],) for i in range(n)]
    for i in range(n):
        for one in policies if i in who else policies[:1]:
            _check_covers(info, limit, one, i)
    worth = values_at(tree, limit, given, part=part)
    return _weakened(tree, limit, worth, plain[0], who) if weakened else worth


def _in_rows(
    tree: PublicTree, policies: Sequence[Policy | Lifted]
) -> tuple[PublicTree, list[Policy | Lifted]]:
    """Returns a tree with one row for each infoset, and policies in its layout."""
    rows = in_rows(tree)
    return rows, [
        p._replace(policy=relaid(p.policy, rows)) if isinstance(p, Lifted) else relaid(p, rows)
        for p in policies
    ]


def set_values(tree: PublicTree, values: Array | np.ndarray) -> PublicTree:
    """Returns a tree with other values at its depth limit; works under jit and vmap.

    Outside of these, where the tree has names, its sequence form and its states change too, so that
    the linear program and gadgets see the new values.

    Args:
        tree: from `continuations`.
        values: float [L, k_0, ..., k_{n-1}, n], payoffs in the game's units.

    Raises:
        ValueError: the tree has no depth limit.
    """
    operator = tree.leaves[-1]
    if not isinstance(operator, MultiValued):
        raise ValueError("this tree has no depth limit; see jaxsolve.values.continuations")
    leaves = (*tree.leaves[:-1], operator.with_values(jnp.asarray(values)))
    info = tree.names
    if not isinstance(info, LimitedInfo):
        return tree.replace(leaves=leaves)
    numbers = np.broadcast_to(np.asarray(values, np.float64), info.values.shape)
    return tree.replace(leaves=leaves, names=_with_payoffs(info, numbers))


def _choosers(
    info: ListedInfo, limit: DepthLimit, policies: Sequence[Any], player: int, choosers: str
) -> tuple[int, ...]:
    """Returns who chooses; raises where an argument makes no sense."""
    if choosers not in CHOOSERS:
        raise ValueError(f"choosers must be one of {', '.join(CHOOSERS)}; got {choosers!r}")
    n = len(info.players)
    if player not in range(n):
        raise ValueError(f"player must be one of {', '.join(map(str, range(n)))}; got {player!r}")
    if not policies:
        raise ValueError("no continuations; give at least the blueprint, policies=[blueprint]")
    if not limit.num_leaves:
        raise ValueError(f"{info.name}: play never comes to the limit ({limit.name})")
    return tuple(i for i in range(n) if choosers == "all" or i != player)


def _weakened(
    tree: PublicTree,
    limit: DepthLimit,
    values: Array,
    blueprint: Policy,
    choosers: Sequence[int],
) -> Array:
    """Returns values weakened by the beliefs of a blueprint."""
    info = listed(tree)
    if len(info.players) != 2 or info.utility_sum is None:
        raise ValueError(
            f"weakened=True is for games of two players and constant sum, and {info.name} is none: "
            "it does not say to whom goes what a continuation loses"
        )
    leaves = leaf_states(tree, limit)
    groups = [leaves.groups(i) for i in range(2)]
    return weaken(
        values,
        [jnp.asarray(b, values.dtype) for b in _beliefs(tree, blueprint, limit)],
        [jnp.asarray(g) for g, _ in groups],
        [n for _, n in groups],
        choosers,
    )


def _assembled(info: LimitedInfo, begin: float) -> PublicTree:
    """Returns the tensors of a game with a limit."""
    form, table = info.form, info.states
    host, layouts = assemble(form)
    last = np.stack([last_sequences(table, i) for i in range(len(layouts))], 1)
    placed = np.stack([one.sequence[last[:, i]] for i, one in enumerate(layouts)], 1)
    ends = info.value_of < 0
    chance = table.chance[table.terminal]
    sizes = [p.size for p in layouts]
    sequence, payoff = merge_payoffs(placed[ends], table.utility[ends] * chance[ends, None])
    values = info.values.astype(float_type())
    operator = multi_valued(placed[~ends], info.value_of[~ends], chance[~ends], values, sizes)
    tree = PublicTree(host.players, (sparse_payoffs(sequence, payoff, sizes), operator))
    info = dataclasses.replace(
        info,
        players=tuple(player_info(form, table, layouts, i) for i in range(form.num_players)),
        build_seconds=time.perf_counter() - begin,
    )
    return to_device(tree, info.name).replace(names=_with_payoffs(info, info.values))


def _with_payoffs(info: LimitedInfo, values: np.ndarray) -> LimitedInfo:
    """Returns names whose sequence form and states have some values."""
    table, form = info.states, info.form
    n = form.num_players
    utility = table.utility.copy()
    leaf = info.value_of >= 0
    utility[leaf] = values.reshape(-1, n)[info.value_of[leaf]]
    table = dataclasses.replace(table, utility=utility)
    sequence = np.stack([last_sequences(table, i) for i in range(n)], 1)
    payoff = utility * table.chance[table.terminal][:, None]
    form = SequenceForm(form.rows, *merge_payoffs(sequence, payoff))
    return dataclasses.replace(info, states=table, form=form, values=values)


def _shaped(
    values: Any, choices: tuple[int, ...], leaves: LeafStates, info: ListedInfo
) -> Array | np.ndarray:
    """Returns values as [L, k_0, ..., k_{n-1}, n], checked."""
    array = values if isinstance(values, jax.Array) else np.asarray(values)
    size, n = len(leaves.state), len(choices)
    if array.shape == (size, *choices, n):
        return array
    short = tuple(k for k in choices if k > 1)
    total = info.utility_sum
    if n == 2 and total is not None and array.shape in ((size, *choices), (size, *short)):
        first = array.reshape(size, *choices)
        return jnp.stack([first, total - first], -1)
    where = describe_public(info.states, int(leaves.public[0]))
    words = " x ".join(str(k) for k in choices)
    raise ValueError(
        f"{info.name}: the leaf function returned values of shape {array.shape}. The limit has "
        f"{size} states, the first in {where}, with {words} continuations: it must return "
        f"{(size, *choices, n)}"
        + (f", or player 0's alone, {(size, *choices)}" if n == 2 and total is not None else "")
    )


def _check_covers(
    info: ListedInfo, limit: DepthLimit, policy: Policy | Lifted, player: int
) -> None:
    """Raises where a policy holds no distribution at an infoset below the limit."""
    place_ = info.players[player]
    unknown: set[str] = set()
    if isinstance(policy, Lifted):
        unknown = set(policy.unmatched[player])
        policy = policy.policy
    given = named(policy, info).probabilities(player)
    if given.shape != place_.action.shape:
        raise ValueError(f"a continuation is a policy of another game than {info.name}")
    if not len(given):
        return
    total = np.add.reduceat(given, place_.offset[:-1])
    lowest = np.minimum.reduceat(given, place_.offset[:-1])
    good = (np.abs(total - 1) <= TOLERANCE) & (lowest >= -TOLERANCE)  # False for NaN
    if unknown:
        good &= np.array([name not in unknown for name in info.labels[player]])
    bad = limit.below[place_.public] & ~good
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        where = describe_public(info.states, int(place_.public[row]))
        lo, hi = place_.offset[row : row + 2]
        name = info.label(player, row)
        why = f"its probabilities are {given[lo:hi]}"
        if name in unknown:
            why = "no infoset of the coarser game stands for it"
        raise ValueError(
            f"a continuation has no strategy for player {player} in {where}: at infoset {name!r} "
            f"{why}"
        )


def _kept(table: Any, limit: DepthLimit, keep: np.ndarray) -> DepthLimit:
    """Returns a limit without the states that are no longer reached."""
    alive = keep[table.public]
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        alive[lo:hi] &= alive[table.parent[lo:hi]]
    return dataclasses.replace(limit, leaf=limit.leaf[alive[limit.leaf]])


def _beliefs(tree: PublicTree, blueprint: Policy, limit: DepthLimit) -> list[np.ndarray]:
    """Returns per player float64 [L], the reach of chance and of the other player at each leaf."""
    info = listed(tree)
    table = info.states
    step = entry_of_state(table, info)
    out = []
    for other in (1, 0):
        odds = named(blueprint, info).probabilities(other).astype(np.float64)
        moves = np.concatenate([[False], table.actor[table.parent[1:]] == other])
        reach = np.ones(table.num_states)
        for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
            own = np.where(moves[lo:hi], odds[step[lo:hi]], 1)
            reach[lo:hi] = reach[table.parent[lo:hi]] * own
        out.append((reach * table.chance)[limit.leaf])
    return out

"""Subgames of any number of players: ranges of the given strategies, no gadget, no guarantee.

Every player's strategy is free below a public state. Their reaches
at its top states are those of given strategies. Payoffs are divided by the probability of the
public state, so that they are expected payoffs in the game's units.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.evaluate import realization
from jaxsolve.subgame._core import gather_rows
from jaxsolve.subgame._index import GameIndex
from jaxsolve.subgame._roots import LEAST_REACH, containing_place, public_roots
from jaxsolve.tree import (
    CompiledInfo,
    PlayerInfo,
    PublicTree,
    SequenceForm,
    SequenceLayout,
    assemble,
    merge_payoffs,
    to_device,
)


class JointSubgame(NamedTuple):
    """The game from a public state on, of n players.

    Attributes:
        tree: with names.
        source: per player, int64 [C], the entry of the whole game behind each entry of `tree`.
    """

    tree: PublicTree
    source: tuple[np.ndarray, ...]


def joint_subgame(
    index: GameIndex, player: int, public_state: int, behaviour: Sequence[np.ndarray]
) -> JointSubgame | None:
    """Returns the subgame below a public state, None where chance and one player do not reach it.

    Args:
        index: the game, of any number of players.
        player: whose infostates of reach 0 are left out, with what only they lead to.
        public_state: where it begins.
        behaviour: per player, float64 [C], the strategy above the public state.
    """
    begin = time.perf_counter()
    table, seats = index.table, index.seats
    plans = [realization(s.rows, b) for s, b in zip(seats, behaviour, strict=True)]
    mine = seats[player]
    own = _in_order(index, player, public_roots(index, player, public_state))
    x = plans[player][mine.before[own]]
    which, top = mine.entries.pick(own)
    live = np.bincount(which, table.chance[top], len(own)) * x > 0
    if not (np.bincount(which, table.chance[top], len(own)) * x).sum() > LEAST_REACH:
        return None
    own = own[live]
    _, top = mine.entries.pick(own)
    roots = [
        own if i == player else _in_order(index, i, np.unique(table.infostate[top, i]))
        for i in range(len(seats))
    ]
    arrival = [p[s.before[r]] for p, s, r in zip(plans, seats, roots, strict=True)]
    # The order of products and sums is that of the subgames with gadgets, for equal digits.
    last = next(i for i in range(len(seats)) if i != player)
    order = [player, *(i for i in range(len(seats)) if i not in (player, last)), last]
    at = [_root_of(index, i, roots[i], table.infostate[top, i]) for i in range(len(seats))]
    reach = functools.reduce(
        operator.mul, (arrival[i][at[i]] for i in order[:-1]), table.chance[top]
    )
    weight = np.bincount(at[last], reach, len(roots[last]))
    mass = np.bincount(np.zeros(len(weight), np.int64), weight * arrival[last])[0]
    scale = arrival[last] / (mass if mass > 0 else 1)

    klass, terminal = seats[last].terminals_below(roots[last])
    total = index.info.utility_sum
    payoff = table.utility[terminal] - (total / len(seats) if total is not None else 0)
    payoff = payoff * index.chance[terminal, None]
    inside = np.ones(len(terminal), bool)
    for i in order[:-1]:
        above = _root_at(index, i, roots[i], seats[i].place[terminal])
        inside &= above >= 0
        payoff = payoff * arrival[i][above, None]
    payoff = payoff * scale[klass, None]
    keep = inside & (payoff != 0).any(1)
    parts = []
    for i, seat in enumerate(seats):
        which, row = seat.rows_below(roots[i])
        parts.append(gather_rows(seat, 1, np.zeros_like(which), row))
    none = np.zeros(int(keep.sum()), np.int64)
    sequence = np.stack(
        [
            find(none, s.sequence[terminal[keep]])
            for s, (_, _, find) in zip(seats, parts, strict=True)
        ],
        1,
    )
    form = SequenceForm(tuple(r for r, _, _ in parts), *merge_payoffs(sequence, payoff[keep]))
    host, layouts = assemble(form)
    players = player_infos(index, form, layouts)
    name = f"{index.info.name} from public state {public_state} on"
    info = CompiledInfo(
        game=index.info.game,
        name=name,
        players=players,
        num_states=None,
        num_public_states=len(np.unique(np.concatenate([p.public for p in players]))),
        utility_sum=None if total is None else 0.0,
        build_seconds=time.perf_counter() - begin,
        form=form,
    )
    tree = to_device(host, name).replace(names=info)
    return JointSubgame(tree, tuple(source for _, source, _ in parts))


def player_infos(
    index: GameIndex, form: SequenceForm, layouts: Sequence[SequenceLayout]
) -> tuple[PlayerInfo, ...]:
    """Returns the infosets of subgames in canonical order: that of their sequence form."""
    return tuple(
        PlayerInfo(
            offset=rows.offset - rows.roots,
            action=rows.action,
            position=layout.sequence[rows.roots :],
            infostate=rows.infostate,
            public=rows.public,
            states=index.table.infostates[i],
            roots=rows.roots,
        )
        for i, (rows, layout) in enumerate(zip(form.rows, layouts, strict=True))
    )


def _in_order(index: GameIndex, player: int, infostates: np.ndarray) -> np.ndarray:
    """Returns infostates in depth-first order, without those below another of them."""
    seat = index.seats[player]
    infostates = infostates.astype(np.int64)
    kept = infostates[seat.highest(np.zeros(len(infostates), np.int64), infostates)]
    return kept[np.argsort(seat.first[kept], kind="stable")]


def _root_of(
    index: GameIndex, player: int, roots: np.ndarray, infostates: np.ndarray
) -> np.ndarray:
    """Returns int64 [Q], which root each infostate lies at or below, -1 if none."""
    return _root_at(index, player, roots, index.seats[player].first[infostates])


def _root_at(index: GameIndex, player: int, roots: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Returns the same for places in depth-first order."""
    seat = index.seats[player]
    group = np.zeros(len(roots), np.int64)
    return containing_place(seat.first, seat.last, group, roots, np.zeros_like(place), place)

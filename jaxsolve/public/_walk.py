"""All public states of a game, with the private states of both players in each.

A player's infostates in a public state are numbered; such a number is called a *private state*
(a hand, in card games). Infostates from which the game goes on alike may share one: then its reach
is the sum of theirs, and its values are those of each. Two infostates of a player are alike if the
same infostates of the opponent are compatible with both, with the same probabilities of chance, and
their futures are, move by move and payoff by payoff. In Scotland Yard this makes a private state of
all ways of Mr X to one station.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxsolve.compiler import MAX_STATES, Walker, public_components, with_public
from jaxsolve.game import Game, HasPrivateStates, HasPublicFeatures
from jaxsolve.public._card_game import PublicGame
from jaxsolve.tree import StateTable
from jaxsolve.types import TERMINAL

PLACES = 12
"""Digits after which probabilities are taken to be equal."""


@dataclasses.dataclass(frozen=True)
class Walk:
    """Public states of a two-player zero-sum game, parents first (Q public states).

    Attributes:
        game: the rules.
        parent: int [Q], -1 for the first.
        actor: int [Q], player, CHANCE or TERMINAL.
        weight: public state -> float64 [H0, H1], probability of chance for each pair of private
            states; 0 where they are not compatible.
        payoff: terminal public state -> float64 [H0, H1], to player 0.
        origin: (public state, player) -> int [E, 3], (private state, the one before it, place of
            the own action among the legal ones or -1), an entry for each pair (private state
            before, action) that leads to it.
        root: the first public state at which a player acts.
        features: float64 [Q, F], the game's description; F is 0 without one.
        subgame_class: int [Q], equal where what follows is; None where that is not known.
        infosets: per player, infostate -> (public state, private state) where they act, or None.
    """

    game: Game
    parent: np.ndarray
    actor: np.ndarray
    weight: Callable[[int], np.ndarray]
    payoff: Callable[[int], np.ndarray]
    origin: Callable[[int, int], np.ndarray]
    root: int
    features: np.ndarray
    subgame_class: np.ndarray | None
    infosets: tuple[dict[int, tuple[int, int]], ...] | None


def walk_cards(game: PublicGame) -> Walk:
    """Returns the public nodes of a card game; private states are the hands."""
    place = np.zeros(len(game.parent), np.int64)
    for below in game.children:
        place[below] = np.arange(len(below))

    def origin(node: int, player: int) -> np.ndarray:
        hands = np.flatnonzero(game.possible[node, player])
        own = game.actor[game.parent[node]] == player
        action = np.full(len(hands), place[node] if own else -1)
        return np.stack([hands, hands, action], 1)

    features = np.zeros((len(game.parent), game.features.shape[1]))
    acts = game.subgame_class >= 0
    features[acts] = game.features[game.subgame_class[acts]]
    return Walk(
        game=game.game,
        parent=game.parent,
        actor=game.actor,
        weight=lambda node: game.weight[node],
        payoff=lambda node: game.payoff[node, 0],
        origin=origin,
        root=game.root,
        features=features,
        subgame_class=game.subgame_class,
        infosets=None,
    )


def walk_states(game: Game, *, max_states: int = MAX_STATES) -> Walk:
    """Returns the public states of any game, from its world states.

    The rules may number private states themselves, `private_states(state) -> int32 [2]`, which
    gives a number the same meaning in all public states; equal numbers must have equal futures.
    Otherwise infostates that are alike are merged, and a private state keeps the number of the one
    before it where each has one successor.

    Raises:
        ValueError: not a zero-sum game of two players, a public state in which both act, chance
            shows something in public before the first decision, or `private_states` merges
            infostates with different futures.
    """
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; beliefs here are of two")
    table, labels, features = enumerate_states(game, max_states)
    if np.abs(table.utility.sum(1)).max(initial=0) > 1e-9:
        raise ValueError(f"{game.name} is not a zero-sum game; values of beliefs need one")
    group = groups_of(table)
    parent, actor, first = _group_columns(table, group)
    pairs = [_Pairs.of(table, group, i, labels) for i in range(2)]
    alive = actor[group] != TERMINAL
    if (features != features[first[group]])[alive].any():
        raise ValueError(f"{game.name}: public_features depends on what is private")
    weight, payoff = _blocks(table, group, pairs, actor)
    alike = _alike(pairs, actor, weight, payoff)
    named = (actor != TERMINAL) & (labels is not None)
    slots = [_number(game, pairs[i], alike[i], parent, named) for i in range(2)]
    size = [int(s.max()) + 1 for s in slots]
    kept = [_first_of_each(pairs[i].group, alike[i]) for i in range(2)]

    def on_slots(blocks: list[np.ndarray]) -> Callable[[int], np.ndarray]:
        def at(node: int) -> np.ndarray:
            out = np.zeros(size)
            rows, columns = (
                slots[i][pairs[i].start[node] : pairs[i].start[node + 1]] for i in (0, 1)
            )
            out[np.ix_(rows, columns)] = blocks[node]
            return out

        return at

    def origin(node: int, player: int) -> np.ndarray:
        own = pairs[player]
        here = np.arange(own.start[node], own.start[node + 1])
        here = here[kept[player][own.parent[here]]]
        return np.stack([slots[player][here], slots[player][own.parent[here]], own.place[here]], 1)

    return Walk(
        game=game,
        parent=parent,
        actor=actor,
        weight=on_slots(weight),
        payoff=on_slots(payoff),
        origin=origin,
        root=_first_decision(game, parent, actor),
        features=features[first],
        subgame_class=None,
        infosets=tuple(_infosets(pairs[i], slots[i], actor, i) for i in range(2)),
    )


@dataclasses.dataclass(frozen=True)
class _Pairs:
    """Every infostate of a player in every public state (E of them, by public state).

    Attributes:
        group: int [E], the public state.
        infostate: int [E].
        parent: int [E], the entry before; -1 in the first public state.
        action: int [E], own action in between, -1 if none.
        place: int [E], its place among the legal ones.
        start: int [Q + 1], the first entry of each public state.
        of_state: int [X], the entry of each world state.
        label: int [E], the number that the rules give it; 0 without.
    """

    group: np.ndarray
    infostate: np.ndarray
    parent: np.ndarray
    action: np.ndarray
    place: np.ndarray
    start: np.ndarray
    of_state: np.ndarray
    label: np.ndarray

    @staticmethod
    def of(table: StateTable, group: np.ndarray, player: int, labels: np.ndarray | None) -> _Pairs:
        ids = table.infostate[:, player].astype(np.int64)
        key = group * (int(ids.max()) + 1) + ids
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
        up = table.parent[first]
        own = (up >= 0) & (table.actor[up] == player)
        parent = np.where(up >= 0, inverse[up], -1)
        action = np.where(own, table.action[first], -1)
        place = np.full(len(first), -1)
        choice, where = np.unique(
            np.stack([parent[own], action[own]], 1), axis=0, return_inverse=True
        )
        begin = np.searchsorted(choice[:, 0], choice[:, 0])
        place[own] = (np.arange(len(choice)) - begin)[where.reshape(-1)]
        label = np.zeros(len(first), np.int64)
        if labels is not None:
            label = labels[first, player]
            clash = labels[:, player] != label[inverse]
            if (clash & (table.actor != TERMINAL)).any():
                raise ValueError(
                    f"{table.game.name}: private_states gives two numbers to one infostate of "
                    f"player {player}; it may depend on what that player knows only"
                )
        return _Pairs(
            group=group[first],
            infostate=ids[first],
            parent=parent,
            action=action,
            place=place,
            start=np.searchsorted(group[first], np.arange(int(group.max()) + 2)),
            of_state=inverse,
            label=label,
        )


def enumerate_states(
    game: Game, max_states: int
) -> tuple[StateTable, np.ndarray | None, np.ndarray]:
    """Returns (world states, the rules' numbers [X, 2] if given, public features [X, F]).

    Raises:
        ValueError: nobody ever decides.
    """
    walker = Walker(game, max_states)
    look: dict[str, Callable[[Any], Any]] = {}
    if isinstance(game, HasPrivateStates):
        look["private_states"] = jax.jit(jax.vmap(game.private_states))
    if isinstance(game, HasPublicFeatures):
        look["public_features"] = jax.jit(jax.vmap(game.public_features))
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {k: [] for k in look}
    while len(walker.frontier):
        count = len(walker.frontier)
        take = np.minimum(np.arange(1 << (count - 1).bit_length()), count - 1)
        states = jax.tree.map(lambda x, t=take: x[t], walker.visited.states)
        for k, f in look.items():
            found[k].append((walker.frontier, np.asarray(f(states))[:count]))
        walker.expand()
    table = walker.table()
    if not (table.actor >= 0).any():
        raise ValueError(f"{game.name} is over before anybody decides")
    if not table.public_states.observation.shape[1]:
        table = with_public(table, public_components(table.parent, table.infostate))
    columns: dict[str, np.ndarray] = {}
    for k, parts in found.items():
        values = np.concatenate([v for _, v in parts])
        columns[k] = np.zeros((table.num_states, *values.shape[1:]), values.dtype)
        columns[k][np.concatenate([at for at, _ in parts])] = values
    none = np.zeros((table.num_states, 0))
    return table, columns.get("private_states"), columns.get("public_features", none)


def groups_of(table: StateTable) -> np.ndarray:
    """Returns int64 [X], the public state of each state; what is over is a public state apart."""
    group = np.zeros(table.num_states, np.int64)
    over = np.zeros(table.num_states, bool)
    over[table.terminal] = True
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        key = np.stack([group[table.parent[lo:hi]], table.public[lo:hi], over[lo:hi]], 1)
        group[lo:hi] = 1 + group[:lo].max() + np.unique(key, axis=0, return_inverse=True)[1].ravel()
    return group


def _group_columns(
    table: StateTable, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (parent [Q], actor [Q], first state [Q]) of public states, checked."""
    _, first = np.unique(group, return_index=True)
    actor = table.actor[first].astype(np.int64)
    if (table.actor != actor[group]).any():
        raise ValueError(
            f"{table.game.name}: who acts is not public, so public states are not nodes of a search"
        )
    for i in range(2):
        mine = np.flatnonzero(table.actor == i)
        both = np.unique(np.stack([table.infostate[mine, i], group[mine]], 1), axis=0)
        if len(np.unique(both[:, 0])) < len(both):
            raise ValueError(
                f"{table.game.name}: an infoset of player {i} lies in two public states"
            )
    up = table.parent[first]
    return np.where(up >= 0, group[up], -1), actor, first


def _blocks(
    table: StateTable, group: np.ndarray, pairs: list[_Pairs], actor: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Returns (weights, payoffs to player 0 at terminals) of each public state, unmerged."""
    size = [np.diff(p.start) for p in pairs]
    area = size[0] * size[1]
    offset = np.concatenate([[0], np.cumsum(area)])
    local = [p.of_state - p.start[group] for p in pairs]
    cell = offset[group] + local[0] * size[1][group] + local[1]
    chance = np.asarray(table.chance, np.float64)
    weight = np.bincount(cell, chance, int(offset[-1]))
    worth = np.zeros(table.num_states)
    worth[table.terminal] = table.utility[:, 0]
    payoff = np.bincount(cell, chance * worth, int(offset[-1])) / np.where(weight > 0, weight, 1)
    shape = [(int(a), int(b)) for a, b in zip(*size, strict=True)]
    return tuple(  # type: ignore[return-value]
        [x[offset[q] : offset[q + 1]].reshape(shape[q]) for q in range(len(actor))]
        for x in (weight, payoff)
    )


def _alike(
    pairs: list[_Pairs],
    actor: np.ndarray,
    weight: list[np.ndarray],
    payoff: list[np.ndarray],
) -> list[np.ndarray]:
    """Returns per player int [E], equal for infostates of a public state with equal futures."""
    out = []
    for i, own in enumerate(pairs):
        known: dict[Any, int] = {}
        alike = np.zeros(len(own.group), np.int64)
        after: list[list[tuple[int, int, int]]] = [[] for _ in own.group]
        for q in reversed(range(len(actor))):
            lo, hi = int(own.start[q]), int(own.start[q + 1])
            if actor[q] == TERMINAL:
                odds, pays = np.round(weight[q], PLACES), np.round(payoff[q], PLACES)
                both = np.concatenate([odds, pays], 1 - i)
            for e in range(lo, hi):
                if actor[q] == TERMINAL:
                    key: Any = both.take(e - lo, axis=i).tobytes()
                else:
                    key = (int(own.label[e]), tuple(sorted(after[e])))
                alike[e] = known.setdefault((q, key), len(known))
                if own.parent[e] >= 0:
                    after[own.parent[e]].append((int(own.action[e]), q, int(alike[e])))
        out.append(alike)
    return out


def _number(
    game: Game, own: _Pairs, alike: np.ndarray, parent: np.ndarray, named: np.ndarray
) -> np.ndarray:
    """Returns int [E], the private state of each infostate."""
    slot = np.zeros(len(alike), np.int64)
    for q in range(len(parent)):
        here = slice(int(own.start[q]), int(own.start[q + 1]))
        _, first, which = np.unique(alike[here], return_index=True, return_inverse=True)
        which = which.reshape(-1)
        above = slot[own.parent[here]] if parent[q] >= 0 else np.arange(len(which))
        one = above[first]
        if named[q]:
            one = own.label[here][first]
            if len(np.unique(one)) < len(one):
                raise ValueError(
                    f"{game.name}: private_states gives one number to infostates with different "
                    "futures, which cannot be merged"
                )
        elif (one[which] != above).any() or len(np.unique(one)) < len(one):
            one = np.argsort(np.argsort(first))
        slot[here] = one[which]
    return slot


def _first_of_each(group: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """Returns bool [E], the infostate that stands for those alike; the extra last entry is True."""
    kept = np.zeros(len(alike) + 1, bool)
    kept[np.unique(np.stack([group, alike]), axis=1, return_index=True)[1]] = True
    kept[-1] = True
    return kept


def _first_decision(game: Game, parent: np.ndarray, actor: np.ndarray) -> int:
    """Returns the only public state at which play begins."""
    begin = [
        q
        for q in range(len(parent))
        if actor[q] >= 0 or actor[q] == TERMINAL
        if all(actor[up] < 0 for up in _above(parent, q))
    ]
    if len(begin) != 1 or actor[begin[0]] == TERMINAL:
        raise ValueError(
            f"{game.name}: chance shows something in public before the first decision, so play "
            f"begins in {len(begin)} public states; a search needs one"
        )
    return begin[0]


def _above(parent: np.ndarray, q: int) -> list[int]:
    out = []
    while parent[q] >= 0:
        q = int(parent[q])
        out.append(q)
    return out


def _infosets(
    own: _Pairs, slot: np.ndarray, actor: np.ndarray, player: int
) -> dict[int, tuple[int, int]]:
    mine = np.flatnonzero(actor[own.group] == player)
    return {int(own.infostate[e]): (int(own.group[e]), int(slot[e])) for e in mine}

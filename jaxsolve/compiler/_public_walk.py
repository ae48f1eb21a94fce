"""The public tree of a card game, walked by all private deals together, and its world states."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxsolve.compiler._walker import Visited, Walker, visit
from jaxsolve.game import Game
from jaxsolve.tree import Infostates, StateTable
from jaxsolve.types import CHANCE, NOTHING, TERMINAL


@dataclasses.dataclass
class Deals:
    """The private deals of a game (W deals, n = 2 players, H hands each).

    Attributes:
        states: rules states after the deal, leading axis W.
        weight: float64 [W], probability of each deal.
        hand: int64 [W, 2], hand of each player, 0..H-1.
        infostate: per player, int [H], the infostate in which the deal leaves each hand.
        table: infostates and states up to the deal.
        seen: what the rules say of the states after the deal.
    """

    states: Any
    weight: np.ndarray
    hand: np.ndarray
    infostate: list[np.ndarray]
    table: StateTable
    seen: Visited


@dataclasses.dataclass
class Nodes:
    """Public nodes in breadth-first order (P nodes of which T terminal, W deals).

    Attributes:
        parent: int64 [P], -1 for the first.
        action: int64 [P], what led here.
        actor: int [P].
        weight: float64 [P, W], chance probability of each deal with the board so far.
        observation: int32 [P, k], the public observation of the step.
        terminal: int64 [T].
        utility: float64 [T, W, 2].
    """

    parent: np.ndarray
    action: np.ndarray
    actor: np.ndarray
    weight: np.ndarray
    observation: np.ndarray
    terminal: np.ndarray
    utility: np.ndarray


def deal_hands(game: Game) -> Deals:
    """Plays the chance moves before the first decision.

    Raises:
        ValueError: nobody ever decides, or deals are not what a layout by hands needs; says which.
    """
    walker = Walker(game, max_states=1_000_000, whole=False)
    while len(walker.visited.actor) and (walker.visited.actor == CHANCE).all():
        walker.expand()
    if not len(walker.visited.actor):
        raise ValueError(f"{game.name} is over before anybody decides")
    if (walker.visited.actor == CHANCE).any() or len(walker.terminal[-1]):
        raise ValueError(f"{game.name}: hand layout needs all deals to end at one depth")
    table = walker.table()
    first = table.depth_start[-2]
    ids = table.infostate[first:]
    hand, infostate = np.empty((len(ids), 2), np.int64), []
    for i in range(2):
        unique, hand[:, i] = np.unique(ids[:, i], return_inverse=True)
        infostate.append(unique)
    if len(np.unique(table.public[first:])) > 1:
        raise ValueError(f"{game.name}: the first deal is not private, so hands differ in public")
    seen = walker.visited
    return Deals(seen.states, table.chance[first:], hand, infostate, table, seen)


def walk_public(game: Game, deals: Deals) -> Nodes:
    """Walks the public tree, all deals together."""
    count = len(deals.weight)
    states = jax.tree.map(lambda x: x[None], deals.states)
    weight = deals.weight[None]
    look = {k: getattr(deals.seen, k)[None] for k in ("actor", "legal", "chance", "utility")}
    parent, action, observed = np.array([-1]), np.array([-1]), None
    width = deals.seen.public.shape[1]
    columns: dict[str, list[np.ndarray]] = {f.name: [] for f in dataclasses.fields(Nodes)}
    first = 0
    while True:
        alive = weight > 0
        sample = alive.argmax(1)
        at = np.arange(len(parent))
        actor = look["actor"][at, sample]
        legal = look["legal"][at, sample]
        over = actor == TERMINAL
        _agree(game, alive, look["actor"], actor[:, None], "who acts")
        public = alive & (actor >= 0)[:, None]
        _agree(game, public[..., None], look["legal"], legal[:, None], "the legal actions")
        columns["parent"].append(parent)
        columns["action"].append(action)
        columns["actor"].append(actor)
        columns["weight"].append(weight)
        columns["observation"].append(
            np.full((1, width), NOTHING) if observed is None else observed
        )
        columns["terminal"].append(first + np.flatnonzero(over))
        columns["utility"].append(np.asarray(look["utility"][over], np.float64))

        at_chance = actor == CHANCE
        possible = (look["chance"] > 0) & look["legal"] & alive[..., None]
        moves = np.where(at_chance[:, None], possible.any(1), legal & ~over[:, None])
        node, move = np.nonzero(moves)
        if not len(node):
            break
        chance = look["chance"][node, :, move] * possible[node, :, move]
        new_weight = weight[node] * np.where(at_chance[node, None], chance, 1.0)
        flat = jax.tree.map(lambda x, n=node: x[n].reshape(-1, *x.shape[2:]), states)
        seen = visit(game, flat, np.repeat(move, count).astype(np.int32))
        look = {
            k: getattr(seen, k).reshape(len(node), count, *getattr(seen, k).shape[1:])
            for k in ("actor", "legal", "chance", "utility")
        }
        states = jax.tree.map(lambda x: x.reshape(-1, count, *x.shape[1:]), seen.states)
        public_seen = seen.public.reshape(len(node), count, -1)
        observed = public_seen[np.arange(len(node)), (new_weight > 0).argmax(1)]
        live = (new_weight > 0)[..., None]
        _agree(game, live, public_seen, observed[:, None], "the public observation")
        private = seen.private.reshape(len(node), count, -1)
        _agree(game, live, private, np.full_like(private, NOTHING), "a later private observation")
        _distinct(game, node, observed)
        parent, action, weight = first + node, move, new_weight
        first += len(actor)
    return Nodes(**{k: np.concatenate(v) for k, v in columns.items()})


def _agree(game: Game, where: np.ndarray, got: np.ndarray, want: np.ndarray, what: str) -> None:
    if (where & (got != want)).any():
        raise ValueError(
            f"{game.name}: {what} depends on the hands, so the public tree is not shared by them. "
            'Compile it with layout="rows".'
        )


def _distinct(game: Game, node: np.ndarray, observed: np.ndarray) -> None:
    """Every action after the deal must be seen by both players."""
    key = np.concatenate([node[:, None], observed], 1)
    blank = (observed == NOTHING).all(1).any() if len(observed) else False
    if blank or len(np.unique(key, axis=0)) < len(key):
        raise ValueError(
            f"{game.name}: some action after the deal is hidden, so public states are not nodes. "
            'Compile it with layout="rows".'
        )


def infostates_of(nodes: Nodes, deals: Deals, player: int) -> Infostates:
    """Returns the infostates of the deal, then one per (public node, hand)."""
    hands, dealt = len(deals.infostate[player]), deals.table.infostates[player]
    first = len(dealt.parent)
    node = np.repeat(np.arange(len(nodes.parent)), hands)
    hand = np.tile(np.arange(hands), len(nodes.parent))
    up = nodes.parent[node]
    parent = np.where(up < 0, deals.infostate[player][hand], first + up * hands + hand)
    own = (up >= 0) & (nodes.actor[up] == player)
    observation = np.full((len(node), dealt.observation.shape[1]), NOTHING, np.int32)
    observation[:, : nodes.observation.shape[1]] = nodes.observation[node]
    return Infostates(
        np.concatenate([dealt.parent, parent]).astype(np.int32),
        np.concatenate([dealt.action, np.where(own, nodes.action[node], -1)]).astype(np.int32),
        np.concatenate([dealt.observation, observation]),
    )


def first_public(deals: Deals) -> int:
    """Returns the number of the public state after the deal, which is node 0."""
    return len(deals.table.public_states.parent) - 1


def appearance(nodes: Nodes, deals: Deals) -> np.ndarray:
    """Returns int64 [P, W], the number of each world state (node, deal), -1 if impossible.

    States are numbered breadth first, those of one parent by action, after those of the deal.
    """
    out = np.full(nodes.weight.shape, -1)
    depth = _depths(nodes)
    count = int(deals.table.depth_start[-2])
    for d in range(int(depth.max()) + 1):
        here = np.flatnonzero(depth == d)
        row, deal = np.nonzero(nodes.weight[here] > 0)
        node = here[row]
        above = out[nodes.parent[node], deal] if d else deal
        order = np.lexsort((node, above))
        out[node[order], deal[order]] = count + np.arange(len(order))
        count += len(order)
    return out


def state_table(nodes: Nodes, deals: Deals) -> StateTable:
    """Returns the table of world states: those of the deal, then (node, deal) in their order."""
    old, order = deals.table, appearance(nodes, deals)
    first, shift = int(old.depth_start[-2]), first_public(deals)
    node, deal = np.nonzero(order >= 0)
    by_number = np.argsort(order[node, deal])
    node, deal = node[by_number], deal[by_number]
    up, start = nodes.parent[node], node == 0
    infostates, columns = [], []
    for i, dealt in enumerate(old.infostates):
        infostates.append(infostates_of(nodes, deals, i))
        columns.append(len(dealt.parent) + node * len(deals.infostate[i]) + deals.hand[deal, i])

    def joined(before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return np.concatenate([before[:first], after.astype(before.dtype)])

    over = nodes.actor[node] == TERMINAL
    ends = np.searchsorted(nodes.terminal, node[over])
    sizes = np.bincount(_depths(nodes)[node])
    public = old.public_states
    shown = nodes.observation[1:, : public.observation.shape[1]]
    return StateTable(
        game=old.game,
        parent=joined(old.parent, np.where(start, old.parent[first + deal], order[up, deal])),
        action=joined(old.action, np.where(start, old.action[first + deal], nodes.action[node])),
        actor=joined(old.actor, nodes.actor[node]),
        public=joined(old.public, shift + node),
        infostate=joined(old.infostate, np.stack(columns, 1)),
        chance=joined(old.chance, nodes.weight[node, deal]),
        terminal=(first + np.flatnonzero(over)).astype(np.int32),
        utility=nodes.utility[ends, deal[over]],
        depth_start=np.concatenate([old.depth_start[:-1], first + np.cumsum(sizes)]),
        infostates=tuple(infostates),
        public_states=Infostates(
            np.concatenate([public.parent, shift + nodes.parent[1:]]).astype(np.int32),
            np.concatenate([public.action, np.full(len(shown), -1)]).astype(np.int32),
            np.concatenate([public.observation, shown]).astype(np.int32),
        ),
    )


def _depths(nodes: Nodes) -> np.ndarray:
    depth = np.zeros(len(nodes.parent), np.int64)
    for node, up in enumerate(nodes.parent.tolist()):
        depth[node] = depth[up] + 1 if up >= 0 else 0
    return depth

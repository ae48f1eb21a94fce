"""Card games built directly as public tree x private hands, from the same rules.

After the private deal every action is public, so all deals can walk the public tree together: a
public node carries the world state of each deal and its chance weight, and one step of the rules
moves them all. Rows are public states, the hand axis is shared, and leaves are dense blocks of
hand against hand. World states are never tabled, nor infostates hashed.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import jax
import numpy as np

from jaxsolve.compiler._walker import Visited, Walker, visit
from jaxsolve.game import Game
from jaxsolve.tree import (
    CompiledInfo,
    DecisionRows,
    Infostates,
    PlayerInfo,
    PublicTree,
    SequenceForm,
    StateTable,
    block_payoffs,
    merge_payoffs,
    player_tree,
    row_levels,
    to_device,
)
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


def compile_hands(game: Game) -> PublicTree:
    """Returns the tree of a two-player card game as public tree x hands.

    Raises:
        ValueError: the game has other private information than the first deal, or more than two
            players; the message says what.
    """
    start = time.perf_counter()
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; the hand layout needs 2")
    deals = deal_hands(game)
    nodes = walk_public(game, deals)
    hands = [len(x) for x in deals.infostate]
    rows, last = zip(*(_public_rows(nodes, i) for i in range(2)), strict=True)
    players, layouts = zip(*(player_tree(rows[i], hands=hands[i]) for i in range(2)), strict=True)
    weight = nodes.weight[nodes.terminal]
    blocks = np.zeros((len(weight), 2, hands[0], hands[1]))
    for w, (a, b) in enumerate(deals.hand):
        blocks[:, :, a, b] += nodes.utility[:, w] * weight[:, w, None]
    at_leaf = [last[i][nodes.terminal] for i in range(2)]
    placed = np.stack([layouts[i].sequence[at_leaf[i]] for i in range(2)], 1)
    tree = PublicTree(players, (block_payoffs(placed, blocks, [p.size for p in layouts]),))
    infos = tuple(_player_info(nodes, deals, rows[i], layouts[i].sequence, i) for i in range(2))
    total = nodes.utility.sum(2)[weight > 0]
    info = CompiledInfo(
        game=game,
        name=game.name,
        players=infos,
        num_states=deals.table.num_states - len(deals.weight) + int((nodes.weight > 0).sum()),
        num_public_states=len(deals.table.public_states.parent) + len(nodes.parent) - 1,
        utility_sum=float(total[0]) if np.ptp(total) < 1e-9 else None,
        build_seconds=time.perf_counter() - start,
        form=_expand(infos, rows, at_leaf, blocks),
    )
    return to_device(tree, game.name).replace(names=info)


def deal_hands(game: Game) -> Deals:
    """Plays the chance moves before the first decision."""
    walker = Walker(game, max_states=1_000_000)
    while (walker.visited.actor == CHANCE).all():
        walker.expand()
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


def _public_rows(nodes: Nodes, player: int) -> tuple[DecisionRows, np.ndarray]:
    """Returns (one row per public decision node, last own public sequence of each node [P])."""
    mine = np.flatnonzero(nodes.actor == player)
    row_of_node = np.full(len(nodes.parent), -1)
    row_of_node[mine] = np.arange(len(mine))
    child = np.flatnonzero((nodes.parent >= 0) & (nodes.actor[nodes.parent] == player))
    counts = np.bincount(row_of_node[nodes.parent[child]], minlength=len(mine))
    offset = np.concatenate([[1], 1 + np.cumsum(counts)]).astype(np.int32)
    # Children come in the order of their parents, so the n-th child is the n-th sequence.
    last = np.zeros(len(nodes.parent), np.int32)
    last[child] = 1 + np.arange(len(child))
    for k in np.flatnonzero(last == 0)[1:]:  # parents come first: inherit where not own
        last[k] = last[nodes.parent[k]]
    rows = DecisionRows(
        parent=last[mine],
        offset=offset,
        action=nodes.action[child].astype(np.int16),
        roots=1,
        root_reach=np.ones(1),
        infostate=np.full(len(mine), -1, np.int32),
        public=mine.astype(np.int32),
        level=row_levels(last[mine], offset, 1),
    )
    return rows, last


def _player_info(
    nodes: Nodes, deals: Deals, rows: DecisionRows, place: np.ndarray, player: int
) -> PlayerInfo:
    """Returns the infosets (public row, possible hand), rows first, and where they lie."""
    hands = len(deals.infostate[player])
    possible = np.zeros((rows.num_rows, hands), bool)
    for w, hand in enumerate(deals.hand[:, player]):
        possible[:, hand] |= nodes.weight[rows.public, w] > 0
    row, hand = np.nonzero(possible)
    width = rows.width[row]
    offset = np.concatenate([[0], np.cumsum(width)]).astype(np.int32)
    slot = np.arange(offset[-1]) - np.repeat(offset[:-1], width)
    sequence = np.repeat(rows.offset[row], width) + slot
    table = deals.table.infostates[player]
    return PlayerInfo(
        offset=offset,
        action=rows.action[sequence - rows.roots],
        position=place[sequence] * hands + np.repeat(hand, width),
        infostate=(len(table.parent) + rows.public[row] * hands + hand).astype(np.int32),
        public=rows.public[row],
        states=_infostates(nodes, deals, table, player),
        roots=rows.roots,
        hands=hands,
    )


def _infostates(nodes: Nodes, deals: Deals, dealt: Infostates, player: int) -> Infostates:
    """Returns the infostates of the deal, then one per (public node, hand)."""
    hands = len(deals.infostate[player])
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


def _expand(
    infos: tuple[PlayerInfo, ...],
    rows: tuple[DecisionRows, ...],
    at_leaf: list[np.ndarray],
    blocks: np.ndarray,
) -> SequenceForm:
    """Returns the sequence form with one row per infoset."""
    expanded, columns = [], []
    for info, public in zip(infos, rows, strict=True):
        # Canonical sequence of every (public sequence, hand); 0 where the hand is impossible.
        hand = info.position[info.offset[:-1]] % info.hands
        row = np.searchsorted(public.public, info.public)
        sequence = np.zeros((public.num_sequences, info.hands), np.int64)
        entry_row = np.repeat(np.arange(info.num_infosets), np.diff(info.offset))
        slot = np.arange(len(entry_row)) - info.offset[entry_row]
        sequence[public.offset[row[entry_row]] + slot, hand[entry_row]] = 1 + np.arange(
            len(entry_row)
        )
        parent = sequence[public.parent[row], hand].astype(np.int32)
        offset = 1 + info.offset
        expanded.append(
            DecisionRows(
                parent=parent,
                offset=offset,
                action=info.action,
                roots=1,
                root_reach=np.ones(1),
                infostate=info.infostate,
                public=info.public,
                level=row_levels(parent, offset, 1),
            )
        )
        columns.append(sequence)
    leaf, a, b = np.nonzero((blocks != 0).any(1))
    pairs = np.stack([columns[0][at_leaf[0][leaf], a], columns[1][at_leaf[1][leaf], b]], 1)
    return SequenceForm(tuple(expanded), *merge_payoffs(pairs, blocks[leaf, :, a, b]))

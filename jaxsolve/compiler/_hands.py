"""Card games built directly as public tree x private hands, from the same rules.

After the private deal every action is public, so all deals can walk the public tree together: a
public node carries the world state of each deal and its chance weight, and one step of the rules
moves them all. Rows are public states, the hand axis is shared, and leaves are dense blocks of
hand against hand. World states are not tabled, nor infostates hashed; `in_rows` lists them for what
needs a table, such as gadgets and depth limits. Infosets have the same canonical order in both.
"""

from __future__ import annotations

import dataclasses
import functools
import time

import numpy as np

from jaxsolve.compiler._forms import from_form
from jaxsolve.compiler._public_walk import (
    Deals,
    Nodes,
    appearance,
    deal_hands,
    first_public,
    infostates_of,
    state_table,
    walk_public,
)
from jaxsolve.game import Game
from jaxsolve.tree import (
    CompiledInfo,
    DecisionRows,
    PlayerInfo,
    PublicTree,
    SequenceForm,
    block_payoffs,
    merge_payoffs,
    player_tree,
    row_levels,
    sequence_form,
    to_device,
)


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
    order = appearance(nodes, deals)
    infos = tuple(
        _player_info(nodes, deals, order, rows[i], layouts[i].sequence, i) for i in range(2)
    )
    total = nodes.utility.sum(2)[weight > 0]
    info = HandsInfo(
        game=game,
        name=game.name,
        players=infos,
        num_states=deals.table.num_states - len(deals.weight) + int((nodes.weight > 0).sum()),
        num_public_states=len(deals.table.public_states.parent) + len(nodes.parent) - 1,
        utility_sum=float(total[0]) if np.ptp(total) < 1e-9 else None,
        build_seconds=time.perf_counter() - start,
        form=_expand(deals, infos, rows, at_leaf, blocks),
    )
    return to_device(tree, game.name).replace(names=info)


@dataclasses.dataclass(frozen=True)
class HandsInfo(CompiledInfo):
    """What a tree of public states x hands is a tree of."""

    @functools.cached_property
    def rows(self) -> PublicTree:
        """The same game with one row for each infoset, and its table of world states."""
        start = time.perf_counter()
        deals = deal_hands(self.game)
        table = state_table(walk_public(self.game, deals), deals)
        return from_form(sequence_form(table), table, self.game, start=start)


def in_rows(tree: PublicTree) -> PublicTree:
    """Returns a tree with one row for each infoset, which lists its world states.

    That is the tree itself unless it was compiled with layout="hands". Infosets, infostates and
    public states have the same numbers in both; `relaid` takes policies from one to the other.
    """
    return tree.info.rows if isinstance(tree.info, HandsInfo) else tree


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
    nodes: Nodes,
    deals: Deals,
    order: np.ndarray,
    rows: DecisionRows,
    place: np.ndarray,
    player: int,
) -> PlayerInfo:
    """Returns the infosets (public row, possible hand) by first appearance, and where they lie."""
    hands = len(deals.infostate[player])
    never = int(order.max()) + 1
    seen = np.full((rows.num_rows, hands), never)
    for w, hand in enumerate(deals.hand[:, player]):
        here = order[rows.public, w]
        seen[:, hand] = np.where(here >= 0, np.minimum(seen[:, hand], here), seen[:, hand])
    row, hand = np.nonzero(seen < never)
    by_appearance = np.argsort(seen[row, hand])
    row, hand = row[by_appearance], hand[by_appearance]
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
        public=(first_public(deals) + rows.public[row]).astype(np.int32),
        states=infostates_of(nodes, deals, player),
        roots=rows.roots,
        hands=hands,
    )


def _expand(
    deals: Deals,
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
        row = np.searchsorted(public.public, info.public - first_public(deals))
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

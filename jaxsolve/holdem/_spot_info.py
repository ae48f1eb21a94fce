"""Names of the tensors of a spot."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._betting_tree import BettingTree
from jaxsolve.holdem._cards import cards_name, hand_name
from jaxsolve.holdem._runouts import Runouts
from jaxsolve.holdem._tree import PlayerRows
from jaxsolve.tree import PlayerInfo, TreeInfo


@dataclasses.dataclass(frozen=True)
class SpotInfo(TreeInfo):
    """Names of a spot's tree; tables of all infosets are made when asked for."""

    betting: BettingTree
    streets: tuple[Runouts, ...]
    rows: tuple[PlayerRows, ...]
    hands: np.ndarray

    @property
    def num_infosets(self) -> tuple[int, ...]:
        return tuple(len(r.node) * len(self.hands) for r in self.rows)

    def action_name(self, player: int, action: int) -> str:
        """Returns "f", or what the player has put in over the whole hand."""
        return "f" if action == FOLD else str(action)

    def label(self, player: int, infoset: int) -> str:
        row, hand = divmod(infoset, len(self.hands))
        node, board = int(self.rows[player].node[row]), int(self.rows[player].board[row])
        cards = self.streets[self.betting.street[node]].boards[board]
        line = self.betting.line(node) or "start"
        return f"{cards_name(cards)} {line} {hand_name(int(self.hands[hand]))}"


class LazyInfos(Sequence[PlayerInfo]):
    """Per player, every infoset of a spot in canonical order; large, so made when asked for."""

    def __init__(self, rows: Sequence[PlayerRows], hands: np.ndarray) -> None:
        self._rows, self._hands = rows, hands

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> PlayerInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[PlayerInfo]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._made[index]

    def __iter__(self) -> Iterator[PlayerInfo]:
        return iter(self._made)

    @functools.cached_property
    def _made(self) -> tuple[PlayerInfo, ...]:
        return tuple(_player_info(r, len(self._hands)) for r in self._rows)


def _player_info(rows: PlayerRows, hands: int) -> PlayerInfo:
    """Returns the infosets (public row, hand), rows first."""
    public = rows.rows
    count = len(rows.node)
    width = np.repeat(public.width, hands)
    offset = np.concatenate([[0], np.cumsum(width)]).astype(np.int32)
    slot = np.arange(offset[-1]) - np.repeat(offset[:-1], width)
    sequence = np.repeat(np.repeat(public.offset[:-1], hands), width) + slot
    hand = np.repeat(np.tile(np.arange(hands), count), width)
    return PlayerInfo(
        offset=offset,
        action=public.action[sequence - 1],
        position=rows.place.sequence[sequence] * hands + hand,
        infostate=np.full(count * hands, -1, np.int32),
        public=np.repeat(np.arange(count, dtype=np.int32), hands),
        states=None,
        hands=hands,
    )

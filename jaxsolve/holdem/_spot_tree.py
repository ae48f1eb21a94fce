"""From a spot to its PublicTree: menus, boards, memory, names."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from jaxsolve.holdem._betting import FOLD, Betting, start_at
from jaxsolve.holdem._betting_tree import BettingTree, Kind, Situation, betting_tree
from jaxsolve.holdem._cards import cards_name, hand_name
from jaxsolve.holdem._operators import choose_operator
from jaxsolve.holdem._runouts import Runouts, runouts
from jaxsolve.holdem._sizes import totals
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._tree import PlayerRows, Rake, public_tree
from jaxsolve.tree import (
    PlayerInfo,
    PublicTree,
    TreeInfo,
    check_fits,
    float_type,
    run_bytes,
    to_device,
)


@dataclasses.dataclass(frozen=True)
class WholeGame:
    """A game from its first card on, with the names that it shares with a spot.

    Attributes:
        stack: chips of each player before the blinds.
        ranges: every hand of either player.
        board: no cards yet.
        pot: 0, so that values are chips won.
    """

    stack: int
    ranges: tuple[np.ndarray, np.ndarray]
    board: tuple[int, ...] = ()
    pot: int = 0

    def __repr__(self) -> str:
        return f"WholeGame(stack {self.stack:,})"


class Lock(NamedTuple):
    """A strategy that is part of the game, see `lock`.

    Attributes:
        line: the decision.
        board: cards on the table there; None for every board of the street.
        strategy: {action: float [1326]}, probabilities; hands whose sum is 0 are free.
    """

    line: str
    board: str | None
    strategy: dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True, repr=False)
class SpotTree:
    """A spot as tensors, and what its rows stand for.

    Attributes:
        spot: where it comes from.
        tree: the tensors; payoffs are chips won minus chips put in, the pot before counted half
            to each player.
        betting: its betting.
        streets: its boards, per street.
        hands: int32 [H], rows of `HANDS` on the hand axis: those in either range.
        rows: per player (oop, ip), its public rows.
        locks: strategies that are part of the game, in the order in which they were set.
    """

    spot: Spot | WholeGame
    tree: PublicTree
    betting: BettingTree
    streets: tuple[Runouts, ...]
    hands: np.ndarray
    rows: tuple[PlayerRows, PlayerRows]
    locks: tuple[Lock, ...] = ()

    @property
    def num_decision_nodes(self) -> int:
        """Betting decisions, counted once for each board that is told apart."""
        return sum(len(rows.node) for rows in self.rows)

    def __repr__(self) -> str:
        locks = f", {len(self.locks)} locked" if self.locks else ""
        return f"SpotTree({self.spot!r}, {self.num_decision_nodes:,} decision nodes{locks})"


def hands_in(spot: Spot) -> np.ndarray:
    """Returns int32 [H], the hands that are in either range."""
    return np.flatnonzero(np.add(*spot.ranges) > 0).astype(np.int32)


def spot_tree(
    spot: Spot,
    *,
    symmetric: bool = True,
    operator: str | None = None,
    num_hands: int | None = None,
) -> SpotTree:
    """Returns the tree of a spot.

    Args:
        spot: the spot.
        symmetric: put runouts together that are equal up to names of suits.
        operator: form of the payoffs, one of `OPERATORS`; the fastest for the backend by default.
        num_hands: length of the hand axis, at least the hands in either range, so that spots
            have one shape; those hands by default. More than one image of a hand must not be
            left out where runouts are put together, so not with `symmetric`.

    Raises:
        MemoryError: it does not fit; says how much it needs. Nothing has been allocated then.
    """
    betting = spot_betting(spot)
    streets = runouts(spot.board, np.stack(spot.ranges), symmetric=symmetric)
    hands = hands_in(spot)
    if num_hands is not None:
        spare = np.setdiff1d(spot.hands, hands)[: num_hands - len(hands)]
        hands = np.sort(np.concatenate([hands, spare])).astype(np.int32)
    name = f"{cards_name(spot.board)} pot {spot.pot} stack {spot.effective_stack}"
    rake = Rake(spot.rake, np.inf if spot.rake_cap is None else spot.rake_cap)
    return build_tree(spot, name, betting, streets, hands, rake=rake, operator=operator)


def build_tree(
    spot: Spot | WholeGame,
    name: str,
    betting: BettingTree,
    streets: Sequence[Runouts],
    hands: np.ndarray,
    *,
    rake: Rake = Rake(),  # noqa: B008
    operator: str | None = None,
) -> SpotTree:
    """Returns the tensors of betting on boards, after checking that they fit."""
    begin = time.perf_counter()
    check_memory(name, betting, streets, len(hands))
    tensors, rows = public_tree(
        betting,
        streets,
        hands,
        np.stack(spot.ranges)[:, hands],
        rake=rake,
        operator=operator or choose_operator(),
    )
    tree = to_device(tensors, name)
    info = SpotInfo(
        game=None,
        name=name,
        players=LazyInfos(rows, hands),  # type: ignore[arg-type] # a sequence made when asked for
        num_states=None,
        num_public_states=sum(
            len(outs.boards) * int((betting.street == s).sum()) for s, outs in enumerate(streets)
        ),
        utility_sum=0.0 if rake.share == 0 else None,
        build_seconds=time.perf_counter() - begin,
        betting=betting,
        streets=tuple(streets),
        rows=rows,
        hands=hands,
    )
    return SpotTree(spot, tree.replace(names=info), betting, tuple(streets), hands, rows)


def spot_betting(spot: Spot) -> BettingTree:
    """Returns the betting tree of a spot's menus."""
    count = len(spot.streets)
    raises = None if spot.raise_cap is None else (spot.raise_cap + 1,) * count
    rules = Betting(2, (0, 0), (0,) * count, max_raises=raises)

    def menu(at: Situation) -> list[int]:
        menus = spot.sizes[spot.streets[at.street]][at.player]
        sizes = menus.bet if at.facing == 0 else menus.raise_
        if at.facing == 0 and at.player == 0 and at.aggressor == 1 and menus.donk is not None:
            sizes = menus.donk
        return totals(
            sizes,
            own=at.own,
            facing=at.facing,
            pot=at.pot - spot.pot % 2,
            high=at.high,
            low=at.low,
            allin_threshold=spot.allin_threshold,
        )

    # Half of the pot each, rounded up; the odd chip is taken out again below and in the menu.
    half = (spot.pot + 1) // 2
    start = start_at(rules, 0, (half, half), (half + spot.stack[0], half + spot.stack[1]))
    tree = betting_tree(rules, start, menu)
    if spot.pot % 2:
        tree = dataclasses.replace(tree, spent=tree.spent - 0.5)
    return tree


def check_memory(name: str, betting: BettingTree, streets: Sequence[Runouts], hands: int) -> int:
    """Logs what a run needs and returns it in bytes.

    Raises:
        MemoryError: the device has less free.
    """
    actions = 0
    for node in range(betting.num_nodes):
        if betting.kind[node] == Kind.DECISION:
            actions += len(betting.children[node]) * len(streets[betting.street[node]].boards)
    all_in = {int(s) for s in betting.street[betting.kind == Kind.ALL_IN]}
    matrices = sum(len(streets[s].boards) for s in all_in) * hands * hands
    needed = run_bytes(actions * hands, tensors=matrices * float_type().itemsize)
    check_fits(
        name,
        needed,
        what=f"{actions:,} actions of public states x {hands} hands",
        instead="Offer fewer sizes, set raise_cap, or start from a later street.",
    )
    return needed


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

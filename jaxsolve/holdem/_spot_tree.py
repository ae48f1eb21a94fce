"""A spot as a tree of betting and boards: menus, tensors, tables."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._betting import Betting, start_at
from jaxsolve.holdem._betting_tree import BettingTree, Kind, Situation, betting_tree
from jaxsolve.holdem._cards import cards_name, parse_cards
from jaxsolve.holdem._leaf_groups import Rake, leaf_groups
from jaxsolve.holdem._operators import choose_operator
from jaxsolve.holdem._runouts import Runouts, runouts
from jaxsolve.holdem._sizes import totals
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_info import LazyInfos, SpotInfo
from jaxsolve.holdem._spot_memory import check_spot, check_tensors
from jaxsolve.holdem._spot_tables import Locked, SpotTables
from jaxsolve.holdem._street_rows import BettingRows, betting_rows
from jaxsolve.holdem._tree import PlayerRows, public_tree
from jaxsolve.hosts import processors
from jaxsolve.tree import PublicTree, lock_sequences, locked_sequences, to_device


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
    """A spot with its betting and boards; tensors and tables are made when asked for.

    Attributes:
        spot: where it comes from.
        name: board, pot and stack.
        betting: its betting.
        streets: its boards, per street.
        hands: int32 [H], rows of `HANDS` on the hand axis: those in either range.
        rake: taken from the winner.
        operator: form of the payoffs in the tensors, one of `OPERATORS`; None for the fastest.
        locks: strategies that are part of the game, in the order in which they were set.
    """

    spot: Spot | WholeGame
    name: str
    betting: BettingTree
    streets: tuple[Runouts, ...]
    hands: np.ndarray
    rake: Rake
    operator: str | None = None
    locks: tuple[Lock, ...] = ()
    _shared: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def num_decision_nodes(self) -> int:
        """Betting decisions, counted once for each board that is told apart."""
        decisions = self.betting.street[self.betting.kind == Kind.DECISION]
        counts = np.bincount(decisions, minlength=len(self.streets))
        return sum(int(n) * len(outs.boards) for n, outs in zip(counts, self.streets, strict=True))

    @property
    def ranges(self) -> np.ndarray:
        """float [2, 1326], weights of both players' hands."""
        return np.stack(self.spot.ranges)

    @property
    def numbers(self) -> BettingRows:
        """How its decisions are numbered, street by street."""
        if "numbers" not in self._shared:
            groups = leaf_groups(self.betting, len(self.streets), self.rake)
            hands = [int((r > 0).sum()) for r in self.spot.ranges]
            self._shared["numbers"] = betting_rows(self.betting, groups, hands)
        return self._shared["numbers"]

    @functools.cached_property
    def player_hands(self) -> tuple[np.ndarray, np.ndarray]:
        """Per player, int [H], places on the hand axis of the hands in their range."""
        oop, ip = (np.flatnonzero(r[self.hands] > 0) for r in self.spot.ranges)
        return oop, ip

    def offset(self, player: int, street: int, board: int = 0) -> int:
        """Returns the first row of a board among a player's sequences on all boards.

        Boards are in order of streets; see `SpotState`.
        """
        pairs = list(zip(self.numbers.streets, self.streets, strict=True))
        before = sum(rows.sequences[player] * len(outs.boards) for rows, outs in pairs[:street])
        return before + (board * pairs[street][0].sequences[player] if board else 0)

    @property
    def rows(self) -> tuple[PlayerRows, PlayerRows]:
        """Per player (oop, ip), the public rows of the tensors."""
        return self._tensors[1]

    @functools.cached_property
    def tree(self) -> PublicTree:
        """The tensors; payoffs are chips won minus chips put in, the pot before counted half each.

        Raises:
            MemoryError: they do not fit; says how much they need. Nothing has been allocated then.
        """
        tree = self._tensors[0]
        for player in range(2):
            locked = locked_sequences(tree.players[player])
            for one in self.locked:
                if one.player == player:
                    _place(self, one, locked)
            if locked.any():
                tree = lock_sequences(tree, player, locked)
        return tree

    @functools.cached_property
    def locked(self) -> list[Locked]:
        """The locks by street and row, for all hands [A, H]; later ones count."""
        return [_locked(self, one) for one in self.locks]

    @functools.cached_property
    def tables(self) -> SpotTables:
        """Tables for native code."""
        mine = self.player_hands
        locked = [x._replace(shares=x.shares[:, mine[x.player]]) for x in self.locked]
        threads = processors()
        streets = self.numbers.streets
        return SpotTables(streets, self.streets, self.ranges, locked=locked, threads=threads)

    @property
    def _tensors(self) -> tuple[PublicTree, tuple[PlayerRows, PlayerRows]]:
        if "tensors" not in self._shared:
            begin = time.perf_counter()
            check_tensors(self.name, self.betting, self.streets, len(self.hands))
            tensors, rows = self._numbers_of(self.operator or choose_operator())
            tree = to_device(tensors, self.name)
            street = self.betting.street
            info = SpotInfo(
                game=None,
                name=self.name,
                players=LazyInfos(rows, self.hands),  # type: ignore[arg-type] # made when asked for
                num_states=None,
                num_public_states=sum(
                    len(outs.boards) * int((street == s).sum())
                    for s, outs in enumerate(self.streets)
                ),
                utility_sum=0.0 if self.rake.share == 0 else None,
                build_seconds=time.perf_counter() - begin,
                betting=self.betting,
                streets=self.streets,
                rows=rows,
                hands=self.hands,
            )
            self._shared["tensors"] = tree.replace(names=info), rows
        return self._shared["tensors"]

    def _numbers_of(
        self, operator: str, parts: int = 1
    ) -> tuple[PublicTree, tuple[PlayerRows, PlayerRows]]:
        """Returns numpy tensors, and where their rows lie; see `public_tree`."""
        ranges = self.ranges[:, self.hands]
        return public_tree(
            self.betting,
            self.streets,
            self.hands,
            ranges,
            rake=self.rake,
            operator=operator,
            parts=parts,
        )

    def part(self, streets: Sequence[Runouts], parts: int) -> SpotTree:
        """Returns one of several parts, its tensors on the host; see `tree.Shared`.

        Args:
            streets: the first one, and this part's boards of those that follow.
            parts: how many there are.
        """
        part = dataclasses.replace(self, streets=tuple(streets), _shared={})
        operator = self.operator or choose_operator()
        operator = "prefix" if operator == "native" else operator
        part._shared["tensors"] = part._numbers_of(operator, parts)
        return part

    def __repr__(self) -> str:
        locks = f", {len(self.locks)} locked" if self.locks else ""
        return f"SpotTree({self.spot!r}, {self.num_decision_nodes:,} decision nodes{locks})"


def _locked(spot: SpotTree, one: Lock) -> Locked:
    node = spot.betting.find(one.line)
    street = int(spot.betting.street[node])
    boards = spot.streets[street].boards
    at = range(len(boards)) if one.board is None else [boards.index(parse_cards(one.board))]
    words = [spot.betting.label[c] for c in spot.betting.children(node)]
    shares = np.stack([one.strategy[w] for w in words])[:, spot.hands]
    row = int(spot.numbers.row[node])
    return Locked(int(spot.betting.actor[node]), street, row, np.asarray(at), shares)


def _place(spot: SpotTree, one: Locked, locked: np.ndarray) -> None:
    """Writes a lock into the sequence vector of its player."""
    rows = spot.rows[one.player]
    node = spot.numbers.streets[one.street].node[one.player][one.row]
    held = one.shares.sum(0) != 0
    for row in np.flatnonzero((rows.node == node) & np.isin(rows.board, one.boards)):
        places = rows.place.sequence[rows.rows.offset[row] : rows.rows.offset[row + 1]]
        locked[places] = np.where(held, one.shares, locked[places])


def hands_in(spot: Spot) -> np.ndarray:
    """Returns int32 [H], the hands that are in either range."""
    return np.flatnonzero(np.add(*spot.ranges) > 0).astype(np.int32)


def spot_tree(
    spot: Spot,
    *,
    symmetric: bool = True,
    operator: str | None = None,
    num_hands: int | None = None,
    check: bool = True,
) -> SpotTree:
    """Returns the betting and the boards of a spot, after checking that a solver's state fits.

    Args:
        spot: the spot.
        symmetric: put runouts together that are equal up to names of suits.
        operator: form of the payoffs in tensors, one of `OPERATORS`, for solving them in JAX; the
            fastest way for the backend by default.
        num_hands: length of the hand axis, at least the hands in either range, so that spots
            have one shape; those hands by default. More than one image of a hand must not be
            left out where runouts are put together, so not with `symmetric`.
        check: refuse what does not fit.

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
    tree = SpotTree(spot, name, betting, tuple(streets), hands, rake, operator)
    if check:
        check_spot(tree)
    return tree


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

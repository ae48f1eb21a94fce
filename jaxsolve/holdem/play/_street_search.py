"""Searches of one street of a real hand: to the end of the hand, or to the end of the street.

Both begin where the street was dealt.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._menu_view import LEFT, MenuView
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._sizes import STREETS, Size, Sizes
from jaxsolve.holdem._solve import solve
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, spot_tree
from jaxsolve.holdem.limited import (
    Beyond,
    LimitedHoldem,
    LimitedResult,
    SearchBegin,
    limited_game,
    search,
    street_menu,
)
from jaxsolve.holdem.limited import followed as follow_menu
from jaxsolve.holdem.play._blueprint_agent import table_of
from jaxsolve.holdem.play._public_hand import PublicHand


class Bet(NamedTuple):
    """A bet or raise that was made.

    Attributes:
        player: who made it.
        number: bets and raises on the street before it.
        size: chips more than what was faced.
    """

    player: int
    number: int
    size: Size


class Solved(Protocol):
    """A street that was searched."""

    def find(self, totals: Sequence[int]) -> int | None:
        """Returns the node after some moves of the street, totals or FOLD; None off the menu."""
        ...

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Returns (int [A] totals, float64 [1326, A] policy) at a decision.

        Args:
            node: the decision.
            final: the last iterate in place of the average, where there is one.
        """
        ...


class Problem(Protocol):
    """A street before it is searched."""

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        ...

    def solve(self, seconds: float | None) -> Solved:
        """Returns a solution, made in some seconds if there is a limit."""
        ...


class ToTheEnd(NamedTuple):
    """The rest of the hand at full width.

    Attributes:
        result: of the spot.
    """

    result: SpotResult

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return _find(self.result.spot, totals)

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        tree = self.result.spot.betting
        totals = np.array([int(tree.action[c]) for c in tree.children(node)])
        report = self.result.node(tree.line(node))
        policy = np.zeros((NUM_HANDS, len(totals)))
        policy[report.hands] = report.strategy
        return totals, policy


class SpotProblem(NamedTuple):
    """The rest of a hand.

    Attributes:
        spot: its tree.
        iterations: of the solver.
    """

    spot: SpotTree
    iterations: int

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return _find(self.spot, totals)

    def solve(self, seconds: float | None) -> ToTheEnd:
        """See `Problem`."""
        result = solve(
            self.spot,
            iterations=self.iterations,
            measure_every=self.iterations,
            target=None,
            time_limit=seconds,
            progress=False,
        )
        return ToTheEnd(result)


class WithNetwork(NamedTuple):
    """A turn whose rivers are a network's.

    Attributes:
        result: a `river_net.TurnResult`.
    """

    result: Any

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return _find(self.result.turn, totals)

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        tree = self.result.turn.betting
        totals = np.array([int(tree.action[c]) for c in tree.children(node)])
        shares = self.result.strategy[tree.line(node)]
        return totals, np.stack([shares[str(tree.label[c])] for c in tree.children(node)], 1)


class NetworkProblem(NamedTuple):
    """A turn that ends with a network of river values (`river_net`).

    Attributes:
        spot: the rest of the hand.
        net: the network.
        iterations: of the solver; there is no limit of time.
    """

    spot: SpotTree
    net: Any
    iterations: int

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        node = _find(self.spot, totals)
        return node if node is None or self.spot.betting.street[node] == 0 else None

    def solve(self, seconds: float | None) -> WithNetwork:
        """See `Problem`."""
        from jaxsolve.holdem.river_net import solve_turn, turn_tree

        spot = self.spot.spot
        assert isinstance(spot, Spot)
        turn = turn_tree(spot, self.net)
        return WithNetwork(solve_turn(turn, iterations=self.iterations))


class ToTheStreetsEnd(NamedTuple):
    """A street with a choice of continuations after it.

    Attributes:
        result: of the search.
    """

    result: LimitedResult

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return self.result.game.find(totals)

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        return self.result.totals(node), self.result.policy(node, current=final)


class LimitedProblem(NamedTuple):
    """One street.

    Attributes:
        game: see `limited.limited_game`.
        options: of `limited.search`.
    """

    game: LimitedHoldem
    options: dict[str, Any]

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return self.game.find(totals)

    def solve(self, seconds: float | None) -> ToTheStreetsEnd:
        """See `Problem`."""
        return ToTheStreetsEnd(search(self.game, seconds=seconds, **self.options))


def to_the_end(
    root: PublicHand,
    ranges: np.ndarray,
    sizes: Sizes,
    bets: Sequence[Bet],
    *,
    raises: int,
    iterations: int,
) -> SpotProblem:
    """Returns the rest of a hand, two players.

    Args:
        root: where a street begins.
        ranges: float [2, 1326] there, the largest 1.
        sizes: what may be bet.
        bets: of this street, which are added.
        raises: on a street, or more where there were more.
        iterations: of the solver.
    """
    spent, stacks = np.asarray(root.state.spent), np.asarray(root.stacks)
    name = STREETS[root.street - 1]
    sizes = {key: sizes[key] for key in STREETS[root.street - 1 :]}
    first, second = (
        menu._replace(
            bet=(*menu.bet, *(b.size for b in bets if not b.number and b.player == player)),
            raise_=(*menu.raise_, *(b.size for b in bets if b.number and b.player == player)),
        )
        for player, menu in enumerate(sizes[name])
    )
    sizes[name] = (first, second)
    left, right = (int(x) for x in stacks - spent)
    spot = Spot(
        board=root.board,
        pot=int(spent.sum()),
        stack=(left, right),
        ranges=(ranges[0], ranges[1]),
        sizes=sizes,
        raise_cap=max(raises, len(bets) - 1),
    )
    return SpotProblem(spot_tree(spot), iterations)


def to_the_streets_end(
    root: PublicHand,
    ranges: np.ndarray,
    after: Beyond,
    bets: Sequence[Bet],
    choosers: Sequence[int] | None,
    buckets: Abstraction | None = None,
    **options: Any,
) -> LimitedProblem:
    """Returns one street, any number of players.

    Args:
        root: where the street begins.
        ranges: float [n, 1326] there.
        after: what goes on where the street ends.
        bets: of this street, which are added to the blueprint's menu.
        choosers: seats that choose a continuation.
        buckets: of the street, see `limited.limited_game`.
        options: of the search, see `limited.search`.
    """
    added = [(b.number, int(b.size.amount)) for b in bets]
    menu = street_menu(after.game.menu, root.street, added)
    begin = SearchBegin(root.state, root.board, ranges, menu_node(after.view, root))
    return LimitedProblem(limited_game(begin, menu, after, choosers, buckets), options)


def menu_node(view: MenuView, hand: PublicHand) -> int:
    """Returns the likeliest node of a menu for a real hand, or LEFT."""
    node = np.zeros(1, np.int64)
    for after in hand.path():
        if after.move is None or after.before is None:
            continue
        node = follow_menu(view, node, table_of(after.before, 1), np.array([after.move]))
    return int(node[0]) if int(node[0]) != LEFT else LEFT


def beginning(hand: PublicHand) -> PublicHand:
    """Returns the hand where its street was dealt."""
    while hand.move is not None:
        assert hand.before is not None
        hand = hand.before
    return hand


def moves_since(root: PublicHand, hand: PublicHand) -> list[int]:
    """Returns the moves from one hand to a later one, totals or FOLD."""
    return [after.move for after in hand.path(root) if after.move is not None]


def bets_since(root: PublicHand, hand: PublicHand) -> tuple[Bet, ...]:
    """Returns the bets and raises since a street began."""
    found = []
    for before, after in itertools.pairwise([root, *hand.path(root)]):
        assert after.move is not None
        if after.move > (faced := int(before.state.bet)):
            size = Size("chips", after.move - faced)
            found.append(Bet(before.actor, int(before.state.raises), size))
    return tuple(found)


def _find(spot: Any, totals: Sequence[int]) -> int | None:
    tree, node = spot.betting, 0
    for total in totals:
        follow = [c for c in tree.children(node) if int(tree.action[c]) == total]
        if not follow:
            return None
        node = follow[0]
    return node


def legal_policy(
    solved: Solved, node: int, hand: PublicHand, *, final: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (int64 [A] legal totals, ascending, float64 [1326, A] policy) at a decision.

    `final` takes the last iterate in place of the average. Hands that cannot be there, and moves
    that the rules do not allow, check or call.
    """
    totals, policy = solved.told(node, final=final)
    call = int(np.flatnonzero(totals == hand.can.call)[0])
    nothing = possible(hand.board) & ~policy.any(1)
    policy[nothing, call] = 1
    legal = np.array([hand.can.allow(int(t)) for t in totals])
    policy[:, call] += policy[:, ~legal].sum(1)
    policy = policy[:, legal]
    total = policy.sum(1, keepdims=True)
    policy /= np.where(total > 0, total, 1)
    order = np.argsort(totals[legal])
    return totals[legal][order], policy[:, order]

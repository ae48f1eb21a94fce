"""Searches of one street of a real hand: to the end of the hand, or to the end of the street.

Both begin where the street was dealt.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._safe_root import SafeRoot
from jaxsolve.holdem._sizes import STREETS, Sizes
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
from jaxsolve.holdem.play._agent import RangePolicy
from jaxsolve.holdem.play._public_hand import PublicHand
from jaxsolve.holdem.play._street_moves import Bet, find_node, menu_node
from jaxsolve.holdem.play._street_solved import Solved, ToTheEnd, ToTheStreetsEnd, WithNetwork

if TYPE_CHECKING:
    from jaxsolve.holdem.leaf_net import LeafNet


class Problem(Protocol):
    """A street before it is searched."""

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        ...

    def solve(self, seconds: float | None) -> Solved:
        """Returns a solution, made in some seconds if there is a limit."""
        ...


class SpotProblem(NamedTuple):
    """The rest of a hand.

    Attributes:
        spot: its tree.
        iterations: of the solver.
        root: what hands of one player were promised.
        dead: chips of those who folded, half to each player, so that a total is by so much more.
    """

    spot: SpotTree
    iterations: int
    root: SafeRoot | None = None
    dead: int = 0

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return find_node(self.spot, totals, self.dead)

    def solve(self, seconds: float | None) -> ToTheEnd:
        """See `Problem`."""
        result = solve(
            self.spot,
            iterations=self.iterations,
            measure_every=self.iterations,
            target=None,
            time_limit=seconds,
            progress=False,
            root=self.root,
        )
        return ToTheEnd(result, self.dead)


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
        node = find_node(self.spot, totals)
        return node if node is None or self.spot.betting.street[node] == 0 else None

    def solve(self, seconds: float | None) -> WithNetwork:
        """See `Problem`."""
        from jaxsolve.holdem.river_net import solve_turn, turn_tree

        spot = self.spot.spot
        assert isinstance(spot, Spot)
        turn = turn_tree(spot, self.net)
        return WithNetwork(solve_turn(turn, iterations=self.iterations))


class LimitedProblem(NamedTuple):
    """One street.

    Attributes:
        game: see `limited.limited_game`.
        after: the continuations.
        search: finds a solution of the game, with `seconds` as limit.
    """

    game: LimitedHoldem
    after: Beyond
    search: Callable[..., LimitedResult]

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return self.game.find(totals)

    def solve(self, seconds: float | None) -> ToTheStreetsEnd:
        """See `Problem`."""
        return ToTheStreetsEnd(self.search(self.game, seconds=seconds), self.after)


def to_the_end(
    root: PublicHand,
    ranges: np.ndarray,
    sizes: Sizes,
    bets: Sequence[Bet],
    *,
    raises: int,
    iterations: int,
    safe: SafeRoot | None = None,
) -> SpotProblem:
    """Returns the rest of a hand between the two players who are left.

    Args:
        root: where a street begins, n players.
        ranges: float [n, 1326] there, the largest 1.
        sizes: what may be bet.
        bets: of this street, which are added.
        raises: on a street, or more where there were more.
        iterations: of the solver.
        safe: what hands of one player were promised here; those of which nothing is known are
            left out. All others come as the range says, and once more, all alike, if they get more
            than the promise.
    """
    spent, stacks = np.asarray(root.state.spent), np.asarray(root.stacks)
    seats = np.flatnonzero(~np.asarray(root.state.folded))
    name = STREETS[root.street - 1]
    sizes = {key: sizes[key] for key in STREETS[root.street - 1 :]}
    first, second = (
        menu._replace(
            bet=(*menu.bet, *(b.size for b in bets if not b.number and b.player == player)),
            raise_=(*menu.raise_, *(b.size for b in bets if b.number and b.player == player)),
        )
        for player, menu in zip(seats, sizes[name], strict=True)
    )
    sizes[name] = (first, second)
    ranges, pot = np.array(ranges[seats]), int(spent.sum())
    if safe is not None:
        known = np.isfinite(safe.values)
        safe = dataclasses.replace(safe, belief=np.where(known, ranges[safe.player], 0.0))
        ranges[safe.player] = known
    left, right = (int(x) for x in (stacks - spent)[seats])
    spot = Spot(
        board=root.board,
        pot=pot,
        stack=(left, right),
        ranges=(ranges[0], ranges[1]),
        sizes=sizes,
        raise_cap=max(raises, len(bets) - 1),
    )
    dead = (pot + 1) // 2 - int(spent[seats[0]])
    # What was promised and believed may differ between hands that ranges alike leave alike.
    tree = spot_tree(spot, symmetric=safe is None)
    return SpotProblem(tree, iterations, safe, dead)


def to_the_streets_end(
    root: PublicHand,
    ranges: np.ndarray,
    after: Beyond,
    bets: Sequence[Bet],
    choosers: Sequence[int] | None,
    buckets: Abstraction | None = None,
    own: Sequence[tuple[Sequence[int], RangePolicy]] = (),
    net: tuple[LeafNet, int] | None = None,
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
        own: (moves of the street before a decision, policy there), which stay as they were.
        net: of leaf values, and iterations with it, in place of the continuations played out.
        options: of the search, see `limited.search`.
    """
    added = [(b.number, int(b.size.amount)) for b in bets]
    menu = street_menu(after.game.menu, root.street, added)
    begin = SearchBegin(root.state, root.board, ranges, menu_node(after.view, root))
    game = limited_game(begin, menu, after, choosers, buckets)
    if net is not None:
        from jaxsolve.holdem.leaf_net import search_street  # which needs Flax

        made, iterations = net
        solve = functools.partial(
            search_street, begin=begin, after=after, net=made, iterations=iterations
        )
        return LimitedProblem(game, after, solve)
    if own:
        options["frozen"] = dict(_frozen(game, moves, told) for moves, told in own)
    return LimitedProblem(game, after, functools.partial(search, **options))


def _frozen(game: LimitedHoldem, moves: Sequence[int], told: RangePolicy) -> tuple[int, np.ndarray]:
    """Returns (decision, float [1326, A] policy there), with the actions that the game has."""
    node = game.find(moves)
    assert node is not None  # whoever acted there had found it on a smaller menu
    first = int(game.tree.child[node])
    totals = game.tree.action[first : first + int(game.tree.count[node])]
    policy = np.zeros((NUM_HANDS, len(totals)))
    for column, total in enumerate(told.totals):
        policy[:, int(np.flatnonzero(totals == total)[0])] = told.policy[:, column]
    return node, policy

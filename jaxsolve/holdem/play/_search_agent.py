"""A blueprint before the turn, and search to the end of the hand on turn and river.

Where a street is dealt, the agent knows how likely either player has made their moves with each
hand: the first street's ranges are the blueprint's, for both players alike, later ones those of the
last search. The rest of the hand is then solved at full width from the beginning of the street, on
a menu of its own. A bet that is not on that menu is added to it, and the street is solved anew;
what the agent has already done there stays as it was. The root is unsafe: ranges are taken as they
are.

Source: Brown, Sandholm and Amos 2018, "Depth-limited solving for imperfect-information games",
whose agent plays turn and river to the end, and Brown and Sandholm 2019, who search from the start
of the street.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._sizes import STREETS, Size, Sizes, parse_sizes
from jaxsolve.holdem._solve import solve
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import spot_tree
from jaxsolve.holdem.play._agent import Move, RangePolicy, drawn, range_of
from jaxsolve.holdem.play._blueprint_agent import BlueprintAgent, MenuState
from jaxsolve.holdem.play._public_hand import PublicHand

MENU = {
    "turn": {"bet": ["50%", "100%"], "raise": ["100%", "a"]},
    "river": {"bet": ["50%", "100%", "a"], "raise": ["100%", "a"]},
}
"""Sizes that a search looks at, besides those that were bet."""

RAISES = 2
"""Raises on a street that a search looks at, more where there were more."""

LEAST = 1e-9
"""Ranges whose largest weight is below say nothing; every hand is possible then."""


class Street(NamedTuple):
    """What is known where a street begins.

    Attributes:
        hand: there.
        ranges: float64 [2, 1326], how likely either seat has made its moves with each hand.
        result: the last solution from there; None before the first.
    """

    hand: PublicHand
    ranges: np.ndarray
    result: SpotResult | None = None


class SearchState(NamedTuple):
    """Where a hand stands.

    Attributes:
        seat: of the agent.
        key: of the hand.
        blueprint: state of the blueprint, up to the last decision that it made.
        street: that is searched; None before.
        reach: float64 [1326], of the agent's own moves up to `told`.
        told: the last decision and the agent's policy there; None before the first.
    """

    seat: int
    key: int
    blueprint: MenuState
    street: Street | None
    reach: np.ndarray
    told: tuple[PublicHand, RangePolicy] | None = None


class SearchAgent:
    """Searches turn and river of a heads-up blueprint to the end."""

    def __init__(
        self,
        blueprint: BlueprintAgent,
        *,
        menu: Mapping[str, Any] = MENU,
        first: int = 2,
        iterations: Mapping[int, int] | None = None,
        name: str = "search",
    ) -> None:
        """Takes a blueprint.

        Args:
            blueprint: of two players.
            menu: sizes by street, as `parse_sizes` takes them.
            first: street from which on the agent searches: 1 the flop, 2 the turn, 3 the river.
            iterations: of a search, by the street where it begins; 100 on the turn and 300 on the
                river by default.
            name: for tables of results.

        Raises:
            ValueError: the blueprint is for more players, or an option makes no sense.
        """
        if blueprint.game.menu.players != 2:
            raise ValueError(f"search is for two players, not {blueprint.game.menu.players}")
        if first not in (1, 2, 3):
            raise ValueError(f"searches begin on street 1, 2 or 3, not {first}")
        self.name, self.blueprint, self.first = name, blueprint, first
        self.sizes: Sizes = parse_sizes(menu, streets=STREETS[first - 1 :])
        self.iterations = {1: 50, 2: 100, 3: 300, **(iterations or {})}

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> SearchState:
        """See `HandAgent`."""
        start = self.blueprint.begin(hand, seat, number=number, key=key)
        return SearchState(seat, key, start, None, np.ones(NUM_HANDS))

    def act(
        self,
        state: SearchState,
        hand: PublicHand,
        cards: Sequence[int],
        seconds: float | None = None,
    ) -> tuple[Move, SearchState]:
        """See `HandAgent`."""
        told, state = self.policy(state, hand, seconds)
        return drawn(told, hand, cards, state.key), state

    def end(self, state: SearchState, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """See `HandAgent`."""

    def policy(
        self, state: SearchState, hand: PublicHand, seconds: float | None = None
    ) -> tuple[RangePolicy, SearchState]:
        """See `RangeAgent`; `seconds` ends a search early."""
        if hand.street < self.first:
            told, menu = self.blueprint.policy(state.blueprint, hand)
            state = state._replace(blueprint=menu, reach=told.reach, told=(hand, told))
            return told, state
        state = self._own_move(state, hand)
        street = self._street(state, hand)
        if street.result is None or _node(street, hand) is None:
            street = street._replace(result=self._search(street, hand, seconds))
        reach = np.where(possible(hand.board), state.reach, 0.0)
        told = _policy(street, hand)._replace(reach=reach)
        return told, state._replace(street=street, told=(hand, told))

    def _own_move(self, state: SearchState, hand: PublicHand) -> SearchState:
        """Returns the state with the reach of the agent's own move after its last decision."""
        if state.told is None:
            return state
        before, told = state.told
        after = next(iter(hand.path(before)))
        chance = told.policy[:, told.totals == after.move].sum(1)
        return state._replace(reach=told.reach * chance, told=None)

    def _street(self, state: SearchState, hand: PublicHand) -> Street:
        """Returns the beginning of the street of a hand, and the ranges there."""
        root = _beginning(hand)
        if state.street is not None and state.street.hand == root:
            return state.street
        if state.street is None:
            ranges = np.stack([range_of(self.blueprint, root, seat) for seat in range(2)])
        else:
            ranges = _followed(state.street, root)
        ranges[state.seat] = state.reach
        return Street(root, np.stack([_usable(x, root.board) for x in ranges]))

    def _search(self, street: Street, hand: PublicHand, seconds: float | None) -> SpotResult:
        """Returns the solution of the rest of the hand from the street's beginning on."""
        root, bets = street.hand, _bets(street.hand, hand)
        spent, stacks = np.asarray(root.state.spent), np.asarray(root.stacks)
        name = STREETS[root.street - 1]
        sizes = {key: self.sizes[key] for key in STREETS[root.street - 1 :]}
        first, second = (
            menu._replace(
                bet=(*menu.bet, *(s for k, s, opens in bets if opens and k == player)),
                raise_=(*menu.raise_, *(s for k, s, opens in bets if not opens and k == player)),
            )
            for player, menu in enumerate(sizes[name])
        )
        sizes[name] = (first, second)
        left, right = (int(x) for x in stacks - spent)
        spot = Spot(
            board=root.board,
            pot=int(spent.sum()),
            stack=(left, right),
            ranges=(street.ranges[0], street.ranges[1]),
            sizes=sizes,
            raise_cap=max(RAISES, len(bets) - 1),
        )
        iterations = self.iterations[root.street]
        return solve(
            spot_tree(spot),
            iterations=iterations,
            measure_every=iterations,
            target=None,
            time_limit=seconds,
            progress=False,
        )


def _beginning(hand: PublicHand) -> PublicHand:
    """Returns the hand where its street was dealt."""
    while hand.move is not None:
        assert hand.before is not None
        hand = hand.before
    return hand


def _bets(root: PublicHand, hand: PublicHand) -> list[tuple[int, Size, bool]]:
    """Returns (player, size, whether nobody had bet) of each bet and raise since a street began."""
    found = []
    for before, after in itertools.pairwise([root, *hand.path(root)]):
        assert after.move is not None
        faced = int(before.state.bet)
        if after.move > faced:
            size = Size("chips", after.move - faced)
            opens = faced == int(root.state.bet)
            found.append((before.actor, size, opens))
    return found


def _node(street: Street, hand: PublicHand) -> int | None:
    """Returns the node of the solved betting where a hand stands; None off the menu."""
    assert street.result is not None
    tree, node = street.result.spot.betting, 0
    for after in hand.path(street.hand):
        if after.move is None:
            continue
        follow = [c for c in tree.children(node) if int(tree.action[c]) == after.move]
        if not follow:
            return None
        node = follow[0]
    return node


def _policy(street: Street, hand: PublicHand) -> RangePolicy:
    """Returns what the solution does at a decision; hands that cannot be there check or call."""
    assert street.result is not None
    node = _node(street, hand)
    assert node is not None
    tree = street.result.spot.betting
    totals = np.array([int(tree.action[c]) for c in tree.children(node)])
    policy = np.zeros((NUM_HANDS, len(totals)))
    call = int(np.flatnonzero(totals == hand.can.call)[0])
    policy[possible(hand.board), call] = 1
    report = street.result.node(tree.line(node))
    policy[report.hands] = report.strategy
    legal = np.array([hand.can.allow(int(t)) for t in totals])
    policy[:, call] += policy[:, ~legal].sum(1)
    policy = policy[:, legal]
    total = policy.sum(1, keepdims=True)
    policy /= np.where(total > 0, total, 1)
    order = np.argsort(totals[legal])
    return RangePolicy(totals[legal][order], policy[:, order], np.zeros(NUM_HANDS))


def _followed(street: Street, hand: PublicHand) -> np.ndarray:
    """Returns float64 [2, 1326], ranges at the end of a street by its last solution."""
    ranges = street.ranges.copy()
    if street.result is None:
        return ranges
    for after in hand.path(street.hand):
        before = after.before
        if after.move is None or before is None:
            continue
        if _node(street, before) is None:  # the agent was not asked after this bet
            break
        told = _policy(street, before)
        chance = told.policy[:, told.totals == after.move].sum(1)
        if chance.any():  # else it left the menu and the street ended
            ranges[before.actor] *= chance
    return ranges


def _usable(weights: np.ndarray, board: Sequence[int]) -> np.ndarray:
    """Returns weights of possible hands, the largest 1; all alike where there are none."""
    live = np.where(possible(board), weights, 0.0)
    most = live.max()
    return live / most if most > LEAST else possible(board).astype(float)

"""An agent that searches the streets of a hand, on top of a blueprint.

Where a street is dealt, the agent knows how likely either player has made their moves with each
hand: the first street's ranges are the blueprint's, for both players alike, later ones those of the
last search. Turn and river are solved at full width to the end of the hand, on a menu of their own.
Earlier streets are solved to their end, where the players choose among continuations of the
blueprint; before the flop only if somebody has left the blueprint's menu. A search begins where the
street was dealt. A bet that is not on the menu is added to it, and the street is solved anew; what
the agent has already done there stays as it was.

The first search takes ranges as they are (unsafe). From the second on, heads-up, each hand of the
opponent may stay out of the subgame for what the search before promised it ("resolve"), plus what
it gave up on the way ("reach"), where that search went to the end of the hand or had a choice of
continuations for the opponent.

Source: Brown, Sandholm and Amos 2018, "Depth-limited solving for imperfect-information games",
whose agent plays turn and river to the end and lets the opponent choose at leaves, and Brown and
Sandholm 2019, who search from the start of the street.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._safe_root import SafeRoot
from jaxsolve.holdem._sizes import STREETS, Sizes, parse_sizes
from jaxsolve.holdem.limited import beyond
from jaxsolve.holdem.play._agent import Move, RangePolicy, drawn, range_of
from jaxsolve.holdem.play._blueprint_agent import BlueprintAgent, MenuState
from jaxsolve.holdem.play._public_hand import PublicHand
from jaxsolve.holdem.play._street_moves import (
    Bet,
    beginning,
    bets_since,
    menu_node,
    moves_since,
)
from jaxsolve.holdem.play._street_search import (
    NetworkProblem,
    Problem,
    to_the_end,
    to_the_streets_end,
)
from jaxsolve.holdem.play._street_solved import Solved, legal_policy
from jaxsolve.mccfr import Continuations, bias

if TYPE_CHECKING:
    from jaxsolve.holdem.leaf_net import LeafNet
    from jaxsolve.nets import Net

MENU = {
    "turn": {"bet": ["50%", "100%"], "raise": ["100%", "a"]},
    "river": {"bet": ["50%", "100%", "a"], "raise": ["100%", "a"]},
}
"""Sizes that a search looks at, besides those that were bet."""

RAISES = 2
"""Raises on a street that a search looks at, more where there were more."""

PASSES = {0: 60, 1: 300}
"""Boards on which a heads-up search before the turn is made, by street."""

DEALS = dict.fromkeys(range(4), 200_000)
"""Deals of a search with more players, by street."""

MOST = 4
"""Players still in with whom there are searches before the flop, more than two at the table."""

KEPT = 4
"""Solutions that an agent remembers."""

ROOTS = ("unsafe", "resolve", "reach")
"""Of searches after the first one."""

LEAST = 1e-9
"""Ranges whose largest weight is below say nothing; every hand is possible then."""


class Street(NamedTuple):
    """What is known where a street begins.

    Attributes:
        hand: there.
        ranges: float64 [n, 1326], how likely each seat has made its moves with each hand.
        promised: float64 [1326], what the opponent's hands win by the search before; or None.
        solved: the last solution from there; None before the first.
        own: the agent's decisions since then and what it told there.
    """

    hand: PublicHand
    ranges: np.ndarray
    promised: np.ndarray | None = None
    solved: Solved | None = None
    own: tuple[tuple[PublicHand, RangePolicy], ...] = ()


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
    """Searches the streets of a hand, from one of them on.

    Where two players are left, turn and river are solved to the end of the hand. Earlier streets
    are searched to their end, heads-up by vectors of hands. With more players at the table this is
    so for every street on which more than two are left, by external sampling; then the agent plays
    the last iterate, while ranges follow the average, as Pluribus does. What it has told on such a
    street stays as it was when the street is searched anew; in Pluribus this is so for the hand
    that is held, and here for all hands.
    """

    def __init__(
        self,
        blueprint: BlueprintAgent,
        *,
        menu: Mapping[str, Any] = MENU,
        first: int = 2,
        iterations: Mapping[int, int] | None = None,
        passes: Mapping[int, int] | None = None,
        buckets: Abstraction | None = None,
        continuations: np.ndarray | None = None,
        choosers: str | None = None,
        net: Net | None = None,
        leaf_net: LeafNet | None = None,
        root: str = "reach",
        final: bool | None = None,
        frozen: bool | None = None,
        every_decision: bool = False,
        threads: int = 1,
        name: str = "search",
    ) -> None:
        """Takes a blueprint.

        Args:
            blueprint: of any number of players.
            menu: sizes on turn and river with two players left, as `parse_sizes` takes them; other
                searches have the blueprint's.
            first: street from which on the agent searches: 0 before the flop, there only after a
                bet that the blueprint's menu does not have, 1 the flop, 2 the turn, 3 the river.
            iterations: of a search on turn or river, 100 and 300 by default, and of the flop with
                a `leaf_net`, 200.
            passes: boards or deals of a search that ends with its street, by street; `PASSES` or
                `DEALS` by default.
            buckets: of hands on the street of such a search; by default every hand is its own.
            continuations: float [k, 3], factors, see `mccfr.Continuations`; by default
                `mccfr.bias(10)`, those of Modicum, or `mccfr.bias(5)` with more players.
            choosers: who chooses among them where a search ends: "opponent", the default heads-up,
                or "all".
            net: of river values, see `river_net`; with it the turn is solved to its end only, with
                what the network says there.
            leaf_net: of what hands win after the flop, see `holdem.leaf_net`; with it the flop is
                searched without playing continuations out.
            root: of searches after the first one, one of `ROOTS`; unsafe with more players, and
                after a turn with a network.
            final: play the last iterate of searches that end with their street, in place of the
                average; by default with more players.
            frozen: keep what was told on the street when such a search is made anew; likewise.
            every_decision: make it anew at each decision, not only after bets that it lacks.
            threads: of searches before the turn; with more than one, equal histories give answers
                that are equal only nearly.
            name: for tables of results.

        Raises:
            ValueError: an option makes no sense.
        """
        self.players = blueprint.game.menu.players
        if net is not None and self.players > 2:
            raise ValueError(f"a network of rivers is for two players, not {self.players}")
        if net is not None:
            from jaxsolve.holdem.river_net import check_river_net  # which needs Flax

            check_river_net(net)
        unfit = self.players > 2 or choosers == "all" or frozen or buckets is not None
        if leaf_net is not None and unfit:
            raise ValueError(
                "a leaf network is for two players, one of whom chooses, with a row for each hand "
                "and nothing frozen"
            )
        if first not in (0, 1, 2, 3):
            raise ValueError(f"searches begin on street 0, 1, 2 or 3, not {first}")
        if choosers is None:
            choosers = "opponent" if self.players == 2 else "all"
        if choosers not in ("opponent", "all"):
            raise ValueError(f'unknown choosers {choosers!r}; choose "opponent" or "all"')
        if root not in ROOTS:
            raise ValueError(f"unknown root {root!r}; choose {', '.join(ROOTS)}")
        self.name, self.blueprint, self.first, self.root = name, blueprint, first, root
        self.sizes: Sizes = parse_sizes(menu, streets=STREETS[max(first, 2) - 1 :])
        self.final = self.players > 2 if final is None else final
        self.frozen = self.players > 2 if frozen is None else frozen
        self.every_decision = every_decision
        self.iterations = {1: 200, 2: 100, 3: 300, **(iterations or {})}
        self.passes = {**(PASSES if self.players == 2 else DEALS), **(passes or {})}
        self.buckets = buckets
        self.choosers, self.threads = choosers, threads
        self.net, self.leaf_net = net, leaf_net
        factor = bias(10 if self.players == 2 else 5) if continuations is None else continuations
        self._kept: dict[Any, Solved] = {}
        self.after = beyond(blueprint.view, Continuations(blueprint.sums, factor))
        if leaf_net is not None:
            leaf_net.check(self.after)

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
        if self._follows_blueprint(state, hand):
            told, menu = self.blueprint.policy(state.blueprint, hand)
            state = state._replace(blueprint=menu, reach=told.reach, told=(hand, told))
            return told, state
        state = self._own_move(state, hand)
        street = self._street(state, hand)
        if self.every_decision or street.solved is None or _node(street, hand) is None:
            street = street._replace(solved=self._search(state, street, hand, seconds))
        reach = np.where(possible(hand.board), state.reach, 0.0)
        told = _policy(street, hand, final=self.final)._replace(reach=reach)
        street = street._replace(own=(*street.own, (hand, told)))
        return told, state._replace(street=street, told=(hand, told))

    def _follows_blueprint(self, state: SearchState, hand: PublicHand) -> bool:
        """Returns whether the blueprint answers: streets before searches, and its first street."""
        if hand.street < self.first or state.street is not None:
            return hand.street < self.first
        playing = int((~hand.state.folded).sum())
        many = self.players > 2 and playing > MOST
        return hand.street == 0 and (many or _on_menu(self.blueprint, hand))

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
        root = beginning(hand)
        if state.street is not None and state.street.hand == root:
            return state.street
        if root.street == 0:
            return Street(root, np.ones((self.players, NUM_HANDS)))
        if state.street is None:
            seats = range(self.players)
            ranges = np.stack([range_of(self.blueprint, root, seat) for seat in seats])
        else:
            ranges = _followed(state.street, root)
        if self.players == 2:
            ranges[state.seat] = state.reach
        ranges = np.stack([_usable(x, root.board) for x in ranges])
        return Street(root, ranges, self._promised(state, root, ranges))

    def _promised(
        self, state: SearchState, root: PublicHand, ranges: np.ndarray
    ) -> np.ndarray | None:
        """Returns float64 [1326], what the opponent's hands win by the search before, or None."""
        street = state.street
        if self.root == "unsafe" or self.players > 2 or street is None or street.solved is None:
            return None
        reach = self.root == "reach"
        moves = moves_since(street.hand, root)
        return street.solved.promised(moves, root, ranges, 1 - state.seat, reach)

    def _search(
        self, state: SearchState, street: Street, hand: PublicHand, seconds: float | None
    ) -> Solved:
        """Returns a solution from the street's beginning on, with the bets that the menu lacks.

        The last few are kept: a caller may come to one street by several histories.
        """
        moves = moves_since(street.hand, hand)
        problem = self._problem(state, street, ())
        bets = () if problem.find(moves) is not None else bets_since(street.hand, hand)
        root = street.hand
        known = street.ranges if street.promised is None else [*street.ranges, street.promised]
        own = [told.policy.tobytes() for _, told in street.own] if self.frozen else []
        digest = hashlib.sha256(b"".join([np.asarray(known).tobytes(), *own])).digest()
        name = (root.betting, root.board, root.stacks, state.seat, state.key, digest, bets, seconds)
        if name not in self._kept:
            if bets:
                problem = self._problem(state, street, bets)
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[name] = problem.solve(seconds)
        return self._kept[name]

    def _problem(self, state: SearchState, street: Street, bets: Sequence[Bet]) -> Problem:
        root = street.hand
        if root.street >= 2 and int((~root.state.folded).sum()) == 2:
            values = street.promised
            rest = to_the_end(
                root,
                street.ranges,
                self.sizes,
                bets,
                raises=RAISES,
                iterations=self.iterations[root.street],
                safe=None if values is None else SafeRoot(1 - state.seat, values),
            )
            if self.net is None or root.street > 2:
                return rest
            return NetworkProblem(rest.spot, self.net, rest.iterations)
        net = None
        if self.leaf_net is not None and root.street == 1:
            net = self.leaf_net, self.iterations[1]
        return to_the_streets_end(
            root,
            street.ranges,
            self.after,
            bets,
            [i for i in range(self.players) if self.choosers == "all" or i != state.seat],
            self.buckets,
            [(moves_since(root, at), told) for at, told in street.own] if self.frozen else [],
            net,
            passes=self.passes[root.street],
            seed=state.key,
            threads=self.threads,
        )


def _on_menu(blueprint: BlueprintAgent, hand: PublicHand) -> bool:
    """Returns whether every bet of a hand is on the blueprint's menu, with its chips."""
    node = menu_node(blueprint.view, hand)
    return node >= 0 and bool((blueprint.view.spent[node] == hand.state.spent).all())


def _node(street: Street, hand: PublicHand) -> int | None:
    """Returns the node of the solved betting where a hand stands; None off the menu."""
    assert street.solved is not None
    return street.solved.find(moves_since(street.hand, hand))


def _policy(street: Street, hand: PublicHand, *, final: bool = False) -> RangePolicy:
    """Returns what the solution does at a decision."""
    node = _node(street, hand)
    assert street.solved is not None
    assert node is not None
    totals, policy = legal_policy(street.solved, node, hand, final=final)
    return RangePolicy(totals, policy, np.zeros(NUM_HANDS))


def _followed(street: Street, hand: PublicHand) -> np.ndarray:
    """Returns float64 [n, 1326], ranges at the end of a street by its last solution."""
    ranges = street.ranges.copy()
    if street.solved is None:
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

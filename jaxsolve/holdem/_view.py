"""A solved spot for the viewer: lines of play and boards by name, both ranges hand by hand.

A path is made of actions and, after the last action of a street, of the card that is dealt:
("x", "x", "Kh", "b50"). Values of whoever does not act at a node are read from the sequences
around it: all that follows the own last action if that led there, else the own decisions below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting_tree import Kind
from jaxsolve.holdem._boards import live_hands
from jaxsolve.holdem._cards import (
    NUM_HANDS,
    card_name,
    cards_name,
    hand_index,
    hand_name,
    parse_cards,
)
from jaxsolve.holdem._cells import action_colours
from jaxsolve.holdem._equity import equity
from jaxsolve.holdem._leaf_groups import Rake
from jaxsolve.holdem._lock import lock
from jaxsolve.holdem._node import NodeReport
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._sizes import PLAYERS
from jaxsolve.holdem._solve import solve
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.view import About, Lock, Move, Position, Privates, unknown_step

_WORDS = {"f": "fold", "x": "check", "c": "call", "a": "all-in"}

_LETTERS = {"b": "bet", "r": "raise"}


class _Place(NamedTuple):
    """Where a path leads.

    Attributes:
        node: of the betting.
        board: of the node's street, or of the street before while a card is to come.
        deals: whether a card is to come.
    """

    node: int
    board: int
    deals: bool


@dataclasses.dataclass(frozen=True)
class SpotView:
    """A solved spot.

    Attributes:
        result: the solution that is shown.
        base: the tree before locks were set in the viewer.
    """

    result: SpotResult
    base: SpotTree

    def about(self) -> About:
        """See `Viewable`."""
        result = self.result
        oop, ip = result.ev
        facts = {
            "iterations": f"{result.iterations:,}",
            "exploitability": f"{result.exploitability_chips:.4g} chips, "
            f"{100 * result.exploitability_pot:.3g}% of the pot",
            "EV oop": f"{oop:.4f}",
            "EV ip": f"{ip:.4f}",
        }
        rows = result.curve.rows()
        return About(result.spot.name, True, facts, "chips", rows, max(1, result.iterations))

    def position(self, path: Sequence[str]) -> Position:
        """See `Viewable`."""
        spot, place = self.result.spot, self._follow(path)
        kind = Kind(int(spot.betting.kind[place.node]))
        report = None
        if not place.deals and kind == Kind.DECISION:
            report = self.result.reports.at(place.node, place.board)
        street = int(spot.betting.street[place.node]) - place.deals
        cards = spot.streets[street].boards[place.board]
        spent = spot.betting.spent[place.node]
        start = spot.spot.pot / 2
        words = [word_of(a) for a in report.actions] if report else []
        privates = tuple(self._privates(p, place, report) for p in range(2))
        behind = self._spot.effective_stack - (spent - start)
        return Position(
            path=tuple(path),
            kind="decision" if report else "chance" if place.deals else "end",
            title=self._title(place, kind),
            facts={
                "board": " ".join(card_name(c) for c in cards),
                "pot": f"{float(spent.sum()):g}",
                "behind": " / ".join(f"{float(x):g}" for x in behind),
            },
            probability=self._probability(place.node, street, place.board),
            values=tuple(_mean(one.value, one.weight) for one in privates),
            actions=tuple(words),
            colours=tuple(action_colours(words).values()),
            moves=self._deals(place) if place.deals else self._moves(place, report),
            privates=privates,
        )

    def solve_again(
        self, locks: Sequence[Lock], iterations: int, report: Callable[[int, float, float], None]
    ) -> SpotView:
        """See `Viewable`."""
        tree = self.base
        for one in locks:
            place = self._follow(one.path)
            codes = {word_of(a): a for a in self._codes(place.node)}
            if unknown := set(one.strategy) - set(codes):
                raise ValueError(f"there is no action {min(unknown)!r}: {', '.join(codes)}")
            shares = {codes[word]: np.zeros(NUM_HANDS) for word in one.strategy}
            hands = [int(hand_index(*parse_cards(name))) for name in one.hands]
            for word, share in one.strategy.items():
                shares[codes[word]][hands] = share
            cards = tree.streets[tree.betting.street[place.node]].boards[place.board]
            tree = lock(tree, tree.betting.line(place.node), shares, board=cards_name(cards))
        result = solve(tree, target=None, iterations=iterations, progress=False, callback=report)
        return SpotView(result, self.base)

    @property
    def _spot(self) -> Spot:
        spot = self.result.spot.spot
        if not isinstance(spot, Spot):
            raise ValueError(f"{spot!r} is a whole game; the viewer shows spots")
        return spot

    def _follow(self, path: Sequence[str]) -> _Place:
        betting = self.result.spot.betting
        place = _Place(0, 0, False)
        for k, step in enumerate(path):
            if place.deals:
                known = dict(self._cards(place))
                if step not in known:
                    raise unknown_step(path, k, known)
                place = _Place(place.node, known[step], False)
                continue
            by_code = {betting.label[c]: c for c in betting.children(place.node)}
            if step not in by_code:
                raise unknown_step(path, k, by_code)
            node = by_code[step]
            place = _Place(node, place.board, betting.street[node] > betting.street[place.node])
        return place

    def _cards(self, place: _Place) -> list[tuple[str, int]]:
        """Returns (cards, number of the board) of each board that can follow."""
        spot = self.result.spot
        street = int(spot.betting.street[place.node])
        after = spot.streets[street]
        length = len(spot.streets[street - 1].boards[0])
        return [
            (cards_name(after.boards[b][length:]), int(b))
            for b in np.flatnonzero(after.parent == place.board)
        ]

    def _codes(self, node: int) -> list[str]:
        betting = self.result.spot.betting
        return [betting.label[c] for c in betting.children(node)]

    def _title(self, place: _Place, kind: Kind) -> str:
        betting = self.result.spot.betting
        if place.deals:
            return "a card is dealt"
        actor = int(betting.actor[betting.parent[place.node]]) if place.node else 0
        return {
            Kind.DECISION: f"{PLAYERS[betting.actor[place.node]]} to act",
            Kind.FOLDED: f"{PLAYERS[1 - actor]} wins: {PLAYERS[actor]} folded",
            Kind.SHOWDOWN: "showdown",
            Kind.ALL_IN: "all-in: the cards to come decide",
        }[kind]

    def _moves(self, place: _Place, report: NodeReport | None) -> tuple[Move, ...]:
        if report is None:
            return ()
        spot, out = self.result.spot, []
        for k, child in enumerate(spot.betting.children(place.node)):
            weight = report.reach * report.weight * report.strategy[:, k]
            mean = _mean(report.value[:, k], weight)
            both = [mean, mean]
            both[1 - report.player] = self._others(place, child, report.player, mean)
            deals = spot.betting.street[child] > spot.betting.street[place.node]
            next_ = {} if deals else self._taken(child, place.board)
            share = float(report.frequency_by_matchup[k])
            code = report.actions[k]
            out.append(Move(code, word_of(code), share, tuple(both), next_))
        return tuple(out)

    def _others(self, place: _Place, child: int, player: int, mean: float) -> float:
        """Returns the mean value of who does not act, after an action that is worth `mean`."""
        spot, other = self.result.spot, 1 - player
        if spot.betting.kind[child] == Kind.DECISION:
            deals = bool(spot.betting.street[child] > spot.betting.street[place.node])
            value, weight = self._values(other, _Place(child, place.board, deals))
            return _mean(value, weight)
        spent, before = spot.betting.spent[child], spot.betting.spent[place.node]
        left = float(spent.sum()) - self._rake(child)
        return left - (mean + float(spent[player] - before[player]))

    def _deals(self, place: _Place) -> tuple[Move, ...]:
        spot = self.result.spot
        cards = self._cards(place)
        street = int(spot.betting.street[place.node])
        share = np.array([self._probability(place.node, street, b) for _, b in cards])
        share = share / max(share.sum(), 1e-300)
        weights = spot.streets[street].weight[[b for _, b in cards]]
        count = np.rint(weights / weights.min()).astype(int)
        out = []
        for k, (name, b) in enumerate(cards):
            both = tuple(_mean(*self._values(p, _Place(place.node, b, False))) for p in range(2))
            label = name if count[k] == 1 else f"{name} ×{count[k]}"
            out.append(Move(name, label, float(share[k]), both, self._taken(place.node, b)))
        return tuple(out)

    def _taken(self, node: int, board: int) -> dict[str, float]:
        """Returns how often each action is taken at a decision, by its label."""
        if self.result.spot.betting.kind[node] != Kind.DECISION:
            return {}
        report = self.result.reports.at(node, board)
        shares = report.frequency_by_matchup.tolist()
        return dict(zip(map(word_of, report.actions), shares, strict=True))

    def _probability(self, node: int, street: int, board: int) -> float:
        spot, reports = self.result.spot, self.result.reports
        outs = spot.streets[street]
        live = live_hands(spot.hands, [outs.boards[board]])[0]
        first, second = (self._reach(p, node, street, board) * live for p in range(2))
        return float(first @ reports.pairs @ second * outs.weight[board] / reports.scale)

    def _reach(self, player: int, node: int, street: int, board: int) -> np.ndarray:
        """Returns float [H], own reach at a node, on a board of its street or of the one before."""
        spot = self.result.spot
        if street < spot.betting.street[node]:  # the same on every board that follows
            after = spot.streets[street + 1]
            board = int(np.flatnonzero(after.parent == board)[0])
        return np.asarray(self.result.reports.reach(player, node, board), np.float64)

    def _values(self, player: int, place: _Place) -> tuple[np.ndarray, np.ndarray]:
        """Returns (expected chips from here on, weight), each float [H]; NaN where none come."""
        spot, reports = self.result.spot, self.result.reports
        street = int(spot.betting.street[place.node]) - place.deals
        outs = spot.streets[street]
        live = live_hands(spot.hands, [outs.boards[place.board]])[0]
        other = self._reach(1 - player, place.node, street, place.board) * live
        met = live * (reports.pairs @ other) * outs.weight[place.board]
        reach = self._reach(player, place.node, street, place.board)
        before = float(spot.betting.spent[place.node, player])
        if not place.deals and spot.betting.kind[place.node] != Kind.DECISION:
            return self._final(player, place, other), reach * met
        if place.deals:
            boards = [b for _, b in self._cards(place)]
            total = sum(self._counterfactual(player, place.node, b) for b in boards)
        else:
            total = self._counterfactual(player, place.node, place.board)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(met > 0, total * reports.scale / met + before, np.nan)
        return value, reach * met

    def _counterfactual(self, player: int, node: int, board: int) -> np.ndarray:
        """Returns float [H], the player's counterfactual values at a decision of either."""
        reports, betting = self.result.reports, self.result.spot.betting
        if betting.actor[node] == player:
            strategy, now, _ = reports.decision(node, board)
            return np.asarray((strategy * now).sum(0), np.float64)
        up = int(betting.parent[node])
        if up >= 0 and betting.actor[up] == player and betting.street[up] == betting.street[node]:
            return np.asarray(reports.value_before(player, node, board), np.float64)
        below = [self._counterfactual(player, c, board) for c in betting.children(node)]
        return np.asarray(np.sum(below, 0))

    def _final(self, player: int, place: _Place, other: np.ndarray) -> np.ndarray:
        """Returns float [H], chips that come back to each hand when the betting is over."""
        spot, node = self.result.spot, place.node
        spent = spot.betting.spent[node].astype(float)
        matched = spent.min()
        pot = 2 * matched - self._rake(node)
        if spot.betting.kind[node] == Kind.FOLDED:
            winner = 1 - int(spot.betting.actor[spot.betting.parent[node]])
            share = np.full(len(spot.hands), float(player == winner))
        else:
            share = self._equity(player, place)
        return np.where(other.any(), share * pot + spent[player] - matched, np.nan)

    def _rake(self, node: int) -> float:
        spot = self._spot
        cap = np.inf if spot.rake_cap is None else spot.rake_cap
        matched = self.result.spot.betting.spent[node].min()
        return float(Rake(spot.rake, cap).of(np.asarray(2.0 * matched)))

    def _equity(self, player: int, place: _Place) -> np.ndarray:
        """Returns float [H], against the range of the opponent."""
        spot = self.result.spot
        street = int(spot.betting.street[place.node]) - place.deals
        weights = np.zeros(NUM_HANDS)
        there = self._reach(1 - player, place.node, street, place.board)
        weights[spot.hands] = np.clip(there, 0, 1)
        cards = spot.streets[street].boards[place.board]
        return equity(weights, cards, hands=spot.hands)[spot.hands]

    def _held(self, place: _Place) -> np.ndarray:
        """Returns bool [H], the hands that are locked at a decision."""
        spot = self.result.spot
        held = np.zeros(len(spot.hands), bool)
        for one in spot.locked:
            node = spot.numbers.streets[one.street].node[one.player][one.row]
            if node == place.node and place.board in one.boards:
                held |= one.shares.sum(0) != 0
        return held

    def _privates(self, player: int, place: _Place, report: NodeReport | None) -> Privates:
        spot, size = self.result.spot, len(self.result.spot.hands)
        street = int(spot.betting.street[place.node]) - place.deals
        cards = spot.streets[street].boards[place.board]
        value, weight = self._values(player, place)
        share = self._equity(player, place)
        keep = np.flatnonzero(
            live_hands(spot.hands, [cards])[0] & (self._spot.ranges[player][spot.hands] > 0)
        )
        strategy = after = None
        held = np.zeros(size, bool)
        if report is not None and report.player == player:
            strategy, after = np.zeros((2, size, len(report.actions)))
            where = np.searchsorted(spot.hands, report.hands)
            strategy[where], after[where] = report.strategy, report.value
            held = self._held(place)
        reach = self._reach(player, place.node, street, place.board)
        return Privates(
            player=PLAYERS[player],
            acts=strategy is not None,
            names=tuple(hand_name(int(h)) for h in spot.hands[keep]),
            reach=reach[keep],
            weight=weight[keep] / max(weight.sum(), 1e-300),
            value=value[keep],
            equity=share[keep],
            strategy=None if strategy is None else strategy[keep],
            action_value=None if after is None else after[keep],
            locked=held[keep],
        )


def view_spot(result: SpotResult) -> SpotView:
    """Returns a solved spot for the viewer.

    Raises:
        ValueError: it is a whole game, from its first card on.
    """
    view = SpotView(result, result.spot)
    view._spot  # noqa: B018  # raises
    return view


def word_of(code: str) -> str:
    """Returns an action in words: "x" is "check", "b50" is "bet 50"."""
    return _WORDS.get(code) or f"{_LETTERS[code[0]]} {code[1:]}"


def _mean(values: np.ndarray, weight: np.ndarray) -> float:
    some = weight > 0
    if not some.any():
        return float("nan")
    return float(values[some] @ weight[some] / weight[some].sum())

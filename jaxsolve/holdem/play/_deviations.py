"""What an agent wins at a table of the blueprint that it searches from, by its deviations alone.

For policies p of the agent and b of the blueprint in one seat, all other seats playing b,

    J(p) - J(b) = E_p [ sum over the agent's decisions of sum over a of (p(a) - b(a)) Q(a) ],

where Q(a) is what the seat wins if it takes a and everybody plays b from there on (the performance
difference lemma). Over the rotations of a table the seats win J(b) = 0 together. So hands are
played as they are, and what counts is not their chips but the agent's deviations at its decisions,
which are nothing wherever it plays the blueprint.

Agents tell their policies of all hands, so all hidden cards are averaged: at a decision, hands of
all seats are drawn from what everybody's moves say of them (own reach; no two hands share a card),
the board is completed, and the blueprint plays on once after every action. The mean is that of the
chips, and luck is left in public moves and cards alone.

Example: a blueprint folds a hand that would win 30 chips more by a call. An agent that calls with
it half of the time scores +15 times the part of its range that this hand is, whether it called or
not.

Source: Kakade and Langford 2002, "Approximately optimal approximate reinforcement learning", lemma
6.1; Bowling, Johanson, Burch and Szafron 2008, "Strategy evaluation in extensive games with
importance sampling" (all hands that a player may hold).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._betting import no_limit
from jaxsolve.holdem._blueprint_game import deal_cards
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._hand_values import HandValues
from jaxsolve.holdem._menu_view import LEFT, MenuView
from jaxsolve.holdem.limited import LimitedHoldem
from jaxsolve.holdem.play._agent import Move, RangeAgent, RangePolicy, drawn, range_of
from jaxsolve.holdem.play._blueprint_agent import BlueprintAgent, MenuState
from jaxsolve.holdem.play._match import CARDS, VALUES, estimates, hand_keys
from jaxsolve.holdem.play._play import PlayedHand, play_hand
from jaxsolve.holdem.play._public_hand import PublicHand
from jaxsolve.holdem.play._street_moves import menu_node
from jaxsolve.mccfr import SeatTable, payoffs_at, play_to_ends

_SCORES = 0xDE71A7E
"""Keeps the draws of scores apart from those of the play."""


def deviation_match(
    agent: RangeAgent,
    blueprint: BlueprintAgent,
    *,
    deals: int = 100,
    skip: int = 0,
    seed: int = 0,
    samples: int = 1_024,
    values: HandValues | None = None,
    seconds: float | None = None,
) -> dict[str, np.ndarray]:
    """Returns what an agent wins at a table of a blueprint, any number of players, in each deal.

    Every deal is played with the agent in every seat. Cards and keys are those of `play_match`
    with the agent first, so that what is won at the table is the same.

    Args:
        agent: plays one seat, with bets of the blueprint's menu alone.
        blueprint: plays all others.
        deals: the number of the first deal that is not played.
        skip: the number of the first that is.
        seed: of cards, keys and scores.
        samples: hands that are drawn at each decision where the agent deviates.
        values: of AIVAT.
        seconds: that a decision may take.

    Returns:
        float64 [D] each, chips a hand, the mean over rotations: "deviations", as above;
        "duplicate", what was won at the table; with values "aivat".

    Raises:
        ValueError: there are no deals, or the agent makes a bet that the menu does not have.
    """
    if not 0 <= skip < deals or samples < 1:
        raise ValueError(f"deals {skip} to {deals - 1} or {samples} samples are none")
    menu = blueprint.game.menu
    n, rules = menu.players, no_limit(menu.players)
    cards = deal_cards(seed ^ CARDS, skip, deals - skip, 2 * n + 5)
    scored = _Scored(agent, blueprint, samples, seed)
    score = np.zeros(len(cards))
    rotations: list[list[PlayedHand]] = [[] for _ in range(n)]
    for k, row in enumerate(cards):
        for turn in range(n):
            # The agent of number 0 is in the seat that `play_match` gives it in this rotation.
            seat = -turn % n
            seats = [scored if s == seat else blueprint for s in range(n)]
            keys = hand_keys(seed, skip + k, n)
            played = play_hand(
                seats,
                rules,
                menu.stack,
                row.tolist(),
                number=(skip + k) * n + turn,
                keys=keys,
                seconds=seconds,
            )
            rotations[turn].append(played)
            score[k] += scored.total / n
    view = None if values is None else MenuView(values.game)
    found = estimates(rotations, cards, values, view, [seed, VALUES, skip])
    named = {"duplicate": found["plain"][:, 0]}
    if values is not None:
        named["aivat"] = found["chips"][:, 0]
    return {"deviations": score, **named}


class _State(NamedTuple):
    """States of the agent and of the blueprint in its seat."""

    agent: Any
    blueprint: MenuState


class _Scored:
    """Plays as an agent and adds up its deviations from a blueprint in `total`, chips of a hand."""

    def __init__(
        self, agent: RangeAgent, blueprint: BlueprintAgent, samples: int, seed: int
    ) -> None:
        self.agent, self.blueprint, self.samples, self.seed = agent, blueprint, samples, seed
        self.name, self.total, self.number = agent.name, 0.0, 0

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> _State:
        """See `HandAgent`."""
        self.total, self.number = 0.0, number
        how = {"number": number, "key": key}
        return _State(*(x.begin(hand, seat, **how) for x in (self.agent, self.blueprint)))

    def act(
        self,
        state: _State,
        hand: PublicHand,
        cards: Sequence[int],
        seconds: float | None = None,
    ) -> tuple[Move, _State]:
        """See `HandAgent`."""
        told, agent = self.agent.policy(state.agent, hand, seconds)
        base, menu = self.blueprint.policy(state.blueprint, hand)
        key = [self.seed, _SCORES, self.number, hand.num_moves]
        self.total += deviation(told, base, self.blueprint, hand, self.samples, key)
        move = drawn(told, hand, cards, menu.key)
        return move, _State(agent, menu)

    def end(self, state: _State, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """See `HandAgent`."""


def deviation(
    told: RangePolicy,
    base: RangePolicy,
    blueprint: BlueprintAgent,
    hand: PublicHand,
    samples: int,
    key: Sequence[int],
) -> float:
    """Returns chips that the seat that acts wins by one decision's deviation, see the module.

    Args:
        told: the policy at the decision, and the seat's reach.
        base: what the blueprint would do there.
        blueprint: plays all other seats, and goes on in this one.
        hand: at the decision; all bets so far are on the blueprint's menu.
        samples: hands that are drawn.
        key: of the draws.

    Raises:
        ValueError: a bet that the menu does not have.
    """
    if np.array_equal(told.totals, base.totals) and np.array_equal(told.policy, base.policy):
        return 0.0
    game, seat = blueprint.game, hand.actor
    tree, node = game.tree, menu_node(blueprint.view, hand)
    if node == LEFT or not (blueprint.view.spent[node] == hand.state.spent).all():
        raise ValueError(f"{hand!r} has bets that are not on the menu of {game!r}")
    first, count = int(tree.child[node]), int(tree.count[node])
    totals = tree.action[first : first + count]
    more = _aligned(told, totals) - _aligned(base, totals)
    ranges = np.stack(
        [told.reach if i == seat else range_of(blueprint, hand, i) for i in range(hand.num_players)]
    )
    number, rng = np.random.SeedSequence([*key]), np.random.default_rng([*key])
    drawn_by = int(number.generate_state(1, np.uint64)[0])
    held, bucket, outcome = _deals(blueprint, hand, ranges, samples, drawn_by)
    seats = [SeatTable(tree.rows(game.num_buckets), blueprint.sums)] * hand.num_players
    score = np.zeros(samples)
    for a in np.flatnonzero(more.any(0)):
        end = play_to_ends(tree, seats, bucket, rng, first + int(a))
        won = payoffs_at(game.payoffs, tree.end_number[end], outcome)[:, seat]
        score += more[held[:, seat], a] * won
    return float(score.mean())


def _aligned(told: RangePolicy, totals: np.ndarray) -> np.ndarray:
    """Returns float64 [1326, A], a policy on the menu's actions, int [A]."""
    out = np.zeros((NUM_HANDS, len(totals)))
    for column, total in enumerate(told.totals):
        at = np.flatnonzero(totals == total)
        if not len(at) and told.policy[:, column].any():
            raise ValueError(f"a bet to {total} is not on the menu, which has {totals.tolist()}")
        out[:, at] += told.policy[:, [column]]
    return out


def _deals(
    blueprint: BlueprintAgent, hand: PublicHand, ranges: np.ndarray, count: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns hands of all seats drawn by ranges float [n, 1326], and boards that go on.

    Returns:
        int64 [count, n], numbers of hands; uint16 [count, n, G], the blueprint's buckets from this
        street on; int32 [count, n], strengths.
    """
    game, street, every = blueprint.game, hand.street, np.arange(NUM_HANDS)
    tree: Any = game.tree  # nothing is searched
    source = LimitedHoldem(game.abstraction, tree, game.payoffs, street, hand.board, ranges, every)
    deals = source.deal(seed, 0, count)
    held = deals.bucket[:, :, street].astype(np.int64)
    bucket = deals.bucket.copy()
    bucket[:, :, street] = game.abstraction.bucket(hand.board)[held]
    return held, bucket, deals.outcome

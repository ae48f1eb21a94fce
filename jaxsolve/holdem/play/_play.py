"""One hand between agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._acpc import BOARD
from jaxsolve.holdem._betting import Betting
from jaxsolve.holdem._cards import NUM_CARDS
from jaxsolve.holdem.play._agent import HandAgent, Move
from jaxsolve.holdem.play._public_hand import PublicHand, new_hand, settle
from jaxsolve.types import CHANCE


class PlayedHand(NamedTuple):
    """A hand that is over (n seats).

    Attributes:
        hand: the moves and the board.
        hands: two cards of each seat.
        moves: what the agents said, in the order of their moves.
        chips: float64 [n], won.
    """

    hand: PublicHand
    hands: tuple[tuple[int, ...], ...]
    moves: tuple[Move, ...]
    chips: np.ndarray


class AgentError(ValueError):
    """An agent made a move that the rules do not allow, or said something else that is wrong."""


def play_hand(
    agents: Sequence[HandAgent],
    rules: Betting,
    stacks: Sequence[int] | int,
    cards: Sequence[int],
    *,
    number: int = 0,
    keys: Sequence[int],
    seconds: float | None = None,
) -> PlayedHand:
    """Returns a hand that agents have played, one in each seat.

    Args:
        agents: by seat.
        rules: of the betting.
        stacks: chips before the hand, of each seat or of all.
        cards: two for each seat, then the board: all that may be needed.
        number: of the hand.
        keys: of each seat, see `HandAgent.begin`.
        seconds: that a decision may take.

    Raises:
        AgentError: an agent made an illegal move; names it.
        ValueError: another number of agents than of seats, or too few cards.
    """
    n = rules.num_players
    if len(agents) != n:
        raise ValueError(f"{len(agents)} agents for a table of {n}; give one for each seat")
    if len(set(cards)) < len(cards) or len(cards) < 2 * n + sum(BOARD[: rules.num_streets - 1]):
        raise ValueError("a hand needs two cards for each seat and the board, all different")
    hands = tuple(tuple(map(int, cards[2 * i : 2 * i + 2])) for i in range(n))
    rest = [*map(int, cards[2 * n :])]
    hand = new_hand(rules, stacks)
    states: list[Any] = [
        agent.begin(hand, seat, number=number, key=keys[seat]) for seat, agent in enumerate(agents)
    ]
    moves: list[Move] = []
    while not hand.over:
        if (seat := hand.actor) == CHANCE:
            first = len(hand.board)
            hand = hand.deal(rest[first : first + BOARD[hand.street]])
            continue
        move, states[seat] = agents[seat].act(states[seat], hand, hands[seat], seconds)
        try:
            hand = hand.act(move.to)
        except ValueError as error:
            raise AgentError(f"{agents[seat].name}: {error}") from None
        moves.append(move)
    for seat, agent in enumerate(agents):
        agent.end(states[seat], hand, seen_by(hand, hands, seat))
    return PlayedHand(hand, hands, tuple(moves), settle(hand, hands))


def seen_by(
    hand: PublicHand, hands: Sequence[Sequence[int]], seat: int
) -> tuple[tuple[int, ...], ...]:
    """Returns the cards that a seat sees: its own, and at a showdown all that did not fold."""
    shown = ~hand.state.folded & hand.showdown
    return tuple(tuple(two) if i == seat or shown[i] else () for i, two in enumerate(hands))


def shuffled(key: Sequence[int], players: int) -> list[int]:
    """Returns the cards of a hand: two for each seat, then five of the board.

    Args:
        key: numbers of 0 or more; equal keys, equal cards.
        players: seats.
    """
    deck = np.random.default_rng([*key]).permutation(NUM_CARDS)
    return [int(card) for card in deck[: 2 * players + sum(BOARD)]]

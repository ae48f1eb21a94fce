"""What each seat wins when one agent plays in all of them."""

from __future__ import annotations

import numpy as np

from jaxsolve.holdem._betting import no_limit
from jaxsolve.holdem._blueprint_game import deal_cards
from jaxsolve.holdem._hand_values import HandValues
from jaxsolve.holdem._menu_view import MenuView
from jaxsolve.holdem.play._agent import HandAgent
from jaxsolve.holdem.play._match import corrected_chips, hand_keys
from jaxsolve.holdem.play._play import play_hand

_CARDS = 0x5E1F
"""Keeps the cards apart from those of matches."""


def self_play(
    agent: HandAgent,
    players: int,
    stack: int,
    *,
    hands: int = 100,
    skip: int = 0,
    seed: int = 0,
    values: HandValues | None = None,
    seconds: float | None = None,
) -> np.ndarray:
    """Returns float64 [2, H, n], chips that the seats win by AIVAT and at the table.

    Seat 0 is the small blind and, with more than two players, the last seat the button. Without
    values both are what was won at the table.

    Args:
        agent: in all seats.
        players: n.
        stack: chips before each hand.
        hands: the number of the first hand that is not played.
        skip: the number of the first that is.
        seed: of cards and choices.
        values: of AIVAT, of this stack.
        seconds: that a decision may take.

    Raises:
        ValueError: there are no hands, or the agent cannot play this game.
        AgentError: an illegal move.
    """
    if not 0 <= skip < hands:
        raise ValueError(f"hands {skip} to {hands - 1} are none")
    rules = no_limit(players)
    cards = deal_cards(seed ^ _CARDS, skip, hands - skip, 2 * players + 5)
    played = [
        play_hand(
            [agent] * players,
            rules,
            stack,
            row.tolist(),
            number=skip + k,
            keys=hand_keys(seed, skip + k, players),
            seconds=seconds,
        )
        for k, row in enumerate(cards)
    ]
    plain = np.stack([one.chips for one in played])
    if values is None:
        return np.stack([plain, plain])
    rng = np.random.default_rng([seed, _CARDS, skip])
    return np.stack([corrected_chips(played, cards, values, MenuView(values.game), rng), plain])

"""What deviations from a blueprint win: nothing, exactly on a river, and the mean of the chips."""

from __future__ import annotations

import numpy as np
import pytest
from hand_agents import POT, STACK, blueprint, game

from jaxsolve import holdem
from jaxsolve.holdem import play
from jaxsolve.holdem._boards import compatible_reach
from jaxsolve.holdem.play._deviations import deviation
from jaxsolve.holdem.play._range_play import _Walk
from jaxsolve.holdem.play._street_ends import dealt


def other(players: int) -> play.BlueprintAgent:
    """Another strategy of the same menu."""
    here = game(POT, players=players)
    sums = np.random.default_rng(5).exponential(size=len(holdem.uniform_sums(here)))
    return play.BlueprintAgent(here, (sums**3).astype(np.float32), name="other")


class Once:
    """Plays one agent at a public hand and another one everywhere else."""

    def __init__(
        self, here: play.BlueprintAgent, agent: play.BlueprintAgent, at: play.PublicHand
    ) -> None:
        self.here, self.agent, self.at, self.name = here, agent, at, "once"

    def begin(self, hand, seat, *, number, key):
        return tuple(x.begin(hand, seat, number=number, key=key) for x in (self.here, self.agent))

    def policy(self, state, hand, seconds=None):
        both = [x.policy(s, hand) for x, s in zip((self.here, self.agent), state, strict=True)]
        told = both[0 if hand == self.at else 1][0]
        return told, tuple(s for _, s in both)


def test_a_blueprint_deviates_nowhere() -> None:
    agent = blueprint(players=3)
    found = play.deviation_match(agent, agent, deals=4)
    assert set(found) == {"deviations", "duplicate"}
    assert not found["deviations"].any()
    assert not found["duplicate"].any()


def test_chips_are_those_of_the_match() -> None:
    agent, base = other(3), blueprint(players=3)
    found = play.deviation_match(agent, base, deals=6, skip=2, seed=3, samples=8)
    match = play.play_match([agent, base, base], STACK, hands=18, seed=3)
    np.testing.assert_array_equal(found["duplicate"], match.plain[2:, 0])
    again = play.deviation_match(agent, base, deals=4, skip=2, seed=3, samples=8)
    np.testing.assert_array_equal(again["deviations"], found["deviations"][:2])


def test_a_decision_on_the_river_is_exact() -> None:
    """Against a walk over all pairs of hands, which plays the deviation there and nowhere else."""
    agent, base = other(2), blueprint()
    board = np.array(holdem.parse_cards("Td9d6hQc2s"))
    hand = first = play.new_hand(holdem.no_limit(), STACK)
    for _ in range(3):
        hand = hand.act(hand.can.call)
        hand = dealt(hand.act(hand.can.call), board)
    seat = hand.actor
    states = [x.begin(first, seat, number=0, key=0) for x in (agent, base)]
    told, known = (x.policy(s, hand)[0] for x, s in zip((agent, base), states, strict=True))
    told = told._replace(reach=play.range_of(base, hand, seat))
    reach = [play.range_of(base, hand, i).astype(np.float32) for i in range(2)]

    def worth(player: object) -> float:
        seats = [player if i == seat else base for i in range(2)]
        walk = _Walk(seats, board, None)
        walk.play(hand, [x.begin(first, i, number=0, key=0) for i, x in enumerate(seats)], reach)
        return walk.total * (1 if seat == 0 else -1) / float(reach[0] @ compatible_reach(reach[1]))

    exact = worth(Once(agent, base, hand)) - worth(base)
    found = [deviation(told, known, base, hand, 20_000, [k]) for k in range(20)]
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(exact) > 10 * error
    assert abs(np.mean(found) - exact) < 4 * error


@pytest.mark.slow
def test_three_players_win_by_deviations_what_they_win_in_chips() -> None:
    """Against many hands at the table; four standard errors of both."""
    agent, base = other(3), blueprint(players=3)
    found = play.deviation_match(agent, base, deals=100, samples=64)
    mean = found["deviations"].mean()
    error = found["deviations"].std(ddof=1) / 10
    tables = [(agent.game, agent.sums), *[(base.game, base.sums)] * 2]
    many = holdem.hand_match(tables, hands=120_000)
    wide = np.hypot(10 * error, many.standard_error)
    assert abs(10 * mean - many.mbb) < 4 * wide
    assert error < found["duplicate"].std(ddof=1) / 10


def test_bets_off_the_menu_are_refused() -> None:
    base = blueprint(players=3)
    with pytest.raises(ValueError, match="not on the menu"):
        play.deviation_match(play.RandomAgent(), base, deals=8, samples=8)

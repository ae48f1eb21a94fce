"""An agent that searches turn and river: against solutions of the same spots, and at the table."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from few import few
from hand_agents import OTHER, STACK, blueprint, hands_of

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import play
from jaxsolve.holdem._boards import hands_fit

RIVER = {"river": {"bet": ["50%", "a"], "raise": ["a"]}}
BOARD = holdem.parse_cards("Td9d6hQc2s")


@functools.cache
def agent() -> play.SearchAgent:
    """Searches the river only, so that spots are small."""
    return play.SearchAgent(blueprint(), menu=RIVER, first=3, iterations={3: 60})


def at_river(*moves: int) -> play.PublicHand:
    """Returns a hand that was limped and checked, after moves on the river (totals)."""
    hand = play.new_hand(holdem.no_limit(), STACK)
    for street in range(3):
        hand = hand.act(hand.can.call).act(hand.can.call)
        cards = BOARD[: 3 if street == 0 else 3 + street]
        hand = hand.deal(cards[len(hand.board) :])
    for to in moves:
        hand = hand.act(to)
    return hand


def asked(seat: int, hand: play.PublicHand) -> tuple[play.RangePolicy, object]:
    """Returns what the agent in a seat tells, asked at each of its decisions on the way."""
    first, *rest = hand.path()
    state = agent().begin(first, seat, number=0, key=1)
    for here in [x for x in [first, *rest[:-1]] if x.actor == seat]:
        _, state = agent().policy(state, here)
    return agent().policy(state, hand)


def test_the_river_is_played_as_its_spot_is_solved():
    """Ranges of the blueprint on both sides; totals are those of the whole hand."""
    hand = at_river()
    told, _ = asked(0, hand)
    ranges = [play.range_of(blueprint(), hand, seat) for seat in range(2)]
    spot = holdem.Spot(
        board=BOARD,
        pot=200,
        stack=(STACK - 100, STACK - 100),
        ranges=tuple(x / x.max() for x in ranges),
        sizes=holdem.parse_sizes(RIVER, streets=("river",)),
        raise_cap=2,
    )
    exact = holdem.solve(spot, iterations=60, progress=False).node("")
    assert told.totals.tolist() == [100, 200, STACK]
    np.testing.assert_allclose(told.policy[exact.hands], exact.strategy, atol=1e-6)
    np.testing.assert_allclose(told.reach, ranges[0], rtol=1e-9)
    live = told.policy.sum(1)
    np.testing.assert_allclose(live[live > 0], 1)
    assert (live > 0).sum() == 1081


def test_a_bet_that_is_not_on_the_menu_is_answered_and_remembered():
    told, state = asked(1, at_river(237))
    assert {-1, 237} < set(told.totals.tolist())
    assert told.totals[-1] == STACK
    tree = state.street.solved.result.spot.betting
    assert 237 in tree.action.tolist()
    # The same bet again, after a search that did not hold it: the search is made anew.
    first, state = asked(0, at_river())
    raised = at_river(200, 777)
    again, after = agent().policy(state, raised)
    assert again.totals.tolist() == [-1, 777, STACK]
    np.testing.assert_allclose(again.reach, first.reach * first.policy[:, 1])
    assert after.street.hand == state.street.hand
    assert 777 not in state.street.solved.result.spot.betting.action.tolist()
    assert 777 in after.street.solved.result.spot.betting.action.tolist()


def test_ranges_of_the_next_street_are_those_of_the_last_search():
    """With the turn searched, what both did there is in the ranges of the river."""
    both = play.SearchAgent(
        blueprint(),
        menu={"bet": ["a"], "raise": ["a"]},
        iterations={2: 3, 3: 3},
    )
    hand = play.new_hand(holdem.no_limit(), STACK)
    for street in range(2):
        hand = hand.act(hand.can.call).act(hand.can.call)
        hand = hand.deal(BOARD[: 3 + street][len(hand.board) :])
    first, *rest = hand.path()
    state = both.begin(first, 1, number=0, key=1)
    for here in [x for x in [first, *rest] if x.actor == 1]:
        _, state = both.policy(state, here)
    turn = hand.act(hand.can.call)
    mine, state = both.policy(state, turn)
    theirs = state.street.solved.result.node("")
    river = turn.act(turn.can.call).deal(BOARD[4:])
    checked = river.act(river.can.call)
    told, after = both.policy(state, checked)
    live = np.where(holdem.possible(BOARD), 1.0, 0.0)
    want = np.zeros(1326)
    want[theirs.hands] = theirs.strategy[:, 0]
    want = want * state.street.ranges[0] * live
    np.testing.assert_allclose(after.street.ranges[0], want / want.max(), rtol=1e-6)
    own = mine.reach * mine.policy[:, 0] * live
    np.testing.assert_allclose(told.reach, own, rtol=1e-9)
    np.testing.assert_allclose(after.street.ranges[1], own / own.max(), rtol=1e-6)


def test_it_plays_whole_hands_and_is_a_function_of_the_history():
    """Against bets of any size; every move is legal, and equal keys play alike."""
    assert isinstance(agent(), play.RangeAgent)
    seats = (agent(), blueprint(OTHER))
    one = hands_of(*seats, count=16)
    assert sum(len(x.hand.betting) == 4 and x.hand.betting[3] != () for x in one) >= 2
    other = hands_of(*seats, count=16)
    assert [x.hand.betting for x in one] == [x.hand.betting for x in other]


def test_what_it_cannot_play_is_refused():
    with pytest.raises(ValueError, match="street 0, 1, 2 or 3, not 4"):
        play.SearchAgent(blueprint(), first=4)
    with pytest.raises(ValueError, match=r"no menu|sizes"):
        play.SearchAgent(blueprint(), menu=RIVER, first=2)


@pytest.mark.slow
def test_three_players_search_every_street():
    """Whole hands, any bets; equal keys play alike, and policies are distributions."""
    three = play.SearchAgent(
        blueprint(players=3), first=0, passes=dict.fromkeys(range(4), 60), name="three"
    )
    seats = (three, play.RandomAgent(), play.AlwaysCall())
    one, other = (hands_of(*seats, count=12) for _ in range(2))
    assert [x.hand.betting for x in one] == [x.hand.betting for x in other]
    assert any(len(x.hand.betting) == 4 and x.hand.betting[3] for x in one)
    assert all(abs(sum(x.chips)) == 0 for x in one)


def streets_of(seat: int, hand: play.PublicHand, **options: Any) -> list[Any]:
    """Returns the streets that an agent has searched on the way to a hand, all of them."""
    both = play.SearchAgent(blueprint(), menu={"bet": ["100%"], "raise": ["a"]}, **options)
    first, *rest = hand.path()
    state, found = both.begin(first, seat, number=0, key=1), {}
    for here in [x for x in [first, *rest] if x.actor == seat]:
        _, state = both.policy(state, here)
        if state.street is not None:
            found[state.street.hand.board] = state.street
    return list(found.values())


def dealt(streets: int, *moves: int) -> play.PublicHand:
    """Returns a hand that was limped and checked to some street, after further moves."""
    hand = play.new_hand(holdem.no_limit(), STACK)
    for _ in range(streets):
        while hand.actor >= 0:
            hand = hand.act(hand.can.call)
        hand = hand.deal(BOARD[len(hand.board) : 3 + len(hand.betting) - 1])
    for to in moves:
        hand = hand.act(to)
    return hand


@pytest.mark.parametrize("seat", few([0, 1], (1).__eq__))
def test_a_river_after_a_searched_turn_is_safe(seat: int):
    """No hand of the opponent wins more than the turn's solution left it and it gave up."""
    turn = dealt(2, 100, 300, 300)  # the first player checks, and calls a bet of the pot
    river = turn.deal(BOARD[4:])
    hand = river if seat == 0 else river.act(river.can.call)
    lost = {}
    for root in ("unsafe", "resolve", "reach"):
        steps = {2: 200, 3: 2000}
        before, after = streets_of(seat, hand, first=2, iterations=steps, root=root)
        values = before.solved.promised([100, 300, 300], river, after.ranges, 1 - seat, True)
        found = after.solved.result
        best = holdem.alternative_values(found.reports, 1 - seat)
        more = np.nan_to_num(best - values) * (after.ranges[1 - seat] > 0)
        lost[root] = more.max()
        assert (after.promised is None) == (root == "unsafe")
    assert lost["reach"] < 1.0 < 5.0 < lost["unsafe"]  # chips, of a pot of 600
    assert lost["resolve"] < 1.0


def test_what_a_searched_flop_promises_adds_up_to_the_pot():
    """With one continuation both play the blueprint from the turn on."""
    flop = dealt(1)
    hand = flop.act(flop.can.call)
    hand = hand.act(hand.can.call).deal(BOARD[3:4])
    one = mccfr.bias(5, 1)
    won, ranges = 0.0, np.random.default_rng(0).random((2, 1326))
    for seat in range(2):
        asked = flop if seat == 0 else flop.act(flop.can.call)
        (street,) = streets_of(seat, asked, first=1, passes={1: 2}, continuations=one)
        value = street.solved.promised([100, 100], hand, ranges, 1 - seat, True)
        both = np.where(holdem.possible(hand.board), ranges, 0.0)
        weight = both[1 - seat] * (hands_fit() @ both[seat])
        won += float((weight * np.nan_to_num(value)).sum() / weight.sum())
    assert won == pytest.approx(200, rel=1e-5)


def test_what_was_told_stays_when_the_street_is_searched_anew():
    """Three players; the first checks, and the second bets what is not on the menu."""
    three = play.SearchAgent(blueprint(players=3), first=1, passes={1: 3000})
    hand = play.new_hand(holdem.no_limit(3), STACK)
    while hand.actor >= 0:
        hand = hand.act(hand.can.call)
    flop = hand.deal(BOARD[:3])
    state = three.begin(next(iter(flop.path())), flop.actor, number=0, key=1)
    first, state = three.policy(state, flop)
    bet = flop.act(flop.can.call).act(237)
    again = bet.act(bet.can.call)
    assert again.actor == flop.actor
    _, state = three.policy(state, again)
    solved = state.street.solved
    totals, policy = solved.told(0)
    policy = policy[:, np.isin(totals, first.totals)]
    live = (first.policy > 0).any(1) & holdem.possible(flop.board)
    np.testing.assert_allclose(policy[live], first.policy[live], atol=1e-5)
    assert state.street.own[0][1] is first


def test_a_street_is_searched_again_at_each_decision_if_asked():
    """What was told stays; without the option the first search is followed."""
    for again in (False, True):
        three = play.SearchAgent(
            blueprint(players=3), first=1, passes={1: 3000}, every_decision=again
        )
        hand = play.new_hand(holdem.no_limit(3), STACK)
        while hand.actor >= 0:
            hand = hand.act(hand.can.call)
        flop = hand.deal(BOARD[:3])
        state = three.begin(next(iter(flop.path())), flop.actor, number=0, key=1)
        first, state = three.policy(state, flop)
        solved = state.street.solved
        bet = flop.act(flop.can.call).act(STACK)
        told, state = three.policy(state, bet.act(holdem.FOLD))
        assert (state.street.solved is solved) != again
        totals, policy = state.street.solved.told(0, final=True)
        live = (first.policy > 0).any(1) & holdem.possible(flop.board)
        np.testing.assert_allclose(policy[live], first.policy[live], atol=1e-5)
        assert totals.tolist() == first.totals.tolist()
        assert told.totals.tolist() == [holdem.FOLD, STACK]


def test_two_of_three_players_play_the_river_to_the_end():
    """Chips of the player who folded are in the pot; totals are those of the whole hand."""
    three = play.SearchAgent(
        blueprint(players=3), menu=RIVER, first=3, iterations={3: 60}, passes={2: 10}
    )
    hand = play.new_hand(holdem.no_limit(3), STACK)
    while hand.actor >= 0:
        hand = hand.act(hand.can.call)
    hand = hand.deal(BOARD[:3]).act(400).act(holdem.FOLD).act(400)
    hand = hand.deal(BOARD[3:4]).act(400).act(400).deal(BOARD[4:])
    first = next(iter(hand.path()))
    ranges = np.stack([play.range_of(three.blueprint, hand, seat) for seat in (0, 2)])
    ranges /= ranges.max(1, keepdims=True)
    spot = holdem.Spot(
        board=BOARD,
        pot=900,
        stack=(STACK - 400, STACK - 400),
        ranges=(ranges[0], ranges[1]),
        sizes=holdem.parse_sizes(RIVER, streets=("river",)),
        raise_cap=2,
    )
    exact = holdem.solve(spot, iterations=60, progress=False)
    told, state = three.policy(three.begin(first, 0, number=0, key=1), hand)
    assert told.totals.tolist() == [400, 850, STACK]
    report = exact.node("")
    np.testing.assert_allclose(told.policy[report.hands], report.strategy, atol=1e-6)
    bet = hand.act(537)
    told, state = three.policy(three.begin(first, 2, number=0, key=1), bet)
    assert told.totals.tolist() == [-1, 537, STACK]
    assert state.street.solved.dead == 50

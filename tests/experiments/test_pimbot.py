"""PimBot: its parts on small cases by hand, and searches that find what there is to find."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
from experiments.sog_scotland_yard._pimbot import PimBot, pimbot, search
from experiments.sog_scotland_yard._pimbot_parts import (
    WEIGHTS,
    board_of,
    categories,
    filtered,
    moves_of,
    possible_after,
    rewards,
    start_possible,
    station_odds,
)
from jaxsolve import agents, evaluate

LONDON: Any = games.load("scotland_yard(board=london)")
TAXI, BUS, UNDERGROUND, BLACK = range(4)


def stations(*numbers: int) -> np.ndarray:
    """Numbers of the board as bool [S]."""
    return np.isin(np.arange(1, 200), numbers)


def state_with(evader: int, detectives: tuple[int, ...], **fields: Any) -> Any:
    state = LONDON.step(LONDON.init(), jnp.int32(34))
    at = jnp.asarray([evader, *detectives], jnp.int16) - 1
    return state._replace(stations=at, **{k: jnp.int8(v) for k, v in fields.items()})


def shown(ticket: int, place: int = 0) -> jnp.ndarray:
    return jnp.asarray([ticket, place - 1, -1])


@pytest.mark.slow
def test_possible_stations_follow_the_tickets():
    board = board_of(LONDON)
    far = (1, 2, 3, 4, 5)
    state = state_with(86, far)
    np.testing.assert_array_equal(
        start_possible(LONDON), stations(35, 45, 51, 71, 78, 104, 106, 127, 132, 146, 166, 170, 172)
    )
    one = jnp.asarray(stations(86))
    after = possible_after(board, one, state, shown(BLACK))
    np.testing.assert_array_equal(after, stations(52, 69, 87, 102, 103, 104, 116))
    after = possible_after(board, one, state, shown(TAXI))
    np.testing.assert_array_equal(after, stations(69, 103, 104))
    # A detective's station is taken; black goes by ferry, too; a double move moves nobody.
    after = possible_after(board, one, state_with(86, (103, 2, 3, 4, 5)), shown(TAXI))
    np.testing.assert_array_equal(after, stations(69, 104))
    ferry = possible_after(board, jnp.asarray(stations(194)), state, shown(BLACK))
    assert bool(ferry[157 - 1])
    np.testing.assert_array_equal(possible_after(board, one, state, jnp.array([5, -1, -1])), one)
    # He shows himself; a detective's move removes one station.
    np.testing.assert_array_equal(
        possible_after(board, one, state, shown(TAXI, 104)), stations(104)
    )
    both, moved = jnp.asarray(stations(86, 104)), state._replace(turn=jnp.int8(2))
    np.testing.assert_array_equal(possible_after(board, both, moved, shown(TAXI, 104)), one)


def test_stations_are_drawn_by_category():
    board = board_of(LONDON)
    at = jnp.asarray([103, 1, 1, 1, 1]) - 1
    groups = np.asarray(categories(board, at))
    assert groups[86 - 1] == 0
    assert groups[69 - 1] == 1
    assert groups.max() == 4
    few = jnp.asarray(stations(86, 69, 199))
    odds = np.asarray(station_odds(board, few, at, by_station=False))
    want = np.array([WEIGHTS[0], WEIGHTS[1], WEIGHTS[4]])
    np.testing.assert_allclose(odds[[85, 68, 198]], want / want.sum(), rtol=1e-5)
    # Two stations of one category share its weight, or have it each.
    two = jnp.asarray(stations(86, 102, 69))
    assert groups[102 - 1] == 0
    shared = np.asarray(station_odds(board, two, at, by_station=False))
    each = np.asarray(station_odds(board, two, at, by_station=True))
    assert shared[85] == pytest.approx(WEIGHTS[0] / 2 / (WEIGHTS[0] + WEIGHTS[1]), rel=1e-5)
    assert each[85] == pytest.approx(WEIGHTS[0] / (2 * WEIGHTS[0] + WEIGHTS[1]), rel=1e-5)
    assert shared.sum() == pytest.approx(1)
    assert each.sum() == pytest.approx(1)


def test_rewards_of_the_coalition():
    caught = state_with(86, (86, 2, 3, 4, 5), result=1, mover=1)
    np.testing.assert_allclose(rewards(LONDON, caught), [0, 1, 0.75, 0.75, 0.75, 0.75])
    stuck = state_with(86, (103, 2, 3, 4, 5), result=2, mover=5)
    np.testing.assert_allclose(rewards(LONDON, stuck), [0, 1, 1, 1, 1, 1])
    free = state_with(86, (103, 2, 3, 4, 5), result=3, mover=5)
    np.testing.assert_allclose(rewards(LONDON, free), [1, 0, 0, 0, 0, 0])


@pytest.mark.slow
def test_moves_that_mr_x_considers():
    board = board_of(LONDON)

    def kept(state: Any, possible: np.ndarray) -> tuple[set[int], set[int]]:
        moves = moves_of(LONDON, board, state)
        keep = filtered(LONDON, board, state, moves, jnp.asarray(possible))
        action = np.asarray(moves.action)
        return set(action[np.asarray(moves.legal)]), set(action[np.asarray(keep)])

    def tickets(actions: set[int]) -> set[int]:
        return {a // 199 for a in actions if a < 4 * 199}

    far = (1, 2, 3, 4, 5)
    many = stations(86, 104)
    # The moves by slots are those of the rules.
    state = state_with(86, far, moves=4)
    legal, keep = kept(state, many)
    assert legal == set(np.flatnonzero(LONDON.legal(state)))
    assert tickets(keep) == {TAXI, BUS, BLACK}
    assert 4 * 199 + 1 in legal
    assert 4 * 199 + 1 not in keep
    for moves in (0, 1, 2, 7):  # the first two rounds; before moves 3 and 8
        assert BLACK not in tickets(kept(state_with(86, far, moves=moves), many)[1])
    # Only taxis could be meant: 104 has nothing else.
    assert BLACK not in tickets(kept(state_with(104, far, moves=4), stations(104))[1])
    assert BLACK in tickets(kept(state_with(104, far, moves=4), many)[1])
    # Detectives can arrive at 86's neighbours 52, 69, 87, 102, 103, 104 and 116: a double move.
    near = (86, 51, 53, 88, 103)
    state = state_with(104, (103, 116, 85, 87, 69), moves=4)
    assert 4 * 199 + 1 in kept(state, many)[1]
    assert near
    # Nothing is left but black tickets in the first round: all of them stay.
    only = state_with(86, far, moves=0)
    only = only._replace(tickets=only.tickets.at[0].set(jnp.array([0, 0, 0, 3], jnp.int16)))
    legal, keep = kept(only, many)
    assert tickets(keep) == {BLACK}
    assert {a for a in legal if a < 796} == {a for a in keep if a < 796}


CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,4],[4,5],[3,5]],evader=[1],detectives=[3],rounds=2)"


@pytest.mark.slow
def test_detectives_catch_who_is_next_to_them():
    """Mr X is at 2 or gone; he is drawn there, and the capture is the most visited move."""
    game: Any = games.load(CHASE)
    state = game.step(game.init(), jnp.int32(1))  # to 2, beside the detective at 3
    possible = jnp.zeros(5, bool).at[1].set(True)
    run = jax.jit(lambda key: search(game, PimBot(60), state, possible, jnp.int32(1), key))
    visits = np.asarray(run(jax.random.key(0)))
    assert visits.argmax() == 1
    assert visits.sum() == 60


@pytest.mark.slow
def test_matches_on_glasses():
    """As evader and as detectives together, better than who plays at random."""
    game: Any = games.load("scotland_yard")
    arena = evaluate.rules_arena(game, max_moves=40)
    bot = pimbot(game, PimBot(30))
    match = evaluate.play_matches(
        arena, [bot, agents.uniform()], 200, jax.random.key(0), keep_policies=False
    )
    found = evaluate.score(match)
    assert found.interval[0] > 0


def test_bad_input():
    with pytest.raises(ValueError, match="iterations=0 must be"):
        PimBot(0)

"""Betting rules: examples of the rule books, and properties that hold of every hand.

`test_betting_oracles.py` compares with OpenSpiel and pokerkit move by move.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

from jaxsolve import holdem
from jaxsolve.holdem import BetState, Betting
from jaxsolve.holdem._sizes import Size, totals
from jaxsolve.types import CHANCE, TERMINAL

act = jax.jit(holdem.act, static_argnums=0)
deal = jax.jit(holdem.next_street, static_argnums=0)
start = jax.jit(holdem.start, static_argnums=0)
start_at = jax.jit(holdem.start_at, static_argnums=0)
payoffs = jax.jit(holdem.payoffs, static_argnums=0, static_argnames="whole_chips")
raise_to = jax.jit(holdem.raise_to, static_argnums=(0, 2))
_options = jax.jit(holdem.options, static_argnums=0)

FLHE = Betting(2, (10, 5), (1, 0, 0, 0), limit=(10, 10, 20, 20), max_raises=(3, 4, 4, 4))


def options(rules: Betting, state: BetState) -> tuple[bool, bool, tuple[int, int] | None]:
    """Returns whether the actor may fold, may call, and the raises as (low, high) or None."""
    fold, call, low, high = jax.tree.map(int, _options(rules, state))
    return bool(fold), bool(call), (low, high) if low <= high else None


def play(rules: Betting, stacks: int | Sequence[int], moves: str) -> BetState:
    """Returns the state after moves "c300 f / ..."; "/" deals, "c" calls, "r300" raises to 300."""
    state = start(rules, jnp.asarray(stacks))
    for move in moves.split():
        if move == "/":
            assert state.actor == CHANCE, f"no cards to deal before {move} in {moves}"
            state = deal(rules, state)
            continue
        fold, call, raises = options(rules, state)
        if move == "f":
            assert fold, moves
            state = act(rules, state, holdem.FOLD)
        elif move == "c":
            assert call, moves
            state = act(rules, state, holdem.call_to(state))
        else:
            to = int(move[1:])
            assert raises is not None, f"{move} in {moves}"
            assert raises[0] <= to <= raises[1], f"{move} is not within {raises} in {moves}"
            state = act(rules, state, to)
    return state


def test_heads_up_no_limit_by_the_letter_of_the_protocol():
    rules = holdem.HUNL
    state = play(rules, 20_000, "")
    assert state.actor == 1
    assert options(rules, state) == (True, True, (200, 20_000))
    state = play(rules, 20_000, "c")
    assert state.actor == 0
    assert options(rules, state) == (False, True, (200, 20_000))
    assert options(rules, play(rules, 20_000, "r300")) == (True, True, (500, 20_000))
    assert options(rules, play(rules, 20_000, "r300 r900")) == (True, True, (1500, 20_000))
    state = play(rules, 20_000, "r300 c /")
    assert (int(state.actor), int(state.street)) == (0, 1)
    assert options(rules, state) == (False, True, (400, 20_000))  # committed and a big blind
    assert options(rules, play(rules, 20_000, "r300 c / r400")) == (True, True, (500, 20_000))
    # A short all-in is always allowed, and nobody may raise a player who is all-in.
    assert options(rules, play(rules, 350, "r250")) == (True, True, (350, 350))
    assert options(rules, play(rules, 350, "r350")) == (True, True, None)
    assert options(rules, play(rules, 150, "")) == (True, True, (150, 150))
    # After an all-in call the remaining board is dealt.
    state = play(rules, 350, "r350 c / / /")
    assert state.actor == TERMINAL
    np.testing.assert_array_equal(payoffs(rules, state, jnp.array([1, 2])), [-350, 350])
    assert play(holdem.NLFH, 350, "r350 c /").actor == TERMINAL


def test_nobody_can_do_anything_at_chance_and_at_the_end():
    for moves in ("c c", "f", "c c / c c / c c / c c"):
        assert options(holdem.HUNL, play(holdem.HUNL, 20_000, moves)) == (False, False, None)


def test_fixed_limit_heads_up():
    assert options(FLHE, play(FLHE, 1000, "")) == (True, True, (20, 20))
    assert options(FLHE, play(FLHE, 1000, "r20 r30")) == (True, True, (40, 40))
    assert options(FLHE, play(FLHE, 1000, "r20 r30 r40")) == (True, True, None)
    assert options(FLHE, play(FLHE, 1000, "c c / c")) == (False, True, (20, 20))
    assert options(FLHE, play(FLHE, 1000, "c c / r20 r30 r40 r50")) == (True, True, None)
    assert options(FLHE, play(FLHE, 1000, "c c / c c / ")) == (False, True, (30, 30))


def test_order_of_play_at_a_full_table():
    rules = holdem.six_max()
    state = play(rules, 10_000, "")
    seats = []
    while state.actor >= 0:
        seats.append(int(state.actor))
        state = act(rules, state, holdem.call_to(state))
    assert seats == [2, 3, 4, 5, 0, 1]
    # Seats 0 and 3 are out: seat 1 opens, and after a raise everybody is asked again.
    state = play(rules, 10_000, "c f c c f c /")
    assert int(state.actor) == 1
    seats = []
    for to in (100, 300, 300, 300, 300):
        seats.append(int(state.actor))
        state = act(rules, state, to)
    assert seats == [1, 2, 4, 5, 1]
    assert state.actor == CHANCE


def test_everybody_folds_to_the_big_blind():
    state = play(holdem.six_max(), 10_000, "f f f f f")
    assert state.actor == TERMINAL
    won = payoffs(holdem.six_max(), state, jnp.zeros(6, jnp.int32))
    np.testing.assert_array_equal(won, [-50, 50, 0, 0, 0, 0])


def test_short_all_ins_that_add_up_to_a_full_raise_reopen_the_betting():
    """TDA, addendum to rule 47, example 1: a bet of 100, all-ins to 125 and 200, calls."""
    rules = Betting(5, (50, 100, 0, 0, 0), (2, 0, 0, 0))
    stacks = [10_000, 225, 10_000, 300, 10_000]  # 100 of which go in before the flop
    before = "c c c c c / "
    state = play(rules, stacks, before + "r200 r225 c r300 c")
    assert int(state.actor) == 0  # faces a raise of 100
    assert options(rules, state) == (True, True, (400, 10_000))
    state = play(rules, stacks, before + "r200 r225 c r300 c c")
    assert int(state.actor) == 2  # has called 125 and faces 75
    assert options(rules, state) == (True, True, None)
    state = play(rules, stacks, before + "r200 r225 c c c")
    assert int(state.actor) == 0  # faces 25
    assert options(rules, state) == (True, True, None)


def test_a_short_all_in_does_not_reopen_the_betting_for_who_has_acted():
    """TDA, addendum to rule 47, example 2: blinds 2000-4000, a call, an all-in to 7500."""
    rules = Betting(5, (2000, 4000, 0, 0, 0), (2, 0, 0, 0))
    stacks = [90_000, 90_000, 90_000, 90_000, 7500]
    state = play(rules, stacks, "c f r7500 f")
    assert int(state.actor) == 1  # the big blind has not acted: at least 4000 more
    assert options(rules, state) == (True, True, (11_500, 90_000))
    state = play(rules, stacks, "c f r7500 f c")
    assert int(state.actor) == 2
    assert options(rules, state) == (True, True, None)
    state = play(rules, stacks, "c f r7500 f r11500")
    assert options(rules, state) == (True, True, (15_500, 90_000))


def test_a_short_all_in_bet_leaves_the_least_raise_as_it_was():
    rules = holdem.no_limit(3)
    state = play(rules, [1000, 140, 1000], "c c c / c r140")
    assert int(state.actor) == 2
    assert options(rules, state) == (True, True, (240, 1000))
    state = play(rules, [1000, 140, 1000], "c c c / c r140 c")
    assert int(state.actor) == 0  # has checked, and faces less than a bet
    assert options(rules, state) == (True, True, None)
    state = play(rules, [1000, 140, 1000], "c c c / c r140 r240")
    assert options(rules, state) == (True, True, (340, 1000))


def test_fixed_limit_all_ins_of_less_and_of_half_a_bet():
    """Robert's Rules of Poker, section 5: less than half may be completed, half is a raise."""
    rules = Betting(3, (10, 20, 0), (2, 0), limit=(20, 20), max_raises=(4, 4))
    # Less than half a bet: completed to the full bet, and closed to who has acted.
    state = play(rules, [500, 49, 500], "c c c / r40 r49")
    assert options(rules, state) == (True, True, (60, 60))
    assert int(state.raises) == 1
    state = play(rules, [500, 49, 500], "c c c / r40 r49 r60")
    assert int(state.actor) == 0
    assert options(rules, state) == (True, True, (80, 80))
    assert int(state.raises) == 2
    assert options(rules, play(rules, [500, 49, 500], "c c c / r40 r49 c")) == (True, True, None)
    # Half a bet or more: a raise, on top of which the next full one comes.
    state = play(rules, [500, 50, 500], "c c c / r40 r50")
    assert options(rules, state) == (True, True, (70, 70))
    assert int(state.raises) == 2
    state = play(rules, [500, 50, 500], "c c c / r40 r50 c")
    assert options(rules, state) == (True, True, (70, 70))


def test_nobody_raises_whom_nobody_can_answer():
    rules = holdem.no_limit(3)
    # Seat 0 still has to answer, but with fewer chips than are in already.
    state = play(rules, [200, 300, 900], "r300")
    assert options(rules, state) == (True, True, None)
    state = play(rules, [200, 900, 900], "r300 c")
    assert int(state.actor) == 1
    assert options(rules, state) == (True, True, (500, 900))
    # The others are all-in for no more than the big blind, which is then not asked.
    state = play(rules, [100, 900, 60], "c c")
    assert state.actor == CHANCE
    np.testing.assert_array_equal(state.spent, [100, 100, 60])


def test_blinds_and_antes_of_short_stacks():
    rules = Betting(3, (50, 100, 0), (2, 0), ante=10)
    state = play(rules, [40, 500, 5], "")
    np.testing.assert_array_equal(state.spent, [40, 110, 5])
    assert state.actor == CHANCE  # one player has chips and nothing to answer
    state = play(rules, [500, 500, 500], "")
    np.testing.assert_array_equal(state.spent, [60, 110, 10])
    assert options(rules, state) == (True, True, (210, 500))


def test_a_spot_begins_on_its_street():
    rules = holdem.no_limit(2)
    state = start_at(rules, 3, jnp.array([100, 100]), 1000)
    assert (int(state.actor), int(state.street)) == (0, 3)
    assert options(rules, state) == (False, True, (200, 1000))
    state = start_at(rules, 2, jnp.array([1000, 1000]), 1000)
    assert state.actor == CHANCE
    rules = holdem.no_limit(4)
    state = start_at(rules, 1, jnp.array([20, 300, 300, 300]), 900, jnp.arange(4) == 0)
    assert int(state.actor) == 1
    state = act(rules, state, 300)
    assert int(state.actor) == 2


def test_raises_by_fractions_of_the_pot():
    rules = holdem.HUNL
    state = play(rules, 20_000, "")
    assert int(raise_to(rules, state, 1)) == 300  # 100 + (100 + 100)
    assert int(raise_to(rules, state, 0.1)) == 200  # at least the least raise
    assert int(raise_to(rules, state, 500)) == 20_000
    state = play(rules, 20_000, "r300 c / ")
    assert int(raise_to(rules, state, 0.75)) == 300 + 450
    assert int(raise_to(rules, state, "1/3")) == 300 + 200
    state = play(rules, 20_000, "r300 c / r525")
    assert int(raise_to(rules, state, 0.5)) == 525 + 525  # half of 600 + 2 * 225


@pytest.mark.parametrize(
    ("pot", "fraction", "chips"),
    [(45, 0.7, 32), (101, 0.5, 51), (100, "1/3", 33), (50, "1/3", 17), (40_000, 1.25, 50_000)],
)
def test_portions_are_exact_and_round_halves_up(pot: int, fraction: float | str, chips: int):
    assert holdem.portion(pot, fraction) == chips
    assert int(jax.jit(lambda p: holdem.portion(p, fraction))(pot)) == chips


def reference_payoffs(
    spent: Sequence[int], folded: Sequence[bool], strength: Sequence[int], first: int
) -> tuple[list[float], list[int]]:
    """Side pots chip by chip: (exact shares, whole chips), each net of what was spent."""
    n = len(spent)
    pots: dict[tuple[int, ...], int] = {}
    last: tuple[int, ...] = ()
    for chip in range(max(spent)):
        paid = [i for i in range(n) if spent[i] > chip]
        last = tuple(i for i in paid if not folded[i]) or last
        pots[last] = pots.get(last, 0) + len(paid)
    exact, whole = [-float(x) for x in spent], [-x for x in spent]
    for seats, pot in pots.items():
        best = max(strength[i] for i in seats)
        winners = sorted((i for i in seats if strength[i] == best), key=lambda i: (i - first) % n)
        for place, i in enumerate(winners):
            exact[i] += pot / len(winners)
            whole[i] += pot // len(winners) + (place < pot % len(winners))
    return exact, whole


@pytest.mark.parametrize("players", [2, 3, 6, 9])
def test_side_pots_equal_a_count_chip_by_chip(players: int):
    rules = holdem.no_limit(players)
    rng = np.random.default_rng(players)
    rows = 300
    spent = rng.integers(0, 12, (rows, players)) * rng.integers(1, 3, (rows, 1))
    folded = rng.random((rows, players)) < 0.3
    # Whoever spent most is still in: a player folds only when facing a bet.
    folded[np.arange(rows), spent.argmax(1)] = False
    folded &= spent < spent.max(1, keepdims=True)
    strength = rng.integers(0, 4, (rows, players))

    states = jax.jit(jax.vmap(lambda s, f: holdem.start_at(rules, 3, s, 30, f)))(spent, folded)
    for whole in (False, True):
        settle = functools.partial(holdem.payoffs, rules, whole_chips=whole)
        ours = jax.jit(jax.vmap(settle))(states, strength)
        expected = [
            reference_payoffs(*row, rules.first[-1])[whole]
            for row in zip(spent.tolist(), folded.tolist(), strength.tolist(), strict=True)
        ]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=0 if whole else 1e-5)
        np.testing.assert_allclose(ours.sum(1), 0, atol=1e-4)


def test_odd_chips_go_to_the_seats_after_the_button():
    rules = holdem.no_limit(3)
    state = start_at(rules, 3, jnp.array([5, 5, 5]), 5)
    even = payoffs(rules, state, jnp.array([1, 1, 0]))
    np.testing.assert_array_equal(even, [2.5, 2.5, -5])
    whole = payoffs(rules, state, jnp.array([1, 1, 0]), whole_chips=True)
    np.testing.assert_array_equal(whole, [3, 2, -5])
    # Heads-up the button is seat 1, so seat 0 is next after it; a rest needs dead money.
    rules = holdem.no_limit(4)
    state = start_at(rules, 3, jnp.array([5, 5, 5, 1]), 5, jnp.arange(4) == 3)
    whole = payoffs(rules, state, jnp.array([1, 1, 1, 9]), whole_chips=True)
    np.testing.assert_array_equal(whole, [1, 0, 0, -1])


RANDOM_RULES = [
    holdem.HUNL,
    holdem.NLFH,
    FLHE,
    *(holdem.no_limit(n) for n in range(3, 10)),
    Betting(4, (10, 20, 0, 0), (2, 0, 0), limit=(20, 20, 40), max_raises=(4, 4, 4), ante=3),
]


@pytest.mark.parametrize("rules", few(RANDOM_RULES, lambda rules: rules in RANDOM_RULES[:3]))
def test_random_hands_keep_their_promises(rules: Betting):
    """Chips are kept, nobody is asked twice for nothing, and every hand ends."""
    hands = 200
    n = rules.num_players
    rng = np.random.default_rng(n)
    stacks = rng.choice([30, 100, 150, 333, 1000, 5000], (hands, n)).astype(np.int32)
    state = jax.jit(jax.vmap(functools.partial(holdem.start, rules)))(stacks)
    look = jax.jit(jax.vmap(functools.partial(holdem.options, rules)))
    move = jax.jit(jax.vmap(functools.partial(_move, rules)))
    for _ in range(400):
        fold, call, low, high = (np.asarray(x) for x in look(state))
        actor = np.asarray(state.actor)
        plays = actor >= 0
        rows, seats = np.flatnonzero(plays), actor[plays]
        spent, stack = np.asarray(state.spent), np.asarray(state.stack)
        assert (spent <= stack).all()
        assert (call == plays).all()
        assert not np.asarray(state.folded)[rows, seats].any()
        assert (spent[rows, seats] < stack[rows, seats]).all()
        may = low <= high
        bet = np.asarray(state.bet)
        assert (bet == spent.max(1)).all()
        assert (low[may] > bet[may]).all()
        assert (high[may] <= stack[np.flatnonzero(may), actor[may]]).all()
        if not (actor != TERMINAL).any():
            break
        kind = rng.random(hands)
        size = np.where(kind < 0.9, low, rng.integers(low, np.maximum(high, low) + 1))
        passive = np.where(fold & (kind < 0.1), holdem.FOLD, -2)
        to = np.where(may & (kind > 0.6), size, passive).astype(np.int32)
        state = move(state, to)
    assert (np.asarray(state.actor) == TERMINAL).all()
    strength = rng.integers(0, 5, (hands, n))
    won = jax.jit(jax.vmap(functools.partial(holdem.payoffs, rules)))(state, strength)
    np.testing.assert_allclose(np.asarray(won).sum(1), 0, atol=0.01)
    assert (np.asarray(won) >= -np.asarray(state.spent)).all()


def _move(rules: Betting, state: BetState, to: jax.Array) -> BetState:
    """The move `to`, -2 for a call; the next street where cards are due; nothing at the end."""
    to = jnp.where(to == -2, holdem.call_to(state), to)
    acted, dealt = holdem.act(rules, state, to), holdem.next_street(rules, state)
    return jax.tree.map(
        lambda old, moved, new: jnp.where(
            state.actor == TERMINAL, old, jnp.where(state.actor == CHANCE, new, moved)
        ),
        state,
        acted,
        dealt,
    )


def test_one_program_plays_every_hand_of_a_table():
    """Stacks and moves are arrays: other numbers compile nothing."""
    rules, traces = holdem.no_limit(3), []

    @jax.jit
    def first_move(stacks: jax.Array, to: jax.Array) -> BetState:
        traces.append(to)
        return holdem.act(rules, holdem.start(rules, stacks), to)

    for stacks, to in itertools.product(([300, 200, 900], [1000] * 3), (-1, 100, 200)):
        first_move(jnp.asarray(stacks), jnp.int32(to))
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_players": 1}, "2 to 9 players"),
        ({"num_players": 3}, r"such as \(50, 100, 0\)"),
        ({"first": (2, 0)}, "a seat 0..1"),
        ({"limit": (10, 10)}, "one number per street, 4 in all"),
        ({"max_raises": (1, 1, -1, 1)}, "max_raises is None or one number per street"),
    ],
)
def test_rules_that_make_no_sense_are_refused(fields: dict, message: str):
    with pytest.raises(ValueError, match=message):
        Betting(**fields)


def test_random_sizes_agree_with_a_spot_solvers_menu():
    """`raise_to` on a street is what the host's menus of sizes give, where no blind limits it."""
    rules = Betting(2, (0, 0), (0,))
    rng = random.Random(0)
    for _ in range(100):
        pot, stack = 2 * rng.randint(1, 300), rng.randint(400, 2000)
        state = start_at(rules, 0, jnp.array([pot // 2] * 2), stack)
        base, own, facing = pot // 2, 0, 0
        for _ in range(3):
            fraction = rng.choice([0.33, 0.5, 0.7, 0.75, 1, 1.5])
            chips = own + facing + pot
            if facing >= stack - base:
                break
            menu = totals(
                [Size("pot", fraction)],
                own=own,
                facing=facing,
                pot=chips,
                high=stack - base,
            )
            to = int(raise_to(rules, state, fraction))
            assert [to - base] == menu
            state = act(rules, state, to)
            own, facing = facing, to - base

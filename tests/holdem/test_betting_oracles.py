"""Betting rules move by move against OpenSpiel's universal_poker and pokerkit.

Heads-up no-limit and fixed-limit are OpenSpiel's exactly (whose fixed-limit has no stacks: players
there spend more than they have, so stacks are deep here). With more players and unequal stacks
pokerkit plays no-limit as we do except in three places, each of which `compare_with_pokerkit`
predicts and checks where it happens:

- pokerkit counts the first raise of a street as a full one even where it is an all-in of less
  than a big blind, so that whoever has acted may raise again. We follow TDA rule 47.
- pokerkit asks a player to check who faces nothing and whom nobody can answer. We do not.
- pokerkit joins side pots once the hands that cannot win are dead, before it divides them, and
  gives all odd chips to one winner. We divide each pot by itself (TDA rule 21), one chip each.

In fixed-limit pokerkit applies the no-limit rules of short all-ins; we follow Robert's Rules (see
`test_betting.py`). After a short all-in this test lets the street end with calls and folds.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsolve import holdem
from jaxsolve.holdem import BetState, Betting
from jaxsolve.types import CHANCE, TERMINAL

FLHE = Betting(2, (10, 5), (1, 0, 0, 0), limit=(10, 10, 20, 20), max_raises=(3, 4, 4, 4))
FLHE3 = Betting(3, (5, 10, 0), (2, 0, 0, 0), limit=(10, 10, 20, 20), max_raises=(3, 4, 4, 4))

DECK = "numSuits=4,numRanks=13,numHoleCards=2"
UNIVERSAL = {
    "HUNL": (
        holdem.HUNL,
        "betting=nolimit,numPlayers=2,numRounds=4,blind=100 50,firstPlayer=2 1 1 1,"
        f"{DECK},numBoardCards=0 3 1 1",
    ),
    "NLFH": (
        holdem.NLFH,
        f"betting=nolimit,numPlayers=2,numRounds=2,blind=100 50,firstPlayer=2 1,{DECK},"
        "numBoardCards=0 3",
    ),
    "FLHE": (
        FLHE,
        "betting=limit,numPlayers=2,numRounds=4,blind=10 5,firstPlayer=2 1 1 1,raiseSize=10 10 20 "
        f"20,maxRaises=3 4 4 4,{DECK},numBoardCards=0 3 1 1",
    ),
    "FLHE3": (
        FLHE3,
        "betting=limit,numPlayers=3,numRounds=4,blind=5 10 0,firstPlayer=3 1 1 1,raiseSize=10 10 "
        f"20 20,maxRaises=3 4 4 4,{DECK},numBoardCards=0 3 1 1",
    ),
}
STACKS = (20_000, 2000, 350, 250, 200, 150)


class Batch:
    """Many hands of one table, advanced one move at a time by one compiled program."""

    def __init__(self, rules: Betting, stacks: np.ndarray, *, whole_chips: bool = False):
        start, self._look, self._move, self._settle = _programs(rules, whole_chips)
        self._take(start(stacks))

    def _take(self, state: BetState) -> None:
        self._state = state
        self.state = BetState(*(np.asarray(x) for x in state))
        fold, call, low, high = (np.asarray(x) for x in self._look(state))
        self.fold, self.call, self.low, self.high = fold, call, low, high

    @property
    def over(self) -> bool:
        return bool((self.state.actor == TERMINAL).all())

    def move(self, to: np.ndarray) -> None:
        """Plays the totals `to`, -2 a call; deals where cards are due; leaves ended hands alone."""
        self._take(self._move(self._state, to.astype(np.int32)))

    def payoffs(self, strength: np.ndarray) -> np.ndarray:
        return np.asarray(self._settle(self._state, strength.astype(np.int32)))


@functools.cache
def _programs(rules: Betting, whole_chips: bool) -> tuple[Callable[..., Any], ...]:
    def move(state: BetState, to: jax.Array) -> BetState:
        to = jnp.where(to == -2, holdem.call_to(state), to)
        after = holdem.act(rules, state, to), holdem.next_street(rules, state)
        return jax.tree.map(
            lambda old, acted, dealt: jnp.where(
                state.actor == TERMINAL, old, jnp.where(state.actor == CHANCE, dealt, acted)
            ),
            state,
            *after,
        )

    programs = (
        functools.partial(holdem.start, rules),
        functools.partial(holdem.options, rules),
        move,
        functools.partial(holdem.payoffs, rules, whole_chips=whole_chips),
    )
    return tuple(jax.jit(jax.vmap(program)) for program in programs)


def choose(rng: random.Random, fold: bool, low: int, high: int, *, raises: float = 0.45) -> int:
    """Returns a random move: FOLD, -2 for a call, or a total; often the least or the largest."""
    if low <= high and rng.random() < raises:
        kind = rng.random()
        if kind < 0.35:
            return low
        if kind < 0.5:
            return high
        return min(high, low + int((high - low + 1) * rng.random() ** 4))
    return holdem.FOLD if fold and rng.random() < 0.2 else -2


def compare_with_openspiel(name: str, stack: int, hands: int, seed: int) -> int:
    """Plays random hands on both sides; returns the number of moves that were compared."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    rules, text = UNIVERSAL[name]
    limits = rules.limit is not None
    abstraction = "" if limits else ",bettingAbstraction=fullgame"
    n = rules.num_players
    stacks = " ".join([str(stack)] * n)
    game = pyspiel.load_game(f"universal_poker({text},stack={stacks}{abstraction})")
    rng = random.Random(seed)
    states = [game.new_initial_state() for _ in range(hands)]
    decks = [rng.sample(range(52), 2 * n + 5) for _ in range(hands)]
    for state, deck in zip(states, decks, strict=True):
        for card in deck[: 2 * n]:
            assert card in state.legal_actions()
            state.apply_action(card)
    board = 0, 3, 4, 5
    batch = Batch(rules, np.full((hands, n), stack))
    compared = 0
    while not batch.over:
        moves = np.full(hands, -2)
        for k, (state, deck) in enumerate(zip(states, decks, strict=True)):
            actor, street = batch.state.actor[k], int(batch.state.street[k])
            at = f"{name} with {stack} chips after {state.history()}"
            if actor == TERMINAL:
                assert state.is_terminal(), at
                continue
            assert not state.is_terminal(), at
            if actor == CHANCE:
                for card in deck[2 * n + board[street] : 2 * n + board[street + 1]]:
                    assert state.is_chance_node(), at
                    state.apply_action(card)
                continue
            assert state.current_player() == actor, at
            low, high = int(batch.low[k]), int(batch.high[k])
            legal = [0] if batch.fold[k] else []
            legal += [1] if batch.call[k] else []
            legal += ([2] if low <= high else []) if limits else range(low, high + 1)
            assert state.legal_actions() == legal, at
            compared += 1
            to = choose(rng, bool(batch.fold[k]), low, high)
            moves[k] = to
            state.apply_action({-1: 0, -2: 1}.get(to, 2 if limits else to))
        batch.move(moves)
    cards = np.asarray(decks)
    public = cards[:, 2 * n : 2 * n + board[rules.num_streets - 1]]
    seats = [np.column_stack([cards[:, 2 * i : 2 * i + 2], public]) for i in range(n)]
    won = batch.payoffs(np.asarray(holdem.strength(np.stack(seats, 1))))
    for k, state in enumerate(states):
        assert state.is_terminal(), state.history()
        at = str(state.history())
        np.testing.assert_allclose(won[k], state.returns(), rtol=1e-6, err_msg=at)
        if n == 2:
            assert won[k].tolist() == state.returns(), at
    return compared


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", ["HUNL", "NLFH"])
def test_no_limit_is_openspiels(name: str, stack: int):
    """Who acts, what is legal and what is won, move by move in random hands."""
    assert compare_with_openspiel(name, stack, 500, seed=stack) > 500


@pytest.mark.parametrize("name", ["FLHE", "FLHE3"])
def test_fixed_limit_is_openspiels(name: str):
    assert compare_with_openspiel(name, 1000, 500, seed=1) > 500


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", ["HUNL", "NLFH"])
def test_ten_thousand_hands_are_openspiels(name: str, stack: int):
    compared = sum(
        compare_with_openspiel(name, stack, 500, seed=stack + 9000 * i) for i in range(1, 21)
    )
    print(f"{name}, stacks {stack}: {compared} moves of 10,000 hands compared")
    assert compared > 10_000


def pokerkit_table(rules: Betting, stacks: list[int]) -> Any:
    """Returns a pokerkit state that deals and settles by itself."""
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is the oracle of many players")
    automations = tuple(
        a for a in pokerkit.Automation if a != pokerkit.Automation.RUNOUT_COUNT_SELECTION
    )
    blinds, ante = rules.blinds, rules.ante
    if rules.limit is None:
        return pokerkit.NoLimitTexasHoldem.create_state(
            automations, True, ante, blinds, rules.min_bet, stacks, rules.num_players
        )
    return pokerkit.FixedLimitTexasHoldem.create_state(
        automations, True, ante, blinds, rules.limit[0], rules.limit[-1], stacks, rules.num_players
    )


def cards_of(cards: Any) -> list[int]:
    return [holdem.parse_cards(repr(card))[0] for card in cards]


def compare_with_pokerkit(rules: Betting, stacks: np.ndarray, seed: int) -> dict[str, int]:
    """Plays random hands on both sides; returns how often each thing happened."""
    n, hands = rules.num_players, len(stacks)
    random.seed(seed)  # of pokerkit's deck
    rng = random.Random(seed)
    tables = [pokerkit_table(rules, row) for row in stacks.tolist()]
    batch = Batch(rules, stacks, whole_chips=True)
    seen = dict.fromkeys(("moves", "reopened", "idle", "odd", "short", "split"), 0)
    short_limit = np.full(hands, -1)
    while not batch.over:
        moves = np.full(hands, -2)
        for k, table in enumerate(tables):
            state = jax.tree.map(lambda x, k=k: x[k], batch.state)
            actor, spent = int(state.actor), state.spent
            at = f"stacks {stacks[k]}, after {[str(o) for o in table.operations]}, ours {state}"
            if actor < 0:
                # Ours is over or deals: pokerkit may ask for a check that changes nothing.
                while table.actor_index is not None and not _same_street(table, state):
                    assert table.checking_or_calling_amount == 0, at
                    assert table.min_completion_betting_or_raising_to_amount is None, at
                    table.check_or_call()
                    seen["idle"] += 1
                continue
            while table.actor_index != actor:
                assert table.checking_or_calling_amount == 0, at
                assert table.min_completion_betting_or_raising_to_amount is None, at
                table.check_or_call()
                seen["idle"] += 1
            seen["moves"] += 1
            earlier = int(spent[actor]) - table.bets[actor]
            fold, low, high = bool(batch.fold[k]), int(batch.low[k]), int(batch.high[k])
            assert fold == (table.checking_or_calling_amount > 0), at
            call = min(int(state.bet), int(state.stack[actor])) - int(spent[actor])
            assert table.checking_or_calling_amount == call, at
            theirs = table.min_completion_betting_or_raising_to_amount
            stack = int(state.stack[actor])
            if rules.limit is not None and short_limit[k] == state.street:
                low, high = 1, 0
            elif low <= high:
                assert theirs == low - earlier, at
                assert table.max_completion_betting_or_raising_to_amount == high - earlier, at
            elif theirs is not None:
                # The first raise of the street was an all-in of less than a big blind.
                assert rules.limit is None, at
                assert table.completion_betting_or_raising_amount < rules.min_bet, at
                assert state.acted[actor], at
                assert int(state.bet - spent[actor]) < int(state.min_raise), at
                seen["reopened"] += 1
            to = choose(rng, fold, low, high, raises=0.35)
            moves[k] = to
            if to == holdem.FOLD:
                table.fold()
            elif to == -2:
                table.check_or_call()
            else:
                if to < int(state.full + state.min_raise):
                    assert to == stack, at
                    seen["short"] += 1
                    short_limit[k] = state.street
                table.complete_bet_or_raise_to(to - earlier)
        batch.move(moves)
    strengths = np.zeros((hands, n), np.int32)
    for k, table in enumerate(tables):
        assert not table.status, f"pokerkit has not ended: {table.operations}"
        board = cards_of(c for row in table.board_cards for c in row)
        if len(board) == 5:
            dealt = _dealt(table, n)
            strengths[k] = np.asarray(holdem.strength(jnp.asarray([h + board for h in dealt])))
    won = batch.payoffs(strengths)
    for k, table in enumerate(tables):
        theirs = np.asarray(table.payoffs)
        at = f"stacks {stacks[k]}, after {[str(o) for o in table.operations]}"
        assert won[k].sum() == 0, at
        seen["split"] += int((won[k] > -batch.state.spent[k]).sum() > 1)
        if (won[k] != theirs).any():
            spent, folded = batch.state.spent[k].tolist(), batch.state.folded[k].tolist()
            assert theirs.tolist() == joined_pots(spent, folded, strengths[k].tolist()), at
            assert np.abs(won[k] - theirs).max() < n, at
            seen["odd"] += 1
    return seen


def joined_pots(spent: list[int], folded: list[bool], strength: list[int]) -> list[int]:
    """Returns pokerkit's payoffs: pots are divided after those with equal winners are joined."""
    pots: list[tuple[tuple[int, ...], int]] = []
    for chip in range(max(spent)):
        paid = [i for i, chips in enumerate(spent) if chips > chip]
        pots.append((tuple(i for i in paid if not folded[i]), len(paid)))
    alive = {i for seats, _ in pots for i in _best(seats, strength)}
    won, joined = [-chips for chips in spent], []
    for seats, pot in pots:
        left = tuple(i for i in seats if i in alive)
        if joined and joined[-1][0] == left:
            pot += joined.pop()[1]
        joined.append((left, pot))
    for seats, pot in joined:
        winners = _best(seats, strength)
        for i in winners:
            won[i] += pot // len(winners)
        won[winners[0]] += pot % len(winners)
    return won


def _best(seats: tuple[int, ...], strength: list[int]) -> list[int]:
    return [i for i in seats if strength[i] == max(strength[j] for j in seats)]


def _same_street(table: Any, state: BetState) -> bool:
    """Whether pokerkit is already on a later street than ours, which still deals."""
    return state.actor == CHANCE and table.street_index > state.street


def _dealt(table: Any, n: int) -> list[list[int]]:
    """Returns every seat's two cards, those of players who folded as well."""
    hands: list[list[int]] = [[] for _ in range(n)]
    for operation in table.operations:
        if type(operation).__name__ == "HoleDealing":
            hands[operation.player_index] += cards_of(operation.cards)
    return hands


def uneven(hands: int, players: int, seed: int) -> np.ndarray:
    """Returns random stacks: short ones, equal ones, and deep ones."""
    rng = np.random.default_rng(seed)
    return np.where(
        rng.random((hands, players)) < 0.5,
        rng.integers(1, 700, (hands, players)),
        rng.choice([100, 150, 200, 300, 1000, 5000], (hands, players)),
    )


FIXED = Betting(4, (10, 20, 0, 0), (2, 0, 0, 0), limit=(20, 20, 40, 40), max_raises=(4, 4, 4, 4))
ANTE = Betting(5, (50, 100, 0, 0, 0), (2, 0, 0, 0), ante=15)


@pytest.mark.parametrize("players", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 6))])
def test_no_limit_with_many_players_is_pokerkits(players: int):
    seen = compare_with_pokerkit(holdem.no_limit(players), uneven(150, players, players), players)
    assert seen["moves"] > 150
    assert seen["short"] > 10
    assert seen["reopened"]


@pytest.mark.slow
def test_antes_are_pokerkits():
    assert compare_with_pokerkit(ANTE, uneven(150, 5, 1), 1)["moves"] > 150


@pytest.mark.slow
def test_fixed_limit_with_many_players_is_pokerkits():
    deep = compare_with_pokerkit(FIXED, np.full((75, 4), 5000), 1)
    assert not deep["short"]
    assert compare_with_pokerkit(FIXED, uneven(75, 4, 2), 2)["short"] > 10


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "rules",
    [*(holdem.no_limit(n) for n in range(3, 7)), ANTE, FIXED],
    ids=["3 players", "4 players", "5 players", "6 players", "antes", "fixed limit"],
)
def test_thousands_of_hands_are_pokerkits(rules: Betting):
    total: dict[str, int] = {}
    for i in range(10):
        seen = compare_with_pokerkit(rules, uneven(150, rules.num_players, 50 + i), 50 + i)
        total = {key: total.get(key, 0) + count for key, count in seen.items()}
    print(total)
    assert total["moves"] > 1500
    assert total["split"]

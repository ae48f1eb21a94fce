"""What a player is told in words, put together from what they saw, against the world state."""

from __future__ import annotations

import functools
import re
from typing import Any

import jax
import numpy as np
import pytest

import games
from games._words import drawing
from jaxsolve.game import Seen
from jaxsolve.types import CHANCE, TERMINAL


def situations(game: Any, seed: int) -> list[tuple[Any, int, str]]:
    """The (state, player, words) of every decision in a match of random moves."""
    rng, look, step = np.random.default_rng(seed), *programs(game)
    state, action, mover, found = game.init(), -1, -1, []
    seen: list[list[Seen]] = [[] for _ in range(game.num_players)]
    while True:
        now, actor, legal, (public, private) = jax.device_get(look(state))
        for i, known in enumerate(seen):
            known.append(Seen(action if i == mover else -1, public, private[i]))
        mover = int(actor)
        if mover == TERMINAL:
            return found
        if mover != CHANCE:
            found.append((now, mover, game.situation(mover, seen[mover])))
        action = int(rng.choice(np.flatnonzero(legal)))
        state = step(state, np.int32(action))


@functools.cache
def programs(game: Any) -> tuple[Any, Any]:
    def look(state: Any) -> Any:
        return state, game.actor(state), game.legal(state), game.observe(state)

    return jax.jit(look), jax.jit(game.step)


@pytest.mark.parametrize("repeated", [False, True])
def test_battleship(repeated: bool) -> None:
    game = games.Battleship(3, 2, (2, 1), (1, 1), 5, allow_repeated_shots=repeated)
    told = [each for seed in range(4) for each in situations(game, seed)]
    assert max(state.sunk.sum() for state, _, _ in told) >= 2
    for state, player, words in told:
        boards = []
        for owner in range(2):
            fleet = [(s, a) for s, a in enumerate(state.fleet[owner]) if a >= 0]
            ships = sum((game._covers[s, a] for s, a in fleet), np.zeros(6, bool))
            shot = state.shots[1 - owner]
            known = ships & (shot | (owner == player))
            boards.append(drawing(np.where(shot, 2 + known, known).reshape(2, 3), "_#ox"))
        own = boards[player].replace("_", ".")
        other = boards[1 - player].replace("_", "?")
        made = [max(0, int(state.moves + 1 - i) // 2 - 2) for i in range(2)]
        sunk = state.sunk.sum(1)
        lines = words.replace(own, "OWN", 1).replace(other, "OTHER", 1).split("\n")
        assert lines[1] == "OWN"
        assert lines[3] == "OTHER"
        assert lines[0].endswith(f"sunk {sunk[player]} of 2")
        assert f"sunk {sunk[1 - player]} of 2" in lines[2]
        assert lines[4].startswith(f"shots left: you {5 - made[player]}, ")
        assert lines[4].endswith(f" {5 - made[1 - player]}")


def test_oshi_zumo() -> None:
    game = games.OshiZumo(coins=9, size=2, horizon=4)
    told = [each for seed in range(4) for each in situations(game, seed)]
    assert {int(np.sign(state.place)) for state, _, _ in told} == {-1, 0, 1}
    for state, player, words in told:
        place = int(state.place) * (1 - 2 * player)
        stands = f"{abs(place)} of 2 places towards {'you' if place < 0 else 'player'}"
        assert f"the wrestler stands {stands if place else 'in the middle'}" in words
        assert f"you {state.coins[player]}, player {1 - player} {state.coins[1 - player]}" in words
        assert words.startswith(f"round {state.rounds + 1} of 4;")


def test_blotto() -> None:
    game = games.Blotto(coins=5, fields=2, players=3)
    told = {words for _, _, words in situations(game, 0)}
    assert told == {"spread 5 coins over 2 fields against 2 unseen; the most coins win a field"}


MAPS = (
    "board=london,evader=[46,13],detectives=[74,1],rounds=6,reveals=[2,5],doubles=2",
    "rounds=4",
)


@pytest.mark.parametrize("params", MAPS)
def test_scotland_yard(params: str) -> None:
    game = games.load(f"scotland_yard({params})")
    told = [each for seed in range(4) for each in situations(game, seed)]
    assert max(state.moves for state, _, _ in told) >= 4
    shown = 0 if "evader" in params else 6  # where Mr X was last seen
    for state, player, words in told:
        evader, *detectives, last = words.split("\n")
        numbers = [[int(n) for n in re.findall(r"\d+", line)] for line in (evader, *detectives)]
        hidden = "not seen yet" in evader
        if state.moves == 0 and state.turn == 0:
            shown = 0 if "evader" in params else 6
        if state.moves in game.map.reveals:
            shown = int(state.stations[0]) + 1
        assert hidden == (player == 1 and shown == 0)
        if not hidden:
            assert numbers[0].pop(0) == (shown if player else state.stations[0] + 1)
        if player == 1 and not hidden:
            after = [m for m in (0, *game.map.reveals) if m <= state.moves]
            assert numbers[0].pop(0) == after[-1]
        own = [*state.tickets[0], state.doubles] if game.map.doubles else state.tickets[0]
        assert numbers[0] == [state.moves, game.map.rounds, *own]
        for k, row in enumerate(numbers[1:], 1):
            assert row == [k, state.stations[k] + 1, *state.tickets[k]]
        assert last == f"you move {f'detective {state.turn}' if state.turn else 'Mr X'}"

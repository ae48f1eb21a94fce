"""Agents for tests of hands: blueprints of small menus with made-up buckets."""

from __future__ import annotations

import functools

import numpy as np
from made_buckets import made_buckets

from jaxsolve import holdem
from jaxsolve.holdem import BetMenu, play

STREETS = ("preflop", "flop", "turn", "river")
POT, OTHER = (("100%", "a"),), (("50%", "120%"), ("80%",))
STACK = 2_000


@functools.cache
def game(
    sizes: tuple[tuple[str, ...], ...], repeat: bool = False, players: int = 2
) -> holdem.HoldemGame:
    street = {"sizes": [list(x) for x in sizes], "repeat": repeat}
    table = {"stack": STACK, "players": players, **dict.fromkeys(STREETS, street)}
    return holdem.holdem_game(BetMenu.parse(table), made_buckets(3))


def chance_sums(here: holdem.HoldemGame) -> np.ndarray:
    """Sums of a strategy by chance."""
    sums = np.random.default_rng(2).exponential(size=len(holdem.uniform_sums(here)))
    return sums.astype(np.float32)


def blueprint(
    sizes: tuple[tuple[str, ...], ...] = POT, repeat: bool = False, players: int = 2
) -> play.BlueprintAgent:
    here = game(sizes, repeat, players)
    return play.BlueprintAgent(here, chance_sums(here), name=f"menu {sizes[0][0]}")


def hands_of(
    *agents: play.HandAgent, count: int, stack: int = STACK, seed: int = 0
) -> list[play.PlayedHand]:
    n = len(agents)
    return [
        play.play_hand(
            agents,
            holdem.no_limit(n),
            stack,
            play.shuffled([seed, k], n),
            keys=[n * k + i for i in range(n)],
        )
        for k in range(count)
    ]

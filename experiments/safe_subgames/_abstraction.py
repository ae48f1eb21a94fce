"""Coarse games: the same rules, shown with less detail or with fewer bets."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.types import NOTHING, Array

ITERATIONS = 2000
"""Of PCFR+ on the coarse game."""


@dataclasses.dataclass(frozen=True)
class CoarseBoard:
    """A game of Leduc's kind in which the board card is only seen up to its bucket.

    Attributes:
        game: the rules; public observations are (last action, board card).
        buckets: the bucket of each card. Its first card stands for it.
    """

    game: Any
    buckets: tuple[int, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    @property
    def name(self) -> str:
        return f"{self.game.name} with board buckets {list(self.buckets)}"

    def observe(self, state: Any) -> tuple[Array, Array]:
        public, private = self.game.observe(state)
        first = jnp.array([self.buckets.index(b) for b in self.buckets], jnp.int32)
        board = public[1]
        seen = jnp.where(board == NOTHING, NOTHING, first[jnp.maximum(board, 0)])
        return public.at[1].set(seen), private


class Blueprint(NamedTuple):
    """A coarse game's strategy in the whole game.

    Attributes:
        tree: the whole game.
        policy: of both players.
        coarse_infosets: of the coarse game.
    """

    tree: js.PublicTree
    policy: js.Policy
    coarse_infosets: int


def board_blueprint(text: str, buckets: int) -> Blueprint:
    """Returns the strategy of a game whose board card is seen up to one of so many buckets.

    Args:
        text: the game string of a game with `deck` and `suits`.
        buckets: of ranks, about equally many in each, the lowest ranks first.
    """
    game: Any = games.load(text)
    tree = js.compile(game)
    ranks = game.deck // game.suits
    bucket = tuple(int(card // game.suits * buckets // ranks) for card in range(game.deck))
    coarse = js.compile(CoarseBoard(game, bucket))
    result = js.solve(
        coarse, "pcfr+", iterations=ITERATIONS, measure_every=ITERATIONS, progress=False
    )
    card = [
        game.observation_name(np.array([NOTHING, c]), np.array([NOTHING])) for c in range(game.deck)
    ]
    stands = {name: card[bucket.index(bucket[c])] for c, name in enumerate(card)}

    def source(player: int, name: str) -> str:
        own, *rest = name.split("|")
        return "|".join([own, *(stands.get(word, word) for word in rest)])

    lifted = js.lift(result.average, tree, names=source)
    assert not any(lifted.unmatched), lifted
    assert coarse.info is not None
    return Blueprint(tree, lifted.policy, sum(coarse.info.num_infosets))


def translated_blueprint(text: str, sizes: list[float], extra: float) -> Blueprint:
    """Returns a strategy that has never seen one size of bet, which it takes for a near one.

    Args:
        text: the game string without `sizes`, e.g. "nolimit_leduc(stack=9)".
        sizes: of the coarse game.
        extra: the size off its tree, between two of them.
    """
    base = text.removesuffix(")") + ("," if "(" in text else "(")
    coarse = js.compile(games.load(f"{base}sizes={sizes})"))
    tree = js.compile(games.load(f"{base}sizes={sorted([*sizes, extra])})"))
    result = js.solve(
        coarse, "pcfr+", iterations=ITERATIONS, measure_every=ITERATIONS, progress=False
    )
    bets = {f"bet {size:g}": size for size in (*sizes, extra)}
    mixed = search.translate(result.average, tree, bets)
    assert coarse.info is not None
    return Blueprint(tree, mixed, sum(coarse.info.num_infosets))

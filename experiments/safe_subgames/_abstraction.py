"""Coarse games: the same rules, shown with less detail or with fewer bets."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import games
import jaxsolve as js
from jaxsolve import holdem, search
from jaxsolve.game import action_name, observation_name
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

    def action_name(self, actor: int, action: int) -> str:
        return action_name(self.game, actor, action)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        return observation_name(self.game, public, private)

    @property
    def name(self) -> str:
        return f"{self.game.name} with board buckets {list(self.buckets)}"

    def observe(self, state: Any) -> tuple[Array, Array]:
        public, private = self.game.observe(state)
        first = jnp.array([self.buckets.index(b) for b in self.buckets], jnp.int32)
        board = public[1]
        seen = jnp.where(board == NOTHING, NOTHING, first[jnp.maximum(board, 0)])
        return public.at[1].set(seen), private


@dataclasses.dataclass(frozen=True)
class CoarseHands:
    """Flop hold'em for two in which a player learns of the flop only how strong it makes the hand.

    Attributes:
        game: the rules, which end after the flop.
        buckets: of hands by strength on a flop, about equally many in each.
    """

    game: Any
    buckets: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def action_name(self, actor: int, action: int) -> str:
        return action_name(self.game, actor, action)

    @property
    def name(self) -> str:
        return f"{self.game.name} with {self.buckets} buckets of hands"

    @functools.cached_property
    def table(self) -> np.ndarray:
        """int32 [deck] * 5, the bucket of a hand (two cards) on a flop (three), each ascending."""
        deck = self.game.deck
        out = np.full((deck,) * 5, NOTHING, np.int32)
        for flop in itertools.combinations(range(deck), 3):
            hands = list(itertools.combinations(sorted({*range(deck)} - {*flop}), 2))
            cards = self.game._card(np.asarray([(*hand, *flop) for hand in hands]))
            with jax.ensure_compile_time_eval():
                strength = np.asarray(holdem.strength(jnp.asarray(cards, jnp.int32)))
            below = (strength[:, None] > strength).sum(1) + (strength[:, None] == strength).sum(
                1
            ) / 2
            place = (below * self.buckets / len(hands)).astype(int)
            for hand, bucket in zip(hands, np.minimum(place, self.buckets - 1), strict=True):
                out[(*hand, *flop)] = bucket
        return out

    def observe(self, state: Any) -> tuple[Array, Array]:
        """As the game's, but with the flop's last two cards hidden and its first always 0."""
        public, private = self.game.observe(state)
        flop = public[1] != NOTHING
        hidden = jnp.array([0, NOTHING, NOTHING], public.dtype)
        table = jnp.asarray(self.table)
        shown = public.at[1:].set(jnp.where(flop, hidden, public[1:]))
        hands = state.cards[:4].reshape(2, 2)
        mine = table[(*hands.T, *(jnp.broadcast_to(c, 2) for c in public[1:]))]
        bucket = jnp.stack([mine, jnp.full(2, NOTHING)], 1)
        return shown, jnp.where(flop, bucket, private).astype(jnp.int32)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        if public[1] != NOTHING:
            return f"bucket {int(private[0])}"
        return observation_name(self.game, public, private)


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
    return Blueprint(tree, lifted.policy, sum(coarse.info.num_infosets))


def hand_blueprint(text: str, buckets: int) -> Blueprint:
    """Returns the strategy of flop hold'em with so many buckets of hands on the flop."""
    game: Any = games.load(text)
    tree = js.compile(game)
    rules = CoarseHands(game, buckets)
    coarse = js.compile(rules)
    result = js.solve(
        coarse, "pcfr+", iterations=ITERATIONS, measure_every=ITERATIONS, progress=False
    )
    deck = {holdem.cards_name([game._card(c)]): c for c in range(game.deck)}

    def cards(word: str) -> tuple[int, ...]:
        return tuple(deck[word[k : k + 2]] for k in range(0, len(word), 2))

    def source(player: int, name: str) -> str:
        words = name.split("|")
        hand = next(w for w in words if len(w) == 4 and w[:2] in deck)
        for k, word in enumerate(words):
            if len(word) == 6 and word[:2] in deck:
                place = (*sorted(cards(hand)), *sorted(cards(word)))
                words[k] = f"bucket {rules.table[place]}"
        return "|".join(words)

    lifted = js.lift(result.average, tree, names=source)
    assert not any(lifted.unmatched), lifted
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
    return Blueprint(tree, mixed, sum(coarse.info.num_infosets))

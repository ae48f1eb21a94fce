"""The exact infoset of one player as a batch of world states, moved on with each transition.

A player who cannot list the public states of a game can still list the states that are consistent
with all that they did and saw. Each transition maps the list on: every state is followed by its
possible moves, those that would have shown the player something else are dropped, and states that
are equal are merged. A state here is what the game's rules say it is: take rules whose states hold
no history (`DarkChess.positions`), or histories are counted instead of positions.

A list that outgrows the cap is cut to a sample, in the order of keys that a seed mixes, and says
that it is not exact any more. A list without states says that no state fits what was seen.

Every transition has to be reported, also those in which the player saw nothing new. A game may
leave out impossible moves before they are made (`FiltersMoves`), which is what makes it fast.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Game, State
from jaxsolve.types import Array

SMALLEST = 256
"""Room of a list with few states; larger rooms are 8 or 2 times the one before."""

MOVES_PER_STATE = 8
"""Moves for which there is room, for each state below the cap."""


@runtime_checkable
class FiltersMoves(Protocol):
    """A game that leaves out moves which contradict what a player saw, before they are made."""

    @property
    def move_actions(self) -> np.ndarray:
        """int32 [32 W]: the action of each bit of `possible_words`, -1 for none."""
        ...

    def possible_words(self, state: State, player: int, private: Array) -> Array:
        """Returns uint32 [W]: bits of legal moves; of another's, those that may show `private`."""
        ...


class Infoset(NamedTuple):
    """States that a player holds possible.

    Attributes:
        states: pytree with leaves [N, ...]; what lies beyond `num_states` is padding.
        num_states: how many there are; 0 if no state fits what the player saw.
        exact: whether these are all, and not a sample.
    """

    states: State
    num_states: int
    exact: bool


def start_infoset(game: Game) -> Infoset:
    """Returns the infoset of either player before the first move of a game without a chance start.

    Args:
        game: the rules.
    """
    state = game.init()
    return Infoset(jax.tree.map(lambda x: jnp.stack([x] * SMALLEST), state), 1, True)


def advance_infoset(
    game: Game,
    infoset: Infoset,
    player: int,
    action: int,
    public: Array,
    private: Array,
    *,
    max_states: int = 131_072,
    seed: int = 0,
) -> Infoset:
    """Returns the infoset after one transition.

    Args:
        game: the rules.
        infoset: before it.
        player: whose.
        action: the player's own action, -1 if somebody else moved.
        public: int32 [p], what the transition showed to everybody.
        private: int32 [m], what it showed to the player.
        max_states: the cap; of more states a uniform sample is kept. Moves of `MOVES_PER_STATE`
            times as many are followed, in about 400 bytes each for dark chess; of more moves, too,
            a sample is kept, and the infoset is not exact.
        seed: of the sample.

    Raises:
        ValueError: `max_states` is below 1, the player, the action or the observation's shape do
            not fit the game.
    """
    _check(game, player, action, public, private, max_states)
    public, private = jnp.asarray(public, jnp.int32), jnp.asarray(private, jnp.int32)
    acted = jnp.int32(action)
    words, counts = _list_moves(game, player, infoset.states, infoset.num_states, acted, private)
    total = int(counts.astype(np.uint32).sum())
    room = _room(total, MOVES_PER_STATE * max_states)
    exact = infoset.exact and total <= room
    found, count = _follow(
        game, player, room, infoset.states, words, counts, public, private, jnp.uint32(seed)
    )
    count = int(count)
    size = _room(count, max_states)
    states = jax.tree.map(lambda x: _resized(x, size), found)
    return Infoset(states, min(count, max_states), exact and count <= max_states)


def _check(
    game: Game, player: int, action: int, public: Array, private: Array, max_states: int
) -> None:
    if max_states < 1:
        raise ValueError(f"max_states should be a whole number of at least 1, not {max_states}.")
    if not 0 <= player < game.num_players:
        raise ValueError(f"player should be 0 to {game.num_players - 1}, not {player}.")
    if not -1 <= action < game.num_actions:
        raise ValueError(
            f"action should be 0 to {game.num_actions - 1}, or -1 for another's, not {action}."
        )
    shapes = jax.eval_shape(lambda: game.observe(game.init()))
    given = (np.shape(public), np.shape(private))
    wanted = (shapes[0].shape, shapes[1].shape[1:])
    if given != wanted:
        raise ValueError(f"public and private should have shapes {wanted}, not {given}.")


def _room(count: int, most: int) -> int:
    """Returns the room for so many, of few sizes so that programs are made once."""
    room = SMALLEST
    while room < count and room < most:
        room *= 8 if room < 16_384 else 2
    return room


def _resized(x: Array, size: int) -> Array:
    return x[:size] if len(x) >= size else jnp.resize(x, (size, *x.shape[1:]))


def _move_actions(game: Game) -> np.ndarray:
    if isinstance(game, FiltersMoves):
        return game.move_actions
    return np.arange(-(-game.num_actions // 32) * 32, dtype=np.int32)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _list_moves(
    game: Game, player: int, states: State, count: Array, action: Array, private: Array
) -> tuple[Array, Array]:
    """Returns possible moves as bits, uint32 [N, W], and how many each state has, int32 [N]."""
    table = _move_actions(game)
    mine = (jnp.asarray(table) == action) & (action >= 0)
    only = (mine.reshape(-1, 32).astype(jnp.uint32) << jnp.arange(32, dtype=jnp.uint32)).sum(
        -1, dtype=jnp.uint32
    )

    def moves(state: State) -> Array:
        if isinstance(game, FiltersMoves):
            words = game.possible_words(state, player, private)
        else:
            legal = jnp.pad(game.legal(state), (0, len(table) - game.num_actions))
            bits = legal.reshape(-1, 32).astype(jnp.uint32)
            words = (bits << jnp.arange(32, dtype=jnp.uint32)).sum(-1, dtype=jnp.uint32)
        own = game.actor(state) == player
        return jnp.where((action >= 0) == own, jnp.where(own, words & only, words), 0)

    words = jax.vmap(moves)(states)
    inside = jnp.arange(len(words)) < count
    words = jnp.where(inside[:, None], words, 0)
    return words, jax.lax.population_count(words).astype(jnp.int32).sum(-1)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _follow(
    game: Game,
    player: int,
    room: int,
    states: State,
    words: Array,
    counts: Array,
    public: Array,
    private: Array,
    seed: Array,
) -> tuple[State, Array]:
    """Returns the distinct states that moves lead to and that show what was seen; their number."""
    ends = jnp.cumsum(counts)
    total = ends[-1]
    place = jnp.arange(room)
    # Of more moves than there is room for, every so manieth.
    stretch = jnp.maximum(total / room, 1.0)
    wanted = jnp.minimum((place * stretch).astype(jnp.int32), total - 1)
    row = jnp.minimum(jnp.searchsorted(ends, wanted, side="right"), len(counts) - 1)
    rank = wanted - (ends - counts)[row]
    per_word = jax.lax.population_count(words).astype(jnp.int32)
    upto = jnp.cumsum(per_word, axis=-1)
    low, high = jnp.zeros(room, jnp.int32), jnp.full(room, words.shape[1] - 1, jnp.int32)
    for _ in range(max(words.shape[1] - 1, 1).bit_length()):
        middle = (low + high) // 2
        beyond = upto[row, middle] <= rank
        low, high = jnp.where(beyond, middle + 1, low), jnp.where(beyond, high, middle)
    word = words[row, low]
    rank = rank - (upto[row, low] - per_word[row, low])
    bit = _selected(word, rank)
    action = jnp.asarray(_move_actions(game))[32 * low + bit]
    before = jax.tree.map(lambda x: x[row], states)
    after = jax.vmap(game.step)(before, action)

    def fits(state: State) -> Array:
        shown = game.observe(state)
        return jnp.all(shown[0] == public) & jnp.all(shown[1][player] == private)

    valid = (place < total) & jax.vmap(fits)(after)
    flat = _flattened(after)
    keys = [_mixed(flat, seed, odd) for odd in (0x9E3779B1, 0x85EBCA77)]
    *_, order = jax.lax.sort((~valid, *keys, place), num_keys=3)
    flat, valid = flat[order], valid[order]
    # Equal states have equal keys and lie side by side.
    same = jnp.all(flat[1:] == flat[:-1], axis=-1) & valid[:-1]
    distinct = valid & ~jnp.concatenate([jnp.zeros(1, bool), same])
    at = jnp.nonzero(distinct, size=room, fill_value=0)[0]
    return jax.tree.map(lambda x: x[order[at]], after), distinct.sum()


def _selected(word: Array, rank: Array) -> Array:
    """Returns int32 [...]: the number of the bit of a word before which `rank` bits are set."""
    bit = jnp.zeros_like(rank)
    for width in (16, 8, 4, 2, 1):
        part = (word >> bit.astype(jnp.uint32)) & jnp.uint32((1 << width) - 1)
        below = jax.lax.population_count(part).astype(jnp.int32)
        up = rank >= below
        rank, bit = jnp.where(up, rank - below, rank), jnp.where(up, bit + width, bit)
    return bit


def _flattened(states: State) -> Array:
    """Returns uint32 [N, D], which are equal where states are."""
    leaves = [x.reshape(len(x), -1) for x in jax.tree.leaves(states)]
    words = []
    for leaf in leaves:
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            leaf = jax.lax.bitcast_convert_type(leaf.astype(jnp.float32), jnp.uint32)
        words.append(leaf.astype(jnp.uint32))
    return jnp.concatenate(words, axis=-1)


def _mixed(words: Array, seed: Array, odd: int) -> Array:
    """Returns uint32 [N]: a key of words [N, D]; another seed gives another order of the keys."""
    key = jnp.full(len(words), seed * jnp.uint32(2) + jnp.uint32(odd), jnp.uint32)
    for k in range(words.shape[1]):
        key = (key ^ words[:, k]) * jnp.uint32(odd)
        key = key ^ (key >> 15)
    key = key * jnp.uint32(0xC2B2AE3D)
    return key ^ (key >> 13)

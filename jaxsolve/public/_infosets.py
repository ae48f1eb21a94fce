"""The exact infoset of one player as a batch of world states, moved on with each transition.

A player who cannot list the public states of a game can still list the states that are consistent
with all that they did and saw. Each transition maps the list on: every state is followed by its
possible moves, those that would have shown the player something else are dropped, and states that
are equal are merged. A state here is what the game's rules say it is: take rules whose states hold
no history (`DarkChess.positions`), or histories are counted instead of positions.

A list that outgrows the cap is cut to a uniform sample, the lowest of keys that a seed mixes, and
says that it is not exact any more. A list without states says that no state fits what was seen.

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
from jaxsolve.public._bits import ListedBits, words_of
from jaxsolve.public._distinct import Distinct, added, chunk_size, no_states, sampled, with_room
from jaxsolve.types import Array

SMALLEST, MIDDLE = 256, 8192
"""Rooms of lists below the cap; there are few, since each is a program that takes seconds."""


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
        max_states: the cap; of more states a uniform sample is kept. All moves are followed, whose
            number is not capped; memory is about four times the cap, in about 130 bytes a state for
            dark chess.
        seed: of the sample.

    Raises:
        ValueError: `max_states` is below 1, the player, the action or the observation's shape do
            not fit the game.
    """
    _check(game, player, action, public, private, max_states)
    shown = (jnp.asarray(public, jnp.int32), jnp.asarray(private, jnp.int32))
    given = (jnp.int32(infoset.num_states), jnp.int32(action), *shown, jnp.uint32(seed))
    most = -(-max(2 * max_states, infoset.num_states) // MIDDLE) * MIDDLE
    room = _room(infoset.num_states, most)
    states, exact = _resized(infoset.states, room), infoset.exact
    progress = _Progress(jnp.int32(0), jnp.int32(0), no_states(states, room))
    while True:
        progress = _follow(game, player, room, states, *given, progress)
        found = progress.found
        count, finished = int(found.num_states), int(progress.row) >= infoset.num_states
        if count > max_states and (finished or room >= most):
            found, count, exact = sampled(found, jnp.int32(max_states)), max_states, False
        elif not finished:
            room = _room(room + 1, most)
            states, found = _resized(states, room), with_room(found, room)
        if finished:
            kept = _resized(found.states, _room(count, most))
            return Infoset(kept, count, exact and not bool(found.confused))
        progress = progress._replace(found=found)


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
    given, wanted = (np.shape(public), np.shape(private)), _observed(game)  # type: ignore[arg-type]
    if given != wanted:
        raise ValueError(f"public and private should have shapes {wanted}, not {given}.")


@functools.lru_cache(64)
def _observed(game: Game) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the shapes of a public and a private observation; tracing them takes a while."""
    shapes = jax.eval_shape(lambda: game.observe(game.init()))
    return shapes[0].shape, shapes[1].shape[1:]


def _room(count: int, most: int) -> int:
    """Returns room for so many states, of few sizes up to `most`."""
    return next(room for room in (SMALLEST, MIDDLE, most) if room >= count)


def _resized(states: State, size: int) -> State:
    """Returns so many states, padded with copies."""
    if len(jax.tree.leaves(states)[0]) == size:
        return states
    return _resize(states, size)


@functools.partial(jax.jit, static_argnums=1)
def _resize(states: State, size: int) -> State:
    def resized(x: Array) -> Array:
        return x[:size] if len(x) >= size else jnp.resize(x, (size, *x.shape[1:]))

    return jax.tree.map(resized, states)


def _move_actions(game: Game) -> np.ndarray:
    if isinstance(game, FiltersMoves):
        return game.move_actions
    return np.arange(-(-game.num_actions // 32) * 32, dtype=np.int32)


class _Progress(NamedTuple):
    """States found so far.

    Attributes:
        row: int32 [], how many states have been followed whole.
        done: int32 [], how many moves of the next block have been followed.
        found: what they lead to.
    """

    row: Array
    done: Array
    found: Distinct


@functools.partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=9)
def _follow(
    game: Game,
    player: int,
    room: int,
    states: State,
    count: Array,
    action: Array,
    public: Array,
    private: Array,
    seed: Array,
    progress: _Progress,
) -> _Progress:
    """Follows moves until all states are done or more than `room` states are found."""
    many = chunk_size(room)
    place = jnp.arange(many, dtype=jnp.int32)
    table = jnp.asarray(_move_actions(game))
    own = action >= 0
    only = jnp.where(own, words_of(table == action), jnp.uint32(0xFFFFFFFF))

    def moves(state: State) -> Array:
        if isinstance(game, FiltersMoves):
            words = game.possible_words(state, player, private)
        else:
            words = words_of(game.legal(state))
        mine = game.actor(state) == player
        return jnp.where(mine == own, words & only, 0)

    def after(before: State, actions: Array, valid: Array, found: Distinct) -> Distinct:
        def one(state: State, action: Array) -> tuple[State, Array]:
            state = game.step(state, action)
            shown = game.observe(state)
            return state, jnp.all(shown[0] == public) & jnp.all(shown[1][player] == private)

        following, fits = jax.vmap(one)(before, actions)
        return added(found, following, valid & fits, seed)

    def next_block(progress: _Progress) -> _Progress:
        some = jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, progress.row, many), states)
        inside = progress.row + place < count
        words = jnp.where(inside[:, None], jax.vmap(moves)(some), 0)
        listed = ListedBits.of(words)

        def next_chunk(progress: _Progress) -> _Progress:
            rank = progress.done + place
            row, bit = listed.find(rank)
            before = jax.tree.map(lambda x: x[row], some)
            found = after(before, table[bit], rank < listed.total, progress.found)
            return progress._replace(done=progress.done + many, found=found)

        def goes_on(progress: _Progress) -> Array:
            return (progress.done < listed.total) & (progress.found.num_states <= room)

        progress = jax.lax.while_loop(goes_on, next_chunk, progress)
        whole = progress.done >= listed.total
        return _Progress(
            jnp.where(whole, progress.row + many, progress.row),
            jnp.where(whole, 0, progress.done),
            progress.found,
        )

    def goes_on(progress: _Progress) -> Array:
        return (progress.row < count) & (progress.found.num_states <= room)

    return jax.lax.while_loop(goes_on, next_block, progress)

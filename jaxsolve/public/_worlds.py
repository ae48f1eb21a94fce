"""World states of a public state inside a search: stepping them, telling apart what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.devices import by_platform, shared_max
from jaxsolve.game import Game
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

T = TypeVar("T")

BLOCK = 16
"""Entries that `first_of` takes at once."""


class Worlds(NamedTuple):
    """World states that are possible in a public state (W of them at most).

    Attributes:
        states: the rules' states, leading axis W.
        weight: float [W], probability by chance; 0 where there is none.
        hand: int32 [W, 2], private state of each player.
    """

    states: Any
    weight: Array
    hand: Array


class Ends(NamedTuple):
    """What actions and chance lead to (E of them).

    Attributes:
        states: the rules' states, leading axis E.
        weight: float [E], probability by chance.
        hand: int32 [E, 2], private states before.
        place: int32 [E], place of the action.
        rank: int32 [E], order of action and outcome.
        alive: bool [E].
        goes_on: bool [E], somebody is to act.
        payoff: float [E], to player 0, if the game is over.
        public: uint32 [E, 2], a hash of what everybody saw.
        private: uint32 [E, 2, 2], of what each player knew, did and saw alone.
        action: int32 [E], of the game.
        shown: int32 [E, 2, 2, p + m], what the decision and the chance move after it showed to
            each player, public entries first: (end, transition, player, entry).
        moved: bool [E, 2], which of the two transitions there were.
        stuck: bool [], whether chance has more to do than was stepped.
    """

    states: Any
    weight: Array
    hand: Array
    place: Array
    rank: Array
    alive: Array
    goes_on: Array
    payoff: Array
    public: Array
    private: Array
    action: Array
    shown: Array
    moved: Array
    stuck: Array


def step_worlds(
    game: Game, here: Worlds, actor: Array, legal: Array, actions: int, outcomes: int
) -> Ends:
    """Returns what every action (and every outcome of chance) leads every world to.

    Args:
        game: the rules.
        here: the worlds of a public state.
        actor: int32 [], who acts.
        legal: bool [W, number of actions].
        actions: room for legal ones.
        outcomes: of a chance move between decisions; 0 if there is none.
    """
    count = min(actions, game.num_actions)
    order = jnp.argsort(~legal, axis=1, stable=True)[:, :count]
    place = jnp.arange(count)
    alive = (place < legal.sum(1)[:, None]).reshape(-1)
    action = order.reshape(-1)
    states = jax.tree.map(lambda x: jnp.repeat(x, count, 0), here.states)
    states = first_of(game.step, alive, states, action)
    hand = jnp.repeat(here.hand, count, 0)
    place = jnp.tile(place, len(legal))
    weight = jnp.repeat(here.weight, count) * alive
    own = jnp.where(jnp.arange(2) == actor, place[:, None] + 1, 0)
    public, private = _seen(game, states)
    shown, moved = [_rows(public, private)], [jnp.ones(len(place), bool)]
    key = _mixed(jnp.zeros((len(place), 2), jnp.uint32), public)
    known = [jnp.concatenate([hand[:, i, None], own[:, i, None], private[:, i]], 1) for i in (0, 1)]
    marks = [_mixed(jnp.zeros_like(key), x) for x in known]
    rank, stuck = place, jnp.bool_(False)
    if outcomes:
        now = jax.vmap(game.actor)(states)
        drawn = (now == CHANCE) & alive
        odds = jnp.where(jax.vmap(game.legal)(states), jax.vmap(game.chance)(states), 0)
        stuck = (drawn & (odds[:, outcomes:] > 0).any(1)).any()
        odds = odds[:, :outcomes]
        odds = jnp.where(drawn[:, None], odds, jnp.arange(outcomes) == 0)
        many = outcomes

        def each(x: Any) -> Any:
            return jax.tree.map(lambda y: jnp.repeat(y, many, 0), x)

        outcome = jnp.tile(jnp.arange(many), len(place))
        before, drawn = each(states), each(drawn)
        after = jax.vmap(game.step)(before, outcome)
        states = jax.tree.map(
            lambda x, y: jnp.where(drawn.reshape(-1, *(1,) * (x.ndim - 1)), x, y), after, before
        )
        public, private = _seen(game, states)
        nothing = NOTHING - 1
        public = jnp.where(drawn[:, None], public, nothing)
        private = jnp.where(drawn[:, None, None], private, nothing)
        shown, moved = [each(shown[0]), _rows(public, private)], [each(moved[0]), drawn]
        key = _mixed(each(key), public)
        marks = [_mixed(each(m), private[:, i]) for i, m in enumerate(marks)]
        weight = each(weight) * odds.reshape(-1)
        hand, rank = each(hand), each(place) * many + outcome
        place, alive, action = each(place), weight > 0, each(action)
    else:
        shown, moved = [shown[0]] * 2, [moved[0], jnp.zeros(len(place), bool)]
    now = jax.vmap(game.actor)(states)
    stuck |= ((now == CHANCE) & alive).any()
    return Ends(
        states=states,
        weight=weight,
        hand=hand,
        place=place,
        rank=rank,
        alive=alive & (weight > 0),
        goes_on=alive & (weight > 0) & (now >= 0),
        payoff=jax.vmap(game.utility)(states)[:, 0],
        public=key,
        private=jnp.stack(marks, 1),
        action=action.astype(jnp.int32),
        shown=jnp.stack(shown, 1),
        moved=jnp.stack(moved, 1),
        stuck=stuck,
    )


def first_of(function: Callable[..., T], there: Array, *entries: Any) -> T:
    """Returns what a function makes of entries with a leading axis E, of those that are there.

    On a CPU they are taken a block at a time up to the last one, and what comes after that is 0. In
    chess 218 moves have room, and some thirty are legal.

    Args:
        function: of one entry.
        there: bool [E].
        *entries: pytrees.
    """
    size = len(there)

    def every() -> T:
        return jax.vmap(function)(*entries)

    def blocks() -> T:
        blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(every))
        last = jnp.max(jnp.where(there, jnp.arange(size) + 1, 0))

        def one(number: Array, done: T) -> T:
            at = jnp.minimum(number * BLOCK, size - BLOCK)  # the last block overlaps
            some = jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, at, BLOCK), entries)
            return jax.tree.map(
                lambda x, y: jax.lax.dynamic_update_slice_in_dim(x, y, at, 0),
                done,
                jax.vmap(function)(*some),
            )

        return jax.lax.fori_loop(0, shared_max((last + BLOCK - 1) // BLOCK), one, blank)

    if size <= 2 * BLOCK:
        return every()
    return by_platform(cpu=blocks, default=every)


def _seen(game: Game, states: Any) -> tuple[Array, Array]:
    """Returns what the last transition showed: public [E, p + 1] and private [E, 2, m]."""
    public, private = jax.vmap(game.observe)(states)
    over = jax.vmap(game.actor)(states) == TERMINAL
    return (
        jnp.concatenate([public.reshape(len(over), -1), over[:, None]], 1),
        private.reshape(len(over), 2, -1),
    )


def _rows(public: Array, private: Array) -> Array:
    """Returns int32 [E, 2, p + m], what each player was shown; see `_seen`."""
    both = jnp.broadcast_to(public[:, None, :-1], (len(public), 2, public.shape[1] - 1))
    return jnp.concatenate([both, private], 2).astype(jnp.int32)


def _mixed(key: Array, columns: Array) -> Array:
    """Returns uint32 [E, 2], hashes that take in some columns [E, n] of integers."""
    for k in range(columns.shape[1]):
        x = columns[:, k, None].astype(jnp.int32).astype(jnp.uint32)
        key = (key ^ x) * jnp.array([0x9E3779B1, 0x85EBCA77], jnp.uint32)
        key = key ^ (key >> jnp.array([15, 13], jnp.uint32))
        key = key * jnp.array([0xC2B2AE3D, 0x27D4EB2F], jnp.uint32)
        key = key ^ (key >> jnp.array([13, 16], jnp.uint32))
    return key


def groups(key: Array, real: Array, rank: Array) -> tuple[Array, Array]:
    """Returns (int32 [E], number of each distinct key in the order of its least rank; their count).

    Keys of equal rank are in the order of their first entries. Entries that are not real have a
    number beyond all others.
    """
    size = len(real)
    columns = [key[:, k] for k in range(key.shape[1])]
    order = jnp.lexsort((jnp.arange(size), *columns, ~real))
    ahead = [x[order] for x in columns]
    new = jnp.any(jnp.stack([x[1:] != x[:-1] for x in ahead]), 0)
    begins = jnp.append(True, new) & real[order]
    group = jnp.zeros(size, jnp.int32).at[order].set(jnp.cumsum(begins) - 1)
    group = jnp.where(real, group, size)
    least = jnp.full(size, jnp.iinfo(jnp.int32).max, jnp.int32)
    first = least.at[group].min(jnp.arange(size, dtype=jnp.int32), mode="drop")
    least = least.at[group].min(rank.astype(jnp.int32), mode="drop")
    place = jnp.zeros(size, jnp.int32).at[jnp.lexsort((first, least))].set(jnp.arange(size))
    return jnp.where(real, jnp.append(place, size)[group], size), begins.sum()


def lists(
    row: Array, column: Array, real: Array, size: int, width: int, pad: int
) -> tuple[Array, Array]:
    """Returns (the columns that some pairs give each row, in order; whether some row has more).

    Args:
        row: int32 [E], below `size` where real.
        column: int32 [E].
        real: bool [E]; other pairs do not count, nor do equal ones twice.
        size: N, number of rows.
        width: room in each row; the result is int32 [N, width].
        pad: what fills up rows.
    """
    order = jnp.lexsort((column, row, ~real))
    row, column, real = row[order], column[order], real[order]
    begins = jnp.append(True, row[1:] != row[:-1])
    new = real & (begins | jnp.append(True, column[1:] != column[:-1]))
    count = jnp.cumsum(new)
    before = jax.lax.cummax(jnp.where(begins, count - new, 0))
    place = count - new - before
    out = jnp.full((size, width), pad, jnp.int32)
    at = jnp.where(new, row, size)
    out = out.at[at, place].set(column.astype(jnp.int32), mode="drop")
    return out, (new & (place >= width)).any()

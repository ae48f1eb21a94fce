"""Values of positions from self-play: games of a player that looks one move ahead, and a fit.

Batches of games run in one compiled program. The player takes the move after which the position
looks best to it, noise added, so that games differ and pieces get lost as they do in fog. The
network learns how games ended from the positions in them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxsolve.game import Game, State
from jaxsolve.nets import PositionNet, position_logit, position_net
from jaxsolve.public import ListedBits, words_of
from jaxsolve.search.knowledge import ValueFunction
from jaxsolve.types import TERMINAL, Array, PRNGKey

CHILDREN = 64
"""Children made at a ply for each game of a batch; games beyond them stop there, undecided."""


class PositionGames(NamedTuple):
    """Positions of B games of T plies.

    Attributes:
        states: leaves [T, B, ...], before each ply.
        played: bool [T, B], whether the game was not over.
        result: float [B], player 0's payoff, 0 where the game had no end in time.
    """

    states: State
    played: Array
    result: Array


@functools.partial(jax.jit, static_argnums=(0, 1), static_argnames=("num_games", "plies"))
def position_games(
    game: Game,
    value_fn: ValueFunction,
    key: PRNGKey,
    *,
    num_games: int,
    plies: int,
    noise: float = 0.1,
) -> PositionGames:
    """Returns games of a player that looks one move ahead.

    Args:
        game: rules without chance whose states are positions.
        value_fn: what a state is worth to player 0.
        key: of the noise.
        num_games: B.
        plies: T.
        noise: scale of the Gumbel noise on values of moves.
    """
    room = CHILDREN * num_games
    number = jnp.arange(room, dtype=jnp.int32)

    def worth(state: State) -> Array:
        over = game.actor(state) == TERMINAL
        return jnp.where(over, jnp.asarray(game.utility(state), float)[0], value_fn(state))

    def ply(states: State, key: PRNGKey) -> tuple[State, tuple[State, Array]]:
        actor = jax.vmap(game.actor)(states)
        listed = ListedBits.of(words_of(jax.vmap(game.legal)(states)))
        which, action = listed.find(number)
        used = number < jnp.minimum(listed.total, room)
        above = jax.tree.map(lambda x: x[which], states)
        made = jax.vmap(game.step)(above, action)
        sign = 1.0 - 2.0 * actor[which]
        score = sign * jax.vmap(worth)(made) + noise * jax.random.gumbel(key, (room,))
        score = jnp.where(used, score, -jnp.inf)
        best = jax.ops.segment_max(score, which, num_games)
        taken = jnp.where(used & (score == best[which]), number, room)
        taken = jax.ops.segment_min(taken, which, num_games)
        moves = (actor != TERMINAL) & (taken < room)
        after = jax.tree.map(lambda x: x[jnp.minimum(taken, room - 1)], made)

        def moved(new: Array, old: Array) -> Array:
            return jnp.where(moves.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        return jax.tree.map(moved, after, states), (states, actor != TERMINAL)

    start = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_games, *jnp.shape(x))), game.init())
    last, (states, played) = jax.lax.scan(ply, start, jax.random.split(key, plies))
    over = jax.vmap(game.actor)(last) == TERMINAL
    result = jnp.where(over, jax.vmap(lambda s: jnp.asarray(game.utility(s), float)[0])(last), 0.0)
    return PositionGames(states, played, result)


class PositionFit(NamedTuple):
    """A trained network.

    Attributes:
        net: the network.
        loss: mean squared error of results in the games held out.
        guess_loss: the same of the game's own guess.
        positions: trained on.
    """

    net: PositionNet
    loss: float
    guess_loss: float
    positions: int


def train_positions(
    game: Any,
    batches: list[PositionGames],
    key: PRNGKey,
    *,
    hidden: int = 32,
    steps: int = 1000,
    batch: int = 4096,
    rate: float = 1e-3,
) -> PositionFit:
    """Returns a network trained on all batches of games but the last, which is held out.

    Args:
        game: rules with `evaluate` and `position_features`.
        batches: of games.
        key: of the first layer and the order.
        hidden: units.
        steps: of Adam on the squared error of results.
        batch: positions a step.
        rate: of learning.

    Raises:
        ValueError: there are fewer than two batches, or the rules do not describe positions.
    """
    if len(batches) < 2:
        raise ValueError(
            f"{len(batches)} batches of games: the last is held out, so give 2 or more"
        )
    first, order = jax.random.split(key)
    net = position_net(game, first, hidden=hidden)
    rows = [_rows(game, games) for games in batches]
    given = [np.concatenate([row[k] for row in rows[:-1]]) for k in range(3)]
    optimizer = optax.adam(optax.cosine_decay_schedule(rate, steps))

    def loss(params: dict[str, Array], bits: Array, guess: Array, result: Array) -> Array:
        features = jnp.unpackbits(bits, axis=-1).astype(float)[:, : len(net.params["first"])]
        return jnp.mean((jnp.tanh(position_logit(params, guess, features)) - result) ** 2)

    @jax.jit
    def step(params: Any, state: Any, *part: Array) -> tuple[Any, Any]:
        updates, state = optimizer.update(jax.grad(loss)(params, *part), state)
        return optax.apply_updates(params, updates), state

    rng = np.random.default_rng(np.asarray(jax.random.key_data(order)))
    params, state = net.params, optimizer.init(net.params)
    for _ in range(steps):
        some = rng.integers(len(given[0]), size=batch)
        params, state = step(params, state, *(x[some] for x in given))
    held = [float(jax.jit(loss)(p, *rows[-1])) for p in (params, net.params)]
    return PositionFit(PositionNet(game, params), held[0], held[1], len(given[0]))


def _rows(game: Any, games: PositionGames) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns features as bits, guess and result to the side to move, of all positions played."""

    @jax.jit
    def row(states: State, result: Array) -> tuple[Array, Array, Array]:
        sign = 1.0 - 2.0 * game.actor(states)
        bits = jnp.packbits(game.position_features(states) > 0)
        return bits, sign * game.evaluate(states), sign * result

    result = jnp.broadcast_to(games.result, games.played.shape)
    found = jax.vmap(jax.vmap(row))(games.states, result)
    kept = np.asarray(games.played)
    bits, guess, result = (np.asarray(x)[kept] for x in found)
    return bits, guess, result

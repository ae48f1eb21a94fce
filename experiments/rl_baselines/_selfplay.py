"""Batches of games between two learners that only see their own infostates.

A learner turns what it has learned into a table of action probabilities for every infostate; a
batch of games is then played on the world states of the compiled rules, all in one jitted program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import games
import jaxsolve as js
from jaxsolve import evaluate
from jaxsolve.types import Array, PRNGKey


class Env(NamedTuple):
    """A two-player game as arrays (I infostates of the player with more, A actions, F features).

    Attributes:
        arena: world states.
        legal: bool [2, I, A]; padding may do anything, so that it is never divided by 0.
        features: float [2, I, F], what a player has seen and done, one-hot by its place.
        scale: float [], the largest payoff; learners see payoffs in this unit.
    """

    arena: evaluate.Arena
    legal: Array
    features: Array
    scale: Array


class Episodes(NamedTuple):
    """Decisions of a batch of games (D moves, B games).

    Attributes:
        actor: int32 [D, B], whose decision; negative where there was none.
        row: int32 [D, B], infostate.
        action: int32 [D, B].
        after: int32 [D, B], the same player's next infostate, -1 if this was the last.
        payoff: float [D, B], what the player won in the end, in units of `Env.scale`.
    """

    actor: Array
    row: Array
    action: Array
    after: Array
    payoff: Array


class Method(NamedTuple):
    """A learner.

    Attributes:
        init: (key) -> state, a pytree.
        update: (state, key) -> state after `batch` more games.
        policy: (state) -> float [2, I, A], the policy that is measured.
        batch: games of an update.
    """

    init: Callable[[PRNGKey], Any]
    update: Callable[[Any, PRNGKey], Any]
    policy: Callable[[Any], Array]
    batch: int


def make_env(name: str) -> tuple[js.PublicTree, Env]:
    """Returns the tree of a two-player game and its arrays."""
    tree = js.compile(games.load(name))
    info = tree.info
    assert info.game is not None
    most, actions = max(info.num_infosets), info.game.num_actions
    legal = np.ones((2, most, actions), bool)
    for i, player in enumerate(info.players):
        row = np.repeat(np.arange(player.num_infosets), np.diff(player.offset))
        legal[i, : player.num_infosets] = False
        legal[i, row, player.action] = True
    arena = evaluate.arena(tree)
    return tree, Env(
        arena=arena,
        legal=jnp.asarray(legal),
        features=jnp.asarray(_features(tree, most), float),
        scale=jnp.abs(arena.payoff).max(),
    )


def play(env: Env, table: Array, key: PRNGKey, batch: int) -> Episodes:
    """Returns games in which both players draw from a table [2, I, A] of probabilities."""
    arena = env.arena
    uniform = jax.random.uniform(key, (arena.max_moves, batch))

    def move(state: Array, u: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        actor = arena.actor[state]
        row = jnp.maximum(arena.infoset[state], 0)
        odds = table[jnp.maximum(actor, 0), row]
        odds = jnp.where((actor >= 0)[:, None], odds, arena.chance[state])
        below = jnp.cumsum(odds, -1)
        action = (below <= u[:, None] * below[:, -1:]).sum(-1).clip(0, odds.shape[-1] - 1)
        child = arena.child[state, action]
        return jnp.where(child >= 0, child, state), (actor, row, action)

    start = jnp.zeros(batch, jnp.int32)
    last, (actor, row, action) = jax.lax.scan(move, start, uniform)

    def look_ahead(following: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        who, here = now
        mine = jnp.arange(2)[:, None] == who
        after = jnp.take_along_axis(following, jnp.maximum(who, 0)[None], 0)[0]
        return jnp.where(mine, here, following), after

    none = jnp.full((2, batch), -1, row.dtype)
    _, after = jax.lax.scan(look_ahead, none, (actor, row), reverse=True)
    won = arena.payoff[last] / env.scale
    payoff = jnp.where(actor == 1, won[:, 1], won[:, 0])
    return Episodes(actor, row, action, after, payoff)


def greedy(env: Env, values: Array) -> Array:
    """Returns [2, I, A], the policy of the legal action of the highest value."""
    best = jnp.argmax(jnp.where(env.legal, values, -jnp.inf), -1)
    return jax.nn.one_hot(best, values.shape[-1])


def explore(env: Env, table: Array, epsilon: Array | float) -> Array:
    """Returns a table mixed with the uniform one."""
    uniform = env.legal / env.legal.sum(-1, keepdims=True)
    return (1 - epsilon) * table + epsilon * uniform


def exploitability(tree: js.PublicTree, table: np.ndarray) -> float:
    """Returns the exploitability in mbb/h (thousandths of a chip) of a table [2, I, A]."""
    info = tree.info
    parts = []
    for i, player in enumerate(info.players):
        row = np.repeat(np.arange(player.num_infosets), np.diff(player.offset))
        parts.append(np.asarray(table, np.float64)[i, row, player.action])
    policy = js.tree.policy_from_probabilities(tree, parts)
    return 1000 * float(js.exploitability(tree, policy))


def _features(tree: js.PublicTree, most: int) -> np.ndarray:
    """Returns bool [2, I, F]: own actions and observations in order, each one-hot."""
    info = tree.info
    words: list[list[tuple[int, ...]]] = []
    for player in info.players:
        states = player.states
        assert states is not None
        for at in player.infostate:
            steps: list[int] = []
            while at >= 0:
                seen = (int(states.action[at]), *(int(x) for x in states.observation[at]))
                steps, at = [*seen, *steps], states.parent[at]
            words.append([(k, w) for k, w in enumerate(steps) if w >= 0])
    known = {w: k for k, w in enumerate(sorted({w for line in words for w in line}))}
    out = np.zeros((2, most, len(known)), bool)
    start = 0
    for i, player in enumerate(info.players):
        for row in range(player.num_infosets):
            out[i, row, [known[w] for w in words[start + row]]] = True
        start += player.num_infosets
    return out

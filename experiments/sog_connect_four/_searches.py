"""Three searches with one network: SoG with k = 1, and mctx's MuZero-style and Gumbel searches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxsolve as js
from experiments.sog_connect_four._board import (
    COLUMNS,
    ROWS,
    board_model,
    connect_four,
    replay,
    root_of,
)
from jaxsolve import devices
from jaxsolve.nets import Net, policy_prior
from jaxsolve.public import PublicState
from jaxsolve.search import growing_search, gt_cfr
from jaxsolve.types import TERMINAL, Array

OURS: dict[str, dict[str, float]] = {
    "sog": {},
    "sog, c=4": {"per_update": 4},
    "sog, warm": {"warm": 10.0},
}
"""Options of our searches beside c = 1; in games of perfect information the paper has c = 10."""

PEERS = ("mctx muzero", "mctx gumbel")
SEARCHES = {name: (name, f"{name}, visits") for name in OURS} | {name: (name,) for name in PEERS}
"""Searches, and the rows of each: ways to play by what it found."""

SOLVER = js.cfr_plus().simultaneous()
"""The paper's updates."""


def best_moves(
    search: str, net: Net, simulations: int, positions: np.ndarray, batch: int
) -> np.ndarray:
    """Returns int32 [K, P], the columns that a search plays, without noise, by each of its rows.

    Args:
        search: one of `SEARCHES`.
        net: with a policy head.
        simulations: s.
        positions: int32 [P, 42], moves that led there.
        batch: positions side by side.

    Raises:
        ImportError: mctx is not installed; says how to install it.
        ValueError: there is no such search.
    """
    if search not in SEARCHES:
        raise ValueError(f"no search {search!r}; choose one of {', '.join(SEARCHES)}")
    board_model()  # it is made on the host
    if search in OURS:
        c = int(min(OURS[search].get("per_update", 1), simulations))
        warm = OURS[search].get("warm")
        act: Callable[..., Array] = functools.partial(_sog, per_update=c, warm=warm)
    else:
        act = _mctx(search)
    out = []
    for low in range(0, len(positions), batch):
        some = positions[low : low + batch]
        padded = np.concatenate([some, np.full((batch - len(some), some.shape[1]), -1)])
        keys = jax.random.split(jax.random.key(low), batch)
        with devices.meshed():
            found = act(net, jnp.asarray(padded, jnp.int32), keys, simulations=simulations)
        out.append(np.asarray(found)[: len(some)])
    return np.concatenate(out).T


@functools.partial(jax.jit, static_argnames=("simulations", "per_update", "warm"))
def _sog(
    net: Net,
    positions: Array,
    keys: Array,
    *,
    simulations: int,
    per_update: int,
    warm: float | None,
) -> Array:
    """Returns int32 [B, 2]: the likeliest move of the average policy, and the most visited one.

    Of equals it is the one whose worth in the last iteration and prior add up to most: after one
    simulation the average policy is even.
    """
    model, _ = board_model()
    search = growing_search(
        model, SOLVER, simulations=simulations, per_update=per_update, warm=warm, top=1
    )
    game = connect_four()

    def one(moves: Array, key: Array) -> Array:
        state = replay(moves)
        even = jnp.ones((2, 1))
        found = gt_cfr(search, net, root_of(state), even, key, prior=policy_prior(net))
        legal = game.legal(state)
        place = jnp.maximum(jnp.cumsum(legal) - 1, 0)
        among = found.action_values[found.focus] + found.growth.prior[found.focus]

        def best(score: Array) -> Array:
            odds = jnp.where(legal, score[place, 0], -1)
            equal = jnp.isclose(odds, odds.max())
            return jnp.argmax(jnp.where(equal, among[place, 0], -jnp.inf)).astype(jnp.int32)

        return jnp.stack([best(found.policy), best(found.growth.visits[found.focus])])

    found: Array = devices.vmap(one)(positions, keys)
    return found


@functools.cache
def _mctx(search: str) -> Callable[..., Array]:
    """Returns mctx's search, compiled once for each number of simulations."""
    try:
        import mctx
    except ImportError as error:
        raise ImportError(f"the peer's searches need mctx ({error}): pip install mctx") from None
    game = connect_four()

    def look(net: Net, state: Any) -> tuple[Array, Array]:
        """Returns (logits [7], value to the mover []) of a state."""
        public = PublicState(
            features=game.public_features(state)[None],
            possible=jnp.ones((1, 2, 1), bool),
            scale=jnp.ones(1),
            subgame_class=jnp.full(1, -1, jnp.int32),
        )
        found = net.output(public, jnp.ones((1, 2, 1)))
        legal = game.legal(state)
        place = jnp.maximum(jnp.cumsum(legal) - 1, 0)
        logits = jnp.where(legal, found.policy_logits[0, place, 0], -1e9)
        return logits, found.values[0, jnp.maximum(game.actor(state), 0), 0]

    def step(net: Net, _: Any, action: Array, state: Any) -> tuple[Any, Any]:
        def one(action: Array, state: Any) -> tuple[Any, Any]:
            mover = game.actor(state)
            after = game.step(state, action)
            over = game.actor(after) == TERMINAL
            logits, value = look(net, after)
            reward = jnp.where(over, game.utility(after)[jnp.maximum(mover, 0)], 0)
            # What was over before stays so, without any reward.
            reward = jnp.where(mover == TERMINAL, 0, reward)
            return (
                mctx.RecurrentFnOutput(
                    reward=reward,
                    discount=jnp.where(over, 0.0, -1.0),
                    prior_logits=logits,
                    value=jnp.where(over, 0.0, value),
                ),
                after,
            )

        found: tuple[Any, Any] = jax.vmap(one)(action, state)
        return found

    @functools.partial(jax.jit, static_argnames="simulations")
    def act(net: Net, positions: Array, keys: Array, *, simulations: int) -> Array:
        def share(positions: Array, keys: Array) -> Array:
            states = jax.vmap(replay)(positions)
            logits, value = jax.vmap(lambda s: look(net, s))(states)
            root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=states)
            shared = {
                "num_simulations": simulations,
                "invalid_actions": ~jax.vmap(game.legal)(states),
                "max_depth": ROWS * COLUMNS,
            }
            if search == "mctx gumbel":
                found = mctx.gumbel_muzero_policy(
                    net, keys[0], root, step, gumbel_scale=0.0, **shared
                )
                return jnp.asarray(found.action, jnp.int32)[:, None]
            found = mctx.muzero_policy(
                net, keys[0], root, step, dirichlet_fraction=0.0, temperature=0.0, **shared
            )
            return jnp.argmax(found.action_weights, -1, keepdims=True).astype(jnp.int32)

        return devices.split(share)(positions, keys)

    return act

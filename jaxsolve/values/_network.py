"""A network for the values at a depth limit: features of a state -> one value per continuation.

Two hidden layers, Huber loss, Adam, as Modicum's (Brown, Sandholm and Amos 2018, section 6.2: 34
features, 64 units, values as fractions of the pot). Targets are drawn inside the training program,
so that rollouts, loss and update are one graph. Needs `pip install "jaxsolve[learn]"`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.compiler import in_rows
from jaxsolve.tree import PublicTree, listed
from jaxsolve.types import Array, PRNGKey, PyTree
from jaxsolve.values._limit import DepthLimit


class LeafNetwork(NamedTuple):
    """A network as functions.

    Attributes:
        init: (key, features [L, F]) -> parameters.
        apply: (parameters, features [L, F]) -> values [L, ...] in the game's units.
    """

    init: Callable[[PRNGKey, Array], PyTree]
    apply: Callable[[PyTree, Array], Array]


class Fit(NamedTuple):
    """A trained network.

    Attributes:
        parameters: of the network.
        losses: float [steps], mean Huber loss of each batch, in units of `scale`.
    """

    parameters: PyTree
    losses: Array


def leaf_network(
    shape: tuple[int, ...],
    *,
    hidden: Sequence[int] = (64, 64),
    scale: float = 1.0,
) -> LeafNetwork:
    """Returns a network with one output for each combination of continuations and player.

    Args:
        shape: (k_0, ..., k_{n-1}, n); of two players and constant sum player 0's payoffs are
            enough, (k_0, k_1).
        hidden: units of each hidden layer.
        scale: the game's units per unit of output, such as a typical pot.

    Raises:
        ImportError: Flax is not installed.
    """
    from flax import linen as nn  # an extra: jaxsolve[learn]

    class Body(nn.Module):
        @nn.compact
        def __call__(self, features: Array) -> Array:
            x = features
            for width in hidden:
                x = nn.relu(nn.Dense(width)(x))
            return nn.Dense(math.prod(shape))(x)

    body = Body()

    def apply(parameters: PyTree, features: Array) -> Array:
        out = jnp.asarray(body.apply(parameters, features))
        return scale * out.reshape(*features.shape[:-1], *shape)

    return LeafNetwork(body.init, apply)


def fit(
    network: LeafNetwork,
    features: Array,
    targets: Array | Callable[[PRNGKey, Array], Array],
    key: PRNGKey,
    *,
    steps: int = 2000,
    batch: int = 256,
    learning_rate: float = 1e-3,
    scale: float = 1.0,
) -> Fit:
    """Returns a trained network; one compiled program, targets included.

    Args:
        network: from `leaf_network`.
        features: float [L, F].
        targets: float [L, ...], or (key, int32 [B] states) -> float [B, ...], such as
            `values.rollouts(...)`.
        key: PRNG key.
        steps: of Adam, with a cosine schedule down to 0.
        batch: B.
        learning_rate: at the start.
        scale: the game's units per unit of loss; about the largest payoff where targets are noisy,
            so that the loss stays quadratic and its minimum is their mean.

    Raises:
        ImportError: Optax is not installed.
        ValueError: targets of another shape than the network's values.
    """
    import optax  # an extra: jaxsolve[learn]

    start, run = jax.random.split(key)
    parameters = network.init(start, features[:1])
    shape = jax.eval_shape(network.apply, parameters, features).shape
    given = jax.eval_shape(targets, key, jnp.arange(1)) if callable(targets) else targets
    if jnp.shape(given)[1:] != shape[1:]:
        raise ValueError(
            f"targets of a state have shape {jnp.shape(given)[1:]}, the network returns {shape[1:]}"
        )
    optimiser = optax.adam(optax.cosine_decay_schedule(learning_rate, steps))

    def loss(parameters: PyTree, rows: Array, wanted: Array) -> Array:
        guess = network.apply(parameters, rows)
        return optax.huber_loss(guess / scale, wanted / scale).mean()

    def step(carry: Any, number: Array) -> tuple[Any, Array]:
        parameters, state = carry
        pick, draw = jax.random.split(jax.random.fold_in(run, number))
        states = jax.random.randint(pick, (batch,), 0, len(features))
        wanted = targets(draw, states) if callable(targets) else jnp.asarray(targets)[states]
        value, gradient = jax.value_and_grad(loss)(parameters, features[states], wanted)
        updates, state = optimiser.update(gradient, state)
        return (optax.apply_updates(parameters, updates), state), value

    @jax.jit
    def train(parameters: PyTree) -> tuple[Any, Array]:
        carry = (parameters, optimiser.init(parameters))
        return jax.lax.scan(step, carry, jnp.arange(steps))

    (parameters, _), losses = train(parameters)
    return Fit(parameters, losses)


def path_features(tree: PublicTree, limit: DepthLimit) -> np.ndarray:
    """Returns float32 [L, F], the moves that lead to each state: one-hot, by their number.

    Cards that chance deals in any order would be learned faster from features of a game's own.

    Args:
        tree: a compiled game.
        limit: of it.
    """
    table = listed(in_rows(tree)).states
    depth = np.searchsorted(table.depth_start, limit.leaf, side="right") - 1
    columns = []
    at = limit.leaf.copy()
    moves = np.full((limit.num_leaves, int(depth.max(initial=0))), -1)
    left = depth.copy()
    while (left > 0).any():
        some = np.flatnonzero(left > 0)
        moves[some, left[some] - 1] = table.action[at[some]]
        at[some] = table.parent[at[some]]
        left[some] -= 1
    for column in moves.T:
        kinds = np.unique(column[column >= 0])
        columns.append(column[:, None] == kinds)
    return np.concatenate(columns, 1).astype(np.float32)

"""Positions of games and how the games ended, as examples of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve import learn
from jaxsolve.nets import Net
from jaxsolve.public import HiddenPieceModel, HiddenRoot, PublicState
from jaxsolve.types import Array, PRNGKey


class Seen(NamedTuple):
    """A public state that a game came to (H hidden numbers).

    Attributes:
        root: the public state.
        belief: float [H], over the hidden number.
        number: int32 [], the hidden one.
        outcome: float [], of the game to player 0, in units of the largest payoff.
    """

    root: HiddenRoot
    belief: Array
    number: Array
    outcome: Array


def outcome_source(
    model: HiddenPieceModel,
    played: Callable[[Net, PRNGKey], Seen],
    *,
    games: int,
    positions: int,
    settings: str,
) -> learn.Source:
    """Returns examples of values from games: an outcome is the target of the number that was there.

    Args:
        model: of the game.
        played: (network, key) -> positions of games, leading axes [games, positions].
        games: in a batch.
        positions: of a game.
        settings: what the games depend on, in words.
    """
    size, numbers = games * positions, jnp.arange(model.hands[0])

    def told(roots: HiddenRoot) -> PublicState:
        return jax.vmap(lambda x: model.public_state(*model.start(x, 1, x.weight.dtype)))(roots)

    def sample(net: Net, state: Array, key: PRNGKey) -> tuple[learn.Examples, Array]:
        seen: Seen = jax.tree.map(lambda x: x.reshape(size, *x.shape[2:]), played(net, key))
        dtype = seen.belief.dtype
        alone = jnp.broadcast_to(numbers == 0, seen.belief.shape)
        beliefs = jnp.stack([seen.belief, alone.astype(dtype)], 1)
        met = jnp.stack([numbers == seen.number[:, None], alone], 1).astype(dtype)
        worth = seen.outcome[:, None] * jnp.asarray([1.0, -1.0], dtype)
        policy = jnp.zeros((size, 0, len(numbers)), dtype)
        examples = learn.Examples(
            seen.root, beliefs, met * worth[..., None], policy, met, met[:, 0, 0]
        )
        return examples, state + games

    return learn.Source(
        init=lambda key: jnp.zeros((), jnp.int32),
        sample=sample,
        batch=size,
        public_state=told,
        counts=lambda state: {"episodes": state},
        settings=f"{model.format.game}, {settings}, {games} x {positions}",
    )

"""Positions of games and what they were worth, as examples of values."""

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
        values: float [H], targets of player 0's values, in units of the largest payoff.
        theirs: float [], target of player 1's only value.
        weight: float [H], of each target of player 0's, with sum 1.
    """

    root: HiddenRoot
    belief: Array
    values: Array
    theirs: Array
    weight: Array


def ended(root: HiddenRoot, belief: Array, number: Array, outcome: Array) -> Seen:
    """Returns a position whose target is how the game ended, for the number that was there.

    Args:
        root: the public state.
        belief: float [H], over the hidden number.
        number: int32 [], the hidden one.
        outcome: float [], of the game to player 0, in units of the largest payoff.
    """
    there = (jnp.arange(len(belief)) == number).astype(belief.dtype)
    return Seen(root, belief, outcome * there, -outcome, there)


def positions_source(
    model: HiddenPieceModel,
    played: Callable[[Net, PRNGKey], Seen],
    *,
    games: int,
    positions: int,
    settings: str,
) -> learn.Source:
    """Returns examples of values from positions of games.

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
        alone = jnp.broadcast_to((numbers == 0).astype(dtype), seen.belief.shape)
        beliefs = jnp.stack([seen.belief, alone], 1)
        worth = jnp.stack([seen.values, alone * seen.theirs[:, None]], 1)
        weight = jnp.stack([seen.weight, alone], 1)
        policy = jnp.zeros((size, 0, len(numbers)), dtype)
        # Nothing is learned of policies here; there is none.
        nothing = jnp.zeros(size, dtype)
        examples = learn.Examples(seen.root, beliefs, worth, policy, weight, nothing)
        return examples, state + games

    return learn.Source(
        init=lambda key: jnp.zeros((), jnp.int32),
        sample=sample,
        batch=size,
        public_state=told,
        counts=lambda state: {"episodes": state},
        settings=f"{model.format.game}, {settings}, {games} x {positions}",
    )

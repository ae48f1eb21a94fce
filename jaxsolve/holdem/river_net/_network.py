"""What a river network sees and says, in buckets of strength.

What hands are worth if nobody bets is computed exactly; the network adds what betting adds. Per
player and bucket it sees the share of the range and the share below (which says what the bucket's
hands win against it), for the board how many hands tie, and the stack. It says what betting adds
per unit of the opponent's reach, in pots; the ranges weigh that to zero (the zero-sum layer of
`nets`). A hand's own value lies between those of its two buckets.

Differs from DeepStack (Moravcik et al. 2017), which learns whole values of 1,000 clusters: buckets
follow from the board alone, and what showdowns without bets are worth need not be learned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.holdem.river_net._betting import Form, check_down
from jaxsolve.holdem.river_net._boards import RiverBoard, bucket_shares, ties
from jaxsolve.nets import Net, ValueNetwork, make_net
from jaxsolve.public import PublicState, StateFormat
from jaxsolve.types import Array, PRNGKey

STACK_FEATURES = 3


class RiverFormat(NamedTuple):
    """The public states of a river network; `nets.make_net` takes it as a game."""

    format: StateFormat


def river_format(buckets: int, game: str = "hold'em rivers") -> RiverFormat:
    """Returns the format of K buckets; `game` names what may be bet."""
    features = STACK_FEATURES + 3 * buckets
    size = (buckets, buckets)
    return RiverFormat(StateFormat(game, features, size, 0, 1.0, False, "pairs"))


def river_net(
    key: PRNGKey, *, buckets: int = 32, width: int = 192, depth: int = 3, game: str = "rivers"
) -> Net:
    """Returns an untrained network that says that betting adds nothing.

    Args:
        key: draws the parameters.
        buckets: K.
        width: W of its layers.
        depth: how many layers.
        game: names what may be bet.
    """
    net = make_net(river_format(buckets, game), ValueNetwork(width, depth), key)
    last = f"Dense_{depth}"
    params = dict(net.params["params"])
    params[last] = jax.tree.map(jnp.zeros_like, params[last])
    return net.replace({"params": params})


def check_river_net(net: Net) -> None:
    """Raises ValueError if a network is none of river values."""
    want = river_format(buckets_of(net)).format._replace(game=net.format.game)
    if net.format != want:
        raise ValueError(f"the network is for {net.format.game!r}, and not of river values")


def buckets_of(net: Net) -> int:
    """Returns K."""
    return net.format.hands[0]


def public_states(shares: Array, tied: Array, stack: Array) -> PublicState:
    """Returns what a network is given besides the ranges.

    Args:
        shares: float [..., 2, K], ranges by bucket, each sums to 1.
        tied: float [..., K], see `ties`.
        stack: float [...], chips behind in pots.
    """
    below = jnp.cumsum(shares, -1) - shares / 2
    flat = (2 * below - 1).reshape(*shares.shape[:-2], -1)
    features = jnp.concatenate([stack_features(stack), 4 * tied, flat], -1)
    return PublicState(
        features,
        jnp.ones(shares.shape, bool),
        jnp.ones_like(stack),
        jnp.full(stack.shape, -1, jnp.int32),
    )


def stack_features(stack: Array) -> Array:
    """Returns float [..., 3] of a stack in pots."""
    return jnp.stack([jnp.log(stack) / 2, jnp.minimum(stack, 1), stack / (1 + stack)], -1)


class Encoded(NamedTuple):
    """A river in buckets.

    Attributes:
        shares: float [2, K], ranges.
        tied: float [K], see `ties`.
        hats: float [H, K], buckets of hands.
        shown: float [2, H], worth of hands without bets, see `check_down`.
        meets: float [2, H], the opponent's reach that they meet.
    """

    shares: Array
    tied: Array
    hats: Array
    shown: Array
    meets: Array


def encode(board: RiverBoard, ranges: Array, buckets: int, form: Form) -> Encoded:
    """Returns one river in buckets, from ranges [2, H] that sum to 1."""
    hats = bucket_shares(board.place, buckets)
    shown, meets = check_down(board, ranges, form)
    return Encoded(ranges @ hats, ties(board, hats), hats, shown, meets)


def added_by_betting(values: Array, river: Encoded) -> tuple[Array, Array]:
    """Returns what a network is to learn of one river.

    Args:
        values: float [2, H], counterfactual values in pots, see `solve_river`.
        river: in buckets.

    Returns:
        (float [2, K], per unit of the opponent's reach, in pots; float [2, K], 1 where a bucket
        has hands).
    """
    meets = jnp.maximum(river.meets, 1e-12)
    added = (values - river.shown) / meets
    mass = river.hats.sum(0)
    some = mass > 1e-6
    mean = added @ river.hats / jnp.where(some, mass, 1)
    return jnp.where(some, mean, 0), jnp.broadcast_to(some, mean.shape).astype(mean.dtype)


def decode(net: Net, river: Encoded, stack: Array) -> Array:
    """Returns counterfactual values [2, H] of one river in pots, as `solve_river` does."""
    state = public_states(river.shares[None], river.tied[None], stack[None])
    added = net.output(state, river.shares[None]).values[0]
    return river.shown + river.meets * (added @ river.hats.T)


def stack_range(least: float, most: float) -> None:
    """Raises ValueError where stacks from `least` to `most` pots make no sense."""
    if not (0 < least < most and math.isfinite(most)):
        raise ValueError(f"stacks lie between 0 and a larger number of pots, not {least}, {most}")

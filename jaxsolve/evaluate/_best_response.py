"""Best responses and exploitability, inside jit.

NashConv is the sum over players of what a best response gains; exploitability is NashConv divided
by the number of players (Lanctot et al. 2017). In two-player constant-sum games it is 0 exactly
at an equilibrium.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.tree import (
    Blocks,
    PlayerTree,
    Policy,
    PublicTree,
    apply_locks,
    check_policy,
    leaf_values,
    reach_of,
    values_of,
)
from jaxsolve.types import Array


class BestResponse(NamedTuple):
    """A best response of one player.

    Attributes:
        value: float [], its expected payoff in the game's units.
        policy: blocks [A, N, ...], a pure policy; rows that the others never let be reached play
            their first legal action of greatest value.
    """

    value: Array
    policy: Blocks


def best_response(tree: PublicTree, policy: Policy, player: int) -> BestResponse:
    """Returns a best response of `player` to the others' part of a policy.

    Raises:
        ValueError: there is no such player, or the policy is of another game.
    """
    if not 0 <= player < tree.num_players:
        raise ValueError(f"player should be from 0 to {tree.num_players - 1}, not {player}")
    check_policy(tree, policy.players)
    return _best_response(tree, policy.players, player)


def expected_values(tree: PublicTree, policy: Policy) -> Array:
    """Returns float [n], every player's expected payoff under a policy."""
    check_policy(tree, policy.players)
    return _both_values(tree, policy.players)[0]


def nash_conv(tree: PublicTree, policy: Policy) -> Array:
    """Returns float [], the sum over players of the gain of a best response."""
    check_policy(tree, policy.players)
    now, best = _both_values(tree, policy.players)
    return (best - now).sum()


def exploitability(tree: PublicTree, policy: Policy) -> Array:
    """Returns float [], NashConv / number of players, in the game's units."""
    return nash_conv(tree, policy) / tree.num_players


def best_response_values(tree: PublicTree, policy: Policy) -> Array:
    """Returns float [n], each player's best-response payoff against the others."""
    check_policy(tree, policy.players)
    return _both_values(tree, policy.players)[1]


@jax.jit
def _both_values(tree: PublicTree, policy: tuple[Blocks, ...]) -> tuple[Array, Array]:
    now, best = root_values(tree, policy)
    return jnp.stack([x.sum() for x in now]), jnp.stack([x.sum() for x in best])


def root_values(tree: PublicTree, policy: tuple[Blocks, ...]) -> tuple[list[Array], list[Array]]:
    """Returns each player's value and best-response value at their empty sequences [roots, ...].

    They are weighted by the player's own reach there; their sum is the player's payoff.
    """
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    now: list[Array] = []
    best: list[Array] = []
    for i, player in enumerate(tree.players):
        gain = leaf_values(tree, i, reach)
        for out, row_value in ((now, _mean(policy[i])), (best, _maximum(player))):
            _, root = values_of(player, gain, row_value)
            out.append(player.root_reach * root)
    return now, best


def action_values(
    tree: PublicTree, policy: tuple[Blocks, ...], player: int
) -> tuple[Blocks, Blocks]:
    """Returns counterfactual action values [A, N, ...] of a player.

    Args:
        tree: the game.
        policy: blocks of every player.
        player: whose values.

    Returns:
        (values if the player follows the policy from there on, values if the player follows a best
        response).
    """
    check_policy(tree, policy)
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    me = tree.players[player]
    gain = leaf_values(tree, player, reach)
    now, best = (values_of(me, gain, f)[0] for f in (_mean(policy[player]), _maximum(me)))
    return now, best


@jax.jit(static_argnames="player")
def _best_response(tree: PublicTree, policy: tuple[Blocks, ...], player: int) -> BestResponse:
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    me = tree.players[player]
    gain = leaf_values(tree, player, reach)
    action_values, root = values_of(me, gain, _maximum(me))
    blocks = []
    for q, legal in zip(action_values, me.legal, strict=True):
        best = jnp.where(legal, q, -jnp.inf).argmax(0)
        index = jnp.arange(q.shape[0]).reshape(-1, *(1,) * best.ndim)
        chosen = index == best[None]
        blocks.append((chosen & legal).astype(q.dtype))
    return BestResponse((me.root_reach * root).sum(), apply_locks(me, tuple(blocks)))


def _mean(policy: Blocks) -> Callable[[int, Array], Array]:
    """Returns the row value of a policy."""
    return lambda k, q: (policy[k] * q).sum(0)


def _maximum(player: PlayerTree) -> Callable[[int, Array], Array]:
    """Returns the row value of a best response: the largest legal action value, 0 in padding."""
    blocks = player.blocks

    def row_value(k: int, q: Array) -> Array:
        legal, locked = blocks[k].legal, blocks[k].locked
        top = jnp.where(legal, q, -jnp.inf).max(0)
        top = jnp.where(legal.any(0), top, 0)
        return top if locked is None else jnp.where((locked > 0).any(0), (locked * q).sum(0), top)

    return row_value

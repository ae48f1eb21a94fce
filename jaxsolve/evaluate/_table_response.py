"""Exact values and best responses of policies over the public states of a game, in float64.

What continual re-solving plays is one policy over all public states; this says how much it can be
exploited, also in games in which a private state stands for many infostates. Depth by depth, all
public states of a depth at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.public import PublicTable


class Response(NamedTuple):
    """Values of a policy and of best responses to it (P public states, H private states).

    Attributes:
        value: float64 [2], to each player, in the game's units.
        best: float64 [2], of a best response of each player to the other's part.
        reach: float64 [P, 2, H], own reaches under the policy.
        values: float64 [P, 2, H], counterfactual values of the policy.
        best_values: float64 [P, 2, H], of the best responses.
    """

    value: np.ndarray
    best: np.ndarray
    reach: np.ndarray
    values: np.ndarray
    best_values: np.ndarray

    @property
    def exploitability(self) -> float:
        """NashConv / 2, in the game's units."""
        return float((self.best - self.value).sum() / 2)


def respond(table: PublicTable, policy: np.ndarray) -> Response:
    """Returns values and best responses.

    Args:
        table: the public states.
        policy: float [P, A, H], what whoever acts plays with each private state.

    Raises:
        ValueError: the shape is another, or a row is not a distribution over legal actions.
    """
    policy = _checked(table, policy)
    transitions, depths = table.transitions, _depths(table)
    count, hands = len(table.parent), table.num_hands
    h0, h1 = table.hands
    reach = np.zeros((count, 2, hands))
    action_reach = np.zeros((count, 2, transitions.num_actions + 1, hands))
    reach[0] = transitions.possible[table.subgame_class[0]]
    for here in depths:
        if here[0]:
            up, step = table.parent[here], table.step[here]
            source = transitions.parents_of[table.subgame_class[up], step]  # [N, 2, H, M]
            flat = action_reach[up].reshape(len(here), 2, 1, -1)
            reach[here] = np.take_along_axis(flat, source, 3).sum(-1)
        acts = (table.actor[here, None] == np.arange(2))[..., None, None]
        action_reach[here, :, :-1] = reach[here][:, :, None] * np.where(
            acts, policy[here][:, None], 1
        )
    found = [np.zeros((count, 2, hands)) for _ in range(2)]
    child_values = [np.zeros((count, 2, transitions.num_children + 1, hands)) for _ in range(2)]
    for here in reversed(depths):
        subgame_class, actor = table.subgame_class[here], table.actor[here]
        # A best response of one player is against the other's reach, which stays the policy's.
        pay = table.payoff[subgame_class]
        first = np.einsum("nahg,nag->nah", pay, action_reach[here, 1, :-1, :h1])
        second = -np.einsum("nahg,nah->nag", pay, action_reach[here, 0, :-1, :h0])
        legal = transitions.legal[subgame_class]
        for best in (False, True):
            into = child_values[best][here].reshape(len(here), 2, 1, 1, -1)
            each = np.arange(len(here))
            own = np.take_along_axis(
                into[each, actor], transitions.child_of_action[subgame_class], 3
            ).sum(-1)
            other = np.take_along_axis(
                into[each, 1 - actor, 0], transitions.child_of_waiting[subgame_class], 2
            ).sum(-1)
            mine = (actor == 0)[:, None, None]
            own[..., :h0] += np.where(mine, first, 0)
            own[..., :h1] += np.where(mine, 0, second)
            other[:, :h0] += np.where(mine[:, 0], 0, first.sum(1))
            other[:, :h1] += np.where(mine[:, 0], second.sum(1), 0)
            if best:
                acted = np.where(legal, own, -np.inf).max(1)
                acted = np.where(legal.any(1), acted, 0)
            else:
                acted = (policy[here] * own).sum(1)
            value = np.where(mine, np.stack([acted, other], 1), np.stack([other, acted], 1))
            found[best][here] = value
            if here[0]:
                up, step = table.parent[here], table.step[here]
                ratio = transitions.factor[table.subgame_class[up], step]
                child_values[best][up, :, step] = value * ratio[:, None, None]
    mass = table.mass[0]
    start = reach[0]
    return Response(
        value=mass * (start * found[0][0]).sum(1),
        best=mass * (start * found[1][0]).sum(1),
        reach=reach,
        values=found[0],
        best_values=found[1],
    )


def _depths(table: PublicTable) -> list[np.ndarray]:
    """Returns the public states of each depth."""
    depth = np.zeros(len(table.parent), int)
    for p in range(1, len(depth)):
        depth[p] = depth[table.parent[p]] + 1
    return [np.flatnonzero(depth == d) for d in range(int(depth.max()) + 1)]


def _checked(table: PublicTable, policy: np.ndarray) -> np.ndarray:
    policy = np.asarray(policy, np.float64)
    legal = table.transitions.legal[table.subgame_class]
    if policy.shape != legal.shape:
        raise ValueError(
            f"{table.game.name} has policies of shape {legal.shape} (public states, actions, "
            f"private states), not {policy.shape}"
        )
    total = np.where(legal, policy, 0).sum(1)
    off = (np.abs(total - 1) > 1e-4) & legal.any(1)
    if off.any() or (np.where(legal, policy, 0) < -1e-6).any():
        p, h = np.argwhere(off)[0] if off.any() else (0, 0)
        raise ValueError(
            f"the policy of private state {h} at public state {p} sums to {total[p, h]:.4g} over "
            "its legal actions, not to 1"
        )
    return np.where(legal, policy, 0) / np.where(legal.any(1), total, 1)[:, None]

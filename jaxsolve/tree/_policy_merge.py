"""Policies made of policies: one player's part each, averages, and the lift to a larger game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.tree._info import TreeInfo
from jaxsolve.tree._policy import Policy, policy_from_probabilities, uniform_policy
from jaxsolve.tree._public_tree import PublicTree, reach_of, split_blocks, uniform


class Lifted(NamedTuple):
    """A policy of one game in another.

    Attributes:
        policy: the policy of the target.
        matched: per player, how many infosets of the target took their probabilities from the
            source.
        unmatched: per player, the names of the others, which are uniform.
    """

    policy: Policy
    matched: tuple[int, ...]
    unmatched: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        totals = (m + len(u) for m, u in zip(self.matched, self.unmatched, strict=True))
        counts = ", ".join(f"{m:,} of {t:,}" for m, t in zip(self.matched, totals, strict=True))
        return f"Lifted({self.policy!r}, infosets matched per player: {counts})"


def merge_policies(*policies: Policy) -> Policy:
    """Returns the policy in which player i plays as in the i-th policy.

    Args:
        policies: one per player, all of the same tree.

    Raises:
        ValueError: not one policy per player, or policies of different trees.
    """
    if not policies or len(policies) != len(policies[0].players):
        need = len(policies[0].players) if policies else 2
        raise ValueError(
            f"{len(policies)} policies for {need} players; give one per player, such as "
            "js.merge_policies(first, second)"
        )
    _same_layout(policies)
    parts = tuple(p.players[i] for i, p in enumerate(policies))
    return Policy(parts, policies[0].names)


def mix_policies(
    tree: PublicTree, policies: Sequence[Policy], weights: Sequence[float] | None = None
) -> Policy:
    """Returns the average of policies, weighted by each player's own reach.

    Against any opponents it is worth what picking one of the policies at the start is worth on
    average (Kuhn's theorem), which an average of the probabilities at each infoset is not.

    Args:
        tree: the game.
        policies: of that tree.
        weights: of the policies, equal by default; only their ratios matter.

    Raises:
        ValueError: no policies, weights that are negative, all zero or of another number, or a
            policy of another tree.
    """
    weight = np.ones(len(policies)) if weights is None else np.asarray(weights, np.float64)
    if not len(policies) or weight.shape != (len(policies),):
        raise ValueError(f"{weight.size} weights for {len(policies)} policies; give one for each")
    if not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError(f"weights {weight.tolist()} are not a distribution over the policies")
    weight = weight / weight.sum()
    _same_layout([uniform_policy(tree), *policies])
    players = []
    for i, player in enumerate(tree.players):
        total = sum(
            w * reach_of(player, p.players[i]) for w, p in zip(weight, policies, strict=True)
        )
        blocks = []
        for block, even in zip(
            split_blocks(player, jnp.asarray(total)), uniform(player), strict=True
        ):
            mass = block.sum(0, keepdims=True)
            blocks.append(jnp.where(mass > 0, block / jnp.where(mass > 0, mass, 1), even))
        players.append(tuple(blocks))
    return Policy(tuple(players), tree.names)


def lift(
    policy: Policy,
    tree: PublicTree,
    *,
    names: Callable[[int, str], str | None] | Mapping[str, str] | None = None,
    actions: Callable[[int, str], str | None] | Mapping[str, str] | None = None,
) -> Lifted:
    """Returns a policy in another game of the same family, infosets matched by name.

    An infoset of the target whose name the source knows plays the source's probabilities, action
    by action name, rescaled to the actions that exist there; every other one is uniform. So a
    policy of Leduc with three ranks becomes one of Leduc with four that knows nothing of the new
    cards, and a map of names turns the policy of a coarse game into one of a finer game.

    Args:
        policy: of the source game.
        tree: the target.
        names: which infoset of the source stands for one of the target: a function of (player,
            the target's name) that returns the source's name, or a mapping of such names; names
            that a mapping does not hold stand for themselves. The same name by default.
        actions: the same for the names of actions.

    Raises:
        ValueError: another number of players, or a source whose names are not unique.
    """
    source, target = policy.info, tree.info
    if len(source.players) != len(target.players):
        raise ValueError(
            f"{source.name} has {len(source.players)} players, {target.name} {len(target.players)}"
        )
    find, find_action = _lookup(names), _lookup(actions)
    values, matched, unmatched = [], [], []
    for i, p in enumerate(target.players):
        known = _known(policy, source, i)
        even = 1 / np.repeat(np.diff(p.offset), np.diff(p.offset))
        missing = []
        for k, name in enumerate(target.labels[i]):
            at = slice(p.offset[k], p.offset[k + 1])
            words = [find_action(i, target.action_name(i, int(a))) for a in p.action[at]]
            plays = known.get(find(i, name) or "", {})
            row = np.array([plays.get(w or "", 0.0) for w in words])
            if row.sum() > 0:
                even[at] = row / row.sum() if abs(row.sum() - 1) > 1e-6 else row
            else:
                missing.append(name)
        values.append(even)
        matched.append(p.num_infosets - len(missing))
        unmatched.append(tuple(missing))
    return Lifted(policy_from_probabilities(tree, values), tuple(matched), tuple(unmatched))


def _lookup(
    table: Callable[[int, str], str | None] | Mapping[str, str] | None,
) -> Callable[[int, str], str | None]:
    if table is None:
        return lambda _, name: name
    if isinstance(table, Mapping):
        return lambda _, name: table.get(name, name)
    return table


def _known(policy: Policy, info: TreeInfo, player: int) -> dict[str, dict[str, float]]:
    """Returns {infoset name: {action name: probability}} of one player."""
    p, labels = info.players[player], info.labels[player]
    if len(set(labels)) < len(labels):
        twice = next(x for k, x in enumerate(labels) if x in labels[:k])
        raise ValueError(
            f"two infosets of player {player} in {info.name} are called {twice!r}; give the game "
            "an observation_name that tells them apart"
        )
    probability = policy.probabilities(player)
    words = [info.action_name(player, int(a)) for a in p.action]
    return {
        name: dict(zip(words[lo:hi], probability[lo:hi].tolist(), strict=True))
        for name, lo, hi in zip(labels, p.offset[:-1], p.offset[1:], strict=True)
    }


def _same_layout(policies: Sequence[Policy]) -> None:
    first = policies[0]
    for other in policies[1:]:
        shapes = [[[b.shape for b in blocks] for blocks in p.players] for p in (first, other)]
        names = {p.names.name for p in (first, other) if p.names is not None}
        if shapes[0] != shapes[1] or len(names) > 1:
            raise ValueError(
                f"{first!r} and {other!r} are of different trees; js.lift takes a policy to another"
            )

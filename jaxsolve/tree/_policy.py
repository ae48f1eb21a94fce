"""Policies: one type that every solver returns and every evaluator accepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.tree._info import ListedInfo, TreeInfo, info_of, listed
from jaxsolve.tree._public_nodes import public_node
from jaxsolve.tree._public_tree import Blocks, PublicTree, join_blocks, split_blocks, uniform
from jaxsolve.types import pytree


@pytree
@dataclasses.dataclass(frozen=True)
class Policy:
    """A behaviour policy of every player, in the layout of its tree.

    Attributes:
        players: per player, blocks [A, N, ...] of action probabilities; 0 in padding.
        names: of the tree, on the host; jit and vmap drop them (they become None).
    """

    players: tuple[Blocks, ...]
    names: TreeInfo | None = dataclasses.field(default=None, metadata={"dropped": True})

    @property
    def info(self) -> TreeInfo:
        """Names and counts of the tree.

        Raises:
            ValueError: the policy came out of jit or vmap.
        """
        return info_of(self)

    def probabilities(self, player: int) -> np.ndarray:
        """Returns float [C], action probabilities in canonical order (`PlayerInfo.offset`)."""
        info = self.info
        blocks = [np.asarray(b).reshape(-1) for b in self.players[player]]
        entries = np.concatenate([np.zeros(0, np.float32), *blocks])  # some never act
        shift = info.players[player].roots * info.players[player].hands
        return entries[info.players[player].position - shift]

    def rows(self) -> list[tuple[int, str, dict[str, float]]]:
        """Returns (player, infoset name, {action name: probability}) of every infoset."""
        info = self.info
        out = []
        for i, p in enumerate(info.players):
            probabilities = self.probabilities(i)
            for k in range(p.num_infosets):
                lo, hi = p.offset[k], p.offset[k + 1]
                names = [info.action_name(i, int(a)) for a in p.action[lo:hi]]
                values = [float(x) for x in probabilities[lo:hi]]
                out.append((i, info.labels[i][k], dict(zip(names, values, strict=True))))
        return out

    def at(self, public: str) -> list[tuple[int, str, dict[str, float]]]:
        """Returns the `rows` of the infosets at one public state, such as "raise call / Kh".

        Raises:
            ValueError: there is no such public state, or the world states are not listed.
        """
        node = public_node(listed(self), public)
        first = np.cumsum([0, *self.info.num_infosets])
        rows = self.rows()
        return [rows[first[i] + k] for i, inside in enumerate(node.infosets) for k in inside]

    def reach(self) -> np.ndarray | None:
        """Returns float64 [R], the probability that play reaches each infoset, as `rows` has them.

        None where the tree did not keep its world states.
        """
        from jaxsolve.tree._policy_table import infoset_values

        if not isinstance(self.info, ListedInfo):
            return None
        return np.concatenate([values.reach for values in infoset_values(self)])

    def table(self, *, values: bool = False, wide: bool = False) -> Any:
        """Returns a `pandas.DataFrame`, a row for each action of each infoset.

        Its columns are player, infoset (the readable name), action and probability.

        Args:
            values: add the probability that play reaches the infoset (`reach`), the player's
                expected payoff from there (`value`) and after each action (`action_value`), in the
                game's units; NaN where the other players never let it be reached.
            wide: a row for each infoset and a column for each action instead, NaN where the
                action is not legal; without `action_value`.

        Raises:
            ImportError: pandas is not installed.
            ValueError: `values` without the tree's world states.
        """
        from jaxsolve.tree._policy_table import policy_table

        return policy_table(self, values=values, wide=wide)

    def __getitem__(self, name: str) -> dict[str, float]:
        """Returns {action name: probability} at the infoset of that name."""
        info = self.info
        for i, labels in enumerate(info.labels):
            if name in labels:
                p, k = info.players[i], labels.index(name)
                lo, hi = p.offset[k], p.offset[k + 1]
                values = self.probabilities(i)[lo:hi]
                return {
                    info.action_name(i, int(a)): float(x)
                    for a, x in zip(p.action[lo:hi], values, strict=True)
                }
        raise KeyError(f"no infoset is called {name!r}; policy.rows() lists them")

    def __repr__(self) -> str:
        if self.names is None:
            return f"Policy({len(self.players)} players)"
        return f"Policy of {self.names.name}: {sum(self.names.num_infosets)} infosets"

    def _repr_html_(self) -> str:
        from jaxsolve.tree._display import policy_html

        return policy_html(self)


def check_policy(tree: PublicTree, policy: Sequence[Blocks]) -> None:
    """Refuses a policy of another game, or one that holds what is no probability.

    Args:
        tree: the game.
        policy: per player, blocks [A, N, ...].

    Raises:
        ValueError: the blocks have not the shapes of the tree, or entries are not from 0 to 1.
            Entries that JAX traces are not looked at.
    """
    n = len(tree.players)
    if len(policy) != n:
        raise ValueError(f"a policy of {len(policy)} players for a game of {n}")
    for i, (player, blocks) in enumerate(zip(tree.players, policy, strict=True)):
        want = [(*legal.shape[:2], *player.root_reach.shape[1:]) for legal in player.legal]
        found = [jnp.shape(b) for b in blocks]
        if found != want:
            k = next((k for k, (a, b) in enumerate(zip(found, want, strict=False)) if a != b), -1)
            sizes = f"{found[k]} instead of {want[k]}" if k >= 0 else ""
            raise ValueError(
                f"player {i} has {sizes or f'{len(found)} instead of {len(want)}'} blocks "
                "[A, N, ...]: is it a policy of another game or layout?"
            )
        known = [np.asarray(b) for b in blocks if not isinstance(b, jax.core.Tracer)]
        # Written so that NaN is bad.
        if not all(np.all((b >= -1e-6) & (b <= 1 + 1e-3)) for b in known):
            raise ValueError(
                f"the policy of player {i} holds entries that are not probabilities from 0 to 1 "
                "(NaN, perhaps)"
            )


def uniform_policy(tree: PublicTree) -> Policy:
    """Returns the policy that plays every legal action alike."""
    return Policy(tuple(uniform(p) for p in tree.players), tree.names)


def policy_from_probabilities(tree: PublicTree, probabilities: list[np.ndarray]) -> Policy:
    """Returns the policy with given action probabilities.

    Args:
        tree: the game.
        probabilities: per player, float [C] in canonical order (`PlayerInfo.offset`).

    Raises:
        ValueError: a size is wrong, or some infoset's probabilities do not sum to 1.
    """
    info = tree.info
    players = []
    for i, (p, given) in enumerate(zip(info.players, probabilities, strict=True)):
        values = np.asarray(given, np.float64)
        if values.shape != p.action.shape:
            raise ValueError(
                f"the policy of player {i} has {values.size} entries, {info.name} has "
                f"{p.action.size}; is it a policy of another game?"
            )
        total = np.add.reduceat(values, p.offset[:-1]) if len(values) else np.ones(0)
        wrong = (np.abs(total - 1) > 1e-4) | (np.minimum.reduceat(values, p.offset[:-1]) < 0)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ValueError(
                f"probabilities at {info.labels[i][k]!r} of player {i} are "
                f"{values[p.offset[k] : p.offset[k + 1]]}, not a distribution"
            )
        one = tree.players[i]
        flat = np.array(join_blocks(one, uniform(one)), np.float64).reshape(-1)
        flat[p.position] = values
        shape = (-1, *one.root_reach.shape[1:])
        vector = jnp.asarray(flat.reshape(shape), dtype=one.root_reach.dtype)
        players.append(split_blocks(one, vector))
    return Policy(tuple(players), info)


def relaid(policy: Policy, tree: PublicTree) -> Policy:
    """Returns a policy in the layout of another tree of the same game.

    Args:
        policy: of a tree whose infosets have the same canonical order; one without names is taken
            to have the layout of `tree`.
        tree: compiled with layout "rows" or "hands".

    Raises:
        ValueError: a policy without names has another layout.
    """
    if policy.names is tree.names:
        return policy
    if policy.names is None:
        shapes = zip(policy.players, tree.players, strict=True)
        if any(len(mine) and mine[0].ndim != p.root_reach.ndim + 1 for mine, p in shapes):
            raise ValueError(
                "this policy has the layout of another tree and no names; "
                "dataclasses.replace(policy, names=tree.info) with its own tree"
            )
        return policy
    pairs = zip(policy.names.players, tree.info.players, strict=True)
    if all(np.array_equal(a.position, b.position) for a, b in pairs):
        return policy
    parts = [policy.probabilities(i) for i in range(len(policy.players))]
    return with_probabilities(uniform_policy(tree), parts)


def with_probabilities(policy: Policy, parts: Sequence[np.ndarray]) -> Policy:
    """Returns a policy of the same layout with other probabilities, per player [C]."""
    players = []
    names = policy.info.players
    for blocks, info, values in zip(policy.players, names, parts, strict=True):
        flat = np.concatenate([np.zeros(0), *(np.asarray(b).reshape(-1) for b in blocks)])
        flat[info.position - info.roots * info.hands] = values
        pieces = np.split(flat, np.cumsum([b.size for b in blocks])[:-1]) if blocks else []
        players.append(
            tuple(
                jnp.asarray(x.reshape(b.shape), b.dtype)
                for x, b in zip(pieces, blocks, strict=True)
            )
        )
    return Policy(tuple(players), policy.names)

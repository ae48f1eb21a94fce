"""The public states of a small game, listed: the fastest model of public states for a search.

Public states with equal subgames share a *class*, and there is one row of arrays for each class.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Game
from jaxsolve.public._card_game import PublicGame, hands_of, public_game
from jaxsolve.public._pairs import DensePayoffs, DenseWeights
from jaxsolve.public._states import PublicState, StateFormat, listed_states, one_scale
from jaxsolve.public._transitions import (
    Transitions,
    classes_of,
    decisions,
    following,
    open_state,
    transitions_of,
)
from jaxsolve.public._walk import Walk, walk_cards, walk_states
from jaxsolve.tree import Policy, PublicTree, TreeInfo, float_type, policy_from_probabilities


@dataclasses.dataclass(frozen=True)
class PublicTable:
    """The public states of a game at which somebody acts (P of them, parents first, K classes).

    Attributes:
        game: the rules.
        transitions: float64, on the host.
        parent: int [P], -1 for the first.
        step: int [P], which child of its parent.
        children: int [P, C], -1 where there is none.
        subgame_class: int [P].
        representative: int [K], a public state of each class.
        mass: float64 [P], probability of the chance moves so far, summed over compatible pairs.
        below: int [P], how many public states lie below, this one included.
        features: float64 [K, F], the game's description of each class; F is 0 without one.
        walk: where it comes from.
        node: int [P], number in `walk`.
        source: the public nodes of a card game; None where world states were walked.
    """

    game: Game
    transitions: Transitions
    parent: np.ndarray
    step: np.ndarray
    children: np.ndarray
    subgame_class: np.ndarray
    representative: np.ndarray
    mass: np.ndarray
    below: np.ndarray
    features: np.ndarray
    walk: Walk
    node: np.ndarray
    source: PublicGame | None = None

    @property
    def num_hands(self) -> int:
        """H, of the player with more private states."""
        return self.transitions.num_hands

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.representative)

    @functools.cached_property
    def depth(self) -> int:
        """Decisions on the longest path through the game."""
        depth = np.ones(len(self.parent), int)
        for p in range(1, len(depth)):
            depth[p] = depth[self.parent[p]] + 1
        return int(depth.max())

    @property
    def actor(self) -> np.ndarray:
        """int [P]."""
        return np.asarray(self.transitions.actor[self.subgame_class])

    @property
    def possible(self) -> np.ndarray:
        """bool [P, 2, H]."""
        return np.asarray(self.transitions.possible[self.subgame_class])

    @property
    def hands(self) -> tuple[int, int]:
        """(H0, H1), private states of each player."""
        return self.transitions.weights.hands

    @property
    def weight(self) -> np.ndarray:
        """float64 [K, H0, H1], probability of each pair of private states by chance."""
        assert isinstance(self.transitions.weights, DenseWeights)
        return np.asarray(self.transitions.weights.pairs)

    @property
    def payoff(self) -> np.ndarray:
        """float64 [K, A, H0, H1], to player 0 where an action ends the game, times chance."""
        assert isinstance(self.transitions.payoffs, DensePayoffs)
        return np.asarray(self.transitions.payoffs.pairs)

    @property
    def format(self) -> StateFormat:
        """What the public states look like to a value function."""
        return StateFormat(
            game=self.game.name,
            num_features=self.features.shape[1],
            hands=self.hands,
            num_classes=self.num_classes,
            scale=one_scale(self.transitions.scale),
            uniform_play=self.features.shape[1] > 0,
            unit="possible pairs" if self.source is None else "pairs",
        )

    @functools.cached_property
    def states(self) -> PublicState:
        """What value functions are given of each class, leading axis K."""
        rows = self.transitions
        uniform = self.uniform_payoffs() if self.format.uniform_play else None
        return listed_states(self.format, self.features, rows.possible, rows.scale, uniform)

    def uniform_payoffs(self) -> np.ndarray:
        """Returns float64 [K, 2, H, H], what both get for each pair of private states, uniformly.

        Everybody plays uniformly from the public state on. Given that pair's probability at the
        public state: values are sums of these over the other's states, weighed by their reach.
        """
        transitions, hands = self.transitions, self.num_hands
        h0, h1 = self.hands
        first = np.zeros((self.num_classes, hands, hands))
        even = transitions.legal / np.maximum(transitions.legal.sum(1, keepdims=True), 1)
        for x in np.argsort(transitions.size, kind="stable"):
            play = [np.ones((transitions.num_actions, hands)) for _ in range(2)]
            play[int(transitions.actor[x])] = even[x]
            pay = self.payoff[x] * play[0][:, :h0, None] * play[1][:, None, :h1]
            first[x, :h0, :h1] = pay.sum(0)
            for k in np.flatnonzero(transitions.child[x] >= 0):
                ways = [np.zeros((hands, transitions.num_actions * hands + 1)) for _ in range(2)]
                for i in range(2):
                    np.add.at(
                        ways[i], (np.arange(hands)[:, None], transitions.parents_of[x, k, i]), 1
                    )
                    ways[i] = ways[i][:, :-1] * play[i].reshape(-1)
                    ways[i] = ways[i].reshape(hands, -1, hands).sum(1)
                after = first[transitions.child[x, k]] * transitions.factor[x, k]
                first[x] += ways[0].T @ after @ ways[1]
        return np.stack([first, -first], 1)

    @functools.cached_property
    def device_transitions(self) -> Transitions:
        """`transitions` as arrays of JAX."""
        found: Transitions = jax.tree.map(
            lambda x: jnp.asarray(x, float_type() if np.issubdtype(x.dtype, np.floating) else None),
            self.transitions,
        )
        return found

    def policy_of(self, tree: PublicTree, policy: np.ndarray) -> Policy:
        """Returns a policy [P, A, H] of the public states as one of a compiled tree.

        Raises:
            ValueError: the tree is of another game.
        """
        places = [self._places(tree, i) for i in range(2)]
        return policy_from_probabilities(tree, [policy[place] for place in places])

    def table_of(self, policy: Policy) -> np.ndarray:
        """Returns a compiled tree's policy as float64 [P, A, H]; the inverse of `policy_of`."""
        out = np.zeros((len(self.parent), self.transitions.num_actions, self.num_hands))
        for i in range(2):
            out[self._places(policy, i)] = policy.probabilities(i)
        return out

    def places_of(self, info: TreeInfo, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (public state, private state) of every infoset of a player, int [I] each.

        Args:
            info: of a compiled tree of the same game.
            player: whose infosets.

        Raises:
            ValueError: the tree is of another game, or has no list of states.
        """
        if info.name != self.game.name:
            raise ValueError(f"{info.name} is not {self.game.name}, whose public states these are")
        own = info.players[player]
        at = np.full(len(self.walk.parent), -1)
        at[self.node] = np.arange(len(self.node))
        if self.source is not None:
            node, hand = hands_of(self.source, info, player)
        elif self.walk.infosets is None or own.hands > 1:
            raise ValueError(f'{info.name}: compile it with layout="rows"')
        else:
            pairs = [self.walk.infosets[player][int(x)] for x in own.infostate]
            node, hand = np.array(pairs, int).reshape(-1, 2).T
        return at[node], hand

    def _places(self, named: Any, player: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns (public state, place, private state) of every entry of a player's policy."""
        public, hand = self.places_of(named.info, player)
        offset = named.info.players[player].offset
        row = np.repeat(np.arange(len(public)), np.diff(offset))
        return public[row], np.arange(len(row)) - offset[row], hand[row]

    def __repr__(self) -> str:
        return (
            f"PublicTable({self.game.name}: {len(self.parent)} public states of "
            f"{self.num_classes} classes, {self.num_hands} private states)"
        )


def public_table(game: Game | PublicGame, *, cards: bool | None = None) -> PublicTable:
    """Returns the public states of a two-player zero-sum game.

    Args:
        game: the rules, or the public nodes of a card game.
        cards: whether the only private information is the first deal; by default that is tried
            first. Other games are walked world state by world state.

    Raises:
        ValueError: the game has no public states that a search could start from; says why.
    """
    source = game if isinstance(game, PublicGame) else None
    if source is None and cards is not False:
        try:
            source = public_game(game)  # type: ignore[arg-type]
        except ValueError:
            if cards:
                raise
    walk = walk_states(game) if source is None else walk_cards(source)  # type: ignore[arg-type]
    return _assemble(walk, source)


def _assemble(walk: Walk, source: PublicGame | None) -> PublicTable:
    size = len(walk.parent)
    order = np.argsort(walk.parent, kind="stable")
    begin = np.searchsorted(walk.parent[order], np.arange(size + 1))
    below = [order[begin[q] : begin[q + 1]].tolist() for q in range(size)]
    node = decisions(walk, below)
    at = np.full(size, -1)
    at[node] = np.arange(len(node))
    if walk.subgame_class is not None:
        classes = walk.subgame_class[node]
        _, representative = np.unique(classes, return_index=True)
        opened = [open_state(walk, below, int(node[p])) for p in representative]
        after = [following(walk, below, int(q)) for q in node]
    else:
        every = [open_state(walk, below, int(q)) for q in node]
        after = [x.children for x in every]
        classes, representative = classes_of(walk, node, at, every)
        opened = [every[p] for p in representative]
    parent, step = np.full(len(node), -1), np.zeros(len(node), int)
    children = np.full((len(node), max(1, *map(len, after))), -1)
    for p, found in enumerate(after):
        for k, q in enumerate(found):
            parent[at[q]], step[at[q]], children[p, k] = p, k, at[q]
    count = np.ones(len(node), int)
    for p in reversed(range(1, len(node))):
        count[parent[p]] += count[p]
    transitions = transitions_of(walk, node, classes, representative, opened, children, count)
    return PublicTable(
        game=walk.game,
        transitions=transitions,
        parent=parent,
        step=step,
        children=children,
        subgame_class=classes,
        representative=representative,
        mass=np.array([walk.weight(int(q)).sum() for q in node]),
        below=count,
        features=walk.features[node[representative]],
        walk=walk,
        node=node,
        source=source,
    )

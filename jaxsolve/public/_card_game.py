"""A card game as public nodes, ready to be cut into subgames that start from beliefs.

After the private deal every action is public, so a subgame is given by its public node and the two
ranges (own reaches of the hands). What lies below a node often lies below others as well: in liar's
dice all histories with one last bid. Nodes with equal subgames share a *class*, and everything that
does not depend on the ranges (trees, network inputs) is made once per subgame_class.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxsolve.compiler import Deals, Nodes, deal_hands, walk_public
from jaxsolve.game import Game, HasPublicFeatures
from jaxsolve.public._states import PublicState, StateFormat, listed_states, one_scale
from jaxsolve.tree import ListedInfo, Policy, PublicTree, TreeInfo, policy_from_probabilities
from jaxsolve.types import CHANCE, TERMINAL

Limit = Callable[[int, int], bool]
"""(actions of players since the root, chance moves since the root) -> cut here."""


@dataclasses.dataclass(frozen=True)
class PublicGame:
    """The public nodes of a two-player card game (P nodes, K classes, H hands).

    Attributes:
        game: the rules.
        parent: int64 [P], -1 for the first node.
        action: int64 [P], the game's action that led here.
        actor: int64 [P], player, CHANCE or TERMINAL.
        children: per node, its children in order of their actions.
        weight: float64 [P, H, H], chance probability of each pair of hands, this node included.
        payoff: float64 [P, 2, H, H], utility at terminal nodes, else 0.
        possible: bool [P, 2, H], hands that can be held here.
        subgame_class: int64 [P], equal where the subgames are; -1 at terminal and chance nodes.
        representative: int64 [K], a node of each class.
        scale: float64 [K], the largest payoff below, in the game's units.
        features: float64 [K, F], the game's description of each class; F is 0 without one.
        root: the first node at which a player acts.
    """

    game: Game
    parent: np.ndarray
    action: np.ndarray
    actor: np.ndarray
    children: tuple[np.ndarray, ...]
    weight: np.ndarray
    payoff: np.ndarray
    possible: np.ndarray
    subgame_class: np.ndarray
    representative: np.ndarray
    scale: np.ndarray
    features: np.ndarray
    root: int

    @property
    def num_hands(self) -> int:
        """H, of the player with more of them."""
        return self.weight.shape[1]

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.representative)

    @property
    def mass(self) -> np.ndarray:
        """float64 [P], the probability of the chance moves so far."""
        return self.weight.sum((1, 2))

    @property
    def format(self) -> StateFormat:
        """What the public states look like to a value function."""
        return StateFormat(
            game=self.game.name,
            num_features=self.features.shape[1],
            hands=(self.num_hands, self.num_hands),
            num_classes=self.num_classes,
            scale=one_scale(self.scale),
            uniform_play=self.features.shape[1] > 0,
            unit="pairs",
        )

    @functools.cached_property
    def states(self) -> PublicState:
        """What value functions are given of each class, leading axis K."""
        possible = self.possible[self.representative]
        uniform = self.uniform_payoffs() if self.format.uniform_play else None
        return listed_states(self.format, self.features, possible, self.scale, uniform)

    def classes_after_chance(self) -> list[int]:
        """Returns the classes of public states that a public chance move opens."""
        acts = np.flatnonzero((self.actor >= 0) & (self.parent >= 0))
        return sorted(
            {int(self.subgame_class[n]) for n in acts if self.actor[self.parent[n]] == CHANCE}
        )

    def uniform_payoffs(self) -> np.ndarray:
        """Returns float64 [K, 2, H, H], payoffs of each pair of hands under uniform play.

        Everybody plays uniformly from the public state on. Given that pair's probability at the
        public state: values are sums of these over the other's hands, weighed by their reach.
        """
        below = self.payoff * self.weight[:, None]
        for node in range(len(self.parent) - 1, 0, -1):
            above = self.parent[node]
            share = 1.0 if self.actor[above] == CHANCE else 1 / len(self.children[above])
            below[above] += share * below[node]
        mass = self.mass[self.representative]
        return below[self.representative] / mass[:, None, None, None]

    def policy_of(self, tree: PublicTree, policy: np.ndarray) -> Policy:
        """Returns a policy [P, A, H] of the public nodes as one of a compiled tree.

        Raises:
            ValueError: the tree is of another game.
        """
        places = [self._places(tree.info, i) for i in range(2)]
        return policy_from_probabilities(tree, [policy[place] for place in places])

    def table_of(self, policy: Policy) -> np.ndarray:
        """Returns a compiled tree's policy as float64 [P, A, H]; the inverse of `policy_of`."""
        out = np.zeros((len(self.parent), max(map(len, self.children)), self.num_hands))
        for i in range(2):
            out[self._places(policy.info, i)] = policy.probabilities(i)
        return out

    def _places(self, info: TreeInfo, player: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns (node, place of the action, hand) of every entry of a player's policy."""
        node, hand = hands_of(self, info, player)
        offset = info.players[player].offset
        row = np.repeat(np.arange(len(node)), np.diff(offset))
        return node[row], np.arange(len(row)) - offset[row], hand[row]

    def __repr__(self) -> str:
        return (
            f"PublicGame({self.game.name}: {len(self.parent)} public nodes, {self.num_classes} "
            f"classes of subgames, {self.num_hands} hands)"
        )


def actions_limit(count: int) -> Limit:
    """Returns the limit after so many actions of players."""
    if count < 1:
        raise ValueError(
            f"a depth limit after {count} actions leaves nothing to solve; use 1 or more"
        )
    return lambda actions, chances: actions >= count


def round_limit(actions: int, chances: int) -> bool:
    """The limit at the next public chance move: the end of a betting round."""
    return chances > 0


def no_limit(actions: int, chances: int) -> bool:
    """No limit: subgames go to the end of the game."""
    return False


def public_game(game: Game) -> PublicGame:
    """Returns the public nodes of a two-player card game.

    Raises:
        ValueError: the game has other private information than the first deal, or more than two
            players.
    """
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; beliefs here are of two")
    deals = deal_hands(game)
    nodes = walk_public(game, deals)
    hands = max(len(x) for x in deals.infostate)
    size = len(nodes.parent)
    weight, payoff = np.zeros((size, hands, hands)), np.zeros((size, 2, hands, hands))
    for w, (a, b) in enumerate(deals.hand):
        weight[:, a, b] += nodes.weight[:, w]
    for w, (a, b) in enumerate(deals.hand):  # deals with equal hands are averaged
        share = nodes.weight[nodes.terminal, w] / np.maximum(weight[nodes.terminal, a, b], 1e-300)
        payoff[nodes.terminal, :, a, b] += nodes.utility[:, w] * share[:, None]
    payoff *= (weight > 0)[:, None]
    _constant_sum(game, nodes, payoff, weight)
    order = np.argsort(nodes.parent, kind="stable")
    start = np.searchsorted(nodes.parent[order], np.arange(size + 1))
    children = tuple(order[start[k] : start[k + 1]] for k in range(size))
    actor = nodes.actor.astype(np.int64)
    acts = np.flatnonzero(actor >= 0)
    features = np.zeros((len(actor), 0))
    if isinstance(game, HasPublicFeatures):
        shown = _features(game, deals, nodes, acts)
        features = np.zeros((len(actor), shown.shape[1]))
        features[acts] = shown
    subgame_class, representative = _classes(
        actor, nodes.action, children, weight, payoff, features
    )
    scale = _scales(nodes, payoff)[representative]
    return PublicGame(
        game=game,
        parent=nodes.parent,
        action=nodes.action,
        actor=actor,
        children=children,
        weight=weight,
        payoff=payoff,
        possible=np.stack([(weight > 0).any(2), (weight > 0).any(1)], 1),
        subgame_class=subgame_class,
        representative=representative,
        scale=np.where(scale > 0, scale, 1.0),
        features=features[representative],
        root=int(acts[0]),
    )


def hands_of(game: PublicGame, info: TreeInfo, player: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (public node, hand) of every infoset of a player, int64 [I] each.

    Args:
        game: the public nodes.
        info: of a tree of the same game, compiled with either layout.
        player: whose infosets.

    Raises:
        ValueError: the tree is of another game.
    """
    if info.name != game.game.name:
        raise ValueError(f"{info.name} is not {game.game.name}, whose public nodes these are")
    own = info.players[player]
    if not isinstance(info, ListedInfo):
        if own.hands == 1:
            raise ValueError(
                f'{info.name}: compile it with layout="hands", or keep its world states'
            )
        deal = info.num_public_states - len(game.parent)  # public states before the deal is over
        return own.public.astype(np.int64) - deal, own.position[own.offset[:-1]] % own.hands
    table = info.states
    depths = list(itertools.pairwise(table.depth_start))
    deal = next(k for k, (lo, hi) in enumerate(depths) if (table.actor[lo:hi] >= 0).all())
    lo, hi = depths[deal]
    node, hand = np.full(table.num_states, -1), np.full(table.num_states, -1)
    node[lo:hi] = 0
    hand[lo:hi] = np.unique(table.infostate[lo:hi, player], return_inverse=True)[1].reshape(-1)
    after = np.full((len(game.parent), int(game.action.max()) + 1), -1)
    after[game.parent[1:], game.action[1:]] = np.arange(1, len(game.parent))
    for lo, hi in depths[deal + 1 :]:
        up = table.parent[lo:hi]
        node[lo:hi], hand[lo:hi] = after[node[up], table.action[lo:hi]], hand[up]
    acts = np.flatnonzero(table.actor == player)
    first = np.zeros(int(table.infostate[:, player].max()) + 1, np.int64)
    first[table.infostate[acts, player]] = acts
    sample = first[own.infostate]
    return node[sample], hand[sample]


def _constant_sum(game: Game, nodes: Nodes, payoff: np.ndarray, weight: np.ndarray) -> None:
    total = payoff.sum(1)[nodes.terminal][weight[nodes.terminal] > 0]
    if np.abs(total).max(initial=0) > 1e-9:
        raise ValueError(f"{game.name} is not a zero-sum game; values of beliefs need one")


def _classes(
    actor: np.ndarray,
    action: np.ndarray,
    children: tuple[np.ndarray, ...],
    weight: np.ndarray,
    payoff: np.ndarray,
    features: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (class of each node where a player acts, a node of each), from the leaves up.

    Nodes are of one class if their subgames and the game's description of them are equal.
    """
    known: dict[Any, int] = {}
    subgame = np.zeros(len(actor), np.int64)
    mass = np.maximum(weight.sum((1, 2)), 1e-300)
    for k in reversed(range(len(actor))):
        below = children[k]
        own = np.round(weight[k] / mass[k], 12)
        key = (
            int(actor[k]),
            own.tobytes(),
            features[k].tobytes(),
            payoff[k].tobytes() if actor[k] == TERMINAL else b"",
            tuple(action[below].tolist()),
            tuple(subgame[below].tolist()),
            tuple(np.round(mass[below] / mass[k], 12).tolist()) if actor[k] == CHANCE else (),
        )
        subgame[k] = known.setdefault(key, len(known))
    acts = np.flatnonzero(actor >= 0)
    _, first, inverse = np.unique(subgame[acts], return_index=True, return_inverse=True)
    order = np.argsort(first)  # classes by their first node: the root is subgame_class 0
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    subgame_class = np.full(len(actor), -1)
    subgame_class[acts] = rank[inverse.reshape(-1)]
    return subgame_class, acts[first[order]]


def _scales(nodes: Nodes, payoff: np.ndarray) -> np.ndarray:
    """Returns float64 [P], the largest payoff at or below each node."""
    largest = np.abs(payoff).max((1, 2, 3))
    for k in reversed(range(1, len(largest))):
        up = nodes.parent[k]
        largest[up] = max(largest[up], largest[k])
    return largest


def _features(game: Any, deals: Deals, nodes: Nodes, at: np.ndarray) -> np.ndarray:
    """Returns float64 [K, F], the game's own description of some nodes.

    Raises:
        ValueError: it depends on the hands.
    """
    paths = []
    for k in at:
        path: list[int] = []
        while nodes.parent[k] >= 0:
            path.append(int(nodes.action[k]))
            k = nodes.parent[k]
        paths.append(path[::-1])
    length = max(len(p) for p in paths)
    moves = np.array([p + [-1] * (length - len(p)) for p in paths], np.int32)

    @jax.jit
    @jax.vmap
    def features(state: Any, moves: Any) -> Any:
        for k in range(length):
            after = game.step(state, moves[k])
            state = jax.tree.map(
                lambda a, b, go=moves[k] >= 0: jax.numpy.where(go, a, b), after, state
            )
        return game.public_features(state)

    alive = nodes.weight[at] > 0
    found = [
        np.asarray(features(jax.tree.map(lambda x, d=deal: np.asarray(x)[d], deals.states), moves))
        for deal in (alive.argmax(1), alive.shape[1] - 1 - alive[:, ::-1].argmax(1))
    ]
    if (found[0] != found[1]).any():
        raise ValueError(f"{game.name}: public_features depends on the hands")
    return found[0].astype(np.float64)

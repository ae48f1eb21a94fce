"""Small random games as rules objects.

A game is a set of tables over tree nodes, and the tables are part of the state: the rules are pure
JAX functions that never look at the object, so all games of as many players share their compiled
rules. They have chance, hidden actions, private and public signals, decisions with one to three
(not always contiguous) actions, and branches of different length. A move that shows a player
nothing does not reach them, so worlds of different depths share infosets.

Valid by construction: whoever is to act is privately told so, and which actions are legal, in the
transition that makes it their turn. Perfect recall follows from the protocol.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

NODES = 64
ACTIONS = 3
MENUS = ((0, 1), (0, 1), (0, 1, 2), (0, 2), (1,))
"""Sets of legal actions; what an actor is told is one more than the position here."""


class RandomTables(NamedTuple):
    """A tree of at most NODES nodes (N), node 0 the root (n players).

    Attributes:
        child: int32 [N, A], -1 where an action is not legal.
        actor: int32 [N].
        chance: float [N, A].
        public: int32 [N, 1], what the transition into a node showed.
        private: int32 [N, n, 2]: own menu if it is one's turn, and a signal.
        utility: float [N, n].
    """

    child: np.ndarray | Array
    actor: np.ndarray | Array
    chance: np.ndarray | Array
    public: np.ndarray | Array
    private: np.ndarray | Array
    utility: np.ndarray | Array


class State(NamedTuple):
    """One world state."""

    node: Array
    tables: RandomTables


@dataclasses.dataclass(frozen=True)
class RandomGame:
    """Rules. Equal and hash alike for equal numbers of players: the tables travel in the state."""

    num_players: int
    tables: RandomTables = dataclasses.field(compare=False, repr=False)
    name: str = dataclasses.field(compare=False)

    @property
    def num_actions(self) -> int:
        """A, chance included."""
        return ACTIONS

    def init(self) -> State:
        """Returns the root."""
        return State(jnp.int32(0), jax.tree.map(jnp.asarray, self.tables))

    def actor(self, state: State) -> Array:
        """Returns who moves."""
        return state.tables.actor[state.node]

    def legal(self, state: State) -> Array:
        """Returns bool [A]."""
        return state.tables.child[state.node] >= 0

    def chance(self, state: State) -> Array:
        """Returns float [A]."""
        return state.tables.chance[state.node]

    def step(self, state: State, action: Array) -> State:
        """Returns the child of an action."""
        return state._replace(node=state.tables.child[state.node, action])

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns what the transition into the node showed."""
        return state.tables.public[state.node], state.tables.private[state.node]

    def utility(self, state: State) -> Array:
        """Returns float [n]."""
        return state.tables.utility[state.node]


def random_game(
    seed: int,
    *,
    players: int = 2,
    depth: int = 5,
    silence: float = 0.6,
    zero_sum: bool = True,
    numbers: int | None = None,
) -> RandomGame:
    """Returns a random game.

    Args:
        seed: of everything random.
        players: n.
        depth: longest path.
        silence: how likely a transition shows no signal; 1 shows nothing but turns.
        zero_sum: payoffs add up to 0.
        numbers: seed of payoffs and chances, so that games of one `seed` have one shape; without
            it they are drawn like everything else.
    """
    rng = np.random.default_rng(seed)
    values = rng if numbers is None else np.random.default_rng([seed, numbers])
    t = RandomTables(
        child=np.full((NODES, ACTIONS), -1, np.int32),
        actor=np.full(NODES, TERMINAL, np.int32),
        chance=np.zeros((NODES, ACTIONS)),
        public=np.full((NODES, 1), NOTHING, np.int32),
        private=np.full((NODES, players, 2), NOTHING, np.int32),
        utility=np.zeros((NODES, players)),
    )
    level = np.zeros(NODES, int)
    used = 1
    for node in range(NODES):
        if node == used:
            break
        if node and rng.random() > silence:
            t.public[node] = rng.integers(2)
        loud = rng.random(players) > silence
        t.private[node, loud, 1] = rng.integers(2, size=players)[loud]
        menu = rng.integers(len(MENUS))
        legal = list(MENUS[menu])
        last = level[node] == depth or used + len(legal) > NODES
        if last or (node and rng.random() < 0.15):
            payoff = 3 * values.normal(size=players)
            # A payoff of exactly 0 would be left out of the tree, whose shape is then another.
            t.utility[node] = np.round(payoff, 3) if numbers is None else payoff
            if zero_sum:
                t.utility[node] -= t.utility[node].mean()
            continue
        mover = CHANCE if rng.random() < 0.25 else int(rng.integers(players))
        t.actor[node] = mover
        if mover == CHANCE:
            weights = 0.2 + values.random(len(legal))
            t.chance[node, legal] = weights / weights.sum()
        else:
            t.private[node, mover, 0] = 1 + menu
        t.child[node, legal] = used + np.arange(len(legal))
        level[t.child[node, legal]] = level[node] + 1
        used += len(legal)
    name = f"random(seed={seed},players={players},depth={depth},silence={silence})"
    name = name if numbers is None else f"{name[:-1]},numbers={numbers})"
    return RandomGame(players, t, name)

"""Small random games as rules objects, and hypothesis strategies of them.

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
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

NODES = 64
ACTIONS = 3
MENUS = ((0, 1), (0, 1), (0, 1, 2), (0, 2), (1,))
"""Sets of legal actions; what an actor is told is one more than the position here."""


class Tables(NamedTuple):
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
    tables: Tables


@dataclasses.dataclass(frozen=True)
class RandomGame:
    """Rules. Equal and hash alike for equal numbers of players: the tables travel in the state."""

    num_players: int
    tables: Tables = dataclasses.field(compare=False, repr=False)
    name: str = dataclasses.field(compare=False)

    @property
    def num_actions(self) -> int:
        return ACTIONS

    def init(self) -> State:
        return State(jnp.int32(0), jax.tree.map(jnp.asarray, self.tables))

    def actor(self, state: State) -> Array:
        return state.tables.actor[state.node]

    def legal(self, state: State) -> Array:
        return state.tables.child[state.node] >= 0

    def chance(self, state: State) -> Array:
        return state.tables.chance[state.node]

    def step(self, state: State, action: Array) -> State:
        return state._replace(node=state.tables.child[state.node, action])

    def observe(self, state: State) -> tuple[Array, Array]:
        return state.tables.public[state.node], state.tables.private[state.node]

    def utility(self, state: State) -> Array:
        return state.tables.utility[state.node]


def random_game(
    seed: int, *, players: int = 2, depth: int = 5, silence: float = 0.6, zero_sum: bool = True
) -> RandomGame:
    """Returns a random game.

    Args:
        seed: of everything random.
        players: n.
        depth: longest path.
        silence: how likely a transition shows no signal; 1 shows nothing but turns.
        zero_sum: payoffs add up to 0.
    """
    rng = np.random.default_rng(seed)
    t = Tables(
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
            t.utility[node] = np.round(3 * rng.normal(size=players), 3)
            if zero_sum:
                t.utility[node] -= t.utility[node].mean()
            continue
        mover = CHANCE if rng.random() < 0.25 else int(rng.integers(players))
        t.actor[node] = mover
        if mover == CHANCE:
            weights = 0.2 + rng.random(len(legal))
            t.chance[node, legal] = weights / weights.sum()
        else:
            t.private[node, mover, 0] = 1 + menu
        t.child[node, legal] = used + np.arange(len(legal))
        level[t.child[node, legal]] = level[node] + 1
        used += len(legal)
    name = f"random(seed={seed},players={players},depth={depth},silence={silence})"
    return RandomGame(players, t, name)


@dataclasses.dataclass(frozen=True)
class Tilted:
    """A game with other payoffs, in which no two choices are worth exactly the same.

    Where regrets cancel to zero, one program plays uniformly and another follows the sign of a
    rounding error. Iterates can be compared only where that does not happen.
    """

    game: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    @property
    def name(self) -> str:
        return f"tilted {self.game.name}"

    def utility(self, state: Any) -> Array:
        content = jnp.concatenate([jnp.ravel(x).astype(float) for x in jax.tree.leaves(state)])
        tilt = 0.5 * jnp.sin(content @ (1.0 + jnp.sqrt(jnp.arange(1.0, len(content) + 1))))
        payoff = self.game.utility(state)
        return payoff + jnp.where(jnp.arange(len(payoff)) == 0, tilt, -tilt / (len(payoff) - 1))


@st.composite
def random_games(draw: st.DrawFn, *, players: int = 2, zero_sum: bool = True) -> RandomGame:
    """Random games; shrinks to fewer moves that hide less."""
    return random_game(
        draw(st.integers(0, 10_000)),
        players=players,
        depth=draw(st.integers(1, 6)),
        silence=draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
        zero_sum=zero_sum,
    )

"""World states of a game, all of them or along random playthroughs, as plain host tables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsInt

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Game, action_name
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array, PyTree

_BATCH = 256
"""Every call of the rules has this many states, so that a game is compiled once."""


class Sample(NamedTuple):
    """World states of a game, parents first (X states, n players).

    Attributes:
        states: the states, a pytree of [X, ...].
        parent: int64 [X], the state before, -1 for an initial state.
        action: int64 [X], the action that led here, -1 for an initial state.
        actor: int [X], player, CHANCE or TERMINAL.
        legal: bool [X, A].
        chance: float [X, A].
        public: int [X, p], the public observation.
        private: int [X, n, m], the private observations.
        utility: float [X, n].
        public_state: int64 [X], equal where the public observations so far are equal; 0 where
            nothing has been shown.
        infostate: int64 [X, n], equal where a player's actions and observations so far are equal.
    """

    states: PyTree
    parent: np.ndarray
    action: np.ndarray
    actor: np.ndarray
    legal: np.ndarray
    chance: np.ndarray
    public: np.ndarray
    private: np.ndarray
    utility: np.ndarray
    public_state: np.ndarray
    infostate: np.ndarray

    def infosets(self, player: int) -> int:
        """Returns the number of infostates in which `player` acts."""
        return len(np.unique(self.infostate[self.actor == player, player]))


def world_states(game: Game, *, max_states: int = 100_000) -> Sample:
    """Returns every world state of a game, breadth first.

    Raises:
        ValueError: there are more than `max_states`.
    """
    explorer = Explorer(game)
    explorer.start()
    if not explorer.expand_all(max_states):
        raise ValueError(f"{game.name} has more than max_states={max_states:,} world states.")
    return explorer.sample()


def random_states(game: Game, *, episodes: int, seed: int = 0, max_steps: int = 1000) -> Sample:
    """Returns the states of random playthroughs, actions drawn uniformly (chance's too).

    The playthroughs share the initial state. One that is not over after `max_steps` actions stops
    there.
    """
    explorer = Explorer(game)
    explorer.start()
    explorer.play(episodes, seed, max_steps)
    return explorer.sample()


class Explorer:
    """Grows a `Sample` a level at a time; ids are shared by everything it visits."""

    def __init__(self, game: Game):
        self.game = game
        self.levels: list[Sample] = []
        self.size = 0
        self.ids: list[dict[Any, int]] = [{} for _ in range(game.num_players + 1)]

    def start(self) -> None:
        """Puts the initial state in a level of its own."""
        initial = jax.tree.map(lambda x: np.asarray(x)[None], self.game.init())
        facts = _run(self.game, initial, np.zeros(1, np.int32), moves=False)
        nobody, nothing_yet = np.full(1, -1), np.zeros((1, self.game.num_players + 1), np.int64)
        self._append(facts, nobody, nobody, np.full(1, TERMINAL), nothing_yet)

    def expand(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """Adds a level: the states after `actions` in `rows` of the last level."""
        last = self.levels[-1]
        states = jax.tree.map(lambda x: x[rows], last.states)
        facts = _run(self.game, states, actions.astype(np.int32), moves=True)
        before = np.column_stack([last.public_state, last.infostate])[rows]
        parent = self.size - len(last.parent) + rows
        self._append(facts, parent, actions, last.actor[rows], before)

    def expand_all(self, max_states: int) -> bool:
        """Adds levels until all games are over; stops and returns False short of `max_states`."""
        while True:
            rows, actions = np.nonzero(self.levels[-1].legal)
            if not len(rows):
                return True
            if self.size + len(rows) > max_states:
                return False
            self.expand(rows, actions)

    def play(self, episodes: int, seed: int, max_steps: int) -> bool:
        """Adds random playthroughs; returns whether all were over after `max_steps` actions."""
        rng = np.random.default_rng(seed)
        rows = np.zeros(episodes, np.int64)
        for _ in range(max_steps):
            legal = self.levels[-1].legal[rows]
            rows, legal = rows[legal.any(1)], legal[legal.any(1)]
            if not len(rows):
                return True
            self.expand(rows, np.where(legal, rng.random(legal.shape), -1).argmax(1))
            rows = np.arange(len(rows))
        return not self.levels[-1].legal.any()

    def sample(self) -> Sample:
        """Returns all levels as one table."""
        return jax.tree.map(lambda *x: np.concatenate(x), *self.levels)

    def _append(
        self,
        facts: tuple[Any, ...],
        parent: np.ndarray,
        action: np.ndarray,
        mover: np.ndarray,
        before: np.ndarray,
    ) -> None:
        states, actor, legal, chance, public, private, utility = facts
        ids = before.copy()
        hears = (public != NOTHING).any(1)
        for row in np.flatnonzero(hears):
            ids[row, 0] = self._id(0, before[row, 0], -1, public[row])
        for i in range(self.game.num_players):
            acts = mover == i
            seen = np.concatenate([public, private[:, i]], 1)
            for row in np.flatnonzero(acts | (seen != NOTHING).any(1)):
                own = action[row] if acts[row] else -1
                ids[row, i + 1] = self._id(i + 1, before[row, i + 1], own, seen[row])
        level = (actor, legal, chance, public, private, utility, ids[:, 0], ids[:, 1:])
        self.levels.append(Sample(states, parent, action, *level))
        self.size += len(parent)

    def _id(self, table: int, before: int, own: int, seen: np.ndarray) -> int:
        key = (int(before), int(own), seen.tobytes())
        return self.ids[table].setdefault(key, len(self.ids[table]) + 1)


def describe(game: Game, sample: Sample, index: int, *, path: bool = True) -> str:
    """Returns the path to a state and its fields, for an error message."""
    fields = ["  state:", *(f"    {line}" for line in show_state(sample, index))]
    if not path:
        return "\n".join(fields)
    words, at = [], index
    while sample.parent[at] >= 0:
        up, action = int(sample.parent[at]), int(sample.action[at])
        words.append(
            f"{actor_name(sample.actor[up])} {action_name(game, sample.actor[up], action)}"
        )
        at = up
    after = ", ".join(reversed(words)) or "(the initial state)"
    return "\n".join([f"  after: {after}", *fields])


def show_state(sample: Sample, index: int) -> list[str]:
    """Returns one "field: value" line per array of a state."""
    leaves = jax.tree_util.tree_leaves_with_path(sample.states)
    return [
        f"{jax.tree_util.keystr(path).lstrip('.')}: {leaf[index].tolist()}" for path, leaf in leaves
    ]


def actor_name(actor: SupportsInt) -> str:
    """Returns "player 0", "chance" or "terminal"."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(int(actor), f"player {actor}")


def look(game: Game, state: Any) -> tuple[Array, ...]:
    """Returns actor, legal, chance, public, private and utility of one state."""
    public, private = game.observe(state)
    facts = game.actor(state), game.legal(state), game.chance(state), public, private
    return (*facts, game.utility(state))


def _run(game: Game, states: PyTree, actions: np.ndarray, *, moves: bool) -> tuple[Any, ...]:
    """Returns (states, *look) after `actions`, or of `states` themselves, in padded batches."""
    advance, parts, total = _advance(game), [], len(actions)
    for start in range(0, total, _BATCH):
        take = np.minimum(np.arange(start, start + _BATCH), total - 1)
        batch = jax.tree.map(lambda x, take=take: x[take], states)
        out = advance(batch, actions[take], np.full(_BATCH, moves))
        parts.append(jax.tree.map(lambda x, k=total - start: np.asarray(x)[:k], out))
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)


def _advance(game: Any) -> Callable[..., Any]:
    try:
        return _cached_advance(game)
    except TypeError:  # not hashable
        return _cached_advance.__wrapped__(game)


@functools.lru_cache(maxsize=64)
def _cached_advance(game: Any) -> Callable[..., Any]:
    def one(state: Any, action: Array, moves: Array) -> tuple[Any, ...]:
        after = game.step(state, action)
        state = jax.tree.map(lambda a, b: jnp.where(moves, a, b), after, state)
        return (state, *look(game, state))

    return jax.jit(jax.vmap(one))

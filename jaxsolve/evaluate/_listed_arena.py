"""Matches on the world states of a compiled game: a position is a number, a move is a gather."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate._arena import Turn
from jaxsolve.game import Observation
from jaxsolve.tree import Infostates, PublicTree, listed, take
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class Shown:
    """What players have been shown at each of their infosets (I infosets, Z infostates at most).

    Attributes:
        rows: int32 [n, I, L], the infostates since the player's own last decision, oldest first;
            Z after the last one.
        length: int32 [n, I], how many there are.
        action: int32 [n, I], the player's own last action, -1 before the first.
        seen: int32 [n, Z + 1, p + m], what the transition into each infostate showed, the public
            entries first; the last row is NOTHING.
    """

    rows: Array
    length: Array
    action: Array
    seen: Array


@pytree
@dataclasses.dataclass(frozen=True)
class ListedArena:
    """A game's world states on the device (X states, A actions, n players): an `Arena`.

    Attributes:
        actor: int32 [X].
        child: int32 [X, A], -1 where the action is not legal.
        chance: float [X, A], probabilities at chance states.
        infoset: int32 [X], the actor's infoset in canonical order, -1 where nobody acts.
        payoff: float [X, n], 0 but at terminal states.
        shown: to all players.
        name: the game's string.
        max_moves: of the longest match.
        public: p, entries of a public observation.
    """

    actor: Array
    child: Array
    chance: Array
    infoset: Array
    payoff: Array
    shown: Shown
    name: str = dataclasses.field(metadata={"static": True})
    max_moves: int = dataclasses.field(metadata={"static": True})
    public: int = dataclasses.field(metadata={"static": True})

    @property
    def num_players(self) -> int:
        """n."""
        return int(self.payoff.shape[1])

    @property
    def num_actions(self) -> int:
        """A."""
        return int(self.child.shape[1])

    def start(self) -> Array:
        """Returns int32 [], the initial state."""
        return jnp.int32(0)

    def turn(self, position: Array) -> Turn:
        """Returns who moves."""
        return Turn(self.actor[position], self.child[position] >= 0, self.chance[position])

    def observation(self, position: Array, player: Array | int) -> Observation:
        """Returns what a player has been shown, the number of the infoset included."""
        shown, infoset = self.shown, self.infoset[position].clip(0)
        seen = shown.seen[player, shown.rows[player, infoset]]
        return Observation(
            player=jnp.asarray(player, jnp.int32),
            public=seen[:, : self.public],
            private=seen[:, self.public :],
            length=shown.length[player, infoset],
            action=shown.action[player, infoset],
            legal=self.child[position] >= 0,
            infoset=infoset,
        )

    def step(self, position: Array, action: Array) -> Array:
        """Returns the state after an action; a terminal state stays."""
        over = self.actor[position] == TERMINAL
        return jnp.where(over, position, take(self.child[position], action))

    def utility(self, position: Array) -> Array:
        """Returns float [n]."""
        return self.payoff[position]

    def status(self, position: Array) -> Array:
        """Returns 0: there is room for everything."""
        return jnp.int32(0)

    def states(self, actions: Array) -> Array:
        """Returns int32 [..., D + 1], the world states of matches; the last one repeats at the end.

        Args:
            actions: int32 [..., D] (`Match.actions`).
        """

        def move(state: Array, action: Array) -> tuple[Array, Array]:
            after = jnp.where(action < 0, state, self.child[state, action])
            return after, after

        first = jnp.zeros(actions.shape[:-1], jnp.int32)
        _, after = jax.lax.scan(move, first, jnp.moveaxis(actions, -1, 0))
        return jnp.concatenate([first[..., None], jnp.moveaxis(after, 0, -1)], -1)


def arena(tree: PublicTree) -> ListedArena:
    """Returns the world states of a compiled game, ready to be played.

    Raises:
        ValueError: the tree has no table of world states.
    """
    info = listed(tree)
    table = info.states
    size, width = table.num_states, table.game.num_actions
    child = np.full((size, width), -1, np.int32)
    child[table.parent[1:], table.action[1:]] = np.arange(1, size)
    chance = np.zeros((size, width))
    from_chance = 1 + np.flatnonzero(table.actor[table.parent[1:]] == CHANCE)
    up = table.parent[from_chance]
    chance[up, table.action[from_chance]] = table.chance[from_chance] / table.chance[up]
    infoset = np.full(size, -1, np.int32)
    for i, player in enumerate(info.players):
        number = np.full(int(table.infostate[:, i].max()) + 1, -1, np.int32)
        number[player.infostate] = np.arange(player.num_infosets)
        acts = table.actor == i
        infoset[acts] = number[table.infostate[acts, i]]
    payoff = np.zeros((size, table.game.num_players))
    payoff[table.terminal] = table.utility
    found = [
        _shown(states, player.infostate if player.num_infosets else np.zeros(1, np.int32))
        for states, player in zip(table.infostates, info.players, strict=True)
    ]
    rows, length, action, seen = (_stacked(x) for x in zip(*found, strict=True))
    last = np.full_like(seen[:, :1], NOTHING)
    return ListedArena(
        actor=jnp.asarray(table.actor, jnp.int32),
        child=jnp.asarray(child),
        chance=jnp.asarray(chance, float),
        infoset=jnp.asarray(infoset),
        payoff=jnp.asarray(payoff, float),
        shown=Shown(
            rows=jnp.asarray(np.where(rows < 0, seen.shape[1], rows), jnp.int32),
            length=jnp.asarray(length),
            action=jnp.asarray(action),
            seen=jnp.asarray(np.concatenate([seen, last], 1)),
        ),
        name=info.name,
        max_moves=len(table.depth_start) - 2,
        public=table.public_states.observation.shape[1],
    )


def _shown(
    states: Infostates, infostate: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns (rows, length, action, seen) of one player, by walking up from each infoset.

    They are as in `Shown`, but for -1 after the last row, and without the last one of `seen`.
    """
    silent = (states.observation == NOTHING).all(1) & (states.action < 0)
    at, action = infostate.astype(np.int32), np.full(len(infostate), -1, np.int32)
    columns = []
    walking = states.parent[at] >= 0
    while walking.any():
        columns.append(np.where(walking & ~silent[at], at, -1))
        action = np.where(walking, states.action[at], action).astype(np.int32)
        at = np.where(walking, states.parent[at], at)
        walking = walking & (action < 0) & (states.parent[at] >= 0)
    newest = np.stack(columns, 1) if columns else np.zeros((len(at), 0), np.int32)
    # Oldest first, and what showed nothing is left out.
    order = np.argsort(newest[:, ::-1] < 0, axis=1, kind="stable")
    rows = np.take_along_axis(newest[:, ::-1], order, 1)
    length = (rows >= 0).sum(1, dtype=np.int32)
    rows = rows[:, : int(length.max(initial=0))].astype(np.int32)
    return rows, length, action, states.observation


def _stacked(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Returns arrays one after another, filled up with -1 to the size of the largest."""
    size = np.max([x.shape for x in parts], axis=0)
    every = np.full((len(parts), *size), -1, np.int32)
    for into, x in zip(every, parts, strict=True):
        into[tuple(slice(n) for n in x.shape)] = x
    return every

"""Matches between agents: thousands side by side, on the world states of a compiled game.

Duplicate play: every match is played again with the seats exchanged and the same cards, and the
mean of both counts once. The chance moves of a pair are equal as long as the path is: the outcome
of a chance move is found from a number that depends on the pair and on how many chance moves came
before.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.tree import PublicTree, listed, pick, take
from jaxsolve.types import CHANCE, TERMINAL, Array, PRNGKey


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Arena:
    """A game's world states on the device (X states, A actions, n players).

    Attributes:
        actor: int32 [X].
        child: int32 [X, A], -1 where the action is not legal.
        chance: float [X, A], probabilities at chance states.
        infoset: int32 [X], the actor's infoset in canonical order, -1 where nobody acts.
        utility: float [X, n], 0 but at terminal states.
        depth: moves of the longest match.
    """

    actor: Array
    child: Array
    chance: Array
    infoset: Array
    utility: Array
    depth: int = dataclasses.field(metadata={"static": True})

    @property
    def num_players(self) -> int:
        """n."""
        return int(self.utility.shape[1])


class Match(NamedTuple):
    """Matches that were played (M matches, D moves, n seats).

    Attributes:
        states: int32 [M, D + 1], world states; the last one repeats once a match is over.
        policies: float [M, D, A], what each move was drawn from, chance moves included.
        utility: float [M, n], of the seats.
    """

    states: Array
    policies: Array
    utility: Array


@dataclasses.dataclass(frozen=True)
class Score:
    """What the first agent won per match, in the game's units.

    Attributes:
        mean: estimate.
        standard_error: of the mean.
        interval: 95 % confidence interval.
        matches: independent estimates behind it; a pair of duplicate matches is one.
    """

    mean: float
    standard_error: float
    interval: tuple[float, float]
    matches: int

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{self.mean:.4g} ({low:.4g} to {high:.4g}, 95 %, {self.matches:,} matches)"


def arena(tree: PublicTree) -> Arena:
    """Returns the world states of a compiled game, ready to be played.

    Raises:
        ValueError: the tree has no table of world states.
    """
    info = listed(tree)
    table = info.states
    size, width = table.num_states, info.game.num_actions
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
    utility = np.zeros((size, table.game.num_players))
    utility[table.terminal] = table.utility
    return Arena(
        actor=jnp.asarray(table.actor, jnp.int32),
        child=jnp.asarray(child),
        chance=jnp.asarray(chance, float),
        infoset=jnp.asarray(infoset),
        utility=jnp.asarray(utility, float),
        depth=len(table.depth_start) - 2,
    )


def play_matches(
    game: Arena, agents: Sequence[Any], matches: int, key: PRNGKey, *, mirror: bool = True
) -> Match:
    """Returns matches between agents, each a pure function; one compiled program.

    Args:
        game: the world states.
        agents: one per seat (`agents.Agent`).
        matches: how many; with `mirror` half of them, rounded up, have the seats exchanged, and
            match 2k + 1 has the cards of match 2k.
        key: of everything random.
        mirror: duplicate play; two players.

    Returns:
        Matches, whose utility is by agent.

    Raises:
        ValueError: the number of agents is wrong, or there is no match.
    """
    n = game.num_players
    if len(agents) != n:
        raise ValueError(f"{len(agents)} agents for a game of {n} players")
    if matches < 1 or (mirror and matches % 2):
        raise ValueError(f"{matches} matches; mirrored ones come in pairs, 2 at least")
    if mirror and n != 2:
        raise ValueError(f"mirrored matches are for 2 players, not {n}; use mirror=False")
    pairs = matches // 2 if mirror else matches
    numbers = jnp.arange(pairs)
    parts = []
    for swap in (False, True) if mirror else (False,):
        seats = tuple(agents[::-1]) if swap else tuple(agents)
        found = _play(game, key, numbers, jnp.asarray(swap), seats)
        parts.append(found._replace(utility=found.utility[:, ::-1] if swap else found.utility))
    if not mirror:
        return parts[0]
    return jax.tree.map(lambda a, b: jnp.stack([a, b], 1).reshape(-1, *a.shape[1:]), *parts)


def score(match: Match, *, mirror: bool = True, utility: Any = None) -> Score:
    """Returns the first agent's mean with its confidence interval.

    Args:
        match: matches.
        mirror: they come in duplicate pairs.
        utility: float [M], estimates in place of the first agent's utility, such as AIVAT's.
    """
    won = np.asarray(match.utility[:, 0] if utility is None else utility, np.float64)
    each = won.reshape(-1, 2).mean(1) if mirror else won
    mean = float(each.mean())
    error = float(each.std(ddof=1) / math.sqrt(len(each))) if len(each) > 1 else math.inf
    return Score(mean, error, (mean - 1.96 * error, mean + 1.96 * error), len(each))


@functools.partial(jax.jit, static_argnames="agents")
def _play(game: Arena, key: PRNGKey, numbers: Array, swap: Array, agents: tuple[Any, ...]) -> Match:
    return jax.vmap(lambda k: _one(game, jax.random.fold_in(key, k), swap, agents))(numbers)


def _one(game: Arena, key: PRNGKey, swap: Array, agents: tuple[Any, ...]) -> Match:
    # Agents draw afresh where the seats are exchanged; the cards stay.
    cards, moves = jax.random.fold_in(key, 0), jax.random.fold_in(key, 1 + swap)
    begin = [
        agent.init(jnp.int32(i), jax.random.fold_in(moves, i)) for i, agent in enumerate(agents)
    ]
    from jaxsolve.agents import View

    def move(carry: tuple[Array, Array, Any], step: Array) -> tuple[Any, tuple[Array, Array]]:
        state, dealt, minds = carry
        actor, legal = game.actor[state], game.child[state] >= 0
        u = jax.random.uniform(jax.random.fold_in(cards, dealt))
        outcome = pick(game.chance[state], u)
        chosen, policy = outcome, game.chance[state]
        after = []
        for i, agent in enumerate(agents):
            view = View(jnp.int32(i), game.infoset[state].clip(0), legal)
            key = jax.random.fold_in(jax.random.fold_in(moves, 1000 + step), i)
            decision, mind = agent.act(minds[i], view, key)
            mine = actor == i
            chosen = jnp.where(mine, decision.action, chosen)
            policy = jnp.where(mine, decision.policy, policy)
            after.append(jax.tree.map(lambda a, b, m=mine: jnp.where(m, a, b), mind, minds[i]))
        over = actor == TERMINAL
        following = jnp.where(over, state, take(game.child[state], chosen))
        dealt = dealt + (actor == CHANCE)
        return (following, dealt, after), (following, policy)

    start = (jnp.int32(0), jnp.int32(0), begin)
    (last, _, _), (states, policies) = jax.lax.scan(move, start, jnp.arange(game.depth))
    return Match(jnp.concatenate([jnp.zeros(1, jnp.int32), states]), policies, game.utility[last])

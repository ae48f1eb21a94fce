"""Information set Monte Carlo tree search, from the rules of any two-player game.

Each simulation draws a world state that the searching player cannot tell from the real one, walks
down by UCT, opens the first infostate that it does not know and plays on at random. Statistics
belong to infostates of whoever acts, so nobody's choices depend on what they do not see. In games
of perfect information this is plain UCT.

The tree is a hash table of fixed capacity: the key of a node is a fingerprint of what its player
has seen and done. One simulation reads the table on its way down and writes it once at the end, so
that thousands of vmapped searches update theirs in place.

Source: Cowling, Powley and Whitehouse 2012, the form with a tree for each player (MO-ISMCTS), with
one node per infostate. UCT: Kocsis and Szepesvári 2006. Differs in the exploration term, which
counts the visits of the node and not those in which an action was legal: actions of an infostate
are legal always or never.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Game, State
from jaxsolve.tree import pick, take
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array, PRNGKey

WINDOW = 8
"""A node lies in one of so many neighbouring places of the hash table."""

KINDS = ("visits", "max_visits", "max_value")
"""How a search becomes a policy."""


class World(NamedTuple):
    """A world state, and what its players know there.

    Attributes:
        state: of the game.
        memory: uint32 [n, 2], a fingerprint of each player's infostate.
    """

    state: State
    memory: Array


class Belief(NamedTuple):
    """World states that the player who is to act cannot tell apart (W of them).

    Attributes:
        worlds: leading axis W.
        probability: float [W], how often each is drawn; they need not sum to 1, 0 is padding.
    """

    worlds: World
    probability: Array


class IsmctsRoot(NamedTuple):
    """What a search found out about the actions at its root (A actions).

    Attributes:
        visits: float [A], simulations that took each action.
        values: float [A], mean payoff of the root's player in them, in the game's units; 0 where
            an action was never taken.
        legal: bool [A].
    """

    visits: Array
    values: Array
    legal: Array

    def policy(self, kind: str = "visits") -> Array:
        """Returns float [..., A], a policy at the root; uniform where nothing was tried.

        Args:
            kind: "visits", in proportion to visits; "max_visits" or "max_value", the action with
                the most, the first of equal ones.

        Raises:
            ValueError: there is no such kind.
        """
        if kind not in KINDS:
            raise ValueError(f"unknown policy {kind!r}; choose one of {', '.join(KINDS)}")
        total = self.visits.sum(-1, keepdims=True)
        if kind == "visits":
            chosen = self.visits / jnp.maximum(total, 1)
        else:
            score = self.visits if kind == "max_visits" else self.values
            best = jnp.argmax(jnp.where(self.visits > 0, score, -jnp.inf), -1)
            chosen = jax.nn.one_hot(best, self.visits.shape[-1], dtype=total.dtype)
        uniform = self.legal / jnp.maximum(self.legal.sum(-1, keepdims=True), 1)
        return jnp.where(total > 0, chosen, uniform)


class IsmctsTable(NamedTuple):
    """The tree of a search, from which it can go on (A actions, K places).

    Attributes:
        keys: uint32 [K, 2], which infostates are known; 0 where a place is free.
        totals: float [K * A, 2], visits and sum of payoffs of each action.
        simulations: int32 [], so far; the first one only opens the root.
        unstored: int32 [], simulations that found no room for the node that they should have
            opened: with more than a few, raise `capacity`.
        unfinished: int32 [], simulations that were not over after `max_steps` and counted 0.
    """

    keys: Array
    totals: Array
    simulations: Array
    unstored: Array
    unfinished: Array


def first_world(game: Game) -> World:
    """Returns the initial state of a game."""
    lanes = jnp.arange(game.num_players * 2, dtype=jnp.uint32).reshape(-1, 2)
    return World(game.init(), _mixed(lanes + jnp.uint32(1)))


def next_world(game: Game, world: World, action: Array) -> World:
    """Returns what follows an action: a player who saw or did something remembers it."""
    n = game.num_players
    mover = game.actor(world.state)
    state = game.step(world.state, action)
    public, private = game.observe(state)
    own = jnp.where(jnp.arange(n) == mover, jnp.asarray(action, jnp.int32), NOTHING)
    everybody = jnp.broadcast_to(jnp.ravel(public), (n, jnp.size(public)))
    words = jnp.concatenate([own[:, None], everybody, jnp.reshape(private, (n, -1))], 1)
    return World(state, remembered(world.memory, words))


def remembered(memory: Array, words: Array) -> Array:
    """Returns uint32 [n, 2], fingerprints after what players did and saw.

    Args:
        memory: uint32 [n, 2], before.
        words: int32 [n, w], own action (NOTHING of another's), public and private observation.
    """
    told = (words != NOTHING).any(1, keepdims=True)
    return jnp.where(told, _remember(memory, words), memory)


def certain(world: World) -> Belief:
    """Returns the belief of somebody who knows the world state."""
    return Belief(jax.tree.map(lambda x: jnp.asarray(x)[None], world), jnp.ones(1))


def draw_world(belief: Belief, key: PRNGKey) -> World:
    """Returns a world state drawn from a belief."""
    return _drawn(belief, jax.random.uniform(key, dtype=belief.probability.dtype))


def ismcts(
    game: Game,
    belief: Belief,
    key: PRNGKey,
    *,
    simulations: Array | int,
    uct_c: Array | float,
    capacity: int | None = None,
    max_steps: int = 1000,
    table: IsmctsTable | None = None,
) -> tuple[IsmctsRoot, IsmctsTable]:
    """Returns a search at one infostate. Pure: `jax.vmap` and `jax.jit` apply.

    Args:
        game: two players; the rules.
        belief: world states of the infostate.
        key: of everything random.
        simulations: how many, those of `table` not counted. Traceable, but not to be vmapped.
        uct_c: exploration constant, in the game's units: an action's score is its mean payoff
            plus uct_c * sqrt(log(visits of the node) / visits of the action).
        capacity: places for infostates, a power of two; twice as many as simulations by default.
        max_steps: of one simulation, chance moves included. The most that the game can last from
            here makes for the least work.
        table: of a search with the same key and belief, to go on from there. The outcome is that
            of a search that was never interrupted, bit for bit.

    Raises:
        ValueError: not two players, or a size that makes no sense.
    """
    if table is not None:
        capacity = len(table.keys) - WINDOW + 1
    places = _capacity(game, simulations, capacity, max_steps)
    begin = empty_table(game, places) if table is None else table
    first = jax.tree.map(lambda x: x[0], belief.worlds)

    def simulate(_: Array, now: IsmctsTable) -> IsmctsTable:
        fresh = jax.random.fold_in(key, now.simulations)
        return _simulate(game, belief, now, uct_c, fresh, max_steps)

    # No bound of this loop may differ within a batch: JAX would then copy every table each time.
    done = jax.lax.fori_loop(0, simulations, simulate, begin)
    slot, _ = _find(done.keys, _key(first.memory, game.actor(first.state)))
    visits, total = _node(done.totals, slot, game.num_actions).T
    root = IsmctsRoot(visits, total / jnp.maximum(visits, 1), game.legal(first.state))
    return root, done


def empty_table(game: Game, capacity: int) -> IsmctsTable:
    """Returns the table of a search that has not begun.

    Raises:
        ValueError: the capacity is not a power of two.
    """
    if capacity < 1 or capacity & (capacity - 1):
        raise ValueError(f"capacity={capacity}; use a power of two, such as 1024")
    size = capacity + WINDOW - 1
    return IsmctsTable(
        keys=jnp.zeros((size, 2), jnp.uint32),
        totals=jnp.zeros((size * game.num_actions, 2), float),
        simulations=jnp.int32(0),
        unstored=jnp.int32(0),
        unfinished=jnp.int32(0),
    )


class _Walk(NamedTuple):
    """A simulation on its way (D steps at most).

    Attributes:
        world: where it is.
        actor: int32 [], who acts there.
        step: int32 [], moves so far.
        inside: bool [], whether all infostates so far were known.
        path: int32 [D], row of `IsmctsTable.totals` of each choice; out of bounds for other moves.
        mover: int32 [D], whose choice it was.
        slot: int32 [], place for the infostate that is opened; out of bounds if there is none.
        key: uint32 [2], its key.
    """

    world: World
    actor: Array
    step: Array
    inside: Array
    path: Array
    mover: Array
    slot: Array
    key: Array


def _simulate(
    game: Game, belief: Belief, now: IsmctsTable, uct_c: Array | float, key: PRNGKey, steps: int
) -> IsmctsTable:
    """Returns the search after one simulation."""
    size, actions = len(now.keys), game.num_actions
    uniform = jax.random.uniform(key, (steps + 1,), now.totals.dtype)
    world = _drawn(belief, uniform[-1])

    def move(walk: _Walk) -> _Walk:
        state, memory = walk.world
        legal = game.legal(state)
        player = jnp.maximum(walk.actor, 0)
        name = _key(memory, walk.actor)
        slot, known = _find(now.keys, name)
        asked = walk.inside & (walk.actor != CHANCE)
        chooses, opens = asked & known, asked & ~known
        best = _uct(_node(now.totals, slot, actions), legal, uct_c)
        odds = jnp.where(walk.actor == CHANCE, game.chance(state), jnp.where(chooses, best, legal))
        action = pick(odds.astype(uniform.dtype), take(uniform, walk.step))
        world = next_world(game, walk.world, action)
        here = jnp.arange(steps) == walk.step
        row = jnp.where(chooses, slot * actions + action, size * actions)
        return _Walk(
            world=world,
            actor=game.actor(world.state),
            step=walk.step + 1,
            inside=walk.inside & ~opens,
            path=jnp.where(here, row, walk.path),
            mover=jnp.where(here, player, walk.mover),
            slot=jnp.where(opens, slot, walk.slot),
            key=jnp.where(opens, name, walk.key),
        )

    end = jax.lax.while_loop(
        lambda walk: (walk.actor != TERMINAL) & (walk.step < steps),
        move,
        _Walk(
            world=world,
            actor=game.actor(world.state),
            step=jnp.int32(0),
            inside=jnp.array(True),
            path=jnp.full(steps, size * actions, jnp.int32),
            mover=jnp.zeros(steps, jnp.int32),
            slot=jnp.int32(size),
            key=jnp.zeros(2, jnp.uint32),
        ),
    )
    over = end.actor == TERMINAL
    payoff = jnp.where(over, game.utility(end.world.state), 0.0).astype(now.totals.dtype)
    gain = jnp.stack([jnp.ones(steps, payoff.dtype), payoff[end.mover]], 1)
    return now._replace(
        simulations=now.simulations + 1,
        unstored=now.unstored + (~end.inside & (end.slot == size)),
        unfinished=now.unfinished + ~over,
        keys=now.keys.at[end.slot].set(end.key, mode="drop"),
        totals=now.totals.at[end.path].add(gain, mode="drop"),
    )


def _drawn(belief: Belief, uniform: Array) -> World:
    index = pick(belief.probability, uniform)
    return jax.tree.map(lambda x: take(x, index), belief.worlds)


def _uct(node: Array, legal: Array, uct_c: Array | float) -> Array:
    """Returns bool [A]: untried actions if there are any, else those of the highest score."""
    visits, total = node[:, 0], node[:, 1]
    tried = jnp.maximum(visits, 1)
    mean = total / tried
    bonus = uct_c * jnp.sqrt(jnp.log(jnp.maximum(visits.sum(), 1)) / tried)
    score = jnp.where(legal, mean + bonus, -jnp.inf)
    # XLA may compute a score twice and round it differently, so that none equals the largest.
    equal = 1e-6 * jnp.where(legal, jnp.abs(mean) + bonus, 0).max()
    untried = legal & (visits == 0)
    return jnp.where(untried.any(), untried, score >= score.max() - equal)


def _find(keys: Array, key: Array) -> tuple[Array, Array]:
    """Returns (int32 [] place of a key or where it would go, bool [] whether it is there).

    The place is out of bounds where there is no room.
    """
    size = len(keys)
    start = (key[1] % jnp.uint32(size - WINDOW + 1)).astype(jnp.int32)
    window = jax.lax.dynamic_slice(keys, (start, jnp.int32(0)), (WINDOW, 2))
    same = (window == key).all(1)
    free = (window == 0).all(1)
    known = same.any()
    at = jnp.where(known, jnp.argmax(same), jnp.argmax(free))
    return jnp.where(known | free.any(), start + at, size).astype(jnp.int32), known


def _node(totals: Array, slot: Array, actions: int) -> Array:
    """Returns float [A, 2], visits and sums of the node at a place; anything out of bounds."""
    return jax.lax.dynamic_slice(totals, (slot * actions, jnp.int32(0)), (actions, 2))


def _key(memory: Array, actor: Array) -> Array:
    """Returns uint32 [2], never 0, the key of the actor's infostate; anything at chance."""
    return take(memory, jnp.maximum(actor, 0)) | jnp.array([1, 0], jnp.uint32)


def _capacity(game: Game, simulations: Any, capacity: int | None, max_steps: int) -> int:
    """Returns the number of places, after refusing what makes no sense."""
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; ismcts is for two")
    if max_steps < 1:
        raise ValueError(f"max_steps={max_steps}: a simulation needs at least one move")
    counted = isinstance(simulations, (int, np.integer))
    if counted and simulations < 1:
        raise ValueError(f"{simulations} simulations; use 1 or more")
    if capacity is not None:
        return capacity
    if not counted:
        raise ValueError("traced simulations need a capacity, e.g. twice as many at most")
    return 1 << (2 * int(simulations) - 1).bit_length()


def _remember(memory: Array, words: Array) -> Array:
    """Returns uint32 [n, 2]: memories [n, 2] after what was done and seen, int32 [n, words]."""
    place = jnp.arange(words.shape[1] * 2, dtype=jnp.uint32).reshape(-1, 2)
    salted = words.astype(jnp.uint32)[:, :, None] + _mixed(place + jnp.uint32(0x9E3779B9))
    return _mixed(memory * jnp.uint32(31) + _mixed(salted).sum(1, dtype=jnp.uint32))


def _mixed(x: Array) -> Array:
    """The finaliser of MurmurHash3: every bit of a uint32 depends on every other."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE35)
    return x ^ (x >> 16)

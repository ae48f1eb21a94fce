"""Episodes in which both players re-solve: what happens to the game, and what is kept of it.

Each player steps the state machine of `search.resolving`: the actor searches, both advance. The
game itself moves in the tree of the actor's search, whose focus is the current public state: what
follows it is open there, in a table as in a tree that grows from rules.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.public import PublicState, Transitions
from jaxsolve.search.growing import Branches, GrowingEngine, Grown, ways_on
from jaxsolve.search.resolving import ResolvingState, advance, at_focus, choose, init
from jaxsolve.tree import pick, take
from jaxsolve.types import Array, PRNGKey, PyTree
from jaxsolve.values import normalised


class Trajectory(NamedTuple):
    """The last T decisions of an episode, a ring; T is the longest game.

    Attributes:
        root: each public state, as a search may start from it, leading axis T.
        beliefs: float [T, 2, H].
        policy: float [T, A, H], what was found for all private states.
        against: float [T, 2, H], each private state's probability of meeting the other's beliefs.
        pair: int32 [T, 2], the private states.
        seat: int32 [T], who acted.
        worth: float [T], what the search says that the actor's private state is worth to them.
        outcome: float [T], to player 0, once the episode is over.
        scored: float [T], 1 where the outcome says something: not of random openings.
        made: float [T], 1 where there is an entry.
    """

    root: PyTree
    beliefs: Array
    policy: Array
    against: Array
    pair: Array
    seat: Array
    worth: Array
    outcome: Array
    scored: Array
    made: Array


class Episode(NamedTuple):
    """A game that is played over and over.

    Attributes:
        root: the current public state, as a search may start from it.
        pair: int32 [2], the private states.
        played: int32 [], decisions of this episode so far.
        seats: where both players are, leading axis 2.
        trees: of their last searches, leading axis 2.
        trajectory: the last decisions.
        resigns: bool [], whether players may resign in this episode.
        opening: int32 [], decisions of this episode that are random.
    """

    root: PyTree
    pair: Array
    played: Array
    seats: ResolvingState
    trees: Branches
    trajectory: Trajectory
    resigns: Array
    opening: Array


class Played(NamedTuple):
    """What one decision of an episode leaves.

    Attributes:
        ended: bool [], whether the episode is over.
        outcome: float [], to player 0; 0 if not.
        before: one entry of `Trajectory`, T decisions old: its outcome is known.
        resigned: bool [], whether it ended so.
        cut: bool [], whether it ended by the limit of moves, as a draw.
    """

    ended: Array
    outcome: Array
    before: Trajectory
    resigned: Array
    cut: Array


class Limits(NamedTuple):
    """How episodes begin, and how they end before the game does.

    Attributes:
        resign_below: float [], a player gives up where their private state is worth less, in units
            of the largest payoff; -inf for never.
        no_resign: float [], share of episodes in which nobody does.
        max_moves: int32 [], decisions after which an episode is a draw.
        opening: int32 [], the first decisions are random, of each number up to this one as often.
    """

    resign_below: Any
    no_resign: Any
    max_moves: Any
    opening: Any


def fresh_episode(
    engine: GrowingEngine, root: PyTree, depth: int, key: PRNGKey, *, limits: Limits
) -> Episode:
    """Returns an episode before its first decision.

    Args:
        engine: how both players search.
        root: the first public state.
        depth: T.
        key: draws the private states, and by `limits`.
        limits: how episodes begin and end.
    """
    tree, hands = engine.blank(root), engine.hands
    actions, dtype = engine.options.model.num_actions, tree.child_values.dtype
    zero = jnp.zeros((), jnp.int32)
    entry = Trajectory(
        root=root,
        beliefs=jnp.full((2, hands), 1 / hands, dtype),
        policy=jnp.zeros((actions, hands), dtype),
        against=jnp.zeros((2, hands), dtype),
        pair=jnp.zeros(2, jnp.int32),
        seat=zero,
        worth=jnp.zeros((), dtype),
        outcome=jnp.zeros((), dtype),
        scored=jnp.zeros((), dtype),
        made=jnp.zeros((), dtype),
    )
    both = jax.tree.map(lambda x: jnp.stack([x, x]), (init(engine, root), tree))
    trajectory = jax.tree.map(lambda x: jnp.broadcast_to(x, (depth, *x.shape)).copy(), entry)
    pair = deal(engine, root, dtype, key)
    resigns, opening = _drawn(key, limits)
    return Episode(root, pair, zero, both[0], both[1], trajectory, resigns, opening)


def play(
    engine: GrowingEngine,
    start: PyTree,
    episode: Episode,
    seat: Array,
    found: Grown,
    slot: Array,
    key: PRNGKey,
    *,
    epsilon: Any,
    greedy_after: Any,
    limits: Limits,
) -> tuple[Episode, Played]:
    """Returns an episode after one decision.

    Args:
        engine: how both players search.
        start: the first public state.
        episode: before.
        seat: int32 [], who acts.
        found: the actor's search, its focus the current public state.
        slot: int32 [], where the decision goes in the ring.
        key: draws the action, chance, and the next deal.
        epsilon: share of uniform play in what is played.
        greedy_after: decisions of an episode after which the likeliest action is played.
        limits: how it ends early.
    """
    model, growth = engine.options.model, found.growth
    transitions = model.transitions(growth.store)
    row, public = growth.row[found.focus], growth.public[found.focus]
    dealt, moves = jax.random.split(key)
    draws = jax.random.uniform(moves, (2,), found.average.dtype)
    policy, hand = found.policy, episode.pair[seat]
    legal = transitions.legal[row, :, hand]
    opens = episode.played < episode.opening
    even = legal / jnp.maximum(legal.sum(), 1)
    odds = jnp.where(opens, even, (1 - epsilon) * policy[:, hand] + epsilon * even)
    greedy = (episode.played >= greedy_after) & ~opens
    action = jnp.where(greedy, jnp.argmax(odds), pick(odds, draws[0]))
    over, outcome, child, pair = step(transitions, row, public, episode.pair, action, draws[1])
    scale = transitions.scale[public]
    worth = worth_at_focus(transitions, found, seat, hand)
    resigned = episode.resigns & (worth / scale < limits.resign_below)
    outcome = jnp.where(resigned, jnp.where(seat == 0, -scale, scale), outcome)
    cut = ~over & ~resigned & (episode.played + 1 >= limits.max_moves)
    ended = over | resigned | cut

    before = jax.tree.map(lambda x: x[slot], episode.trajectory)
    beliefs = beliefs_at_focus(transitions, found)
    entry = Trajectory(
        episode.root,
        beliefs,
        policy,
        transitions.weights.against(public, beliefs),
        episode.pair,
        seat,
        worth,
        outcome,
        (~opens).astype(outcome.dtype),
        jnp.ones((), outcome.dtype),
    )
    trajectory = jax.tree.map(lambda ring, x: ring.at[slot].set(x), episode.trajectory, entry)
    depth = len(trajectory.made)
    of_this = (slot - jnp.arange(depth)) % depth <= episode.played
    trajectory = trajectory._replace(
        outcome=jnp.where(of_this & ended, outcome, trajectory.outcome)
    )

    mine, tree = jax.tree.map(lambda x: x[seat], episode.seats), engine.tree(found)
    mine = at_focus(engine, mine, tree)
    seats, trees = jax.tree.map(
        lambda both, x: both.at[seat].set(x), (episode.seats, episode.trees), (mine, tree)
    )
    root = model.root_of(growth.store, transitions.child[row, child])
    seats = jax.vmap(lambda state, tree: advance(engine, state, tree, child, root))(seats, trees)
    resigns, opening = _drawn(dealt, limits)
    # A tree of the last episode is not looked at: `at` says that there is none.
    fresh = jax.tree.map(lambda x: jnp.stack([x, x]), init(engine, start))
    after = Episode(
        root=choose(ended, start, root),
        pair=jnp.where(ended, deal(engine, start, odds.dtype, dealt), pair),
        played=jnp.where(ended, 0, episode.played + 1),
        seats=choose(ended, fresh, seats),
        trees=trees,
        trajectory=trajectory,
        resigns=jnp.where(ended, resigns, episode.resigns),
        opening=jnp.where(ended, opening, episode.opening),
    )
    return after, Played(ended, jnp.where(ended, outcome, 0), before, resigned, cut)


def _drawn(key: PRNGKey, limits: Limits) -> tuple[Array, Array]:
    """Returns (whether players may resign, random decisions); the deal has the key itself."""
    resigns = jax.random.uniform(jax.random.fold_in(key, 1)) >= limits.no_resign
    most = jnp.asarray(limits.opening, jnp.int32)
    return resigns, jax.random.randint(jax.random.fold_in(key, 2), (), 0, most + 1)


def worth_at_focus(transitions: Transitions, found: Grown, seat: Array, hand: Array) -> Array:
    """Returns float [], what a private state is worth to its player where the search was for.

    Args:
        transitions: of the public states.
        found: the search.
        seat: int32 [], the player who acts at the focus.
        hand: int32 [], their private state.
    """
    growth, focus = found.growth, found.focus
    width = growth.num_children
    below = found.child_values[growth.up[focus], :, jnp.minimum(growth.step[focus], width - 1)]
    worth = jnp.where(growth.step[focus] == width, found.root_values, below)[seat, hand]
    reach = take(found.action_reach, focus)[:, 0]
    mass = transitions.weights.against_one(growth.public[focus], seat, hand, reach)
    return jnp.where(mass > 0, worth / jnp.where(mass > 0, mass, 1), 0)


def step(
    transitions: Transitions, row: Array, public: Array, pair: Array, action: Array, draw: Array
) -> tuple[Array, Array, Array, Array]:
    """Returns (whether the game is over, outcome to player 0, child, private states [2]).

    Args:
        transitions: of the public states.
        row: int32 [], the row of the current public state in them.
        public: int32 [], its number.
        pair: int32 [2], private states.
        action: int32 [], of whoever acts there.
        draw: float [], in [0, 1), decides chance.
    """
    actor = transitions.actor[row]
    own = transitions.child_of_action[row, action, pair[actor]]
    wait = transitions.child_of_waiting[row, pair[1 - actor]]
    ways, child, after = ways_on(transitions, row, actor, own, wait, transitions.num_hands)
    chance = transitions.weights.at(public, pair[0], pair[1])
    # What is left of the pair's probability ends the game; rounding must not.
    over = jnp.maximum(chance - ways.sum(), 0)
    over = jnp.where(over > 1e-5 * chance, over, 0)
    way = pick(jnp.append(ways.reshape(-1), over), draw)
    ended = (way == ways.size) | (ways.sum() <= 0)
    way = jnp.minimum(way, ways.size - 1)
    pay = transitions.payoffs.at(row, action, pair[0], pair[1])
    outcome = jnp.where(ended, pay / jnp.where(over > 0, over, 1), 0)
    return ended, outcome, child.reshape(-1)[way], after.reshape(-1, 2)[way]


def beliefs_at_focus(transitions: Transitions, found: Grown) -> Array:
    """Returns float [2, H], both ranges under the average policies, each summing to 1."""
    growth, focus = found.growth, found.focus
    flow = take(found.action_reach, focus)
    acts = (jnp.arange(2) == transitions.actor[growth.row[focus]])[:, None]
    reach = jnp.where(acts, flow.sum(1), flow[:, 0])
    return normalised(reach, transitions.possible[growth.public[focus]])[0]


def deal(engine: GrowingEngine, root: PyTree, dtype: Any, key: PRNGKey) -> Array:
    """Returns int32 [2], private states at the first public state, drawn as chance deals them."""
    model = engine.options.model
    store, public = model.start(root, 1, dtype)
    anyone = jnp.ones((2, max(model.hands)), dtype)
    draw = jax.random.uniform(key, (), dtype)
    return model.transitions(store).weights.draw(public, anyone, draw).astype(jnp.int32)


def state_at(engine: GrowingEngine, root: PyTree, dtype: Any) -> PublicState:
    """Returns what a network is given of a public state."""
    model = engine.options.model
    store, number = model.start(root, 1, dtype)
    return model.public_state(store, number)

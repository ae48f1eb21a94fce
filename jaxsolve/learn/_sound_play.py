"""Episodes in which both players re-solve: what each remembers, and what happens to the game.

Source: Schmid et al. 2023 (Student of Games), "Modified continual re-solving". A seat keeps its
last tree. While the game goes on inside it, the next search starts at the current public state,
with the ranges and the promised values of that tree; once the game has left it, it starts at the
last public state inside, and the way from there grows. This is what `search.compose_growing` does
for all public states at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.public import Transitions
from jaxsolve.search.growing import Grown, ways_on
from jaxsolve.tree import pick, take
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import normalised


class Tree(NamedTuple):
    """What a seat keeps of its last search; fields as in `search.Growth` and `search.Grown`."""

    row: Array
    opened: Array
    inside: Array
    action_reach: Array
    child_values: Array


class Memory(NamedTuple):
    """Where the next search of a seat starts (H private states, W the longest way).

    Attributes:
        root: int32 [], subgame_class of the public state.
        ranges: float [2, H], own reaches there.
        promised: float [H], counterfactual values of the opponent there.
        bound: bool [], whether there is a promise; not before the first search.
        path: int32 [W], children from the root to the current public state, then -1.
        length: int32 [], of the path.
        at: int32 [], number of the current public state in the tree; -1 if it is not opened there.
        tree: the last search, a `Tree`, or () where it is left out.
    """

    root: Array
    ranges: Array
    promised: Array
    bound: Array
    path: Array
    length: Array
    at: Array
    tree: Any


class Line(NamedTuple):
    """The last T decisions of an episode's lane, a ring; T is the longest game.

    Attributes:
        subgame_class: int32 [T].
        beliefs: float [T, 2, H].
        policy: float [T, A, H], what was found for all private states.
        pair: int32 [T, 2], the private states.
        outcome: float [T], to player 0, once the episode is over.
        made: float [T], 1 where there is an entry.
    """

    subgame_class: Array
    beliefs: Array
    policy: Array
    pair: Array
    outcome: Array
    made: Array


class Lane(NamedTuple):
    """A game that is played over and over.

    Attributes:
        subgame_class: int32 [], the current public state.
        pair: int32 [2], the private states.
        played: int32 [], decisions of this episode so far.
        memory: of both seats, leading axis 2.
        line: the last decisions.
    """

    subgame_class: Array
    pair: Array
    played: Array
    memory: Memory
    line: Line


class Played(NamedTuple):
    """What one decision of a lane leaves.

    Attributes:
        ended: bool [], whether the episode is over.
        outcome: float [], to player 0; 0 if not.
        before: one entry of `Line`, T decisions old: its outcome is known.
    """

    ended: Array
    outcome: Array
    before: Line


def fresh_memory(transitions: Transitions, capacity: int, way: int) -> Memory:
    """Returns what a seat knows before the first move."""
    hands, actions, width = transitions.num_hands, transitions.num_actions, transitions.num_children
    dtype, zero = transitions.weight.dtype, jnp.zeros((), jnp.int32)
    each = jnp.zeros((capacity, width), jnp.int32)
    return Memory(
        root=zero,
        ranges=jnp.ones((2, hands), dtype),
        promised=jnp.zeros(hands, dtype),
        bound=jnp.zeros((), bool),
        path=jnp.full(max(way, 1), -1, jnp.int32),
        length=zero,
        at=zero - 1,
        tree=Tree(
            row=each[:, 0],
            opened=each - 1,
            inside=each > 0,
            action_reach=jnp.zeros((capacity, 2, actions + 1, hands), dtype),
            child_values=jnp.zeros((capacity, 2, width, hands), dtype),
        ),
    )


def remember(memory: Memory, grown: Grown) -> Memory:
    """Returns what a seat knows after a search at the current public state."""
    growth = grown.growth
    tree = Tree(growth.row, growth.opened, growth.inside, grown.action_reach, grown.child_values)
    return memory._replace(tree=tree, at=grown.focus)


def advance(transitions: Transitions, memory: Memory, seat: Array, child: Array) -> Memory:
    """Returns what a seat knows after the game has moved on.

    Args:
        transitions: the public states.
        memory: before.
        seat: int32 [], whose it is.
        child: int32 [], which child of the current public state follows.
    """
    tree, here = memory.tree, jnp.maximum(memory.at, 0)
    inside = (memory.at >= 0) & tree.inside[here, child]
    source = transitions.parents_of[tree.row[here], child]
    flat = tree.action_reach[here].reshape(2, 1, -1)
    ranges = jnp.take_along_axis(flat, source, 2, mode="promise_in_bounds").sum(-1)
    longer = memory.path.at[memory.length].set(child, mode="drop")
    return memory._replace(
        root=jnp.where(inside, transitions.child[tree.row[here], child], memory.root),
        ranges=jnp.where(inside, ranges, memory.ranges),
        promised=jnp.where(inside, tree.child_values[here, 1 - seat, child], memory.promised),
        bound=memory.bound | inside,
        path=jnp.where(inside, -1, longer),
        length=jnp.where(inside, 0, memory.length + 1),
        at=jnp.where(inside, tree.opened[here, child], -1),
    )


def fresh_lane(transitions: Transitions, capacity: int, way: int, depth: int, key: PRNGKey) -> Lane:
    """Returns a lane before its first episode."""
    hands, dtype = transitions.num_hands, transitions.weight.dtype
    zero = jnp.zeros(depth, jnp.int32)
    line = Line(
        subgame_class=zero,
        beliefs=jnp.full((depth, 2, hands), 1 / hands, dtype),
        policy=jnp.zeros((depth, transitions.num_actions, hands), dtype),
        pair=jnp.zeros((depth, 2), jnp.int32),
        outcome=jnp.zeros(depth, dtype),
        made=jnp.zeros(depth, dtype),
    )
    memory = fresh_memory(transitions, capacity, way)
    both = jax.tree.map(lambda x: jnp.stack([x, x]), memory)
    return Lane(zero[0], _deal(transitions, key), zero[0], both, line)


def play(
    transitions: Transitions,
    lane: Lane,
    grown: Grown,
    slot: Array,
    key: PRNGKey,
    *,
    epsilon: Any,
    greedy_after: Any,
) -> tuple[Lane, Played]:
    """Returns a lane after one decision of whoever is to act.

    Args:
        transitions: the public states.
        lane: before.
        grown: the actor's search, its focus the current public state.
        slot: int32 [], where the decision goes in the ring.
        key: draws the action, chance, and the next deal.
        epsilon: share of uniform play in what is played.
        greedy_after: decisions of an episode after which the likeliest action is played.
    """
    deal, moves = jax.random.split(key)
    draws = jax.random.uniform(moves, (2,), transitions.weight.dtype)
    seat, policy = transitions.actor[lane.subgame_class], grown.policy
    hand = lane.pair[seat]
    legal = transitions.legal[lane.subgame_class, :, hand]
    odds = (1 - epsilon) * policy[:, hand] + epsilon * legal / jnp.maximum(legal.sum(), 1)
    action = jnp.where(lane.played >= greedy_after, jnp.argmax(odds), pick(odds, draws[0]))
    ended, outcome, child, pair = step(transitions, lane.subgame_class, lane.pair, action, draws[1])

    before = jax.tree.map(lambda x: x[slot], lane.line)
    entry = Line(
        lane.subgame_class,
        beliefs_at_focus(transitions, grown, lane.subgame_class),
        policy,
        lane.pair,
        outcome,
        jnp.ones((), outcome.dtype),
    )
    line = jax.tree.map(lambda ring, x: ring.at[slot].set(x), lane.line, entry)
    depth = len(line.made)
    of_this = (slot - jnp.arange(depth)) % depth <= lane.played
    line = line._replace(outcome=jnp.where(of_this & ended, outcome, line.outcome))

    memory = jax.tree.map(lambda x: x[seat], lane.memory)
    both = jax.tree.map(lambda all_, x: all_.at[seat].set(x), lane.memory, remember(memory, grown))
    both = jax.vmap(lambda m, s: advance(transitions, m, s, child))(both, jnp.arange(2))
    # A tree of the last episode is not looked at: `at` says that there is none.
    start = fresh_memory(transitions, 1, lane.memory.path.shape[-1])._replace(tree=())
    kept = jax.tree.map(lambda new, old: jnp.where(ended, new, old), start, both._replace(tree=()))
    lane = Lane(
        subgame_class=jnp.where(ended, 0, transitions.child[lane.subgame_class, child]),
        pair=jnp.where(ended, _deal(transitions, deal), pair),
        played=jnp.where(ended, 0, lane.played + 1),
        memory=kept._replace(tree=both.tree),
        line=line,
    )
    return lane, Played(ended, jnp.where(ended, outcome, 0), before)


def step(
    transitions: Transitions, subgame_class: Array, pair: Array, action: Array, draw: Array
) -> tuple[Array, Array, Array, Array]:
    """Returns (whether the game is over, outcome to player 0, child, private states [2]).

    Args:
        transitions: the public states.
        subgame_class: int32 [], where the game is.
        pair: int32 [2], private states.
        action: int32 [], of whoever acts there.
        draw: float [], in [0, 1), decides chance.
    """
    actor = transitions.actor[subgame_class]
    own = transitions.child_of_action[subgame_class, action, pair[actor]]
    wait = transitions.child_of_waiting[subgame_class, pair[1 - actor]]
    ways, child, after = ways_on(
        transitions, subgame_class, actor, own, wait, transitions.num_hands
    )
    chance = transitions.weight[subgame_class, pair[0], pair[1]]
    # What is left of the pair's probability ends the game; rounding must not.
    over = jnp.maximum(chance - ways.sum(), 0)
    over = jnp.where(over > 1e-5 * chance, over, 0)
    way = pick(jnp.append(ways.reshape(-1), over), draw)
    ended = (way == ways.size) | (ways.sum() <= 0)
    way = jnp.minimum(way, ways.size - 1)
    pay = transitions.payoff[subgame_class, action, pair[0], pair[1]]
    outcome = jnp.where(ended, pay / jnp.where(over > 0, over, 1), 0)
    return ended, outcome, child.reshape(-1)[way], after.reshape(-1, 2)[way]


def beliefs_at_focus(transitions: Transitions, grown: Grown, subgame_class: Array) -> Array:
    """Returns float [2, H], both ranges under the average policies, each summing to 1."""
    flow = take(grown.action_reach, grown.focus)
    acts = (jnp.arange(2) == transitions.actor[subgame_class])[:, None]
    return normalised(
        jnp.where(acts, flow.sum(1), flow[:, 0]), transitions.possible[subgame_class]
    )[0]


def _deal(transitions: Transitions, key: PRNGKey) -> Array:
    """Returns int32 [2], the private states in which an episode starts."""
    weight = transitions.weight[0]
    draw = jax.random.uniform(key, (), weight.dtype)
    return jnp.stack(jnp.divmod(pick(weight.reshape(-1), draw), weight.shape[1])).astype(jnp.int32)

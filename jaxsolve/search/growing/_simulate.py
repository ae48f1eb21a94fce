"""Simulations of GT-CFR: from the focus of a tree down to where it ends.

Source: Schmid et al. 2023 (Student of Games), "Search via growing-tree CFR". The paper leaves open
how values are scaled in PUCT and its constant: here values are in units of the largest payoff of
the subgame, which lie in -1..1, and the constant is AlphaZero's 1.25.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.public import Transitions
from jaxsolve.search.growing._tree import Growth, left_to_open
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey

STRAYING = 0.1
"""Simulations by chance alone for one by the beliefs, under `skip_solved`."""


class Guide(NamedTuple):
    """What simulations go by, from the regret updates so far.

    Attributes:
        total: float [I, A, H], average policy, not normalised.
        values: float [I, A, H], counterfactual values of the actor in the last update.
        action_reach: float [I, 2, A + 1, H], reaches under which they were computed.
        start: float [2, H], ranges at the focus.
        scale: float [], the largest payoff.
    """

    total: Array
    values: Array
    action_reach: Array
    start: Array
    scale: Array


class Visit(NamedTuple):
    """Where a simulation ends, and how it went there (D decisions at most).

    Attributes:
        node: int32 [], the last opened public state; I if the game ended.
        child: int32 [], which of its children comes next.
        action: int32 [], chosen there.
        nodes: int32 [D], the opened public states on its path; I after the last.
        actions: int32 [D], chosen at each.
        hands: int32 [D], private state of the actor at each.
        pair: int32 [2], private states where it ends.
    """

    node: Array
    child: Array
    action: Array
    nodes: Array
    actions: Array
    hands: Array
    pair: Array


def simulate(
    transitions: Transitions,
    growth: Growth,
    guide: Guide,
    key: PRNGKey,
    *,
    focus: Array,
    depth: int,
    exploration: Any,
    skip_solved: bool = False,
) -> Visit:
    """Returns the path of one simulation down from `focus`.

    Args:
        transitions: of the model.
        growth: the tree.
        guide: averages and values.
        key: draws private states, actions and chance.
        focus: int32 [], an opened public state.
        depth: D, the most decisions of a game.
        exploration: constant of PUCT.
        skip_solved: pass by what is open to its ends, where something else is left.
    """
    hands, width, size = transitions.num_hands, growth.num_children, growth.row.shape[0]
    draws = jax.random.uniform(key, (depth + 1, 2), guide.start.dtype)
    # What is possible for private states alone that nobody believes in is left to open as well.
    first = transitions.weights.draw(
        growth.public[focus], guide.start, draws[depth, 0], STRAYING if skip_solved else 0.0
    )
    nowhere = jnp.full(depth, size, jnp.int32)
    zeros = jnp.zeros(depth, jnp.int32)

    def goes_on(carry: Any) -> Array:
        _, _, at, here = carry
        return (here < size) & (at < depth)

    def step(carry: Any) -> Any:
        visit, pair, at, here = carry
        row = growth.row[here]
        actor = transitions.actor[row]
        hand, other = pair[actor], pair[1 - actor]
        own = transitions.child_of_action[row, :, hand]
        wait = transitions.child_of_waiting[row, other]
        wanted = jnp.ones(len(own), bool)
        if skip_solved:
            left = left_to_open(transitions, growth, growth.done, here)
            every = jax.vmap(lambda own: ways_on(transitions, row, actor, own, wait, hands))(own)
            useful = (every[0] > 0) & left[every[1]]
            wanted = useful.any((1, 2)) | ~useful.any()
        odds = selection(transitions, growth, guide, here, hand, exploration, wanted)
        action = pick(odds, draws[at, 0])
        ways, child, after = ways_on(transitions, row, actor, own[action], wait, hands)
        chance = transitions.weights.at(growth.public[here], pair[0], pair[1])
        # What is left of the pair's probability ends the game; rounding must not.
        over = jnp.maximum(chance - ways.sum(), 0)
        over = jnp.where(over > 1e-5 * chance, over, 0)
        if skip_solved:
            some = useful[action].any()
            ways = jnp.where(useful[action] | ~some, ways, 0)
            over = jnp.where(some, 0, over)
        way = pick(jnp.append(ways.reshape(-1), over), draws[at, 1])
        ended = (way == ways.size) | (ways.sum() <= 0)
        way = jnp.minimum(way, ways.size - 1)
        k = jnp.where(ended, width, child.reshape(-1)[way])
        found = jnp.where(ended, -1, growth.opened[here, jnp.minimum(k, width - 1)])
        visit = Visit(
            node=jnp.where(ended, size, here),
            child=k,
            action=action,
            nodes=visit.nodes.at[at].set(here),
            actions=visit.actions.at[at].set(action),
            hands=visit.hands.at[at].set(hand),
            pair=after.reshape(-1, 2)[way],
        )
        return visit, visit.pair, at + 1, jnp.where(found >= 0, found, size)

    zero = jnp.zeros((), jnp.int32)
    start = Visit(zero + size, zero, zero, nowhere, zeros, zeros, first)
    begin = jnp.where(growth.done[focus], size, focus) if skip_solved else focus
    visit, _, _, _ = jax.lax.while_loop(goes_on, step, (start, first, zero, begin))
    return visit


def selection(
    transitions: Transitions,
    growth: Growth,
    guide: Guide,
    here: Array,
    hand: Array,
    exploration: Any,
    wanted: Array | bool = True,
) -> Array:
    """Returns float [A], pi_select of a private state: half PUCT, half the average policy of CFR.

    Args:
        transitions: of the model.
        growth: the tree.
        guide: averages and values.
        here: int32 [], an opened public state.
        hand: int32 [], private state of the actor there.
        exploration: constant of PUCT.
        wanted: bool [A], what to choose from, if it is not all.
    """
    row, public = growth.row[here], growth.public[here]
    legal, present = transitions.legal[row, :, hand], growth.allowed[here, :, hand]
    average = _shares(guide.total[here, :, hand], present)
    reach = guide.action_reach[here, :, 0]  # of the player who waits
    mass = transitions.weights.against_one(public, transitions.actor[row], hand, reach)
    unit = mass * guide.scale
    worth = guide.values[here, :, hand] / jnp.where(unit > 0, unit, 1)
    worth = jnp.where(present & (unit > 0), worth, 0)
    worth = jnp.where(present, worth, (average * worth).sum())
    visits, pending = growth.visits[here, :, hand], growth.pending[here, :, hand]
    # A simulation under way counts as one more visit, lost (Chaslot et al. 2008).
    settled = visits - pending
    worth = (worth * (1 + settled) - pending) / (1 + visits)
    # One more visit than were counted: at the first one the prior decides, not the numbering.
    bonus = exploration * growth.prior[here, :, hand] * jnp.sqrt(1 + visits.sum()) / (1 + visits)
    best = jnp.argmax(jnp.where(legal & wanted, worth + bonus, -jnp.inf))
    puct = (jnp.arange(len(legal)) == best).astype(average.dtype)
    some = present & wanted
    half = jnp.where(some.any(), _shares(average, some), puct)
    return (puct + half) / 2


def _shares(numbers: Array, present: Array) -> Array:
    """Returns what is present of some numbers [A], summing to 1; even where they are 0."""
    mine = jnp.where(present, numbers, 0)
    sum_ = mine.sum()
    even = present / jnp.maximum(present.sum(), 1)
    return jnp.where(sum_ > 0, mine / jnp.where(sum_ > 0, sum_, 1), even)


def count_visits(growth: Growth, visit: Visit, several: Array) -> Growth:
    """Returns the tree with a simulation counted, as pending, too, if `several` is 1 and not 0."""
    at = (visit.nodes, visit.actions, visit.hands)
    return growth._replace(
        visits=growth.visits.at[at].add(1, mode="drop"),
        pending=growth.pending.at[at].add(several.astype(growth.pending.dtype), mode="drop"),
    )


def ways_on(
    transitions: Transitions, row: Array, actor: Array, own: Array, wait: Array, hands: int
) -> tuple[Array, Array, Array]:
    """Returns (probabilities [R, S], children [R, S], private states [R, S, 2]) that follow."""
    width = transitions.num_children
    k, mine = own[:, None] // hands, own[:, None] % hands
    theirs = jnp.broadcast_to(wait % hands, (own.shape[0], wait.shape[0]))
    mine = jnp.broadcast_to(mine, theirs.shape)
    first, second = jnp.where(actor == 0, mine, theirs), jnp.where(actor == 0, theirs, mine)
    real = (k == wait // hands) & (k < width)
    child = jnp.broadcast_to(jnp.minimum(k, width - 1), theirs.shape)
    weight = transitions.weights.at(transitions.child[row, child], first, second)
    weight = weight * transitions.factor[row, child]
    return jnp.where(real, weight, 0), child, jnp.stack([first, second], -1)

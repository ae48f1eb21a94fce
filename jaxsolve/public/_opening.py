"""Opening a public state with nothing but the rules: what follows it, in the arrays of a search.

All worlds are stepped by all actions (and by the outcomes of a chance move that comes next). What
comes out is grouped: by what everybody saw into public states, and by what a player knew, did and
saw into their private states. Lists are built by sorting, so that pairs of private states that
never meet take no room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.game import Game, HasLargestPayoff, HasPrivateStates, HasPublicFeatures
from jaxsolve.public._pairs import DensePayoffs, DenseWeights
from jaxsolve.public._transitions import Transitions
from jaxsolve.public._worlds import Ends, Worlds, first_of, groups, lists, step_worlds
from jaxsolve.types import Array, Status


class Room(NamedTuple):
    """Capacities of opened public states. Static.

    Attributes:
        worlds: W, world states of a public state.
        hands: (H0, H1), private states of each player.
        children: C, public states that follow one.
        actions: A, legal actions of a private state.
        merged: M, pairs (action, private state) that lead to one private state.
        branches: R, public states that one pair of the actor leads to.
        outcomes: of a chance move between decisions, by number; 0 if there is none.
        by_worlds: children are in the order in which world states come to them, as in a table that
            walked world states; otherwise in that of actions and outcomes, as in a card game's.
    """

    worlds: int
    hands: tuple[int, int]
    children: int
    actions: int
    merged: int
    branches: int
    outcomes: int
    by_worlds: bool = False


class Opened(NamedTuple):
    """An opened public state (C children).

    Attributes:
        row: of `Transitions`, but for the numbers of the children; `weights`, `possible` and
            `scale` are those of the children, leading axis C.
        worlds: of the children, leading axis C.
        features: float [C, F], of the children.
        status: int32 [], `Status` bits.
    """

    row: Transitions
    worlds: Worlds
    features: Array
    status: Array


class Stepped(NamedTuple):
    """Worlds after every action, grouped by what was seen (E ends).

    Attributes:
        actor: int32 [].
        legal: bool [W, number of actions].
        ends: what comes out.
        child: int32 [E], number of the public state that follows; E or more where none does.
        hand: int32 [E, 2], private states there.
        status: int32 [], `Status` bits.
    """

    actor: Array
    legal: Array
    ends: Ends
    child: Array
    hand: Array
    status: Array


def stepped(game: Game, room: Room, here: Worlds) -> Stepped:
    """Returns what every action leads the worlds of a public state to."""
    alive = here.weight > 0
    actor = jax.vmap(game.actor)(here.states)[jnp.argmax(alive)]
    legal = jax.vmap(game.legal)(here.states) & alive[:, None]
    ends = step_worlds(game, here, actor, legal, room.actions, room.outcomes)
    rank = 0 * ends.rank if room.by_worlds else ends.rank
    child, count = groups(ends.public, ends.goes_on, rank)
    hand, fits = _hands_below(game, room, ends, child)
    status = _bit(count > room.children, Status.CHILDREN)
    status |= _bit(~fits, Status.HANDS) | _bit(ends.stuck, Status.CHANCE)
    status |= _bit((legal.sum(1) > room.actions).any(), Status.ACTIONS)
    return Stepped(actor, legal, ends, child, hand, status)


def opened(game: Game, room: Room, scale: Array, here: Worlds) -> Opened:
    """Returns what the worlds of a public state lead to.

    Args:
        game: the rules.
        room: capacities.
        scale: float [], the largest payoff, where the game does not say what is at stake.
        here: the worlds.
    """
    h, c, a = max(room.hands), room.children, room.actions
    actor, legal, ends, child, hand, status = stepped(game, room, here)
    acts = jnp.arange(2) == actor
    # A pair (action, private state) of the actor; of a player who waits the action is 0.
    code = jnp.where(acts, ends.place[:, None] * h + ends.hand, ends.hand)
    there = ends.goes_on & (child < c)
    below = jnp.where(there[:, None], child[:, None] * h + hand, c * h)
    own, wait = _chosen(code, actor), _chosen(code, 1 - actor)
    to, along = _chosen(below, actor), _chosen(below, 1 - actor)
    parents, long = zip(
        *(lists(below[:, i], code[:, i], there, c * h, room.merged, a * h) for i in range(2)),
        strict=True,
    )
    child_of_action, many = lists(own, to, there, a * h, room.branches, c * h)
    child_of_waiting, wide = lists(wait, along, there, h, c, c * h)
    status |= _bit(jnp.stack([*long, many, wide]).any(), Status.LISTS)

    # Of histories that lead to one private state the first stands for all.
    kept = there
    for i in range(2):
        kept = kept & (code[:, i] == jnp.append(parents[i][:, 0], -1)[below[:, i]])
    children, crowded = _gathered(room, ends, child, hand, kept)
    status |= _bit(crowded, Status.WORLDS)
    factor = children.weight.sum(1)
    weight = children.weight / jnp.where(factor > 0, factor, 1)[:, None]
    children = children._replace(weight=weight)
    pairs, possible = jax.vmap(lambda x: met(room.hands, x))(children)
    over = ends.alive & ~ends.goes_on
    payoff = jnp.zeros((a, *room.hands), here.weight.dtype)
    payoff = payoff.at[ends.place, ends.hand[:, 0], ends.hand[:, 1]].add(
        jnp.where(over, ends.weight * ends.payoff, 0)
    )
    ranks = jnp.arange(a)[:, None] < legal.sum(1)
    may = jnp.zeros((a, h), bool).at[:, here.hand[:, actor]].max(ranks & (here.weight > 0))
    row = Transitions(
        actor=actor,
        legal=may,
        child=jnp.zeros(c, jnp.int32),
        factor=factor,
        parents_of=jnp.stack([x.reshape(c, h, -1) for x in parents], 1),
        child_of_action=child_of_action.reshape(a, h, -1),
        child_of_waiting=child_of_waiting,
        payoffs=DensePayoffs(payoff),
        weights=DenseWeights(pairs),
        possible=possible,
        scale=jax.vmap(lambda x: scale_of(game, scale, x))(children),
        size=jnp.zeros((), jnp.int32),
    )
    features = first_of(lambda x: features_of(game, x), factor > 0, children)
    return Opened(row, children, features, status)


def met(hands: tuple[int, int], worlds: Worlds) -> tuple[Array, Array]:
    """Returns (probability of each pair of private states [H0, H1], possible [2, H])."""
    weight = jnp.zeros(hands, worlds.weight.dtype)
    weight = weight.at[worlds.hand[:, 0], worlds.hand[:, 1]].add(worlds.weight, mode="drop")
    possible = [(weight > 0).any(1 - i) for i in range(2)]
    return weight, jnp.stack([jnp.pad(x, (0, max(hands) - len(x))) for x in possible])


def features_of(game: Game, worlds: Worlds) -> Array:
    """Returns float [F], the public features of a public state; F is 0 without any."""
    if not isinstance(game, HasPublicFeatures):
        return jnp.zeros(0)
    return jnp.asarray(game.public_features(_first(worlds)), float)


def scale_of(game: Game, scale: Array, worlds: Worlds) -> Array:
    """Returns float [], the largest payoff below a public state."""
    dtype = worlds.weight.dtype
    if not isinstance(game, HasLargestPayoff):
        return jnp.asarray(scale, dtype)
    return jnp.asarray(game.largest_payoff(_first(worlds)), dtype)


def _first(worlds: Worlds) -> Any:
    """Returns the first of some worlds that is possible."""
    first = jnp.argmax(worlds.weight > 0)
    return jax.tree.map(lambda x: x[first], worlds.states)


def _bit(failed: Array, status: Status) -> Array:
    return jnp.where(failed, status.value, 0).astype(jnp.int32)


def _chosen(pair: Array, player: Array) -> Array:
    """Returns one player's column of int32 [E, 2]."""
    return jnp.where(player == 0, pair[:, 0], pair[:, 1])


def _hands_below(game: Game, room: Room, ends: Ends, child: Array) -> tuple[Array, Array]:
    """Returns (private states [E, 2] of the ends, whether there is room)."""
    if isinstance(game, HasPrivateStates):
        found = jax.vmap(game.private_states)(ends.states)
        most = jnp.where(ends.goes_on[:, None], found, 0).max(0)
        return found, (most < jnp.asarray(room.hands)).all()
    c, out, fits = room.children, [], jnp.bool_(True)
    for i in range(2):
        key = jnp.concatenate([child[:, None].astype(jnp.uint32), ends.private[:, i]], 1)
        # Numbers of the successors of each private state, child by child.
        label, _ = groups(key, ends.goes_on, jnp.arange(len(child)))
        inside = ends.goes_on & (child < c)
        table = jnp.zeros((c, len(child)), bool)
        table = table.at[jnp.where(inside, child, c), label].set(True, mode="drop")
        dense = (jnp.cumsum(table, 1) - 1)[jnp.minimum(child, c - 1), label]
        before = jnp.zeros((c, room.hands[i]), bool)
        before = before.at[jnp.where(inside, child, c), ends.hand[:, i]].set(True, mode="drop")
        same = table.sum(1) == before.sum(1)  # one successor each: numbers stay
        mine = jnp.where(same[jnp.minimum(child, c - 1)], ends.hand[:, i], dense)
        fits = fits & (jnp.where(inside, mine, 0).max() < room.hands[i])
        out.append(mine.astype(jnp.int32))
    return jnp.stack(out, 1), fits


def _gathered(
    room: Room, ends: Ends, child: Array, hand: Array, kept: Array
) -> tuple[Worlds, Array]:
    """Returns (worlds [C, W] of the children, whether some have no room)."""
    count = len(child)
    chosen, crowded = lists(child, jnp.arange(count), kept, room.children, room.worlds, count)
    real = chosen < count
    at = jnp.where(real, chosen, 0)
    return Worlds(
        jax.tree.map(lambda x: x[at], ends.states),
        jnp.where(real, ends.weight[at], 0),
        jnp.where(real[..., None], hand[at], 0),
    ), crowded

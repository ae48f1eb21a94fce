"""Trees that grow from the rules of a game, inside the search: nothing is listed beforehand.

A public state holds all world states that are possible there, each with the private states of both
players and its probability by chance. Opening it steps every world by every action (and by every
outcome of chance, where chance moves in between), groups what comes out by public observations,
and infostates by what their owner did and saw. Where the rules number private states themselves
(`private_states(state) -> int32 [2]`), equal numbers are one, which must have equal futures; one
history then stands for all that lead to it. Capacities are static; what does not fit is left out
and recorded in `Store.status`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.compiler import Walker
from jaxsolve.game import Game, HasLargestPayoff, HasPrivateStates, HasPublicFeatures
from jaxsolve.public._states import PublicState, StateFormat
from jaxsolve.public._transitions import Transitions
from jaxsolve.public._worlds import Ends, Worlds, groups, lists, step_worlds
from jaxsolve.tree import float_type
from jaxsolve.types import CHANCE, Array

WORLDS, HANDS, CHILDREN, LISTS, ACTIONS = 1, 2, 4, 8, 16
"""Bits of a status: capacities that were not enough."""


class Store(NamedTuple):
    """What the rules have made (I opened public states, Q = 1 + I C public states at most).

    Attributes:
        transitions: of opened public states, but for `weight`, `possible` and `scale`, of all.
        worlds: leading axis Q.
        features: float [Q, F], of public states.
        status: int32 [], bits of the capacities that were not enough; 0 if all was.
    """

    transitions: Transitions
    worlds: Worlds
    features: Array
    status: Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RulesModel:
    """The rules of a game as what trees grow into.

    Attributes:
        scale: float [], the largest payoff, where the game has no `largest_payoff`.
        game: the rules.
        format: see `PublicModel`.
        depth: decisions on the longest way.
        worlds: W, world states of a public state.
        hands: (H0, H1), private states of each player.
        num_children: C, public states that may follow one.
        num_actions: A, legal actions of a private state.
        merged: M, ways that lead to one private state.
        outcomes: of a chance move between decisions, by number; 0 if there is none.
    """

    scale: Array
    game: Game = dataclasses.field(metadata={"static": True})
    format: StateFormat = dataclasses.field(metadata={"static": True})
    depth: int = dataclasses.field(metadata={"static": True})
    worlds: int = dataclasses.field(metadata={"static": True})
    hands: tuple[int, int] = dataclasses.field(metadata={"static": True})
    num_children: int = dataclasses.field(metadata={"static": True})
    num_actions: int = dataclasses.field(metadata={"static": True})
    merged: int = dataclasses.field(metadata={"static": True})
    outcomes: int = dataclasses.field(metadata={"static": True})
    largest: int = dataclasses.field(default=1 << 30, metadata={"static": True})

    def start(self, root: Worlds, capacity: int, dtype: Any) -> tuple[Store, Array]:
        """Returns (store, number of the root), to begin where these worlds are possible."""
        return self._empty(root, capacity, dtype), jnp.zeros((), jnp.int32)

    def transitions(self, store: Store) -> Transitions:
        """Returns what opening shows."""
        return store.transitions

    def open(self, store: Store, public: Array, new: Array, go: Array) -> tuple[Store, Array]:
        """Returns (store with what a public state leads to, its row)."""
        here = jax.tree.map(lambda x: x[public], store.worlds)
        row, children, features, status = self._follow(here)
        size, first = store.transitions.actor.shape[0], 1 + new * self.num_children
        at = jnp.where(go, new, size)
        numbers = first + jnp.arange(self.num_children)
        row = row._replace(child=jnp.where(row.factor > 0, numbers, -1))
        below = jnp.where(go, numbers, 1 + size * self.num_children)

        def put(array: Array, value: Array, where: Array) -> Array:
            return array.at[where].set(value, mode="drop")

        by_public = ("weight", "possible", "scale")
        transitions = {
            name: put(getattr(store.transitions, name), value, below if name in by_public else at)
            for name, value in row._asdict().items()
        }
        worlds = jax.tree.map(lambda x, y: put(x, y, below), store.worlds, children)
        return (
            Store(
                Transitions(**transitions),
                worlds,
                put(store.features, features, below),
                jnp.where(go, store.status | status, store.status),
            ),
            new,
        )

    def public_state(self, store: Store, public: Array) -> PublicState:
        """See `PublicModel`."""
        return PublicState(
            features=store.features[public],
            possible=store.transitions.possible[public],
            scale=store.transitions.scale[public],
            subgame_class=jnp.full(public.shape, -1, jnp.int32),
        )

    def actor_of(self, root: Worlds) -> Array:
        """See `PublicModel`."""
        actors = jax.vmap(self.game.actor)(root.states)
        return jnp.asarray(actors[jnp.argmax(root.weight > 0)], jnp.int32)

    def root_of(self, store: Store, public: Array) -> Worlds:
        """See `PublicModel`; the worlds that are possible there."""
        found: Worlds = jax.tree.map(lambda x: x[public], store.worlds)
        return found

    def _empty(self, root: Worlds, capacity: int, dtype: Any) -> Store:
        size, many = capacity, 1 + capacity * self.num_children
        a, c, m = self.num_actions, self.num_children, self.merged
        h = max(self.hands)

        def full(shape: tuple[int, ...], value: int) -> Array:
            return jnp.full(shape, value, jnp.int32)

        weight, possible = self._met(root)
        features = self._features(root)
        numbers = jnp.zeros((many, *self.hands), dtype)
        transitions = Transitions(
            actor=full((size,), 0),
            legal=jnp.zeros((size, a, h), bool),
            child=full((size, c), -1),
            factor=jnp.zeros((size, c), dtype),
            parents_of=full((size, c, 2, h, m), a * h),
            child_of_action=full((size, a, h, c), c * h),
            child_of_waiting=full((size, h, c), c * h),
            payoff=jnp.zeros((size, a, *self.hands), dtype),
            weight=numbers.at[0].set(weight.astype(dtype)),
            possible=jnp.zeros((many, 2, h), bool).at[0].set(possible),
            scale=jnp.ones(many, dtype).at[0].set(self._scale(root).astype(dtype)),
            size=full((size,), 0),
        )
        worlds = jax.tree.map(lambda x: jnp.zeros((many, *x.shape), x.dtype).at[0].set(x), root)
        features = jnp.zeros((many, *features.shape), features.dtype).at[0].set(features)
        return Store(transitions, worlds, features, jnp.zeros((), jnp.int32))

    def _met(self, worlds: Worlds) -> tuple[Array, Array]:
        """Returns (probability of each pair of private states [H0, H1], possible [2, H])."""
        weight = jnp.zeros(self.hands, worlds.weight.dtype)
        weight = weight.at[worlds.hand[:, 0], worlds.hand[:, 1]].add(worlds.weight, mode="drop")
        room = max(self.hands)
        possible = [(weight > 0).any(1 - i) for i in range(2)]
        return weight, jnp.stack([jnp.pad(x, (0, room - len(x))) for x in possible])

    def _features(self, worlds: Worlds) -> Array:
        """Returns float [F], the public features of a public state."""
        if not isinstance(self.game, HasPublicFeatures):
            return jnp.zeros(0)
        return jnp.asarray(self.game.public_features(_first(worlds)), float)

    def _scale(self, worlds: Worlds) -> Array:
        """Returns float [], the largest payoff below a public state."""
        if not isinstance(self.game, HasLargestPayoff):
            return self.scale.astype(worlds.weight.dtype)
        return jnp.asarray(self.game.largest_payoff(_first(worlds)), worlds.weight.dtype)

    def _follow(self, here: Worlds) -> tuple[Transitions, Worlds, Array, Array]:
        """Returns (row but for `child`, worlds [C, W], features [C, F], status)."""
        h, c = max(self.hands), self.num_children
        alive = here.weight > 0
        first = jnp.argmax(alive)
        actor = jax.vmap(self.game.actor)(here.states)[first]
        legal = jax.vmap(self.game.legal)(here.states) & alive[:, None]
        ends = step_worlds(self.game, here, actor, legal, self.num_actions, self.outcomes)
        child, count = groups(ends.public, ends.goes_on, ends.rank)
        hands, fits = self._hands_below(ends, child)
        code = ends.place[:, None] * h + ends.hand  # of a player who waits, the place is 0
        acts = jnp.arange(2) == actor
        code = jnp.where(acts, code, ends.hand)
        there = ends.goes_on & (child < c)
        status = jnp.where(count > c, CHILDREN, 0) | jnp.where(fits, 0, HANDS)
        status = status | jnp.where((legal.sum(1) > self.num_actions).any(), ACTIONS, 0)

        # met[i][code, child * H + hand]: the pair leads there
        below = jnp.where(there[:, None], child[:, None] * h + hands, c * h)
        met = [
            jnp.zeros((self.num_actions * h, c * h), bool)
            .at[code[:, i], below[:, i]]
            .set(True, mode="drop")
            for i in range(2)
        ]
        parents, long = zip(
            *(lists(x.T, self.merged, self.num_actions * h) for x in met), strict=True
        )
        sinks, wide = zip(*(lists(x, c, c * h) for x in met), strict=True)
        status = status | jnp.where(jnp.stack([*long, *wide]).any(), LISTS, 0)
        one = actor == 0
        own = jnp.where(one, sinks[0], sinks[1]).reshape(self.num_actions, h, c)
        other = jnp.where(one, sinks[1], sinks[0])[:h]

        # Of histories that lead to one private state the first stands for all.
        kept = there
        for i in range(2):
            standing = parents[i][:, 0]
            kept = kept & (code[:, i] == jnp.append(standing, -1)[below[:, i]])
        children, crowded = self._gather(ends, child, hands, kept)
        status = status | jnp.where(crowded, WORLDS, 0)
        factor = children.weight.sum(1)
        weight = children.weight / jnp.where(factor > 0, factor, 1)[:, None]
        children = children._replace(weight=weight)
        pairs, possible = jax.vmap(self._met)(children)
        over = ends.alive & ~ends.goes_on
        payoff = jnp.zeros((self.num_actions, *self.hands), here.weight.dtype)
        payoff = payoff.at[ends.place, ends.hand[:, 0], ends.hand[:, 1]].add(
            jnp.where(over, ends.weight * ends.payoff, 0)
        )
        mine = here.hand[:, actor]
        ranks = jnp.arange(self.num_actions)[:, None] < legal.sum(1)
        may = jnp.zeros((self.num_actions, h), bool).at[:, mine].max(ranks & alive)
        row = Transitions(
            actor=actor,
            legal=may,
            child=jnp.zeros(c, jnp.int32),
            factor=factor,
            parents_of=jnp.stack([x.reshape(c, h, -1) for x in parents], 1),
            child_of_action=own,
            child_of_waiting=other,
            payoff=payoff,
            weight=pairs,
            possible=possible,
            scale=jax.vmap(self._scale)(children),
            size=jnp.zeros((), jnp.int32),
        )
        return row, children, jax.vmap(self._features)(children), status

    def _hands_below(self, ends: Ends, child: Array) -> tuple[Array, Array]:
        """Returns (private states [E, 2] of the ends, whether there is room)."""
        if isinstance(self.game, HasPrivateStates):
            found = jax.vmap(self.game.private_states)(ends.states)
            most = jnp.where(ends.goes_on[:, None], found, 0).max(0)
            return found, (most < jnp.asarray(self.hands)).all()
        c, out, room = self.num_children, [], jnp.bool_(True)
        for i in range(2):
            key = jnp.concatenate([child[:, None].astype(jnp.uint32), ends.private[:, i]], 1)
            # Numbers of the successors of each private state, child by child.
            order = jnp.arange(len(child))
            label, _ = groups(key, ends.goes_on, order)
            inside = ends.goes_on & (child < c)
            table = jnp.zeros((c, len(child)), bool)
            table = table.at[jnp.where(inside, child, c), label].set(True, mode="drop")
            dense = (jnp.cumsum(table, 1) - 1)[jnp.minimum(child, c - 1), label]
            before = jnp.zeros((c, self.hands[i]), bool)
            before = before.at[jnp.where(inside, child, c), ends.hand[:, i]].set(True, mode="drop")
            same = table.sum(1) == before.sum(1)  # one successor each: numbers stay
            mine = jnp.where(same[jnp.minimum(child, c - 1)], ends.hand[:, i], dense)
            room = room & (jnp.where(inside, mine, 0).max() < self.hands[i])
            out.append(mine.astype(jnp.int32))
        return jnp.stack(out, 1), room

    def _gather(self, ends: Ends, child: Array, hands: Array, kept: Array) -> tuple[Worlds, Array]:
        """Returns (worlds [C, W] of the children, whether some have no room)."""
        c, w = self.num_children, self.worlds

        def one(k: Array) -> tuple[Worlds, Array]:
            mine = kept & (child == k)
            order = jnp.argsort(~mine, stable=True)
            order = jnp.pad(order, (0, max(0, w - len(order))))[:w]
            real = (jnp.arange(w) < mine.sum()) & mine[order]
            found = Worlds(
                jax.tree.map(lambda x: x[order], ends.states),
                jnp.where(real, ends.weight[order], 0),
                jnp.where(real[:, None], hands[order], 0),
            )
            return found, mine.sum() > w

        found, crowded = jax.vmap(one)(jnp.arange(c))
        return found, crowded.any()


def _first(worlds: Worlds) -> Any:
    """Returns the first of some worlds that is possible."""
    first = jnp.argmax(worlds.weight > 0)
    return jax.tree.map(lambda x: x[first], worlds.states)


def rules_model(
    game: Game,
    *,
    depth: int,
    worlds: int,
    hands: tuple[int, int] | int,
    children: int,
    actions: int | None = None,
    merged: int = 1,
    outcomes: int = 0,
    scale: float = 1.0,
) -> tuple[RulesModel, Worlds]:
    """Returns (the model of a game's rules, the worlds where the first decision is made).

    Args:
        game: the rules of a two-player zero-sum game.
        depth: decisions on the longest way that a simulation may take.
        worlds: room for world states of a public state.
        hands: room for private states of each player (H0, H1), or of either.
        children: room for public states after one.
        actions: room for legal actions; the game's number by default.
        merged: room for ways that lead to one private state.
        outcomes: of chance moves between decisions, numbered from 0; at most one such move lies
            between two decisions.
        scale: the largest payoff, in the game's units, where the game has no method
            `largest_payoff` that says what is still at stake.

    Raises:
        ValueError: not two players, the first public state needs more room (the message says how
            much), or chance shows something in public before it.
    """
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; beliefs here are of two")
    hands = (hands, hands) if isinstance(hands, int) else (int(hands[0]), int(hands[1]))
    if min(depth, worlds, *hands, children, merged) < 1 or outcomes < 0 or not scale > 0:
        raise ValueError("depth, worlds, hands, children, merged and scale must be positive")
    features = 0
    if isinstance(game, HasPublicFeatures):
        features = jax.eval_shape(lambda: game.public_features(game.init())).size
    format = StateFormat(
        game=game.name,
        num_features=features,
        hands=hands,
        num_classes=0,
        scale=None if isinstance(game, HasLargestPayoff) else float(scale),
        uniform_play=False,
        unit="possible pairs",
    )
    model = RulesModel(
        scale=jnp.asarray(scale, float),
        game=game,
        format=format,
        depth=depth,
        worlds=worlds,
        hands=hands,
        num_children=children,
        num_actions=game.num_actions if actions is None else actions,
        merged=merged,
        outcomes=outcomes,
    )
    walker = Walker(game, max_states=1_000_000)
    while (walker.visited.actor == CHANCE).all():
        walker.expand()
    first = walker.visited
    if (first.actor != first.actor[0]).any() or first.actor[0] < 0 or len(walker.terminal[-1]):
        raise ValueError(f"{game.name}: chance must deal to all before the first decision")
    if len(np.unique(walker.public[-1])) > 1:
        raise ValueError(f"{game.name}: chance shows something in public before the first decision")
    ids = walker.infostate[-1]
    hand = np.stack([np.unique(ids[:, i], return_inverse=True)[1].reshape(-1) for i in (0, 1)], 1)
    if isinstance(game, HasPrivateStates):
        hand = np.asarray(jax.vmap(game.private_states)(first.states))
    count = len(hand)
    most = (int(hand[:, 0].max()) + 1, int(hand[:, 1].max()) + 1)
    if count > worlds or most[0] > hands[0] or most[1] > hands[1]:
        room = (max(most[0], hands[0]), max(most[1], hands[1]))
        raise ValueError(
            f"{game.name} begins with {count} worlds and {most} private states; use "
            f"worlds={max(count, worlds)}, hands={room} or more"
        )
    more = [(0, worlds - count)]
    return model, Worlds(
        jax.tree.map(
            lambda x: jnp.pad(jnp.asarray(x), more + [(0, 0)] * (x.ndim - 1), "edge"), first.states
        ),
        jnp.pad(jnp.asarray(walker.chance[-1], float_type()), more),
        jnp.pad(jnp.asarray(hand, jnp.int32), [*more, (0, 0)]),
    )

"""The rules of a game as public states, opened inside the search: nothing is listed beforehand.

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

from jaxsolve.compiler import Deals, deal_hands
from jaxsolve.game import Game, HasLargestPayoff, HasPrivateStates, HasPublicFeatures
from jaxsolve.public._model import Followed
from jaxsolve.public._opening import Room, features_of, met, opened, scale_of, stepped
from jaxsolve.public._pairs import DensePayoffs, DenseWeights
from jaxsolve.public._states import PublicState, StateFormat
from jaxsolve.public._table import PublicTable
from jaxsolve.public._transitions import Transitions
from jaxsolve.public._worlds import Worlds
from jaxsolve.tree import float_type
from jaxsolve.types import NOTHING, Array, Status, pytree


class Store(NamedTuple):
    """What the rules have made (I opened public states, Q = 1 + I C public states at most).

    Attributes:
        transitions: of opened public states, but for `weights`, `possible` and `scale`, of all.
        worlds: leading axis Q.
        features: float [Q, F], of public states.
        status: int32 [], `Status` bits of the capacities that were not enough.
    """

    transitions: Transitions
    worlds: Worlds
    features: Array
    status: Array


class Dealt(NamedTuple):
    """What players are shown before the first decision (N infostates, L transitions).

    Attributes:
        shown: int32 [2, N, L, p + m], per player and infostate; NOTHING after the last transition.
        length: int32 [2, N], transitions that show something; -1 where there is no infostate.
        hand: int32 [2, N], the private state.
    """

    shown: Array
    length: Array
    hand: Array


@pytree
@dataclasses.dataclass(frozen=True)
class RulesModel:
    """The rules of a game as a `PublicModel`; a root is the worlds that are possible there.

    Attributes:
        scale: float [], the largest payoff, where the game has no `largest_payoff`.
        dealt: how each player learns their first private state.
        game: the rules.
        format: see `PublicModel`.
        depth: decisions in the longest game.
        wait: see `PublicModel`.
        room: capacities.
        largest: no search reaches so many public states.
    """

    scale: Array
    dealt: Dealt
    game: Game = dataclasses.field(metadata={"static": True})
    format: StateFormat = dataclasses.field(metadata={"static": True})
    depth: int = dataclasses.field(metadata={"static": True})
    wait: int = dataclasses.field(metadata={"static": True})
    room: Room = dataclasses.field(metadata={"static": True})
    largest: int = dataclasses.field(default=1 << 30, metadata={"static": True})

    def numbered_as(self, table: PublicTable) -> RulesModel:
        """Returns the model with children of public states in the order of a table's."""
        return dataclasses.replace(self, room=self.room._replace(by_worlds=table.source is None))

    @property
    def hands(self) -> tuple[int, int]:
        """See `PublicModel`."""
        return self.room.hands

    @property
    def num_children(self) -> int:
        """See `PublicModel`."""
        return self.room.children

    @property
    def num_actions(self) -> int:
        """See `PublicModel`."""
        return self.room.actions

    def start(self, root: Worlds, capacity: int, dtype: Any) -> tuple[Store, Array]:
        """See `PublicModel`."""
        size, many = capacity, 1 + capacity * self.num_children
        a, c, m, r = self.num_actions, self.num_children, self.room.merged, self.room.branches
        h = max(self.hands)

        def full(shape: tuple[int, ...], value: int) -> Array:
            return jnp.full(shape, value, jnp.int32)

        weight, possible = met(self.hands, root)
        features = features_of(self.game, root)
        scale = scale_of(self.game, self.scale, root).astype(dtype)
        transitions = Transitions(
            actor=full((size,), 0),
            legal=jnp.zeros((size, a, h), bool),
            child=full((size, c), -1),
            factor=jnp.zeros((size, c), dtype),
            parents_of=full((size, c, 2, h, m), a * h),
            child_of_action=full((size, a, h, r), c * h),
            child_of_waiting=full((size, h, c), c * h),
            payoffs=DensePayoffs(jnp.zeros((size, a, *self.hands), dtype)),
            weights=DenseWeights(
                jnp.zeros((many, *self.hands), dtype).at[0].set(weight.astype(dtype))
            ),
            possible=jnp.zeros((many, 2, h), bool).at[0].set(possible),
            scale=jnp.ones(many, dtype).at[0].set(scale),
            size=full((size,), 0),
        )
        worlds = jax.tree.map(lambda x: jnp.zeros((many, *x.shape), x.dtype).at[0].set(x), root)
        features = jnp.zeros((many, *features.shape), features.dtype).at[0].set(features)
        zero = jnp.zeros((), jnp.int32)
        return Store(transitions, worlds, features, zero), zero

    def transitions(self, store: Store) -> Transitions:
        """See `PublicModel`."""
        return store.transitions

    def open(self, store: Store, public: Array, new: Array, go: Array) -> tuple[Store, Array]:
        """See `PublicModel`; its children are numbered 1 + new C, 2 + new C, ..."""
        row, children, features, status = opened(
            self.game, self.room, self.scale, self.root_of(store, public)
        )
        size, c = store.transitions.actor.shape[0], self.num_children
        at = jnp.where(go, new, size)
        numbers = 1 + new * c + jnp.arange(c)
        row = row._replace(child=jnp.where(row.factor > 0, numbers, -1))
        below = jnp.where(go, numbers, 1 + size * c)

        def put(old: Any, new: Any, where: Array) -> Any:
            return jax.tree.map(lambda x, y: x.at[where].set(y, mode="drop"), old, new)

        by_public = ("weights", "possible", "scale")
        transitions = {
            name: put(getattr(store.transitions, name), value, below if name in by_public else at)
            for name, value in row._asdict().items()
        }
        return Store(
            Transitions(**transitions),
            put(store.worlds, children, below),
            put(store.features, features, below),
            jnp.where(go, store.status | status, store.status),
        ), new

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

    def first_hand(self, player: Array, public: Array, private: Array) -> Followed:
        """See `Followable`."""
        shown, length = self.dealt.shown[player], self.dealt.length[player]
        rows = jnp.concatenate([public, private], 1)
        same = _equal(rows, shown, jnp.arange(shown.shape[1]))
        each = jnp.arange(shown.shape[1])
        fits = (length >= 0) & (same | (each >= length[:, None])).all(1)
        best = jnp.argmax(jnp.where(fits, length, -1))
        status = jnp.where(fits.any(), 0, Status.UNSEEN.value).astype(jnp.int32)
        zero = jnp.zeros((), jnp.int32)
        return Followed(zero, self.dealt.hand[player, best], length[best], status)

    def follow(
        self,
        root: Worlds,
        player: Array,
        hand: Array,
        action: Array,
        public: Array,
        private: Array,
        used: Array,
    ) -> Followed:
        """See `Followable`."""
        actor, _, ends, child, after, status = stepped(self.game, self.room, root)
        mine = actor == player
        fits = ends.goes_on & (ends.hand[:, player] == hand)
        fits &= ~mine | (ends.action == action) | (action < 0)
        shown = ends.shown[:, :, player]  # [E, 2, p + m]
        silent = (shown == NOTHING).all(-1)
        delivered = ends.moved & (~silent | jnp.stack([mine, jnp.bool_(False)]))
        count = jnp.cumsum(delivered, 1)
        rows = jnp.concatenate([public, private], 1)
        fits &= (_equal(rows, shown, used + count - delivered) | ~delivered).all(1)
        best = jnp.argmax(jnp.where(fits, count[:, 1], -1))
        status |= jnp.where(fits.any(), 0, Status.UNSEEN.value)
        return Followed(child[best], after[best, player], used + count[best, 1], status)


def _equal(rows: Array, wanted: Array, at: Array) -> Array:
    """Returns bool [E, S], whether rows[at] [S or E, S] are those wanted, [E, S, p + m]."""
    found = rows.at[at].get(mode="fill", fill_value=NOTHING - 1)
    return (found == wanted).all(-1)


def rules_model(
    game: Game,
    *,
    depth: int,
    worlds: int,
    hands: tuple[int, int] | int,
    children: int,
    wait: int | None = None,
    actions: int | None = None,
    merged: int = 1,
    branches: int | None = None,
    outcomes: int = 0,
    scale: float = 1.0,
) -> tuple[RulesModel, Worlds]:
    """Returns (the model of a game's rules, the worlds where the first decision is made).

    Args:
        game: the rules of a two-player zero-sum game.
        depth: decisions in the longest game, which a simulation may take.
        wait: decisions at most from one of a player to their next, their own counted, or before
            their first; `depth` if unknown. Trees have room for so many besides simulations.
        worlds: room for world states of a public state.
        hands: room for private states of each player (H0, H1), or of either.
        children: room for public states after one.
        actions: room for legal actions; the game's number by default.
        merged: room for pairs (action, private state) that lead to one private state.
        branches: room for public states that an action of one private state leads to; as many as
            there may be by default.
        outcomes: of chance moves between decisions, numbered from 0; at most one such move lies
            between two decisions.
        scale: the largest payoff, in the game's units, where the game has no method
            `largest_payoff` that says what is still at stake.

    Raises:
        ValueError: rules that lack a method or public observations, not two players, the first
            public state needs more room (the message says how much), or chance shows something in
            public before it.
    """
    _check_rules(game)
    hands = (hands, hands) if isinstance(hands, int) else (int(hands[0]), int(hands[1]))
    branches = children if branches is None else branches
    sizes = (depth, worlds, *hands, children, merged, branches, 1 if wait is None else wait)
    if min(sizes) < 1 or outcomes < 0 or not scale > 0:
        raise ValueError(
            "depth, worlds, hands, children, wait, merged, branches and scale must be positive"
        )
    deals = deal_hands(game)
    first = deals.seen
    if (first.actor != first.actor[0]).any() or first.actor[0] < 0:
        raise ValueError(f"{game.name}: chance must deal to all before the first decision")
    hand = deals.hand
    if isinstance(game, HasPrivateStates):
        hand = np.asarray(jax.vmap(game.private_states)(deals.states))
    count = len(hand)
    most = (int(hand[:, 0].max()) + 1, int(hand[:, 1].max()) + 1)
    if count > worlds or most[0] > hands[0] or most[1] > hands[1]:
        wanted = (max(most[0], hands[0]), max(most[1], hands[1]))
        raise ValueError(
            f"{game.name} begins with {count} worlds and {most} private states; use "
            f"worlds={max(count, worlds)}, hands={wanted} or more"
        )
    features = 0
    if isinstance(game, HasPublicFeatures):
        features = jax.eval_shape(lambda: game.public_features(game.init())).size
    model = RulesModel(
        scale=jnp.asarray(scale, float),
        dealt=_dealt(deals, hand),
        game=game,
        format=StateFormat(
            game=game.name,
            num_features=features,
            hands=hands,
            num_classes=0,
            scale=None if isinstance(game, HasLargestPayoff) else float(scale),
            uniform_play=False,
            unit="possible pairs",
        ),
        depth=depth,
        wait=depth if wait is None else min(wait, depth),
        room=Room(
            worlds=worlds,
            hands=hands,
            children=children,
            actions=game.num_actions if actions is None else actions,
            merged=merged,
            branches=branches,
            outcomes=outcomes,
        ),
    )
    more = [(0, worlds - count)]
    return model, Worlds(
        jax.tree.map(
            lambda x: jnp.pad(jnp.asarray(x), more + [(0, 0)] * (x.ndim - 1), "edge"), deals.states
        ),
        jnp.pad(jnp.asarray(deals.weight, float_type()), more),
        jnp.pad(jnp.asarray(hand, jnp.int32), [*more, (0, 0)]),
    )


def _check_rules(game: Game) -> None:
    """Refuses rules that cannot be stepped inside a search."""
    methods = ("init", "actor", "legal", "chance", "step", "observe", "utility")
    if missing := [name for name in methods if not callable(getattr(game, name, None))]:
        raise ValueError(
            f"{game.name}: its rules have no method {', '.join(missing)}, which a tree that grows "
            "from them steps; see jaxsolve.game.Game"
        )
    if game.num_players != 2:
        raise ValueError(f"{game.name} has {game.num_players} players; beliefs here are of two")
    public, _ = jax.eval_shape(lambda: game.observe(game.init()))
    if not public.size:
        raise ValueError(
            f"{game.name}: observe(state) shows nothing in public, so its rules have no public "
            "states; return what everybody sees, or list them with public.public_table(game)"
        )


def _dealt(deals: Deals, hand: np.ndarray) -> Dealt:
    """Returns what each player is shown up to their first private state."""
    count = max(len(ids) for ids in deals.infostate)
    width = deals.table.infostates[0].observation.shape[1]
    rows: list[list[list[np.ndarray]]] = [[], []]
    for i, ids in enumerate(deals.infostate):
        known = deals.table.infostates[i]
        for here in ids:
            path, at = [], int(here)
            while known.parent[at] >= 0:
                path.append(known.observation[at])
                at = int(known.parent[at])
            rows[i].append(path[::-1])
    longest = max(1, *(len(path) for both in rows for path in both))
    shown = np.full((2, count, longest, width), NOTHING, np.int32)
    length, first = np.full((2, count), -1, np.int32), np.zeros((2, count), np.int32)
    for i in range(2):
        first[i, deals.hand[:, i]] = hand[:, i]
        for k, path in enumerate(rows[i]):
            length[i, k] = len(path)
            shown[i, k, : len(path)] = np.array(path).reshape(-1, width)
    return Dealt(jnp.asarray(shown), jnp.asarray(length), jnp.asarray(first))

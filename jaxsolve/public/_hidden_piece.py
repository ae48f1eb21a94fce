"""Games that hide one number as a `PublicModel`: one state and H weights for a public state.

What moves do to the hidden number is in tables of the game (`game.HidesPiece`), so that opening a
public state steps one world for each child. Where a move shows the hidden number to everybody, as
many public states follow as there are numbers; here they come as one or two steps more, in which
nobody has a choice: the number is shown digit by digit, in the base that children have room for. A
value function says what the public state before them is worth, as of any other.

Source: the representation by tables is ours. Schmid et al. 2023 (Student of Games), supplement,
Scotland Yard: beliefs are over Mr X's station only, and a detective's move tells caught from not
there.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import HasPrivateFeatures, HasPublicFeatures, HidesPiece
from jaxsolve.public._hidden_tables import (
    Lists,
    Possible,
    Tables,
    move_tables,
    ranks,
    read_once,
)
from jaxsolve.public._model import Followed, Ranked
from jaxsolve.public._pairs import DensePayoffs, IndependentWeights
from jaxsolve.public._rules import RulesModel, rules_model
from jaxsolve.public._states import PublicState, StateFormat
from jaxsolve.public._transitions import Transitions
from jaxsolve.types import Array, Status, pytree


class HiddenRoot(NamedTuple):
    """A public state (H hidden numbers).

    Attributes:
        state: a world of it; its hidden number says nothing.
        weight: float [H], probability of each number by chance; 0 where it is not possible.
        left: int32 [], digits of the number that are still to be shown.
    """

    state: Any
    weight: Array
    left: Array


class HiddenStore(NamedTuple):
    """What is opened (I public states opened, Q = 1 + I C at most).

    Attributes:
        roots: the public states, leading axis Q.
        kind: int32 [I], row of the tables.
        legal: bool [I, A, H].
        child: int32 [I, C].
        factor: float [I, C].
        payoff: float [I, A, H, 1], times chance.
        order: int [Q, H], the possible numbers, then the others.
        counts: int32 [Q], possible numbers.
    """

    roots: HiddenRoot
    kind: Array
    legal: Array
    child: Array
    factor: Array
    payoff: Array
    order: Array
    counts: Array

    @property
    def status(self) -> Array:
        """int32 [], `Status` bits: 0, the tables have room for all moves."""
        return jnp.zeros(self.kind.shape[:-1], jnp.int32)


@pytree
@dataclasses.dataclass(frozen=True)
class HiddenPieceModel:
    """A game that hides one number, as a `PublicModel`; it is `Followable`.

    Attributes:
        tables: what moves do.
        rules: says what players are shown before the first decision.
        game: the rules.
        format: see `PublicModel`.
        depth: decisions in the longest game.
        wait: see `PublicModel`.
        digits: base of the digits that are shown, for each; () if nothing is ever shown.
        largest: no search reaches so many public states.
    """

    tables: Tables
    rules: RulesModel
    game: HidesPiece = dataclasses.field(metadata={"static": True})
    format: StateFormat = dataclasses.field(metadata={"static": True})
    depth: int = dataclasses.field(metadata={"static": True})
    wait: int = dataclasses.field(metadata={"static": True})
    digits: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    largest: int = dataclasses.field(default=1 << 30, metadata={"static": True})

    @property
    def hands(self) -> tuple[int, int]:
        """See `PublicModel`."""
        return self.tables.child.shape[-1], 1

    @property
    def num_children(self) -> int:
        """See `PublicModel`."""
        return int(self.tables.parents_of.shape[1])

    @property
    def num_actions(self) -> int:
        """See `PublicModel`."""
        return int(self.tables.child.shape[1])

    def start(self, root: HiddenRoot, capacity: int, dtype: Any) -> tuple[HiddenStore, Array]:
        """See `PublicModel`."""
        size, many = capacity, 1 + capacity * self.num_children
        (h, _), a, c = self.hands, self.num_actions, self.num_children
        root = root._replace(weight=root.weight.astype(dtype))
        nobody = jnp.zeros((many, h), self.tables.child.dtype)
        order, counts = ranks(root.weight > 0, nobody.dtype)
        roots = jax.tree.map(lambda x: jnp.zeros((many, *x.shape), x.dtype).at[0].set(x), root)
        store = HiddenStore(
            roots=roots,
            kind=jnp.zeros(size, jnp.int32),
            legal=jnp.zeros((size, a, h), bool),
            child=jnp.full((size, c), -1, jnp.int32),
            factor=jnp.zeros((size, c), dtype),
            payoff=jnp.zeros((size, a, h, 1), dtype),
            order=nobody.at[0].set(order),
            counts=jnp.zeros(many, jnp.int32).at[0].set(counts),
        )
        return store, jnp.zeros((), jnp.int32)

    def transitions(self, store: HiddenStore) -> Transitions:
        """See `PublicModel`."""
        tables = self.tables
        weight = store.roots.weight
        actor = tables.actor[store.kind]
        return Transitions(
            actor=actor,
            legal=store.legal,
            child=store.child,
            factor=store.factor,
            parents_of=Lists(tables.parents_of, store.kind),
            child_of_action=Lists(tables.child_of_action, store.kind),
            child_of_waiting=Lists(tables.child_of_waiting, store.kind),
            payoffs=DensePayoffs(store.payoff),
            weights=IndependentWeights(weight, jnp.ones((len(weight), 1), weight.dtype)),
            possible=Possible(weight),
            scale=jnp.full(len(weight), self.rules.scale, weight.dtype),
            size=jnp.zeros(len(store.kind), jnp.int32),
            renumbers=actor == 0,  # the number changes or is shown
        )

    def open(self, store: HiddenStore, public: Array, new: Array, go: Array) -> tuple[Any, Array]:
        """See `PublicModel`; its children are numbered 1 + new C, 2 + new C, ..."""
        size, c = len(store.kind), self.num_children
        root = read_once(store.roots, public)
        kind, legal, factor, payoff, children = self._opened(root)
        at = jnp.where(go, new, size)
        numbers = 1 + new * c + jnp.arange(c)
        below = jnp.where(go, numbers, 1 + size * c)

        def put(old: Any, value: Any, where: Array) -> Any:
            return jax.tree.map(
                lambda x, y: x.at[where].set(y.astype(x.dtype), mode="drop"), old, value
            )

        order, counts = jax.vmap(ranks, (0, None))(children.weight > 0, store.order.dtype)
        return HiddenStore(
            put(store.roots, children, below),
            put(store.kind, kind, at),
            put(store.legal, legal, at),
            put(store.child, jnp.where(factor > 0, numbers, -1), at),
            put(store.factor, factor, at),
            put(store.payoff, payoff[..., None], at),
            put(store.order, order, below),
            put(store.counts, counts, below),
        ), new

    def ranked(self, store: HiddenStore) -> Ranked:
        """See `DescribesSome`."""
        return Ranked(store.order, store.counts)

    def public_state(
        self, store: HiddenStore, public: Array, numbers: Array | None = None
    ) -> PublicState:
        """See `DescribesSome`; features are those of the game, then digits to be shown."""
        roots = jax.tree.map(lambda x: x[public], store.roots)
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[public.ndim :]), roots)
        features = jax.vmap(self._features)(flat)
        possible, each = Possible(store.roots.weight), None
        if numbers is not None:
            each = numbers.reshape(-1, *numbers.shape[public.ndim :])
        private = None
        if isinstance(self.game, HasPrivateFeatures):
            private = jax.vmap(self.game.private_features)(flat.state, each)
            private = private.reshape(*public.shape, *private.shape[1:]).astype(features.dtype)
        return PublicState(
            features=features.reshape(*public.shape, -1),
            possible=possible[public] if numbers is None else possible.among(public, numbers),
            scale=jnp.full(public.shape, self.rules.scale, roots.weight.dtype),
            subgame_class=jnp.full(public.shape, -1, jnp.int32),
            private=private,
        )

    def actor_of(self, root: HiddenRoot) -> Array:
        """See `PublicModel`; -1, nobody, while a number is being shown."""
        actor = jnp.asarray(self.game.actor(root.state), jnp.int32)
        return jnp.where(root.left > 0, -1, actor)

    def root_of(self, store: HiddenStore, public: Array) -> HiddenRoot:
        """See `PublicModel`."""
        found: HiddenRoot = jax.tree.map(lambda x: x[public], store.roots)
        return found

    def first_hand(self, player: Array, public: Array, private: Array) -> Followed:
        """See `Followable`."""
        return self.rules.first_hand(player, public, private)

    def follow(
        self,
        root: HiddenRoot,
        player: Array,
        hand: Array,
        action: Array,
        public: Array,
        private: Array,
        used: Array,
    ) -> Followed:
        """See `Followable`."""
        kind, legal, factor, _, children = self._opened(root)
        actor = self.tables.actor[kind]
        shown = self._shown(children, jnp.maximum(used, 0), public)  # [C, H]
        past = self._shown(jax.tree.map(lambda x: x[None], root), used - 1, public)[0]
        mine = actor == player
        # The actor knows their move; nobody else sees more of it than its child.
        slots = legal[:, hand] & (self._actions(root)[:, hand] == action)
        slot = jnp.argmax(slots)
        mine_child = self.tables.child[kind, slot, hand].astype(jnp.int32)
        there = (factor > 0) & (shown & (children.weight > 0)).any(1)
        child = jnp.where(mine, mine_child, jnp.argmax(there))
        fits = jnp.where(mine, slots.any(), True) & there[child]
        after = jnp.where(mine & (actor == 0), self.tables.after[kind, slot, hand], hand)
        # While a number is shown, the last observation says which it is.
        number = jnp.where(player == 0, hand, jnp.argmax(past & (root.weight > 0)))
        digit = self.tables.child[kind, 0, number].astype(jnp.int32)
        showing = root.left > 0
        fits = jnp.where(showing, (past & (root.weight > 0))[number], fits)
        status = jnp.where(fits, 0, Status.UNSEEN.value).astype(jnp.int32)
        return Followed(
            child=jnp.where(showing, digit, child),
            hand=jnp.where(showing, hand, after).astype(jnp.int32),
            used=used + ~showing,
            status=status,
        )

    def _features(self, root: HiddenRoot) -> Array:
        """Returns float [F], of one public state."""
        game = self.game
        if not isinstance(game, HasPublicFeatures):
            return jnp.zeros(0)
        mine = jnp.asarray(game.public_features(root.state), float)
        return jnp.append(mine, root.left / len(self.digits)).astype(mine.dtype)

    def _actions(self, root: HiddenRoot) -> Array:
        """Returns int32 [A, H], the game's numbers of slots."""
        return self.game.hidden_moves(root.state).action

    def _shown(self, roots: HiddenRoot, at: Array, public: Array) -> Array:
        """Returns bool [C, H], whether a row of an observation is what each number would show."""
        row = public[jnp.clip(at, 0, len(public) - 1)]
        numbers = jnp.arange(self.hands[0])

        def one(state: Any, number: Array) -> Array:
            seen = jnp.ravel(self.game.observe(self.game.place(state, number))[0])
            return (jnp.asarray(seen, jnp.int32) == row).all()

        each = jax.vmap(jax.vmap(one, (None, 0)), (0, None))
        found: Array = each(roots.state, numbers)
        return found & (at >= 0) & (at < len(public))

    def _opened(self, root: HiddenRoot) -> tuple[Array, Array, Array, Array, HiddenRoot]:
        """Returns (kind, legal [A, H], factor [C], payoff [A, H], children [C])."""
        game, tables = self.game, self.tables
        hands = self.hands[0]
        moves = game.hidden_moves(root.state)
        showing = root.left > 0
        kind = jnp.where(showing, len(tables.actor) - root.left, moves.kind)
        here = root.weight > 0
        forced = jnp.arange(self.num_actions)[:, None] == 0
        legal = jnp.where(showing, forced, moves.legal) & here
        ends = moves.ends & legal & ~showing
        payoff = jnp.where(ends, root.weight * moves.payoff, 0)
        on = legal & ~ends
        # What leads to each number of each child: any move does, all have the same weight.
        source = tables.source[kind].astype(jnp.int32)  # [C, H, M]
        reached = jnp.append(on.reshape(-1), False)[source]
        there = reached.any(-1)
        weight = jnp.where(there, root.weight.max(), 0)
        factor = weight.sum(1)
        weight = weight / jnp.where(factor > 0, factor, 1)[:, None]
        # One world for each child: any that leads there.
        some = jnp.argmax(there, 1)
        each = jnp.arange(len(some))
        way = jnp.argmax(reached[each, some], -1)
        code = jnp.where(there.any(1), source[each, some, way], 0)

        def one(code: Array, number: Array) -> Any:
            world = game.place(root.state, code % hands)
            moved = game.step(world, moves.action.reshape(-1)[code])
            return choose_state(showing, game.place(root.state, number), moved)

        states = jax.vmap(one)(code, some)
        shows = jnp.where(moves.shows[code // hands], len(self.digits), 0)
        left = jnp.where(showing, root.left - 1, shows).astype(jnp.int32)
        # Where player 1 acts, all their moves are those of their only private state.
        alone = jnp.where(jnp.arange(hands) == 0, legal.any(1, keepdims=True), False)
        legal = jnp.where(tables.actor[kind] == 0, legal, alone)
        return kind, legal, factor, payoff, HiddenRoot(states, weight, left)


def choose_state(where: Array, yes: Any, no: Any) -> Any:
    """Returns one of two equal pytrees, by a bool []."""
    return jax.tree.map(lambda x, y: jnp.where(where, x, y), yes, no)


def hidden_piece_model(
    game: HidesPiece, *, scale: float = 1.0, uneven: float = 1e-6
) -> tuple[HiddenPieceModel, HiddenRoot]:
    """Returns (the model of a game that hides one number, where its first decision is made).

    Args:
        game: the rules, with the methods of `game.HidesPiece`.
        scale: the largest payoff, in the game's units.
        uneven: difference of probabilities of the first numbers that is rounding.

    Raises:
        ValueError: the rules lack a method, or chance does not draw the number evenly.
    """
    if not isinstance(game, HidesPiece):
        raise ValueError(
            f"{getattr(game, 'name', game)}: its rules have not the methods move_tables, place and "
            "hidden_moves of game.HidesPiece; use public.rules_model(game)"
        )
    moves = game.move_tables()
    slots, hands = moves.child.shape[1:]
    if slots * hands >= 1 << 31:
        raise ValueError(f"{game.name}: {slots} slots times {hands} numbers are too many")
    children = max(int(moves.child.max()) + 1, math.isqrt(hands - 1) + 1)
    digits: tuple[int, ...] = (1,) if hands <= children else (-(-hands // children), 1)
    tables = move_tables(moves, children, digits)
    decisions, reveals = game.longest()
    depth = decisions + len(digits) * reveals
    moves_between, reveals_between = game.longest_wait()
    rules, worlds = rules_model(
        game, depth=depth, worlds=hands, hands=(hands, 1), children=1, scale=scale
    )
    weight = np.zeros(hands)
    np.add.at(weight, np.asarray(worlds.hand[:, 0]), np.asarray(worlds.weight))
    some = weight[weight > 0]
    if np.ptp(some) > uneven:
        raise ValueError(
            f"{game.name}: chance draws the hidden number with probabilities {some.min():g} to "
            f"{some.max():g}; histories that meet are told apart by nothing, so they must be equal"
        )
    features = rules.format.num_features + (rules.format.num_features > 0)
    private = 0
    if isinstance(game, HasPrivateFeatures):
        private = jax.eval_shape(lambda: game.private_features(game.init())).shape[-1]
    model = HiddenPieceModel(
        tables=tables,
        rules=rules,
        game=game,
        format=rules.format._replace(num_features=features, num_private=private),
        depth=depth,
        wait=min(moves_between + len(digits) * reveals_between, depth),
        digits=digits,
    )
    state = jax.tree.map(lambda x: x[0], worlds.states)
    return model, HiddenRoot(state, jnp.asarray(weight, float), jnp.zeros((), jnp.int32))

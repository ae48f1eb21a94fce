"""Agents that search: continual re-solving in a match, over any search engine.

The agent steps the state machine of `search.resolving`: it advances to the public state of its
decision, searches, and plays what the search says for its private state. `search.resolve_game` does
the same at all public states at once; the agent's policy is that table, and tests say so.

Where the agent is, it finds out from its observations: in a compiled tree by its infoset, on the
rules alone by stepping the model of public states (`public.Followable`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._fixed import decide
from jaxsolve.agents._track import Tracker, tracker
from jaxsolve.agents._track import follow as follow_infostate
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.public import Followable, PublicModel, PublicTable
from jaxsolve.search.growing import GrowingEngine, Grown
from jaxsolve.search.resolving import Resolver, ResolvingState, choose, follow, init, search
from jaxsolve.tree import PublicTree
from jaxsolve.types import Array, PRNGKey, PyTree
from jaxsolve.values import ValueFunction, check_value


class Place(NamedTuple):
    """Where an observation has led (W the longest path).

    Attributes:
        path: int32 [W], children from the public state of the last decision, then -1.
        hand: int32 [], the player's private state.
        lost: bool [], whether the observation fits nothing that is possible.
    """

    path: Array
    hand: Array
    lost: Array


class Thought(NamedTuple):
    """A decision of an agent that searches, and the search.

    Attributes:
        player: int, whose.
        found: the outcome of the search; `search.Grown` of trees that grow.
        at: int32 [], number in its tree of the public state of the decision.
        action: int, chosen.
        child: int, which child of that public state it leads to; -1 where the game ends or chance
            has a say.
    """

    player: int
    found: Any
    at: Array
    action: int
    child: int


class Finder(Protocol):
    """How an agent finds its way."""

    def init(self, seat: Array) -> PyTree:
        """Returns what is known before the first observation."""

    def find(self, known: PyTree, seen: Observation) -> tuple[Place, PyTree]:
        """Returns where a player who is to act is, and what is known then."""


class Memory(NamedTuple):
    """What the agent keeps between its decisions.

    Attributes:
        seat: int32 [], its own.
        seed: uint32 [], of the searches of this match.
        decisions: int32 [], own ones so far.
        known: of the `Finder`.
        state: of the machine.
        tree: of the last search.
    """

    seat: Array
    seed: Array
    decisions: Array
    known: PyTree
    state: ResolvingState
    tree: PyTree


def resolving(
    resolver: Resolver[Any],
    value: ValueFunction | None,
    tree: PublicTree | None = None,
    *,
    prior: Any = None,
    random_start: bool = False,
    log: Callable[[Thought], None] | None = None,
    name: str = "resolving",
) -> Agent:
    """Returns the agent of a search.

    Args:
        resolver: how (`search.growing_resolver`, or `search.fixed_resolver` with grouped=False),
            with a gadget.
        value: worth of leaves; None where searches go to the end of the game.
        tree: the game, compiled, where the resolver has a table: it says which infoset an
            observation leads to. Not needed where the resolver has a model of the rules.
        prior: of actions, a `PriorFunction`; uniform by default.
        random_start: searches that need no key start from random policies, others in every match.
        log: gets every decision with its search, trees that grow only; matches are then played one
            by one, on the host.
        name: for tables of results.

    Raises:
        ValueError: the search is not one that an agent can follow, the value function or the tree
            is of another game, or nothing says what observations mean.
    """
    engine, model = resolver.engine, resolver.model
    check_value(value, resolver.states)
    check_value(prior, resolver.states)
    if resolver.alpha is None:
        raise ValueError("an agent re-solves under a gadget: give the resolver alpha=0.5")
    if tree is not None and resolver.table is not None:
        finder: Finder = _infosets(resolver.table, tree)
    elif isinstance(model, Followable):
        finder = _Followed(model, resolver.root, engine.longest_path)
    else:
        raise ValueError(
            f"{resolver.game}: nothing says where observations lead; give the compiled tree, "
            "agents.resolving(resolver, value, js.compile(game))"
        )
    if log is not None and not isinstance(engine, GrowingEngine):
        raise ValueError("log= is for trees that grow: search.growing_resolver")
    keyed = engine.random or random_start

    def begin(seat: Array, key: PRNGKey) -> Memory:
        zero, root = jnp.zeros((), jnp.int32), resolver.root
        seat = jnp.asarray(seat, jnp.int32)
        seed, known = jax.random.bits(key), finder.init(seat)
        return Memory(seat, seed, zero, known, init(engine, root), engine.blank(root))

    def think(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory, Any, Any]:
        place, known = finder.find(memory.known, seen)
        state = follow(engine, memory.state, memory.tree, place.path)
        level = None
        if keyed:
            level = jax.random.fold_in(jax.random.key(memory.seed), memory.decisions)
        state, found = search(engine, state, memory.seat, value, prior, level, alpha=resolver.alpha)
        mine = engine.policy(found, state.at)[:, place.hand]
        number = jnp.cumsum(seen.legal) - 1
        policy = jnp.where(seen.legal, mine[jnp.clip(number, 0, len(mine) - 1)], 0)
        # Probabilities of nothing stand for no action, which is refused where the match is played.
        policy = jnp.where(place.lost | (engine.status(found) > 0), 0, policy)
        after = memory._replace(
            decisions=memory.decisions + 1, known=known, state=state, tree=engine.tree(found)
        )
        return decide(policy, key), after, found, (place.hand, state.at)

    def act(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        return think(memory, seen, key)[:2]

    if log is None:
        return Agent(begin, act, name, resolver.game)
    aloud = jax.jit(think)

    def act_aloud(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        decision, after, found, (hand, at) = aloud(memory, seen, key)
        action = int(decision.action)
        if action >= 0:
            number = int(np.asarray(seen.legal)[:action].sum())
            child = _child_of(engine.options.model, found, at, number, hand)
            log(Thought(int(seen.player), found, at, action, child))
        return decision, after

    return Agent(begin, act_aloud, name, resolver.game, host=True)


def _child_of(model: PublicModel, found: Grown, at: Array, number: int, hand: Array) -> int:
    """Returns the only child that a legal action of a private state leads to, or -1."""
    transitions = model.transitions(found.growth.store)
    row = found.growth.row[at]
    slot = np.flatnonzero(np.asarray(transitions.legal[row, :, hand]))[number]
    codes = np.asarray(transitions.child_of_action[row, slot, hand])
    children = set(codes[codes < transitions.num_children * transitions.num_hands].tolist())
    return children.pop() // transitions.num_hands if len(children) == 1 else -1


class _Infosets(NamedTuple):
    """A `Finder` in a table (P public states, W the longest path, I infosets).

    What is known is the infostate of the last decision, and its public state.

    Attributes:
        infostates: of the compiled tree.
        depth: int32 [P].
        path: int32 [P, W], children from the first public state to each, then -1.
        public: int32 [2, I], public state of each player's infosets.
        private: int32 [2, I], private state there.
    """

    infostates: Tracker
    depth: np.ndarray
    path: np.ndarray
    public: np.ndarray
    private: np.ndarray

    def init(self, seat: Array) -> tuple[Array, Array]:
        """See `Finder`."""
        return seat, jnp.zeros((), jnp.int32)

    def find(
        self, known: tuple[Array, Array], seen: Observation
    ) -> tuple[Place, tuple[Array, Array]]:
        """See `Finder`."""
        infostate, before = known
        infoset = seen.infoset
        if infoset is None:
            infostate = follow_infostate(self.infostates, infostate, seen)
            infoset = jnp.asarray(self.infostates.infoset)[infostate]
        public = jnp.asarray(self.public)[seen.player, infoset]
        on = jnp.asarray(self.depth)[before] + jnp.arange(self.path.shape[1])
        path = jnp.asarray(self.path)[public].at[on].get(mode="fill", fill_value=-1)
        hand = jnp.asarray(self.private)[seen.player, infoset]
        return Place(path, hand, infoset < 0), (infostate, public)


def _infosets(table: PublicTable, tree: PublicTree) -> _Infosets:
    size = len(table.parent)
    depth = np.zeros(size, np.int32)
    path = np.full((size, table.depth), -1, np.int32)
    for here in range(1, size):
        up = table.parent[here]
        depth[here] = depth[up] + 1
        path[here] = path[up]
        path[here, depth[up]] = table.step[here]
    places = [table.places_of(tree.info, i) for i in range(2)]
    most = max(len(public) for public, _ in places)
    public, private = (np.zeros((2, most), np.int32) for _ in range(2))
    for i, (p, h) in enumerate(places):
        public[i, : len(p)], private[i, : len(h)] = p, h
    return _Infosets(tracker(tree.info), depth, path, public, private)


class _Known(NamedTuple):
    """What the `Finder` on a model knows: the public state, its own private state, and whether it
    has decided before."""

    root: PyTree
    hand: Array
    decided: Array


class _Followed(NamedTuple):
    """A `Finder` that steps a model of public states from one decision to the next."""

    model: Followable
    root: PyTree
    longest: int

    def init(self, seat: Array) -> _Known:
        """See `Finder`."""
        return _Known(self.root, jnp.zeros((), jnp.int32), jnp.zeros((), bool))

    def find(self, known: _Known, seen: Observation) -> tuple[Place, _Known]:
        """See `Finder`."""
        model, player = self.model, seen.player
        first = model.first_hand(player, seen.public, seen.private)
        hand = jnp.where(known.decided, known.hand, first.hand)
        used = jnp.where(known.decided, 0, first.used)
        status = jnp.where(known.decided, 0, first.status)
        path = jnp.full(self.longest, -1, jnp.int32)
        zero = jnp.zeros((), jnp.int32)

        def goes_on(carry: Any) -> Array:
            root, _, used, status, _, length = carry
            elsewhere = (model.actor_of(root) != player) | (known.decided & (length == 0))
            # Others may have moved for the player: what was shown goes beyond their own turn.
            on = (elsewhere | (used < seen.length)) & (status == 0)
            found: Array = on & (length < self.longest)
            return found

        def step(carry: Any) -> Any:
            root, hand, used, status, path, length = carry
            found = model.follow(root, player, hand, seen.action, seen.public, seen.private, used)
            after = (
                self._child(root, found.child),
                found.hand,
                found.used,
                status | found.status,
                path.at[length].set(found.child),
                length + 1,
            )
            return after

        start = (known.root, hand, used, status, path, zero)
        root, hand, used, status, path, _ = jax.lax.while_loop(goes_on, step, start)
        lost = (status > 0) | (used != seen.length) | (model.actor_of(root) != player)
        return Place(path, hand, lost), _Known(root, hand, jnp.ones((), bool))

    def _child(self, root: PyTree, child: Array) -> PyTree:
        """Returns a public state that follows another."""
        store, public = self.model.start(root, 1, float)
        zero = jnp.zeros((), jnp.int32)
        store, row = self.model.open(store, public, zero, jnp.ones((), bool))
        after = self.model.transitions(store).child[row, child]
        return choose(after >= 0, self.model.root_of(store, after), root)

"""Sound self-play: episodes of continual re-solving, and their queries solved.

Source: Schmid et al. 2023 (Student of Games), "Data generation via sound self-play" and algorithm 2
of the supplement. Actors play episodes in which both seats re-solve (`_play`); every search
logs what it asks the network, and some of that goes to a queue; solvers take queries from it, solve
them with fixed beliefs by GT-CFR, and send some queries of their own back. Examples are

- decisions of the episodes: the policy found, and with some probability the outcome as the value of
  the two private states that met (TD(1));
- solved queries: the values of both players, and the policy.

Actors and solvers search in one batch, so that there is one program of GT-CFR. Differs from the
paper in that all is synchronous: E decisions and S queries are one step, S chosen so that the queue
neither runs dry nor over in the mean.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve import devices
from jaxsolve.learn._data import Examples, Source, draw_beliefs
from jaxsolve.learn.sound._examples import of_episodes, of_queries
from jaxsolve.learn.sound._play import Episode, Limits, fresh_episode, play, state_at
from jaxsolve.learn.sound._queue import Queue, pop, push, sent
from jaxsolve.learn.sound._search import Queries, logged_search
from jaxsolve.learn.sound._settings import SelfPlaySettings, check
from jaxsolve.nets import Net, policy_prior
from jaxsolve.public import ListedModel, PublicState
from jaxsolve.search.growing import GrowingEngine, Grown
from jaxsolve.search.resolving import BeliefSubgame, Resolver, choose, subgame_of
from jaxsolve.search.resolving import init as init_resolving
from jaxsolve.types import Array, PRNGKey, PyTree
from jaxsolve.values import check_value

NEVER = 1 << 30
"""More decisions than any game has."""


class SoundState(NamedTuple):
    """State of sound self-play.

    Attributes:
        step: int32 [].
        episodes: leading axis E.
        queue: queries.
        ended: int32 [], episodes that are over.
        outcome: float [], sum of their outcomes to player 0.
        searches: int32 [], of actors and of solvers with something to solve.
        asked: int32 [2], queries sent by actors and by solvers.
        lost: int32 [], queries that found no room.
        resigned: int32 [], episodes that ended so.
        cut: int32 [], episodes that were a draw by the limit of moves.
        moves: int32 [], decisions of episodes that are over.
    """

    step: Array
    episodes: Episode
    queue: Queue
    ended: Array
    outcome: Array
    searches: Array
    asked: Array
    lost: Array
    resigned: Array
    cut: Array
    moves: Array


def sound_self_play(
    resolver: Resolver[GrowingEngine], settings: SelfPlaySettings | None = None, **options: Any
) -> Source:
    """Returns the examples of sound self-play, E + S in a batch.

    Those of episodes come as many steps late as the longest game has decisions, when their outcome
    is known; what has not been made has weight 0.

    Args:
        resolver: how everybody searches, from `search.growing_resolver`; its `batch` is not used.
        settings: of the episodes and of the queue.
        **options: other than those of `settings`, by name.

    Raises:
        ValueError: a number makes no sense; says which.
    """
    chosen = dataclasses.replace(settings or SelfPlaySettings(), **options)
    check(chosen)
    engine, first = resolver.engine, resolver.root
    search, model, hands = engine.options, engine.options.model, engine.hands
    episodes, solvers = chosen.episodes, chosen.num_solvers
    depth = min(model.depth, chosen.max_moves or model.depth)
    limits = Limits(
        -math.inf if chosen.resign_below is None else chosen.resign_below,
        chosen.no_resign or 0.0,
        chosen.max_moves or NEVER,
        chosen.opening,
    )
    slots = max(1, math.ceil(chosen.q_search), math.ceil(chosen.q_recursive))
    greedy_after = NEVER if chosen.greedy_after is None else chosen.greedy_after
    blank = init_resolving(engine, first)
    dtype = blank.ranges.dtype

    def init(key: PRNGKey) -> SoundState:
        zero = jnp.zeros((), jnp.int32)
        keys = jax.random.split(key, episodes)
        return SoundState(
            step=zero,
            episodes=jax.vmap(lambda key: fresh_episode(engine, first, depth, key, limits=limits))(
                keys
            ),
            queue=Queue(
                jax.tree.map(lambda x: _repeated(x, chosen.queue), first),
                jnp.full((chosen.queue, 2, hands), 1 / hands, dtype),
                jnp.copy(zero),
                jnp.copy(zero),
            ),
            ended=jnp.copy(zero),
            outcome=jnp.zeros((), dtype),
            searches=jnp.copy(zero),
            asked=jnp.zeros(2, jnp.int32),
            lost=jnp.copy(zero),
            resigned=jnp.copy(zero),
            cut=jnp.copy(zero),
            moves=jnp.copy(zero),
        )

    def sample(net: Net, state: SoundState, key: PRNGKey) -> tuple[Examples, SoundState]:
        names = ("search", "play", "count", "fill", "td")
        check_value(net, model)
        keys = dict(zip(names, jax.random.split(key, len(names)), strict=True))
        roots, beliefs, there, queue = pop(state.queue, solvers)
        roots = jax.vmap(lambda t, root: choose(t, root, first))(there, roots)
        if chosen.fill:
            which, how = jax.random.split(keys["fill"])
            drawn = anywhere(state, which)
            roots = jax.vmap(choose)(there, roots, drawn)
            random = draw_beliefs(told(roots)[1].possible, how).astype(dtype)
            beliefs = jnp.where(there[:, None, None], beliefs, random)
        works = there | chosen.fill
        # Where nobody has a choice (-1), it is player 0 who is asked.
        seats = jnp.maximum(jax.vmap(model.actor_of)(state.episodes.root), 0)
        found, queries = searches(net, state, seats, roots, beliefs, keys["search"])
        waited = state.episodes.seats.length[jnp.arange(episodes), seats]

        slot = state.step % depth
        acted, solved = _split(found, episodes)
        after, played = devices.vmap(
            lambda episode, seat, found, key: play(
                engine,
                first,
                episode,
                seat,
                found,
                slot,
                key,
                epsilon=chosen.epsilon,
                greedy_after=greedy_after,
                limits=limits,
            )
        )(state.episodes, seats, acted, jax.random.split(keys["play"], episodes))
        sends = sent(keys["count"], chosen, works, episodes, slots)
        sends = sends & (queries.seen > 0)[:, None]
        queue, lost = push(queue, queries, sends)
        td1 = jax.random.bernoulli(keys["td"], chosen.p_td1, (episodes,))
        searched = jax.random.fold_in(keys["td"], 1)
        rooted = jax.random.bernoulli(searched, chosen.p_root, (episodes,))
        examples = jax.tree.map(
            lambda *x: jnp.concatenate(x),
            of_episodes(told, net, played.before, td1, rooted),
            of_queries(told, net, solved, roots, beliefs, works),
        )
        # A model that says that players wait less than they do has searches elsewhere: stops runs.
        values = jnp.where((waited > engine.longest_path).any(), jnp.nan, examples.values)
        return examples._replace(values=values), SoundState(
            step=state.step + 1,
            episodes=after,
            queue=queue,
            ended=state.ended + played.ended.sum(),
            outcome=state.outcome + played.outcome.sum(),
            searches=state.searches + episodes + works.sum(),
            asked=state.asked + jnp.stack([sends[:episodes].sum(), sends[episodes:].sum()]),
            lost=state.lost + lost,
            resigned=state.resigned + played.resigned.sum(),
            cut=state.cut + played.cut.sum(),
            moves=state.moves + jnp.where(played.ended, state.episodes.played + 1, 0).sum(),
        )

    def told(roots: PyTree) -> tuple[PyTree, PublicState]:
        if isinstance(model, ListedModel):
            return roots, model.states.at(roots)
        state = jax.vmap(lambda root: state_at(engine, root, dtype))(roots)
        return state, state

    def states_of(public: PyTree) -> PublicState:
        return model.states.at(public) if isinstance(model, ListedModel) else public

    def anywhere(state: SoundState, key: PRNGKey) -> PyTree:
        """Returns random public states [S]: any that is listed, or those of the episodes."""
        if isinstance(model, ListedModel):
            return jax.random.randint(key, (solvers,), 0, len(model.table.actor))
        some = jax.random.randint(key, (solvers,), 0, episodes)
        return jax.tree.map(lambda x: x[some], state.episodes.root)

    def searches(
        net: Net, state: SoundState, seats: Array, roots: PyTree, beliefs: Array, key: PRNGKey
    ) -> tuple[Grown, Queries]:
        """Returns the searches of all actors, then of all solvers."""
        each = jnp.arange(episodes)
        mine = jax.tree.map(lambda x: x[each, seats], state.episodes.seats)
        acting = jax.vmap(lambda state, seat: subgame_of(state, seat, resolver.alpha))(mine, seats)
        free = jax.tree.map(
            lambda x: _repeated(x, solvers), subgame_of(blank, jnp.int32(0), resolver.alpha)
        )
        free = free._replace(root=roots, ranges=beliefs)
        prior = None
        if net.module.actions:
            prior = policy_prior(net, temperature=chosen.temperature)

        def one(subgame: BeliefSubgame, key: PRNGKey) -> tuple[Grown, Queries]:
            return logged_search(search, net, subgame, key, prior=prior, slots=slots)

        return devices.vmap(one, chosen.abreast)(
            jax.tree.map(lambda *x: jnp.concatenate(x), acting, free),
            jax.random.split(key, episodes + solvers),
        )

    def counts(state: SoundState) -> dict[str, Array]:
        return {
            "searches": state.searches,
            "episodes": state.ended,
            "outcome": state.outcome / jnp.maximum(state.ended, 1),
            "queue": state.queue.waiting,
            "queries_lost": state.lost,
            "resigned": state.resigned,
            "cut": state.cut,
            "moves": state.moves / jnp.maximum(state.ended, 1),
        }

    numbers = (
        search.rounds,
        search.updates_per_round,
        search.simulations_per_round,
        search.exploration,
    )
    about = (
        f"{resolver.game}, {chosen}, {search.solver.name}, top {search.top}, "
        f"alpha {resolver.alpha}, search {[float(x) for x in numbers]}"
        + ("" if search.warm is None else f", warm {float(search.warm)}")
        + ("" if search.ask_every is None else f", asks every {int(search.ask_every)}")
        + (", skips what is solved" if search.skip_solved else "")
    )
    return Source(init, sample, episodes + solvers, states_of, counts, about)


def _repeated(array: Array, count: int) -> Array:
    return jnp.broadcast_to(array, (count, *jnp.shape(array))).copy()


def _split(tree: Any, count: int) -> tuple[Any, Any]:
    return jax.tree.map(lambda x: x[:count], tree), jax.tree.map(lambda x: x[count:], tree)

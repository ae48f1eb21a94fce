"""Sound self-play: episodes of continual re-solving, and their queries solved.

Source: Schmid et al. 2023 (Student of Games), "Data generation via sound self-play" and algorithm 2
of the supplement. Actors play episodes in which both seats re-solve (`_sound_play`); every search
logs what it asks the network, and some of that goes to a queue; solvers take queries from it, solve
them with fixed beliefs by GT-CFR, and send some queries of their own back. Examples are

- decisions of the episodes: the policy found, and with some probability the outcome as the value of
  the two private states that met (TD(1));
- solved queries: the values of both players, and the policy.

Actors and solvers search in one batch, so that there is one program of GT-CFR. Differs from the
paper in that all is synchronous: E decisions and S queries are one step, S chosen so that the queue
neither runs dry nor over in the mean; and in that nobody resigns, for these games are short.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.learn._data import Examples, Source, draw_beliefs
from jaxsolve.learn._sound_play import Lane, Memory, fresh_lane, play
from jaxsolve.learn._sound_search import Queries, logged_search
from jaxsolve.nets import Net, policy_prior
from jaxsolve.public import PublicState, Transitions
from jaxsolve.search.fixed import Gadget
from jaxsolve.search.growing import GrowingResolver, Grown
from jaxsolve.types import Array, PRNGKey

NEVER = 1 << 30
"""More decisions than any game has."""


@dataclasses.dataclass(frozen=True)
class SelfPlaySettings:
    """Settings of sound self-play; the names of table S2 of the paper.

    Attributes:
        episodes: E, side by side.
        solvers: S, queries solved in a step; by default as many as come in, in the mean.
        q_search: queries of an actor's search that are kept, in the mean.
        q_recursive: queries of a solver's search.
        epsilon: share of uniform play.
        p_td1: probability that the outcome becomes a target.
        greedy_after: decisions after which the likeliest action is played; never if None.
        temperature: of the prior, where the network has a policy head.
        queue: queries that can wait; the oldest go first when there are more.
        fill: solvers without a query solve random beliefs of a random public state. Not in the
            paper.
    """

    episodes: int = 32
    solvers: int | None = None
    q_search: float = 0.3
    q_recursive: float = 0.1
    epsilon: float = 0.0
    p_td1: float = 0.0
    greedy_after: int | None = None
    temperature: float = 1.0
    queue: int = 4096
    fill: bool = False

    @property
    def num_solvers(self) -> int:
        """S."""
        if self.solvers is not None:
            return self.solvers
        return math.ceil(self.episodes * self.q_search / (1 - self.q_recursive))


class Queue(NamedTuple):
    """Queries that wait, a ring (R at most).

    Attributes:
        subgame_class: int32 [R].
        beliefs: float [R, 2, H].
        taken: int32 [], where the oldest is.
        waiting: int32 [], how many.
    """

    subgame_class: Array
    beliefs: Array
    taken: Array
    waiting: Array


class SoundState(NamedTuple):
    """State of sound self-play.

    Attributes:
        step: int32 [].
        lanes: the episodes, leading axis E.
        queue: queries.
        ended: int32 [], episodes that are over.
        outcome: float [], sum of their outcomes to player 0.
        searches: int32 [], of actors and of solvers with something to solve.
        asked: int32 [2], queries sent by actors and by solvers.
        lost: int32 [], queries that found no room.
    """

    step: Array
    lanes: Lane
    queue: Queue
    ended: Array
    outcome: Array
    searches: Array
    asked: Array
    lost: Array


def sound_self_play(
    resolver: GrowingResolver, settings: SelfPlaySettings | None = None, **options: Any
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
    _check(chosen)
    table, search = resolver.table, resolver.search
    transitions: Transitions = table.device_transitions
    depth, lanes, solvers = search.model.depth, chosen.episodes, chosen.num_solvers
    slots = max(1, math.ceil(chosen.q_search), math.ceil(chosen.q_recursive))
    greedy_after = NEVER if chosen.greedy_after is None else chosen.greedy_after
    hands, dtype = table.num_hands, transitions.weight.dtype
    fresh = jnp.full((2, hands), 1 / hands, dtype)

    def init(key: PRNGKey) -> SoundState:
        zero = jnp.zeros((), jnp.int32)

        def lane(key: PRNGKey) -> Lane:
            return fresh_lane(transitions, search.capacity, resolver.way, depth, key)

        return SoundState(
            step=zero,
            lanes=jax.vmap(lane)(jax.random.split(key, lanes)),
            queue=Queue(
                jnp.zeros(chosen.queue, jnp.int32),
                jnp.broadcast_to(fresh, (chosen.queue, 2, hands)).copy(),
                jnp.copy(zero),
                jnp.copy(zero),
            ),
            ended=jnp.copy(zero),
            outcome=jnp.zeros((), dtype),
            searches=jnp.copy(zero),
            asked=jnp.zeros(2, jnp.int32),
            lost=jnp.copy(zero),
        )

    def sample(net: Net, state: SoundState, key: PRNGKey) -> tuple[Examples, SoundState]:
        names = ("search", "play", "count", "fill", "td")
        keys = dict(zip(names, jax.random.split(key, len(names)), strict=True))
        subgame_class, beliefs, there, queue = _pop(state.queue, solvers)
        if chosen.fill:
            which, how = jax.random.split(keys["fill"])
            drawn = jax.random.randint(which, subgame_class.shape, 0, table.num_classes)
            subgame_class = jnp.where(there, subgame_class, drawn)
            random = draw_beliefs(transitions.possible[subgame_class], how).astype(dtype)
            beliefs = jnp.where(there[:, None, None], beliefs, random)
        works = there | chosen.fill
        grown, queries = searches(net, state, subgame_class, beliefs, keys["search"])

        slot = state.step % depth
        acted, solved = _split(grown, lanes)
        after, played = jax.vmap(
            lambda lane, found, key: play(
                transitions,
                lane,
                found,
                slot,
                key,
                epsilon=chosen.epsilon,
                greedy_after=greedy_after,
            )
        )(state.lanes, acted, jax.random.split(keys["play"], lanes))
        sends = _counts(keys["count"], chosen, works, lanes, slots) & (queries.seen > 0)[:, None]
        queue, lost = _push(queue, queries, sends)
        td1 = jax.random.bernoulli(keys["td"], chosen.p_td1, (lanes,))
        examples = jax.tree.map(
            lambda *x: jnp.concatenate(x),
            _of_episodes(transitions, table.states, net, played.before, td1),
            _of_queries(table.states, net, solved, subgame_class, beliefs, works),
        )
        return examples, SoundState(
            step=state.step + 1,
            lanes=after,
            queue=queue,
            ended=state.ended + played.ended.sum(),
            outcome=state.outcome + played.outcome.sum(),
            searches=state.searches + lanes + works.sum(),
            asked=state.asked + jnp.stack([sends[:lanes].sum(), sends[lanes:].sum()]),
            lost=state.lost + lost,
        )

    def searches(
        net: Net, state: SoundState, subgame_class: Array, beliefs: Array, key: PRNGKey
    ) -> tuple[Grown, Queries]:
        """Returns the searches of all actors, then of all solvers."""
        seat = transitions.actor[state.lanes.subgame_class]
        each = jnp.arange(lanes)
        mine: Memory = jax.tree.map(lambda x: x[each, seat], state.lanes.memory._replace(tree=()))
        other = jnp.arange(2) == 1 - seat[:, None]
        on = jnp.pad(other & mine.bound[:, None], ((0, solvers), (0, 0)))
        promised = jnp.where(other[..., None], mine.promised[:, None], 0)
        promised = jnp.pad(promised, ((0, solvers), (0, 0), (0, 0)))
        path = jnp.pad(mine.path, ((0, solvers), (0, 0)), constant_values=-1)
        alpha = jnp.full(lanes + solvers, resolver.alpha, dtype)
        prior = None
        if net.module.actions:
            prior = policy_prior(net, temperature=chosen.temperature)

        def one(
            subgame_class: Array, ranges: Array, gadget: Gadget, path: Array, key: PRNGKey
        ) -> Any:
            return logged_search(
                search,
                net,
                subgame_class,
                ranges,
                key,
                gadget=gadget,
                path_to_focus=path,
                prior=prior,
                slots=slots,
            )

        return jax.vmap(one)(
            jnp.concatenate([mine.root, subgame_class]),
            jnp.concatenate([mine.ranges, beliefs]),
            Gadget(on, promised, alpha),
            path,
            jax.random.split(key, lanes + solvers),
        )

    def counts(state: SoundState) -> dict[str, Array]:
        return {
            "searches": state.searches,
            "episodes": state.ended,
            "outcome": state.outcome / jnp.maximum(state.ended, 1),
            "queue": state.queue.waiting,
            "queries_lost": state.lost,
        }

    numbers = (
        search.rounds,
        search.updates_per_round,
        search.simulations_per_round,
        search.exploration,
    )
    about = (
        f"{table.game.name}, {chosen}, {search.solver.name}, top {search.top}, "
        f"alpha {resolver.alpha}, search {[float(x) for x in numbers]}"
    )
    return Source(init, sample, lanes + solvers, table.states.at, counts, about)


def _of_episodes(
    transitions: Transitions, states: PublicState, net: Net, line: Any, td1: Array
) -> Examples:
    """Returns decisions of the episodes as examples; the policy counts, the outcome with `td1`."""
    met = line.pair[..., None] == jnp.arange(line.beliefs.shape[-1])
    h0, h1 = transitions.weight.shape[1:]
    pairs = transitions.weight[line.subgame_class]
    mass = [
        jnp.einsum("nab,nb->na", pairs, line.beliefs[:, 1, :h1]),
        jnp.einsum("nab,na->nb", pairs, line.beliefs[:, 0, :h0]),
    ]
    hands = line.beliefs.shape[-1]
    against = jnp.stack([jnp.pad(m, ((0, 0), (0, hands - m.shape[1]))) for m in mass], 1)
    # Counterfactual values hold the chance of meeting the opponent's beliefs.
    sign = jnp.asarray([1, -1], line.outcome.dtype)
    worth = line.outcome[:, None, None] * sign[:, None] * against
    weight = (line.made * td1)[:, None, None] * met
    return Examples(
        line.subgame_class,
        line.beliefs,
        jnp.where(met, worth, 0) / net.unit(states.at(line.subgame_class))[:, None, None],
        line.policy,
        weight,
        line.made,
    )


def _of_queries(
    states: PublicState,
    net: Net,
    solved: Grown,
    subgame_class: Array,
    beliefs: Array,
    works: Array,
) -> Examples:
    weight = works.astype(beliefs.dtype)
    values = solved.root_values / net.unit(states.at(subgame_class))[:, None, None]
    # What an idle solver finds must not stop a run.
    values = jnp.where(works[:, None, None], values, 0)
    every = jnp.broadcast_to(weight[:, None, None], values.shape)
    return Examples(subgame_class, beliefs, values, solved.average[:, 0], every, weight)


def _split(tree: Any, count: int) -> tuple[Any, Any]:
    return jax.tree.map(lambda x: x[:count], tree), jax.tree.map(lambda x: x[count:], tree)


def _counts(
    key: PRNGKey, settings: SelfPlaySettings, works: Array, lanes: int, slots: int
) -> Array:
    """Returns bool [E + S, L], which picks of each search are sent to the queue."""
    mean = jnp.where(
        jnp.arange(lanes + len(works)) < lanes, settings.q_search, settings.q_recursive
    )
    draw = jax.random.uniform(key, mean.shape)
    count = jnp.floor(mean) + (draw < mean - jnp.floor(mean))
    active = jnp.concatenate([jnp.ones(lanes, bool), works])
    return (jnp.arange(slots) < count[:, None]) & active[:, None]


def _pop(queue: Queue, count: int) -> tuple[Array, Array, Array, Queue]:
    """Returns (classes [S], beliefs [S, 2, H], whether there is one [S], what waits)."""
    each = jnp.arange(count)
    at = (queue.taken + each) % len(queue.subgame_class)
    there = each < queue.waiting
    number = jnp.minimum(queue.waiting, count)
    left = queue._replace(
        taken=(queue.taken + number) % len(queue.subgame_class), waiting=queue.waiting - number
    )
    subgame_class = jnp.where(there, queue.subgame_class[at], 0)
    return subgame_class, queue.beliefs[at], there, left


def _push(queue: Queue, queries: Queries, sends: Array) -> tuple[Queue, Array]:
    """Returns (what waits, how many were lost): the new ones [N, L] that are sent come last."""
    room, flat = len(queue.subgame_class), sends.reshape(-1)
    rank = jnp.cumsum(flat) - flat
    at = jnp.where(flat, (queue.taken + queue.waiting + rank) % room, room)
    count = queue.waiting + flat.sum()
    over = jnp.maximum(count - room, 0)
    return Queue(
        queue.subgame_class.at[at].set(queries.subgame_class.reshape(-1), mode="drop"),
        queue.beliefs.at[at].set(
            queries.beliefs.reshape(-1, *queries.beliefs.shape[2:]), mode="drop"
        ),
        (queue.taken + over) % room,
        count - over,
    ), over


def _check(settings: SelfPlaySettings) -> None:
    if settings.episodes < 1 or settings.queue < 1:
        raise ValueError(
            f"episodes={settings.episodes} and queue={settings.queue} must be positive"
        )
    if min(settings.q_search, settings.q_recursive) < 0:
        raise ValueError(
            f"q_search={settings.q_search} and q_recursive={settings.q_recursive} are numbers of "
            "queries, 0 or more"
        )
    if settings.solvers is None and settings.q_recursive >= 1:
        raise ValueError(
            f"with q_recursive={settings.q_recursive} every solved query makes as many new ones, "
            "and the queue never ends; use less than 1, or say how many solvers there are"
        )
    if settings.num_solvers < 0:
        raise ValueError(f"solvers={settings.solvers} must not be negative")
    for name in ("epsilon", "p_td1"):
        if not 0 <= getattr(settings, name) <= 1:
            raise ValueError(f"{name} is a share between 0 and 1, not {getattr(settings, name)}")
    if not settings.temperature > 0:
        raise ValueError(f"temperature must be positive, not {settings.temperature}")
    sent = settings.episodes * max(1, math.ceil(settings.q_search))
    sent += settings.num_solvers * max(1, math.ceil(settings.q_recursive))
    if settings.queue < sent:
        raise ValueError(f"a queue of {settings.queue} does not hold the {sent} queries of a step")

"""A search tree that grows: which public states are in it, and how a simulation adds more.

The tree grows into a subgame that is laid out whole, so that growing never moves an array: public
states carry masks (in the tree, opened), and rows of actions that lead outside are illegal. An
*opened* public state has regrets; one that is in the tree and not opened is on the *frontier*, and
a value function says what it is worth. Chance and terminal states come with what leads to them.

Source: Schmid et al. 2023 (Student of Games), "Search via growing-tree CFR" and algorithm 1. The
paper leaves open how values are scaled in PUCT and its constant: here values are in units of the
largest payoff of the subgame, which lie in -1..1, and the constant is AlphaZero's 1.25.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.search._beliefs import (
    PADDING,
    Nodes,
    Subgame,
    Subgames,
    _lists,
    _most,
    nodes_below,
    subgames,
)
from jaxsolve.tree._gather import GatherSum, float_type, take
from jaxsolve.tree._public_game import PublicGame, no_limit
from jaxsolve.types import CHANCE, Array, PRNGKey


class Ground(NamedTuple):
    """What a tree can grow into: a whole subgame (M public states, A actions, H hands).

    Attributes:
        game: the subgame, to the end of the game.
        parent: int32 [M]; the root's is the root.
        gate: int32 [M], the state after the last player's action on the way; the root's is the
            root. A state is in the tree exactly when its gate is.
        weight: float [M, H, H], probability of chance for each pair of hands, from 1 at the root.
        state_of: per player, int32 [S], the first public state that a sequence leads to; M for
            the empty sequence and the gadget's.
        hanging: per player, sequence <- public states that hang from it.
        scale: float [], the largest payoff.
        possible: bool [M, 2, H], hands that can be held.
    """

    game: Subgame
    parent: Array
    gate: Array
    weight: Array
    state_of: tuple[Array, Array]
    hanging: tuple[GatherSum, GatherSum]
    scale: Array
    possible: Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Grounds:
    """The grounds of several kinds of subgames, of one shape.

    Attributes:
        games: the subgames.
        rest: the other fields of `Ground`, stacked in the order of `games.row`.
        widest: the largest number of public states that can be on the frontier.
        gain: the most that opening one public state can add to the frontier.
    """

    games: Subgames
    rest: Any
    widest: int = dataclasses.field(metadata={"static": True})
    gain: int = dataclasses.field(metadata={"static": True})

    @property
    def num_hands(self) -> int:
        """H."""
        return int(self.rest[-1].shape[-1])

    def at(self, kind: Array) -> Ground:
        """Returns the ground of a kind (int32 [], traced)."""
        row = self.games.row[kind]
        return Ground(self.games.at(kind), *jax.tree.map(lambda x: take(x, row), self.rest))


class Growth(NamedTuple):
    """A tree, and what simulations have seen.

    Attributes:
        inside: bool [M], in the tree.
        opened: bool [M], with a policy; those inside that are not are the frontier.
        visits: float [M, A, H], simulations through each action of whoever acts.
        pending: float [M, A, H], those of them since the last regret update.
        prior: float [M, A, H], the last prior policy; uniform before the first.
        expanded: int32 [], simulations that have made the tree larger.
    """

    inside: Array
    opened: Array
    visits: Array
    pending: Array
    prior: Array
    expanded: Array


class Guide(NamedTuple):
    """What simulations go by, from the regret updates so far.

    Attributes:
        reach: per player, float [S, H], own reaches: the average over iterations.
        values: per player, float [S, H], counterfactual values of the last iteration.
        seen: per player, float [S, H], own reaches under which the other's values were computed.
    """

    reach: tuple[Array, Array]
    values: tuple[Array, Array]
    seen: tuple[Array, Array]


def grounds(game: PublicGame, *, kinds: Sequence[int] | np.ndarray | None = None) -> Grounds:
    """Returns what trees can grow into, for subgames of some kinds.

    Args:
        game: the public nodes.
        kinds: all by default. Arrays have the size of the largest, so group kinds of similar size.
    """
    chosen = np.arange(game.num_kinds) if kinds is None else np.unique(np.asarray(kinds))
    games = subgames(game, no_limit, kinds=chosen)
    nodes = [jax.device_get(games.at(jnp.int32(k)).nodes) for k in chosen]
    longest = [max(_most(n.at[i][: _count(n)].tolist()) for n in nodes) for i in range(2)]
    sizes = [p.num_sequences for p in games.at(jnp.int32(chosen[0])).tree.players]
    made = [_rest(game, int(k), n, sizes, longest) for k, n in zip(chosen, nodes, strict=True)]
    rest = jax.tree.map(lambda *x: jnp.stack([jnp.asarray(y) for y in x]), *made)
    reports = [_frontier_sizes(n) for n in nodes]
    return Grounds(games, tuple(rest), max(r[0] for r in reports), max(r[1] for r in reports))


def capacity_for(places: Grounds, simulations: int, *, focused: bool = False) -> int:
    """Returns how many public states can be on the frontier after so many simulations.

    Args:
        places: what trees grow into.
        simulations: of a search.
        focused: trees grow below another public state than the root, the way to which is opened.
    """
    opened = 1 + simulations + (places.games.depth if focused else 0)
    return min(places.widest, 1 + opened * max(places.gain - 1, 0))


def start_growth(ground: Ground, focus: Array, depth: int) -> Growth:
    """Returns the smallest tree: the way from the root to `focus` opened, that included.

    What leaves the way is on the frontier, and so are the public states after `focus`.

    Args:
        ground: where.
        focus: int32 [], a public state at which somebody acts.
        depth: longest path of public states.
    """
    nodes = ground.game.nodes
    size, width = nodes.child.shape

    def mark(_: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        opened, here = carry
        return opened.at[here].set(True), ground.parent[here]

    opened, _ = jax.lax.fori_loop(0, depth + 1, mark, (jnp.zeros(size, bool), focus))
    opened = opened.at[0].set(True) & (nodes.actor >= 0)
    inside = opened[ground.parent].at[0].set(True)[ground.gate] & _exists(nodes)
    hands = ground.weight.shape[-1]
    zeros = jnp.zeros((size, width, hands), ground.weight.dtype)
    legal = (nodes.child >= 0)[..., None]
    prior = legal / jnp.maximum(legal.sum(1, keepdims=True), 1)
    prior = jnp.broadcast_to(prior, zeros.shape).astype(zeros.dtype)
    return Growth(inside, opened, zeros, zeros, prior, jnp.zeros((), jnp.int32))


def frontier_of(ground: Ground, growth: Growth) -> Array:
    """Returns bool [M], the public states of the tree that a value function is asked about."""
    return growth.inside & ~growth.opened & (ground.game.nodes.actor >= 0)


def legal_sequences(ground: Ground, growth: Growth, player: int) -> Array:
    """Returns bool [S], the sequences of a player that stay in the tree."""
    outside = jnp.concatenate([growth.inside, jnp.ones(1, bool)])
    return outside[ground.state_of[player]]


def simulate(
    ground: Ground,
    growth: Growth,
    guide: Guide,
    key: PRNGKey,
    *,
    focus: Array,
    top: int | None,
    exploration: Any,
) -> Growth:
    """Returns the tree after one simulation from `focus`.

    Args:
        ground: where.
        growth: the tree.
        guide: reaches and values.
        key: draws hands, actions and chance.
        focus: int32 [], a public state that is opened.
        top: how many actions of a newly opened public state are added, best prior first; all of
            them if None.
        exploration: constant of PUCT.
    """
    nodes = ground.game.nodes
    deal, walk = jax.random.split(key)
    ranges = [guide.reach[i][nodes.at[i, focus]] for i in range(2)]
    joint = ground.weight[focus] * ranges[0][:, None] * ranges[1]
    pair = _draw(deal, jnp.where(joint.sum() > 0, joint, ground.weight[focus]).reshape(-1))
    hands = jnp.stack(jnp.divmod(pair, joint.shape[1]))

    def goes_on(carry: tuple[Array, Array, Array, Growth]) -> Array:
        _, here, missing, growth = carry
        ends = (nodes.child[here] < 0).all()
        closed = (nodes.actor[here] >= 0) & ~growth.opened[here]
        return ~ends & ~closed & (missing < 0)

    def step(carry: tuple[Array, Array, Array, Growth]) -> tuple[Array, Array, Array, Growth]:
        key, here, _, growth = carry
        key, mine = jax.random.split(key)
        child = nodes.child[here]
        legal = child >= 0
        odds = ground.weight[child, hands[0], hands[1]] * legal
        acts = nodes.actor[here] >= 0
        hand = hands[jnp.maximum(nodes.actor[here], 0)]
        chosen = selection(ground, growth, guide, here, hand, exploration)
        action = _draw(mine, jnp.where(acts, chosen, odds))
        one = acts.astype(growth.visits.dtype)
        growth = growth._replace(
            visits=growth.visits.at[here, action, hand].add(one),
            pending=growth.pending.at[here, action, hand].add(one),
        )
        there = child[action]
        return key, there, jnp.where(growth.inside[there], -1, there), growth

    start = (walk, focus, jnp.int32(-1), growth)
    _, here, missing, growth = jax.lax.while_loop(goes_on, step, start)
    hand = hands[jnp.maximum(nodes.actor[here], 0)]
    return _grown(ground, growth, here, missing, hand, top)


def selection(
    ground: Ground, growth: Growth, guide: Guide, here: Array, hand: Array, exploration: Any
) -> Array:
    """Returns float [A], pi_select of a hand: half PUCT, half the average policy of CFR.

    Args:
        ground: where.
        growth: the tree.
        guide: reaches and values.
        here: int32 [], an opened public state.
        hand: int32 [], of whoever acts there.
        exploration: constant of PUCT.
    """
    nodes = ground.game.nodes
    second = nodes.actor[here] == 1
    child, own = nodes.child[here], nodes.own[here]
    legal = child >= 0
    present = legal & growth.inside[child]

    def of(pair: tuple[Array, Array], at: Array) -> Array:
        return jnp.where(second, take(pair[1], at), take(pair[0], at))

    mean = jnp.where(present, of(guide.reach, own)[:, hand], 0)
    even = present / jnp.maximum(present.sum(), 1)
    total = mean.sum()
    average = jnp.where(total > 0, mean / jnp.where(total > 0, total, 1), even)

    pairs = ground.weight[here]
    against = jnp.where(second, pairs[:, hand], pairs[hand])
    other = nodes.at[1 - nodes.actor[here], here]
    theirs = jnp.where(second, take(guide.seen[0], other), take(guide.seen[1], other))
    mass = (against * theirs).sum()
    unit = mass * ground.scale
    worth = of(guide.values, own)[:, hand] / jnp.where(unit > 0, unit, 1)
    worth = jnp.where(present & (unit > 0), worth, 0)
    worth = jnp.where(present, worth, (average * worth).sum())
    visits, pending = growth.visits[here, :, hand], growth.pending[here, :, hand]
    # A simulation under way counts as one more visit, lost (Chaslot et al. 2008).
    settled = visits - pending
    worth = (worth * (1 + settled) - pending) / (1 + visits)
    bonus = exploration * growth.prior[here, :, hand] * jnp.sqrt(visits.sum()) / (1 + visits)
    best = jnp.argmax(jnp.where(legal, worth + bonus, -jnp.inf))
    puct = (jnp.arange(len(child)) == best).astype(average.dtype)
    return (puct + average) / 2


def _grown(
    ground: Ground, growth: Growth, here: Array, missing: Array, hand: Array, top: int | None
) -> Growth:
    """Opens the frontier state `here`, or adds the state `missing`, if either is there."""
    nodes = ground.game.nodes
    child = nodes.child[here]
    legal = child >= 0
    opens = (missing < 0) & legal.any() & (nodes.actor[here] >= 0) & ~growth.opened[here]
    wanted = legal
    if top is not None and top < child.shape[0]:
        score = jnp.where(legal, growth.prior[here, :, hand], -1.0)
        rank = jnp.argsort(jnp.argsort(-score, stable=True), stable=True)
        wanted = legal & (rank < top)
    size = growth.inside.shape[0]
    gates = growth.inside.at[jnp.where(opens & wanted, child, size)].set(True, mode="drop")
    gates = gates.at[jnp.where(missing >= 0, missing, size)].set(True, mode="drop")
    opened = growth.opened.at[jnp.where(opens, here, size)].set(True, mode="drop")
    larger = (opens | (missing >= 0)).astype(jnp.int32)
    return growth._replace(
        inside=gates[ground.gate] & _exists(nodes),
        opened=opened,
        expanded=growth.expanded + larger,
    )


def _draw(key: PRNGKey, odds: Array) -> Array:
    """Returns int32 [], an entry drawn from weights."""
    below = jnp.cumsum(odds)
    u = jax.random.uniform(key) * below[-1]
    return jnp.minimum((below <= u).sum(), len(odds) - 1).astype(jnp.int32)


def _exists(nodes: Nodes) -> Array:
    """Returns bool [M], False in padding."""
    return nodes.actor != PADDING


def _count(nodes: Nodes) -> int:
    return int((np.asarray(nodes.actor) != PADDING).sum())


def _rest(
    game: PublicGame, kind: int, nodes: Nodes, sizes: list[int], longest: list[int]
) -> tuple[Any, ...]:
    """Returns the fields of `Ground` after the first, in numpy arrays."""
    count, size = _count(nodes), len(nodes.actor)
    root = int(game.representative[kind])
    where = nodes_below(game, root, np.asarray(nodes.child))
    parent, gate = np.zeros(size, np.int32), np.zeros(size, np.int32)
    for m in range(count):
        below = nodes.child[m][nodes.child[m] >= 0]
        parent[below] = m
        gate[below] = below if nodes.actor[m] >= 0 else gate[m]
    gate[count:] = np.arange(count, size)
    hands = game.num_hands
    weight = np.zeros((size, hands, hands), float_type())
    weight[:count] = game.weight[where[:count]] / max(game.mass[root], 1e-300)
    possible = np.zeros((size, 2, hands), bool)
    possible[:count] = game.possible[where[:count]]
    state_of, hanging = [], []
    for i in range(2):
        at = np.asarray(nodes.at[i][:count])
        first = np.full(sizes[i], size, np.int32)
        first[at[::-1]] = np.arange(count - 1, -1, -1)
        first[:3] = size
        state_of.append(first)
        hanging.append(_lists(at, sizes[i], longest[i], size))
    scale = np.asarray(game.scale[kind], float_type())
    return parent, gate, weight, tuple(state_of), tuple(hanging), scale, possible


def _frontier_sizes(nodes: Nodes) -> tuple[int, int]:
    """Returns (the widest frontier, the most that opening one public state adds to it)."""
    count = _count(nodes)
    widest, near = np.zeros(count, int), np.zeros(count, int)
    gain = 0
    for m in reversed(range(count)):
        below = nodes.child[m][nodes.child[m] >= 0]
        widest[m], near[m] = widest[below].sum(), near[below].sum()
        if nodes.actor[m] >= 0:
            gain = max(gain, int(near[m]))
            if m:
                widest[m], near[m] = max(1, widest[m]), 1
        elif nodes.actor[m] != CHANCE:
            near[m] = 0
    return max(1, int(widest[0])), gain

"""Games of players who look one move ahead with the network, as examples for it.

Whoever acts opens the public state, asks the network what its children are worth at the beliefs
that follow, and plays each action by the log odds of winning after it: a softmax of
atanh(value) / temperature, that is sqrt(odds) ** (1 / temperature). Beliefs over the hidden number
are exact: Mr X's policy is known for every station, not only for his own. Each player plays any
legal move instead with some probability, which beliefs count, too. A game gives some of its public
states, those in which a number is being shown included, with its outcome as the target of the
station that Mr X was on.

So values are of a policy that is better than the one before, learned as it changes (policy
iteration); GT-CFR does the same with a tree. Not in the paper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from experiments.sog_scotland_yard._outcomes import Seen, outcome_source
from jaxsolve import devices, learn
from jaxsolve.nets import Net
from jaxsolve.public import HiddenPieceModel, HiddenRoot
from jaxsolve.regret import normalise
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey

SUREST = 0.995
"""Values beyond it, of either sign, count as it: nobody's chance is less than 1 in 400."""


class Opened(NamedTuple):
    """A public state and what follows (C children, A slots, H hidden numbers).

    Attributes:
        store: where the model keeps the public state, 0, and its children, 1 .. C.
        actor: int32 [], 0 also where a number is being shown.
        legal: bool [A, H]; player 1, who has one private state, has the same for each number.
        code: int32 [A, H], child * H + the number there; C * H where nothing follows.
        ends: bool [A, H], whether the game is over then.
        payoff: float [A, H], to player 0 where it is, in units of the largest, else 0.
    """

    store: Any
    actor: Array
    legal: Array
    code: Array
    ends: Array
    payoff: Array

    @property
    def even(self) -> Array:
        """float [A, H], all legal slots alike."""
        return self.legal / jnp.maximum(self.legal.sum(0), 1)

    def below(self, flow: Array) -> Array:
        """Returns float [C, H], the sum of a flow [A, H] that comes to each child and number."""
        size = len(self.store.roots.left) - 1, flow.shape[1]
        found = jnp.zeros(size[0] * size[1] + 1, flow.dtype).at[self.code].add(flow)
        return found[:-1].reshape(size)


def opened(model: HiddenPieceModel, root: HiddenRoot) -> Opened:
    """Returns what follows a public state.

    Args:
        model: of a game whose payoffs are never 0.
        root: the public state.
    """
    store, public = model.start(root, 1, root.weight.dtype)
    store, _ = model.open(store, public, jnp.int32(0), jnp.bool_(True))
    tables, kind, unit = model.tables, store.kind[0], root.weight.max() * model.rules.scale
    actor = tables.actor[kind]
    legal = jnp.where(actor == 1, store.legal[0][:, :1], store.legal[0]) & (root.weight > 0)
    payoff = store.payoff[0, ..., 0] / jnp.where(unit > 0, unit, 1)
    child, number = (x[kind].astype(jnp.int32) for x in (tables.child, tables.after))
    ends, hands = payoff != 0, model.hands[0]
    code = jnp.where(legal & ~ends, child * hands + number, model.num_children * hands)
    return Opened(store, actor, legal, code, ends, payoff)


def look_ahead(
    model: HiddenPieceModel, net: Net, here: Opened, belief: Array, temperature: Array
) -> Array:
    """Returns float [A, H], the policy of who acts.

    Args:
        model: of the game.
        net: says what children are worth.
        here: the public state, opened.
        belief: float [H], over the hidden number.
        temperature: float [2], of each player.
    """
    waits = here.actor == 1
    # Of player 1 each slot is a child; of player 0 children are what is seen of even play.
    flow = here.below(belief * jnp.where(waits, here.legal, here.even))
    mass = flow.sum(1)
    first = flow / jnp.where(mass > 0, mass, 1)[:, None]
    second = jnp.broadcast_to(jnp.arange(len(belief)) == 0, first.shape).astype(first.dtype)
    asked = model.public_state(here.store, 1 + jnp.arange(len(mass)))
    worth = net.output(asked, jnp.stack([first, second], 1)).values
    mine = jnp.append(worth[:, 0], 0)[here.code] + here.payoff
    child = here.code.min(1) // len(belief)  # of a slot of player 1's, whatever the number
    theirs = jnp.append(mass * worth[:, 1, 0], 0)[child] - (belief * here.payoff).sum(1)
    value = jnp.where(waits, theirs[:, None], mine)
    odds = jnp.arctanh(jnp.clip(value, -SUREST, SUREST)) / temperature[here.actor]
    most = odds.max(0, where=here.legal, initial=-jnp.inf)
    odds = jnp.where(here.legal, jnp.exp(jnp.minimum(odds - most, 0)), 0)
    return normalise(odds, here.legal)


class Ply(NamedTuple):
    """A game under way.

    Attributes:
        seen: its public state; the outcome is 0 until the game is over.
        on: bool [], it is not over.
    """

    seen: Seen
    on: Array


def play(
    model: HiddenPieceModel,
    net: Net,
    root: HiddenRoot,
    key: PRNGKey,
    *,
    temperature: Array,
    noise: Array,
) -> tuple[Array, Ply]:
    """Returns the outcome of one game to player 0, and all of its public states [depth, ...].

    Args:
        model: of the game.
        net: what both players ask.
        root: where the game begins.
        key: draws the number, and moves.
        temperature: float [2].
        noise: float [2], probability of any legal move.
    """
    hands = model.hands[0]

    def step(ply: Ply, draw: Array) -> tuple[Ply, Ply]:
        _, belief, number, _ = ply.seen
        here = opened(model, ply.seen.root)
        policy = look_ahead(model, net, here, belief, temperature)
        stray = noise[here.actor]
        policy = (1 - stray) * policy + stray * here.even
        at = pick(policy[:, number], draw), number
        child = jnp.minimum(here.code[at] // hands, model.num_children - 1)
        flow = here.below(belief * policy)[child]
        seen = Seen(
            jax.tree.map(lambda x: x[1 + child], here.store.roots),
            flow / jnp.where(flow.sum() > 0, flow.sum(), 1),
            here.code[at] % hands,
            here.payoff[at],
        )
        after = Ply(seen, ~here.ends[at])
        return jax.tree.map(lambda x, y: jnp.where(ply.on, x, y), after, ply), ply

    keys = jax.random.split(key)
    number = pick(root.weight, jax.random.uniform(keys[0]))
    belief = root.weight / root.weight.sum()
    start = Ply(Seen(root, belief, number, jnp.zeros((), belief.dtype)), jnp.bool_(True))
    end, plies = jax.lax.scan(step, start, jax.random.uniform(keys[1], (model.depth,)))
    return end.seen.outcome, plies


def look_ahead_games(
    model: HiddenPieceModel,
    root: HiddenRoot,
    *,
    games: int = 64,
    positions: int = 16,
    temperature: tuple[float, float] = (0.2, 0.05),
    noise: tuple[float, float] = (0.05, 0.05),
    abreast: int | None = 8,
) -> learn.Source:
    """Returns examples of values from games that are played for them, games x positions in a batch.

    Args:
        model: of the game.
        root: where a game begins.
        games: in a batch.
        positions: of a game, drawn with replacement.
        temperature: of each player.
        noise: probability of any legal move, of each player.
        abreast: games at a time.
    """
    sharp, stray = jnp.asarray(temperature), jnp.asarray(noise)

    def played(net: Net, key: PRNGKey) -> Seen:
        def one(number: Array) -> Seen:
            first, second = jax.random.split(jax.random.fold_in(key, number))
            outcome, plies = play(model, net, root, first, temperature=sharp, noise=stray)
            some = jax.random.uniform(second, (positions,)) * plies.on.sum()
            seen: Seen = jax.tree.map(lambda x: x[some.astype(jnp.int32)], plies.seen)
            return seen._replace(outcome=jnp.broadcast_to(outcome, (positions,)))

        return devices.vmap(one, abreast)(jnp.arange(games))

    return outcome_source(
        model,
        played,
        games=games,
        positions=positions,
        settings=f"one move ahead, temperatures {temperature}, noise {noise}",
    )

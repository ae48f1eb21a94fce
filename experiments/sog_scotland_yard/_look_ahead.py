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

from jaxsolve import devices, learn
from jaxsolve.nets import Net
from jaxsolve.public import HiddenPieceModel, HiddenRoot, PublicState
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey

SUREST = 0.995
"""Values beyond it, of either sign, count as it: nobody's chance is less than 1 in 400."""


class Look(NamedTuple):
    """A public state that is opened (C children, A slots, H hidden numbers).

    Attributes:
        store: where the model keeps the public state, 0, and its children, 1 .. C.
        waits: bool [], whether the number's owner does: player 1 acts, and has one private state.
        child: int32 [A, H], where each slot leads.
        number: int32 [A, H], the hidden number there.
        ends: bool [A, H], whether the game is over then.
        payoff: float [A, H], to player 0 where it is, else 0.
        even: float [A, H], all legal slots alike.
        policy: float [A, H], of who acts; of player 1 the same for each number.
    """

    store: Any
    waits: Array
    child: Array
    number: Array
    ends: Array
    payoff: Array
    even: Array
    policy: Array

    def below(self, belief: Array, policy: Array) -> Array:
        """Returns float [C, H], the chance of each child and number; what ends is left out."""
        size = len(self.store.roots.left) - 1, len(belief)
        code = jnp.where(self.ends | (self.even <= 0), size[0] * size[1], self.code)
        flow = jnp.zeros(size[0] * size[1] + 1, belief.dtype)
        return flow.at[code].add(belief * policy)[:-1].reshape(size)

    @property
    def code(self) -> Array:
        """int32 [A, H], child * H + number."""
        return self.child * self.child.shape[1] + self.number


def opened(model: HiddenPieceModel, root: HiddenRoot) -> Look:
    """Returns what follows a public state, under even play."""
    store, public = model.start(root, 1, root.weight.dtype)
    store, _ = model.open(store, public, jnp.int32(0), jnp.bool_(True))
    kind, chance = store.kind[0], root.weight.max()
    waits = model.tables.actor[kind] == 1
    legal = jnp.where(waits, store.legal[0][:, :1], store.legal[0]) & (root.weight > 0)
    payoff = store.payoff[0, ..., 0] / jnp.where(chance > 0, chance, 1)
    even = legal / jnp.maximum(legal.sum(0), 1)
    return Look(
        store=store,
        waits=waits,
        child=jnp.maximum(model.tables.child[kind], 0).astype(jnp.int32),
        number=model.tables.after[kind].astype(jnp.int32),
        ends=legal & (payoff != 0),
        payoff=payoff,
        even=even,
        policy=even,
    )


def look_ahead(
    model: HiddenPieceModel, net: Net, root: HiddenRoot, belief: Array, temperature: Array
) -> Look:
    """Returns a public state that is opened, and the policy of who acts there.

    Args:
        model: of the game, whose payoffs are never 0.
        net: says what children are worth, in units of 1.
        root: the public state.
        belief: float [H], over the hidden number.
        temperature: float [2], of each player.
    """
    look = opened(model, root)
    waits = look.waits
    # Of player 1 each slot is a child; of player 0 children are what is seen of even play.
    each = jnp.where(waits, (look.even > 0).astype(belief.dtype), look.even)
    flow = look.below(belief, each)
    mass = flow.sum(1)
    first = flow / jnp.where(mass > 0, mass, 1)[:, None]
    second = jnp.broadcast_to(jnp.arange(len(belief)) == 0, first.shape).astype(first.dtype)
    asked = model.public_state(look.store, 1 + jnp.arange(len(mass)))
    worth = net.output(asked, jnp.stack([first, second], 1)).values
    mine = jnp.where(look.ends, look.payoff, worth[:, 0].reshape(-1)[look.code])
    paid = -jnp.where(look.ends, belief * look.payoff, 0).sum(1)
    theirs = paid + (mass * worth[:, 1, 0])[look.child[:, 0]]
    odds = jnp.arctanh(jnp.clip(jnp.where(waits, theirs[:, None], mine), -SUREST, SUREST))
    legal = look.even > 0
    sharp = jnp.where(legal, odds / temperature[waits.astype(jnp.int32)], -jnp.inf)
    return look._replace(policy=jnp.where(legal, jax.nn.softmax(sharp, 0), 0))


class Ply(NamedTuple):
    """A game of which something is told.

    Attributes:
        root: the public state.
        belief: float [H].
        number: int32 [], the hidden one.
        on: bool [], the game is not over.
        outcome: float [], to player 0, 0 until it is.
    """

    root: HiddenRoot
    belief: Array
    number: Array
    on: Array
    outcome: Array


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

    def step(ply: Ply, draw: Array) -> tuple[Ply, Ply]:
        look = look_ahead(model, net, ply.root, ply.belief, temperature)
        stray = noise[look.waits.astype(jnp.int32)]
        policy = (1 - stray) * look.policy + stray * look.even
        slot = pick(policy[:, ply.number], draw)
        at = slot, ply.number
        flow = look.below(ply.belief, policy)[look.child[at]]
        after = Ply(
            jax.tree.map(lambda x: x[1 + look.child[at]], look.store.roots),
            flow / jnp.where(flow.sum() > 0, flow.sum(), 1),
            look.number[at],
            ~look.ends[at],
            jnp.where(look.ends[at], look.payoff[at], 0),
        )
        return jax.tree.map(lambda x, y: jnp.where(ply.on, x, y), after, ply), ply

    keys = jax.random.split(key)
    number = pick(root.weight, jax.random.uniform(keys[0])).astype(jnp.int32)
    belief = root.weight / root.weight.sum()
    start = Ply(root, belief, number, jnp.bool_(True), jnp.zeros((), belief.dtype))
    end, plies = jax.lax.scan(step, start, jax.random.uniform(keys[1], (model.depth,)))
    return end.outcome, plies


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
    size, hands = games * positions, model.hands[0]
    sharp, stray = jnp.asarray(temperature), jnp.asarray(noise)

    def told(roots: HiddenRoot) -> PublicState:
        return jax.vmap(lambda x: model.public_state(*model.start(x, 1, x.weight.dtype)))(roots)

    def sample(net: Net, state: Array, key: PRNGKey) -> tuple[learn.Examples, Array]:
        def one(number: Array) -> Ply:
            first, second = jax.random.split(jax.random.fold_in(key, number))
            outcome, plies = play(model, net, root, first, temperature=sharp, noise=stray)
            some = jax.random.uniform(second, (positions,)) * plies.on.sum()
            chosen: Ply = jax.tree.map(lambda x: x[some.astype(jnp.int32)], plies)
            return chosen._replace(outcome=jnp.broadcast_to(outcome, (positions,)))

        found = devices.vmap(one, abreast)(jnp.arange(games))
        plies: Ply = jax.tree.map(lambda x: x.reshape(size, *x.shape[2:]), found)
        numbers = jnp.arange(hands)
        alone = jnp.broadcast_to(numbers == 0, plies.belief.shape)
        met = jnp.stack([numbers == plies.number[:, None], alone], 1)
        beliefs = jnp.stack([plies.belief, alone.astype(plies.belief.dtype)], 1)
        worth = plies.outcome[:, None] * jnp.asarray([1.0, -1.0])
        policy = jnp.zeros((size, 0, hands), beliefs.dtype)
        weight = met.astype(beliefs.dtype)
        values = weight * worth[..., None]
        return learn.Examples(
            plies.root, beliefs, values, policy, weight, weight[:, 0, 0]
        ), state + games

    return learn.Source(
        init=lambda key: jnp.zeros((), jnp.int32),
        sample=sample,
        batch=size,
        public_state=told,
        counts=lambda state: {"episodes": state},
        settings=f"{model.format.game}, one move ahead, {games} x {positions}, {temperature}, "
        f"noise {noise}",
    )

"""Players who look one move ahead with the network.

Whoever acts opens the public state, asks the network what its children are worth at the beliefs
that follow from even play, and plays each action by the log odds of winning after it: a softmax of
atanh(value) / temperature, that is sqrt(odds) ** (1 / temperature). Not in the paper.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from experiments.sog_scotland_yard._settings import on_cpu
from jaxsolve.nets import Net
from jaxsolve.public import HiddenPieceModel, HiddenRoot
from jaxsolve.regret import normalise
from jaxsolve.types import Array

SIZES = ((6, 32), (16, 32), (6, 199))
"""(Children, hidden numbers of each) that most public states of London get along with."""

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

    def worth(self, values: Array) -> Array:
        """Returns float [A, H], to player 0, by values [C, H] of the children."""
        return jnp.append(values, 0)[self.code] + self.payoff

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


def asker(
    model: HiddenPieceModel, net: Net, here: Opened, children: int, numbers: int
) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Returns a function of what comes to each child and number, float [C, H].

    It returns (float [C], the sum of it, float [C, H] and [C], what the network says of values of
    either player at the beliefs that follow). Children are described once.

    Args:
        model: of the game.
        net: asked.
        here: the public state, opened.
        children: there are at most.
        numbers: possible in one of them at most.
    """
    counts, order = here.store.counts[1:], here.store.order[1:].astype(jnp.int32)
    some = jnp.argsort(counts == 0, stable=True)[:children]
    alone = jnp.broadcast_to(jnp.arange(numbers), (children, numbers))
    each = order[some, :numbers] if numbers < len(order[0]) else alone
    asked = model.public_state(here.store, 1 + some, jnp.stack([each, alone], 1))
    prepared = net.prepare(asked)

    def ask(flow: Array) -> tuple[Array, Array, Array]:
        mass = flow.sum(1)
        shares = flow / jnp.where(mass > 0, mass, 1)[:, None]
        beliefs = jnp.stack([shares[some[:, None], each], (alone == 0).astype(flow.dtype)], 1)
        worth = net.output(asked, beliefs, prepared).values
        first = jnp.zeros_like(flow).at[some[:, None], each].set(worth[:, 0])
        return mass, first, jnp.zeros_like(mass).at[some].set(worth[:, 1, 0])

    return ask


def sized(model: HiddenPieceModel, net: Net, here: Opened, run: Callable[[int, int], Any]) -> Any:
    """Returns run(children, numbers) of `asker`, of the first of `SIZES` that is enough.

    Of all children and numbers where the network needs them, and where programs do not run on a
    CPU: there, side by side, games would run all sizes.
    """
    most = model.num_children, model.hands[0]
    few = SIZES if net.takes_few and on_cpu() else ()
    sizes = list(dict.fromkeys((min(c, most[0]), min(n, most[1])) for c, n in (*few, most)))
    counts = here.store.counts[1:]
    fits = [((counts > 0).sum() <= c) & (counts.max() <= n) for c, n in sizes]
    return jax.lax.switch(
        jnp.argmax(jnp.stack(fits)), [functools.partial(run, c, n) for c, n in sizes]
    )


def look_ahead(
    ask: Callable[[Array], tuple[Array, Array, Array]],
    here: Opened,
    belief: Array,
    temperature: Array,
) -> Array:
    """Returns float [A, H], the policy of who acts.

    Args:
        ask: of the public state; see `asker`.
        here: the public state, opened.
        belief: float [H], over the hidden number.
        temperature: float [2], of each player.
    """
    waits = here.actor == 1
    # Of player 1 each slot is a child; of player 0 children are what is seen of even play.
    mass, first, second = ask(here.below(belief * jnp.where(waits, here.legal, here.even)))
    child = here.code.min(1) // len(belief)  # of a slot of player 1's, whatever the number
    theirs = jnp.append(mass * second, 0)[child] - (belief * here.payoff).sum(1)
    value = jnp.where(waits, theirs[:, None], here.worth(first))
    odds = jnp.arctanh(jnp.clip(value, -SUREST, SUREST)) / temperature[here.actor]
    most = odds.max(0, where=here.legal, initial=-jnp.inf)
    odds = jnp.where(here.legal, jnp.exp(jnp.minimum(odds - most, 0)), 0)
    return normalise(odds, here.legal)

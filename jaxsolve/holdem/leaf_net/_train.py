"""Training of a leaf network: examples from a blueprint, then a fit to them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.holdem._boards import hands_fit
from jaxsolve.holdem.leaf_net._examples import LeafExamples, leaf_examples
from jaxsolve.holdem.leaf_net._features import hand_features
from jaxsolve.holdem.leaf_net._network import LeafNet, Towers, leaf_net, name_of
from jaxsolve.holdem.limited import Beyond
from jaxsolve.types import Array, PRNGKey, PyTree

EXAMPLES = "examples of a leaf network"
CHUNK = 8
"""Flops between two checkpoints."""

STEPS = 1_500
"""Of a fit for each minute of its examples."""

BATCH = 64
RATE = 3e-3
"""Of Adam at the start; it falls to nothing, as a cosine."""

DELTA = 1.0
"""Of the Huber loss, in pots."""


def train(
    after: Beyond,
    *,
    minutes: float,
    out: Path,
    steps: int | None = None,
    rank: int = 16,
    width: int = 64,
    depth: int = 2,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
    progress: bool = True,
) -> LeafNet:
    """Returns a network of a blueprint's continuations after the flop.

    Args:
        after: the blueprint and its continuations, two players.
        minutes: for which examples are made; about a hundred come in a second.
        out: folder that keeps them; a training that was stopped goes on there.
        steps: of the fit, fifty to a hundred a second; `STEPS` for each minute by default.
        rank: numbers of a hand in the product.
        width: of the hidden layers.
        depth: how many.
        seed: of examples and parameters.
        clock: counts the minutes, in seconds.
        progress: show bars.

    Raises:
        ValueError: options make no sense, or the folder has examples of another blueprint.
    """
    if not 0 < minutes < np.inf or min(1 if steps is None else steps, rank, width, depth) < 1:
        raise ValueError("minutes are positive; steps, rank, width and depth are 1 or more")
    steps = max(round(STEPS * minutes), 1) if steps is None else steps
    kept = _made(after, minutes, out, seed, clock, progress)
    towers = Towers(after.continuations.count, rank, width, depth)
    net = leaf_net(jax.random.key(seed), towers, name_of(after))
    return fit(net, kept, steps=steps, seed=seed, progress=progress)


def fit(
    net: LeafNet, examples: LeafExamples, *, steps: int, seed: int = 0, progress: bool = True
) -> LeafNet:
    """Returns the network after so many steps of Adam on a Huber loss."""
    cards, which = _cards(examples)
    data = (*(jnp.asarray(x) for x in (which, *examples[1:])), jnp.asarray(cards))
    fits = jnp.asarray(hands_fit(), jnp.bfloat16)
    params, state = net.params, _optimizer(steps).init(net.params)
    keys = jax.random.split(jax.random.key(seed), steps)
    rounds = 100
    bar = tqdm(total=steps, disable=not progress, unit="step", desc="fit")
    for first in range(0, steps, rounds):
        some = keys[first : first + rounds]
        params, state, loss = _steps(net.towers, steps, params, state, data, fits, some)
        bar.update(len(some))
        bar.set_postfix_str(f"loss {float(loss):.4f}")
    bar.close()
    return LeafNet(net.towers, jax.tree.map(np.asarray, params), net.blueprint)


def leaf_errors(net: LeafNet, examples: LeafExamples) -> dict[str, float]:
    """Returns how far a network is off, over hands and continuations.

    Returns:
        "mae" and "huber" (delta 1), in pots; "mae_nothing", the first of a network that says that
        betting adds nothing.
    """
    cards, which = _cards(examples)
    fits = jnp.asarray(hands_fit(), jnp.bfloat16)
    total = np.zeros(4)
    for k in range(0, len(which), BATCH):
        rows = [jnp.asarray(x[k : k + BATCH]) for x in (which, *examples[1:])]
        found = _said(net.towers, net.params, jnp.asarray(cards), fits, *rows[:4])
        value, there = np.asarray(rows[4]), np.isfinite(rows[4])
        off = np.abs(np.where(there, np.asarray(found) - value, 0))
        huber = np.where(off <= DELTA, off**2 / 2, DELTA * (off - DELTA / 2))
        plain = np.abs(np.where(there, value, 0))
        total += [off.sum(), huber.sum(), plain.sum(), there.sum()]
    return dict(zip(("mae", "huber", "mae_nothing"), (total[:3] / total[3]).tolist(), strict=True))


def _optimizer(steps: int) -> optax.GradientTransformation:
    return optax.adam(optax.cosine_decay_schedule(RATE, steps))


def _made(
    after: Beyond, minutes: float, out: Path, seed: int, clock: Callable[[], float], progress: bool
) -> LeafExamples:
    """Returns examples of some minutes, those that are kept first."""
    header = {"kind": EXAMPLES, "blueprint": name_of(after), "seed": seed}
    parts: list[LeafExamples] = []
    spent = 0.0
    bar = tqdm(total=round(60 * minutes), disable=not progress, unit="s", desc="examples")
    while spent < 60 * minutes:
        path = out / f"{len(parts):05d}.npz"
        if path.exists():
            found, arrays = load_arrays(path, EXAMPLES)
            if any(found[name] != header[name] for name in header):
                raise ValueError(f"{out} has examples of another blueprint or seed; take a new one")
            parts.append(LeafExamples(**arrays))
            took = float(found["seconds"])
        else:
            begin = clock()
            part = leaf_examples(after, seed=seed * 1_000_003 + len(parts), flops=CHUNK)
            took = clock() - begin
            path.parent.mkdir(parents=True, exist_ok=True)
            save_arrays(path, {**header, "seconds": took}, part._asdict())
            parts.append(part)
        spent += took
        bar.update(min(round(spent), bar.total) - bar.n)
        bar.set_postfix_str(f"{sum(len(p.board) for p in parts):,} examples")
    bar.close()
    return LeafExamples(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def _cards(examples: LeafExamples) -> tuple[np.ndarray, np.ndarray]:
    """Returns (float32 [F, 1326, C] of the different flops, int32 [N] which of them)."""
    flops, which = np.unique(examples.board, axis=0, return_inverse=True)
    cards = [hand_features(tuple(int(c) for c in flop)) for flop in flops]
    return np.stack(cards), which.reshape(-1).astype(np.int32)


def _said(
    towers: Towers,
    params: PyTree,
    cards: Array,
    fits: Array,
    which: Array,
    betting: Array,
    hand: Array,
    other: Array,
) -> Array:
    """Returns float [N, T, k], what the network says of examples."""
    mine = cards[which[:, None], hand]
    theirs = cards[which[:, None], other]
    first, second = towers.apply(params, mine, theirs, betting)
    met = fits[hand[:, :, None], other[:, None]].astype(jnp.float32)
    met = met / jnp.maximum(met.sum(-1, keepdims=True), 1)
    return jnp.einsum("ntkr,ntr->ntk", first, jnp.einsum("ntu,nur->ntr", met, second))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _steps(
    towers: Towers,
    steps: int,
    params: PyTree,
    state: Any,
    data: tuple[Array, ...],
    fits: Array,
    keys: PRNGKey,
) -> tuple[PyTree, Any, Array]:
    """Returns (parameters, optimizer's state, mean loss) after a step for each key."""
    *examples, cards = data
    optimizer = _optimizer(steps)
    count, targets = examples[2].shape

    def loss(params: PyTree, key: PRNGKey) -> Array:
        first, second = jax.random.split(key)
        rows = jax.random.randint(first, (BATCH,), 0, count)
        some = jax.random.choice(second, targets, (min(64, targets),), replace=False)
        which, betting, hand, other, value = (x[rows] for x in examples)
        hand, value = hand[:, some], value[:, some]
        said = _said(towers, params, cards, fits, which, betting, hand, other)
        there = jnp.isfinite(value)
        off = optax.huber_loss(said, jnp.where(there, value, said), delta=DELTA)
        return off.sum() / jnp.maximum(there.sum(), 1)

    def step(carry: tuple[PyTree, Any], key: PRNGKey) -> tuple[tuple[PyTree, Any], Array]:
        params, state = carry
        lost, slope = jax.value_and_grad(loss)(params, key)
        change, state = optimizer.update(slope, state, params)
        return (optax.apply_updates(params, change), state), lost

    (params, state), losses = jax.lax.scan(step, (params, state), keys)
    return params, state, losses.mean()

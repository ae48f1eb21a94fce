"""Training: solve a batch, store it, update; all of it one compiled program.

Python runs the program some steps at a time, writes metrics and checkpoints (Orbax), and can resume
so that the curve is the same bit for bit: every random number comes from `fold_in(seed, step)`, and
the state of a run is one pytree, buffer and data source included. From a step on whose data or loss
is not finite the network stays as it is; the run stops there, and the last good state is on disk.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from tqdm import tqdm

from jaxsolve import devices, hosts
from jaxsolve.compiler import free_host_bytes
from jaxsolve.files import claim
from jaxsolve.learn._board import tensorboard
from jaxsolve.learn._checkpoints import Checkpoints
from jaxsolve.learn._data import Examples, Source
from jaxsolve.learn._plan import Plan, check_plan, optimiser, room_of
from jaxsolve.nets import Net
from jaxsolve.public import PublicState
from jaxsolve.types import Array, PRNGKey, PyTree
from jaxsolve.waiting import waiting

COPIES = 3
"""Of the buffer: before and after a part of the run, and while that is compiled or saved."""


class TrainState(NamedTuple):
    """Everything a run needs to go on.

    Attributes:
        step: int32 [], steps done.
        params: of the network.
        optimiser: state of the optimiser.
        source: state of the data source.
        buffer: the latest batches of examples, a ring, leading axes [batches, B].
        broken: int32 [], the first step that was not finite, -1 while all are.
    """

    step: Array
    params: PyTree
    optimiser: Any
    source: Any
    buffer: Examples
    broken: Array


class Trained(NamedTuple):
    """What a run leaves.

    Attributes:
        net: the network.
        curve: a row per measurement: step, examples, updates, seconds; loss, with that of values
            and of policies; mean age of the buffer's examples in steps; what the source counts;
            validation if asked.
        state: of the run.
    """

    net: Net
    curve: list[dict[str, float]]
    state: TrainState


class NonFiniteError(ValueError):
    """Training met a target or a loss that is not finite, or a target that has exploded."""


def train(
    net: Net,
    source: Source,
    plan: Plan,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    log_every: int = 50,
    callback: Callable[[dict[str, float]], None] | None = None,
    validate: Callable[[Net], dict[str, float]] | None = None,
    time_limit: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    progress: bool = True,
    start: TrainState | None = None,
    until: int | None = None,
) -> Trained:
    """Returns a trained network and its curve.

    Args:
        net: where to start.
        source: of examples.
        plan: settings.
        out: folder for `curve.csv` and checkpoints; with tensorboardX installed, also the same
            numbers for TensorBoard.
        resume: go on from the last checkpoint in `out`, if there is one.
        log_every: steps between measurements, each with a checkpoint where there is a folder.
        callback: called with each new row of the curve, such as `wandb.log` or any other logger's.
        validate: called with the network at each measurement; its numbers join the curve.
        time_limit: stop after so many seconds of training, in the middle of the plan.
        clock: what seconds are counted by; `time.process_time` counts those of all threads of this
            process, so that other work on the machine changes nothing.
        progress: show a bar on standard error.
        start: state to go on from, in place of a checkpoint.
        until: stop after so many steps, in the middle of the plan.

    Raises:
        ValueError: settings make no sense, the checkpoint is of another run, or another process
            writes to `out`.
        NonFiniteError: data or loss are not finite; names the batch. The last checkpoint is good.
        MemoryError: the buffer does not fit in the memory of this machine; says how much it needs.
    """
    check_plan(plan, source.batch)
    if start is None:
        check_memory(net, source, plan)
    devices.check_divides("examples of a minibatch", plan.minibatch)
    identity = _identity(net, source, plan)
    hosts.check_same_run(identity)
    first = hosts.is_first()
    progress = progress and first
    with waiting("compiling the first state", show=progress):
        state = init_train(net, source, plan) if start is None else start
        with devices.meshed():
            net, state = devices.replicate(net), _shared(state)
    curve: list[dict[str, float]] = []
    if resume and out is None:
        raise ValueError("resume=True needs out=, the folder of the run to continue")
    with claim(Path(out) if out is not None and first else None):
        saver = None if out is None else Checkpoints(Path(out), identity)
        if resume and saver is not None:
            state, curve = saver.load(state)
        seconds = curve[-1]["seconds"] if curve else 0.0
        last = plan.steps if until is None else min(until, plan.steps)
        board = tensorboard(Path(out)) if out is not None and first else None
        run = functools.partial(train_steps, source=source, plan=plan)
        bar = tqdm(total=last, initial=int(state.step), disable=not progress, unit="batch")
        while int(state.step) < last and (time_limit is None or seconds < time_limit):
            count = min(log_every, last - int(state.step))
            # Seconds of a curve are those of training; the program is compiled only once.
            with waiting(f"compiling {count} batches", show=progress), devices.meshed():
                train_steps.lower(net, state, source=source, plan=plan, count=count).compile()
            hosts.wait_for_all(f"step {int(state.step)} is compiled")
            begin = clock()
            with hosts.naming_lost(), devices.meshed():
                after, losses = jax.block_until_ready(run(net, state, count=count))
            spent = hosts.agreed(clock() - begin)
            seconds += spent
            if int(after.broken) >= 0:
                kept = "" if saver is None else f" The last good checkpoint is in {saver.folder}."
                raise NonFiniteError(
                    f"batch {int(after.broken)} has targets or a loss that are not finite, or "
                    f"targets beyond {plan.largest:g} times the largest payoff; training stopped, "
                    f"and no update was made from it.{kept} A smaller learning rate, or more "
                    "iterations of the solver, may help; so may a longer wait= of the game's model."
                )
            before, state = state, after
            bar.update(count)
            done = int(state.step)
            row = {
                "step": done,
                "examples": done * source.batch,
                "updates": done * plan.updates,
                "seconds": seconds,
                **{name: float(each.mean()) for name, each in losses.items()},
                "age": (min(done, room_of(plan, source.batch) // source.batch) - 1) / 2,
            }
            if source.counts is not None:
                found = {k: float(v) for k, v in source.counts(state.source).items()}
                if "searches" in found:
                    made = found["searches"] - float(source.counts(before.source)["searches"])
                    found["searches_per_second"] = made / spent
                row |= found
            if validate is not None:
                with waiting("validating", show=progress):
                    row |= validate(net.replace(devices.on_one(state.params)))
            bar.set_postfix(loss=f"{row['loss']:.3g}")
            curve.append(row)
            if board is not None:
                for name, number in row.items():
                    board.add_scalar(name, number, done)
            if saver is not None:
                saver.save(done, state, curve)
            if callback is not None:
                callback(dict(row))
        bar.close()
        if board is not None:
            board.close()
    return Trained(net.replace(devices.on_one(state.params)), curve, state)


@functools.partial(jax.jit, static_argnames="source")
def _first_batch(net: Net, key: PRNGKey, *, source: Source) -> Examples:
    made, drawn = jax.random.split(key)
    return jax.jit(source.sample)(net, source.init(made), drawn)[0]


def batch_shape(net: Net, source: Source) -> Any:
    """Returns shapes and types of a batch of examples; a source is traced only once."""
    return _first_batch.eval_shape(net, jax.random.key(0), source=source)


def example_bytes(net: Net, source: Source) -> int:
    """Returns the bytes of an example, which grow with private states times actions."""
    leaves = jax.tree.leaves(batch_shape(net, source))
    return sum(x.size * x.dtype.itemsize for x in leaves) // source.batch


def check_memory(net: Net, source: Source, plan: Plan) -> None:
    """Refuses a buffer for which the memory of this machine is too small, before any work.

    Where there is an accelerator the buffer is there, and nothing is checked.

    Raises:
        MemoryError: says how much it takes, and what would fit.
    """
    free = free_host_bytes()
    if jax.default_backend() != "cpu" or free is None:
        return
    each, room = example_bytes(net, source), room_of(plan, source.batch)
    needed = COPIES * each * room // jax.process_count()
    if needed > free:
        raise MemoryError(
            f"a buffer of {room:,} examples of {each / 1e3:,.0f} kB takes {needed / 2**30:.1f} GiB "
            f"with its copies, and {free / 2**30:.1f} GiB are free: use a buffer of "
            f"{room * free // needed:,} or less"
        )


def init_train(net: Net, source: Source, plan: Plan) -> TrainState:
    """Returns the state before the first step."""
    key = jax.random.key(plan.seed)
    batches = room_of(plan, source.batch) // source.batch
    shape = batch_shape(net, source)
    return TrainState(
        step=jnp.zeros((), jnp.int32),
        params=jax.tree.map(jnp.copy, net.params),
        optimiser=optimiser(plan).init(net.params),
        source=source.init(jax.random.fold_in(key, 0)),
        buffer=jax.tree.map(lambda x: jnp.zeros((batches, *x.shape), x.dtype), shape),
        broken=jnp.full((), -1, jnp.int32),
    )


@functools.partial(jax.jit, static_argnames=("source", "plan", "count"))
def train_steps(
    net: Net, state: TrainState, *, source: Source, plan: Plan, count: int
) -> tuple[TrainState, dict[str, Array]]:
    """Returns (state, losses, each [count]) after so many steps."""
    key = jax.random.key(plan.seed)

    def step(state: TrainState, _: None) -> tuple[TrainState, dict[str, Array]]:
        key_of_step = jax.random.fold_in(key, state.step + 1)
        after, losses = train_step(net, state, source, plan, key_of_step)
        return _shared(after), losses

    return jax.lax.scan(step, state, None, count)


def train_step(
    net: Net, state: TrainState, source: Source, plan: Plan, key: Array
) -> tuple[TrainState, dict[str, Array]]:
    """Returns (state, mean losses) after one batch of data and the updates that follow."""
    data_key, update_key = jax.random.split(key)
    # Jitted here and in `_first_batch`, so that it is traced once for both.
    fresh, data = jax.jit(source.sample)(net.replace(state.params), state.source, data_key)
    batches, batch = state.buffer.beliefs.shape[:2]
    slot = state.step % batches
    buffer = jax.tree.map(
        lambda ring, x: jax.lax.dynamic_update_index_in_dim(ring, x, slot, 0), state.buffer, fresh
    )
    filled = jnp.minimum(state.step + 1, batches) * batch

    def update(carry: tuple[PyTree, Any], key: Array) -> tuple[tuple[PyTree, Any], Any]:
        params, moments = carry
        which = jax.random.randint(key, (plan.minibatch,), 0, filled)
        # Each device computes the gradient of its share; GSPMD adds them up.
        examples = devices.spread(
            jax.tree.map(lambda ring: ring[which // batch, which % batch], buffer)
        )
        (_, parts), grads = jax.value_and_grad(losses_of, has_aux=True)(
            params, net, source.public_state(examples.public), examples, plan
        )
        change, moments = optimiser(plan).update(grads, moments, params)
        return (optax.apply_updates(params, change), moments), parts

    keys = jax.random.split(update_key, plan.updates)
    (params, moments), losses = jax.lax.scan(update, (state.params, state.optimiser), keys)
    # Comparisons with what is not a number are false.
    good = (jnp.abs(fresh.values) <= plan.largest).all() & jnp.isfinite(fresh.policy).all()
    good &= jnp.isfinite(losses["loss"]).all()
    go_on = good & (state.broken < 0)
    # Not the source and the buffer, which would be copied whole; nobody sees them after that.
    params, moments = jax.tree.map(
        lambda new, old: jnp.where(go_on, new, old),
        (params, moments),
        (state.params, state.optimiser),
    )
    broken = jnp.where(go_on | (state.broken >= 0), state.broken, state.step)
    after = TrainState(state.step + 1, params, moments, data, buffer, broken)
    return after, jax.tree.map(jnp.mean, losses)


def loss(params: PyTree, net: Net, state: PublicState, examples: Examples, plan: Plan) -> Array:
    """Returns float [], Huber loss of values and divergence of policies, means over hands.

    Args:
        params: of the network.
        net: the network; its own parameters are not used.
        state: the public states of the examples, leading axis B.
        examples: B of them.
        plan: settings.
    """
    return losses_of(params, net, state, examples, plan)[0]


def losses_of(
    params: PyTree, net: Net, state: PublicState, examples: Examples, plan: Plan
) -> tuple[Array, dict[str, Array]]:
    """Returns (loss, its parts by name: "loss", "value_loss" and "policy_loss", not weighed)."""
    found = net.replace(params).output(state, examples.beliefs)
    counted = state.possible.astype(found.values.dtype)
    if examples.value_weight is not None:
        counted = counted * examples.value_weight
    error = jnp.where(counted > 0, found.values - examples.values, 0)
    huber = (counted * optax.losses.huber_loss(error, delta=plan.huber)).sum()
    mass = counted.sum()
    parts = {"value_loss": huber / jnp.where(mass > 0, mass, 1)}
    total = plan.value_weight * parts["value_loss"]
    if plan.policy_weight:
        legal = examples.policy.sum(-1, keepdims=True) > 0
        logits = jnp.where(legal, found.policy_logits, -1e9)
        each = optax.losses.kl_divergence(
            jax.nn.log_softmax(logits, 1).swapaxes(1, 2), examples.policy.swapaxes(1, 2)
        ).mean(-1)
        weight = jnp.ones_like(each) if examples.policy_weight is None else examples.policy_weight
        mass = weight.sum()
        parts["policy_loss"] = (each * weight).sum() / jnp.where(mass > 0, mass, 1)
        total = total + plan.policy_weight * parts["policy_loss"]
    return total, {"loss": total} | parts


def _shared(state: TrainState) -> TrainState:
    """Returns the state as the devices hold it: games and examples in shares, the rest whole."""
    whole = devices.replicate(state._replace(source=(), buffer=()))  # type: ignore[arg-type]
    return whole._replace(
        source=devices.spread(state.source), buffer=devices.spread(state.buffer, axis=1)
    )


def _identity(net: Net, source: Source, plan: Plan) -> dict[str, Any]:
    """Returns what two runs must share for one to continue the other."""
    return {
        "game": net.format.game,
        "network": repr(net.module),
        "uniform_play": net.format.uniform_play,
        "batch": source.batch,
        "plan": repr(plan),
        "source": source.settings,
    }

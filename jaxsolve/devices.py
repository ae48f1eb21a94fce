"""Devices: one mesh with one axis, over which batches are cut.

A batch is anything with a leading axis: games, searches, episodes, examples, deals, boards. Within
`with use("all"):` the batched functions of this package cut that axis into equal shares, one for
each device. For example, 6 searches on 4 devices are padded to 8 by two more of the last, each
device makes 2, and the first 6 are returned. Every random number belongs to a member of the batch
and not to a device, so results are those of one device up to the order of sums.

JAX's own mesh (`jax.set_mesh`) is set around the compiled batches only: arrays that are made
between them stay on one device, and programs without a batch run there.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, PartitionSpec

from jaxsolve.types import Array

AXIS = "batch"
"""The axis of every mesh."""

Devices = int | Literal["all"] | Sequence[jax.Device]
"""How many devices, or which."""

T = TypeVar("T")

_MESH: contextvars.ContextVar[Mesh | None] = contextvars.ContextVar("mesh", default=None)
_FOR_CPU: contextvars.ContextVar[bool | None] = contextvars.ContextVar("for_cpu", default=None)


def make_mesh(devices: Devices = "all") -> Mesh:
    """Returns a mesh with one axis, `AXIS`.

    Args:
        devices: the first so many, "all" (of all hosts), or a list of them.

    Raises:
        ValueError: there are fewer devices than that; says how to get more.
    """
    if isinstance(devices, int) or devices == "all":
        here = jax.devices()
        wanted = len(here) if devices == "all" else int(devices)
        if not 1 <= wanted <= len(here):
            more = ""
            if here[0].platform == "cpu" and wanted > 1:
                more = f"; JAX_NUM_CPU_DEVICES={wanted} in the environment makes {wanted} of a CPU"
            raise ValueError(
                f"{wanted} devices asked for, but there are {len(here)} ({here[0].platform}): use "
                f'1 to {len(here)}, or "all"{more}'
            )
        if wanted < len(here) and jax.process_count() > 1:
            raise ValueError(
                f"{wanted} of {len(here)} devices asked for, but every host needs a share: use "
                '"all"'
            )
        devices = here[:wanted]
    return Mesh(np.asarray(devices), (AXIS,), axis_types=(AxisType.Auto,))


@contextlib.contextmanager
def use(devices: Devices = "all") -> Iterator[Mesh]:
    """Lets devices share the batches of everything in the block; see `make_mesh`."""
    mesh = make_mesh(devices)
    token = _MESH.set(mesh)
    try:
        yield mesh
    finally:
        _MESH.reset(token)


def use_always(devices: Devices) -> None:
    """Lets devices share all batches of this thread from now on."""
    _MESH.set(make_mesh(devices))


def chosen() -> Mesh | None:
    """Returns the mesh of `use`, None outside of it."""
    return _MESH.get()


def meshed() -> contextlib.AbstractContextManager[Any]:
    """Returns a context in which a batch is compiled and run: JAX's mesh is that of `use`."""
    mesh = chosen()
    return contextlib.nullcontext() if mesh is None else jax.set_mesh(mesh)


def parse_devices(text: str) -> Devices:
    """Returns a number of devices or "all", from the command line.

    Raises:
        ValueError: it is neither.
    """
    if text == "all":
        return "all"
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f'devices: {text!r} is neither "all" nor a positive number such as 4')
    return int(text)


def num_shares() -> int:
    """Returns into how many shares batches are cut here: 1 outside of `meshed`."""
    mesh = jax.sharding.get_abstract_mesh()
    if AXIS not in mesh.axis_names or AXIS in mesh.manual_axes:
        return 1
    return int(mesh.shape[AXIS])


def check_divides(what: str, size: int, shares: int | None = None) -> None:
    """Refuses a batch that the devices cannot share equally, where padding would change a mean.

    Args:
        what: is shared, such as "boards".
        size: of the batch.
        shares: devices; those of `use` by default.

    Raises:
        ValueError: names the two nearest sizes.
    """
    if shares is None:
        mesh = chosen()
        shares = 1 if mesh is None else mesh.size
    low = size // shares * shares
    if low != size or size < 1:
        near = f"{low} or {low + shares}" if low else f"{low + shares}"
        raise ValueError(f"{size} {what} cannot be shared by {shares} devices: use {near}")


def split(function: Callable[..., T]) -> Callable[..., T]:
    """Returns a function of batches, each device of the mesh computing its share.

    A batch that does not divide is padded with its last member. Nothing is exchanged between
    devices, so a loop ends on each device when its own members are done.

    Args:
        function: of pytrees with a common leading axis B, to a pytree with leading axis B. It may
            refer to other arrays; every device has them whole.
    """

    def of_batch(*batches: Any) -> T:
        shares = num_shares()
        if shares == 1:
            return function(*batches)
        size = jax.tree.leaves(batches)[0].shape[0]
        short = -size % shares
        if short:
            batches = jax.tree.map(
                lambda x: jnp.concatenate([x, jnp.repeat(x[-1:], short, 0)]), batches
            )
        spec = PartitionSpec(AXIS)
        found = jax.shard_map(function, in_specs=spec, out_specs=spec, check_vma=False)(*batches)
        cut: T = jax.tree.map(lambda x: x[:size], found) if short else found
        return cut

    return of_batch


def vmap(function: Callable[..., T], abreast: int | None = None) -> Callable[..., T]:
    """Returns `jax.vmap(function)`, its batch shared by the devices of the mesh; see `split`.

    Args:
        function: of one member.
        abreast: members side by side on a device, the others after these; all by default.
    """
    if abreast is None:
        return split(jax.vmap(function))

    def one_by_one(*batches: Any) -> T:
        found: T = jax.lax.map(lambda members: function(*members), batches)
        return found

    def in_turn(*batches: Any) -> T:
        # Padded, since a batch that is left over would be a second program.
        size = jax.tree.leaves(batches)[0].shape[0]
        width = min(abreast, size)
        rows = jnp.minimum(jnp.arange(-(-size // width) * width), size - 1).reshape(-1, width)
        found: T = jax.lax.map(
            lambda row: jax.vmap(function)(*jax.tree.map(lambda x: x[row], batches)), rows
        )
        return jax.tree.map(lambda x: x.reshape(rows.size, *x.shape[2:])[:size], found)

    return split(one_by_one if abreast == 1 else in_turn)


def spread(tree: T, axis: int = 0) -> T:
    """Returns arrays cut along an axis, where the number of devices divides it.

    The other arrays are whole on every device. Without a mesh nothing happens.
    """
    shares = num_shares()
    if shares == 1:
        return tree

    def spec(x: Any) -> PartitionSpec:
        cuts = x.ndim > axis and x.shape[axis] > 0 and x.shape[axis] % shares == 0
        return PartitionSpec(*[None] * axis, AXIS) if cuts else PartitionSpec()

    return _laid_out(tree, spec)


def replicate(tree: T) -> T:
    """Returns arrays that are whole on every device of the mesh."""
    if num_shares() == 1:
        return tree
    return _laid_out(tree, lambda x: PartitionSpec())


def fetch(tree: T) -> T:
    """Returns NumPy arrays in place of arrays that lie on several devices, or hosts."""

    def one(x: Any) -> Any:
        if not isinstance(x, jax.Array) or len(x.sharding.device_set) == 1:
            return x
        if x.is_fully_addressable or x.is_fully_replicated:
            return np.asarray(x)
        from jax.experimental import multihost_utils

        return multihost_utils.process_allgather(x, tiled=True)

    here: T = jax.tree.map(one, tree)
    return here


def on_one(tree: T) -> T:
    """Returns arrays that every device has whole, as arrays of the first device of this host.

    They are not bound to it, so that batches that devices share can be given them.
    """

    def one(x: Any) -> Any:
        many = isinstance(x, jax.Array) and len(x.sharding.device_set) > 1
        return jnp.asarray(np.asarray(x.addressable_data(0))) if many else x

    alone: T = jax.tree.map(one, tree)
    return alone


def _laid_out(tree: T, spec: Callable[[Any], PartitionSpec]) -> T:
    """Returns arrays laid out as a function of each says, inside of jit and outside."""

    def constrained(tree: T) -> T:
        laid: T = jax.tree.map(lambda x: jax.lax.with_sharding_constraint(x, spec(x)), tree)
        return laid

    return jax.jit(constrained, inline=True)(tree)


def by_platform(*, cpu: Callable[[], T], default: Callable[[], T]) -> T:
    """Returns what `cpu` finds in programs for CPUs, and what `default` finds in all others.

    It is `jax.lax.platform_dependent`, but that within one of the two the other is not asked, nor
    traced. So a function that has a `jax.jit` of its own, whose traces are kept, must not call this
    where it is called within.
    """
    known = _FOR_CPU.get()
    if known is not None:
        return cpu() if known else default()

    def within(for_cpu: bool, find: Callable[[], T]) -> Callable[[], T]:
        def found() -> T:
            token = _FOR_CPU.set(for_cpu)
            try:
                return find()
            finally:
                _FOR_CPU.reset(token)

        return found

    either: T = jax.lax.platform_dependent(cpu=within(True, cpu), default=within(False, default))
    return either


@jax.custom_batching.custom_vmap
def shared_max(number: Array) -> Array:
    """Returns the number itself; under vmap the largest of the batch, for all of them.

    A loop that ends there stays one loop under vmap, without a selection of all that it changes.
    """
    return number


@shared_max.def_vmap
def _shared_max(size: int, batched: Any, number: Array) -> tuple[Array, bool]:
    return (number.max() if batched[0] else number), False


@jax.custom_batching.custom_vmap
def batched_like(tree: T, like: Any) -> T:
    """Returns a pytree itself; under vmap all of it with the axis of the batch, if `like` has it.

    A loop that begins so is traced once. Otherwise JAX traces it until it knows what comes to have
    that axis, and loops within it as often for each time.
    """
    return tree


@batched_like.def_vmap
def _batched_like(size: int, batched: Any, tree: T, like: Any) -> tuple[T, Any]:
    if not any(jax.tree.leaves(batched[1])):
        return tree, batched[0]

    def one(x: Array, has: bool) -> Array:
        return x if has else jnp.broadcast_to(x, (size, *x.shape))

    return jax.tree.map(one, tree, batched[0]), jax.tree.map(lambda _: True, batched[0])

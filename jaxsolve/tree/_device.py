"""Moving an assembled tree to the device, after saying how large it is."""

from __future__ import annotations

import jax

from jaxsolve.tree._memory import check_fits, run_bytes
from jaxsolve.tree._public_tree import PublicTree


def to_device(tree: PublicTree, name: str) -> PublicTree:
    """Returns a tree of numpy arrays as one of device arrays.

    Raises:
        MemoryError: the device has less memory free; says how much is needed.
    """
    entries = sum(p.num_sequences * p.num_hands for p in tree.players)
    tensors = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(tree))
    check_fits(
        name,
        run_bytes(entries, tensors=tensors),
        what=f"{entries:,} sequences; tensors take {tensors / 2**20:.2f} MiB of it",
        instead="Choose smaller parameters, or a device with more memory.",
    )
    # Not `jnp.asarray`, which compiles a program for each shape.
    return jax.device_put(tree)

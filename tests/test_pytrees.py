"""Dataclasses as pytrees: what is a child, what is structure, and that classes are told apart."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import pytest

import jaxsolve as js
from games import Kuhn
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class Scaled:
    size: int = dataclasses.field(metadata={"static": True})
    array: Array
    note: str | None = dataclasses.field(default=None, metadata={"dropped": True})

    def __call__(self) -> Array:
        return self.size * self.array


@pytree
@dataclasses.dataclass(frozen=True)
class Negated(Scaled):
    def __call__(self) -> Array:
        return -super().__call__()


def test_children_structure_and_what_does_not_travel():
    one = Scaled(3, jnp.arange(2.0), "mine")
    leaves, structure = jax.tree.flatten(one)
    assert len(leaves) == 1
    back = jax.tree.unflatten(structure, leaves)
    assert (back.size, back.note, list(back.array)) == (3, None, [0, 1])
    ((path, _),) = jax.tree.leaves_with_path(one)
    assert jax.tree_util.keystr(path) == ".array"
    assert structure == jax.tree.structure(dataclasses.replace(one, note=None))
    assert structure != jax.tree.structure(dataclasses.replace(one, size=4))
    doubled = jax.vmap(lambda x: x(), in_axes=(Scaled(3, 0),))(one)
    assert list(doubled) == [0, 3]


def test_classes_of_equal_fields_are_told_apart():
    """Or a function compiled for one of them is run for the other, now and then."""
    one, other = Scaled(3, jnp.ones(())), Negated(3, jnp.ones(()))
    assert jax.tree.structure(one) != jax.tree.structure(other)
    with pytest.raises(TypeError, match="true_fun"):
        jax.lax.cond(True, lambda: one, lambda: other)
    call = jax.jit(lambda x: x())
    assert (call(one), call(other)) == (3, -3)


def test_trees_and_policies_leave_their_names_behind():
    tree = js.compile(Kuhn())
    same = jax.tree.map(lambda x: x, tree)
    assert tree.names is not None
    assert same.names is None
    assert jax.tree.structure(same) == jax.tree.structure(tree)
    assert jax.tree.map(lambda x: x, js.uniform_policy(tree)).names is None

"""A search tree that grows: fixed capacity, flat arrays, parents before children.

*Opened* public states are numbered in the order in which they were opened, and have regrets and a
policy. A child of an opened public state that is not opened itself is a *leaf*; a value function
gives its values. A simulation walks down from the focus and opens the leaf it comes to. What
follows an opened public state is read from `Transitions` of the model.

Example: Kuhn poker (see `public._transitions`) with capacity for I = 4 opened public states and C =
2 children, after the root and then the child after a bet were opened:

    number  row  up  step  inside           opened        note
    0       0    0   2     [True, True]     [-1, 1]       step C = 2: the root
    1       2    0   1     [False, False]   [-1, -1]      nothing follows a bet but ends
    2, 3    0    0   2     [False, False]   [-1, -1]      not opened yet

`num_opened` is 2. The one leaf is child 0 of number 0, the public state after a pass: `num_leaves`
is 1 and `leaf[0]` is 0 * C + 0 = 0. Opening it makes number 2, with row 1, up 0, step 0 and one
leaf of its own, `leaf[0]` = 2 * C + 0 = 4; `opened[0]` becomes [2, 1].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.public import Transitions
from jaxsolve.tree import take
from jaxsolve.types import Array


class Growth(NamedTuple):
    """A tree, and what simulations have seen (I opened public states at most, L leaves at most).

    Attributes:
        num_opened: int32 [], public states that are opened.
        num_leaves: int32 [].
        fresh: int32 [], leaves from this one on may be new since the last regret update.
        row: int32 [I], row of each in `Transitions`.
        public: int32 [I], number of the public state in the model.
        up: int32 [I], the parent.
        step: int32 [I], which child of the parent; C of the root, and where nothing is.
        opened: int32 [I, C], number of each opened child; -1 of leaves and outside of the tree.
        inside: bool [I, C], children that are in the tree.
        leaf: int32 [L], parent * C + child.
        allowed: bool [I, A, H], actions that stay in the tree.
        visits: float [I, A, H], simulations through each action.
        pending: float [I, A, H], those of them since the last regret update.
        prior: float [I, A, H].
        expanded: int32 [], simulations that have made the tree larger.
        done: bool [I], public states below which nothing is left to open.
        store: what the model keeps of opened public states; None where all are listed.
    """

    num_opened: Array
    num_leaves: Array
    fresh: Array
    row: Array
    public: Array
    up: Array
    step: Array
    opened: Array
    inside: Array
    leaf: Array
    allowed: Array
    visits: Array
    pending: Array
    prior: Array
    expanded: Array
    done: Array
    store: Any

    @property
    def num_children(self) -> int:
        """C."""
        return int(self.inside.shape[-1])


def empty(
    transitions: Transitions, root: Array, capacity: int, tile: int, store: Any, dtype: Any
) -> Growth:
    """Returns a tree without public states, with room for some that are opened."""
    width, actions, hands = transitions.num_children, transitions.num_actions, transitions.num_hands
    zero = jnp.zeros((), jnp.int32)
    each = jnp.zeros(capacity, jnp.int32)
    leaves = -(-capacity * width // tile) * tile
    numbers = jnp.zeros((capacity, actions, hands), dtype)
    return Growth(
        num_opened=zero,
        num_leaves=zero,
        fresh=zero,
        row=each,
        public=each.at[0].set(root),
        up=each,
        step=each + width,
        opened=jnp.full((capacity, width), -1, jnp.int32),
        inside=jnp.zeros((capacity, width), bool),
        leaf=jnp.zeros(leaves, jnp.int32),
        allowed=jnp.zeros(numbers.shape, bool),
        visits=numbers,
        pending=numbers,
        prior=numbers,
        expanded=zero,
        done=jnp.zeros(capacity, bool),
        store=store,
    )


def add(
    transitions: Transitions,
    growth: Growth,
    up: Array,
    child: Array,
    public: Array,
    row: Array,
    prior: Array,
    wanted: Array,
    go: Array,
) -> Growth:
    """Returns the tree with one more opened public state, its children leaves.

    Args:
        transitions: of the model.
        growth: the tree.
        up: int32 [], the parent.
        child: int32 [], which child of it, a leaf; C for the root.
        public: int32 [], number of the public state.
        row: int32 [], its row.
        prior: float [A, H].
        wanted: bool [A], actions whose children come into the tree.
        go: bool [], False leaves the tree as it is.
    """
    width, size = growth.num_children, growth.row.shape[0]
    there, new = jnp.where(go, up, size), jnp.where(go, growth.num_opened, size)
    inside = follows(transitions, row, wanted)
    # The last leaf takes the place of the one that is opened, and the new ones come after it.
    root = child == width
    gone = jnp.argmax(growth.leaf == up * width + child)
    left = growth.num_leaves - jnp.where(root, 0, 1)
    leaf = growth.leaf.at[jnp.where(go & ~root, gone, growth.leaf.shape[0])].set(
        growth.leaf[left], mode="drop"
    )
    fresh = jnp.where(gone < growth.fresh, jnp.minimum(growth.fresh, left), growth.fresh)
    # A leaf moved from behind `fresh` is new itself.
    fresh = jnp.where((left >= growth.fresh) & ~root, jnp.minimum(fresh, gone), fresh)
    leaf, leaves = _append(leaf, left, inside & go, growth.num_opened * width + jnp.arange(width))
    return growth._replace(
        num_opened=growth.num_opened + go,
        num_leaves=jnp.where(go, leaves, growth.num_leaves),
        fresh=jnp.where(go, fresh, growth.fresh),
        row=_put(growth.row, new, row),
        public=_put(growth.public, new, public),
        up=_put(growth.up, new, up),
        step=_put(growth.step, new, child),
        opened=growth.opened.at[there, child].set(growth.num_opened, mode="drop"),
        inside=_put(growth.inside, new, inside),
        leaf=leaf,
        allowed=_put(growth.allowed, new, allowed_of(transitions, row, inside)),
        prior=_put(growth.prior, new, prior),
    )


def add_children(
    transitions: Transitions, growth: Growth, node: Array, more: Array, go: Array
) -> Growth:
    """Returns the tree with more children of an opened public state, as leaves.

    Args:
        transitions: of the model.
        growth: the tree.
        node: int32 [], the public state.
        more: bool [C].
        go: bool [], False leaves the tree as it is.
    """
    width, size = growth.num_children, growth.row.shape[0]
    new = more & ~growth.inside[node] & go
    inside = growth.inside[node] | new
    leaf, leaves = _append(growth.leaf, growth.num_leaves, new, node * width + jnp.arange(width))
    at = jnp.where(go, node, size)
    return growth._replace(
        num_leaves=leaves,
        inside=_put(growth.inside, at, inside),
        leaf=leaf,
        allowed=_put(growth.allowed, at, allowed_of(transitions, growth.row[node], inside)),
    )


def settle(transitions: Transitions, growth: Growth, node: Array, go: Array) -> Growth:
    """Returns the tree with `done` as it is after an opened public state (int32 []) has come."""
    size, width = growth.row.shape[0], growth.num_children

    def ends(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        done, here = carry
        done = done.at[here].set(True)
        up = jnp.where(growth.step[here] < width, growth.up[here], size)
        return done, up

    def goes_on(carry: tuple[Array, Array]) -> Array:
        done, here = carry
        return (here < size) & ~left_to_open(
            transitions, growth, done, jnp.minimum(here, size - 1)
        ).any()

    done = growth.done.at[jnp.where(go, node, size)].set(False, mode="drop")
    done, _ = jax.lax.while_loop(goes_on, ends, (done, jnp.where(go, node, size)))
    return growth._replace(done=done)


def left_to_open(transitions: Transitions, growth: Growth, done: Array, node: Array) -> Array:
    """Returns bool [C], children of an opened public state below which something is left to open.

    Args:
        transitions: of the model.
        growth: the tree.
        done: bool [I].
        node: int32 [].
    """
    below = growth.opened[node]
    return (transitions.child[growth.row[node]] >= 0) & ((below < 0) | ~done[jnp.maximum(below, 0)])


def follows(transitions: Transitions, row: Array, actions: Array) -> Array:
    """Returns bool [C], the children that some actions (bool [A]) lead to."""
    codes = transitions.child_of_action[row]
    hit = (codes // transitions.num_hands)[..., None] == jnp.arange(transitions.num_children)
    return (hit & actions[:, None, None, None]).any((0, 1, 2)) & (transitions.child[row] >= 0)


def allowed_of(transitions: Transitions, row: Array, inside: Array) -> Array:
    """Returns bool [A, H], legal actions that lead to nothing outside of the tree."""
    ends = transitions.child[row] < 0
    there = jnp.append(inside | ends, True)
    there = there[transitions.child_of_action[row] // transitions.num_hands]
    return take(transitions.legal, row) & there.all(-1)


def _put(array: Array, at: Array, value: Array) -> Array:
    return array.at[at].set(value, mode="drop")


def _append(leaf: Array, count: Array, new: Array, codes: Array) -> tuple[Array, Array]:
    """Returns the list of leaves with some more, and how many there are now."""
    rank = jnp.cumsum(new) - new
    at = jnp.where(new, count + rank, leaf.shape[0])
    return leaf.at[at].set(codes, mode="drop"), count + new.sum()

"""A sweep of hyper-parameters in one compiled program: the loop of CFR under `jit` and `vmap`.

    python examples/sweep.py

solves Kuhn poker with twelve discounts of DCFR side by side, then with four stakes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

import jaxsolve as js
from jaxsolve.solvers import average_policy, init_state, run

tree = js.compile("kuhn")


@jax.jit
@jax.vmap
def gap_of(alpha: jax.Array, gamma: jax.Array) -> jax.Array:
    """Returns the exploitability after 100 iterations; hyper-parameters are traced."""
    solver = js.dcfr(alpha=alpha, gamma=gamma)
    state = run(tree, solver, init_state(tree, solver), jnp.int32(100), jnp.int32(100))
    return js.exploitability(tree, average_policy(tree, state))


alphas, gammas = jnp.meshgrid(jnp.linspace(0.5, 3.0, 4), jnp.array([1.0, 2.0, 4.0]))
gaps = gap_of(alphas.ravel(), gammas.ravel())
best = int(gaps.argmin())
print(f"alpha {alphas.ravel()[best]:.2f}, gamma {gammas.ravel()[best]:.0f}: {gaps[best]:.2e}")


@jax.jit
@jax.vmap
def value_of(scale: jax.Array) -> jax.Array:
    """Returns player 0's value where all payoffs are multiplied; trees are pytrees, too."""
    scaled = tree.replace(leaves=tuple(leaf.with_scale(scale) for leaf in tree.leaves))
    solver = js.cfr_plus()
    state = run(scaled, solver, init_state(scaled, solver), jnp.int32(100), jnp.int32(100))
    return js.expected_values(scaled, average_policy(scaled, state))[0]


print("values:", value_of(jnp.arange(1.0, 5.0)))

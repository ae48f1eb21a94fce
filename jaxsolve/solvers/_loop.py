"""The CFR loop over a whole tree, of tabular and sampled solvers.

One iteration updates every player once. Player i adds its reach to its running average, receives
counterfactual values from the leaves, sweeps them up, hands them to the minimizer, and sweeps its
new reach down. A sampled solver differs in one step: its sampler estimates the counterfactual
values. Averages stay exact, for every player: own reaches are known without sampling. All of a run
between two measurements is one `lax` loop in one `jit`; the tree, the solver's hyper-parameters and
the number of iterations are arguments, so nothing is traced again.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.regret import Step, normalise
from jaxsolve.solvers._levels import Carry, iterate_levels, policy_of, sweeps_levels
from jaxsolve.solvers._solver import Solver
from jaxsolve.tree import (
    Blocks,
    PlayerTree,
    Policy,
    PublicTree,
    apply_locks,
    check_policy,
    leaf_values,
    reach_of,
    split_blocks,
    uniform,
    values_of,
)
from jaxsolve.types import Array


class SolveState(NamedTuple):
    """Everything a run needs to go on (per player, in order of players).

    Attributes:
        iteration: int32 [], iterations done.
        minimizer: per block, the minimizer's state; one for all sequences of a player [E, H] where
            `sweeps_levels`.
        policy: blocks [A, N, ...] of the next iteration.
        reach: [S, ...], own reach of every sequence under `policy`.
        average: weighted mean of own reaches.
        nodes: uint32 [2], world states that samples have touched, low word first; () in a solver
            that samples nothing.
    """

    iteration: Array
    minimizer: tuple[tuple[Any, ...], ...]
    policy: tuple[Blocks, ...]
    reach: tuple[Array, ...]
    average: tuple[Mean, ...]
    nodes: Any = ()


class Mean(NamedTuple):
    """A running mean whose rounding errors are carried along (Kahan summation).

    Late iterations change the mean by less than float32 can see, and a plain sum then drifts:
    PCFR+ on Leduc got worse again after 20,000 iterations. See docs/precision.md.

    Attributes:
        mean: [S, ...], weighted mean of own reaches.
        lost: [S, ...], the rounding error of `mean` so far, taken off the next step; () where it is
            not carried along (`sweeps_levels`).
        weight: float [...], total weight in units of the last iteration's; [] likewise.
    """

    mean: Array
    lost: Any
    weight: Array

    def add(self, value: Array, decay: Array) -> Mean:
        """Returns the mean with a value of weight 1 after all earlier weights times `decay`."""
        weight = self.weight * decay + 1
        step = (value - self.mean) / weight - self.lost
        mean = self.mean + step
        return Mean(mean, (mean - self.mean) - step, weight)


def init_state(tree: PublicTree, solver: Solver, policy: Policy | None = None) -> SolveState:
    """Returns the state before the first iteration.

    Args:
        tree: the game.
        solver: the variant.
        policy: where to start; uniform by default.

    Raises:
        AssertionError: the policy has not the shapes of the tree.
        ValueError: there is one, and the loop would take it from the regrets (`sweeps_levels`).
    """
    by_levels = sweeps_levels(tree, solver)
    if policy is not None:
        check_policy(tree, policy.players)
        if by_levels:
            raise ValueError(
                f"{solver.name} starts from the uniform policy on a tree for accelerators; make "
                'the tree in another form, such as spot_tree(spot, operator="prefix"), or '
                'jaxsolve.tree.laid_out(tree, "cpu")'
            )
    start = policy.players if policy is not None else tuple(uniform(p) for p in tree.players)
    start = tuple(apply_locks(p, b) for p, b in zip(tree.players, start, strict=True))
    reach = tuple(reach_of(p, b) for p, b in zip(tree.players, start, strict=True))
    # `run` donates its state, which must therefore share no buffer with the caller's policy, nor
    # with the tree (the reach of a player who never acts is the tree's own array).
    start, reach = jax.tree.map(jnp.copy, (start, reach))
    if by_levels:
        return _state_of_levels(tree, solver, start, reach)
    return SolveState(
        iteration=jnp.zeros((), jnp.int32),
        minimizer=tuple(tuple(solver.minimizer.init(b) for b in blocks) for blocks in start),
        policy=start,
        reach=reach,
        average=tuple(
            Mean(jnp.zeros_like(r), jnp.zeros_like(r), jnp.zeros(r.shape[1:], r.dtype))
            for r in reach
        ),
        nodes=() if solver.sampler is None else jnp.zeros(2, jnp.uint32),
    )


def iterate(tree: PublicTree, solver: Solver, state: SolveState, horizon: Array) -> SolveState:
    """Returns the state after one iteration, in which every player updates once."""
    if sweeps_levels(tree, solver):
        return _run_levels(tree, solver, state, 1, horizon)
    dtype = tree.players[0].root_reach.dtype
    t = (state.iteration + 1).astype(dtype)
    step = Step(t, jnp.asarray(horizon, dtype))
    decay = jnp.asarray(solver.decay(step), dtype)
    average = tuple(m.add(r, decay) for m, r in zip(state.average, state.reach, strict=True))
    minimizer, policy, reach = list(state.minimizer), list(state.policy), list(state.reach)
    nodes = state.nodes
    for i, player in enumerate(tree.players):
        seen = reach if solver.alternating else state.reach
        if solver.sampler is None:
            values = _exact_values(tree, i, policy[i], seen)
        else:
            play = policy if solver.alternating else state.policy
            values, touched = solver.sampler(tree, i, play, seen, state.iteration)
            nodes = _count(nodes, touched)
        minimizer[i], policy[i] = _update(player, solver, step, values, minimizer[i], policy[i])
        reach[i] = reach_of(player, policy[i])
    return SolveState(
        state.iteration + 1, tuple(minimizer), tuple(policy), tuple(reach), average, nodes
    )


@functools.partial(jax.jit, donate_argnames="state")
def run(
    tree: PublicTree, solver: Solver, state: SolveState, iterations: Array, horizon: Array
) -> SolveState:
    """Returns the state after a number of further iterations (int32 [], traced)."""
    if sweeps_levels(tree, solver):
        return _run_levels(tree, solver, state, iterations, horizon)
    one = functools.partial(iterate, tree, solver)
    return jax.lax.fori_loop(0, iterations, lambda _, s: one(s, horizon), state)


def _state_of_levels(
    tree: PublicTree, solver: Solver, policy: tuple[Blocks, ...], reach: tuple[Array, ...]
) -> SolveState:
    """Returns the state before the first iteration, in the form that `_levels` works on."""
    without_empty = [r[p.root_reach.shape[0] :] for p, r in zip(tree.players, reach, strict=True)]
    return SolveState(
        iteration=jnp.zeros((), jnp.int32),
        minimizer=tuple((solver.minimizer.init(r),) for r in without_empty),
        policy=policy,
        reach=reach,
        average=tuple(
            Mean(
                jnp.zeros_like(r),
                () if player.unpadded else jnp.zeros_like(r),
                jnp.zeros((), r.dtype),
            )
            for player, r in zip(tree.players, reach, strict=True)
        ),
    )


def _run_levels(
    tree: PublicTree, solver: Solver, state: SolveState, iterations: Array | int, horizon: Array
) -> SolveState:
    """Returns the state after further iterations by `_levels`."""
    means = state.average
    carry = Carry(
        regret=tuple(of[0] for (of,) in state.minimizer),
        reach=state.reach,
        mean=tuple(m.mean for m in means),
        lost=tuple(m.lost for m in means),
        weight=means[0].weight,
    )
    carry = iterate_levels(tree, solver, carry, state.iteration, iterations, horizon)
    return SolveState(
        iteration=state.iteration + iterations,
        minimizer=tuple(
            (type(of)(new),) for (of,), new in zip(state.minimizer, carry.regret, strict=True)
        ),
        policy=tuple(policy_of(p, r) for p, r in zip(tree.players, carry.regret, strict=True)),
        reach=carry.reach,
        average=tuple(
            Mean(new, lost, carry.weight) for new, lost in zip(carry.mean, carry.lost, strict=True)
        ),
    )


def average_policy(tree: PublicTree, state: SolveState) -> Policy:
    """Returns the average policy; uniform where a row was never reached."""
    players = []
    for player, total in zip(tree.players, state.average, strict=True):
        blocks = split_blocks(player, total.mean)
        shares = (normalise(b, legal) for b, legal in zip(blocks, player.legal, strict=True))
        players.append(apply_locks(player, tuple(shares)))
    return Policy(tuple(players), tree.names)


def current_policy(tree: PublicTree, state: SolveState) -> Policy:
    """Returns the policy of the next iteration."""
    return Policy(state.policy, tree.names)


def _exact_values(tree: PublicTree, player: int, policy: Blocks, reach: Sequence[Array]) -> Blocks:
    """Returns counterfactual action values [A, N, ...] by a sweep up from all leaves."""
    gain = leaf_values(tree, player, reach)
    return values_of(tree.players[player], gain, lambda k, q: (policy[k] * q).sum(0))[0]


def _update(
    player: PlayerTree,
    solver: Solver,
    step: Step,
    values: Blocks,
    states: tuple[Any, ...],
    policy: Blocks,
) -> tuple[tuple[Any, ...], Blocks]:
    new = [
        solver.minimizer.update(s, step, q, p, legal)
        for s, q, p, legal in zip(states, values, policy, player.legal, strict=True)
    ]
    return tuple(s for s, _ in new), apply_locks(player, tuple(p for _, p in new))


def _count(nodes: Array, more: Array) -> Array:
    """Adds to a counter of two words; 64-bit integers are not at hand on every device."""
    low = nodes[0] + more
    return jnp.stack([low, nodes[1] + (low < more)])

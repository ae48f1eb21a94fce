"""Spots in the form for accelerators: no padding, whole levels at a time, the same iterates."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve.holdem._payoffs import halved
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.regret import normalise
from jaxsolve.solvers import SolveState, init_state, run
from jaxsolve.solvers._levels import sweeps_levels
from jaxsolve.tree import DecisionRows, player_tree, reach_of, split_blocks

TURN = {
    "board": "Ts9s8s2h",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}
SPOTS = {
    "river": {**TURN, "board": "Ts9s8s2h3c"},
    "turn": {**TURN, "rake": 0.05, "rake_cap": 3},
    "flop": {**TURN, "board": "Ts9s8s", "stack": 60, "sizes": {"bet": ["a"], "raise": ["a"]}},
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("turn", "flop")]
"""Symmetric suits on two and three streets; tens of seconds of building and compiling."""


@functools.cache
def river(form: str) -> SpotTree:
    return he.spot_tree(he.Spot.parse(SPOTS["river"]), operator=form)


def random_state(tree: SpotTree, solver: js.Solver, seed: int) -> SolveState:
    """Returns a state of random regrets and means, the same in every form of a tree.

    No two actions of a row are equal: rounding would choose between those, and later iterates of
    two forms would part.
    """
    rng = np.random.default_rng(seed)
    state = init_state(tree.tree, solver)
    by_levels = sweeps_levels(tree.tree, solver)
    minimizer, policies, means, reaches = [], [], [], []
    for i, player in enumerate(tree.tree.players):
        place = tree.rows[i].place
        draws = rng.normal(size=(2, len(place.sequence), player.num_hands))
        regret, mean = np.zeros((2, place.size, player.num_hands))
        regret[place.sequence], mean[place.sequence] = draws
        blocks = split_blocks(player, jnp.asarray(regret))
        both = zip(blocks, player.legal, strict=True)
        policy = tuple(normalise(jnp.maximum(r, 0), legal) for r, legal in both)
        kept = (jnp.asarray(regret[1:]),) if by_levels else blocks
        kinds = [type(of) for of in state.minimizer[i]]
        minimizer.append(tuple(kind(r) for kind, r in zip(kinds, kept, strict=True)))
        policies.append(policy)
        reaches.append(reach_of(player, policy))
        old = state.average[i]
        means.append(old._replace(mean=jnp.asarray(mean), weight=jnp.full_like(old.weight, 3)))
    return state._replace(
        iteration=jnp.asarray(3, jnp.int32),
        minimizer=tuple(minimizer),
        policy=tuple(policies),
        reach=tuple(reaches),
        average=tuple(means),
    )


def numbers(tree: SpotTree, state: SolveState, player: int) -> list[np.ndarray]:
    """Returns [regret, policy, mean] of a player's sequences in the order of the rows."""
    of = tree.tree.players[player]
    flat = [jnp.concatenate([r.reshape(-1, r.shape[-1]) for (r,) in state.minimizer[player]])]
    flat += [jnp.concatenate([p.reshape(-1, p.shape[-1]) for p in state.policy[player]])]
    at = tree.rows[player].place.sequence
    found = [np.asarray(jnp.concatenate([of.root_reach, x]))[at][1:] for x in flat]
    return [*found, np.asarray(state.average[player].mean)[at]]


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("name", ["dcfr", pytest.param("cfr+", marks=pytest.mark.slow)])
@pytest.mark.parametrize("spot", ["river", *SLOW])
def test_an_iteration_in_float64_is_that_of_the_loop_over_blocks(
    spot: str, name: str, simultaneous: bool
):
    if simultaneous and spot != "river":
        pytest.skip("the order of updates does not depend on the streets")
    with jax.enable_x64(True):
        solver = js.load_solver(name)
        solver = solver.simultaneous() if simultaneous else solver
        found = []
        for form in ("dense", "prefix"):
            tree = he.spot_tree(he.Spot.parse(SPOTS[spot]), operator=form)
            assert sweeps_levels(tree.tree, solver) == (form == "dense")
            state = random_state(tree, solver, 0)
            state = run(tree.tree.replace(names=None), solver, state, jnp.int32(1), jnp.int32(9))
            found.append([numbers(tree, state, player) for player in range(2)])
        for ours, theirs in zip(*found, strict=True):
            scale = np.abs(theirs[0]).max()
            np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12 * scale)
            np.testing.assert_allclose(ours[2], theirs[2], atol=1e-12)
            # Where a regret is 0 to rounding, so is the policy undecided.
            sure = np.abs(theirs[0]).min() > 1e-9 * scale
            assert sure or name == "cfr+"
            if sure:
                np.testing.assert_allclose(ours[1], theirs[1], atol=1e-9)


def test_nothing_is_padded():
    wide = dict(SPOTS["river"], sizes={"bet": ["50%", "a"], "raise": ["a"]})
    dense, prefix = (
        he.spot_tree(he.Spot.parse(wide), operator=form) for form in ("dense", "prefix")
    )
    more = 0
    for player in range(2):
        sequences = dense.rows[player].rows.num_sequences
        assert dense.tree.players[player].num_sequences == sequences
        more += prefix.tree.players[player].num_sequences - sequences
        assert all(bool(legal.all()) for legal in dense.tree.players[player].legal)
    assert more > 0


def test_rows_of_two_and_three_actions_have_blocks_of_their_own():
    rows = DecisionRows(
        parent=np.zeros(3, np.int32),
        offset=np.array([1, 3, 6, 8], np.int32),
        action=np.zeros(7, np.int32),
        roots=1,
        root_reach=np.ones((1, 2)),
        infostate=np.full(3, -1, np.int32),
        public=np.arange(3, dtype=np.int32),
        level=np.zeros(3, np.int32),
    )
    padded, _ = player_tree(rows, hands=2)
    exact, place = player_tree(rows, hands=2, unpadded=True)
    assert [b.legal.shape[:2] for b in padded.blocks] == [(3, 3)]
    assert [b.legal.shape[:2] for b in exact.blocks] == [(2, 2), (3, 1)]
    assert place.size == 8
    assert sorted(place.sequence) == list(range(8))


def test_halves_of_a_run_equal_the_whole_and_compile_once():
    tree, solver = river("dense").tree.replace(names=None), js.dcfr()
    whole = run(tree, solver, init_state(tree, solver), jnp.int32(8), jnp.int32(8))
    traced = run._cache_size()  # type: ignore[attr-defined]
    state = init_state(tree, solver)
    for _ in range(2):
        state = run(tree, solver, state, jnp.int32(4), jnp.int32(8))
    assert run._cache_size() == traced  # type: ignore[attr-defined]
    jax.tree.map(np.testing.assert_array_equal, state, whole)
    assert int(state.iteration) == 8


def test_who_is_left_to_the_loop_over_blocks():
    """Predictions, locks and padding; a start from a policy is refused."""
    tree = river("dense")
    assert sweeps_levels(tree.tree, js.dcfr())
    assert not sweeps_levels(tree.tree, js.pcfr_plus())
    assert not sweeps_levels(he.lock(tree, "", {"x": 1.0}).tree, js.dcfr())
    first = dataclasses.replace(tree.tree.players[0], unpadded=False)
    players = (first, tree.tree.players[1])
    assert not sweeps_levels(tree.tree.replace(players=players), js.dcfr())
    with pytest.raises(ValueError, match=r"starts from the uniform policy.*operator=.prefix"):
        init_state(tree.tree, js.dcfr(), js.uniform_policy(tree.tree))


def test_the_matrix_in_16_bits_is_padded_to_whole_multiples_of_8():
    hands = 13
    signs = np.sign(np.random.default_rng(0).normal(size=(2, hands, hands)))
    form = halved(signs)
    assert form.matrix.shape == (2, 16, 16)
    reach = np.random.default_rng(1).random((2, 3, hands), np.float32)
    exact = np.einsum("bth,bjh->btj", reach.astype(float), signs)
    np.testing.assert_allclose(jax.jit(lambda f, r: f(r))(form, reach), exact, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense", "dense_bf16"])
def test_solutions_are_those_of_the_prefix_sums(form: str):
    """The exploitability of a solution is measured by the other form, too."""
    ours, theirs = (
        he.solve(river(f), target=0.02, iterations=5000, progress=False) for f in (form, "prefix")
    )
    assert ours.status == theirs.status == "target"
    np.testing.assert_allclose(ours.ev, theirs.ev, atol=0.04)


@pytest.mark.slow
def test_locked_spots_are_solved():
    found = []
    for form in ("dense", "prefix"):
        locked = he.lock(river(form), "", {"x": 1.0})
        one = he.solve(locked, target=0.05, iterations=2000, progress=False)
        found.append(one.ev)
    np.testing.assert_allclose(found[0], found[1], atol=0.1)


@pytest.mark.slow
def test_a_batch_of_spots_equals_each_of_them():
    spots = [he.Spot.parse({**SPOTS["river"], **x}) for x in ({}, {"pot": 60, "stack": 200})]
    room = max(len(he.spot_tree(s).hands) for s in spots)
    trees = [he.spot_tree(s, operator="dense", symmetric=False, num_hands=room) for s in spots]
    found = he.solve_spots(trees, iterations=30)
    for one, tree in zip(found, trees, strict=True):
        alone = he.solve(tree, target=None, iterations=30, measure_every=30, progress=False)
        assert one.exploitability_chips == pytest.approx(alone.exploitability_chips, abs=2e-3)
        np.testing.assert_allclose(one.values, alone.values, atol=2e-3)

"""Searches that pass over private states that are not possible: what they find stays the same."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from looks_again import LooksAgain

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.public import hidden_piece_model
from jaxsolve.search import Grown, growing_search, gt_cfr
from jaxsolve.search.growing import _prepared

CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5],[5,6]],evader=[1,5,6],detectives=[3],"
    "rounds=4,reveals=[2],doubles=1)"
)
GAME = games.load(CHASE)
MODEL, ROOT = hidden_piece_model(GAME)
PAPER = js.cfr_plus().simultaneous()


def net_of(body: str) -> nets.Net:
    """Returns a network with random weights, not small ones."""
    net = nets.make_net(MODEL, nets.ValueNetwork(8, 2, body=body), jax.random.key(1))
    return net.replace(jax.tree.map(lambda x: 3 * x, net.params))


def possible_in(store: Any) -> Any:
    """Returns bool [Q, H], stations that Mr X can be on."""
    return store.roots.weight > 0


def compiled(sizes: tuple[int, ...], body: str, abreast: int, **options: Any) -> Any:
    """Returns searches of the first keys, traced with programs of some sizes; () for none."""
    search = growing_search(MODEL, PAPER, simulations=24, tile=4, **options)
    net: Any = net_of(body)
    net, ranges = net if sizes else LooksAgain(net), jnp.ones((2, max(MODEL.hands)))

    def one(key: Any) -> Grown:
        return gt_cfr(search, net, ROOT, ranges, key)

    keys = jax.random.split(jax.random.key(0), abreast)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_prepared, "SIZES", sizes)
        return jax.jit(jax.vmap(one) if abreast > 1 else lambda k: one(k[0])).lower(keys), keys


@pytest.mark.parametrize(
    ("abreast", "native", "options"),
    [
        (1, "1", {}),
        pytest.param(3, "0", {"ask_every": 3}, marks=pytest.mark.slow),
        pytest.param(1, "1", {"ask_every": 3}, marks=pytest.mark.long),
        pytest.param(3, "0", {}, marks=pytest.mark.long),
        pytest.param(3, "1", {}, marks=pytest.mark.slow),
    ],
)
def test_the_search_is_that_of_all_private_states(
    abreast: int, native: str, options: dict[str, int], monkeypatch: pytest.MonkeyPatch
):
    """With a program for one, two and four of six stations, alone and in a batch."""
    every, _ = compiled((), "shared", abreast, **options)
    monkeypatch.setenv("JAXSOLVE_NATIVE", native)
    few, keys = compiled((1, 2, 4), "shared", abreast, **options)
    assert ("jaxsolve_sort" in few.as_text()) == (native == "1")
    got, expected = few.compile()(keys), every.compile()(keys)
    assert few.as_text().count("stablehlo.while") > every.as_text().count("stablehlo.while")
    np.testing.assert_array_equal(got.growth.row, expected.growth.row)
    for name in ("average", "child_values", "root_values"):
        found, right = getattr(got, name), getattr(expected, name)
        np.testing.assert_allclose(found, right, atol=2e-5, err_msg=name)
    assert np.ptp(expected.child_values) > 0.1
    counts = np.asarray(possible_in(got.growth.store)).sum(1)
    assert len(set(counts[counts > 0].tolist())) >= 3


def test_a_network_of_all_private_states_at_once_is_told_of_all():
    few, every = (compiled(sizes, "mlp", 1)[0] for sizes in ((1, 2, 4), (3,)))
    assert few.as_text() == every.as_text()


def test_possible_private_states_come_first():
    lowered, keys = compiled((), "shared", 1)
    store = lowered.compile()(keys).growth.store
    ranked = MODEL.ranked(store)
    order, count = np.asarray(ranked.order), np.asarray(ranked.counts)
    seen = 0
    for q, possible in enumerate(np.asarray(possible_in(store))):
        if not possible.any():
            continue  # nothing was opened there
        right = np.argsort(~possible, stable=True)
        np.testing.assert_array_equal(order[q], right)
        assert count[q] == possible.sum()
        seen += possible.sum() > 1
    assert seen > 10


def test_some_private_states_are_told_as_among_all():
    lowered, keys = compiled((), "shared", 1)
    store = lowered.compile()(keys).growth.store
    public = jnp.flatnonzero(possible_in(store).sum(1) > 1)[:9].reshape(3, 3)
    numbers = jnp.broadcast_to(jnp.array([[4, 0, 2], [0, 1, 2]]), (3, 3, 2, 3))
    every, some = MODEL.public_state(store, public), MODEL.public_state(store, public, numbers)
    for name in ("possible", "private"):
        all_of_them, got = np.asarray(getattr(every, name)), np.asarray(getattr(some, name))
        for player in range(2):
            picked = all_of_them[:, :, player, numbers[0, 0, player]]
            np.testing.assert_array_equal(got[:, :, player], picked)
    np.testing.assert_array_equal(some.features, every.features)

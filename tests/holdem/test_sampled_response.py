"""Best responses on sampled boards: beside matrices of pairs of hands, and what must hold."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from few import few
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr, native
from jaxsolve.holdem import BetMenu
from jaxsolve.holdem._sampled_response import (
    below_native,
    below_plain,
    preflop_reach,
    response_on,
)

STREETS = ("preflop", "flop", "turn", "river")

needs_compiler = pytest.mark.skipif(
    native.host_library("mccfr") is None, reason="needs a C++ compiler"
)


@functools.cache
def game(*sizes: str, stack: str = "5bb", streets: tuple[str, ...] = STREETS) -> holdem.HoldemGame:
    """The same sizes on some streets, and checks on the others."""
    table = {name: {"sizes": [list(sizes)] if name in streets else []} for name in STREETS}
    return holdem.holdem_game(BetMenu.parse({"stack": stack, **table}), made_buckets(3))


def chance_policy(here: holdem.HoldemGame, seed: int) -> np.ndarray:
    """Sums of a policy by chance, in which one action of four is never played."""
    rng = np.random.default_rng(seed)
    sums = rng.random(len(holdem.uniform_sums(here))).astype(np.float32)
    return np.where(sums < 0.25, 0, sums).astype(np.float32)


@needs_compiler
@pytest.mark.parametrize(
    ("streets", "seat", "turns"),
    few([(("preflop",), 0, 1), (STREETS, 0, 2), (STREETS, 1, 1)], lambda x: x[0] == ("preflop",)),
)
def test_native_responses_are_the_plain_ones(
    streets: tuple[str, ...], seat: int, turns: int
) -> None:
    """What each hand wins at each end of the preflop street, below one flop."""
    here = game("a", streets=streets)
    sums = chance_policy(here, 0)
    flop, after = (np.array(holdem.parse_cards(x), np.uint8) for x in ("Td9d6h", "Ac2h"))
    nodes, reach = preflop_reach(here, sums, seat)
    reach = reach * ~np.isin(holdem.HANDS, flop).any(1)
    native_form, plain = (
        form(here, sums, seat, flop, after[:turns], nodes, reach)
        for form in (below_native, below_plain)
    )
    np.testing.assert_allclose(native_form, plain, rtol=1e-4, atol=1e-5 * np.abs(plain).max())


@needs_compiler
def test_who_never_plays_loses_the_blinds() -> None:
    """It folds to any bet and never makes one: the responder wins a blind with every hand."""
    here = game("100%", "a")
    tree, rows = here.tree, here.tree.rows(here.num_buckets)
    sums = holdem.uniform_sums(here)
    for p in np.flatnonzero(tree.count):
        labels = [tree.label[tree.child[p] + a] for a in range(tree.count[p])]
        sums[rows[p] : rows[p + 1]].reshape(-1, len(labels))[:, 0] = 1
        assert labels[0] in ("f", "x")
    found = holdem.sampled_best_response((here, sums), flops=2, turns=1)
    np.testing.assert_allclose(found.chips, [50, 100], atol=1e-2)
    assert found.boards == 2 * 48


@needs_compiler
def test_more_boards_leave_the_responder_less() -> None:
    """It knows less of what comes; and no less than a player who plays the same, nothing."""
    here = game("100%", "a")
    tables, _ = mccfr.ExternalSampler(here, mccfr.Options()).run(mccfr.make_tables(here), 30_000)
    sums = tables.average
    both = holdem.sampled_best_response((here, sums), flops=2, turns=2, seed=1, threads=2)
    alone = [response_on(here, sums, both.flops[k : k + 1], both.turns[k : k + 1]) for k in (0, 1)]
    turns = [response_on(here, sums, both.flops, both.turns[:, k : k + 1]) for k in (0, 1)]
    assert 0 < both.mbb < min(np.mean([x.mbb for x in alone]), np.mean([x.mbb for x in turns]))


@needs_compiler
@pytest.mark.slow
def test_training_leaves_it_less() -> None:
    here = game("100%", "a")
    tables, _ = mccfr.ExternalSampler(here, mccfr.Options()).run(mccfr.make_tables(here), 300_000)
    won = {}
    for name, sums in (("trained", tables.average), ("uniform", holdem.uniform_sums(here))):
        found = holdem.sampled_best_response((here, sums), flops=4, turns=2)
        local = holdem.local_best_response((here, sums), boards=20, runouts=16)
        won[name] = found.mbb
        assert found.mbb > local.mbb  # of one who does not know the boards
    assert won["trained"] < won["uniform"]


def test_what_is_refused() -> None:
    here = game("a")
    sums = holdem.uniform_sums(here)
    with pytest.raises(ValueError, match="entries is not of"):
        holdem.sampled_best_response((here, sums[1:]))
    for wrong in ({"flops": 0}, {"turns": 50}):
        with pytest.raises(ValueError, match="flops is 1 to"):
            holdem.sampled_best_response((here, sums), **wrong)
    street = {"sizes": [["a"]]}
    table = {"players": 3, "stack": "2bb", **dict.fromkeys(STREETS, street)}
    three = holdem.holdem_game(BetMenu.parse(table), made_buckets(3))
    with pytest.raises(ValueError, match="one opponent"):
        holdem.sampled_best_response((three, sums))

"""Policies to OpenSpiel and back: the same exploitability there, the same numbers here."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve.tree import Policy, PublicTree, policy_from_probabilities

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")

from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python.algorithms import exploitability  # noqa: E402

BATTLESHIP = (
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,"
    "allow_repeated_shots=False)"
)

IMPORTED = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "goofspiel(num_cards=3,imp_info=true)",
    "dark_hex(board_size=2)",
    "dark_hex(board_size=2,gameversion=adh)",
    BATTLESHIP,
    "oshi_zumo(coins=3,size=1,horizon=4)",
    "coordinated_mp",
    "matching_pennies_3p",
    "python_kuhn_poker",
]

COMPILED = {
    "kuhn": "kuhn_poker",
    "kuhn(players=3)": "kuhn_poker(players=3)",
    "leduc": "leduc_poker",
    "liars_dice(sides=3)": "liars_dice(dice_sides=3)",
    "goofspiel(cards=3)": "goofspiel(num_cards=3,imp_info=true)",
    "battleship(allow_repeated_shots=false)": BATTLESHIP,
}


def random_policy(tree: PublicTree, seed: int = 0) -> Policy:
    rng, parts = np.random.default_rng(seed), []
    for p in tree.info.players:
        weight = rng.exponential(size=len(p.action))
        total = np.add.reduceat(weight, p.offset[:-1])
        parts.append(weight / np.repeat(total, np.diff(p.offset)))
    return policy_from_probabilities(tree, parts)


def assert_same(a: Policy, b: Policy) -> None:
    for i in range(len(a.players)):
        np.testing.assert_array_equal(a.probabilities(i), b.probabilities(i))


def check_both_ways(tree: PublicTree, game: str | None = None) -> None:
    policy = random_policy(tree)
    theirs = js.to_openspiel(tree, policy, game)
    conv = exploitability.nash_conv(theirs.game, theirs)
    assert float(js.nash_conv(tree, policy)) == pytest.approx(conv, abs=1e-6)
    assert_same(js.from_openspiel(tree, theirs, game), policy)


@pytest.mark.parametrize("text", few(IMPORTED, lambda text: text in list(IMPORTED)[:3]))
def test_imported(text: str):
    check_both_ways(js.compile(f"openspiel:{text}"))


@pytest.mark.parametrize(
    ("ours", "theirs"), few(COMPILED.items(), lambda pair: pair[0] in ("kuhn", "leduc"))
)
def test_from_rules(ours: str, theirs: str):
    check_both_ways(js.compile(games.load(ours)), theirs)


def test_goofspiel_with_four_cards_by_cpp():
    tree = js.compile("openspiel:goofspiel(num_cards=4,imp_info=true)")
    policy = random_policy(tree)
    theirs = js.to_openspiel(tree, policy)
    conv = pyspiel.nash_conv(theirs.game, pyspiel.TabularPolicy(theirs.to_dict()))
    assert float(js.nash_conv(tree, policy)) == pytest.approx(conv, abs=1e-6)


@pytest.mark.parametrize("options", [{"layout": "hands"}, {"keep_states": False}])
@pytest.mark.parametrize("ours", ["kuhn", "liars_dice(sides=3)"])
@pytest.mark.slow
def test_trees_without_states(ours: str, options: dict):
    tree = js.compile(games.load(ours), **options)
    check_both_ways(tree, COMPILED[ours])


def test_import_without_states():
    check_both_ways(js.compile("openspiel:kuhn_poker", keep_states=False))


def test_the_registry_knows_the_game(monkeypatch: pytest.MonkeyPatch):
    from jaxsolve.compiler import _openspiel_policy
    from jaxsolve.game import _registry

    for module in (_registry, _openspiel_policy):
        monkeypatch.setattr(module, "registered", lambda: games.GAMES)
    tree = js.compile(games.load("kuhn(players=3)"))
    theirs = js.to_openspiel(tree, js.uniform_policy(tree))
    assert str(theirs.game) == "kuhn_poker(players=3)"
    tree = js.compile(games.load("leduc(ranks=2,suits=2)"))
    with pytest.raises(ValueError, match=r"nothing says which game of OpenSpiel leduc\(ranks=2"):
        js.to_openspiel(tree, js.uniform_policy(tree))


def test_rows_are_those_of_a_new_tabular_policy():
    tree = js.compile("openspiel:leduc_poker")
    ours, new = js.to_openspiel(tree, js.uniform_policy(tree)), None
    new = spiel_policy.TabularPolicy(ours.game)
    assert ours.state_lookup == new.state_lookup
    assert ours.states_per_player == new.states_per_player
    assert [s.history() for s in ours.states] == [s.history() for s in new.states]
    np.testing.assert_array_equal(ours.legal_actions_mask, new.legal_actions_mask)
    np.testing.assert_allclose(ours.action_probability_array, new.action_probability_array)


def test_every_kind_of_policy_is_accepted():
    tree = js.compile("openspiel:leduc_poker")
    policy = random_policy(tree)
    theirs = js.to_openspiel(tree, policy)
    pairs = theirs.to_dict()
    plain = {key: {a: p for a, p in row if p} for key, row in pairs.items()}
    arrays = {key: np.array([p for _, p in row]) for key, row in pairs.items()}
    for given in (pairs, plain, arrays, pyspiel.TabularPolicy(pairs)):
        assert_same(js.from_openspiel(tree, given), policy)
    uniform = js.uniform_policy(tree)
    for given in (
        spiel_policy.UniformRandomPolicy(theirs.game),
        pyspiel.UniformRandomPolicy(theirs.game),
    ):
        assert_same(js.from_openspiel(tree, given), uniform)


def test_solvers_of_openspiel():
    """What OpenSpiel's CFR finds is worth here what it is worth there."""
    tree = js.compile("openspiel:kuhn_poker")
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game("kuhn_poker"))
    for _ in range(200):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    ours = js.exploitability(tree, js.from_openspiel(tree, average))
    theirs = pyspiel.exploitability(pyspiel.load_game("kuhn_poker"), average)
    assert float(ours) == pytest.approx(theirs, abs=1e-6)


def test_policies_that_do_not_fit():
    tree = js.compile("openspiel:kuhn_poker")
    table = js.to_openspiel(tree, js.uniform_policy(tree)).to_dict()
    missing = {key: row for key, row in table.items() if key != "1pb"}
    with pytest.raises(ValueError, match="nothing for player 0 at information state '1pb'"):
        js.from_openspiel(tree, missing)
    with pytest.raises(ValueError, match="nothing for player 0"):
        js.from_openspiel(tree, pyspiel.TabularPolicy(missing))
    part = spiel_policy.TabularPolicy(pyspiel.load_game("kuhn_poker"), players=[0])
    with pytest.raises(ValueError, match="nothing for player 1"):
        js.from_openspiel(tree, part)
    with pytest.raises(ValueError, match=r"plays action 7 at information state '0'"):
        js.from_openspiel(tree, table | {"0": {0: 0.5, 7: 0.5}})
    with pytest.raises(ValueError, match="not a distribution"):
        js.from_openspiel(tree, table | {"0": {0: 0.5, 1: 0.4}})


def test_games_that_differ():
    tree = js.compile(games.load("leduc"))
    policy = js.uniform_policy(tree)
    for other, why in {
        "leduc_poker(players=3)": "2 players and 3",
        "kuhn_poker": r"actions \[0, 1, 2, 3, 4, 5\] here are \[0, 1, 2\] there",
        "liars_dice(dice_sides=6)": r"After \[5\]: actions \[0, 1, 2, 3, 4\] here are",
    }.items():
        with pytest.raises(ValueError, match=f"are not the same game.*{why}"):
            js.to_openspiel(tree, policy, other)
    with pytest.raises(ValueError, match="give a string of OpenSpiel"):
        js.to_openspiel(tree, policy, game=3)
    half = games.load("battleship(allow_repeated_shots=false,ship_values=[2])")
    with pytest.raises(ValueError, match="payoffs"):
        js.to_openspiel(t := js.compile(half), js.uniform_policy(t), BATTLESHIP)


@pytest.mark.slow
def test_rules_that_remember_more_than_openspiel():
    """OpenSpiel's goofspiel with open bids forgets their order; a policy may not."""
    tree = js.compile(games.load("goofspiel(imp_info=false)"))
    theirs = "goofspiel(num_cards=4,imp_info=false)"
    table = js.to_openspiel(tree, js.uniform_policy(tree), theirs)
    assert len(table.state_lookup) < sum(tree.info.num_infosets)
    with pytest.raises(ValueError, match="OpenSpiel has one information state for both"):
        js.to_openspiel(tree, random_policy(tree), theirs)


def test_trees_that_are_not_a_whole_game():
    tree = js.compile("openspiel:kuhn_poker")
    policy = js.uniform_policy(tree)
    with pytest.raises(ValueError, match="has no names"):
        js.to_openspiel(tree.replace(names=None), policy)
    tree = js.compile("openspiel:breakthrough(rows=3,columns=2)")
    with pytest.raises(ValueError, match="no information states in OpenSpiel"):
        js.to_openspiel(tree, js.uniform_policy(tree))


def test_float64_tree_keeps_its_digits():
    import jax

    with jax.enable_x64(True):
        tree = js.compile("openspiel:kuhn_poker")
        policy = random_policy(tree)
        assert policy.players[0][0].dtype == jnp.float64
        theirs = js.to_openspiel(tree, policy)
        conv = exploitability.nash_conv(theirs.game, theirs)
        assert float(js.nash_conv(tree, policy)) == pytest.approx(conv, abs=1e-13)
        assert_same(js.from_openspiel(tree, theirs), policy)

"""Gadgets: closed forms, every gadget under every way to solve it, and what the trees hold."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.subgame._transpositions import transpositions
from jaxsolve.tree import listed, policy_from_probabilities
from jaxsolve.types import TERMINAL


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def kuhn() -> tuple[js.PublicTree, search.FlooredBlueprint]:
    with jax.enable_x64(True):
        tree = js.compile(games.load("kuhn"))
        return tree, search.lp_blueprint(tree, epsilon=0.25)


def guess(tree: js.PublicTree) -> np.ndarray:
    """Probabilities of heads and tails that P, who guesses, plays in a solved subgame."""
    return js.solve_lp(tree).policy.probabilities(1)


@pytest.fixture(scope="module")
def toss() -> tuple[js.PublicTree, js.Policy, int]:
    """Coin Toss where selling tails pays 1 and selling heads costs 1; P guesses heads 3 in 4."""
    with jax.enable_x64(True):
        tree = js.compile(games.load("coin_toss(sell_heads=-1.0,sell_tails=1.0)"))
        odds = [np.full(4, 0.5), np.array([0.75, 0.25])]
        play = int(tree.info.form.rows[1].public[0])
        return tree, policy_from_probabilities(tree, odds), play


def test_coin_toss_maxmargin(toss):
    """O's estimated values 0 (heads) and 1/2 (tails): both margins are 1/4 at (5/8, 3/8)."""
    tree, blueprint, play = toss
    part = subgame.maxmargin(tree, blueprint, play, player=1, alternative=np.array([0, 0.5]))
    np.testing.assert_allclose(guess(part), [5 / 8, 3 / 8], atol=1e-9)
    np.testing.assert_allclose(part.info.margins(js.solve_lp(part).policy), [0.25, 0.25])


def test_coin_toss_reach(toss):
    """With tails O could have sold for 1 and plays for 1/2, a gift of 1/2: (3/4, 1/4)."""
    tree, blueprint, play = toss
    values = np.array([0, 0.5])
    part = subgame.maxmargin(tree, blueprint, play, player=1, alternative=values, reach="exact")
    np.testing.assert_allclose(guess(part), [3 / 4, 1 / 4], atol=1e-9)
    np.testing.assert_allclose(part.info.alternative, [0, 1])
    assert (
        part.info.classes == ("coin heads|play play", "coin tails|play play")
        or len(part.info.classes) == 2
    )


@pytest.mark.parametrize("values", [(0.5, -0.5), (-0.5, 0.5), (0.0, 0.0), (0.25, -0.5)])
def test_coin_toss_answers_alternative_values(toss, values):
    """Margins a - (1 - 2q) and b - (2q - 1) are equal at q = (2 + b - a) / 4."""
    tree, blueprint, play = toss
    part = subgame.maxmargin(tree, blueprint, play, player=1, alternative=np.array(values))
    heads = (2 + values[1] - values[0]) / 4
    np.testing.assert_allclose(guess(part), [heads, 1 - heads], atol=1e-9)


def test_coin_toss_resolve(toss):
    """With the prices of the paper only 1/4, 3/4 leaves O nothing to gain."""
    tree, blueprint, play = toss
    part = subgame.resolve(tree, blueprint, play, player=1, alternative=np.array([0.5, -0.5]))
    np.testing.assert_allclose(guess(part), [1 / 4, 3 / 4], atol=1e-9)


def test_coin_toss_distributional(toss):
    """Certain noise changes nothing; uncertain values blunt the answer but keep its direction."""
    tree, blueprint, play = toss
    values = np.array([0.5, -0.5])
    make = {"player": 1, "alternative": values}
    none = subgame.Noise(0.0, 3, jax.random.key(0))
    part = subgame.resolve(tree, blueprint, play, noise=none, **make)
    np.testing.assert_allclose(guess(part), [1 / 4, 3 / 4], atol=1e-9)
    assert part.info.margins(js.solve_lp(part).policy).shape == (2,)
    some = subgame.Noise(0.3, 5, jax.random.key(0))
    for gadget in (subgame.resolve, subgame.maxmargin):
        part = gadget(tree, blueprint, play, noise=some, **make)
        assert guess(part)[0] < 0.5


def test_cut_takes_ranges_as_chance(toss):
    """The subgame alone: ranges (2, 1) make heads twice as likely, so P guesses heads."""
    tree, blueprint, play = toss
    alone = subgame.cut(tree, play, [np.array([2.0, 1.0]), np.ones(1)])
    np.testing.assert_allclose(guess(alone), [1, 0], atol=1e-9)
    assert js.solve_lp(alone).value == pytest.approx(-1 / 3)  # normalised: right 2 times in 3
    even = subgame.cut(tree, play, blueprint)
    assert js.solve_lp(even).value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("gadget", "knowledge"), [("unsafe", "common"), ("resolve", "common"), ("maxmargin", 1)]
)
def test_cfr_and_the_linear_program_agree(kuhn, gadget: str, knowledge):
    """Every place of a level lies in one tree, and that tree solves like any other."""
    tree, blueprint = kuhn
    at = subgame.levels(tree, player=0, knowledge=knowledge)[0]
    part = getattr(subgame, gadget)(tree, blueprint.policy, at, knowledge=knowledge)
    exact = js.solve_lp(part)
    found = js.solve(part, "pcfr+", iterations=1000, measure_every=1000, progress=False)
    assert found.exploitability < 2e-3
    np.testing.assert_allclose(found.values[0], exact.value, atol=4e-3)
    assert float(js.exploitability(part, exact.policy)) < 1e-9


@pytest.mark.slow(reason="compiles every variant of CFR twice: a minute")
@pytest.mark.parametrize("solver", [s for s in js.SOLVERS if s != "mmd"])
@pytest.mark.parametrize("gadget", ["resolve", "maxmargin"])
def test_every_solver_on_every_gadget(kuhn, gadget: str, solver: str):
    tree, blueprint = kuhn
    at = subgame.levels(tree, player=0, knowledge="common")[0]
    part = getattr(subgame, gadget)(tree, blueprint.policy, at)
    exact = js.solve_lp(part)
    found = js.solve(part, solver, iterations=2000, measure_every=2000, progress=False)
    assert found.exploitability < 2e-2
    np.testing.assert_allclose(found.values[0], exact.value, atol=4e-2)


def test_a_forest_is_its_trees(kuhn):
    """Subgames together are worth the sum of the subgames alone."""
    tree, blueprint = kuhn
    at = subgame.levels(tree, player=0, knowledge=1)[0]
    together = subgame.maxmargin(tree, blueprint.policy, at, knowledge=1)
    assert together.info.num_subgames == len(at) == 3
    alone = [subgame.maxmargin(tree, blueprint.policy, int(k), knowledge=1) for k in at]
    values = [js.solve_lp(part).value for part in alone]
    assert js.solve_lp(together).value == pytest.approx(sum(values))
    [by_lp] = subgame.solve_subgames(together, "lp")
    separately = subgame.solve_subgames(alone, "lp")
    np.testing.assert_allclose(
        by_lp.behaviour, np.concatenate([s.behaviour for s in separately]), atol=1e-9
    )


def test_cfr_on_a_forest_keeps_its_promise(kuhn):
    """The gap bounds what the linear program still gains, floors included."""
    tree, blueprint = kuhn
    floors = {"floor": blueprint.floors[0], "players": 0}
    by_lp = search.nested(tree, blueprint.policy, **floors)
    by_cfr = search.nested(tree, blueprint.policy, solver="pcfr+", target=1e-6, **floors)
    assert by_cfr.gap <= 1e-6
    assert by_cfr.solved == by_lp.solved == 6
    played = by_cfr.policy.probabilities(0)
    rows = tree.info.form.rows[0]
    assert (played >= -1e-9).all()
    for result in (by_lp, by_cfr):
        assert 2 * 0.00149 - 1e-5 <= (-1 / 18 - result.worst_case[0]) <= 2 * 0.00497
    assert len(played) == len(rows.action)


def test_vmapped_payoffs(kuhn):
    """A tree of subgames is a pytree: payoffs batch like those of any tree."""
    tree, blueprint = kuhn
    part = subgame.maxmargin(tree, blueprint.policy, [0, 1, 2], knowledge=1)
    uniform = js.uniform_policy(part)
    scales = jnp.array([1.0, 2.0])

    def value(scale):
        return js.expected_values(
            part.replace(leaves=tuple(x.with_scale(scale) for x in part.leaves)), uniform
        )

    one, two = jax.vmap(value)(scales)
    np.testing.assert_allclose(2 * one, two, rtol=1e-6)


def test_transpositions_are_states_with_one_future():
    """On a hidden board the order of the opponent's moves is forgotten by the position."""
    tree = js.compile(games.load("dark_hex(board_size=2,gameversion=adh)"))
    table = listed(tree).states
    mark = transpositions(table)
    seen: dict[int, tuple] = {}
    children = [np.flatnonzero(table.parent == x) for x in range(table.num_states)]

    def future(state: int) -> tuple:
        """Everything that can follow, shown and paid: the definition, in plain Python."""
        if table.actor[state] == TERMINAL:
            return tuple(table.utility[np.searchsorted(table.terminal, state)])
        out = []
        for child in children[state]:
            shown = []
            for i, states in enumerate(table.infostates):
                here, before = table.infostate[child, i], table.infostate[state, i]
                shown.append(None if here == before else tuple(states.observation[here]))
            out.append((int(table.action[child]), tuple(shown), future(int(child))))
        return (int(table.actor[state]), tuple(out))

    for state in range(table.num_states):
        assert seen.setdefault(int(mark[state]), future(state)) == future(state)
    assert len({repr(f) for f in seen.values()}) == len(seen) < table.num_states

    blueprint = js.uniform_policy(tree)
    at = np.arange(tree.info.players[0].num_infosets)
    plain = subgame.klss(tree, blueprint, at)
    merged = subgame.klss(tree, blueprint, at, merge_transpositions=True)
    assert len(merged.info.weight) < len(plain.info.weight)
    assert merged.info.num_subgames == plain.info.num_subgames
    with pytest.raises(ValueError, match="k = 1 only"):
        subgame.maxmargin(tree, blueprint, at, knowledge=5, merge_transpositions=True)


def test_gadgets_of_both_players_have_the_seats_of_the_game(kuhn):
    tree, blueprint = kuhn
    for player in (0, 1):
        part = subgame.klss(tree, blueprint.policy, 0, player=player)
        assert part.info.player == player
        assert tree.info.label(player, 0) in part.info.name
        added = part.info.players[1 - player].infostate
        assert (added < 0).sum() == 1
        assert (part.info.players[player].infostate >= 0).all()

"""Policies as tables, merged, mixed, lifted to another game, and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.tree import Policy, PublicTree, policy_from_probabilities
from jaxsolve.tree._policy_table import infoset_values

pytest.importorskip("pandas", reason="tables need the extra `plot`")


def tree_of(text: str, **options) -> PublicTree:
    return js.compile(games.load(text), **options)


def random_policy(tree: PublicTree, seed: int = 0) -> Policy:
    rng, parts = np.random.default_rng(seed), []
    for p in tree.info.players:
        weight = rng.exponential(size=len(p.action))
        total = np.add.reduceat(weight, p.offset[:-1])
        parts.append(weight / np.repeat(total, np.diff(p.offset)))
    return policy_from_probabilities(tree, parts)


def pure_policy(tree: PublicTree, action: int) -> Policy:
    """Everybody plays the legal action of that position, or the last one."""
    parts = []
    for p in tree.info.players:
        values = np.zeros(len(p.action))
        width = np.diff(p.offset)
        values[p.offset[:-1] + np.minimum(action, width - 1)] = 1
        parts.append(values)
    return policy_from_probabilities(tree, parts)


def test_long_table():
    tree = tree_of("kuhn")
    policy = random_policy(tree)
    table = policy.table()
    assert list(table.columns) == ["player", "infoset", "action", "probability"]
    assert len(table) == 24
    for i, name, actions in policy.rows():
        rows = table[(table.player == i) & (table.infoset == name)]
        assert dict(zip(rows.action, rows.probability, strict=True)) == actions


def test_wide_table():
    tree = tree_of("leduc(suits=1)")
    policy = random_policy(tree)
    table = policy.table(wide=True)
    assert list(table.columns) == ["player", "infoset", "call", "raise", "fold"]
    assert len(table) == sum(tree.info.num_infosets)
    np.testing.assert_allclose(table[["call", "raise", "fold"]].sum(axis=1), 1, atol=1e-6)
    row = table[(table.player == 1) & (table.infoset == "Ks|r")].iloc[0]
    assert row["raise"] == policy["Ks|r"]["raise"]
    first = table[(table.player == 0) & (table.infoset == "Ks")].iloc[0]
    assert np.isnan(first["fold"])  # nothing to fold to


@pytest.mark.parametrize("text", ["kuhn", "kuhn(players=3)", "leduc(suits=1)", "rps_plus"])
def test_values(text: str):
    tree = tree_of(text)
    policy = random_policy(tree)
    expected = np.asarray(js.expected_values(tree, policy))
    table = policy.table(values=True)
    by_infoset = table.groupby(["player", "infoset"], sort=False)
    # The value of an infoset is what its actions are worth on average.
    mean = by_infoset.apply(lambda rows: (rows.probability * rows.action_value).sum())
    np.testing.assert_allclose(mean, by_infoset.value.first(), atol=1e-6)
    # Everybody who surely acts gets the value of the game over their first decisions.
    for i, found in enumerate(infoset_values(policy)):
        first = tree.info.form.rows[i].level == 0
        if found.reach[first].sum() > 1 - 1e-6:
            total = (found.reach * found.value)[first].sum()
            assert total == pytest.approx(float(expected[i]), abs=1e-5)
    assert infoset_values(policy)[0].reach[tree.info.form.rows[0].level == 0].sum() == (
        pytest.approx(1)
    )


def test_values_by_hand():
    """Kuhn, everybody always bets: the pot is four chips at every showdown."""
    table = pure_policy(tree_of("kuhn"), 1).table(values=True, wide=True)
    at = table.set_index(["player", "infoset"])
    assert at.loc[(0, "K"), "reach"] == pytest.approx(1 / 3)
    assert at.loc[(0, "K"), "value"] == pytest.approx(2)
    assert at.loc[(0, "Q"), "value"] == pytest.approx(0)
    assert at.loc[(1, "J|b"), "value"] == pytest.approx(-2)
    assert at.loc[(1, "J|b"), "reach"] == pytest.approx(1 / 3)
    assert at.loc[(1, "J|p"), "reach"] == 0
    assert np.isnan(at.loc[(1, "J|p"), "value"])  # player 0 never passes
    # Player 0 does not pass first, but would win or lose two chips after it: counterfactual.
    assert at.loc[(0, "K|p|b"), "reach"] == 0
    assert at.loc[(0, "K|p|b"), "value"] == pytest.approx(2)


def test_values_of_imports():
    pytest.importorskip("pyspiel")
    tree = js.compile("openspiel:kuhn_poker")
    ours, theirs = random_policy(tree_of("kuhn")), random_policy(tree)
    for a, b in zip(infoset_values(ours), infoset_values(theirs), strict=True):
        np.testing.assert_allclose(np.sort(a.reach), np.sort(b.reach))


def test_values_need_the_states():
    for options in ({"keep_states": False}, {"layout": "hands"}):
        policy = js.uniform_policy(tree_of("kuhn", **options))
        assert len(policy.table()) == 24
        with pytest.raises(ValueError, match="keep_states=True"):
            policy.table(values=True)


def test_policies_without_names():
    tree = tree_of("kuhn")
    bare = Policy(js.uniform_policy(tree).players)
    with pytest.raises(ValueError, match="has no names"):
        bare.table()
    with pytest.raises(ValueError, match="no names"):
        js.lift(bare, tree)


@pytest.mark.parametrize("options", [{}, {"layout": "hands"}])
def test_merge(options: dict):
    tree = tree_of("kuhn", **options)
    policies = random_policy(tree, 1), random_policy(tree, 2)
    both = js.merge_policies(*policies)
    for i in range(2):
        np.testing.assert_array_equal(both.probabilities(i), policies[i].probabilities(i))


def test_merge_needs_one_policy_per_player_of_one_tree():
    one, three = (js.uniform_policy(tree_of(f"kuhn(players={n})")) for n in (2, 3))
    with pytest.raises(ValueError, match="1 policies for 2 players"):
        js.merge_policies(one)
    with pytest.raises(ValueError, match="0 policies"):
        js.merge_policies()
    with pytest.raises(ValueError, match=r"different trees; js\.lift"):
        js.merge_policies(one, three)
    other = js.uniform_policy(tree_of("kuhn", layout="hands"))
    with pytest.raises(ValueError, match="different trees"):
        js.merge_policies(one, other)


@pytest.mark.slow  # seconds of compilation
@pytest.mark.parametrize("options", [{}, {"layout": "hands"}])
def test_mixture_is_worth_the_mean(options: dict):
    """Kuhn's theorem, against opponents who are not mixed."""
    tree = tree_of("leduc(suits=1)", **options)
    a, b, opponent = (random_policy(tree, seed) for seed in range(3))
    mixed = js.mix_policies(tree, [a, b], [3, 1])
    for i in range(2):
        seats = [(p, opponent) if i == 0 else (opponent, p) for p in (mixed, a, b)]
        m, x, y = (float(js.expected_values(tree, js.merge_policies(*s))[i]) for s in seats)
        assert m == pytest.approx(0.75 * x + 0.25 * y, abs=1e-6)
    even = js.mix_policies(tree, [a, b])
    again = js.mix_policies(tree, [a, b], [0.5, 0.5])
    np.testing.assert_array_equal(even.probabilities(0), again.probabilities(0))


def test_mixture_is_uniform_where_nobody_goes():
    tree = tree_of("kuhn")
    bets = pure_policy(tree, 1)
    mixed = js.mix_policies(tree, [bets, bets])
    assert mixed["K|p|b"] == {"pass": 0.5, "bet": 0.5}
    assert mixed["K"] == {"pass": 0.0, "bet": 1.0}


def test_mixture_weights():
    tree = tree_of("kuhn")
    uniform = js.uniform_policy(tree)
    for weights in ([1], [-1, 2], [0, 0], [np.nan, 1]):
        with pytest.raises(ValueError, match="weights"):
            js.mix_policies(tree, [uniform, uniform], weights)
    with pytest.raises(ValueError, match="0 weights for 0 policies"):
        js.mix_policies(tree, [])
    with pytest.raises(ValueError, match="different trees"):
        js.mix_policies(tree_of("kuhn(players=3)"), [uniform])


@pytest.mark.slow
def test_lift_to_itself():
    tree = tree_of("leduc(suits=1)")
    policy = random_policy(tree)
    for target in (tree, tree_of("leduc(suits=1)", layout="hands")):
        lifted = js.lift(policy, target)
        assert lifted.matched == tree.info.num_infosets
        assert lifted.unmatched == ((), ())
        assert float(js.nash_conv(target, lifted.policy)) == pytest.approx(
            float(js.nash_conv(tree, policy)), abs=1e-5
        )


def test_lift_to_more_ranks():
    small, large = tree_of("leduc(ranks=3,suits=1)"), tree_of("leduc(ranks=4,suits=1)")
    policy = random_policy(small)
    lifted = js.lift(policy, large)
    assert lifted.policy["Ks|r"] == policy["Ks|r"]
    assert set(lifted.policy["Ts|r"].values()) == {lifted.policy["Ts|r"]["fold"]}
    assert "Ts|r" in lifted.unmatched[1]
    assert lifted.matched == small.info.num_infosets
    assert "matched per player: 99 of" in repr(lifted)


def test_lift_by_a_map_of_names():
    """A game with two suits plays every card as the game with one suit plays its rank."""
    coarse, fine = tree_of("leduc(suits=1)"), tree_of("leduc(suits=2)")
    policy = random_policy(coarse)

    def rank(player: int, name: str) -> str:
        return name.replace("h", "s")

    def paired(name: str) -> bool:
        ranks = [word[0] for word in name.split("|") if word[-1] in "sh"]
        return len(set(ranks)) < len(ranks)

    lifted = js.lift(policy, fine, names=rank)
    assert lifted.policy["Kh|r"] == lifted.policy["Ks|r"] == policy["Ks|r"]
    for i in range(2):  # one suit has no pairs
        assert lifted.unmatched[i] == tuple(x for x in fine.info.labels[i] if paired(x))
    assert lifted.matched == (fine.info.num_infosets[0] - len(lifted.unmatched[0]),) * 2
    lifted = js.lift(policy, fine, names={"Kh|r": "Ks|r", "Ks|r": "Qs|r"})
    assert lifted.policy["Kh|r"] == policy["Ks|r"]
    assert lifted.policy["Ks|r"] == policy["Qs|r"]
    assert lifted.policy["Qs|r"] == policy["Qs|r"]


def test_lift_drops_actions_that_are_not_there():
    """Fewer raises: what is left of a distribution is rescaled, or uniform if nothing is."""
    more, fewer = tree_of("leduc(suits=1)"), tree_of("leduc(suits=1,raises=1)")
    policy = random_policy(more)
    row, lifted = policy["Ks|r"], js.lift(policy, fewer)
    left = row["fold"] + row["call"]
    assert lifted.policy["Ks|r"]["fold"] == pytest.approx(row["fold"] / left)
    always = js.lift(pure_policy(more, 2), fewer)  # raises where it may
    assert always.policy["Ks|r"] == {"fold": 0.5, "call": 0.5}
    assert "Ks|r" in always.unmatched[1]
    renamed = js.lift(policy, fewer, actions={"fold": "raise"})
    assert renamed.policy["Ks|r"]["fold"] == pytest.approx(
        row["raise"] / (row["raise"] + row["call"])
    )


def test_lift_needs_equal_players_and_unique_names(monkeypatch: pytest.MonkeyPatch):
    two, three = tree_of("kuhn"), tree_of("kuhn(players=3)")
    with pytest.raises(ValueError, match=r"kuhn has 2 players, kuhn.* 3"):
        js.lift(js.uniform_policy(two), three)
    monkeypatch.setitem(two.info.__dict__, "labels", (("x",) * 6, ("y",) * 6))
    with pytest.raises(ValueError, match="two infosets of player 0 in kuhn are called 'x'"):
        js.lift(js.uniform_policy(two), two)


def test_pictures(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from jaxsolve.plot import strategy

    policy = random_policy(tree_of("kuhn"))
    figure = strategy(policy)
    axes = figure.axes[0]
    words = [label.get_text() for label in axes.get_yticklabels()]
    assert words == [f"{name}   p{i}" for i, name, _ in policy.rows()]
    width = {}
    for bars in axes.containers:
        for k, bar in enumerate(bars):
            width[bars.get_label(), k] = bar.get_width()
    for k, (_, _, actions) in enumerate(policy.rows()):
        assert all(width[action, k] == pytest.approx(p) for action, p in actions.items())
    figure.savefig(tmp_path / "kuhn.png")
    assert (tmp_path / "kuhn.png").stat().st_size > 10_000


def test_pictures_choose_infosets():
    pytest.importorskip("matplotlib")
    from jaxsolve.plot import strategy

    def rows(**options) -> list[str]:
        axes = strategy(policy, **options).axes[0]
        return [label.get_text() for label in axes.get_yticklabels()]

    policy = pure_policy(tree_of("kuhn"), 1)
    assert rows(infosets=["K", "J|b"]) == ["K   p0", "J|b   p1"]
    assert rows(player=0, limit=3) == ["J", "Q", "K"]
    assert rows(player=1, limit=3) == ["Q|b", "K|b", "J|b"]  # player 0 always bets
    assert rows(infosets=["K"], name=str.lower) == ["k"]
    assert strategy(policy, title="bets").get_suptitle() == "bets"
    assert (
        "3 of 6 infosets, most often reached" in strategy(policy, player=0, limit=3).get_suptitle()
    )
    bare = js.uniform_policy(tree_of("kuhn", keep_states=False))
    assert "4 of 12 infosets, the first" in strategy(bare, limit=4).get_suptitle()
    with pytest.raises(KeyError, match="no infoset is called 'Z'"):
        strategy(policy, infosets=["Z"])


def test_long_names_stay_distinct():
    from jaxsolve.plot._strategy import _shorten

    names = [f"[same start of every name]{'.' * 60}{k}{'.' * 60}[same end]" for k in range(3)]
    assert len(set(_shorten(names))) == 3
    assert all(len(x) < 70 for x in _shorten(["a" * 200, "b" * 200]))

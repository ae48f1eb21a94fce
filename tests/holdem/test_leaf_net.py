"""A network of leaf values: showdowns, dense games of pairs of hands, examples that are zero."""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import numpy as np
import pytest
from few import few
from hand_agents import POT, STACK, blueprint, chance_sums, game, hands_of

from jaxsolve import holdem, mccfr, native
from jaxsolve.holdem import leaf_net, limited, play
from jaxsolve.holdem._boards import hands_fit
from jaxsolve.holdem._menu_view import LEFT, MenuView
from jaxsolve.holdem.leaf_net import _network
from jaxsolve.holdem.leaf_net._features import betting_features
from jaxsolve.holdem.play._street_moves import menu_node
from jaxsolve.mccfr import Role

pytestmark = pytest.mark.skipif(
    native.host_library("mccfr") is None, reason="needs a C++17 compiler"
)
FLOP = holdem.parse_cards("Td9d6h")


@functools.cache
def after(count: int = 2) -> limited.Beyond:
    return beyond(chance_sums(game(POT)), count)


def beyond(sums: np.ndarray, count: int) -> limited.Beyond:
    continuations = mccfr.Continuations(sums, mccfr.bias(10, count))
    return limited.beyond(MenuView(game(POT)), continuations)


def limped(stack: int = STACK) -> play.PublicHand:
    hand = play.new_hand(holdem.no_limit(), stack)
    return hand.act(hand.can.call).act(100).deal(FLOP)


def begin(hand: play.PublicHand) -> limited.SearchBegin:
    ranges = np.random.default_rng(5).exponential(size=(2, 1326)) * holdem.possible(FLOP)
    return limited.SearchBegin(hand.state, hand.board, ranges, menu_node(after().view, hand))


def random_net(count: int = 2) -> leaf_net.LeafNet:
    """Returns a network whose values are about half a pot."""
    towers = _network.Towers(count, rank=4, width=16, depth=1)
    net = _network.leaf_net(jax.random.key(1), towers, _network.name_of(after(count)))
    leaves, form = jax.tree.flatten(net.params)
    keys = jax.random.split(jax.random.key(2), len(leaves))
    drawn = [0.3 * jax.random.normal(k, x.shape) for k, x in zip(keys, leaves, strict=True)]
    return leaf_net.LeafNet(towers, jax.tree.unflatten(form, drawn), net.blueprint)


def test_showdowns_are_the_equities() -> None:
    rng = np.random.default_rng(0)
    hands = rng.choice(np.flatnonzero(holdem.possible(FLOP)), 60, replace=False)
    weights = np.zeros(1326)
    weights[hands] = rng.random(60)
    want = holdem.equity(weights, FLOP, hands=hands)[hands]
    signs = leaf_net.mean_signs(tuple(FLOP))
    with np.errstate(invalid="ignore"):
        found = (signs @ weights) / (hands_fit() @ weights)
    np.testing.assert_allclose((found[hands] + 1) / 2, want, atol=1e-6)


def dense_gain(
    here: limited.LimitedHoldem, found: limited.LimitedResult, added: dict[int, np.ndarray], i: int
) -> tuple[float, float]:
    """Returns what player i wins by the policy, and by a best response, by matrices of pairs.

    `added` is float [k, 1326, 1326] chips at each end of the street, for the player who chooses.
    """
    tree, pays, fit = here.tree, here.payoffs, hands_fit()
    signs = leaf_net.mean_signs(here.board)

    def walk(node: int, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if tree.role[node] == Role.CHOICE:
            base = tree.action[node] * signs
            policy, chooser = found.policy(node), int(tree.actor[node])
            if i == chooser:
                each = np.stack([(base + v) @ reach for v in added[node]], 1)
                return (policy * each).sum(1), each.max(1)
            each = [(base - v.T) @ (reach * policy[:, k]) for k, v in enumerate(added[node])]
            return np.sum(each, 0), np.sum(each, 0)
        if not tree.count[node]:
            end = int(tree.end_number[node])
            spent, folded = pays.spent[end].astype(float), pays.folded[end]
            if folded.any():
                value = (-spent[i] if folded[i] else spent[1 - i]) * (fit @ reach)
            else:
                value = spent.min() * (signs @ reach)
            return value, value
        mine, policy = int(tree.actor[node]) == i, found.policy(node)
        first, parts = int(tree.child[node]), []
        for a in range(int(tree.count[node])):
            parts.append(walk(first + a, reach if mine else reach * policy[:, a]))
        now, best = (np.stack(x, 1) for x in zip(*parts, strict=True))
        if not mine:
            return now.sum(1), best.sum(1)
        return (policy * now).sum(1), best.max(1)

    now, best = walk(0, here.ranges[1 - i])
    return float(here.ranges[i] @ now), float(here.ranges[i] @ best)


@pytest.mark.parametrize("chooser", few([0, 1], bool))
def test_a_search_solves_the_game_of_pairs(chooser: int) -> None:
    """Zero-sum, and no best response in it wins more than half a percent of the pot."""
    start, net = begin(limped()), random_net()
    here = limited.limited_game(start, after().game.menu, after(), (chooser,))
    found = leaf_net.search_street(here, start, after(), net, iterations=300)
    tree = here.tree
    choices = np.flatnonzero(tree.role == Role.CHOICE)
    fixed = tree.child[choices]
    mapped = [np.flatnonzero(after().row == tree.source[x])[-1] for x in fixed]
    spent = tree.action[choices].astype(float)
    betting = betting_features(after(), np.array(mapped), spent, STACK, chooser)
    factors = net.factors(leaf_net.hand_features(tuple(FLOP)), betting)
    added = {
        int(node): np.stack([2 * m * (a[:, k] @ b.T) * hands_fit() for k in range(2)])
        for node, m, a, b in zip(choices, spent, *factors, strict=True)
    }
    assert max(np.abs(x).mean() for x in added.values()) > 20  # chips: the network matters
    gains = [dense_gain(here, found, added, i) for i in range(2)]
    pairs = here.ranges[0] @ hands_fit() @ here.ranges[1]
    assert abs(gains[0][0] + gains[1][0]) / pairs < 0.01
    lost = [(best - now) / pairs / 200 for now, best in gains]
    assert min(lost) > -1e-4
    assert sum(lost) / 2 < 0.005
    few = leaf_net.search_street(here, start, after(), net, iterations=10)
    gains = [dense_gain(here, few, added, i) for i in range(2)]
    assert sum(best - now for now, best in gains) > 4 * 200 * pairs * sum(lost)


def test_a_blueprint_that_never_bets_adds_nothing() -> None:
    """Its examples are showdowns less showdowns; with calls and folds by chance they are not."""
    here = game(POT)
    rows = here.tree.rows(here.num_buckets)
    sums = np.zeros(rows[-1], np.float32)
    view = MenuView(here)
    for node in np.flatnonzero(here.tree.count):
        first, count = int(here.tree.child[node]), int(here.tree.count[node])
        totals = here.tree.action[first : first + count]
        call = int(np.flatnonzero(totals == view.spent[node].max())[0])
        sums[rows[node] + call : rows[node + 1] : count] = 1
    quiet = leaf_net.leaf_examples(beyond(sums, 1), seed=3, flops=1, runouts=4, per_flop=4)
    there = np.isfinite(quiet.value)
    assert there.mean() > 0.9
    assert np.abs(quiet.value[there]).max() < 1e-3
    loud = leaf_net.leaf_examples(after(1), seed=3, flops=1, runouts=4, per_flop=4)
    np.testing.assert_array_equal(loud.hand, quiet.hand)
    assert np.abs(loud.value[there]).mean() > 0.05


@pytest.mark.slow
def test_a_network_learns_goes_on_and_is_kept(tmp_path: Path) -> None:
    held = leaf_net.leaf_examples(after(), seed=9, flops=2, runouts=32, per_flop=8)
    options = {"minutes": 0.01, "out": tmp_path / "a", "steps": 100, "progress": False}
    net = leaf_net.train(after(), **options)
    errors = leaf_net.leaf_errors(net, held)
    assert errors["mae"] < 0.7 * errors["mae_nothing"]
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "a").iterdir()}
    again = leaf_net.train(after(), **options)
    assert leaf_net.leaf_errors(again, held) == errors
    assert kept == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "a").iterdir()}
    with pytest.raises(ValueError, match="another blueprint"):
        leaf_net.train(after(1), **options)
    net.save(tmp_path / "net.npz")
    assert leaf_net.leaf_errors(leaf_net.LeafNet.load(tmp_path / "net.npz"), held) == errors
    (tmp_path / "net.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match="damaged"):
        leaf_net.LeafNet.load(tmp_path / "net.npz")
    with pytest.raises(ValueError, match="minutes are positive"):
        leaf_net.train(after(), minutes=0, out=tmp_path)


def test_an_agent_searches_flops_with_it() -> None:
    net = random_net(4)
    base = blueprint()
    agent = play.SearchAgent(base, first=1, leaf_net=net, iterations={1: 5, 2: 2, 3: 2})
    hand = limped()
    state = agent.begin(next(iter(hand.path())), 0, number=0, key=1)
    told, _ = agent.policy(state, hand)
    assert agent._kept  # a search was made
    np.testing.assert_allclose(told.policy[holdem.possible(FLOP)].sum(1), 1, atol=1e-5)
    for played in hands_of(agent, base, count=4):
        assert sum(played.chips) == 0
    with pytest.raises(ValueError, match="one of whom chooses"):
        play.SearchAgent(base, leaf_net=net, choosers="all")
    with pytest.raises(ValueError, match="trained on"):
        play.SearchAgent(base, leaf_net=random_net(2))


def test_a_search_refuses_what_it_cannot_do() -> None:
    start, net = begin(limped()), random_net()
    menu = after().game.menu
    both = limited.limited_game(start, menu, after())
    with pytest.raises(ValueError, match="both choose"):
        leaf_net.search_street(both, start, after(), net)
    one = limited.limited_game(start, menu, after(), (1,))
    with pytest.raises(ValueError, match="was trained on"):
        leaf_net.search_street(one, start, after(1), net)
    with pytest.raises(ValueError, match="must be positive"):
        leaf_net.search_street(one, start, after(), net, iterations=0)
    assert leaf_net.search_street(one, start, after(), net, seconds=0).tables.passes == 1
    lost = start._replace(node=LEFT)  # everything is checked to the showdown
    free = limited.limited_game(lost, menu, after(), (1,))
    found = leaf_net.search_street(free, lost, after(), net, iterations=20)
    np.testing.assert_allclose(found.policy(0)[holdem.possible(FLOP)].sum(1), 1, atol=1e-5)
    coarse = limited.limited_game(start, menu, after(), (1,), after().game.abstraction)
    with pytest.raises(ValueError, match="its own row"):
        leaf_net.search_street(coarse, start, after(), net)
    with pytest.raises(ValueError, match="knows flops"):
        leaf_net.hand_features(tuple(holdem.parse_cards("Td9d6hQc")))

"""Depth-limited search of a street: a dense reference, two samplers, the blueprint's own tree."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hand_agents import POT, STACK, chance_sums, game

from jaxsolve import holdem, mccfr, native
from jaxsolve.holdem import limited, play
from jaxsolve.holdem._boards import hands_fit, showdown_signs
from jaxsolve.holdem._menu_view import LEFT, MenuView
from jaxsolve.holdem._strength import strengths
from jaxsolve.holdem._vector_sampler import HandVectorSampler
from jaxsolve.mccfr import Role

pytestmark = pytest.mark.skipif(
    native.host_library("mccfr") is None, reason="needs a C++17 compiler"
)
BOARD = holdem.parse_cards("Td9d6hQc2s")


@functools.cache
def after(count: int = 4, players: int = 2) -> limited.Beyond:
    here = game(POT, players=players)
    return limited.beyond(
        MenuView(here), mccfr.Continuations(chance_sums(here), mccfr.bias(5, count))
    )


def checked_to(street: int, players: int = 2) -> play.PublicHand:
    """Returns a hand that was limped and checked to a street."""
    hand = play.new_hand(holdem.no_limit(players), STACK)
    for k in range(street):
        while hand.actor >= 0:
            hand = hand.act(hand.can.call)
        hand = hand.deal(BOARD[len(hand.board) : 3 + k])
    return hand


def begin(street: int, players: int = 2, seed: int = 5) -> limited.SearchBegin:
    """Returns where a search begins, with ranges drawn by chance and the blueprint's node."""
    hand, view = checked_to(street, players), after(4, players).view
    node = 0
    for here in hand.path():
        if here.move is not None:
            first = int(view.tree.child[node])
            actions = view.tree.action[first : first + int(view.tree.count[node])]
            node = first + int(np.flatnonzero(actions == here.move)[0])
    ranges = np.random.default_rng(seed).exponential(size=(players, 1326))
    return limited.SearchBegin(hand.state, hand.board, ranges, node)


def dense_regrets(
    here: limited.LimitedHoldem, tables: mccfr.Tables, board: np.ndarray, player: int
) -> np.ndarray:
    """Returns the regrets that a pass on a board adds, by dense matrices of pairs of hands."""
    tree, pays = here.tree, here.payoffs
    street_of = [here.bucket if s == here.street else None for s in range(4)]
    for s in range(here.street + 1, 4):
        street_of[s] = here.abstraction.bucket(tuple(board[: 2 + s].tolist())).astype(np.int64)
    every, fit = np.arange(1326), hands_fit().astype(float)
    strength = strengths(every, [board.tolist()])[0]
    live = strength >= 0
    fit = fit * live[:, None] * live[None]
    signs = showdown_signs(strength) * fit
    regret = np.zeros(len(tables.regret))

    def policy_at(node: int, chosen: int) -> np.ndarray:
        bucket = street_of[int(tree.stage[node])]
        assert bucket is not None
        if tree.role[node] == Role.FIXED:
            known = {b: tree.policy_beyond(node, b, chosen) for b in np.unique(bucket[live])}
            some = known[bucket[live][0]]
            return np.stack([known.get(b, some) for b in bucket])
        return mccfr.matched(mccfr.entries_of(tree, tables, tables.regret, node))[bucket]

    def walk(node: int, reach: np.ndarray, own: int, other: int) -> np.ndarray:
        if not tree.count[node]:
            end = int(tree.end_number[node])
            spent, folded = pays.spent[end].astype(float), pays.folded[end]
            if folded.any():
                lost = -spent[player] if folded[player] else spent[1 - player]
                return np.asarray(lost * (fit @ reach))
            return np.asarray(spent.min() * (signs @ reach))
        mine = int(tree.actor[node]) == player
        policy, first = policy_at(node, own if mine else other), int(tree.child[node])
        chooses = tree.role[node] == Role.CHOICE
        value = []
        for a in range(int(tree.count[node])):
            child = first if chooses else first + a
            after_own, after_other = (a, other) if mine else (own, a)
            kept = (after_own, after_other) if chooses else (own, other)
            value.append(walk(child, reach if mine else reach * policy[:, a], *kept))
        if not mine:
            return np.asarray(np.sum(value, 0))
        values = np.stack(value, 1)
        mean = (policy * values).sum(1)
        if tree.role[node] != Role.FIXED:
            bucket = street_of[int(tree.stage[node])]
            at = int(tables.row[node]) + bucket * int(tree.count[node])
            for a in range(values.shape[1]):
                np.add.at(regret, at + a, np.where(live, values[:, a] - mean, 0))
        return mean

    start = np.where(live, here.ranges[1 - player], 0)
    walk(0, start, 0, 0)
    return regret * (1081 / 990)  # of all other hands, those that share no card


def first_tables(here: limited.LimitedHoldem) -> mccfr.Tables:
    tables = mccfr.make_tables(here)
    tables.regret[:] = np.random.default_rng(4).uniform(0.1, 1, len(tables.regret))
    return tables


@pytest.mark.parametrize(
    ("street", "choosers"), [(2, (0, 1)), (2, (1,)), pytest.param(1, (0,), marks=pytest.mark.slow)]
)
def test_a_pass_of_vectors_is_the_dense_one(street: int, choosers: tuple[int, ...]) -> None:
    """Regrets of every hand after one pass, both players, all choices."""
    here = limited.limited_game(begin(street), after().game.menu, after(), choosers)
    options = mccfr.Options(power=0, unit=1)
    sampler = HandVectorSampler(here, options, roulette=0)
    before = first_tables(here)
    now = mccfr.Tables(before.row, before.regret.copy(), before.average.copy())
    board = np.array(BOARD, np.uint8)
    sampler.on(now, board[None])
    # The first player's regrets change before the second's are found.
    want = before.regret.astype(float) + dense_regrets(here, before, board, 0)
    half = mccfr.Tables(before.row, want.astype(np.float32), before.average)
    want += dense_regrets(here, half, board, 1)
    np.testing.assert_allclose(now.regret, want, rtol=2e-4, atol=2e-3)
    assert np.abs(now.regret - before.regret).max() > 1


@pytest.mark.parametrize("player", [0, 1])
def test_values_of_continuations_are_the_dense_ones(player: int) -> None:
    """Where the turn begins: the first is the blueprint's, the others differ by their regrets."""
    start, board = begin(2), np.array(BOARD, np.uint8)
    found = limited.continuation_values(start, after(), board[None], player)
    plain = limited.blueprint_values(start, after(), board[None])
    np.testing.assert_allclose(found[0], plain[player], rtol=1e-4, atol=1e-2)
    tree, pays = limited.tree_beyond(start.state, start.node, after(), np.arange(2) == player)
    blueprint, every = after().game.abstraction, np.arange(1326)
    here = limited.LimitedHoldem(blueprint, tree, pays, 1, start.board, start.ranges, every)
    tables = mccfr.make_tables(here)
    regret = dense_regrets(here, tables, board, player).reshape(1326, -1) * (990 / 1081)
    np.testing.assert_allclose((found - found[0]).T, regret - regret[:, :1], rtol=2e-3, atol=0.1)
    assert np.abs(found - found[0]).max() > 1000


def test_both_samplers_find_the_same_regrets() -> None:
    """On the river nothing is drawn for vectors; deals from the ranges come to the same means."""
    here = limited.limited_game(begin(3), after().game.menu, after())
    options = mccfr.Options(power=0)
    before = first_tables(here)
    exact = np.zeros(len(before.regret))
    for player in range(2):
        exact += dense_regrets(here, before, np.array(BOARD, np.uint8), player) * 990 / 1081
    # A pass draws the player's own hand as well, and only pairs that share no card.
    pairs = here.ranges[0] @ hands_fit() @ here.ranges[1]
    rows = np.searchsorted(before.row, np.arange(len(exact)), "right") - 1
    bucket = (np.arange(len(exact)) - before.row[rows]) // here.tree.count[rows]
    own = here.ranges[here.tree.actor[rows], bucket]
    want = exact * own / pairs / 2
    sampler = mccfr.ExternalSampler(here, options)
    passes, calls = 250, 600
    # Few passes from regrets that are large: the policy stays that of the beginning.
    large = before.regret * np.float32(1e4)
    steps = []
    for k in range(calls):
        now = mccfr.Tables(before.row, large.copy(), before.average.copy(), k * passes)
        now, _ = sampler.run(now, passes)
        steps.append((now.regret - large).astype(float) / passes)
    mean, spread = np.mean(steps, 0), np.std(steps, 0, ddof=1) / np.sqrt(calls)
    # By node and action over all hands; single hands are too noisy.
    node = rows * 32 + (np.arange(len(exact)) - before.row[rows]) % here.tree.count[rows]
    for key in np.unique(node):
        some = node == key
        error = np.sqrt(np.square(spread[some]).sum())
        assert abs(mean[some].sum() - want[some].sum()) < 5 * error + 1e-6
        assert np.corrcoef(mean[some], want[some])[0, 1] > 0.8


def test_the_blueprints_own_street_is_its_subtree() -> None:
    """With the blueprint's menu, node and chips, every end below is one of the blueprint's."""
    start, whole = begin(1), after()
    here = limited.limited_game(start, whole.game.menu, whole)
    tree, pays = whole.view.tree, whole.game.payoffs
    below = np.zeros(tree.num_nodes, bool)
    below[start.node] = True
    for node in range(start.node + 1, tree.num_nodes):
        below[node] = below[tree.parent[node]]
    ends = tree.end_number[np.flatnonzero(below & (tree.count == 0))]

    def rows(found: mccfr.PotPayoffs, some: Any) -> np.ndarray:
        both = np.concatenate([found.spent[some], found.folded[some]], 1)
        return both[np.lexsort(both.T)]

    np.testing.assert_array_equal(rows(pays, ends), rows(here.payoffs, slice(None)))
    decisions = here.tree.role[here.tree.count > 0] != Role.CHOICE
    assert decisions.sum() == (below & (tree.count > 0)).sum()


def test_a_bet_off_the_menu_goes_on_with_real_chips() -> None:
    start, whole = begin(1), after()
    menu = limited.street_menu(whole.game.menu, 1, [(0, 137)])
    here = limited.limited_game(start, menu, whole)
    first = int(here.tree.child[0])
    totals = here.tree.action[first : first + int(here.tree.count[0])]
    assert totals.tolist() == [100, 237, 300, STACK]
    raised = here.find([237])
    assert raised is not None
    below = int(here.tree.child[raised])
    found = here.tree.action[below : below + 2].tolist()
    assert found == [holdem.FOLD, 237]  # a call leads to a choice
    assert here.find([237, 237]) is not None
    assert (here.payoffs.spent <= STACK).all()
    shown = ~here.payoffs.folded.any(1)
    assert (here.payoffs.spent[shown, 0] == here.payoffs.spent[shown, 1]).all()
    assert (here.payoffs.spent[shown, 0] == 237).any()  # called, and checked to the showdown
    lost = limited.limited_game(start._replace(node=LEFT), menu, whole)
    assert (lost.tree.role != Role.FIXED).all()


def test_searches_are_repeatable_and_bad_input_is_refused() -> None:
    start, menu = begin(2), after().game.menu
    here = limited.limited_game(start, menu, after())
    found = [limited.search(here, passes=6, seed=3) for _ in range(2)]
    np.testing.assert_array_equal(found[0].tables.regret, found[1].tables.regret)
    assert limited.search(here, seconds=0).tables.passes > 0  # some answer at any time
    policy = found[0].policy(0)
    live = policy.any(1)
    np.testing.assert_allclose(policy[live].sum(1), 1)
    assert live.sum() == 1128  # hands that do not meet four cards
    with pytest.raises(ValueError, match="how many passes or seconds"):
        limited.search(here)
    with pytest.raises(ValueError, match="known are vector, external"):
        limited.search(here, passes=1, sampler="none")
    with pytest.raises(ValueError, match="seats are 0 to 1"):
        limited.limited_game(start, menu, after(), (2,))
    with pytest.raises(ValueError, match="ranges are"):
        limited.limited_game(start._replace(ranges=np.ones((2, 3))), menu, after())
    one = np.zeros((2, 1326))
    one[:, 700] = 1
    same = limited.limited_game(start._replace(ranges=one), menu, after())
    with pytest.raises(ValueError, match="leave"):
        limited.search(same, passes=10, sampler="external")


@pytest.mark.parametrize("sampler", ["vector", "external"])
def test_a_frozen_decision_stays_as_it_was(sampler: str) -> None:
    here = limited.limited_game(begin(3), after().game.menu, after())
    node = int(here.tree.child[0])  # of the second player, after a check
    policy = np.random.default_rng(3).dirichlet(np.ones(int(here.tree.count[node])), 1326)
    passes = 50 if sampler == "vector" else 50_000
    how: dict[str, Any] = {"sampler": sampler, "passes": passes}
    held = limited.search(here, frozen={node: policy}, **how)
    free = limited.search(here, **how)
    live = holdem.possible(here.board)
    for current in (False, True):
        found = held.policy(node, current=current)[live]
        np.testing.assert_allclose(found, policy[live], atol=1e-5)
    assert np.abs(free.policy(node)[live] - policy[live]).max() > 0.5
    assert np.abs(free.policy(0)[live] - held.policy(0)[live]).max() > 0.1


def test_three_players_search_a_flop() -> None:
    """Everybody chooses; hands of the deals never meet each other or the board."""
    start = begin(1, players=3)
    whole = after(4, 3)
    here = limited.limited_game(start, whole.game.menu, whole)
    deals = here.deal(1, 0, 500)
    hands = [holdem.HANDS[deals.bucket[:, i, 1]] for i in range(3)]
    cards = np.concatenate([*hands, np.tile(start.board, (500, 1))], 1)
    assert all(len(set(row)) == 9 for row in cards.tolist())
    found, again = (limited.search(here, passes=300, seed=1) for _ in range(2))
    np.testing.assert_array_equal(found.tables.average, again.tables.average)
    assert np.abs(found.tables.regret).max() > 0


@pytest.mark.parametrize(
    ("sampler", "passes"),
    [("vector", 300), pytest.param("external", 3_000_000, marks=pytest.mark.slow)],
)
def test_a_river_is_solved_as_its_spot(sampler: str, passes: int) -> None:
    """What either player loses by its strategy against a best response, beside `holdem.solve`."""
    start, menu = begin(3), after().game.menu
    here = limited.limited_game(start, menu, after())
    found = limited.search(here, sampler=sampler, passes=passes, seed=2)
    ranges = here.ranges / here.ranges.max(1, keepdims=True)
    spot = holdem.spot_tree(
        holdem.Spot(
            board=BOARD,
            pot=200,
            stack=(STACK - 100, STACK - 100),
            ranges=(ranges[0], ranges[1]),
            sizes=holdem.parse_sizes(
                {"river": {"bet": ["100%", "a"], "raise": []}}, streets=("river",)
            ),
            raise_cap=1,
        )
    )
    exact = holdem.solve(spot, iterations=300, progress=False)
    for player in range(2):
        fixed = spot
        tree = here.tree
        for node in np.flatnonzero((tree.count > 0) & (tree.actor == player)):
            first = int(tree.child[node])
            words = [tree.label[c] for c in range(first, first + int(tree.count[node]))]
            policy = found.policy(int(node))
            shares = {word: policy[:, a] for a, word in enumerate(words)}
            fixed = holdem.lock(fixed, tree.line(int(node)), shares)
        played = holdem.solve(fixed, iterations=300, progress=False)
        lost = float(exact.values[player] - played.values[player])
        assert -1 < lost < (1 if sampler == "vector" else 4)  # of a pot of 200

"""What users see of blueprints: a page of charts, and what each position wins and opens."""

from __future__ import annotations

import functools
import html
import itertools
import re

import numpy as np
import pytest
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import BetMenu, Blueprint

STREETS = ("preflop", "flop", "turn", "river")


@functools.cache
def made(players: int) -> Blueprint:
    street = {"sizes": [["100%", "a"]]}
    table = {"stack": "5bb", "players": players, **dict.fromkeys(STREETS, street)}
    game = holdem.holdem_game(BetMenu.parse(table), made_buckets(3))
    sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=1))
    return Blueprint(game, sampler.run(mccfr.make_tables(game), 2_000)[0], 1.0)


def test_names_of_positions() -> None:
    assert holdem.position_names(2) == ("BB", "BTN")
    assert holdem.position_names(3) == ("SB", "BB", "BTN")
    assert holdem.position_names(4) == ("SB", "BB", "UTG", "BTN")
    assert holdem.position_names(6) == ("SB", "BB", "UTG", "HJ", "CO", "BTN")
    assert holdem.position_names(9)[2:5] == ("UTG", "UTG+1", "UTG+2")
    for players in range(2, 10):
        assert len(set(holdem.position_names(players))) == players
    with pytest.raises(ValueError, match="tables of 2 to 9, not 1"):
        holdem.position_names(1)


def test_everybody_but_the_last_opens() -> None:
    assert holdem.opening_lines(made(3).game.tree) == {2: "", 0: "f"}


@pytest.mark.parametrize("players", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_common_lines_are_the_most_likely_of_all(players: int) -> None:
    """Beside every preflop decision with its probability, a product of frequencies of ranges."""
    here = made(players)
    tree, every = here.game.tree, {}
    assert holdem.opening_lines(tree)[players - 1] == ""
    for node in np.flatnonzero((tree.count > 0) & (tree.stage == 0)):
        reach, below = [np.ones(holdem.NUM_HANDS) for _ in range(players)], int(node)
        path = [below]
        while (below := int(tree.parent[below])) >= 0:
            path.append(below)
        for above, below in itertools.pairwise(reversed(path)):
            policy = here.policy(tree.line(above))
            reach[int(tree.actor[above])] *= policy[:, below - int(tree.child[above])]
        every[tree.line(int(node))] = float(np.prod([r.mean() for r in reach]))
    most = sorted(every.values(), reverse=True)
    assert len(every) >= 6
    found = holdem.common_lines(here, 5)
    np.testing.assert_allclose(list(found.values()), most[:5])
    for line, share in found.items():
        assert share == pytest.approx(every[line])
    with pytest.raises(ValueError, match="count is 1 or more"):
        holdem.common_lines(here, 0)


def test_the_page_has_the_numbers_of_the_tables() -> None:
    here = made(3)
    page = holdem.preflop_page(here, count=5)
    assert not re.search(r"(src|href)=|https?:|@import|url\(", page)  # nothing to load
    shown = {"", "f", *holdem.common_lines(here, 5)}
    assert page.count("<figure>") == len(shown)
    (chart,) = (f for f in page.split("<figure>") if "<b>SB</b> <code>f</code>" in f)
    cells = dict(re.findall(r"<td title='(\w+): ([^']*)'", chart))
    assert len(cells) == 169
    policy = here.policy("f")
    for name in ("AA", "72o", "T9s"):
        hand = int(np.flatnonzero(holdem.parse_range(name))[0])
        shares = zip(here.actions("f"), policy[hand], strict=True)
        words = ", ".join(f"{action} {share:.3f}" for action, share in shares)
        assert html.unescape(cells[name]) == f"weight 1.000: {words}"


def test_a_blueprint_shows_its_first_decision_in_a_notebook() -> None:
    page = made(3)._repr_html_()
    assert page.count("<td title=") == 169
    assert f"r350 {100 * made(3).policy('')[:, 2].mean():.1f}%" in page
    assert "2,000 passes" in page


def test_a_node_with_its_board() -> None:
    here, board = made(3), holdem.parse_cards("Td9d6h")
    page = holdem.node_page(here, "c c x", board)
    assert "T♦" in page
    assert page.count("on the board'") == 0  # every class has hands left
    policy, reach = here.policy("c c x", board), here.reach("c c x", board)
    often = (policy * reach[:, None]).sum(0) / reach.sum()
    for action, share in zip(here.actions("c c x"), often, strict=True):
        assert f"{action} {100 * share:.1f}%" in page
    with pytest.raises(ValueError, match="whose board has 3 cards, not 0"):
        holdem.node_page(here, "c c x")


def test_everybody_folds_to_the_big_blind() -> None:
    game = made(3).game
    folds = mccfr.make_tables(game)
    folds.average[:] = holdem.always(game, "f")
    here = Blueprint(game, folds, 1.0)
    button, small, big = holdem.position_reports(here, hands=60)
    assert (button.position, button.mbb, button.fold, button.bet) == ("BTN", 0, 1, 0)
    assert (small.position, small.mbb, small.low, small.high) == ("SB", -500, -500, -500)
    assert (big.position, big.mbb, big.fold, big.call, big.bet) == ("BB", 500, None, None, None)
    with pytest.raises(ValueError, match="hands is 4 or more, not 3"):
        holdem.position_reports(here, hands=3)


def test_positions_sum_to_zero_and_open_as_the_tables_say() -> None:
    here = made(3)
    found = {p.position: p for p in holdem.position_reports(here, hands=3_000)}
    assert sum(p.mbb for p in found.values()) == pytest.approx(0, abs=1e-3)
    assert all(p.low < p.mbb < p.high for p in found.values())
    combos = np.bincount(holdem.preflop_classes(), minlength=169)
    for name, line in (("BTN", ""), ("SB", "f")):
        sums = mccfr.entries_of(
            here.game.tree, here.tables, here.tables.average, here.game.tree.find(line)
        )
        often = combos @ mccfr.matched(sums) / 1_326
        p = found[name]
        np.testing.assert_allclose([p.fold, p.call, p.bet], [*often[:2], often[2:].sum()])
    page = holdem.preflop_page(here, count=1, positions=list(found.values()))
    assert f"<td>SB</td><td>{found['SB'].mbb:+.0f} &plusmn;" in page


@pytest.mark.slow
def test_the_button_wins_what_a_walk_over_all_hands_says() -> None:
    """Heads-up, beside the exact expectation over pairs of hands on sampled boards."""
    here = made(2)
    (button, _) = holdem.position_reports(here, hands=200_000)
    rng = np.random.default_rng(5)
    boards = [np.sort(rng.choice(52, 5, replace=False)) for _ in range(12)]
    exact = [-10 * holdem.match_plain([here.strategy] * 2, board) for board in boards]
    error = np.hypot(np.std(exact) / np.sqrt(len(exact)), (button.high - button.mbb) / 1.96)
    assert button.position == "BTN"
    assert abs(np.mean(exact) - button.mbb) < 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_first_to_act_raises_less_than_the_button(seed: int) -> None:
    street = {"sizes": [["100%", "a"], ["a"]]}
    table = {"stack": "10bb", "players": 6, **dict.fromkeys(STREETS, street)}
    game = holdem.holdem_game(BetMenu.parse(table), made_buckets(20))
    sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=seed, average_stages=1))
    here = Blueprint(game, sampler.run(mccfr.make_tables(game), 600_000)[0], 1.0)
    opened = holdem.opening_frequencies(here)
    assert list(opened) == [2, 3, 4, 5, 0]
    folds = [opened[k][0] for k in (2, 3, 4, 5)]
    assert folds == sorted(folds, reverse=True)
    assert folds[0] > folds[-1] + 0.08  # at least 0.13 of six seeds
    assert opened[2][2] < opened[5][2]

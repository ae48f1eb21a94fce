"""Menus, public actions of whole hands, and deals."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr, native
from jaxsolve.holdem import BetMenu

STREETS = ("preflop", "flop", "turn", "river")


def menu(*sizes: list[str], stack: str = "20bb", players: int = 2, repeat: bool = False) -> BetMenu:
    street = {"sizes": list(sizes), "repeat": repeat}
    return BetMenu.parse({"players": players, "stack": stack, **dict.fromkeys(STREETS, street)})


@functools.cache
def game(players: int = 2) -> holdem.HoldemGame:
    return holdem.holdem_game(menu(["100%", "a"], players=players), made_buckets(7))


def test_counts_of_a_small_menu() -> None:
    """Pot or all-in, two raises a street, 20 big blinds: 10, 34, 74 and 130 decisions."""
    tree, _ = holdem.action_tree(menu(["100%", "a"], ["100%", "a"]))
    decides = tree.count > 0
    assert [int((decides & (tree.stage == s)).sum()) for s in range(4)] == [10, 34, 74, 130]
    assert tree.num_sequences == 569


@pytest.mark.slow
def test_heads_up_lines_are_those_of_the_tree_of_spots() -> None:
    """Every line, actor and pot beside `betting_tree`, which steps the rules node by node."""
    offered = menu(["50%", "2.5x", "a"], ["100%", "a"], stack="30bb")

    def sizes(s: Any) -> list[int]:
        return holdem.totals(
            offered.streets[s.street].at(s.raises),
            own=s.own,
            facing=s.facing,
            pot=s.pot,
            high=s.high,
            low=s.low,
        )

    want = holdem.betting_tree(offered.rules, holdem.start(offered.rules, offered.stack), sizes)
    tree, pays = holdem.action_tree(offered)
    lines = {want.line(k): k for k in range(want.num_nodes)}
    assert len(lines) == want.num_nodes == tree.num_nodes > 1_000
    end = {int(p): k for k, p in enumerate(tree.ends)}
    for p in range(tree.num_nodes):
        k = lines[tree.line(p)]
        assert tree.count[p] == len(want.children(k))
        if tree.count[p]:
            assert tree.actor[p] == want.actor[k]
            assert tree.find(tree.line(p)) == p
        else:
            np.testing.assert_array_equal(pays.spent[end[p]], want.spent[k])


@pytest.mark.slow
def test_six_players() -> None:
    tree, pays = game(6).tree, game(6).payoffs
    assert tree.num_players == 6
    assert tree.line(tree.find("f f f f")) == "f f f f"
    ends = np.flatnonzero(pays.folded.sum(1) == 5)
    assert (pays.spent[ends].sum(1) >= 150).all()
    assert set(tree.actor[tree.count > 0]) == set(range(6))


@pytest.mark.skipif(native.host_library("mccfr") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("players", [2, 3])
def test_deals_in_python_are_the_same(players: int) -> None:
    here = game(players)
    fast, cards = here.deal_cards(3, 1_000, 50)
    slow, same = here._deal_plain(3 ^ 0xCA4D5, 1_000, 50)
    np.testing.assert_array_equal(cards, same)
    np.testing.assert_array_equal(fast.bucket, slow.bucket)
    np.testing.assert_array_equal(fast.outcome, slow.outcome)
    again, _ = here.deal_cards(3, 1_020, 10)
    np.testing.assert_array_equal(again.bucket, fast.bucket[20:30])


def test_cards_are_uniform_and_buckets_are_of_the_board() -> None:
    here = game()
    deals, cards = here.deal_cards(1, 0, 20_000)
    assert (np.sort(cards, 1)[:, 1:] > np.sort(cards, 1)[:, :-1]).all()
    for place in range(9):
        counts = np.bincount(cards[:, place], minlength=52)
        assert np.square(counts - 20_000 / 52).sum() / (20_000 / 52) < 95  # chi-square, 1 in 5,000
    rows, turned = holdem.canonical_boards(3).find(cards[:, 4:7])
    hand = holdem.hand_index(cards[:, 0].astype(int), cards[:, 1].astype(int))
    want = here.abstraction.flop[rows, holdem.hand_after()[turned, hand]]
    np.testing.assert_array_equal(deals.bucket[:, 0, 1], want)
    np.testing.assert_array_equal(deals.bucket[:, 0, 0], holdem.preflop_classes()[hand])


def test_a_pass_of_hold_em(tmp_path: Path) -> None:
    here = game(3)
    sampler = mccfr.ExternalSampler(here, mccfr.Options(average_stages=1))
    tables, visited = sampler.run(mccfr.make_tables(here), 60)
    assert visited > 300
    assert np.isfinite(tables.regret).all()
    mccfr.save_tables(tmp_path / "t.npz", here, tables)
    other = holdem.holdem_game(menu(["50%", "a"], players=3), here.abstraction)
    with pytest.raises(ValueError, match="belongs to another run: game"):
        mccfr.load_tables(tmp_path / "t.npz", other)


def test_menus_that_are_refused() -> None:
    street = {"sizes": [["a"]]}
    table = {"stack": "100bb", **dict.fromkeys(STREETS, street)}
    for change, words in (
        ({"flops": street}, "unknown menu key 'flops'"),
        ({"stack": "many"}, 'a stack is "100bb" or a number of chips'),
        ({"stack": "0.5bb"}, "at least a big blind"),
        ({"players": 10}, "2 to 9, not 10"),
        ({"players": "two"}, "a whole number"),
        ({"flop": {"size": []}}, "unknown flop key 'size'"),
        ({"flop": {"sizes": ["a"]}}, "a list of lists"),
        ({"flop": {"sizes": [["huge"]]}}, "flop.sizes: 'huge' is not a size"),
        ({"flop": {"sizes": [["a"]], "repeat": 1}}, "true or false"),
        ({key: {"sizes": [[]]} for key in STREETS}, "allows no bet"),
    ):
        with pytest.raises(ValueError, match=words):
            BetMenu.parse({**table, **change})
    with pytest.raises(ValueError, match="turn is missing"):
        BetMenu.parse({k: v for k, v in table.items() if k != "turn"})


def test_a_street_named_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "menu.toml"
    path.write_text('stack = "20bb"\n[flop]\nsizes = [["a"]]\n[flop]\nsizes = [["a"]]\n')
    with pytest.raises(ValueError, match=r"menu.toml: .*flop"):
        BetMenu.load(path)

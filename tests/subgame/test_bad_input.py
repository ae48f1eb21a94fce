"""What is refused, and with which words."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.tree import policy_from_probabilities


@pytest.fixture(scope="module")
def kuhn() -> js.PublicTree:
    return js.compile(games.load("kuhn"))


@pytest.fixture(scope="module")
def even(kuhn: js.PublicTree) -> js.Policy:
    return js.uniform_policy(kuhn)


def test_even_orders(kuhn, even):
    for k in (2, 0, -1, 1.5, "some"):
        with pytest.raises(ValueError, match="odd"):
            subgame.klss(kuhn, even, 0, k=k)
        with pytest.raises(ValueError, match="odd"):
            search.nested(kuhn, even, knowledge=k)


def test_places_that_do_not_exist(kuhn, even):
    with pytest.raises(ValueError, match="kuhn has no public state 99"):
        subgame.maxmargin(kuhn, even, 99)
    with pytest.raises(ValueError, match="kuhn has no public state -1"):
        subgame.cut(kuhn, -1, even)
    with pytest.raises(ValueError, match="no infoset of player 0 6; they are numbered 0 to 5"):
        subgame.klss(kuhn, even, [0, 6])


def test_alternative_values_of_the_wrong_shape(kuhn, even):
    at = int(subgame.levels(kuhn, knowledge="common")[0][0])
    part = subgame.maxmargin(kuhn, even, at)
    right = len(part.info.weight)
    with pytest.raises(ValueError, match=rf"shape \(7,\).*{right} classes"):
        subgame.maxmargin(kuhn, even, at, alternative=np.zeros(7))
    with pytest.raises(ValueError, match="alternative must be"):
        subgame.resolve(kuhn, even, at, alternative="guess")
    with pytest.raises(ValueError, match="reach must be"):
        subgame.resolve(kuhn, even, at, reach="some")
    with pytest.raises(ValueError, match="range of player 0"):
        subgame.cut(kuhn, at, [np.ones(7), np.ones(3)])


def test_a_blueprint_that_does_not_cover(kuhn, even):
    blocks = [[np.array(b) for b in p] for p in even.players]
    blocks[0][0][:, 1] = 0  # infoset 1 of player 0 plays nothing
    empty = js.Policy(tuple(tuple(p) for p in blocks), even.info)
    with pytest.raises(ValueError, match=f"does not cover infoset {kuhn.info.labels[0][1]!r}"):
        search.nested(kuhn, empty)
    coarse = js.lift(even, kuhn, names=lambda player, name: None if name == "Q" else name)
    with pytest.raises(ValueError, match=r"does not cover infoset 'Q' of player 0.*coarser"):
        search.nested(kuhn, coarse)
    other = js.uniform_policy(js.compile(games.load("coin_toss")))
    with pytest.raises(ValueError, match="policy of coin_toss"):
        search.nested(kuhn, other)


def test_infosets_that_are_never_reached_need_no_cover(kuhn):
    """Player 0 always bets, so what follows a pass may hold anything; it is skipped and counted."""
    odds = np.tile([0.0, 1.0], 6)
    labels = kuhn.info.labels[0]
    later = [k for k, name in enumerate(labels) if "|" in name]
    for k in later:
        odds[2 * k : 2 * k + 2] = [0.5, 0.5]
    policy = policy_from_probabilities(kuhn, [odds, np.full(12, 0.5)])
    with jax.enable_x64(True):
        result = search.nested(kuhn, policy, players=0)
        assert result.solved + result.skipped == 6  # re-solved, player 0 may pass with some cards
        assert result.solved >= 3
        part = subgame.klss(kuhn, policy, np.arange(6))
        assert part.info.skipped == len(later) == 3
        assert np.isfinite(part.info.weight).all()
        assert (part.info.weight > 0).all()
        with pytest.raises(ValueError, match="play never reaches"):
            subgame.klss(kuhn, policy, later)


def test_games_that_subgame_solving_is_not_for():
    three = js.compile(games.load("kuhn(players=3)"))
    with pytest.raises(ValueError, match="two-player constant-sum"):
        search.nested(three, js.uniform_policy(three))
    bare = js.compile(games.load("kuhn"), keep_states=False)
    with pytest.raises(ValueError, match="no table of world states"):
        search.nested(bare, js.uniform_policy(bare))
    with pytest.raises(ValueError, match="no table of world states"):
        subgame.cut(bare, 0, js.uniform_policy(bare))


def test_options_that_do_not_go_together(kuhn, even):
    for options, words in (
        ({"gadget": "best"}, "gadget must be one of"),
        ({"safety": "perhaps"}, "safety must be one of"),
        ({"safety": "independent"}, "go together"),
        ({"infosets": [0]}, "go together"),
        ({"safety": "independent", "infosets": [0]}, "one player"),
        ({"players": 2}, "players must be"),
        ({"floor": np.zeros(12)}, "one floor for two players"),
    ):
        with pytest.raises(ValueError, match=words):
            search.nested(kuhn, even, **options)
    with pytest.raises(ValueError, match="has no action 'dance'"):
        subgame.action_floor(kuhn, 0.25, action="dance")
    with pytest.raises(ValueError, match="epsilon"):
        search.lp_blueprint(kuhn, epsilon=2)
    with pytest.raises(ValueError, match="not one of subgames"):
        subgame.write(even, kuhn, even)
    part = subgame.klss(kuhn, even, [0, 1, 2], k=3)
    with pytest.raises(ValueError, match="free the same infoset"):
        subgame.write(even, part, js.uniform_policy(part))
    nameless = dataclasses.replace(even, names=None)
    assert search.nested(kuhn, nameless, gadget="resolve").solved > 0

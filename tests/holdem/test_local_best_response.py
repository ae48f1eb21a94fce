"""Local best responses: between what calling wins and what a responder who knows the board wins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from few import few
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import BetMenu, _local_best_response
from jaxsolve.holdem._boards import hands_fit, showdown_signs
from jaxsolve.holdem._local_best_response import mean_signs
from jaxsolve.holdem._range_match import hands_by_strength
from jaxsolve.holdem._strength import strengths

STREETS = ("preflop", "flop", "turn", "river")


@functools.cache
def game() -> holdem.HoldemGame:
    street = {"sizes": [["100%", "a"]]}
    return holdem.holdem_game(
        BetMenu.parse({"stack": "5bb", **dict.fromkeys(STREETS, street)}), made_buckets(3)
    )


@functools.cache
def strategies() -> dict[str, np.ndarray]:
    here = game()
    tables, _ = mccfr.ExternalSampler(here, mccfr.Options()).run(mccfr.make_tables(here), 30_000)
    return {
        "trained": tables.average,
        "uniform": holdem.uniform_sums(here),
        "all-in": holdem.always(here, "a"),
    }


def knows_the_board(sums: np.ndarray, board: np.ndarray) -> float:
    """What a best response wins that knows all five cards, the mean of both seats."""
    here, tree = game(), game().tree
    hands, strength, bucket = hands_by_strength([here, here], board)
    cards = holdem.HANDS[hands]
    fits = (~(cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))).astype(float)
    signs = np.sign(strength[:, None] - strength[None]) * fits
    rows, end_of = tree.rows(here.num_buckets), {int(p): k for k, p in enumerate(tree.ends)}

    def walk(node: int, seat: int, other: np.ndarray) -> np.ndarray:
        if not (count := int(tree.count[node])):
            spent, folded = (x[end_of[node]] for x in (here.payoffs.spent, here.payoffs.folded))
            if folded.any():
                won = -spent[seat] if folded[seat] else spent[1 - seat]
                return np.asarray(won * (fits @ other))
            return np.asarray(spent.min() * (signs @ other))
        first = int(tree.child[node])
        if tree.actor[node] == seat:
            return np.max([walk(first + a, seat, other) for a in range(count)], 0)
        policy = mccfr.matched(sums[rows[node] : rows[node + 1]].reshape(-1, count))
        policy = policy[bucket[0, int(tree.stage[node])]]
        return np.sum([walk(first + a, seat, other * policy[:, a]) for a in range(count)], 0)

    won = [walk(0, seat, np.ones(len(hands))).sum() / fits.sum() for seat in range(2)]
    return float(np.mean(won))


@pytest.mark.parametrize("name", few(["trained", "uniform", "all-in"], "trained".__eq__))
def test_it_wins_less_than_who_knows_the_board(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every board, if its luck is left in: means over runouts are those of the board itself."""
    street_signs = _local_best_response.street_signs

    def by_the_board(*given: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
        signs, _ = street_signs(*given)
        return signs, [signs[-1]] * len(signs)

    monkeypatch.setattr(_local_best_response, "street_signs", by_the_board)
    sums = strategies()[name]
    found = holdem.local_best_response((game(), sums), boards=1, runouts=4, seed=3)
    assert found.chips[0] < knows_the_board(sums, found.boards[0].astype(int))


def test_means_over_runouts_are_those_of_showdowns() -> None:
    """All rivers of a turn, one at a time; pairs that meet each other have none."""
    turn = holdem.parse_cards("Td9d6hQc")
    total, count = np.zeros((2, holdem.NUM_HANDS, holdem.NUM_HANDS), np.float32)
    for card in set(range(52)) - set(turn):
        strength = strengths(np.arange(holdem.NUM_HANDS), [[*turn, card]])[0]
        total += showdown_signs(strength)
        count += (strength >= 0)[:, None] & (strength >= 0)
    want = hands_fit() * total / np.maximum(count, 1)
    np.testing.assert_allclose(mean_signs(np.array(turn), 1, np.random.default_rng(0)), want)


@pytest.mark.long
def test_luck_is_nothing_on_average_and_spreads_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same boards and choices with and without it: within four standard errors."""
    how: dict[str, Any] = {"boards": 24, "runouts": 8, "raises": False}
    strategy = (game(), strategies()["trained"])
    without = holdem.local_best_response(strategy, **how).chips
    monkeypatch.setattr(_local_best_response._Walk, "_luck", lambda *_: 0.0)
    luck = holdem.local_best_response(strategy, **how).chips - without
    assert abs(luck.mean()) < 4 * luck.std(ddof=1) / np.sqrt(len(luck))
    assert without.std() < (without + luck).std()


@pytest.mark.slow
def test_training_leaves_it_less() -> None:
    found = {
        name: holdem.local_best_response((game(), sums), boards=12, runouts=16)
        for name, sums in strategies().items()
    }
    assert found["uniform"].low > found["trained"].high
    assert found["all-in"].low > found["trained"].high


@pytest.mark.slow
def test_calling_wins_nothing_from_who_never_bets() -> None:
    """Both check and call, and seats change: no more than equity is won."""
    here = game()
    passive = (here, holdem.always(here, "c"))
    found = holdem.local_best_response(passive, boards=2, runouts=64, raises=False)
    assert np.abs(found.chips).max() < 1e-2


def test_what_is_refused() -> None:
    here = game()
    sums = holdem.uniform_sums(here)
    with pytest.raises(ValueError, match="entries is not of"):
        holdem.local_best_response((here, sums[1:]))
    with pytest.raises(ValueError, match="are 1 or more, not 0"):
        holdem.local_best_response((here, sums), boards=0)


class Told:
    """A strategy that is a function of the node and the board; notes what it was asked."""

    def __init__(self, policy: Callable[[int, Sequence[int]], np.ndarray]) -> None:
        self.game, self._policy = game(), policy
        self.asked: list[tuple[int, tuple[int, ...]]] = []

    def policy_at(self, node: int, board: Sequence[int]) -> np.ndarray:
        self.asked.append((node, tuple(board)))
        return self._policy(node, board)


def test_a_strategy_that_tells_its_range_is_as_good_as_a_table() -> None:
    """Looked up hand by hand, with anything for hands that meet the board; asked once a node."""
    here, sums = game(), strategies()["trained"]
    rows = here.tree.rows(here.num_buckets)

    def policy(node: int, board: Sequence[int]) -> np.ndarray:
        count = int(here.tree.count[node])
        table = mccfr.matched(sums[rows[node] : rows[node + 1]].reshape(-1, count))
        out = np.full((holdem.NUM_HANDS, count), 0.5)
        for h, bucket in enumerate(here.abstraction.bucket(board)):
            if not set(holdem.HANDS[h]) & set(board):
                out[h] = table[bucket]
        return out

    agent = Told(policy)
    found = holdem.local_best_response(agent, boards=1, runouts=4, seed=3)
    table = holdem.local_best_response((here, sums), boards=1, runouts=4, seed=3)
    np.testing.assert_allclose(found.chips, table.chips, rtol=1e-5)
    assert len(set(agent.asked)) == len(agent.asked) > 20


def test_who_folds_to_every_bet_loses_the_blinds() -> None:
    """No table, and a closed form: 50 chips as small blind and 100 as big blind."""

    def policy(node: int, board: Sequence[int]) -> np.ndarray:
        return np.eye(int(game().tree.count[node]))[np.zeros(holdem.NUM_HANDS, int)]

    found = holdem.local_best_response(Told(policy), boards=2, runouts=2)
    np.testing.assert_allclose(found.chips, 75, atol=1e-3)


def test_a_policy_of_another_shape_is_refused() -> None:
    agent = Told(lambda node, board: np.ones((holdem.NUM_HANDS, 1)))
    with pytest.raises(ValueError, match=r"the policy after '.*' has shape \(1326, 1\)"):
        holdem.local_best_response(agent, boards=1, runouts=1)

"""Payoff operators of hold'em: every form against pairs of hands, one by one, by phevaluator."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from phevaluator import evaluate_cards

from jaxsolve import native
from jaxsolve.holdem import HANDS, card_name, parse_cards
from jaxsolve.holdem._boards import (
    card_order,
    hands_of,
    live_hands,
    showdown_matrix,
    strength_order,
)
from jaxsolve.holdem._operators import OPERATORS, Pays, Placed, payoffs
from jaxsolve.holdem._payoffs import DenseShowdown, prefix_form
from jaxsolve.holdem._strength import strengths

TURN = parse_cards("Td9d6hQc")
RIVERS = [(*TURN, *parse_cards(c)) for c in ("2s", "Jc", "6d")]


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


def slow_signs(hands: np.ndarray, board: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns (sign of the showdown, whether it can happen) for all pairs, by phevaluator."""
    names = [card_name(c) for c in board]
    rank = []
    for a, b in HANDS[hands]:
        meets = {int(a), int(b)} & set(board)
        rank.append(None if meets else evaluate_cards(card_name(a), card_name(b), *names))
    signs = np.zeros((len(hands), len(hands)))
    possible = np.zeros_like(signs)
    for i, x in enumerate(rank):
        for j, y in enumerate(rank):
            if x is not None and y is not None and not set(HANDS[hands[i]]) & set(HANDS[hands[j]]):
                possible[i, j] = 1
                signs[i, j] = np.sign(y - x)  # phevaluator: smaller is stronger
    return signs, possible


@pytest.fixture(scope="module")
def hands() -> np.ndarray:
    """Every fifth hand: ties, blockers and hands that meet a river are all among them."""
    return hands_of(TURN)[::5]


@pytest.fixture(scope="module")
def groups(hands: np.ndarray) -> list[Placed]:
    """Folds and showdowns on three rivers and an all-in before, 3 leaves each."""
    rng = np.random.default_rng(0)
    mean = np.mean([showdown_matrix(hands, s) for s in strengths(hands, RIVERS)], 0)
    made = []
    for pays, boards in (
        (Pays.COMPATIBLE, RIVERS),
        (Pays.SHOWDOWN, RIVERS),
        (Pays.ALL_IN, [TURN]),
    ):
        shape = (len(boards), 3)
        hangs = [rng.integers(0, 10, shape).astype(np.int32) for _ in range(2)]
        amount = rng.normal(size=(*shape, 2))
        made.append(Placed(pays, boards, hangs, amount, mean[None] if pays == 2 else None))
    return made


@pytest.mark.parametrize("form", OPERATORS)
def test_operator_equals_pairs_of_hands(hands: np.ndarray, groups: list[Placed], form: str):
    if form == "native" and not native.available():
        pytest.skip("no C++ compiler here, or not a CPU: the plain forms are what runs")
    rng = np.random.default_rng(1)
    reach = [rng.random((10, len(hands)), np.float32) for _ in range(2)]
    operator = jax.tree.map(jnp.asarray, payoffs(hands, groups, (10, 10), form))
    slow = [slow_signs(hands, b) for b in RIVERS]
    for player in range(2):
        expected = np.zeros((10, len(hands)))
        for group in groups:
            for b in range(len(group.boards)):
                if group.pays == Pays.ALL_IN:
                    matrix = np.mean([s for s, _ in slow], 0)
                else:
                    matrix = slow[b][1 - group.pays]
                for t in range(3):
                    other = reach[1 - player][group.hangs[1 - player][b, t]].astype(float)
                    worth = group.amount[b, t, player] * (matrix @ other)
                    expected[group.hangs[player][b, t]] += worth
        found = jax.jit(lambda o, r, i=player: o(i, r))(operator, [jnp.asarray(r) for r in reach])
        np.testing.assert_allclose(found, expected, atol=3e-4)
        double = jax.jit(lambda o, r, i=player: o.with_scale(2.0)(i, r))(operator, reach)
        np.testing.assert_allclose(double, 2 * expected, atol=6e-4)


def test_matrix_in_bfloat16_keeps_the_bits_of_float32(hands: np.ndarray):
    signs = np.stack([showdown_matrix(hands, s) for s in strengths(hands, RIVERS)])
    reach = np.random.default_rng(2).random((3, 4, len(hands)), np.float32)
    exact = np.einsum("bth,bjh->btj", reach.astype(float), signs)
    found = DenseShowdown(jnp.asarray(signs, jnp.bfloat16))(jnp.asarray(reach))
    np.testing.assert_allclose(found, exact, atol=2e-4)


@pytest.mark.usefixtures("float64")
def test_prefix_sums_are_exact_in_float64(hands: np.ndarray):
    order = strength_order(strengths(hands, RIVERS))
    signs = np.stack([showdown_matrix(hands, s) for s in strengths(hands, RIVERS)])
    reach = np.random.default_rng(3).random((3, 4, len(hands)))
    found = jax.tree.map(jnp.asarray, prefix_form(HANDS[hands], order, card_order(hands, order)))(
        jnp.asarray(reach)
    )
    np.testing.assert_allclose(found, np.einsum("bth,bjh->btj", reach, signs), atol=1e-12)


def test_live_hands_of_the_river(hands: np.ndarray):
    """1081 hands of 47 cards are left on a complete board."""
    assert live_hands(hands_of(TURN), RIVERS).sum(1).tolist() == [1081] * 3
    assert len(hands_of(TURN)) == 1128

"""Choosing and assembling the payoff operator of a hold'em tree: plain JAX or native."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxsolve import native
from jaxsolve.holdem._boards import (
    card_order,
    live_hands,
    showdown_matrix,
    strength_order,
)
from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._native import native_payoffs
from jaxsolve.holdem._payoffs import (
    DenseShowdown,
    HoldemPayoffs,
    Leaves,
    Pays,
    Placed,
    compatible_form,
    halved,
    prefix_form,
)
from jaxsolve.holdem._strength import strengths
from jaxsolve.tree import build, float_type

OPERATORS = ("native", "prefix", "dense", "dense_bf16")
"""Forms of the payoff operator: C++ on a CPU, prefix sums, products with matrices, and the same
in 16 bits for the matrix units of a GPU: reaches go in as three parts, which loses nothing."""

DENSE = ("dense", "dense_bf16")


def choose_operator() -> str:
    """Returns the fastest form on this backend in this precision."""
    if jax.default_backend() != "cpu":
        return "dense_bf16" if float_type() == np.float32 else "dense"
    single = float_type() == np.float32
    return "native" if single and native.available() else "prefix"


def payoffs(hands: np.ndarray, groups: Sequence[Placed], sizes: Sequence[int], form: str) -> Any:
    """Returns the operator of a tree.

    Args:
        hands: int [H], rows of `HANDS`.
        groups: the leaves.
        sizes: length S of each player's sequence vector.
        form: one of `OPERATORS`.
    """
    if form not in OPERATORS:
        raise ValueError(f"unknown operator {form!r}: write one of {', '.join(OPERATORS)}")
    if form == "native":
        return native_payoffs(hands, groups, sizes)
    leaves = []
    for group in groups:
        amount: Any = [group.amount[..., i].astype(float_type()) for i in range(2)]
        hangs: Any = group.hangs
        leaves.append(Leaves(_form(hands, group, form), tuple(hangs), tuple(amount)))
    lists = []
    for i in range(2):
        own = np.concatenate([g.hangs[i].reshape(-1) for g in groups])
        lists.append(build(own, [np.arange(len(own))], sizes[i], pad=len(own)))
    return HoldemPayoffs(tuple(leaves), tuple(lists))


def _form(hands: np.ndarray, group: Placed, form: str) -> Any:
    if group.pays == Pays.COMPATIBLE:
        live = live_hands(hands, group.boards)
        return compatible_form(HANDS[hands], live, stored=form in DENSE)
    if group.pays == Pays.ALL_IN:
        matrix: Any = group.matrix
        return DenseShowdown(matrix)
    strength = strengths(hands, group.boards)
    if form == "prefix":
        order = strength_order(strength)
        return prefix_form(HANDS[hands], order, card_order(hands, order))
    signs: Any = np.stack([showdown_matrix(hands, s) for s in strength])
    return halved(signs) if form == "dense_bf16" else DenseShowdown(signs.astype(float_type()))

"""Boards that are cut into equal parts: nothing is lost, nothing counts twice."""

from __future__ import annotations

import numpy as np
import pytest

from jaxsolve import holdem
from jaxsolve.holdem._runouts import cut_runouts, runouts


@pytest.mark.parametrize(("board", "parts"), [("Ts9s8s2h", 5), ("Ts9s8s", 4)])
def test_parts_add_up_to_all_boards(board: str, parts: int) -> None:
    cards = holdem.parse_cards(board)
    ranges = np.where(holdem.possible(cards), np.random.default_rng(0).random((2, 1326)), 0)
    streets = runouts(cards, ranges, symmetric=False)
    cut = cut_runouts(streets, parts)
    assert len(cut) == parts
    for depth, whole in enumerate(streets):
        assert len({len(part[depth].boards) for part in cut}) == 1  # shapes are equal
        if depth == 0:
            continue
        found: dict[tuple[int, ...], float] = {}
        for part in cut:
            outs = part[depth]
            for number, cards_ in enumerate(outs.boards):
                parent = part[depth - 1].boards[outs.parent[number]]
                assert cards_[: len(parent)] == parent
                weight = float(outs.weight[number])
                if weight:
                    assert cards_ not in found
                    found[cards_] = weight
        assert found == dict(zip(whole.boards, whole.weight.tolist(), strict=True))

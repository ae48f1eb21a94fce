"""No-limit flop hold'em as a whole: hold'em that ends after the betting on the flop.

Two players, no card abstraction: 169 kinds of hands before the flop, 1,755 flops up to suits, and
1,176 hands on each. Source of the game: Brown, Sandholm & Amos 2018, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxsolve.holdem._betting import NLFH, start
from jaxsolve.holdem._betting_tree import Situation, betting_tree
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._leaf_groups import Rake
from jaxsolve.holdem._runouts import runouts
from jaxsolve.holdem._sizes import Size, totals
from jaxsolve.holdem._spot_memory import check_spot
from jaxsolve.holdem._spot_tree import SpotTree, WholeGame

FLOP = 3
"""Cards on the table at the end."""


def flop_holdem(
    *,
    stack: int = 20_000,
    sizes: Sequence[str] = ("50%", "a"),
    cap: int | None = 1,
    operator: str | None = None,
) -> SpotTree:
    """Returns the tree of heads-up no-limit flop hold'em, blinds 50 and 100.

    Player 0 is the big blind, player 1 the button, who acts first before the flop.

    Args:
        stack: chips of each player before the blinds.
        sizes: menu of bets and raises, such as ("50%", "a").
        cap: bets and raises by these sizes on each street; after that only all-in. None for no
            limit: mind the memory.
        operator: form of the payoffs, one of `OPERATORS`.

    Raises:
        MemoryError: it does not fit; says how much it needs.
    """
    menu = [Size.parse(s) for s in sizes]
    push = [size for size in menu if size.kind == "all-in"]

    def offered(at: Situation) -> list[int]:
        now = menu if cap is None or at.raises < cap else push
        return totals(now, own=at.own, facing=at.facing, pot=at.pot, high=at.high, low=at.low)

    full = np.ones(NUM_HANDS)
    betting = betting_tree(NLFH, start(NLFH, stack), offered)
    streets = runouts((), np.stack([full, full]), last=FLOP)
    name = f"nlfh stack {stack} sizes {' '.join(sizes)} cap {cap}"
    hands = np.arange(NUM_HANDS, dtype=np.int32)
    game = WholeGame(stack, (full, full))
    tree = SpotTree(game, name, betting, tuple(streets), hands, Rake(), operator)
    check_spot(tree)
    return tree

"""Knowledge-limited subgames in which nothing stays fixed (KLUSS).

1-KLSS at an infoset I frees P's strategy below I, and keeps it as it was in the other states that O
confuses with one of I. KLUSS frees it there, too: the subgame begins at every state of the
opponent's infostates J that meet I, whichever infostate of P it belongs to, and all other states
are left out. Where P's infostate has states outside of J, only those inside count. O's alternative
values then belong to whole infostates; the subgame is not safe all the same, because P comes to its
other infostates with another subgame in mind.

On Kuhn, P = player 0, I = "P holds J, passed, O bet": 1-KLSS frees that one decision. O then holds
Q or K, so the classes hold four deals (JQ, KQ, JK, QK), and KLUSS frees P's answers with Q and K as
well, each against one of O's two hands instead of both.

Source: Zhang & Sandholm 2025 (arXiv 2506.01242), with the order of knowledge as parameter.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxsolve.subgame._index import GameIndex
from jaxsolve.subgame._roots import SubgameRoots, containing


def unfrozen(index: GameIndex, where: SubgameRoots) -> SubgameRoots:
    """Returns subgames with the same classes of O, and every infostate of P that these meet.

    Args:
        index: the game.
        where: B subgames.

    Returns:
        B subgames with N' >= N own infostates, the same M classes, and as top states those at which
        the classes begin.
    """
    mine, theirs = index.seats[where.player], index.seats[1 - where.player]
    top_class, top = theirs.entries.pick(where.classes)
    group = where.class_of[top_class]
    met = index.table.infostate[top, where.player].astype(np.int64)
    pairs = np.unique(np.stack([group, mine.first[met], met], 1), axis=0)
    pairs = pairs[mine.highest(pairs[:, 0], pairs[:, 2])]
    own_of, own = pairs[:, 0], pairs[:, 2]
    return dataclasses.replace(
        where,
        own_of=own_of,
        own=own,
        top=top,
        top_own=containing(mine.first, mine.last, own_of, own, group, met),
        top_class=top_class,
    )

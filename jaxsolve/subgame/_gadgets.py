"""Gadgets: what O may do before a subgame, so that solving it cannot hurt the whole strategy.

unsafe: nothing, O arrives as the blueprint has it (Ganzfried & Sandholm 2015). resolve: at each
class O first chooses to leave for the alternative value or to play (Burch, Johanson & Bowling
2014). maxmargin: O chooses the class at which to begin, payoffs are less the alternative values,
and so P maximises the smallest margin (Moravcik et al. 2016).

Here they act on sequence forms; `tree_of` turns the outcome into an ordinary tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxsolve.subgame._core import Core
from jaxsolve.tree import DecisionRows, SequenceForm, merge_payoffs, row_levels


class GadgetForm(NamedTuple):
    """Subgames with a gadget on top (seats P, O).

    Attributes:
        form: one empty sequence per subgame and seat.
        added: rows of O that the gadget added; they come first.
        play: int64 [M], O's sequence that enters each class.
        scale: float64 [M], payoffs of the gadget per payoff of the core.
    """

    form: SequenceForm
    added: int
    play: np.ndarray
    scale: np.ndarray


def unsafe(core: Core, arrival: np.ndarray) -> GadgetForm:
    """Returns the subgames with the blueprint's reach of O at each class.

    Args:
        core: the subgames.
        arrival: float64 [M], O's own reach of each class.
    """
    count = core.where.count
    mass = np.bincount(core.class_of, core.weight * arrival, count)
    scale = arrival / np.where(mass > 0, mass, 1)[core.class_of]
    return _gadget(core, [], core.class_of, scale, _no_entries())


def resolve(core: Core, alternative: np.ndarray, share: np.ndarray) -> GadgetForm:
    """Returns the subgames with a choice between the alternative value and play at each class.

    Args:
        core: the subgames.
        alternative: float64 [M], to P, in the units of `core`.
        share: float64 [M], the probability of each copy of a class.
    """
    count, size = core.where.count, len(core.weight)
    scale = share / core.total[core.class_of]
    leave = count + 2 * np.arange(size)
    entries = (core.class_of, leave, alternative * scale)
    widths = [(int(b), 2) for b in core.class_of]
    return _gadget(core, widths, leave + 1, scale, entries)


def maxmargin(core: Core, alternative: np.ndarray, share: np.ndarray) -> GadgetForm:
    """Returns the subgames with a choice among all classes, less the alternative values.

    Args: as of `resolve`.
    """
    count, n = core.where.count, core.copies
    copy = np.tile(np.arange(n), len(core.weight) // n)
    order = np.lexsort((np.arange(len(copy)), copy, core.class_of))
    play = np.empty(len(copy), np.int64)
    play[order] = count + np.arange(len(copy))
    sizes = np.bincount(core.where.class_of, minlength=count)
    widths = [(b, int(sizes[b])) for b in range(count) for _ in range(n)]
    scale = share / core.weight
    return _gadget(core, widths, play, scale, (core.class_of, play, -alternative * scale))


SAFE_GADGETS: dict[str, Callable[[Core, np.ndarray, np.ndarray], GadgetForm]] = {
    "resolve": resolve,
    "maxmargin": maxmargin,
}
"""Gadgets that promise O alternative values, by name; arguments as of `resolve`."""

GADGETS = ("unsafe", *SAFE_GADGETS)
"""Every gadget by name."""


def _no_entries() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def _gadget(
    core: Core,
    widths: list[tuple[int, int]],
    play: np.ndarray,
    scale: np.ndarray,
    entries: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> GadgetForm:
    """Puts rows on top of O's forest.

    Args:
        core: the subgames.
        widths: (subgame, number of actions) of each new row of O.
        play: int64 [M], the sequence that enters each class.
        scale: float64 [M], what payoffs of each class are multiplied by.
        entries: further payoffs, (P's sequences, O's sequences, values).
    """
    count, classes = core.where.count, len(core.weight)
    old = core.rows[1]
    width = np.array([w for _, w in widths], np.int64)
    shift = count + int(width.sum()) - classes
    moved = np.concatenate([play, np.arange(classes, old.num_sequences) + shift])
    offset = np.concatenate([[count], count + np.cumsum(np.concatenate([width, old.width]))])
    roots = np.array([b for b, _ in widths], np.int64)
    parent = np.concatenate([roots, moved[old.parent]])
    none = np.full(len(widths), -1, np.int32)
    first = [np.arange(w, dtype=np.int16) for w in width]
    theirs = DecisionRows(
        parent=parent.astype(np.int32),
        offset=offset.astype(np.int32),
        action=np.concatenate([*first, old.action]).astype(np.int16),
        roots=count,
        root_reach=np.ones(count),
        infostate=np.concatenate([none, old.infostate]),
        public=np.concatenate([none, old.public]),
        level=row_levels(parent, offset, count),
    )
    klass = _class_of_sequence(core)[core.theirs]
    sequence = np.concatenate(
        [np.stack([core.mine, moved[core.theirs]], 1), np.stack(entries[:2], 1)]
    )
    payoff = np.concatenate([core.payoff * scale[klass], entries[2]])
    form = SequenceForm(
        (core.rows[0], theirs), *merge_payoffs(sequence, np.stack([payoff, -payoff], 1))
    )
    return GadgetForm(form, len(widths), play, scale)


def _class_of_sequence(core: Core) -> np.ndarray:
    """Returns int64 [S of O], the class that each sequence of the core lies below."""
    rows, classes = core.rows[1], len(core.weight)
    out = np.arange(rows.num_sequences)
    level = rows.level[rows.row_of]
    for depth in range(int(rows.level.max(initial=-1)) + 1):
        entries = np.flatnonzero(level == depth)
        out[classes + entries] = out[rows.parent[rows.row_of[entries]]]
    return out

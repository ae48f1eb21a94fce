"""Several games in one sequence form, as disjoint parts: taking some out, putting some together.

Part b of a forest has empty sequence b in both seats.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxsolve.subgame._index import Lists, slices
from jaxsolve.tree import DecisionRows, SequenceForm


@dataclasses.dataclass(frozen=True)
class Forest:
    """A sequence form, ready to be taken apart.

    Attributes:
        form: B parts.
        owner: per seat, int64 [S], the part of each sequence.
        rows: per seat, the rows of each part.
        entries: the payoff entries of each part.
    """

    form: SequenceForm
    owner: tuple[np.ndarray, ...]
    rows: tuple[Lists, ...]
    entries: Lists

    @staticmethod
    def of(form: SequenceForm) -> Forest:
        """Returns a sequence form as a forest."""
        owner = tuple(owners(rows) for rows in form.rows)
        count = form.rows[0].roots
        members = tuple(
            Lists.of(own[rows.parent], count) for own, rows in zip(owner, form.rows, strict=True)
        )
        return Forest(form, owner, members, Lists.of(owner[0][form.sequence[:, 0]], count))

    @property
    def count(self) -> int:
        """B."""
        return self.form.rows[0].roots

    def take(self, parts: np.ndarray) -> tuple[SequenceForm, np.ndarray]:
        """Returns (some parts, int64 [C] the entries of seat 0 that they are in the forest)."""
        _, entries = self.entries.pick(parts)
        seats, sequences = [], []
        for i, rows in enumerate(self.form.rows):
            _, members = self.rows[i].pick(parts)
            _, positions = slices(rows.offset[members], rows.offset[members + 1])
            number = np.full(rows.num_sequences, -1)
            number[parts] = np.arange(len(parts))
            number[positions] = len(parts) + np.arange(len(positions))
            offset = np.concatenate([[0], np.cumsum(rows.width[members])]) + len(parts)
            seats.append(
                DecisionRows(
                    parent=number[rows.parent[members]].astype(np.int32),
                    offset=offset.astype(np.int32),
                    action=rows.action[positions - rows.roots],
                    roots=len(parts),
                    root_reach=rows.root_reach[parts],
                    infostate=rows.infostate[members],
                    public=rows.public[members],
                    level=rows.level[members],
                )
            )
            sequences.append(number[self.form.sequence[entries, i]])
            if i == 0:
                source = positions - rows.roots
        form = SequenceForm((seats[0], seats[1]), np.stack(sequences, 1), self.form.payoff[entries])
        return form, source


def join(forms: Sequence[SequenceForm]) -> SequenceForm:
    """Returns forests as one, the parts of the first coming first."""
    if len(forms) == 1:
        return forms[0]
    roots = np.array([f.rows[0].roots for f in forms])
    first_root = np.cumsum(roots) - roots
    seats, sequences = [], []
    for i in range(2):
        all_rows = [f.rows[i] for f in forms]
        sizes = np.array([r.num_sequences - r.roots for r in all_rows])
        first = roots.sum() + np.cumsum(sizes) - sizes
        moved = [
            np.concatenate([a + np.arange(r.roots), b + np.arange(n)])
            for r, a, b, n in zip(all_rows, first_root, first, sizes, strict=True)
        ]
        width = np.concatenate([r.width for r in all_rows])
        parent = [m[r.parent] for m, r in zip(moved, all_rows, strict=True)]
        offset = np.concatenate([[0], np.cumsum(width)]) + roots.sum()
        seats.append(
            DecisionRows(
                parent=np.concatenate(parent).astype(np.int32),
                offset=offset.astype(np.int32),
                action=np.concatenate([r.action for r in all_rows]),
                roots=int(roots.sum()),
                root_reach=np.concatenate([r.root_reach for r in all_rows]),
                infostate=np.concatenate([r.infostate for r in all_rows]),
                public=np.concatenate([r.public for r in all_rows]),
                level=np.concatenate([r.level for r in all_rows]),
            )
        )
        sequences.append(
            np.concatenate([m[f.sequence[:, i]] for m, f in zip(moved, forms, strict=True)])
        )
    payoff = np.concatenate([f.payoff for f in forms])
    return SequenceForm((seats[0], seats[1]), np.stack(sequences, 1), payoff)


def owners(rows: DecisionRows) -> np.ndarray:
    """Returns int64 [S], the empty sequence above each sequence."""
    out = np.arange(rows.num_sequences)
    level = rows.level[rows.row_of]
    for depth in range(int(rows.level.max(initial=-1)) + 1):
        entries = np.flatnonzero(level == depth)
        out[rows.roots + entries] = out[rows.parent[rows.row_of[entries]]]
    return out

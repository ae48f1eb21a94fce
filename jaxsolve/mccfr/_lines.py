"""Lines of play: the actions that lead to a public node, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np


def line_to(
    node: int, parent: np.ndarray, stage: np.ndarray, label: Sequence[str] | np.ndarray
) -> str:
    """Returns the actions that lead to a node, as in "x b50 c / x"; "/" is a new stage.

    Args:
        node: where the line ends.
        parent: int [P], -1 for the first node.
        stage: int [P].
        label: the action that led to each node.
    """
    words: list[str] = []
    while (above := int(parent[node])) >= 0:
        if stage[node] > stage[above]:
            words.append("/")
        words.append(label[node])
        node = above
    return " ".join(reversed(words))


def find_line(
    line: str,
    children: Callable[[int], Iterable[int]],
    label: Sequence[str] | np.ndarray,
    line_of: Callable[[int], str],
) -> int:
    """Returns the node that a line leads to, see `line_to`; the first node for "".

    Args:
        line: the actions.
        children: node -> the nodes that follow.
        label: the action that led to each node.
        line_of: node -> its line, for messages.

    Raises:
        ValueError: there is no such line; says what can be done where it leaves the tree.
    """
    node = 0
    for word in (w for w in line.split() if w != "/"):
        by_label = {label[c]: c for c in children(node)}
        if word not in by_label:
            known = ", ".join(by_label) or "nothing, the hand is over"
            raise ValueError(f"{line!r}: {word!r} cannot follow {line_of(node)!r}: {known}")
        node = by_label[word]
    return node

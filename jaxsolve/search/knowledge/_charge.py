"""What actions at the root cost that find little out, so that infosets stay small.

An action a costs P most 2^-H(a), where H(a) is the entropy in bits of what P is shown next if all
positions of the root are as likely. The cost is added to all leaves below the action.

Source: Zhang & Sandholm 2021, appendix D.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxsolve.search.knowledge._host import positions_of
from jaxsolve.search.knowledge._tree import PositionTree


class Charges:
    """Costs in the leaves of a tree that grows.

    Args:
        tree: in which all of `own` are open.
        own: int64 [I], the roots that P holds possible.
        player: P.
        most: what an action costs that finds nothing out.

    Attributes:
        cost: what each action at the root costs.
    """

    def __init__(self, tree: PositionTree, own: np.ndarray, player: int, most: float):
        nodes = positions_of(tree)
        below = np.flatnonzero(np.isin(nodes.parent, own))
        self.cost = dict[int, float]()
        for action in np.unique(nodes.action[below]):
            shown = nodes.memory[below[nodes.action[below] == action], player]
            share = np.unique(shown, return_counts=True)[1] / len(shown)
            self.cost[int(action)] = float(most * 2 ** (share @ np.log2(share)))
        self._shift = np.zeros(len(tree.parent))
        self._shift[below] = (2 * player - 1) * np.array(
            [self.cost[a] for a in nodes.action[below].tolist()]
        )
        for level in nodes.levels[2:]:
            self._shift[level] += self._shift[nodes.parent[level]]

    def added(self, tree: PositionTree, first: int = 0) -> PositionTree:
        """Returns a tree with the costs in its leaves from a node on; their parents are older."""
        if first:
            new = slice(first, int(tree.num_nodes))
            self._shift[new] = self._shift[np.asarray(tree.parent)[new]]
        return self._with(tree, 1.0, first)

    def removed(self, tree: PositionTree) -> PositionTree:
        """Returns a tree without the costs."""
        return self._with(tree, -1.0, 0)

    def _with(self, tree: PositionTree, sign: float, first: int) -> PositionTree:
        place = np.arange(len(tree.parent))
        at = (place >= first) & (place < int(tree.num_nodes)) & ~np.asarray(tree.opened)
        shift = jnp.asarray(np.where(at, sign * self._shift, 0), tree.value.dtype)
        return tree._replace(value=tree.value + shift)

"""The network: two towers, whose product is what a pair of hands wins.

One tower sees a hand of the player who chooses, the other a hand of the opponent; both see the flop
and the betting. For each of k continuations the first gives r numbers a hand, the second gives r,
and their product is what later betting adds to a showdown without bets, in pots. So values of all
hands against a range are two thin products, and no matrix of pairs is kept.

Differs from Modicum's (Brown, Sandholm and Amos 2018, appendix), one network of 34 features with
two hidden layers of 64 whose output is k values: it has no product, and learns whole values.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.holdem.leaf_net._features import BETTING_FEATURES, CARD_FEATURES
from jaxsolve.holdem.limited import Beyond
from jaxsolve.types import Array, PRNGKey, PyTree

KIND = "leaf network"


class LeafFactors(NamedTuple):
    """What later betting adds at L ends of a street (k continuations, rank r).

    Attributes:
        chooser: float32 [L, 1326, k, r], of hands of the player who chooses.
        other: float32 [L, 1326, r], of hands of the opponent. The product of the two is what the
            chooser wins, in pots.
    """

    chooser: np.ndarray
    other: np.ndarray


class Towers(nn.Module):
    """Two multilayer perceptrons.

    Attributes:
        count: k.
        rank: r.
        width: of the hidden layers.
        depth: how many.
    """

    count: int
    rank: int
    width: int
    depth: int

    @nn.compact
    def __call__(self, chooser: Array, other: Array, betting: Array) -> tuple[Array, Array]:
        """Returns (float [..., T, k, r], float [..., U, r]).

        Args:
            chooser: float [..., T, F], cards of the player who chooses.
            other: float [..., U, F], cards of the opponent.
            betting: float [..., B].
        """
        first = self._tower(chooser, betting, self.count * self.rank, zero=True)
        second = self._tower(other, betting, self.rank, zero=False)
        return first.reshape(*first.shape[:-1], self.count, self.rank), second

    def _tower(self, cards: Array, betting: Array, out: int, *, zero: bool) -> Array:
        spread = jnp.broadcast_to(betting[..., None, :], (*cards.shape[:-1], betting.shape[-1]))
        x = jnp.concatenate([4 * cards - 2, spread], -1)
        for _ in range(self.depth):
            x = nn.gelu(nn.Dense(self.width)(x))
        start = nn.initializers.zeros if zero else nn.initializers.lecun_normal()
        return nn.Dense(out, kernel_init=start)(x)


@dataclasses.dataclass(frozen=True, eq=False)
class LeafNet:
    """A network of leaf values.

    Attributes:
        towers: its shape.
        params: its parameters.
        blueprint: name of the blueprint and continuations whose values it says.
    """

    towers: Towers
    params: PyTree
    blueprint: str

    def factors(self, cards: np.ndarray, betting: np.ndarray) -> LeafFactors:
        """Returns what betting adds at L ends.

        Args:
            cards: float [1326, F], see `hand_features`.
            betting: float [L, B], see `betting_features`.
        """
        # Ends come in whole eights, so that few shapes are compiled.
        count = len(betting)
        padded = np.zeros((-(-count // 8) * 8, betting.shape[1]), np.float32)
        padded[:count] = betting
        found = _factors(self.towers, self.params, jnp.asarray(cards), jnp.asarray(padded))
        return LeafFactors(*(np.asarray(x)[:count] for x in found))

    def check(self, after: Beyond) -> None:
        """Raises ValueError if it was trained on another blueprint or other continuations."""
        if self.blueprint != name_of(after):
            raise ValueError(
                f"the network was trained on {self.blueprint!r}, and not on {name_of(after)!r}"
            )

    def save(self, path: Path) -> None:
        """Writes a file."""
        header = {"kind": KIND, "blueprint": self.blueprint, **_shape(self.towers)}
        flat = jax.tree_util.tree_leaves_with_path(self.params)
        save_arrays(path, header, {jax.tree_util.keystr(k): np.asarray(v) for k, v in flat})

    @staticmethod
    def load(path: Path) -> LeafNet:
        """Returns the network in a file.

        Raises:
            ValueError: there is none.
        """
        header, arrays = load_arrays(path, KIND)
        towers = Towers(*(int(header[name]) for name in _shape(Towers(1, 1, 1, 1))))
        empty = leaf_net(jax.random.key(0), towers, "").params
        params = jax.tree_util.tree_map_with_path(
            lambda k, _: arrays[jax.tree_util.keystr(k)], empty
        )
        return LeafNet(towers, params, str(header["blueprint"]))


def name_of(after: Beyond) -> str:
    """Returns a name of a blueprint and its continuations."""
    sums = after.continuations.sums
    digest = zlib.crc32(np.ascontiguousarray(sums).tobytes())
    return f"{after.game.name}, {digest:08x}, {after.continuations.factor.tolist()}"


def leaf_net(key: PRNGKey, towers: Towers, blueprint: str) -> LeafNet:
    """Returns a network that says that betting adds nothing."""
    cards, betting = jnp.zeros((1, CARD_FEATURES)), jnp.zeros(BETTING_FEATURES)
    return LeafNet(towers, towers.init(key, cards, cards, betting), blueprint)


def _shape(towers: Towers) -> dict[str, Any]:
    return {name: getattr(towers, name) for name in ("count", "rank", "width", "depth")}


@functools.partial(jax.jit, static_argnums=0)
def _factors(towers: Towers, params: PyTree, cards: Array, betting: Array) -> Any:
    def one(end: Array) -> Any:
        return towers.apply(params, cards, cards, end)

    return jax.lax.map(one, betting)

"""Policies on disk: one npz file, in canonical order, tied to the game it belongs to."""

from __future__ import annotations

import zlib
from pathlib import Path

from jaxsolve.files import differences, load_arrays, save_arrays
from jaxsolve.tree._info import TreeInfo
from jaxsolve.tree._policy import Policy, policy_from_probabilities
from jaxsolve.tree._public_tree import PublicTree

KIND = "jaxsolve policy"


def save_policy(policy: Policy, path: str | Path) -> None:
    """Writes a policy: per player `offset_i`, `action_i` and `probability_i` (see `PlayerInfo`).

    Raises:
        ValueError: the policy has no names (it came out of jit or vmap).
    """
    arrays = {}
    for i, player in enumerate(policy.info.players):
        arrays[f"offset_{i}"] = player.offset
        arrays[f"action_{i}"] = player.action
        arrays[f"probability_{i}"] = policy.probabilities(i)
    save_arrays(Path(path), {"kind": KIND, **_identity(policy.info)}, arrays)


def load_policy(tree: PublicTree, path: str | Path) -> Policy:
    """Returns a policy saved for the same game.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged, or belongs to another game; says what differs.
    """
    header, arrays = load_arrays(Path(path), KIND)
    if wrong := differences(header, _identity(tree.info)):
        raise ValueError(f"{path} is the policy of another game ({wrong})")
    probabilities = [arrays[f"probability_{i}"] for i in range(tree.num_players)]
    return policy_from_probabilities(tree, probabilities)


def _identity(info: TreeInfo) -> dict[str, object]:
    """What a policy file must agree on: the game, its infosets and their actions."""
    shape = 0
    for player in info.players:
        for part in (player.offset, player.action):
            shape = zlib.crc32(part.tobytes(), shape)
    return {"game": info.name, "infosets": list(info.num_infosets), "actions": shape}

"""Numbering observation sequences: equal sequences get equal ids, across depths too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxsolve.tree import Infostates


class IdTable:
    """Ids of sequences, each one entry longer than its parent's.

    A sequence is (parent id, own action, observation). It may be met again at another depth
    when hidden moves lie in between, so keys are looked up among all earlier ones as well.
    """

    def __init__(self) -> None:
        self.count = 0
        self.known: list[tuple[np.ndarray, np.ndarray]] = []  # (keys, ids); sorted once merged
        self.parent: list[np.ndarray] = []
        self.action: list[np.ndarray] = []
        self.seen: list[np.ndarray] = []
        self.persists = False  # some sequence was carried over unchanged to a later depth

    def assign(
        self,
        before: np.ndarray,
        action: np.ndarray,
        saw: np.ndarray,
        silent: np.ndarray,
        *,
        extra: np.ndarray | None = None,
    ) -> np.ndarray:
        """Returns int32 [F], the id of each sequence; silent entries keep their parent's.

        Args:
            before: int [F], parent ids; -1 at the initial state.
            action: int [F], own action in between, -1 if none.
            saw: int32 [F, k], the observation.
            silent: bool [F], nothing was seen or done.
            extra: int [F], implied by the sequence; stands in for columns of `saw` in the key.
        """
        silent = silent & (before >= 0)
        out = before.astype(np.int32)
        self.persists |= bool(silent.any())
        loud = np.flatnonzero(~silent)
        if not len(loud):
            return out
        columns = [before[loud], action[loud], *saw[loud].T]
        if extra is not None:
            columns.append(extra[loud])
        keys = hash_columns(columns)
        unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
        for column in columns:
            if (column != column[first][inverse]).any():
                raise RuntimeError("two observation sequences share a 64-bit hash")
        ids = self._known(unique)
        new = np.flatnonzero(ids < 0)
        new = new[np.argsort(first[new], kind="stable")]  # ids in order of first appearance
        ids[new] = self.count + np.arange(len(new), dtype=np.int32)
        self.count += len(new)
        take = loud[first[new]]
        self.parent.append(before[take].astype(np.int32))
        self.action.append(action[take].astype(np.int32))
        self.seen.append(saw[take].astype(np.int32))
        self.known.append((np.sort(unique[new]), ids[new][np.argsort(unique[new])]))
        out[loud] = ids[inverse]
        return out

    def _known(self, unique: np.ndarray) -> np.ndarray:
        """Returns the ids of keys met before, -1 elsewhere."""
        ids = np.full(len(unique), -1, np.int32)
        if not (self.persists and self.known):
            return ids
        keys, key_ids = (np.concatenate(x) for x in zip(*self.known, strict=True))
        if len(self.known) > 1:
            order = np.argsort(keys, kind="stable")
            keys, key_ids = keys[order], key_ids[order]
            self.known = [(keys, key_ids)]
        at = np.minimum(np.searchsorted(keys, unique), len(keys) - 1)
        return np.where(keys[at] == unique, key_ids[at], ids).astype(np.int32)

    def infostates(self) -> Infostates:
        """Returns the sequences as a table."""
        return Infostates(
            np.concatenate(self.parent), np.concatenate(self.action), np.concatenate(self.seen)
        )


def hash_columns(columns: list[np.ndarray]) -> np.ndarray:
    """Returns uint64 [F], a mix of integer columns (splitmix64 steps)."""
    h = np.full(len(columns[0]), 0x9E3779B97F4A7C15, np.uint64)
    for column in columns:
        h ^= column.astype(np.int64).view(np.uint64)
        h ^= h >> np.uint64(30)
        h *= np.uint64(0xBF58476D1CE4E5B9)
        h ^= h >> np.uint64(27)
        h *= np.uint64(0x94D049BB133111EB)
        h ^= h >> np.uint64(31)
    return h


def same(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Caches `build(game)` for hashable games, so that compiling a game twice traces once."""
    cached = functools.lru_cache(maxsize=64)(build)

    def call(game: Any) -> Any:
        try:
            return cached(game)
        except TypeError:
            return build(game)

    return call

"""Action translation: a bet that a strategy has never seen is taken for one of its neighbours.

A bet x between the sizes A < B that the strategy knows, as fractions of the pot, is taken for A
with probability (B - x)(1 + A) / ((B - A)(1 + x)), the pseudo-harmonic mapping. The deterministic
form takes the likelier one.

Source: Ganzfried and Sandholm 2013, "Action translation in extensive-form games with large action
spaces".
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from jaxsolve.evaluate import realization
from jaxsolve.tree import Policy, PublicTree, compiled, lift, policy_from_probabilities


def pseudo_harmonic(bet: Any, below: Any, above: Any) -> Any:
    """Returns the probability with which a bet is taken for the smaller of two sizes.

    Of numbers, or of arrays of equal shape.

    Args:
        bet: as a fraction of the pot.
        below: the smaller size.
        above: the larger size.

    Raises:
        ValueError: the bet does not lie between the sizes.
    """
    low, x, high = np.atleast_1d(below, bet, above)
    if (wrong := np.flatnonzero((low < 0) | (low > x) | (x > high) | (low == high))).size:
        k = int(wrong[0])
        raise ValueError(
            f"a bet of {x[k]:g} pot does not lie between {low[k]:g} and {high[k]:g}; give the "
            "nearest sizes of the strategy, the smaller one first"
        )
    return (above - bet) * (1 + below) / ((above - below) * (1 + bet))


def neighbours(
    bet: float, sizes: Mapping[str, float], *, randomised: bool = True
) -> list[tuple[str, float]]:
    """Returns what a bet is taken for: (name, probability) of one or two known bets.

    Args:
        bet: as a fraction of the pot.
        sizes: fractions of the bets that the strategy knows, by name.
        randomised: both neighbours, or only the likelier one. Beyond the smallest or the largest
            size there is only one.

    Raises:
        ValueError: the strategy knows no bet.
    """
    if not sizes:
        raise ValueError("the strategy knows no bet that another could be taken for")
    order = sorted(sizes, key=lambda name: sizes[name])
    smaller = [name for name in order if sizes[name] <= bet]
    larger = [name for name in order if sizes[name] >= bet]
    if not smaller or not larger:
        return [((smaller[-1:] or larger[:1])[0], 1.0)]
    low, high = smaller[-1], larger[0]
    if sizes[low] == sizes[high]:
        return [(low, 1.0)]
    down = pseudo_harmonic(bet, sizes[low], sizes[high])
    if randomised:
        return [(name, p) for name, p in ((low, down), (high, 1 - down)) if p > 0]
    return [(low if down >= 0.5 else high, 1.0)]


def translate(
    policy: Policy,
    tree: PublicTree,
    bets: Mapping[str, float],
    *,
    shown: Mapping[str, str] | None = None,
    randomised: bool = True,
) -> Policy:
    """Returns a coarse game's policy in a game with more bets, by action translation.

    What a bet stands for is drawn once, not at each occurrence. Own bets that the policy does not
    know are never made; what follows them is what follows the bets that they stand for.

    Args:
        policy: of the coarse game.
        tree: the game with all bets, infosets named as in the coarse one.
        bets: action names of the larger game that are bets, with their fractions of the pot.
        shown: how bets are written in the names of infosets, where they are not written as the
            actions are.
        randomised: the randomised mapping, or the deterministic one.

    Raises:
        ValueError: the policy knows none of the bets, or has no names.
    """
    known = _known_actions(policy)
    sizes = {name: size for name, size in bets.items() if name in known}
    missing = [name for name in bets if name not in known]
    options = [neighbours(bets[name], sizes, randomised=randomised) for name in missing]
    policies, weights = [], []
    for chosen in itertools.product(*options):
        stands = {name: near for name, (near, _) in zip(missing, chosen, strict=True)}

        seen = shown or {}
        stands |= {seen[name]: seen[near] for name, near in stands.items() if name in seen}
        pattern = "|".join(rf"(?<!\S){re.escape(word)}(?![^|\s])" for word in stands)

        def source(
            player: int, name: str, stands: dict[str, str] = stands, pattern: str = pattern
        ) -> str:
            name = name.replace("|", " | ") if pattern else name
            name = re.sub(pattern, lambda m: stands[m[0]], name) if pattern else name
            return name.replace(" | ", "|")

        policies.append(lift(policy, tree, names=source).policy)
        weights.append(float(np.prod([p for _, p in chosen])))
    return _mixed(tree, policies, weights, missing)


def _mixed(
    tree: PublicTree, policies: Sequence[Policy], weights: Sequence[float], missing: Collection[str]
) -> Policy:
    """Returns the average of policies by own reach, as if bets that are missing were always made.

    Otherwise nothing would be known of what follows them.
    """
    info = compiled(tree)
    parts = []
    for i, (p, rows) in enumerate(zip(info.players, info.form.rows, strict=True)):
        odds = [policy.probabilities(i).astype(np.float64) for policy in policies]
        words = {int(a): info.action_name(i, int(a)) for a in np.unique(p.action)}
        off = np.array([words[int(a)] in missing for a in p.action], bool)
        row = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
        total, plain = np.zeros(len(off)), np.zeros(len(off))
        for weight, each in zip(weights, odds, strict=True):
            plan = realization(rows, np.where(off, 1.0, each))[rows.roots :]
            total += weight * np.where(off, 0.0, plan)
            plain += weight * each
        mass = np.bincount(row, total, p.num_infosets)[row]
        sums = np.bincount(row, plain, p.num_infosets)[row]
        parts.append(np.where(mass > 0, total / np.where(mass > 0, mass, 1), plain / sums))
    return policy_from_probabilities(tree, parts)


def _known_actions(policy: Policy) -> set[str]:
    info = policy.info
    return {
        info.action_name(i, int(a)) for i, p in enumerate(info.players) for a in np.unique(p.action)
    }

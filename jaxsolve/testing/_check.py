"""`check_game`: does a rules object keep the promises of the `Game` protocol?"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Game, check_rules
from jaxsolve.testing._sample import Explorer, Sample, actor_name, describe, look
from jaxsolve.types import CHANCE, NOTHING, TERMINAL

_SHALLOW = 2000
"""World states of the exhaustive part: whole levels from the initial state, at most this many."""

_EAGER = 4
"""States on which the rules are also run one by one, outside `jit` and `vmap`."""


class Report(NamedTuple):
    """What `check_game` looked at, and facts that are no errors either way.

    Attributes:
        states: world states visited.
        episodes: random playthroughs.
        longest: most actions in one playthrough.
        zero_sum: payoffs of every terminal state sum to zero.
        utility_range: smallest and largest payoff, in the game's units.
        public_turns: the public observations alone tell which player acts, if one does.
    """

    states: int
    episodes: int
    longest: int
    zero_sum: bool
    utility_range: tuple[float, float]
    public_turns: bool


def check_game(game: Game, *, episodes: int = 100, seed: int = 0, max_steps: int = 1000) -> Report:
    """Returns a report if a game keeps the promises of the `Game` protocol, else raises.

    Looks at every state near the start and at random playthroughs. Shapes and dtypes are fixed;
    the rules are pure and do the same alone and vmapped; somebody can move exactly until the game
    is over; chance sums to 1 over the legal outcomes; payoffs are finite; a player can tell from
    their infostate that it is their turn, and what they may do.

    Args:
        game: the rules.
        episodes: random playthroughs.
        seed: of the playthroughs.
        max_steps: actions after which a playthrough that is not over is an error.

    Raises:
        ValueError: says what is wrong, in which state, and what to change.
    """
    check_rules(game)
    explorer = Explorer(game)
    explorer.start()
    explorer.expand_all(_SHALLOW)
    explorer.start()
    finished = explorer.play(episodes, seed, max_steps)
    sample = explorer.sample()
    _check_states(game, sample)
    if not finished:
        longest = len(sample.parent) - 1
        _fail(
            game,
            sample,
            longest,
            f"a random playthrough is not over after max_steps={max_steps} actions",
            "Let actor() return TERMINAL in the end, or pass a larger max_steps",
            path=False,
        )
    for player in range(game.num_players):
        _check_infostates(game, sample, player)
    _check_purity(game, sample)
    over, decides = sample.actor == TERMINAL, sample.actor >= 0
    payoffs = sample.utility[over]
    return Report(
        states=len(sample.parent),
        episodes=episodes,
        longest=_longest(sample),
        zero_sum=bool(np.allclose(payoffs.sum(1), 0, atol=1e-5 * max(1, np.abs(payoffs).max()))),
        utility_range=(float(payoffs.min()), float(payoffs.max())),
        public_turns=_one_each(sample.public_state[decides], sample.actor[decides]),
    )


def _check_states(game: Game, sample: Sample) -> None:
    """What must hold of each state alone."""
    n, actor = game.num_players, sample.actor
    at_chance, over = actor == CHANCE, actor == TERMINAL
    can_move = sample.legal.any(1)
    total = sample.chance.sum(1)
    possible = sample.chance > 0
    checks = (
        (
            (actor < TERMINAL) | (actor >= n),
            lambda k: f"actor() returned {actor[k]}",
            f"It must be a player 0..{n - 1}, CHANCE ({CHANCE}) or TERMINAL ({TERMINAL})",
        ),
        (
            ~over & ~can_move,
            lambda k: f"no action is legal for {actor_name(actor[k])}, but the game is not over",
            "Let legal() allow something, or actor() return TERMINAL",
        ),
        (
            over & can_move,
            lambda k: f"actions {np.flatnonzero(sample.legal[k])} are legal in a terminal state",
            "Let legal() return all False where actor() returns TERMINAL",
        ),
        (
            at_chance & ((sample.chance < 0).any(1) | ~np.isfinite(total)),
            lambda k: f"chance() returned {sample.chance[k]}",
            "Probabilities must be finite and not negative",
        ),
        (
            at_chance & ~(np.abs(total - 1) <= 1e-5),
            lambda k: f"chance() sums to {total[k]:.6g}, not to 1",
            "Divide the weights of the outcomes by their sum",
        ),
        (
            at_chance & (possible != sample.legal).any(1),
            lambda k: (
                f"chance() is positive for {np.flatnonzero(possible[k])}, but legal() allows "
                f"{np.flatnonzero(sample.legal[k])}"
            ),
            "At a chance state legal() must be True exactly where chance() is positive",
        ),
        (
            over & ~np.isfinite(sample.utility).all(1),
            lambda k: f"utility() returned {sample.utility[k]}",
            "Payoffs of a terminal state must be finite",
        ),
        (
            (sample.public < NOTHING).any(1) | (sample.private < NOTHING).any((1, 2)),
            lambda k: (
                f"observe() returned public {sample.public[k].tolist()}, private "
                f"{sample.private[k].tolist()}"
            ),
            f"Entries must be 0 or larger, or NOTHING ({NOTHING})",
        ),
    )
    for bad, what, remedy in checks:
        if bad.any():
            k = int(bad.argmax())
            _fail(game, sample, k, what(k), remedy)


def _check_infostates(game: Game, sample: Sample, player: int) -> None:
    """Within an infostate a player always or never acts, with the same legal actions."""
    alive = np.flatnonzero(sample.actor != TERMINAL)
    _, first, inverse = np.unique(
        sample.infostate[alive, player], return_index=True, return_inverse=True
    )
    other = alive[first[inverse]]  # the first state with this infostate
    acts = sample.actor == player
    unsure = acts[alive] != acts[other]
    if unsure.any():
        k = int(unsure.argmax())
        here, there = (alive[k], other[k]) if acts[alive[k]] else (other[k], alive[k])
        _fail(
            game,
            sample,
            here,
            f"player {player} cannot notice that it is their turn: they have seen and done the "
            f"same in another state, in which {actor_name(sample.actor[there])} acts",
            f"Let observe() show something other than NOTHING to player {player}, for instance "
            "to everybody, in the transition that makes it their turn",
            there,
        )
    differs = acts[alive] & (sample.legal[alive] != sample.legal[other]).any(1)
    if differs.any():
        k = int(differs.argmax())
        here, there = alive[k], other[k]
        _fail(
            game,
            sample,
            here,
            f"player {player} may do {np.flatnonzero(sample.legal[here])} here but "
            f"{np.flatnonzero(sample.legal[there])} in another state in which they have seen and "
            "done the same",
            f"Let observe() show player {player} what makes the difference, or make legal() equal",
            there,
        )


def _check_purity(game: Game, sample: Sample) -> None:
    """The rules give the same alone, outside `jit`, as they gave vmapped; and they keep to it."""
    moves = np.flatnonzero(sample.parent >= 0)
    for k in moves[np.linspace(0, len(moves) - 1, min(_EAGER, len(moves))).astype(int)]:
        before = jax.tree.map(lambda x, k=k: jnp.asarray(x[sample.parent[k]]), sample.states)
        after = game.step(before, jnp.int32(sample.action[k]))
        alone = after, *look(game, after)
        fields = "states", "actor", "legal", "chance", "public", "private", "utility"
        for field, value in zip(fields, alone, strict=True):
            vmapped = jax.tree.map(lambda x, k=k: x[k], getattr(sample, field))
            same = jax.tree.map(lambda a, b: np.allclose(a, b, equal_nan=True), value, vmapped)
            if not all(jax.tree.leaves(same)):
                method = {"states": "step", "public": "observe", "private": "observe"}
                _fail(
                    game,
                    sample,
                    k,
                    f"{method.get(field, field)}() gives {_plain(value)} when called alone, but "
                    f"gave {_plain(vmapped)} under jit and vmap",
                    "The rules must be pure: no counters, no random module, no state kept on "
                    "self; everything that changes belongs in the state",
                )


def _plain(tree: Any) -> str:
    return str(jax.tree.map(lambda x: np.asarray(x).tolist(), tree))


def _longest(sample: Sample) -> int:
    depth = np.zeros(len(sample.parent), np.int64)
    for k in np.flatnonzero(sample.parent >= 0):
        depth[k] = depth[sample.parent[k]] + 1
    return int(depth.max())


def _one_each(keys: np.ndarray, values: np.ndarray) -> bool:
    """Returns whether equal keys always come with equal values."""
    return len(np.unique(keys)) == len(np.unique(np.column_stack([keys, values]), axis=0))


def _fail(
    game: Game,
    sample: Sample,
    index: int,
    what: str,
    remedy: str,
    other: int | None = None,
    *,
    path: bool = True,
) -> NoReturn:
    text = f"{game.name}: {what}.\n{remedy}.\n{describe(game, sample, index, path=path)}"
    if other is not None:
        text += f"\nthe other state,\n{describe(game, sample, other)}"
    raise ValueError(text)

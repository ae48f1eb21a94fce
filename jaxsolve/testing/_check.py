"""`check_game`: does a rules object keep the promises of the `Game` protocol?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Game
from jaxsolve.testing._sample import Explorer, Sample, actor_name, describe, look
from jaxsolve.types import CHANCE, NOTHING, TERMINAL

_SHALLOW = 2000
"""World states of the exhaustive part: whole levels from the initial state, at most this many."""

_EAGER = 4
"""States on which the rules are also run one by one, outside `jit` and `vmap`."""

_METHODS = ("init", "actor", "legal", "chance", "step", "observe", "utility")


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
    _check_interface(game)
    _check_shapes(game)
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


def _check_interface(game: Game) -> None:
    missing = [m for m in _METHODS if not callable(getattr(game, m, None))]
    missing += [a for a in ("name", "num_players", "num_actions") if not hasattr(game, a)]
    if missing:
        raise ValueError(
            f"{type(game).__name__} lacks {', '.join(missing)}. A game has the methods "
            f"{', '.join(_METHODS)} and the properties name, num_players and num_actions; see "
            "jaxsolve.game.Game."
        )
    for attribute in ("num_players", "num_actions"):
        value = getattr(game, attribute)
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{game.name}: {attribute} must be a positive int, not {value!r}.")


def _check_shapes(game: Game) -> None:
    """Abstract evaluation: nothing is computed, so this finds Python branches as well."""
    n, actions = game.num_players, game.num_actions
    action = jax.ShapeDtypeStruct((), jnp.int32)
    state = _trace(game, "init", game.init)
    integer, boolean, floating = jnp.signedinteger, jnp.bool_, jnp.floating
    for method, shape, kind in (
        ("actor", (), integer),
        ("legal", (actions,), boolean),
        ("chance", (actions,), floating),
        ("utility", (n,), floating),
    ):
        _expect(game, method, _trace(game, method, getattr(game, method), state), shape, kind)
    shown = _trace(game, "observe", game.observe, state)
    if not isinstance(shown, tuple) or len(shown) != 2:
        raise ValueError(f"{game.name}: observe() must return a pair (public, private).")
    public, private = shown
    p = public.shape[0] if len(public.shape) == 1 else "p"
    m = private.shape[-1] if len(private.shape) == 2 else "m"
    _expect(game, "observe()[0], the public observation", public, (p,), integer)
    _expect(game, "observe()[1], the private observations", private, (n, m), integer)
    _same_avals(game, state, _trace(game, "step", game.step, state, action))


def _trace(game: Game, method: str, function: Callable[..., Any], *args: Any) -> Any:
    try:
        return jax.eval_shape(function, *args)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        raise ValueError(
            f"{game.name}: {method}() cannot be traced, as jit and vmap need: it branches in "
            "Python on the content of a state, or turns it into a Python or NumPy value. Use "
            "jnp.where, jnp.select or indexing with arrays instead of if, and jnp instead of np.\n"
            f"  {str(error).splitlines()[0]}"
        ) from error


def _same_avals(game: Game, state: Any, after: Any) -> None:
    was, now = str(jax.tree.structure(state)), str(jax.tree.structure(after))
    if was != now:
        raise ValueError(
            f"{game.name}: step() must return the structure that init() returned.\n"
            f"  init(): {was}\n  step(): {now}"
        )
    pairs = zip(jax.tree_util.tree_leaves_with_path(state), jax.tree.leaves(after), strict=True)
    for (path, old), new in pairs:
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            field = jax.tree_util.keystr(path).lstrip(".")
            raise ValueError(
                f"{game.name}: step() changes {field} from {old.dtype}{list(old.shape)}, as "
                f"init() made it, to {new.dtype}{list(new.shape)}. States must keep their shapes "
                f"and dtypes: end the expression with .astype(jnp.{old.dtype})."
            )


def _expect(game: Game, what: str, got: Any, shape: tuple[Any, ...], kind: Any) -> None:
    if got.shape != shape or not jnp.issubdtype(got.dtype, kind):
        names = {jnp.signedinteger: "int32", jnp.bool_: "bool", jnp.floating: "float"}
        what = what if "(" in what else f"{what}()"
        raise ValueError(
            f"{game.name}: {what} must be {names[kind]}[{', '.join(map(str, shape))}] (with "
            f"{game.num_players} players and {game.num_actions} actions), not "
            f"{got.dtype}{list(got.shape)}."
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

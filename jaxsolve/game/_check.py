"""What can be said of rules without playing: their methods, shapes and dtypes, and `if`s."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.game._protocol import Game

METHODS = ("init", "actor", "legal", "chance", "step", "observe", "utility")
"""Methods that rules must have."""

PROPERTIES = ("name", "num_players", "num_actions")
"""Properties that rules must have."""


@contextlib.contextmanager
def explained(game: Any) -> Iterator[None]:
    """Answers an error inside `with` by the message of `check_rules`, if that finds the cause.

    Args:
        game: the rules that are traced there.
    """
    try:
        yield
    except (TypeError, AttributeError, IndexError):  # those of tracers are TypeErrors, too
        check_rules(game)
        raise


def check_rules(game: Any) -> None:
    """Refuses rules without a method, with wrong shapes, or that cannot be traced.

    Args:
        game: a rules object (`Game`).

    Raises:
        ValueError: says what is wrong, and what to change.
    """
    check_interface(game)
    _check_shapes(game)


def check_interface(game: Any) -> None:
    """Refuses what lacks a method or a property of `Game`.

    Raises:
        ValueError: says which.
    """
    missing = [m for m in METHODS if not callable(getattr(game, m, None))]
    missing += [a for a in PROPERTIES if not hasattr(game, a)]
    if missing:
        raise ValueError(
            f"{type(game).__name__} lacks {', '.join(missing)}. A game has the methods "
            f"{', '.join(METHODS)} and the properties {', '.join(PROPERTIES[:-1])} and "
            f"{PROPERTIES[-1]}; see jaxsolve.game.Game."
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

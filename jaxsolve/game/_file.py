"""Rules in a file of the user's: "my_game.py:MyGame" or "my_game.py:MyGame(ranks=3)"."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from jaxsolve.game._check import METHODS, check_interface
from jaxsolve.game._parameters import converted
from jaxsolve.game._protocol import Game
from jaxsolve.game._strings import pointing, read, unknown


def split_file(text: str) -> tuple[Path, str] | None:
    """Returns (file, what to take from it) of a string "FILE.py:NAME", None of any other string."""
    file, colon, name = text.strip().partition(".py:")
    # Without a home folder `os.path` leaves the "~" there, and `pathlib` raises.
    return (Path(os.path.expanduser(file + ".py")), name.strip()) if colon else None


def load_file(file: Path, name: str) -> Game:
    """Returns the game of a file.

    Args:
        file: with Python code, which is run.
        name: a game in it, or a class or function that makes one, with parameters or without.

    Raises:
        ValueError: there is no such file or name, what it names is no game, or it
            does not take the parameters.
    """
    if not file.is_file():
        raise ValueError(f"there is no file {file}; a game of yours is FILE.py:NAME")
    name, parameters = read(name, kind="game", example="MyGame")
    for p in parameters:
        if not p.key:
            raise ValueError(pointing("game", name, p.position, "expected key=value"))
    module = _run(file)
    made: Any = getattr(module, name, None)
    if made is None:
        known = [n for n, x in vars(module).items() if _makes_game(x, module)]
        raise ValueError(f"in {file}: {unknown('game', name, known)}")
    if callable(made):
        given = {p.key: converted(made, p.key, p.value) for p in parameters}
        try:
            inspect.signature(made).bind(**given)
        except TypeError as error:
            raise ValueError(
                f"{name}{inspect.signature(made)} in {file} does not take the parameters "
                f"{given}: {error}"
            ) from None
        made = made(**given)
    elif parameters:
        raise ValueError(f"{name} in {file} is a game already, so it takes no parameters")
    check_interface(made)
    game: Game = made
    return game


def _run(file: Path) -> ModuleType:
    """Returns the module of a file; the same module for the same unchanged file."""
    name = f"jaxsolve_rules_{abs(hash((file.resolve(), file.stat().st_mtime_ns))):x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None  # of a file that ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _makes_game(thing: Any, module: ModuleType) -> bool:
    """Returns whether a thing of a module is a game, or a class of games that it defines."""
    if isinstance(thing, type) and thing.__module__ != module.__name__:
        return False
    return all(callable(getattr(thing, m, None)) for m in METHODS)

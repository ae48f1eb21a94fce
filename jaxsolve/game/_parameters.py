"""Parameters of games and of solvers, checked against the annotations of whoever takes them.

    @checked
    @dataclasses.dataclass(frozen=True)
    class Dice:
        sides: Annotated[int, Range(2, 6)] = 6
        order: Literal["random", "ascending"] = "random"

`Dice(sides=7)` and the game string "dice(sides=7)" both raise "sides should be a whole number from
2 to 6, not 7". An annotation may be made of `int`, `float`, `bool`, `str`, `None`, `Literal`,
tuples, unions and arrays of JAX; values of any other annotation are taken as they are.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import numbers
import reprlib
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, Union

import jax
import numpy as np

Make = TypeVar("Make", bound=Callable[..., Any])

_REFUSED = object()


@dataclasses.dataclass(frozen=True)
class Range:
    """The numbers that a parameter may have; of a tuple, how many entries. One bound at least.

    Attributes:
        low: the least, None for no bound.
        high: the greatest, None for no bound.
        above: a number that all have to be greater than, None for no such bound.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, jax.core.Tracer):
            return True  # its numbers are not known yet
        x = len(value) if isinstance(value, tuple) else value
        return bool(
            (isinstance(x, int) or np.all(np.isfinite(x)))  # NumPy has no integers beyond 64 bits
            and (self.low is None or np.all(x >= self.low))
            and (self.high is None or np.all(x <= self.high))
            and (self.above is None or np.all(x > self.above))
        )

    def __str__(self) -> str:
        if self.above is not None:
            return f"above {self.above:,}" + ("" if self.high is None else f", at most {self.high}")
        if self.low is None:
            return f"of at most {self.high:,}"
        return (
            f"of at least {self.low:,}"
            if self.high is None
            else f"from {self.low:,} to {self.high:,}"
        )


def checked(make: Make) -> Make:
    """Returns a class or function that checks its arguments against its annotations.

    Lists become tuples, and whole numbers such as 3.0 become integers. In front of a dataclass, the
    decorator stands above `dataclasses.dataclass`.

    Raises:
        ValueError: when called; says what the argument should be.
    """
    if isinstance(make, type):
        init = inspect.getattr_static(make, "__init__")
        type.__setattr__(make, "__init__", _checked(init, make))
        return make
    return typing.cast(Make, _checked(make, make))


def converted(make: Callable[..., Any], name: str, value: Any) -> Any:
    """Returns a value as the annotation of a parameter has it.

    Args:
        make: the class or function that takes the parameter.
        name: of the parameter.
        value: as somebody wrote it.

    Raises:
        ValueError: it is not what the annotation asks for; says what to write instead.
    """
    kind = _annotations(make).get(name, Any)
    found = _convert(value, kind)
    if found is _REFUSED:
        raise ValueError(f"{name} should be {_words(kind)}, not {reprlib.repr(value)}")
    return found


def _checked(function: Callable[..., Any], make: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        for name, value in bound.arguments.items():
            bound.arguments[name] = converted(make, name, value)
        return function(*bound.args, **bound.kwargs)

    return call


@functools.cache
def _annotations(make: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(make, include_extras=True)
    except NameError:  # names that only type checkers import
        return {}


def _convert(value: Any, kind: Any) -> Any:
    """Returns a value as an annotation has it, or `_REFUSED`."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        found = _convert(value, inner[0])
        ranges = [x for x in inner[1:] if isinstance(x, Range)]
        fits = found is None or found is _REFUSED or all(found in x for x in ranges)
        return found if fits else _REFUSED
    if origin in (Union, types.UnionType):
        found = next((x for k in inner if (x := _convert(value, k)) is not _REFUSED), _REFUSED)
        # A number that may be traced has one type however it is written, so one compiled program.
        traced = jax.Array in inner and float in inner
        return float(found) if traced and isinstance(found, int) else found
    if origin is Literal:
        return value if isinstance(value, str) and value in inner else _REFUSED
    if origin is tuple and isinstance(value, list | tuple):
        kinds = inner[:1] * len(value) if inner[1:] == (...,) else inner
        if len(kinds) != len(value):
            return _REFUSED
        parts = tuple(map(_convert, value, kinds))
        return _REFUSED if any(x is _REFUSED for x in parts) else parts
    convert = {
        bool: lambda: value if isinstance(value, bool | np.bool_) else _REFUSED,
        int: lambda: int(value) if _number(value) and value == int(value) else _REFUSED,
        float: lambda: value if _number(value) else _REFUSED,
        str: lambda: value if isinstance(value, str) else _REFUSED,
        jax.Array: lambda: value if isinstance(value, jax.Array | np.ndarray) else _REFUSED,
        types.NoneType: lambda: value if value is None else _REFUSED,
        tuple: lambda: _REFUSED,  # not a list
    }.get(origin or kind, lambda: value)
    return convert()


def _number(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    return real and abs(value) < 1e300  # Python counts higher than a float does


def _words(kind: Any) -> str:
    """Returns what an annotation asks for."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        limits = "".join(f" {x}" for x in inner[1:] if isinstance(x, Range))
        if typing.get_origin(inner[0]) is tuple:
            limits = limits.replace(" from", " of")
            return _words(inner[0]).replace("a list", f"a list{limits} entries", 1)
        return " or ".join(
            f"{word}{limits}" if "number" in word else word
            for word in _words(inner[0]).split(" or ")
        )
    if origin in (Union, types.UnionType):
        return " or ".join(_words(x) for x in inner if x is not jax.Array)
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin is tuple:
        count = "" if inner[1:] == (...,) else f" of {len(inner)}"
        return f"a list{count}, each {_words(inner[0])}"
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
    return words.get(kind, "None" if kind is types.NoneType else str(kind))

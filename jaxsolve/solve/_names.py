"""Solvers by name: "pcfr+", "dcfr(alpha=1.5,gamma=4)", "hs-dcfr(15)"."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from typing import Any

from jaxsolve.solve._solver import Solver
from jaxsolve.solve.variants import SOLVERS

_FORM = re.compile(r"\s*([A-Za-z0-9+_-]+)\s*(?:\((.*)\))?\s*")


def load_solver(text: str, *, simultaneous: bool = False) -> Solver:
    """Returns the solver that `text` describes.

    Args:
        text: a name of `SOLVERS`, with hyper-parameters in brackets: values in order, or
            key=value.
        simultaneous: all players update at once.

    Raises:
        ValueError: the name, a hyper-parameter or the form is wrong; lists what is known.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(
            f"cannot read the solver {text!r}: expected a name with hyper-parameters in brackets, "
            'such as "pcfr+" or "dcfr(alpha=1.5,beta=0,gamma=2)"'
        )
    name, inside = match.group(1), match.group(2)
    if name not in SOLVERS:
        near = difflib.get_close_matches(name, SOLVERS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown solver {name!r}.{hint} Known solvers: {', '.join(SOLVERS)}.")
    build = SOLVERS[name].build
    known = list(inspect.signature(build).parameters)
    values: dict[str, Any] = {}
    for position, part in enumerate(p for p in (inside or "").split(",") if p.strip()):
        key, equals, value = part.rpartition("=")
        key = key.strip() if equals else (known[position] if position < len(known) else "")
        if key not in known:
            takes = ", ".join(known) or "none"
            given = repr(key) if key else f"number {position + 1}"
            raise ValueError(f"solver {name!r} has no hyper-parameter {given}; it takes: {takes}.")
        try:
            values[key] = float(ast.literal_eval(value.strip()))
        except (ValueError, SyntaxError, TypeError):
            raise ValueError(
                f"{key} of solver {name!r} should be a number, not {value.strip()!r}"
            ) from None
    solver = build(**values)
    return solver.simultaneous() if simultaneous else solver

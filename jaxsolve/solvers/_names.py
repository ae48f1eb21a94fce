"""Solvers by name: "pcfr+", "dcfr(alpha=1.5,gamma=4)", "hs-dcfr(15)", "es-mccfr(batch=256)"."""

from __future__ import annotations

import inspect
from typing import Any

from jaxsolve.game import converted, pointing, read, unknown
from jaxsolve.solvers._solver import Solver
from jaxsolve.solvers.variants import SAMPLERS, SOLVERS


def load_solver(text: str | Solver, *, simultaneous: bool = False) -> Solver:
    """Returns the solver that `text` describes; a solver is returned as it is.

    Args:
        text: a name of `SOLVERS` or `SAMPLERS`, with hyper-parameters in brackets: values in
            order, or key=value.
        simultaneous: all players update at once.

    Raises:
        ValueError: the name, a hyper-parameter or the form is wrong; lists what is known.
    """
    if isinstance(text, Solver):
        return text.simultaneous() if simultaneous else text
    if not isinstance(text, str):
        raise ValueError(f'{text!r} is no solver: write js.cfr_plus(), or its name, "cfr+"')
    text, table = text.strip(), SOLVERS | SAMPLERS
    name, given = read(text, kind="solver", example="pcfr+", name=r"[A-Za-z][A-Za-z0-9+_-]*")
    if name not in table:
        raise ValueError(unknown("solver", name, table))
    known = inspect.signature(table[name].build).parameters
    names, values = list(known), {}
    for k, parameter in enumerate(given):
        key = parameter.key or (names[k] if k < len(names) else "")
        wrong = ""
        if key not in known:
            it = repr(key) if key else f"number {k + 1}"
            wrong = f"{name} has no hyper-parameter {it}; it takes {_describe(known)}"
        elif key in values:
            wrong = f"{key} is given twice"
        elif not parameter.key and any(p.key for p in given[:k]):
            wrong = "values without a name come first"
        if wrong:
            raise ValueError(pointing("solver", text, parameter.position, wrong))
        try:
            values[key] = converted(table[name].build, key, parameter.value)
        except ValueError as error:
            raise ValueError(pointing("solver", text, parameter.position, str(error))) from None
    solver = table[name].build(**values)
    return solver.simultaneous() if simultaneous else solver


def _describe(parameters: Any) -> str:
    return ", ".join(f"{p.name}={p.default}" for p in parameters.values()) or "none"

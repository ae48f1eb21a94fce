"""What a run gives back, and how it shows itself."""

from __future__ import annotations

import dataclasses
import html
from typing import Any

import numpy as np

from jaxsolve.plot import curve
from jaxsolve.solvers._curve import Curve
from jaxsolve.solvers._loop import SolveState
from jaxsolve.solvers._solver import Solver
from jaxsolve.solvers.sampling._curve import nodes_touched
from jaxsolve.tree import Policy, PublicTree
from jaxsolve.view import Page, export


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run found.

    Attributes:
        average: the average policy.
        current: the policy of the next iteration.
        output: "average" or "current", what the solver stands for and the curve measures.
        curve: exploitability by iteration and time.
        values: float [n], expected payoffs under `policy`, in the game's units.
        status: "iteration limit", "target", "time limit", "interrupted" or "non-finite".
        iterations: done in all.
        seconds: spent in iterations, without compiling and measuring; those of a resumed run
            include what came before.
        compile_seconds: spent compiling.
        tree: the game.
        solver: the variant.
        state: everything, to go on from.
    """

    average: Policy
    current: Policy
    output: str
    curve: Curve
    values: np.ndarray
    status: str
    iterations: int
    seconds: float
    compile_seconds: float
    tree: PublicTree
    solver: Solver
    state: SolveState

    @property
    def policy(self) -> Policy:
        """The policy that the solver stands for."""
        return self.average if self.output == "average" else self.current

    @property
    def exploitability(self) -> float:
        """The last measurement."""
        return float(self.curve.exploitability[-1])

    @property
    def nodes(self) -> int:
        """World states touched: by the samples, or the whole game for each player's update."""
        return nodes_touched(self.tree, self.state)

    def plot(self) -> Any:
        """Returns a matplotlib figure of the curve (needs the extra `plot`)."""
        return curve({self.solver.name: self.curve}, title=self._name)

    def view(self) -> Page:
        """Returns the game as a page to walk through, for a notebook or a file (`Page.save`).

        Raises:
            ValueError: the tree's world states were not kept.
        """
        from jaxsolve.solvers._view import view_result

        return export(view_result(self))

    @property
    def _name(self) -> str:
        return self.tree.names.name if self.tree.names is not None else "game"

    def __repr__(self) -> str:
        return (
            f"Result({self._name}, {self.solver.name}, {self.iterations} iterations, "
            f"exploitability {self.exploitability:.6g}, {self.status}, {self.seconds:.2f} s + "
            f"{self.compile_seconds:.2f} s compiling)"
        )

    def _repr_html_(self) -> str:
        facts = {
            "game": self._name,
            "solver": self.solver.name,
            "iterations": f"{self.iterations:,}",
            "exploitability": f"{self.exploitability:.6g}",
            "values": ", ".join(f"{x:.6g}" for x in self.values),
            "stopped by": self.status,
            "seconds": f"{self.seconds:.2f} (and compiling {self.compile_seconds:.2f})",
        }
        rows = "".join(
            f"<tr><th style='text-align:left'>{k}</th><td>{html.escape(v)}</td></tr>"
            for k, v in facts.items()
        )
        table = f"<table><caption>Result</caption>{rows}</table>"
        return f"<div style='display:flex;gap:2em'>{table}{self.curve.svg()}</div>"

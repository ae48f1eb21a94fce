"""A solved spot: its values, its reports, and its folder on disk."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
from pathlib import Path
from typing import Any

from jaxsolve.files import write_atomic
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._lock import lock
from jaxsolve.holdem._node import NodeReport
from jaxsolve.holdem._range import format_range
from jaxsolve.holdem._report import Line, Reports, lines
from jaxsolve.holdem._solution import Solution, load_solution
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, hands_in, spot_tree
from jaxsolve.plot import curve as plot_curve
from jaxsolve.solvers import Curve
from jaxsolve.tree import Policy
from jaxsolve.view import Page, export

SPOT, POLICY, CURVE, FACTS = "spot.json", "policy.npz", "curve.csv", "result.json"
"""Files of a solved spot that `load_result` reads."""


@dataclasses.dataclass(frozen=True, repr=False)
class SpotResult:
    """A solved spot.

    Attributes:
        spot: the tree.
        solution: what both play, and what it is worth.
        curve: exploitability in chips, by iteration and time.
        values: chips won of (oop, ip), the pot counted half to each.
        status: why the solver stopped, see `jaxsolve.Result`.
        iterations: done in all.
        seconds: spent in iterations and in measuring.
        compile_seconds: spent compiling.
        build_seconds: spent on tables of boards and betting.
    """

    spot: SpotTree
    solution: Solution
    curve: Curve
    values: tuple[float, float]
    status: str
    iterations: int
    seconds: float
    compile_seconds: float
    build_seconds: float = 0.0

    @functools.cached_property
    def policy(self) -> Policy:
        """The solution on the tensors of the spot, which take more memory than solving it."""
        return self.solution.policy

    @property
    def pot(self) -> float:
        """Chips in the middle at the root."""
        return float(self.spot.spot.pot)

    @property
    def ev(self) -> tuple[float, float]:
        """Expected chips of (oop, ip), the pot included; they add up to it without rake."""
        return self.values[0] + self.pot / 2, self.values[1] + self.pot / 2

    @property
    def exploitability_chips(self) -> float:
        """Half the sum of what both players could gain, in chips."""
        return float(self.curve.exploitability[-1])

    @property
    def exploitability_pot(self) -> float:
        """The same as a share of the pot."""
        return self.exploitability_chips / self.pot

    @functools.cached_property
    def reports(self) -> Reports:
        """Reports of every decision: `reports.every()`, `reports.on_boards(line)`."""
        return Reports(self.spot, self.solution)

    def node(self, line: str = "", board: str | None = None) -> NodeReport:
        """Returns strategy and values at one decision, see `node_report`."""
        return self.reports.node(line, board)

    def view(self) -> Page:
        """Returns the spot as a page to walk through, for a notebook or a file (`Page.save`)."""
        from jaxsolve.holdem._view import view_spot

        return export(view_spot(self))

    def lines(self) -> list[Line]:
        """Returns every line of play that leads to a decision, the root first."""
        return lines(self.spot)

    def plot(self) -> Any:
        """Returns a matplotlib figure of the exploitability (needs the extra `plot`)."""
        return plot_curve({"exploitability, chips": self.curve}, title=self.spot.name)

    def facts(self) -> dict[str, Any]:
        """Returns what result.json holds."""
        root = self.node()
        oop, ip = self.ev
        return {
            "ev_oop": oop,
            "ev_ip": ip,
            "exploitability_chips": self.exploitability_chips,
            "exploitability_pot": self.exploitability_pot,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            "build_seconds": self.build_seconds,
            "decision_nodes": self.spot.num_decision_nodes,
            "hands": len(self.spot.hands),
            "status": self.status,
            "root": {
                row["hand"]: {a: round(row[a], 6) for a in root.actions} for row in root.rows()
            },
        }

    def save(self, folder: str | Path, **facts: Any) -> None:
        """Writes spot.json, policy.npz, curve.csv and result.json, which `load_result` reads.

        Args:
            folder: made if it is not there.
            **facts: further entries of result.json.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / SPOT, _json(_description(self.spot)))
        self.solution.save(folder / POLICY)
        self.curve.save(folder / CURVE)
        write_atomic(folder / FACTS, _json(self.facts() | facts))

    def __repr__(self) -> str:
        oop, ip = self.ev
        return (
            f"SpotResult(EV oop {oop:.4f}, ip {ip:.4f} of pot {self.pot:g}; exploitability "
            f"{self.exploitability_chips:.4g} chips, {100 * self.exploitability_pot:.3g}% of the "
            f"pot; {self.iterations} iterations in {self.seconds:.2f} s)"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.node()._repr_html_()}"


def load_result(folder: str | Path) -> SpotResult:
    """Returns the solved spot of a folder that `SpotResult.save` or `holdem solve --out` wrote.

    Raises:
        ValueError: it is no such folder, or a file in it is damaged.
    """
    folder = Path(folder)
    for name in (SPOT, POLICY, CURVE, FACTS):
        if not (folder / name).is_file():
            raise ValueError(
                f"{folder} is not a solved spot: it has no {name}. Write one with `jaxsolve holdem "
                f"solve SPOT.toml --out {folder}`, or with SpotResult.save"
            )
    try:
        described = json.loads((folder / SPOT).read_text(encoding="utf-8"))
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        tree = _rebuilt(described)
        half = tree.spot.pot / 2
        return SpotResult(
            spot=tree,
            solution=load_solution(tree, folder / POLICY),
            curve=Curve.load(folder / CURVE),
            values=(float(facts["ev_oop"]) - half, float(facts["ev_ip"]) - half),
            status=str(facts["status"]),
            iterations=int(facts["iterations"]),
            seconds=float(facts["seconds"]),
            compile_seconds=float(facts["compile_seconds"]),
            build_seconds=float(facts["build_seconds"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder}: {SPOT} or {FACTS} is damaged ({error!r})") from None
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None


def _description(tree: SpotTree) -> dict[str, Any]:
    """Returns what `_rebuilt` makes the same tree of, as JSON."""
    if not isinstance(tree.spot, Spot):
        raise ValueError(f"{tree.spot!r} is a whole game; only spots are written to a folder")
    return {
        "spot": tree.spot.as_dict(),
        "symmetric": len(tree.streets[0].group[0]) > 1,
        "num_hands": len(tree.hands),
        "locks": [
            {
                "line": one.line,
                "board": one.board,
                "strategy": {a: format_range(w) for a, w in one.strategy.items() if w.any()},
            }
            for one in tree.locks
        ],
    }


def _rebuilt(described: dict[str, Any]) -> SpotTree:
    spot = Spot.parse(described["spot"])
    count = int(described["num_hands"])
    if not len(hands_in(spot)) <= count <= NUM_HANDS:
        raise ValueError(f"{SPOT}: num_hands is {count}, but the ranges have {len(hands_in(spot))}")
    padded = count if count > len(hands_in(spot)) else None
    tree = spot_tree(spot, symmetric=bool(described["symmetric"]), num_hands=padded)
    for one in described["locks"]:
        tree = lock(tree, one["line"], one["strategy"], board=one["board"])
    return tree


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()

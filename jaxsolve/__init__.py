"""jaxsolve: imperfect-information games as public-tree tensors, solved on CPU, GPU and TPU.

The folders below `jaxsolve` are its attributes. Those that a solver does not need (`js.agents`,
`js.learn`, `js.nets`, `js.plot`, `js.testing`) are imported when they are first asked for. So is
`js.games`, the package of games.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from jaxsolve import evaluate as evaluate
from jaxsolve import holdem as holdem
from jaxsolve import public as public
from jaxsolve import search as search
from jaxsolve import subgame as subgame
from jaxsolve import values as values
from jaxsolve.caches import keep_programs
from jaxsolve.compiler import compile as compile
from jaxsolve.compiler import from_openspiel as from_openspiel
from jaxsolve.compiler import save_efg as save_efg
from jaxsolve.compiler import to_openspiel as to_openspiel
from jaxsolve.evaluate import best_response as best_response
from jaxsolve.evaluate import best_response_values as best_response_values
from jaxsolve.evaluate import expected_values as expected_values
from jaxsolve.evaluate import exploitability as exploitability
from jaxsolve.evaluate import nash_conv as nash_conv
from jaxsolve.evaluate import solve_lp as solve_lp
from jaxsolve.game import bundled as _bundled
from jaxsolve.solvers import SAMPLERS as SAMPLERS
from jaxsolve.solvers import SOLVERS as SOLVERS
from jaxsolve.solvers import BatchResult as BatchResult
from jaxsolve.solvers import Curve as Curve
from jaxsolve.solvers import Result as Result
from jaxsolve.solvers import Solver as Solver
from jaxsolve.solvers import apcfr_plus as apcfr_plus
from jaxsolve.solvers import cfr as cfr
from jaxsolve.solvers import cfr_plus as cfr_plus
from jaxsolve.solvers import dcfr as dcfr
from jaxsolve.solvers import dcfr_plus as dcfr_plus
from jaxsolve.solvers import es_mccfr as es_mccfr
from jaxsolve.solvers import hs_dcfr as hs_dcfr
from jaxsolve.solvers import hs_pcfr_plus as hs_pcfr_plus
from jaxsolve.solvers import lcfr as lcfr
from jaxsolve.solvers import load_solver as load_solver
from jaxsolve.solvers import mmd as mmd
from jaxsolve.solvers import modicum_cfr_plus as modicum_cfr_plus
from jaxsolve.solvers import os_mccfr as os_mccfr
from jaxsolve.solvers import pcfr_plus as pcfr_plus
from jaxsolve.solvers import pcs_mccfr as pcs_mccfr
from jaxsolve.solvers import pdcfr_plus as pdcfr_plus
from jaxsolve.solvers import sapcfr_plus as sapcfr_plus
from jaxsolve.solvers import solve as solve
from jaxsolve.solvers import solve_batch as solve_batch
from jaxsolve.tree import Policy as Policy
from jaxsolve.tree import PublicTree as PublicTree
from jaxsolve.tree import lift as lift
from jaxsolve.tree import load_policy as load_policy
from jaxsolve.tree import merge_policies as merge_policies
from jaxsolve.tree import mix_policies as mix_policies
from jaxsolve.tree import save_policy as save_policy
from jaxsolve.tree import uniform_policy as uniform_policy

__version__ = "0.1.0"

keep_programs()

_LAZY = ("agents", "learn", "nets", "plot", "testing")

if TYPE_CHECKING:
    from jaxsolve import agents as agents
    from jaxsolve import learn as learn
    from jaxsolve import nets as nets
    from jaxsolve import plot as plot
    from jaxsolve import testing as testing
else:  # a type checker would take every name for a module

    def __getattr__(name: str) -> ModuleType:
        if name == "games":
            return _bundled()
        if name in _LAZY:
            return importlib.import_module(f"jaxsolve.{name}")
        raise AttributeError(f"module 'jaxsolve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, "games"})

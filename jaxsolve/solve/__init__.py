"""Solving: the CFR loop, its named variants, and whole runs."""

from jaxsolve.solve._batch import BatchResult as BatchResult
from jaxsolve.solve._batch import solve_batch as solve_batch
from jaxsolve.solve._loop import SolveState as SolveState
from jaxsolve.solve._loop import average_policy as average_policy
from jaxsolve.solve._loop import current_policy as current_policy
from jaxsolve.solve._loop import init_state as init_state
from jaxsolve.solve._loop import iterate as iterate
from jaxsolve.solve._loop import run as run
from jaxsolve.solve._solver import Solver as Solver
from jaxsolve.solve._solver import Variant as Variant
from jaxsolve.solve.variants import SOLVERS as SOLVERS
from jaxsolve.solve.variants import apcfr_plus as apcfr_plus
from jaxsolve.solve.variants import cfr as cfr
from jaxsolve.solve.variants import cfr_plus as cfr_plus
from jaxsolve.solve.variants import dcfr as dcfr
from jaxsolve.solve.variants import dcfr_plus as dcfr_plus
from jaxsolve.solve.variants import hs_dcfr as hs_dcfr
from jaxsolve.solve.variants import hs_pcfr_plus as hs_pcfr_plus
from jaxsolve.solve.variants import lcfr as lcfr
from jaxsolve.solve.variants import mmd as mmd
from jaxsolve.solve.variants import modicum_cfr_plus as modicum_cfr_plus
from jaxsolve.solve.variants import pcfr_plus as pcfr_plus
from jaxsolve.solve.variants import pdcfr_plus as pdcfr_plus
from jaxsolve.solve.variants import sapcfr_plus as sapcfr_plus

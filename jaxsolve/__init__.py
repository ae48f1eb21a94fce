"""jaxsolve: imperfect-information games as public-tree tensors, solved on CPU, GPU and TPU."""

from jaxsolve.evaluate import best_response as best_response
from jaxsolve.evaluate import best_response_values as best_response_values
from jaxsolve.evaluate import exploitability as exploitability
from jaxsolve.evaluate import nash_conv as nash_conv
from jaxsolve.evaluate import solve_lp as solve_lp
from jaxsolve.evaluate import values as values
from jaxsolve.solve import SAMPLERS as SAMPLERS
from jaxsolve.solve import SOLVERS as SOLVERS
from jaxsolve.solve import BatchResult as BatchResult
from jaxsolve.solve import Curve as Curve
from jaxsolve.solve import Result as Result
from jaxsolve.solve import Solver as Solver
from jaxsolve.solve import apcfr_plus as apcfr_plus
from jaxsolve.solve import cfr as cfr
from jaxsolve.solve import cfr_plus as cfr_plus
from jaxsolve.solve import dcfr as dcfr
from jaxsolve.solve import dcfr_plus as dcfr_plus
from jaxsolve.solve import es_mccfr as es_mccfr
from jaxsolve.solve import hs_dcfr as hs_dcfr
from jaxsolve.solve import hs_pcfr_plus as hs_pcfr_plus
from jaxsolve.solve import lcfr as lcfr
from jaxsolve.solve import load_solver as load_solver
from jaxsolve.solve import mmd as mmd
from jaxsolve.solve import modicum_cfr_plus as modicum_cfr_plus
from jaxsolve.solve import os_mccfr as os_mccfr
from jaxsolve.solve import pcfr_plus as pcfr_plus
from jaxsolve.solve import pcs_mccfr as pcs_mccfr
from jaxsolve.solve import pdcfr_plus as pdcfr_plus
from jaxsolve.solve import sapcfr_plus as sapcfr_plus
from jaxsolve.solve import solve_batch as solve_batch
from jaxsolve.tree import Policy as Policy
from jaxsolve.tree import PublicTree as PublicTree
from jaxsolve.tree import compile as compile
from jaxsolve.tree import from_openspiel as from_openspiel
from jaxsolve.tree import lift as lift
from jaxsolve.tree import load_policy as load_policy
from jaxsolve.tree import merge_policies as merge_policies
from jaxsolve.tree import mix_policies as mix_policies
from jaxsolve.tree import save_policy as save_policy
from jaxsolve.tree import to_openspiel as to_openspiel
from jaxsolve.tree import uniform_policy as uniform_policy

from jaxsolve import holdem as holdem  # isort: skip
from jaxsolve import search as search  # isort: skip
from jaxsolve import subgame as subgame  # isort: skip

# Last: the function takes the name of the subpackage it comes from.
from jaxsolve.solve import solve as solve  # isort: skip

__version__ = "0.1.0"

"""Public trees: compiling rules to tensors, sweeps over them, and policies on them."""

from jaxsolve.tree._compile import compile as compile
from jaxsolve.tree._gather import coarse as coarse
from jaxsolve.tree._gather import exact as exact
from jaxsolve.tree._openspiel_policy import from_openspiel as from_openspiel
from jaxsolve.tree._openspiel_policy import to_openspiel as to_openspiel
from jaxsolve.tree._policy import Policy as Policy
from jaxsolve.tree._policy import policy_from_probabilities as policy_from_probabilities
from jaxsolve.tree._policy import uniform_policy as uniform_policy
from jaxsolve.tree._policy_file import load_policy as load_policy
from jaxsolve.tree._policy_file import save_policy as save_policy
from jaxsolve.tree._policy_merge import Lifted as Lifted
from jaxsolve.tree._policy_merge import lift as lift
from jaxsolve.tree._policy_merge import merge_policies as merge_policies
from jaxsolve.tree._policy_merge import mix_policies as mix_policies
from jaxsolve.tree._public_tree import PublicTree as PublicTree

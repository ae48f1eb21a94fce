"""Search to a fixed depth from beliefs."""

from jaxsolve.search.fixed._resolve_game import Search as Search
from jaxsolve.search.fixed._resolve_game import at_nodes as at_nodes
from jaxsolve.search.fixed._resolve_game import compose as compose
from jaxsolve.search.fixed._resolve_game import continual as continual
from jaxsolve.search.fixed._resolve_game import oracle as oracle
from jaxsolve.search.fixed._solve import TRACE as TRACE
from jaxsolve.search.fixed._solve import Gadget as Gadget
from jaxsolve.search.fixed._solve import Solution as Solution
from jaxsolve.search.fixed._solve import no_gadget as no_gadget
from jaxsolve.search.fixed._solve import policy_at as policy_at
from jaxsolve.search.fixed._solve import solve_belief as solve_belief
from jaxsolve.search.fixed._subgames import Subgame as Subgame
from jaxsolve.search.fixed._subgames import Subgames as Subgames
from jaxsolve.search.fixed._subgames import subgames as subgames
from jaxsolve.search.fixed._subgames import with_value as with_value

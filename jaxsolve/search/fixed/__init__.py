"""Search to a fixed depth from beliefs."""

from jaxsolve.search.fixed._engine import FixedEngine as FixedEngine
from jaxsolve.search.fixed._engine import fixed_resolver as fixed_resolver
from jaxsolve.search.fixed._engine import oracle as oracle
from jaxsolve.search.fixed._solve import Solution as Solution
from jaxsolve.search.fixed._solve import policy_at as policy_at
from jaxsolve.search.fixed._solve import solve_belief as solve_belief
from jaxsolve.search.fixed._subgames import Subgame as Subgame
from jaxsolve.search.fixed._subgames import Subgames as Subgames
from jaxsolve.search.fixed._subgames import subgames as subgames
from jaxsolve.search.fixed._subgames import with_value as with_value

"""Trees of positions with infosets, grown from the rules in arrays of fixed size."""

from jaxsolve.search.knowledge._host import Positions as Positions
from jaxsolve.search.knowledge._host import positions_of as positions_of
from jaxsolve.search.knowledge._nested import NestedPositions as NestedPositions
from jaxsolve.search.knowledge._nested import nested_positions as nested_positions
from jaxsolve.search.knowledge._root import Read as Read
from jaxsolve.search.knowledge._root import Roots as Roots
from jaxsolve.search.knowledge._root import single_root as single_root
from jaxsolve.search.knowledge._search import Effort as Effort
from jaxsolve.search.knowledge._search import Searched as Searched
from jaxsolve.search.knowledge._search import search_turn as search_turn
from jaxsolve.search.knowledge._solve import PositionSolution as PositionSolution
from jaxsolve.search.knowledge._solve import solve_positions as solve_positions
from jaxsolve.search.knowledge._solver import GrowingSolver as GrowingSolver
from jaxsolve.search.knowledge._solver import growing_solver as growing_solver
from jaxsolve.search.knowledge._subgame import PositionSubgame as PositionSubgame
from jaxsolve.search.knowledge._subgame import knowledge_subgame as knowledge_subgame
from jaxsolve.search.knowledge._tree import PositionTree as PositionTree
from jaxsolve.search.knowledge._tree import ValueFunction as ValueFunction
from jaxsolve.search.knowledge._tree import grow as grow
from jaxsolve.search.knowledge._tree import grow_breadth_first as grow_breadth_first
from jaxsolve.search.knowledge._tree import start_tree as start_tree
from jaxsolve.search.knowledge._turn import Before as Before
from jaxsolve.search.knowledge._turn import Turn as Turn
from jaxsolve.search.knowledge._turn import begin_turn as begin_turn

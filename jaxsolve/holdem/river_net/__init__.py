"""A network of river values: trained on solved rivers, asked by searches of the turn."""

from jaxsolve.holdem.river_net._betting import RiverMenu as RiverMenu
from jaxsolve.holdem.river_net._betting import RiverTemplate as RiverTemplate
from jaxsolve.holdem.river_net._betting import check_down as check_down
from jaxsolve.holdem.river_net._betting import river_template as river_template
from jaxsolve.holdem.river_net._boards import LIVE as LIVE
from jaxsolve.holdem.river_net._boards import RiverBoard as RiverBoard
from jaxsolve.holdem.river_net._boards import river_board as river_board
from jaxsolve.holdem.river_net._leaves import RiverLeaves as RiverLeaves
from jaxsolve.holdem.river_net._native import native_rivers as native_rivers
from jaxsolve.holdem.river_net._network import check_river_net as check_river_net
from jaxsolve.holdem.river_net._network import river_net as river_net
from jaxsolve.holdem.river_net._situations import RiverSituation as RiverSituation
from jaxsolve.holdem.river_net._situations import random_range as random_range
from jaxsolve.holdem.river_net._situations import random_situation as random_situation
from jaxsolve.holdem.river_net._solve import RiverSolution as RiverSolution
from jaxsolve.holdem.river_net._solve import solve_river as solve_river
from jaxsolve.holdem.river_net._source import RiverData as RiverData
from jaxsolve.holdem.river_net._source import Rivers as Rivers
from jaxsolve.holdem.river_net._source import river_errors as river_errors
from jaxsolve.holdem.river_net._source import river_source as river_source
from jaxsolve.holdem.river_net._source import solved_rivers as solved_rivers
from jaxsolve.holdem.river_net._turn import TurnResult as TurnResult
from jaxsolve.holdem.river_net._turn import TurnTree as TurnTree
from jaxsolve.holdem.river_net._turn import solve_turn as solve_turn
from jaxsolve.holdem.river_net._turn import turn_tree as turn_tree
from jaxsolve.holdem.river_net._values import river_values as river_values

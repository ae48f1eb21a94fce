"""Information set Monte-Carlo tree search."""

from jaxsolve.search.ismcts._ismcts import Belief as Belief
from jaxsolve.search.ismcts._ismcts import IsmctsRoot as IsmctsRoot
from jaxsolve.search.ismcts._ismcts import IsmctsTable as IsmctsTable
from jaxsolve.search.ismcts._ismcts import World as World
from jaxsolve.search.ismcts._ismcts import certain as certain
from jaxsolve.search.ismcts._ismcts import draw_world as draw_world
from jaxsolve.search.ismcts._ismcts import empty_table as empty_table
from jaxsolve.search.ismcts._ismcts import first_world as first_world
from jaxsolve.search.ismcts._ismcts import ismcts as ismcts
from jaxsolve.search.ismcts._ismcts import next_world as next_world
from jaxsolve.search.ismcts._ismcts import remembered as remembered
from jaxsolve.search.ismcts._tabular import InfostateBeliefs as InfostateBeliefs
from jaxsolve.search.ismcts._tabular import infostate_beliefs as infostate_beliefs
from jaxsolve.search.ismcts._tabular import ismcts_everywhere as ismcts_everywhere
from jaxsolve.search.ismcts._tabular import ismcts_policy as ismcts_policy

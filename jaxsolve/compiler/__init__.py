"""Compiling: rules, or a game of OpenSpiel, to a table of states, its sequence form and a tree."""

from jaxsolve.compiler._compile import compile as compile
from jaxsolve.compiler._components import public_components as public_components
from jaxsolve.compiler._components import with_public as with_public
from jaxsolve.compiler._efg import save_efg as save_efg
from jaxsolve.compiler._forms import from_form as from_form
from jaxsolve.compiler._forms import player_info as player_info
from jaxsolve.compiler._hands import in_rows as in_rows
from jaxsolve.compiler._ids import hash_columns as hash_columns
from jaxsolve.compiler._ids import same as same
from jaxsolve.compiler._openspiel_policy import from_openspiel as from_openspiel
from jaxsolve.compiler._openspiel_policy import to_openspiel as to_openspiel
from jaxsolve.compiler._public_walk import Deals as Deals
from jaxsolve.compiler._public_walk import Nodes as Nodes
from jaxsolve.compiler._public_walk import deal_hands as deal_hands
from jaxsolve.compiler._public_walk import walk_public as walk_public
from jaxsolve.compiler._walker import MAX_STATES as MAX_STATES
from jaxsolve.compiler._walker import Walker as Walker
from jaxsolve.compiler._watch import MAX_SECONDS as MAX_SECONDS
from jaxsolve.compiler._watch import TooManyStatesError as TooManyStatesError
from jaxsolve.compiler._watch import free_host_bytes as free_host_bytes
